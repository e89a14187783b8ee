"""Calls that wait for a person: asked, answered, withdrawn, expired (contract sections 5 and 9)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any, TypeAlias

import pytest

from remit.errors import EgressRefused, Forbidden, NotFound, UpstreamTimeout
from remit.gateway.acting import Actor
from remit.gateway.answering import Answer, Decision, answer, withdraw
from remit.gateway.asking import input_json
from remit.gateway.consenting import grant
from remit.gateway.keeping import VaultFault
from remit.gateway.ledger import (
    Answered,
    AnsweredOtherwise,
    InputRow,
    Repeated,
    StaleDigest,
)
from remit.gateway.resuming import go_on
from remit.gateway.reviewing import approve
from remit.gateway.submitting import submit
from remit.gateway.suspending import suspend
from remit.values.secrets import Secret
from tests import databases
from tests.catalog.documents import Json, posting
from tests.gateway import fakes
from tests.gateway.nodes import (
    ADD,
    BACKEND,
    GET,
    OPERATOR,
    REFUND,
    HeldEgress,
    Stage,
    furnish,
    open_stage,
    restarted,
)
from tests.gateway.server import HOUSE, shop

pytestmark = databases.on_each_database

Change: TypeAlias = Callable[[Stage], Awaitable[None]]
HIGH = {"category": "action", "dangerLevel": "moderate"}
ARGS: Any = {"name": "o1", "amount": 600}
YES = Answer(decision="approve", user="ana")
TOKEN = Actor(key_id="t1", role="user", workspace="acme", user="ana")


@pytest.fixture
async def acme(store_url: str) -> AsyncIterator[Stage]:
    """The app ``acme``, approved, with ``ana`` connected."""
    async with open_stage(store_url) as stage:
        await furnish(stage)
        yield stage
        assert stage.faults == []


async def ends(stage: Stage, waits: InputRow) -> tuple[str, str | None, Json]:
    """Status and outcome of the call, and its error."""
    await stage.settled()
    row = await stage.row(waits.call)
    return row.status, row.outcome, json.loads(row.record_json).get("error", {})


def writes(stage: Stage) -> list[str]:
    """What was sent and is no preview."""
    return [line for line in stage.egress.lines if not line.startswith("GET")]


async def test_call_that_asks_returns_at_once_with_its_card(acme: Stage) -> None:
    """202 at once, with an input that shows the request in words (sections 5, 9, 10)."""
    waits = await acme.waiting("refund", ARGS)
    shown = input_json(waits)

    assert acme.egress.lines == ["GET /v1/orders/o1"]
    row = await acme.row(waits.call)
    assert (row.status, row.outcome, row.sent_at, row.node) == ("await_input", None, None, None)
    assert shown["title"] == "Refund o1, 5 in all"
    assert shown["line"] == {
        "act": "SETS SOMETHING OFF",
        "danger": "may be hard to put right",
        "host": "api.acme.example",
    }
    assert shown["args"] == ARGS
    assert shown["preview"] == {"total": 5}
    assert shown["account"] == "ana@acme"
    assert shown["by"] == "user"
    assert shown["status"] == "open"
    assert shown["createdAt"] == "2026-09-21T14:13:20.000Z"
    assert shown["expiresAt"] == "2026-09-22T14:13:20.000Z"
    request = shown["request"]
    assert isinstance(request, dict)
    assert request["digest"] == shown["digest"] == waits.digest
    assert (await acme.record(waits.call))["inputId"] == waits.id


async def test_failed_preview_is_shown_and_the_guard_is_asked_first(acme: Stage) -> None:
    """A failure of the preview is shown; what the guard refuses is not asked (section 5)."""
    acme.egress.answers = [UpstreamTimeout("took too long.", sent=True)]
    shown = input_json(await acme.waiting("refund", ARGS))
    acme.egress.refusal = EgressRefused("The guard refused it.")
    ended = await acme.ended("refund", ARGS)

    assert shown["previewFailure"] == "took too long."
    assert ended.error is not None
    assert ended.error["code"] == "egress_refused"


@pytest.mark.promise("T-15")
async def test_approved_request_runs_as_it_was_shown(acme: Stage) -> None:
    """A yes runs the frozen request, whose call id is its key (section 5, step 7)."""
    waits = await acme.waiting("refund", ARGS)
    given = Answer(decision="approve", user="ana", digest=waits.digest, note="fine")
    result = await answer(acme.node, BACKEND, waits.id, given)
    status, outcome, _ = await ends(acme, waits)

    assert isinstance(result, Answered)
    assert (status, outcome) == ("done", "ok")
    assert writes(acme) == ["POST /v1/orders"]
    request = acme.egress.sent[-1]
    assert json.loads(request.body or b"") == ARGS
    assert dict(request.headers)["Idempotency-Key"] == waits.call
    record = await acme.record(waits.call)
    assert record["answeredBy"] == "user:ana through key:k_back"
    assert record["answer"]["decision"] == "approve"
    assert record["answer"]["note"] == "fine"
    entry = (await acme.server.audit())[-1]
    assert (entry.kind, entry.subject) == ("input.answered", f"input/{waits.id}")


@pytest.mark.parametrize(
    ("by", "actor", "user", "may"),
    [
        ("user", BACKEND, "ana", True),
        ("user", BACKEND, "bob", False),
        ("user", BACKEND, None, False),
        ("user", OPERATOR, None, True),
        ("user", TOKEN, None, False),
        ("operator", BACKEND, "ana", False),
        ("operator", BACKEND, "bob", False),
        ("operator", OPERATOR, None, True),
        ("other", BACKEND, "ana", False),
        ("other", BACKEND, "bob", True),
        ("other", BACKEND, None, False),
        ("other", OPERATOR, None, True),
        ("other", OPERATOR, "ana", False),
        ("other", TOKEN, None, False),
    ],
)
async def test_only_who_is_asked_may_answer(
    acme: Stage, by: str, actor: Actor, user: str | None, may: bool
) -> None:
    """The user, a person whom the policy names, an operator; never an agent (section 9)."""
    if by != "user":
        await acme.policy({"then": "ask", "by": by, "reason": "it is much", "match": {}})
    waits = await acme.waiting("refund", ARGS)
    given = Answer(decision="approve", user=user)
    if may:
        await answer(acme.node, actor, waits.id, given)
        assert (await ends(acme, waits))[:2] == ("done", "ok")
        return
    with pytest.raises(Forbidden):
        await answer(acme.node, actor, waits.id, given)
    assert (await ends(acme, waits))[0] == "await_input"
    assert writes(acme) == []


async def test_user_answers_in_person_with_a_token_of_the_own_client(acme: Stage) -> None:
    """A client's token is the user's own hand, an agent's is not (contract section 9)."""
    waits = await acme.waiting("refund", ARGS)
    await answer(acme.node, TOKEN, waits.id, Answer(decision="approve", in_person=True))

    assert (await ends(acme, waits))[:2] == ("done", "ok")


