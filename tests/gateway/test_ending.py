"""Steps of calls that the store did not take: tried until it does, done once (section 5)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from remit.errors import StoreUnavailable
from remit.gateway.answering import Answer, Decision, answer
from remit.gateway.awaiting import as_it_stands, ended_within
from remit.gateway.endings import MAX_LATE, MAX_LATE_CHARS, Endings, Late
from remit.gateway.journal import Ended
from remit.gateway.keeping import VaultFault
from remit.gateway.running import lost
from tests import databases
from tests.gateway import fakes
from tests.gateway.nodes import BACKEND, DeafEgress, Stage, furnish, open_stage, restarted

pytestmark = databases.on_each_database
ORDER: Any = {"name": "x"}
DONE: Any = {"status": "done", "url": "https://x.example/1"}
_LONG = 50


@pytest.fixture
async def acme(store_url: str) -> AsyncIterator[Stage]:
    """The app ``acme``, approved, with ``ana`` connected."""
    async with open_stage(store_url) as stage:
        await furnish(stage)
        yield stage


class Outage:
    """A store that does not do a part of its work before it is back.

    Args:
        ports: some of the node's, with the names of what they do not do.

    Attributes:
        tried: how often it was asked for that.
        long: set when that was very often.
        did: what they do when it is back, by name.
    """

    def __init__(self, *ports: tuple[object, str]) -> None:
        self.back = False
        self.tried = 0
        self.long = asyncio.Event()
        self.did: dict[str, Any] = {}
        for port, name in ports:
            self.did[name] = getattr(port, name)
            setattr(port, name, self._instead_of(name))

    def _instead_of(self, name: str) -> Any:  # noqa: ANN401 -- that of the port
        async def refuse_or_do(*args: Any, **named: Any) -> Any:  # noqa: ANN401 -- those of the port
            self.tried += 1
            if self.tried == _LONG:
                self.long.set()
            # The clock of the test does not wait, and others must have their turn.
            await asyncio.sleep(0)
            if not self.back:
                raise StoreUnavailable("The database does not answer.")
            return await self.did[name](*args, **named)

        return refuse_or_do

    @classmethod
    def of_ends(cls, stage: Stage) -> Outage:
        """It takes no end of a call."""
        return cls((stage.node.calls, "finish"))

    async def lasts(self, stage: Stage) -> None:
        """For long, and then it is over, and all is done that was begun."""
        await self.long.wait()
        assert stage.node.endings.late
        self.back = True
        await stage.settled()
        assert stage.node.endings.late == 0


async def sent(stage: Stage) -> str:
    """A write whose end the store did not take; gives the call's id."""
    with pytest.raises(StoreUnavailable):
        await stage.call("add_order", ORDER)
    (row,) = (await stage.server.store.calls.list("acme")).items
    assert row.status == "sending"
    return row.id


