"""One call under a server (contract section 5)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeAlias

import pytest

from remit.catalog.scales import Category, Ceiling, DangerLevel
from remit.documents.canonical import compact_json
from remit.errors import CallError, EgressRefused, StoreUnavailable, UpstreamTimeout
from remit.gateway.acting import Actor
from remit.gateway.awaiting import StillRunning, Waiting, as_it_stands
from remit.gateway.connecting import disconnect
from remit.gateway.consenting import list_grants, revoke
from remit.gateway.environment import put_env
from remit.gateway.governed import Refused
from remit.gateway.journal import Ended
from remit.gateway.ledger import CallRow
from remit.gateway.ports import Limits, WireRequest, WireResponse
from remit.gateway.suspending import suspend
from remit.values.json import JsonObject
from remit.values.secrets import Secret
from tests import databases
from tests.catalog.documents import Json, endpoint_tool, parameters, posting
from tests.gateway.fakes import CREDENTIAL, answer
from tests.gateway.nodes import ADD, DEFINITION, GET, HeldEgress, Stage, furnish, open_stage
from tests.gateway.server import shop

pytestmark = databases.on_each_database

Change: TypeAlias = Callable[[Stage], Awaitable[None]]


@pytest.fixture
async def acme(store_url: str) -> AsyncIterator[Stage]:
    """The app ``acme``, approved, with ``ana`` connected."""
    async with open_stage(store_url) as stage:
        await furnish(stage)
        yield stage
        assert stage.faults == []


def refused(found: object) -> Refused:
    """A refusal."""
    assert isinstance(found, Refused), found
    return found


@pytest.mark.promise("T-02")
async def test_read_is_sent_mapped_and_recorded(acme: Stage) -> None:
    """Arguments in, guarded request out, mapped fields back, a record kept (sections 5, 10)."""
    ended = await acme.ended("get_order", {"id": "o 1"})

    assert ended.outcome == "ok"
    assert ended.result == {"total": 5}
    assert ended.content == '{"total":5}'
    assert ended.display == {"renderer": "json", "data": {"total": 5}}
    assert acme.egress.lines == ["GET /v1/orders/o%201"]
    assert dict(acme.egress.sent[0].headers)["Authorization"] == f"Bearer {CREDENTIAL}"
    record = await acme.record(ended.call_id)
    assert record == ended.record
    row = await acme.row(ended.call_id)
    assert (row.status, row.outcome, row.private, row.node) == ("done", "ok", None, None)
    assert (row.category, row.danger_level, row.source) == ("read", "safe", "api")
    assert row.sent_at is not None


@pytest.mark.parametrize("status", [200, 404])
async def test_kept_record_is_the_text_of_the_one_that_is_told(acme: Stage, status: int) -> None:
    """What was written down before the send is not written anew, and is the same text."""
    acme.egress.answers = [answer({"total": 5, "text": "ü"}, status=status)]
    ended = await acme.ended("get_order", {"id": "o 1"})

    assert (await acme.row(ended.call_id)).record_json == compact_json(ended.record)


async def test_record_has_what_the_contract_lists(acme: Stage) -> None:
    """The call record (contract section 10)."""
    await acme.policy({"then": "allow", "match": {"app": "acme"}, "reason": "all is well"})
    args: JsonObject = {"name": "x", "amount": "7"}
    ended = await acme.ended("add_order", args, pins={"name": "pinned"})
    record = ended.record

    assert record["args"] == {"name": "pinned", "amount": 7}
    assert record["argOrigins"] == {"name": "pin", "amount": "repair"}
    assert record["refusedPins"] == ["name"]
    assert len(ended.repaired) == 1
    assert record["policy"] == [{"rule": "/rules/0", "verdict": "allow", "reason": "all is well"}]
    request = record["request"]
    assert isinstance(request, dict)
    assert request["body"] == {"name": "pinned", "amount": 7}
    assert request["method"] == "POST"
    assert record["attempts"] == [{"at": "2026-09-21T14:13:20.000Z", "ms": 0, "status": 200}]
    named = {"id", "at", "workspace", "user", "actor", "app", "version", "catalogDigest", "tool",
             "offeredAs", "source", "traceId", "connectionId", "account", "outcome", "mapped",
             "content"}  # fmt: skip
    assert named <= record.keys()
    assert acme.egress.sent[0].body == b'{"name":"pinned","amount":7}'


async def test_intent_is_committed_before_the_bytes_leave(acme: Stage) -> None:
    """Step 8: the intent, then the request (contract section 5)."""
    seen: list[CallRow] = []
    send = acme.egress.send

    async def looking(request: WireRequest, limits: Limits) -> WireResponse:
        page = await acme.server.store.calls.list("acme")
        seen.extend(page.items)
        return await send(request, limits)

    acme.egress.send = looking  # pyright: ignore[reportAttributeAccessIssue]
    ended = await acme.ended("add_order", {"name": "x"})

    assert [(row.id, row.status) for row in seen] == [(ended.call_id, "sending")]
    assert seen[0].sent_at is not None
    assert seen[0].node == "node-1"


@pytest.mark.parametrize(
    ("tool", "args", "pins", "code"),
    [
        ("get_order", {}, {}, "invalid_arguments"),
        ("get_order", {"id": ".."}, {}, "invalid_arguments"),
        ("get_order", {"id": "o"}, {"id": 5}, "invalid_pin"),
        ("add_order", {"name": 5}, {}, "invalid_arguments"),
    ],
)
async def test_refused_arguments_send_nothing_and_are_recorded(
    acme: Stage, tool: str, args: JsonObject, pins: JsonObject, code: str
) -> None:
    """Refused before anything was sent is a problem with the call's id (section 10)."""
    found = refused(await acme.call(tool, args, pins=pins))

    assert found.code == code
    assert found.call_id is not None
    assert acme.egress.sent == []
    row = await acme.row(found.call_id)
    assert (row.status, row.outcome, row.sent_at) == ("failed", "error", None)
    error = (await acme.record(found.call_id))["error"]
    assert error["code"] == code
    assert error["message"]