async def test_input_of_another_workspace_is_not_there(acme: Stage) -> None:
    """The same 404 (contract section 10)."""
    waits = await acme.waiting("refund", ARGS)
    stranger = Actor(key_id="x", role="operator", workspace="other")
    for actor, name in ((stranger, waits.id), (OPERATOR, "inp_none")):
        with pytest.raises(NotFound):
            await answer(acme.node, actor, name, YES)


async def test_first_answer_decides_and_the_same_again_is_harmless(acme: Stage) -> None:
    """The same answer again is 200, any other 409, both with the input (section 9)."""
    waits = await acme.waiting("refund", ARGS)
    first = await answer(acme.node, BACKEND, waits.id, YES)
    again = await answer(acme.node, BACKEND, waits.id, YES)
    other = await answer(acme.node, BACKEND, waits.id, Answer(decision="deny", user="ana"))
    operators = await answer(acme.node, OPERATOR, waits.id, Answer(decision="approve"))

    assert isinstance(first, Answered)
    assert isinstance(again, Repeated)
    assert isinstance(other, AnsweredOtherwise)
    assert isinstance(operators, AnsweredOtherwise)
    assert again.input == other.input == operators.input == first.input
    assert (await ends(acme, waits))[:2] == ("done", "ok")
    assert writes(acme) == ["POST /v1/orders"]