async def test_end_is_kept_until_the_store_is_back_and_then_told(acme: Stage) -> None:
    """What came back from the app is known nowhere else; the caller had an error meanwhile."""
    outage = Outage.of_ends(acme)
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
    outage = Outage.of_ends(acme)
    call = await sent(acme)
    told = acme.node.endings.expect("acme", call)
    unknown = lost(await acme.record(call))
    assert await outage.did["finish"](
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
    outage = Outage.of_ends(acme)
    call = await sent(acme)

    assert not await acme.node.tasks.drain(0)
    outage.back = True
    assert await acme.worker.stop(10)
    assert (await acme.row(call)).outcome == "ok"


@pytest.mark.parametrize("away", ["the ledger", "the keys"])
async def test_job_that_was_started_is_asked_for_once_the_store_is_back(
    acme: Stage, away: str
) -> None:
    """That it was started is known nowhere else; the call does not stay `sending`."""
    keys: Any = acme.node.keeper
    port = (acme.node.calls, "move") if away == "the ledger" else (keys, "seal")
    pins: Any = {} if away == "the ledger" else {"other": "canary-pin"}
    outage = Outage(port)
    acme.egress.answers = [fakes.answer({"id": "j"}, 202), fakes.answer(DONE)]
    with pytest.raises(StoreUnavailable):
        await acme.call("render", ORDER, pins=pins)
    (row,) = (await acme.server.store.calls.list("acme")).items
    assert row.status == "sending"
    await outage.lasts(acme)
    assert (await acme.row(row.id)).status == "polling"
    acme.time.passed_ms += 1_000
    await acme.work()

    assert (await acme.row(row.id)).outcome == "ok"
    assert acme.egress.lines == ["POST /v1/orders", "GET /v1/jobs/j"]


async def test_job_that_cannot_be_kept_when_the_store_is_back_ends_unknown(acme: Stage) -> None:
    """A vault without its key: the call does not stay open for it."""
    keys: Any = acme.node.keeper

    async def broken(*_: object) -> object:
        raise VaultFault("The key of the vault is not there.")

    keys.seal = broken
    outage = Outage((acme.node.keeper, "seal"), (acme.node.calls, "finish"))
    acme.egress.answers = [fakes.answer({"id": "j"}, 202)]
    with pytest.raises(StoreUnavailable):
        await acme.call("render", ORDER, pins={"other": "canary-pin"})
    await outage.lasts(acme)
    (row,) = (await acme.server.store.calls.list("acme")).items

    assert row.outcome == "outcome_unknown"
    assert acme.egress.lines == ["POST /v1/orders"]


async def test_job_whose_call_another_ended_meanwhile_is_left(acme: Stage) -> None:
    """The lease ran out while the store was away: what another node said stands."""
    outage = Outage((acme.node.calls, "move"))
    acme.egress.answers = [fakes.answer({"id": "j"}, 202)]
    with pytest.raises(StoreUnavailable):
        await acme.call("render", ORDER)
    await restarted(acme).work()
    await outage.lasts(acme)
    (row,) = (await acme.server.store.calls.list("acme")).items

    assert (row.status, row.outcome) == ("unknown", "outcome_unknown")


@pytest.mark.parametrize("decision", ["approve", "deny"])
@pytest.mark.parametrize("away", ["get", "move and finish"])
async def test_answer_is_acted_on_once_the_store_is_back(
    acme: Stage, decision: Decision, away: str
) -> None:
    """The input is answered and nobody else goes on with it; what is approved is sent once."""
    waits = await acme.waiting("refund", {"name": "o1"})
    calls = acme.node.calls
    outage = Outage(*((calls, name) for name in away.split(" and ")))
    await answer(acme.node, BACKEND, waits.id, Answer(decision=decision, user="ana"))
    await outage.lasts(acme)

    approved = decision == "approve"
    assert (await acme.row(waits.call)).outcome == ("ok" if approved else "denied")
    assert acme.egress.lines[1:] == (["POST /v1/orders"] if approved else [])


async def test_approved_call_that_ends_late_is_sent_once(acme: Stage) -> None:
    """Its answer was late, and then its end is: both are kept, one after the other."""
    waits = await acme.waiting("refund", {"name": "o1"})
    before = Outage((acme.node.calls, "get"))
    ends = Outage.of_ends(acme)
    await answer(acme.node, BACKEND, waits.id, Answer(decision="approve", user="ana"))
    await before.long.wait()
    before.back = True
    await ends.lasts(acme)

    assert (await acme.row(waits.call)).outcome == "ok"
    assert acme.egress.lines[1:] == ["POST /v1/orders"]


@pytest.mark.parametrize(
    ("tool", "away", "outcome", "sent"),
    [("put_order", "of_call", "ok", 2), ("add_order", "finish", "outcome_unknown", 1)],
)
async def test_call_of_a_dead_node_is_taken_up_once_the_store_is_back(
    store_url: str, tool: str, away: str, outcome: str, sent: int
) -> None:
    """It was claimed, and then the store went away: it does not stay `sending`."""
    egress = DeafEgress([])
    async with open_stage(store_url, egress=egress) as stage:
        await furnish(stage)
        found: Any = await stage.call(tool, ORDER, wait_ms=20)
        after = restarted(stage)
        node = after.node
        outage = Outage((node.inputs if away == "of_call" else node.calls, away))
        await after.worker.round()
        await outage.lasts(after)

        assert (await after.row(found.call_id)).outcome == outcome
        assert len(egress.sent) == sent
        egress.go.set()


async def test_call_that_another_node_took_up_meanwhile_is_not_sent_again(store_url: str) -> None:
    """The lease ran out while the store was away: the row is another node's by now."""
    egress = DeafEgress([])
    async with open_stage(store_url, egress=egress) as stage:
        await furnish(stage)
        found: Any = await stage.call("put_order", ORDER, wait_ms=20)
        second = restarted(stage)
        outage = Outage((second.node.inputs, "of_call"))
        await second.worker.round()
        await outage.long.wait()
        databases.change(store_url, "UPDATE call SET node = 'node-3'")
        outage.back = True
        await second.settled()

        assert len(egress.sent) == 1
        assert (await stage.row(found.call_id)).status == "sending"
        egress.go.set()


async def test_answered_call_of_a_dead_node_goes_on_once_the_store_is_back(acme: Stage) -> None:
    """The same of one whose answer nobody acted on."""
    waits = await acme.waiting("refund", {"name": "o1"})
    tasks: Any = acme.node.tasks
    start, tasks.start = tasks.start, lambda work: work.close()
    await answer(acme.node, BACKEND, waits.id, Answer(decision="approve", user="ana"))
    tasks.start = start
    after = restarted(acme)
    outage = Outage((after.node.inputs, "of_call"))
    await after.worker.round()
    await outage.lasts(after)

    assert (await after.row(waits.call)).outcome == "ok"
    assert acme.egress.lines[1:] == ["POST /v1/orders"]


def _late(number: int, chars: int = 2) -> Late:
    return Late(workspace="acme", call_id=f"call_{number}", was="sending", chars=chars)


def test_ends_that_are_kept_take_bounded_memory(backend: str) -> None:
    """Each step of a call once; so many, and so much text together, and no more."""
    del backend
    many, large = Endings(), Endings()
    kept = [many.keep(_late(number)) for number in range(MAX_LATE + 1)]
    half = MAX_LATE_CHARS // 2

    assert kept == [True] * MAX_LATE + [False]
    assert not many.keep(_late(0))
    many.let_go(_late(0))
    assert many.keep(_late(0))
    assert [large.keep(_late(n, half)) for n in range(3)] == [True, True, False]
    large.let_go(_late(1, half))
    assert large.keep(_late(2, half))