@pytest.mark.parametrize(
    ("app", "tool", "more"),
    [
        ("acme", "get_orders", {}),
        ("other", "get_order", {}),
        ("acme", "get_order", {"actor": Actor(key_id="k", role="backend", workspace="other")}),
        (
            "acme",
            "get_order",
            {"actor": Actor(key_id="t", role="user", workspace="acme", user="bob")},
        ),
        (
            "acme",
            "get_order",
            {"actor": Actor(key_id="t", role="user", workspace="acme", user="ana", apps=("b",))},
        ),
    ],
    ids=["tool", "app", "workspace", "user", "reach"],
)
async def test_what_is_not_there_or_not_ones_own_leaves_no_record(
    acme: Stage, app: str, tool: str, more: dict[str, Any]
) -> None:
    """Wrong workspace and unknown id answer the same 404, without a record (section 10)."""
    found = refused(await acme.call(tool, {"id": "o"}, app=app, **more))

    assert found.error.status == 404
    assert found.call_id is None
    assert acme.egress.sent == []
    for workspace in ("acme", "other"):
        assert not (await acme.server.store.calls.list(workspace)).items


async def _unconsented(acme: Stage) -> None:
    page = await list_grants(acme.server.books, acme.server.operator)
    await revoke(acme.server.books, acme.server.operator, page.items[0].id)


async def _disconnected(acme: Stage) -> None:
    await disconnect(acme.server.books, acme.server.operator, "acme", "ana")


async def _suspended(acme: Stage) -> None:
    operator = acme.server.operator
    await suspend(acme.server.books, operator, "acme", reason="a leak", node="node-1")


async def _forbidden(acme: Stage) -> None:
    await acme.policy({"then": "deny", "match": {"tool": "get_*"}, "reason": "not on Mondays"})


async def _used_up(acme: Stage) -> None:
    await acme.policy(limits={"tokensPerUserDay": 0})


@pytest.mark.parametrize(
    ("prepare", "code", "said", "status"),
    [
        (_unconsented, "consent_required", "consent", "failed"),
        (_disconnected, "not_connected", "Connect the account", "failed"),
        (_suspended, "app_suspended", "a leak", "failed"),
        (_forbidden, "denied", "not on Mondays", "denied"),
        (_used_up, "rate_limited", "no tokens", "failed"),
    ],
)
async def test_what_may_not_run_now_sends_nothing_and_says_why(
    acme: Stage, prepare: Change, code: str, said: str, status: str
) -> None:
    """Step 7: permission now; if not, the call ends with that reason (contract section 5)."""
    await prepare(acme)
    found = refused(await acme.call("get_order", {"id": "o"}))

    assert found.code == code
    assert said in found.error.message
    assert acme.egress.sent == []
    assert found.call_id is not None
    assert (await acme.row(found.call_id)).status == status


