"""Ends that the store did not take: tried until it does, written once (section 5, step 10)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from remit.errors import StoreUnavailable
from remit.gateway.awaiting import as_it_stands, ended_within
from remit.gateway.endings import MAX_LATE, MAX_LATE_CHARS, End, Endings
from remit.gateway.journal import Ended
from remit.gateway.running import lost
from tests import databases
from tests.gateway.nodes import Stage, furnish, open_stage

pytestmark = databases.on_each_database
ORDER: Any = {"name": "x"}
_LONG = 50


@pytest.fixture
async def acme(store_url: str) -> AsyncIterator[Stage]:
    """The app ``acme``, approved, with ``ana`` connected."""
    async with open_stage(store_url) as stage:
        await furnish(stage)
        yield stage


class Outage:
    """A store that takes no end of a call by this node before it is back.

    Attributes:
        tried: how often one was to be written.
        long: set when that was very often.
    """

    def __init__(self, stage: Stage) -> None:
        self.back = False
        self.tried = 0
        self.long = asyncio.Event()
        calls: Any = stage.node.calls
        self.finish = calls.finish
        calls.finish = self

    async def __call__(self, *args: Any, **named: Any) -> bool:  # noqa: ANN401 -- those of finish
        """Refuse, or do it."""
        self.tried += 1
        if self.tried == _LONG:
            self.long.set()
        # The clock of the test does not wait, and others must have their turn.
        await asyncio.sleep(0)
        if not self.back:
            raise StoreUnavailable("The database does not answer.")
        return await self.finish(*args, **named)


async def sent(stage: Stage) -> str:
    """A write whose end the store did not take; gives the call's id."""
    with pytest.raises(StoreUnavailable):
        await stage.call("add_order", ORDER)
    (row,) = (await stage.server.store.calls.list("acme")).items
    assert row.status == "sending"
    return row.id


async def test_end_is_kept_until_the_store_is_back_and_then_told(acme: Stage) -> None:
    """What came back from the app is known nowhere else; the caller had an error meanwhile."""
    outage = Outage(acme)
    call = await sent(acme)
    waits = asyncio.ensure_future(
        ended_within(acme.node, "acme", call, until=asyncio.get_running_loop().time() + 10)
    )
    await outage.long.wait()
    assert acme.node.endings.late == 1
    assert not waits.done()
    outage.back = True
    await acme.settled()
    told = await waits

    assert isinstance(told, Ended)
    assert (told.outcome, told.result) == ("ok", {"total": 5})
    assert await as_it_stands(acme.node, "acme", call) == told
    assert acme.node.endings.late == 0
    assert acme.egress.lines == ["POST /v1/orders"]
    assert max(acme.time.slept) == 5_000


async def test_call_that_another_ended_meanwhile_is_left(acme: Stage) -> None:
    """A row that is ended stays as it is, and whoever waits is told that."""
    outage = Outage(acme)
    call = await sent(acme)
    told = acme.node.endings.expect("acme", call)
    unknown = lost(await acme.record(call))
    assert await outage.finish(
        "acme",
        call,
        was="sending",
        status="unknown",
        outcome=unknown.outcome,
        record_json=json.dumps(unknown.record),
        at=acme.time.unix_ms(),
    )
    outage.back = True
    await acme.settled()

    assert (await acme.row(call)).outcome == "outcome_unknown"
    assert (await told).outcome == "outcome_unknown"
    assert acme.node.endings.late == 0
    assert acme.egress.lines == ["POST /v1/orders"]


async def test_stop_waits_for_the_ends_that_are_kept(acme: Stage) -> None:
    """They are under way like what is being sent, and only then does the node leave."""
    outage = Outage(acme)
    call = await sent(acme)

    assert not await acme.node.tasks.drain(0)
    outage.back = True
    assert await acme.worker.stop(10)
    assert (await acme.row(call)).outcome == "ok"


def _late(number: int, record_json: str = "{}") -> End:
    return End(
        workspace="acme",
        call_id=f"call_{number}",
        was="sending",
        status="done",
        outcome="ok",
        record_json=record_json,
    )


def test_ends_that_are_kept_take_bounded_memory(backend: str) -> None:
    """One of each call; so many, and records of such a size together, and no more."""
    del backend
    many, large = Endings(), Endings()
    kept = [many.keep(_late(number)) for number in range(MAX_LATE + 1)]
    half = "x" * (MAX_LATE_CHARS // 2)

    assert kept == [True] * MAX_LATE + [False]
    assert not many.keep(_late(0))
    many.let_go(_late(0))
    assert many.keep(_late(0))
    assert [large.keep(_late(n, half)) for n in range(3)] == [True, True, False]
    large.let_go(_late(1, half))
    assert large.keep(_late(2, half))