async def test_two_yeses_at_once_send_once(acme: Stage) -> None:
    """Of two that answer at once one decides, and nothing is sent twice (section 9)."""
    waits = await acme.waiting("refund", ARGS)
    results = await asyncio.gather(
        *(answer(acme.node, BACKEND, waits.id, YES) for _ in range(5)),
        *(answer(acme.node, OPERATOR, waits.id, Answer(decision="approve")) for _ in range(5)),
    )

    assert sum(isinstance(one, Answered) for one in results) == 1
    assert (await ends(acme, waits))[:2] == ("done", "ok")
    assert writes(acme) == ["POST /v1/orders"]


async def test_two_that_go_on_with_one_call_send_it_once(store_url: str) -> None:
    """Each names the status that it found, so that one of two stops (architecture, section 3)."""
    async with open_stage(store_url) as stage:
        await furnish(stage)
        waits = await stage.waiting("refund", ARGS)
        stage.node.tasks.start = _dies  # pyright: ignore[reportAttributeAccessIssue]
        found = await answer(stage.node, BACKEND, waits.id, YES)
        assert isinstance(found, Answered)
        other = restarted(stage)
        await asyncio.gather(*(go_on(one.node, found.input) for one in (stage, other, stage)))

        assert writes(stage) == ["POST /v1/orders"]
        assert (await stage.row(waits.call)).outcome == "ok"


async def test_stale_digest_decides_nothing(acme: Stage) -> None:
    """409 `stale_digest`: what was shown is not what would run (section 9)."""
    waits = await acme.waiting("refund", ARGS)
    given = Answer(decision="approve", user="ana", digest="0" * 64)
    assert isinstance(await answer(acme.node, BACKEND, waits.id, given), StaleDigest)

    assert (await ends(acme, waits))[0] == "await_input"
    assert writes(acme) == []


@pytest.mark.parametrize(
    ("given", "status", "outcome", "code", "said"),
    [
        (
            Answer(decision="deny", user="ana", note="too much"),
            "denied",
            "denied",
            "denied",
            'by a person. Nothing was sent. They said: "too much".',
        ),
        (Answer(decision="cancel", user="ana"), "failed", "cancelled", "cancelled", "withdrawn"),
    ],
)
async def test_no_sends_nothing_and_tells_the_agent(
    acme: Stage, given: Answer, status: str, outcome: str, code: str, said: str
) -> None:
    """A person refused it, nothing was sent, the note, do not repeat it (section 5)."""
    waits = await acme.waiting("refund", ARGS)
    await answer(acme.node, BACKEND, waits.id, given)
    found = await ends(acme, waits)

    assert found[:2] == (status, outcome)
    assert found[2]["code"] == code
    assert said in found[2]["message"]
    assert writes(acme) == []


async def test_equal_calls_need_their_own_approvals(acme: Stage) -> None:
    """Nothing answered is ever replayed (contract section 9)."""
    first, second = [await acme.waiting("refund", ARGS) for _ in range(2)]
    await answer(acme.node, BACKEND, first.id, YES)
    await acme.settled()

    assert first.digest == second.digest
    assert first.call != second.call
    assert (await ends(acme, second))[0] == "await_input"
    assert writes(acme) == ["POST /v1/orders"]