async def test_limit_of_a_run_counts_what_was_sent(acme: Stage) -> None:
    """`limits` count in the store; a run that used up its writes still reads (section 18)."""
    await acme.policy(limits={"callsPerRun": 3, "writesPerRun": 1})
    run = {"run": "r1", "session": "s1"}
    await acme.ended("add_order", {"name": "a"}, **run, response_seq=1, model_call_id="a")
    over = refused(
        await acme.call("add_order", {"name": "b"}, **run, response_seq=1, model_call_id="b")
    )
    await acme.ended("get_order", {"id": "o"}, **run, response_seq=1, model_call_id="c")
    await acme.ended("get_order", {"id": "o"}, **run, response_seq=1, model_call_id="d")
    full = refused(
        await acme.call("get_order", {"id": "o"}, **run, response_seq=1, model_call_id="e")
    )
    other = await acme.ended("add_order", {"name": "a"}, run="r2", session="s1")

    assert over.code == full.code == "rate_limited"
    assert "1 call in one run that change something" in over.error.message
    assert other.outcome == "ok"
    assert len(acme.egress.sent) == 4


@pytest.mark.parametrize(
    ("failing", "code", "happened"),
    [
        (UpstreamTimeout("no answer in 30 s.", sent=True), "upstream_timeout", True),
        (UpstreamTimeout("no connection.", sent=False), "upstream_timeout", False),
        (answer({"message": "gone"}, 404), "upstream_error", False),
        (answer(b"{"), "response_invalid", True),
        (answer({}, 401), "not_connected", False),
        (EgressRefused("The guard refused it."), "egress_refused", False),
    ],
)
async def test_failed_write_says_whether_it_may_have_happened(
    acme: Stage, failing: WireResponse | CallError, code: str, happened: bool
) -> None:
    """`mayHaveHappened`, and in words; an upstream error is an outcome (sections 5, 10)."""
    acme.egress.answers = [failing]
    write = await acme.ended("add_order", {"name": "x"})
    read = await acme.ended("get_order", {"id": "o"})

    assert write.outcome == read.outcome == "error"
    assert write.error is not None
    assert read.error is not None
    assert write.error["code"] == read.error["code"] == code
    assert write.error.get("mayHaveHappened", False) is happened
    assert ("read the current state" in str(write.error["message"])) is happened
    assert "mayHaveHappened" not in read.error
    assert json.loads(write.content) == {"error": write.error}
    assert (await acme.row(write.call_id)).status == "failed"
    assert len(acme.egress.sent) == 2
    # What never left is no attempt.
    left = isinstance(failing, WireResponse) or failing.sent
    assert ("attempts" in write.record) is left


@pytest.mark.parametrize("renderer", ["json", "table", "link"])
async def test_call_is_drawn_the_same_from_its_record(store_url: str, renderer: str) -> None:
    """Who asks later, or of another node, is given the same display (contract section 10)."""
    shown = {
        **GET,
        "name": "shown",
        "resultRenderer": renderer,
        "responseMapping": {"rows": "rows"},
    }
    rows = [{"id": 1}] if renderer != "link" else "https://a.example/1"
    async with open_stage(store_url, answer({"rows": rows})) as stage:
        await furnish(stage, shop(shown))
        ended = await stage.ended("shown", {"id": "7"})
        later = await as_it_stands(stage.node, "acme", ended.call_id)

    assert ended.display is not None
    assert ended.display["renderer"] == renderer
    assert isinstance(later, Ended)
    assert later == ended


async def test_unexpected_fault_leaves_no_call_open(store_url: str) -> None:
    """Nothing is stuck: a fault of ours after the bytes left ends as unknown (section 5)."""
    async with open_stage(store_url) as stage:
        await furnish(stage)

        async def broken(*_: object) -> WireResponse:
            msg = "a mistake of ours"
            raise ZeroDivisionError(msg)

        stage.egress.send = broken  # pyright: ignore[reportAttributeAccessIssue]
        with pytest.raises(ZeroDivisionError):
            await stage.call("add_order", {"name": "x"})
        rows = (await stage.server.store.calls.list("acme")).items

        assert [(row.status, row.outcome) for row in rows] == [("unknown", "outcome_unknown")]
        assert len(stage.faults) == 1


async def test_closed_waiter_stops_nothing_that_is_being_sent(store_url: str) -> None:
    """A closed connection never cancels the stretch between sending and done (section 9)."""
    egress = HeldEgress([])
    async with open_stage(store_url, answer({"id": 1}), egress=egress) as stage:
        await furnish(stage)
        waiter = asyncio.ensure_future(stage.call("add_order", {"name": "x"}))
        await egress.left.wait()
        waiter.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiter
        egress.go.set()
        await stage.settled()
        rows = (await stage.server.store.calls.list("acme")).items

        assert [(row.status, row.outcome) for row in rows] == [("done", "ok")]
        assert len(egress.sent) == 1
        assert stage.faults == []


