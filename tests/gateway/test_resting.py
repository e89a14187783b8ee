"""What a row says of a call that rested, held to what was frozen (contract sections 2, 5 and 6)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import pytest

from remit.gateway.answering import Answer, answer
from remit.gateway.awaiting import StillRunning
from remit.gateway.ports import Limits, WireRequest, WireResponse
from remit.gateway.resting import opened_text, sealed_text
from remit.gateway.reviewing import approve
from remit.gateway.submitting import submit
from remit.gateway.suspending import suspend
from tests import databases
from tests.catalog.documents import Json, parameters
from tests.gateway import fakes
from tests.gateway.nodes import BACKEND, PUT, DeafEgress, Stage, furnish, open_stage, restarted
from tests.gateway.server import HOUSE, shop

pytestmark = databases.on_each_database

#: An integer as text is repaired, which the record says.
ARGS: Any = {"name": "o1", "amount": "600"}
STARTED = fakes.answer({"id": "j"}, 202)
DONE = fakes.answer({"status": "done", "url": "https://x.example/1"})


@dataclass
class EchoEgress(DeafEgress):
    """One that says what it was told."""

    async def send(self, request: WireRequest, limits: Limits) -> WireResponse:
        """Give the name back."""
        await super().send(request, limits)
        return fakes.answer({"you": json.loads(request.body or b"")["name"]})


def falsified(record: Json, other: str) -> Json:
    """A record that tells another story, of another call too."""
    request = {**record["request"], "url": "https://evil.example/", "digest": "0" * 64}
    changed = {**record, "id": other, "args": {"name": "nobody"}, "argOrigins": {}}
    changed |= {"workspace": "other", "app": "evil", "version": 9, "tool": "get_order"}
    changed |= {"user": "bob", "source": "cli", "request": request, "repaired": []}
    return changed | {"refusedPins": ["amount"], "connectionId": "c", "account": "bob@acme"}


async def falsify(stage: Stage, store_url: str, call: str, other: str = "call_none") -> Json:
    """Put a false record into the row of a call; gives the true one."""
    before = await stage.record(call)
    databases.change(
        store_url,
        "UPDATE call SET record_json = :changed WHERE id = :id",
        changed=json.dumps(falsified(before, other)),
        id=call,
    )
    return before


def running(found: object) -> str:
    """The id of a call that has not ended."""
    assert isinstance(found, StillRunning), found
    return found.call_id


async def started(stage: Stage) -> str:
    """A call whose job is started; gives its id."""
    found = await stage.call("render", ARGS, wait_ms=0)
    await stage.settled()
    return running(found)


async def polled(stage: Stage) -> None:
    """The interval goes by, and the worker looks."""
    stage.time.passed_ms += 1_000
    await stage.work()


async def test_record_that_was_changed_behind_a_job_tells_what_was_sent(store_url: str) -> None:
    """The end of a job is of the call whose row it is, and no other call is touched."""
    async with open_stage(store_url, STARTED, STARTED, DONE) as stage:
        await furnish(stage)
        call, other = [await started(stage) for _ in range(2)]
        databases.change(
            store_url, "UPDATE call SET next_poll_at = next_poll_at + 9000 WHERE id = :id", id=other
        )
        before = await falsify(stage, store_url, call, other)
        await polled(stage)
        after = await stage.record(call)

        assert (await stage.row(call)).outcome == after["outcome"] == "ok"
        assert (await stage.row(other)).status == "polling"
        assert before["repaired"] != []
        assert "refusedPins" not in after
        assert before.items() <= after.items()


@pytest.mark.parametrize("end", ["suspended", "unreadable"])
async def test_job_that_may_not_be_asked_for_ends_its_own_call(store_url: str, end: str) -> None:
    """Where nothing frozen can be read, the row still says whose the record is."""
    async with open_stage(store_url, STARTED) as stage:
        await furnish(stage)
        call, other = [await started(stage) for _ in range(2)]
        before = await falsify(stage, store_url, call, other)
        if end == "suspended":
            books, operator = stage.server.books, stage.server.operator
            await suspend(books, operator, "acme", reason="a leak", node="x")
        else:
            databases.change(store_url, "UPDATE call SET private = '{' WHERE id = :id", id=call)
        stage.time.passed_ms += 31_000
        await stage.work()
        after = await stage.record(call)

        assert (await stage.row(call)).outcome == after["outcome"] == "outcome_unknown"
        for name in ("id", "workspace", "app", "version", "tool", "user", "source"):
            assert after[name] == before[name]
        assert (await stage.record(other))["id"] == other


async def test_record_that_was_changed_before_a_call_is_sent_again(store_url: str) -> None:
    """What is sent again is what was frozen, and the record says that."""
    async with open_stage(store_url, egress=DeafEgress([])) as stage:
        await furnish(stage)
        call = running(await stage.call("put_order", ARGS, wait_ms=20))
        before = await falsify(stage, store_url, call)
        after = restarted(stage)
        await after.work()
        record = await after.record(call)

        assert record["outcome"] == "ok"
        assert "refusedPins" not in record
        assert before.items() <= record.items()
        assert len(stage.egress.sent) == 2
        cast("DeafEgress", stage.egress).go.set()


def _elsewhere(poll: Json) -> None:
    poll["url"] = "https://evil.example/jobs"


def _elsewhere_altogether(poll: Json) -> None:
    poll |= {"url": "https://evil.example/jobs", "origin": ["https", "evil.example", 443]}


def _writing(poll: Json) -> None:
    poll["method"] = "DELETE"


def _of_another_tool(poll: Json) -> None:
    poll["tool"] = "get_order"


@pytest.mark.parametrize("change", [_elsewhere, _elsewhere_altogether, _writing, _of_another_tool])
async def test_poll_that_was_changed_in_the_store_is_not_sent(
    store_url: str, change: Callable[[Json], None]
) -> None:
    """It goes where the call went, with its credential, and reads (section 6)."""
    async with open_stage(store_url, STARTED, DONE) as stage:
        await furnish(stage)
        call = await started(stage)
        # Whoever has the key, too: what was sealed is held to where the call went.
        row = await stage.row(call)
        kept = json.loads(await opened_text(stage.node, row))
        change(kept["poll"])
        place = {"workspace": row.workspace, "app": row.app, "user": row.user, "call": row.id}
        sealed = await sealed_text(stage.node, json.dumps(kept), **place)
        databases.change(store_url, "UPDATE call SET private = :kept", kept=sealed)
        await polled(stage)

        assert (await stage.row(call)).outcome == "outcome_unknown"
        assert stage.egress.lines == ["POST /v1/orders"]


async def test_answer_that_tells_a_secret_is_kept_sealed_while_its_job_is_asked_for(
    store_url: str,
) -> None:
    """Where to ask is made of the answer, which may give back the credential (section 6)."""
    told = fakes.answer({"id": "canary-credential"}, 202)
    async with open_stage(store_url, told, DONE) as stage:
        await furnish(stage)
        call = await started(stage)
        row = await stage.row(call)
        assert row.status == "polling"
        assert "canary-credential" not in row.record_json + (row.private or "")
        await polled(stage)

        assert (await stage.row(call)).outcome == "ok"
        assert "canary-credential" in stage.egress.lines[1]


@pytest.mark.parametrize("secret", ["then", "now"])
async def test_argument_that_was_secret_then_or_is_now_is_masked(
    store_url: str, secret: str
) -> None:
    """A call that is sent again finds its tool in the catalog, which may say less by now (2)."""
    plain: Json = {"type": "string"}
    hidden: Json = {**plain, "writeOnly": True}
    first, second = (hidden, plain) if secret == "then" else (plain, hidden)
    egress = EchoEgress([])
    async with open_stage(store_url, egress=egress) as stage:
        await furnish(stage, shop(_put(first)))
        call = running(await stage.call("put_order", {"name": "canary-name"}, wait_ms=20))
        books, operator = stage.server.books, stage.server.operator
        found = await submit(books, operator, shop(_put(second)), HOUSE)
        if found.version.number > 1:
            await approve(books, operator, "acme", found.version.number, consent="workspace")
        after = restarted(stage)
        await after.work()
        record = await after.record(call)

        assert record["outcome"] == "ok"
        assert record["args"] == {"name": "***"}
        assert record["request"]["body"] == {"name": "***"}
        assert record["mapped"] == {"you": "***"}
        row = await after.row(call)
        assert "canary-name" not in row.record_json + (row.private or "")
        assert json.loads(egress.sent[1].body or b"") == {"name": "canary-name"}
        egress.go.set()


async def test_argument_that_became_secret_while_its_call_waited_is_masked(
    store_url: str,
) -> None:
    """What a person said yes to is sent; that it is a secret by now holds for its record."""
    asking = {"requiresApproval": True}
    egress = EchoEgress([])
    egress.go.set()
    async with open_stage(store_url, egress=egress) as stage:
        await furnish(stage, shop({**_put({"type": "string"}), **asking}))
        waits = await stage.waiting("put_order", {"name": "canary-name"})
        hidden = {**_put({"type": "string", "writeOnly": True}), **asking}
        books, operator = stage.server.books, stage.server.operator
        found = await submit(books, operator, shop(hidden), HOUSE)
        await approve(books, operator, "acme", found.version.number, consent="workspace")
        await answer(stage.node, BACKEND, waits.id, Answer(decision="approve", user="ana"))
        await stage.settled()
        record = await stage.record(waits.call)

        assert record["outcome"] == "ok"
        assert "canary-name" not in json.dumps(record)
        assert json.loads(egress.sent[0].body or b"") == {"name": "canary-name"}


def _put(name: Json) -> Json:
    endpoint = {**cast("Json", PUT["endpoint"]), "bodyTemplate": {"name": "{{args.name}}"}}
    tool = {**PUT, "parameters": parameters(name=name), "endpoint": endpoint}
    return {key: value for key, value in tool.items() if key != "responseMapping"}
