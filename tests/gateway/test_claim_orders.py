"""Whatever tabs, time and people do in whatever order: one end, and no second execution.

Each case is a session of its own on one real store; what stands on one line happens at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Literal

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from remit.errors import CallOver, ClaimRefused, NotFound
from remit.gateway.acting import Actor
from remit.gateway.announcements import ClientTool, read_announcement
from remit.gateway.client_calls import ClientAsk, OnClient, begin, cancel, look
from remit.gateway.commands import Command
from remit.gateway.journal import Ended
from tests.databases import on_each_database
from tests.gateway.client_stage import OPEN, Tab, tools
from tests.gateway.conversations import Conversation, ScriptedPort, talk_on
from tests.gateway.nodes import furnish, open_stage

pytestmark = on_each_database

Act = Literal["announce", "detach", "claim", "post", "look", "cancel"]
#: One thing that happens: what, and which tab does it; a number is time that goes by, in ms.
Happening = tuple[Act, int] | int

TIMES = (500, 2_000, 10_000, 29_000, 31_000, 121_000, 3_600_000)
happenings = st.one_of(
    st.tuples(
        st.sampled_from(["announce", "claim", "claim", "post", "post", "detach", "look", "cancel"]),
        st.integers(0, 2),
    ),
    st.sampled_from(TIMES),
)
#: The other tab takes the call where it may, and the first one comes back with its result.
TAKE: list[Happening] = [("claim", 1), ("post", 0)]
orders = st.lists(st.lists(happenings, min_size=1, max_size=3), min_size=1, max_size=14)


@dataclass
class Case:
    """One call in a session of its own.

    Attributes:
        claims: by tab the claims that it was given, in order.
        posted: results that were taken, in order.
    """

    talk: Conversation
    tabs: list[Tab]
    call: str
    claims: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    posted: list[str] = field(default_factory=list[str])
    ends: list[Ended] = field(default_factory=list[Ended])

    @property
    def executions(self) -> set[str]:
        """Every claim that was ever given out."""
        return {one for given_out in self.claims.values() for one in given_out}

    async def happens(self, at_once: Sequence[Happening]) -> None:
        """Let things happen side by side."""
        await asyncio.gather(*map(self._happens, at_once))

    async def _happens(self, one: Happening) -> None:
        if isinstance(one, int):
            self.talk.stage.time.passed_ms += one
            return
        act, number = one
        try:
            await self._done(act, number)
        except (CallOver, ClaimRefused):
            pass
        except NotFound:
            # It was not offered yet.
            assert act in {"claim", "post"}

    async def _done(self, act: Act, number: int) -> None:
        tab, talks = self.tabs[number], self.talk.talks
        if act == "announce":
            await tab.announce()
        elif act == "detach":
            await tab.detach()
        elif act == "claim":
            claimed = await tab.claim(self.call)
            assert claimed.args == {"id": "7"}
            self.claims.setdefault(number, []).append(claimed.claim)
        elif act == "post" and number in self.claims:
            claim = self.claims[number][-1]
            await tab.post(self.call, claim, claim)
            self.posted.append(claim)
        elif act == "cancel":
            await cancel(talks, await self.talk.row(), self.call)
        else:
            state = await look(talks, await self.talk.row(), self.call)
            if isinstance(state, Ended):
                self.ends.append(state)
            else:
                assert isinstance(state, OnClient)
                assert state.until > await talks.now_ms() - max(TIMES) * 3


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    """The loop of all cases of a test."""
    with asyncio.Runner() as found:
        yield found


async def made(talk: Conversation, tool: ClientTool) -> Case:
    """A call that waits, in a session with three tabs of which two announced it."""
    await talk.open(apps=())
    tabs = [Tab(talk, f"tab-{number}", tools(tool_record(tool))) for number in range(3)]
    await tabs[0].announce()
    await tabs[1].announce()
    call = talk.stage.node.ids.call_id()
    command = Command(
        actor=Actor(key_id="", role="user", workspace="acme", user="ana"),
        app="",
        tool=tool.name,
        user="ana",
        args={},
        source="session",
        call_id=call,
        origin="model",
        session=talk.id,
        run="run_1",
        response_seq=1,
        model_call_id="c1",
    )
    ask = ClientAsk(command=command, tool=tool, args_json='{"id": "7"}')
    assert isinstance(await begin(talk.talks, await talk.row(), ask), OnClient)
    return Case(talk, tabs, call)


def tool_record(tool: ClientTool) -> dict[str, object]:
    """What announces the tool."""
    return {**OPEN, "idempotent": tool.tool.idempotent}


async def checked(talk: Conversation, order: list[list[Happening]], *, idempotent: bool) -> None:
    """Play an order out, and what must hold of it."""
    announced = read_announcement(tools({**OPEN, "idempotent": idempotent}))
    case = await made(talk, announced.tools[0])
    for at_once in order:
        await case.happens(at_once)
    # Time settles whatever is still open.
    for _ in range(3):
        await case.happens([max(TIMES)])
        await case.happens([("look", 0)])
    ended, row = case.ends[-1], await talk.stage.row(case.call)
    assert row.outcome == ended.outcome
    assert all((one.outcome, one.content) == (ended.outcome, ended.content) for one in case.ends)
    if not idempotent:
        assert len(case.executions) <= 1
    if case.posted:
        assert ended.outcome == "ok"
        assert set(case.posted) == {case.posted[0]}
        assert ended.result == case.posted[0]
    elif case.executions:
        # Whoever had it may have done it.
        assert ended.outcome == "outcome_unknown"
    else:
        assert ended.outcome in {"cancelled", "error"}
        assert "mayHaveHappened" not in ended.content


@pytest.mark.parametrize("idempotent", [False, True], ids=["once", "idempotent"])
def test_call_ends_once_and_is_executed_once(
    store_url: str, runner: asyncio.Runner, *, idempotent: bool
) -> None:
    """Any order of claims, results, heartbeats, silence, stops (contract section 9)."""

    async def opened(stack: AsyncExitStack) -> Conversation:
        stage = await stack.enter_async_context(open_stage(store_url))
        await furnish(stage)
        return talk_on(stage, ScriptedPort(["Done."]))

    stack = AsyncExitStack()
    talk = runner.run(opened(stack))

    @settings(
        max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
    )
    @example(order=[[2_000], [("claim", 0), ("claim", 1)], [("post", 0), ("post", 1)]])
    @example(order=[[("claim", 0)], [31_000], [("look", 0), ("post", 0)], [("claim", 1)]])
    @example(order=[[2_000], [("claim", 0)], [31_000], [("look", 0)], [("cancel", 0)]])
    @example(order=[[2_000], [("claim", 0), ("cancel", 0)], [("post", 0)]])
    @example(order=[[2_000], [("claim", 0)], [31_000], [("announce", 1), ("look", 0)], TAKE])
    @example(order=[[2_000], [("claim", 0)], [31_000], [("announce", 1)], [("look", 0), *TAKE]])
    @example(order=[[3_600_000], [("look", 0), ("claim", 0), ("announce", 0)]])
    @given(order=orders)
    def each(order: list[list[Happening]]) -> None:
        runner.run(checked(talk, order, idempotent=idempotent))

    try:
        each()
    finally:
        runner.run(stack.aclose())