async def test_call_that_is_told_as_running_is_on_record_by_then(store_url: str) -> None:
    """Whoever does not wait at all gets an id that can be asked for at once."""
    egress = HeldEgress([])
    async with open_stage(store_url, egress=egress) as stage:
        await furnish(stage)
        found = await stage.call("add_order", {"name": "x"}, wait_ms=0)
        assert isinstance(found, StillRunning)
        assert (await stage.row(found.call_id)).status == "sending"
        egress.go.set()
        await stage.settled()


async def test_call_that_cannot_be_written_down_is_refused_also_to_who_does_not_wait(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An id of a call that is nowhere would never be heard of again."""

    async def away(workspace: str, row: CallRow) -> bool:
        del workspace, row
        msg = "The store is away."
        raise StoreUnavailable(msg)

    async with open_stage(store_url) as stage:
        await furnish(stage)
        monkeypatch.setattr(stage.node.calls, "plan", away)
        with pytest.raises(StoreUnavailable):
            await stage.call("add_order", {"name": "x"}, wait_ms=0)
        stage.faults.clear()


async def test_caller_that_waits_no_longer_is_told_that_it_is_being_sent(store_url: str) -> None:
    """`Prefer: wait`: 202 with `sending`, and the record later (contract section 10)."""
    egress = HeldEgress([])
    async with open_stage(store_url, answer({"id": 1}), egress=egress) as stage:
        await furnish(stage)
        found = await stage.call("add_order", {"name": "x"}, wait_ms=20)
        assert isinstance(found, StillRunning)
        assert found.outcome == "sending"
        assert await as_it_stands(stage.node, "acme", found.call_id) == found
        egress.go.set()
        await stage.settled()
        ended = await as_it_stands(stage.node, "acme", found.call_id)

        assert isinstance(ended, Ended)
        assert ended.outcome == "ok"
        assert ended.result == {"id": 1}


async def test_call_of_an_id_that_was_made_before_is_not_made_again(acme: Stage) -> None:
    """A repeated request that is taken over makes no second call (section 10)."""
    first = await acme.ended("add_order", {"name": "x"})
    again = await acme.ended("add_order", {"name": "x"}, call_id=first.call_id)

    assert again.record == first.record
    assert len(acme.egress.sent) == 1


async def test_secret_argument_is_sent_and_stands_nowhere(store_url: str) -> None:
    """`writeOnly` is sent and never stored or shown (contract section 2)."""
    secret = {"type": "string", "writeOnly": True}
    tool = {**posting({"pw": "{{args.pw}}"}, {"pw": secret}), "name": "sign_up"}
    idem = {**tool, "name": "sign_in", "idempotent": True}
    asks = {**tool, "name": "sign_on", "requiresApproval": True}
    async with open_stage(store_url, answer({"you": "hunter2!"})) as stage:
        await furnish(stage, shop(tool, idem, asks))
        for name in ("sign_up", "sign_in"):
            ended = await stage.ended(name, {"pw": "hunter2!"})
            assert ended.result == {"you": "***"}
        assert isinstance(await stage.call("sign_on", {"pw": "hunter2!"}), Waiting)

        assert stage.egress.sent[0].body == b'{"pw":"hunter2!"}'
    for data in databases.kept(store_url).values():
        assert b"hunter2!" not in data
        assert CREDENTIAL.encode() not in data


async def test_large_values_are_cut_and_hashed_in_the_record_alone(acme: Stage) -> None:
    """Values over 4 KiB are cut and hashed (contract section 10)."""
    acme.egress.answers = [answer({"big": "y" * 9_000, "list": list(range(3_000)), "n": 1})]
    ended = await acme.ended("add_order", {"name": "x" * 5_000, "amount": 2})
    record = await acme.record(ended.call_id)

    assert isinstance(ended.result, dict)
    assert ended.result["big"] == "y" * 9_000
    assert record["args"]["amount"] == 2
    assert record["mapped"]["n"] == 1
    for value in (record["args"]["name"], record["mapped"]["big"], record["mapped"]["list"]):
        assert len(value) < 4_500
        assert "sha256" in value
    assert "9,000 bytes" in record["mapped"]["big"]
    assert record["cut"] is True
    assert (
        acme.egress.sent[0].body
        == json.dumps({"name": "x" * 5_000, "amount": 2}, separators=(",", ":")).encode()
    )


@pytest.mark.parametrize(
    "changed",
    [{"name": "tool_client", "target": {"type": "client", "name": "open_url"}}],
)
async def test_tool_of_a_client_has_none_over_the_api(store_url: str, changed: Json) -> None:
    """Without a session there is no client that could execute it (contract section 3)."""
    base = {k: v for k, v in endpoint_tool().items() if k != "endpoint"}
    async with open_stage(store_url) as stage:
        await furnish(stage, shop({**base, **changed}))
        ended = await stage.ended("tool_client")

        assert ended.error is not None
        assert ended.error["code"] == "client_unavailable"
        assert stage.egress.sent == []


async def test_identity_token_goes_out_for_this_call_alone(store_url: str) -> None:
    """`auth: identity`: signed for the origin, the user and the call (contract section 8)."""
    async with open_stage(store_url) as stage:
        await furnish_identity(stage)
        ended = await stage.ended("get_order", {"id": "o"})
        headers = dict(stage.egress.sent[0].headers)

        assert ended.outcome == "ok"
        token = headers["Authorization"].removeprefix("Bearer ")
        assert token.count(".") == 2
        assert "connectionId" not in ended.record
        assert token not in json.dumps(await stage.record(ended.call_id))


async def furnish_identity(stage: Stage) -> None:
    """The app with ``auth: identity``; nobody connects."""
    books = stage.server.books
    await books.workspaces.make("acme", at=0)
    await stage.server.approved(shop(GET, ADD, auth={"type": "identity"}), consent="workspace")
    signer: Any = stage.node.minter
    await signer.prepare(now_s=stage.time.unix_ms() // 1000)


async def test_env_value_is_put_in_at_the_send_and_stands_nowhere(store_url: str) -> None:
    """A value never appears in a log, event, error or export (contract section 8)."""
    tool = {
        "name": "reach",
        "description": "Reaches a partner.",
        "parameters": parameters(),
        "target": {
            "type": "url",
            "url": "https://api.partner.example/x",
            "method": "POST",
            "headers": {"X-Key": "${env.KEY}"},
        },
        "category": "action",
        "dangerLevel": "moderate",
        "idempotent": True,
    }
    async with open_stage(store_url, answer({"echo": "env-canary-1"})) as stage:
        document = shop(tool, env={"collection": "main", "environment": "production"})
        await furnish(stage, document)
        operator = stage.server.operator
        books = stage.server.books
        value = {"KEY": Secret("env-canary-1")}
        await put_env(books, operator, "acme", "main", "production", value)
        ended = await stage.ended("reach")

        assert dict(stage.egress.sent[0].headers)["X-Key"] == "env-canary-1"
        assert ended.result == {"echo": "***"}
        request = ended.record["request"]
        assert isinstance(request, dict)
        assert request["headers"] == {"X-Key": "${env.KEY}"}
    assert all(b"env-canary-1" not in data for data in databases.kept(store_url).values())


async def test_tool_over_the_ceiling_is_refused_and_recorded_as_what_it_is(store_url: str) -> None:
    """A static tool over the ceiling: `call` answers `over_ceiling` (contract section 7)."""
    async with open_stage(store_url) as stage:
        await stage.server.books.workspaces.make("acme", at=0)
        low = Ceiling(category=Category.READ, danger_level=DangerLevel.SAFE)
        await stage.server.approved(DEFINITION, ceiling=low, consent="workspace")
        found = refused(await stage.call("add_order", {"name": "x"}))

        assert found.code == "over_ceiling"
        assert found.call_id is not None
        row = await stage.row(found.call_id)
        assert (row.status, row.category, row.danger_level) == ("failed", "write", "moderate")
        assert stage.egress.sent == []


async def test_outcome_is_kept_although_the_store_fails_for_a_while(acme: Stage) -> None:
    """The outcome is committed, then announced; what came back is known nowhere else (10)."""
    calls: Any = acme.node.calls
    finish, failures = calls.finish, [StoreUnavailable("locked."), StoreUnavailable("locked.")]

    async def failing(*args: object, **named: object) -> bool:
        if failures:
            raise failures.pop()
        return await finish(*args, **named)

    calls.finish = failing
    ended = await acme.ended("add_order", {"name": "x"})

    assert ended.outcome == "ok"
    assert (await acme.row(ended.call_id)).status == "done"
    assert len(acme.egress.sent) == 1
    assert acme.time.slept == [50, 500]


async def test_nothing_is_sent_where_the_intent_cannot_be_kept(store_url: str) -> None:
    """The intent is committed before the send, or there is no send (section 5, step 8)."""
    async with open_stage(store_url) as stage:
        await furnish(stage)
        calls: Any = stage.node.calls

        async def failing(*_: object) -> bool:
            raise StoreUnavailable("The disk is full.")

        calls.plan = failing
        with pytest.raises(StoreUnavailable):
            await stage.call("add_order", {"name": "x"})

        assert stage.egress.sent == []
