"""What a node does by itself: polls, and what a dead node left (contract sections 5, 6 and 7)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import cast

import pytest

from remit.errors import CallError, ResponseInvalid, UpstreamTimeout
from remit.gateway.answering import Answer, answer
from remit.gateway.awaiting import StillRunning, as_it_stands, ended_within
from remit.gateway.journal import Ended
from remit.gateway.ports import WireResponse
from remit.gateway.suspending import suspend
from remit.values.json import JsonObject
from tests import databases
from tests.gateway import fakes
from tests.gateway.nodes import (
    BACKEND,
    DeafEgress,
    HeldEgress,
    Stage,
    furnish,
    open_stage,
    restarted,
)

pytestmark = databases.on_each_database

ARGS: JsonObject = {"name": "o1", "amount": 600}
STARTED = fakes.answer({"id": "j 1"}, 202)
RUNNING = fakes.answer({"status": "running"})
DONE = fakes.answer({"status": "done", "url": "https://x.example/1"})


@pytest.fixture
async def acme(store_url: str) -> AsyncIterator[Stage]:
    """The app ``acme``, approved, with ``ana`` connected."""
    async with open_stage(store_url) as stage:
        await furnish(stage)
        yield stage
        assert stage.faults == []


def shared(stage: Stage) -> Stage:
    """The node is one of several: it takes nothing of another whose lease is alive."""
    stage.worker._alone = False  # noqa: SLF001
    return stage


async def started(stage: Stage, *answers: WireResponse | CallError) -> str:
    """A call whose job is started; gives its id."""
    stage.egress.answers = [STARTED, *answers]
    found = await stage.call("render", ARGS, wait_ms=0)
    assert isinstance(found, StillRunning)
    await stage.settled()
    assert await as_it_stands(stage.node, "acme", found.call_id) == StillRunning(
        found.call_id, "polling"
    )
    return found.call_id


async def passed(stage: Stage, ms: int = 1_000) -> None:
    """Time goes by, and the worker looks."""
    stage.time.passed_ms += ms
    await stage.work()


async def ended(stage: Stage, call: str) -> Ended:
    """How a call ended."""
    found = await as_it_stands(stage.node, "acme", call)
    assert isinstance(found, Ended), found
    return found


@pytest.mark.promise("T-38", "T-41")
async def test_job_is_asked_for_from_its_row_until_it_is_done(acme: Stage) -> None:
    """The first poll comes after the interval; the last body is mapped (section 6)."""
    call = await started(acme, RUNNING, DONE)
    row = await acme.row(call)
    assert (row.status, row.polls_left, row.node) == ("polling", 3, None)
    await acme.work()
    assert acme.egress.lines == ["POST /v1/orders"]
    await passed(acme)
    assert acme.egress.lines == ["POST /v1/orders", "GET /v1/jobs/j%201"]
    assert (await acme.row(call)).polls_left == 2
    await passed(acme)
    found = await ended(acme, call)

    assert found.outcome == "ok"
    assert found.result == {"url": "https://x.example/1"}
    assert len(acme.egress.sent) == 3
    authorization = {dict(one.headers)["Authorization"] for one in acme.egress.sent}
    assert authorization == {f"Bearer {fakes.CREDENTIAL}"}
    record = await acme.record(call)
    assert record["polls"] == 2
    assert len(record["attempts"]) == 1
    assert (await acme.row(call)).private is None


@pytest.mark.parametrize(
    ("polls", "code", "happened"),
    [
        ([fakes.answer({"status": "broken"})], "poll_failed", False),
        ([RUNNING], "poll_exhausted", True),
        ([fakes.answer({}, 500)], "poll_exhausted", True),
        ([UpstreamTimeout("no answer.", sent=True)], "poll_exhausted", True),
        ([ResponseInvalid("its body is not whole.", sent=True)], "poll_exhausted", True),
        ([fakes.answer({}, 404)], "upstream_error", True),
        ([fakes.answer({}, 401)], "not_connected", True),
    ],
)
async def test_job_that_does_not_come_to_its_end_says_so(
    acme: Stage, polls: list[WireResponse | CallError], code: str, happened: bool
) -> None:
    """What fails in passing counts; 4xx ends it; the job was started all the same (5, 6)."""
    call = await started(acme, *polls)
    for _ in range(4):
        await passed(acme)
    found = await ended(acme, call)

    assert found.outcome == "error"
    assert found.error is not None
    assert found.error["code"] == code
    assert found.error.get("mayHaveHappened", False) is happened
    assert len(acme.egress.sent) <= 4


async def test_retry_after_lengthens_the_wait(acme: Stage) -> None:
    """`Retry-After` lengthens a wait, of the first answer and of a poll (section 6)."""
    acme.egress.answers = [
        fakes.answer({"id": "1"}, 202, retry_after="5"),
        fakes.answer({}, 503, retry_after="7"),
        DONE,
    ]
    found = await acme.call("render", ARGS, wait_ms=0)
    assert isinstance(found, StillRunning)
    await acme.settled()
    for ms, sent in ((4_000, 1), (1_000, 2), (6_000, 2), (1_000, 3)):
        await passed(acme, ms)
        assert len(acme.egress.sent) == sent


async def test_caller_who_waits_is_told_when_the_job_is_done(acme: Stage) -> None:
    """`Prefer: wait` waits for an app, its job included (section 10)."""
    acme.egress.answers = [STARTED, DONE]
    waiting = asyncio.ensure_future(acme.call("render", ARGS, wait_ms=20_000))
    await acme.node.alarm.wait()
    await passed(acme)
    found = await waiting

    assert isinstance(found, Ended)
    assert found.result == {"url": "https://x.example/1"}


async def test_end_is_told_at_once_to_all_who_wait_here(acme: Stage) -> None:
    """The outcome is committed, then announced (contract section 5, step 10)."""
    call = await started(acme, DONE)
    waiting = [acme.node.endings.expect("acme", call) for _ in range(2)]
    elsewhere = acme.node.endings.expect("other", call)
    await passed(acme)

    assert [one.result().result for one in waiting] == [{"url": "https://x.example/1"}] * 2
    assert not elsewhere.done()
    elsewhere.cancel()


async def test_polling_survives_a_restart(store_url: str) -> None:
    """Polling is rows: it survives restarts and holds no thread (section 6)."""
    async with open_stage(store_url) as stage:
        await furnish(stage)
        call = await started(stage, RUNNING)
        await passed(stage)
        time = stage.time
    async with open_stage(store_url, DONE, name="node-2", time=time) as stage:
        await passed(stage)
        found = await ended(stage, call)

        assert found.result == {"url": "https://x.example/1"}
        assert stage.egress.lines == ["GET /v1/jobs/j%201"]
        request = stage.egress.sent[0]
        assert dict(request.headers)["Authorization"] == f"Bearer {fakes.CREDENTIAL}"


async def test_two_nodes_ask_for_a_job_once(acme: Stage) -> None:
    """Each due poll goes to one node (architecture, section 3)."""
    await started(acme, RUNNING)
    other = restarted(acme)
    acme.time.passed_ms += 1_000
    await asyncio.gather(acme.worker.round(), other.worker.round())
    await acme.settled()
    await other.settled()

    assert len(acme.egress.sent) == 2


@pytest.mark.parametrize("told", [True, False])
async def test_suspension_stops_polls_and_nobody_knows_how_they_end(
    acme: Stage, told: bool
) -> None:
    """Suspend: polls stop, their calls end `outcome_unknown` (section 7)."""
    call = await started(acme, DONE)
    books, operator = acme.server.books, acme.server.operator
    stopped = await suspend(books, operator, "acme", reason="a leak", node=acme.node.id)
    if told:
        acme.worker.stopped(stopped)
        await acme.settled()
    else:
        await passed(acme, 31_000)
    found = await ended(acme, call)

    assert found.outcome == "outcome_unknown"
    assert found.error is not None
    assert found.error["mayHaveHappened"] is True
    assert "suspended" in str(found.error["message"])
    assert acme.egress.lines == ["POST /v1/orders"]


async def test_job_is_not_asked_for_with_another_account(acme: Stage) -> None:
    """A status request is a GET with the same credential (section 6)."""
    call = await started(acme, DONE)
    await acme.connect("tok_other_canary", account="someone@else")
    await passed(acme)
    found = await ended(acme, call)

    assert found.outcome == "outcome_unknown"
    assert "connected anew" in str(cast("JsonObject", found.error)["message"])
    assert acme.egress.lines == ["POST /v1/orders"]


# --- what a dead node left -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "outcome", "sent"),
    [("get_order", "ok", 2), ("put_order", "ok", 2), ("add_order", "outcome_unknown", 1)],
)
async def test_only_what_is_harmless_is_sent_again_after_a_death(
    store_url: str, tool: str, outcome: str, sent: int
) -> None:
    """A read and an idempotent tool are sent again, with the same key; nothing else (5)."""
    egress = DeafEgress([])
    async with open_stage(store_url, egress=egress) as stage:
        await furnish(stage)
        args = {"id": "o"} if tool == "get_order" else ARGS
        sending = await stage.call(tool, cast("JsonObject", args), wait_ms=50)
        assert isinstance(sending, StillRunning)
        after, call = restarted(stage), sending.call_id
        await after.work()
        found = await ended(after, call)

        assert found.outcome == outcome
        assert len(egress.sent) == sent
        keys = {dict(request.headers).get("Idempotency-Key") for request in egress.sent}
        traces = {dict(request.headers)["traceparent"] for request in egress.sent}
        assert len(keys) == len(traces) == 1
        if outcome == "outcome_unknown":
            error = cast("JsonObject", found.error)
            assert error["mayHaveHappened"] is True
            assert "was not sent again" in str(error["message"])
            assert "read the current state" in str(error["message"])
            assert (await after.row(call)).status == "unknown"

        # The old node wakes up: what it heard comes too late, and changes nothing.
        egress.go.set()
        await stage.settled()
        assert (await ended(after, call)).record == found.record
        assert len(egress.sent) == sent


async def test_approved_write_that_was_being_sent_is_not_sent_again(store_url: str) -> None:
    """An approval is for one send (contract section 9: nothing answered is ever replayed)."""
    egress = HeldEgress([])
    async with open_stage(store_url, egress=egress) as stage:
        await furnish(stage)
        egress.go.set()
        waits = await stage.waiting("refund", ARGS)
        egress.go.clear()
        egress.left.clear()
        await answer(stage.node, BACKEND, waits.id, Answer(decision="approve", user="ana"))
        await egress.left.wait()
        after = restarted(stage)
        await after.work()
        found = await ended(after, waits.call)

        assert found.outcome == "outcome_unknown"
        assert [one.method for one in egress.sent] == ["GET", "POST"]
        egress.go.set()
        await stage.settled()
        assert (await ended(after, waits.call)).outcome == "outcome_unknown"


async def test_read_that_may_not_run_any_more_is_not_sent_again(store_url: str) -> None:
    """Permission is checked at each send (contract section 5, step 7)."""
    egress = HeldEgress([])
    async with open_stage(store_url, egress=egress) as stage:
        await furnish(stage)
        calls = [
            await stage.call("get_order", {"id": "o"}, wait_ms=50),
            await stage.call("put_order", ARGS, wait_ms=50),
        ]
        books, operator = stage.server.books, stage.server.operator
        await suspend(books, operator, "acme", reason="a leak", node="x")
        after = restarted(stage)
        await after.work()
        reading, writing = [await ended(after, cast("StillRunning", one).call_id) for one in calls]

        assert cast("JsonObject", reading.error)["code"] == "app_suspended"
        assert writing.outcome == "outcome_unknown"
        assert len(egress.sent) == 2
        egress.go.set()


async def test_read_that_was_changed_in_the_store_is_not_sent_again(store_url: str) -> None:
    """What is sent again is what was frozen, by its digest (contract section 5, step 5)."""
    egress = HeldEgress([])
    async with open_stage(store_url, egress=egress) as stage:
        await furnish(stage)
        found = await stage.call("put_order", ARGS, wait_ms=50)
        call = cast("StillRunning", found).call_id
        kept = (await stage.row(call)).private or ""
        assert '"amount":600' in kept
        databases.change(store_url, "UPDATE call SET private = replace(private, '600', '999')")
        after = restarted(stage)
        await after.work()

        assert (await ended(after, call)).outcome == "outcome_unknown"
        assert len(egress.sent) == 1
        egress.go.set()


async def test_living_node_keeps_what_it_works_on(store_url: str) -> None:
    """Only a lease that ran out hands a call on (architecture, section 3)."""
    egress = HeldEgress([])
    async with open_stage(store_url, egress=egress) as stage:
        await furnish(stage)
        shared(stage)
        other = shared(restarted(stage))
        await stage.work()
        found = await stage.call("add_order", ARGS, wait_ms=20)
        assert isinstance(found, StillRunning)
        await other.work()
        assert (await stage.row(found.call_id)).status == "sending"
        stage.time.passed_ms += 16_000
        await other.work()
        assert (await stage.row(found.call_id)).status == "unknown"
        egress.go.set()


# --- starting and stopping -------------------------------------------------------------------


async def lease_renewed(stage: Stage) -> None:
    """Wait until the worker, by itself, has said that its node is alive."""
    async with asyncio.timeout(5):
        while stage.worker._joined_at != stage.time.unix_ms():  # noqa: ASYNC110, SLF001
            await asyncio.sleep(0.001)


async def test_worker_goes_on_by_itself_and_stops_after_what_is_being_sent(store_url: str) -> None:
    """A graceful stop: a write in flight runs to its end and is recorded (section 9)."""
    egress = HeldEgress([])
    async with open_stage(store_url, egress=egress) as stage:
        await furnish(stage)
        shared(stage)
        await stage.worker.start()
        found = await stage.call("add_order", ARGS, wait_ms=20)
        assert isinstance(found, StillRunning)
        stopping = asyncio.ensure_future(stage.worker.stop(10))
        await asyncio.sleep(0)
        other = shared(restarted(stage))
        for _ in range(3):
            stage.time.passed_ms += 10_000
            stage.node.alarm.set()
            await lease_renewed(stage)
            await other.work()
            assert (await stage.row(found.call_id)).status == "sending"
        egress.go.set()
        assert await stopping

        assert (await ended(stage, found.call_id)).outcome == "ok"
        assert len(egress.sent) == 1
        assert stage.faults == []


async def test_started_worker_polls_what_becomes_due(acme: Stage) -> None:
    """The alarm wakes the worker for what is due sooner than it would look (section 6)."""
    call = await started(acme, DONE)
    await acme.worker.start()
    loop = asyncio.get_running_loop()
    waiting = asyncio.ensure_future(ended_within(acme.node, "acme", call, until=loop.time() + 10))
    acme.time.passed_ms += 1_000
    acme.node.alarm.set()
    found = await waiting
    assert await acme.worker.stop(5)

    assert isinstance(found, Ended)
    assert found.outcome == "ok"


async def test_caller_hears_of_a_call_that_another_node_ended(acme: Stage) -> None:
    """Another node may end it: the row is looked at while somebody waits (section 10)."""
    call = await started(acme, DONE)
    other = restarted(acme)
    loop = asyncio.get_running_loop()
    waiting = asyncio.ensure_future(ended_within(acme.node, "acme", call, until=loop.time() + 10))
    await asyncio.sleep(0)
    acme.time.passed_ms += 1_000
    await other.work()
    found = await waiting

    assert isinstance(found, Ended)
    assert found.result == {"url": "https://x.example/1"}