async def test_unanswered_input_expires(acme: Stage) -> None:
    """An open input ends `expired` after 24 h (contract section 9)."""
    waits = await acme.waiting("refund", ARGS)
    await acme.work()
    assert (await ends(acme, waits))[0] == "await_input"
    acme.time.passed_ms += 24 * 3_600_000
    await acme.work()

    found = await ends(acme, waits)
    assert found[:2] == ("failed", "expired")
    assert "nobody answered in time" in found[2]["message"]


async def test_answer_that_comes_too_late_ends_the_call_as_expired(acme: Stage) -> None:
    """An expired input takes no answer (section 5, step 7)."""
    waits = await acme.waiting("refund", ARGS)
    acme.time.passed_ms += 24 * 3_600_000
    late = await answer(acme.node, BACKEND, waits.id, YES)

    assert isinstance(late, AnsweredOtherwise)
    assert late.input.status == "expired"
    assert (await ends(acme, waits))[:2] == ("failed", "expired")
    assert writes(acme) == []


async def test_withdrawn_call_ends_cancelled(acme: Stage) -> None:
    """Withdrawing cancels what is open, and is no denial (contract section 9)."""
    waits = await acme.waiting("refund", ARGS)
    assert [row.id for row in await withdraw(acme.node, "acme", call=waits.call)] == [waits.id]

    assert (await ends(acme, waits))[:2] == ("failed", "cancelled")
    late = await answer(acme.node, BACKEND, waits.id, YES)
    assert isinstance(late, AnsweredOtherwise)
    assert writes(acme) == []


# --- checked again at the send ---------------------------------------------------------------


async def _reconnected(acme: Stage) -> None:
    await acme.connect("tok_other_canary_1", account="someone@else")


async def _reconnected_same_account(acme: Stage) -> None:
    await acme.connect("tok_other_canary_1")


async def _denied(acme: Stage) -> None:
    await acme.policy({"then": "deny", "match": {"tool": "refund"}, "reason": "no more of it"})


async def _asks_other(acme: Stage) -> None:
    rule = {"then": "ask", "by": "other", "match": {"tool": "refund"}, "reason": "four eyes"}
    await acme.policy(rule)


async def _new_version(acme: Stage) -> None:
    books, operator = acme.server.books, acme.server.operator
    document = shop(GET, ADD, REFUND, baseUrl="https://new.acme.example/v1")
    found = await submit(books, operator, document, HOUSE)
    await approve(books, operator, "acme", found.version.number)


async def _new_version_for_all(acme: Stage) -> None:
    books, operator = acme.server.books, acme.server.operator
    document = shop(GET, ADD, REFUND, baseUrl="https://new.acme.example/v1")
    found = await submit(books, operator, document, HOUSE)
    await approve(books, operator, "acme", found.version.number, consent="workspace")


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (_reconnected, "not_connected", "connected anew"),
        (_reconnected_same_account, "not_connected", "connected anew"),
        (_denied, "denied", "no more of it"),
        (_asks_other, "denied", "four eyes"),
        (_new_version, "consent_required", "version 2"),
        (_new_version_for_all, "denied", "sends nothing there"),
    ],
)
@pytest.mark.promise("T-15")
async def test_yes_is_worth_nothing_where_permission_is_gone(
    acme: Stage, change: Change, code: str, said: str
) -> None:
    """Permission is checked again now, also after an approval (section 5, step 7)."""
    waits = await acme.waiting("refund", ARGS)
    await change(acme)
    await answer(acme.node, BACKEND, waits.id, YES)
    found = await ends(acme, waits)

    assert found[1] in {"error", "denied"}
    assert found[2]["code"] == code
    assert said in found[2]["message"]
    assert writes(acme) == []


async def test_suspension_cancels_open_inputs_and_says_why(acme: Stage) -> None:
    """Suspend: open inputs are cancelled (contract section 7)."""
    waits = await acme.waiting("refund", ARGS)
    books, operator = acme.server.books, acme.server.operator
    stopped = await suspend(books, operator, "acme", reason="a leak", node=acme.node.id)
    acme.worker.stopped(stopped)
    found = await ends(acme, waits)

    assert found[:2] == ("failed", "error")
    assert found[2]["code"] == "app_suspended"
    assert "a leak" in found[2]["message"]
    assert writes(acme) == []


async def test_frozen_request_runs_although_the_catalog_changed(acme: Stage) -> None:
    """What runs is the frozen request, even if the catalog changed since (section 5, 7)."""
    waits = await acme.waiting("refund", ARGS)
    found = await submit(
        acme.server.books, acme.server.operator, shop(GET, ADD, ceiling=HIGH), HOUSE
    )
    await approve(acme.server.books, acme.server.operator, "acme", found.version.number)
    await _regrant(acme, found.version.number)
    acme.egress.answers = [fakes.answer({"id": 9})]
    await answer(acme.node, BACKEND, waits.id, YES)

    assert (await ends(acme, waits))[:2] == ("done", "ok")
    assert json.loads(acme.egress.sent[-1].body or b"") == ARGS


async def _regrant(acme: Stage, version: int) -> None:
    await grant(acme.server.books, acme.server.operator, "acme", "ana", version)


def _body(private: str) -> str:
    return private.replace('"amount":600', '"amount":999')


def _body_and_digest(private: str) -> str:
    kept = json.loads(_body(private))
    kept["request"]["digest"] = "0" * 64
    return json.dumps(kept)


def _arguments(private: str) -> str:
    # The rules of the policy look at these; what is sent stays as it is.
    kept = json.loads(private)
    kept["args"][0]["amount"] = 1
    return json.dumps(kept)


@pytest.mark.parametrize("change", [_body, _body_and_digest, _arguments])
async def test_call_that_was_changed_behind_the_card_is_not_sent(
    acme: Stage, store_url: str, change: Callable[[str], str]
) -> None:
    """A yes is for what was shown: a changed row executes nothing (section 5, step 7)."""
    waits = await acme.waiting("refund", ARGS)
    kept = (await acme.row(waits.call)).private or ""
    changed = change(kept)
    assert changed != kept
    databases.change(store_url, "UPDATE call SET private = :changed", changed=changed)
    await answer(acme.node, BACKEND, waits.id, YES)
    status, outcome, error = await ends(acme, waits)

    assert (status, outcome) == ("denied", "denied")
    assert "changed it in the store" in error["message"]
    assert writes(acme) == []


async def test_record_that_was_changed_behind_the_card_tells_what_is_sent(
    acme: Stage, store_url: str
) -> None:
    """What runs is what was approved, and the record of it says that and nothing else."""
    waits = await acme.waiting("refund", {**ARGS, "amount": "600"}, pins={"name": "o1"})
    before = await acme.record(waits.call)
    request = {**before["request"], "url": "https://evil.example/", "digest": "0" * 64}
    args = {"name": "nobody", "amount": 1}
    changed = {**before, "args": args, "argOrigins": {}, "user": "bob", "request": request}
    changed |= {"repaired": [], "refusedPins": ["amount"], "account": "bob@acme"}
    databases.change(
        store_url, "UPDATE call SET record_json = :changed", changed=json.dumps(changed)
    )
    await answer(acme.node, BACKEND, waits.id, YES)
    assert (await ends(acme, waits))[:2] == ("done", "ok")
    after = await acme.record(waits.call)

    assert json.loads(acme.egress.sent[-1].body or b"") == ARGS == after["args"]
    assert before["repaired"] != []
    assert "refusedPins" not in after
    assert before.items() <= after.items()


# --- after the node died ---------------------------------------------------------------------


@pytest.mark.parametrize("decision", ["approve", "deny"])
async def test_answer_is_acted_on_although_its_node_died(
    store_url: str, decision: Decision
) -> None:
    """The input is answered, nobody went on: another node does (architecture, section 3)."""
    async with open_stage(store_url) as stage:
        await furnish(stage)
        waits = await stage.waiting("refund", ARGS)
        store = stage.server.store
        stage.node.tasks.start = _dies  # pyright: ignore[reportAttributeAccessIssue]
        await answer(stage.node, BACKEND, waits.id, Answer(decision=decision, user="ana"))
        after = restarted(stage)
        await after.work()
        await after.work()

        row = await store.calls.get("acme", waits.call)
        assert row is not None
        assert row.outcome == ("ok" if decision == "approve" else "denied")
        assert len(writes(stage)) == (1 if decision == "approve" else 0)


def _dies(work: Coroutine[object, object, object]) -> None:
    work.close()


async def test_waiting_call_outlives_the_server(store_url: str) -> None:
    """A waiting call is a row: a restart loses nothing (architecture, section 3)."""
    async with open_stage(store_url) as stage:
        await furnish(stage)
        waits = await stage.waiting("refund", ARGS)
    async with open_stage(store_url, name="node-2") as stage:
        await stage.work()
        await answer(stage.node, BACKEND, waits.id, YES)

        assert (await ends(stage, waits))[:2] == ("done", "ok")
        assert json.loads(stage.egress.sent[-1].body or b"") == ARGS


async def test_closed_answerer_stops_nothing(store_url: str) -> None:
    """What follows from an answer runs in a task of the node (contract section 9)."""
    egress = HeldEgress([])
    async with open_stage(store_url, egress=egress) as stage:
        await furnish(stage)
        egress.go.set()
        waits = await stage.waiting("refund", ARGS)
        egress.go.clear()
        egress.left.clear()
        answering = asyncio.ensure_future(answer(stage.node, BACKEND, waits.id, YES))
        await egress.left.wait()
        answering.cancel()
        egress.go.set()

        assert (await ends(stage, waits))[:2] == ("done", "ok")
        assert writes(stage) == ["POST /v1/orders"]


async def test_secret_argument_waits_sealed_and_is_sent_after_the_yes(store_url: str) -> None:
    """`writeOnly` is sent and never stored or shown, however long it waits (section 2)."""
    secret = {"type": "string", "writeOnly": True}
    tool = {
        **posting({"pw": "{{args.pw}}"}, {"pw": secret}),
        "name": "sign_on",
        "requiresApproval": True,
    }
    async with open_stage(store_url, fakes.answer({"you": "hunter2!"})) as stage:
        await furnish(stage, shop(tool))
        waits = await stage.waiting("sign_on", {"pw": "hunter2!"})
        kept = (await stage.row(waits.call)).private
        assert kept is not None
        assert kept.startswith("sealed:")
        assert "hunter2!" not in waits.body_json
        await answer(stage.node, BACKEND, waits.id, YES)

        assert (await ends(stage, waits))[:2] == ("done", "ok")
        assert stage.egress.sent[-1].body == b'{"pw":"hunter2!"}'
        assert (await stage.record(waits.call))["mapped"] == {"you": "***"}
    assert all(b"hunter2!" not in data for data in databases.kept(store_url).values())


async def test_call_whose_arguments_cannot_be_opened_ends_and_says_so(store_url: str) -> None:
    """A vault without its key: a clear end, nothing half done."""
    secret = {"type": "string", "writeOnly": True}
    tool = {**posting({"pw": "{{args.pw}}"}, {"pw": secret}), "name": "sign_on"}
    async with open_stage(store_url) as stage:
        await furnish(stage, shop({**tool, "requiresApproval": True}))
        waits = await stage.waiting("sign_on", {"pw": "hunter2!"})
        keeper: Any = stage.node.keeper

        async def broken(*_: object) -> Secret:
            raise VaultFault("The key of the vault is not there.")

        keeper.open = broken
        await answer(stage.node, BACKEND, waits.id, YES)
        status, outcome, error = await ends(stage, waits)

        assert (status, outcome) == ("failed", "error")
        assert "The key of the vault is not there." in error["message"]
        assert stage.egress.sent == []
        assert stage.faults == []
