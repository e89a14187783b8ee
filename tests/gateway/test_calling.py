"""One call from arguments to outcome (contract section 5)."""

from __future__ import annotations

import asyncio
import json

import pytest

from remit.catalog.model import Definition
from remit.errors import (
    CallError,
    EgressRefused,
    ResponseTooLarge,
    UpstreamTimeout,
    UpstreamUnreachable,
)
from remit.gateway.calling import CallOutcome
from remit.gateway.ports import Denial, Unasked, WireResponse
from remit.policy.decisions import Approval
from remit.values.json import JsonObject
from tests.catalog.documents import (
    Json,
    endpoint_tool,
    load,
    parameters,
    posting,
    target_tool,
    url_target,
)
from tests.gateway.fakes import CREDENTIAL, Person, ScriptedEgress, Stage, answer

GET = endpoint_tool(
    "get_scene",
    parameters=parameters("id", id="string"),
    endpoint={"method": "GET", "path": "/scenes/{{args.id}}"},
    responseMapping={"name": "scene.name", "size": "scene.size"},
)
ADD = {**posting({"name": "{{args.name}}"}, {"name": "string"}), "name": "add_scene"}
DELETE = endpoint_tool(
    "delete_scene",
    category="write",
    dangerLevel="destructive",
    parameters=parameters("id", id="string"),
    endpoint={"method": "DELETE", "path": "/scenes/{{args.id}}"},
    confirm={
        "title": "Delete “{{preview.name}}”",
        "preview": {"tool": "get_scene", "args": {"id": "{{args.id}}"}},
    },
)
SCENE = {"scene": {"name": "Q3", "size": 14, "secret": "x"}}
ACME: Definition = load(GET, ADD, DELETE)


def stage(*answers: WireResponse | CallError, definition: Definition = ACME) -> Stage:
    """The app with these answers."""
    return Stage(definition=definition, egress=ScriptedEgress(list(answers) or [answer({})]))


def error_of(outcome: CallOutcome) -> CallError:
    """The error of a call that failed."""
    assert outcome.outcome != "ok"
    assert outcome.result is None
    assert outcome.content is None
    assert outcome.error is not None
    return outcome.error


@pytest.mark.promise("T-02", "T-36")
async def test_read_sends_what_is_declared_and_returns_what_is_mapped() -> None:
    """Arguments in, guarded request out, mapped fields back (contract section 5)."""
    acme = stage(answer(SCENE))
    outcome = await acme.call("get_scene", {"id": "s 1"})

    assert outcome.outcome == "ok"
    assert outcome.result == {"name": "Q3", "size": 14}
    assert outcome.content is not None
    assert outcome.content.text == '{"name":"Q3","size":14}'
    assert outcome.display is not None
    assert acme.egress.lines == ["GET /v1/scenes/s%201"]
    assert dict(acme.egress.sent[0].headers)["Authorization"] == f"Bearer {CREDENTIAL}"
    assert acme.notes.told == ["started get_scene", "answered get_scene"]


async def test_write_carries_the_calls_own_id() -> None:
    """`Idempotency-Key` is the call's id (contract section 3)."""
    acme = stage(answer({"id": 1}))
    outcome = await acme.call("add_scene", {"name": "Q4"})

    assert outcome.result == {"id": 1}
    request = acme.egress.sent[0]
    assert dict(request.headers)["Idempotency-Key"] == outcome.call_id == "call_1"
    assert request.body == b'{"name":"Q4"}'
    assert acme.egress.limits[0].total_timeout_ms == 30_000
    assert acme.egress.limits[0].max_body_bytes == 1024 * 1024


@pytest.mark.parametrize(
    ("tool", "args", "pins", "code"),
    [
        ("get_scene", {}, {}, "invalid_arguments"),
        ("get_scene", {"id": ".."}, {}, "invalid_arguments"),
        ("get_scene", {"id": "s"}, {"id": 5}, "invalid_pin"),
        ("get_scenes", {}, {}, "unknown_tool"),
    ],
)
async def test_refused_call_sends_nothing(
    tool: str, args: JsonObject, pins: JsonObject, code: str
) -> None:
    """A failure before step 8 sends nothing (contract section 5, step 4)."""
    acme = stage()
    outcome = await acme.call(tool, args, pins)

    assert error_of(outcome).code == code
    assert not outcome.may_have_happened
    assert acme.egress.sent == []
    assert acme.person.cards == []


async def test_unknown_tool_names_the_near_one() -> None:
    """Messages name the thing and the mend (look and voice)."""
    outcome = await stage().call("get_scne")

    assert 'Did you mean "get_scene"?' in error_of(outcome).message


async def test_tool_over_the_ceiling_says_so() -> None:
    """A static tool over the ceiling: `call` answers `over_ceiling` (contract section 7)."""
    low = load(GET, ADD, ceiling={"category": "read", "dangerLevel": "safe"})
    acme = stage(definition=low)
    error = error_of(await acme.call("add_scene", {"name": "x"}))

    assert error.code == "over_ceiling"
    assert "write is above read" in error.message
    assert acme.egress.sent == []


@pytest.mark.parametrize(
    ("credential", "auth", "code"),
    [
        (None, {"type": "bearer"}, "not_connected"),
        ("", {"type": "bearer"}, "not_connected"),
        ("canary\r\nX: 1", {"type": "bearer"}, "not_connected"),
        ("canary", {"type": "identity"}, "not_connected"),
    ],
)
async def test_call_without_usable_credential_asks_and_sends_nothing(
    credential: str | None, auth: Json, code: str
) -> None:
    """A credential that is missing or cannot be sent is `not_connected` (section 7)."""
    acme = stage(definition=load(GET, ADD, DELETE, auth=auth))
    acme.credential = credential
    error = error_of(await acme.call("delete_scene", {"id": "s"}))

    assert error.code == code
    assert "canary" not in error.message
    assert acme.egress.sent == []
    assert acme.person.cards == []


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ({"type": "client", "name": "open_url"}, "client_unavailable"),
        ({"type": "app", "component": "api", "path": "/x", "method": "GET"}, "not_connected"),
    ],
)
async def test_targets_that_need_a_server_say_so(target: Json, code: str) -> None:
    """Without a server, `app` is `not_connected`, `client` unavailable (section 13)."""
    found = load(target_tool(target), components={"api": {"url": "https://kit.example"}})
    acme = stage(definition=found)

    assert error_of(await acme.call("reach")).code == code
    assert acme.egress.sent == []


@pytest.mark.promise("K-10", "K-13")
async def test_url_target_never_carries_the_users_credential() -> None:
    """The credential goes with `endpoint` calls alone (contract section 3)."""
    headers = {"Authorization": "Bearer ${env.KEY}"}
    acme = stage(answer({}), definition=load(target_tool(url_target(headers=headers))))
    acme.env = {"KEY": "env-canary"}
    await acme.call("reach")

    assert CREDENTIAL not in str(acme.egress.sent[0].headers)
    assert ("Authorization", "Bearer env-canary") in acme.egress.sent[0].headers


# --- approvals ---------------------------------------------------------------------------------


@pytest.mark.promise("T-15")
async def test_approved_call_runs_once_as_shown() -> None:
    """The preview is read, the card shown, and the very request sent (section 5)."""
    acme = stage(answer(SCENE), answer(None, 204))
    outcome = await acme.call("delete_scene", {"id": "s1"})

    assert outcome.outcome == "ok"
    assert acme.egress.lines == ["GET /v1/scenes/s1", "DELETE /v1/scenes/s1"]
    card = acme.person.cards[0]
    assert "".join(part.text for part in card.title) == "Delete “Q3”"
    assert card.preview == {"name": "Q3", "size": 14}
    assert card.request.shown_url == "https://api.acme.example/v1/scenes/s1"
    assert card.reason == "the tool is destructive"
    assert [limits.total_timeout_ms for limits in acme.egress.limits] == [5_000, 30_000]


async def test_nobody_is_asked_for_what_the_guard_refuses() -> None:
    """A yes would be wasted: the address is looked at before the card opens (section 11)."""
    acme = stage(answer({}))
    acme.egress.refusal = EgressRefused("The request was not sent: 10.0.0.8 is no public address.")
    outcome = await acme.call("delete_scene", {"id": "s1"})

    assert outcome.error is not None
    assert outcome.error.code == "egress_refused"
    assert acme.person.cards == []
    assert acme.egress.sent == []


@pytest.mark.parametrize(("note", "said"), [("", ""), ("not today", 'They said: "not today".')])
async def test_denied_call_sends_nothing(note: str, said: str) -> None:
    """A denied call says that a person refused, the note, and not to repeat it (5)."""
    acme = stage(answer(SCENE))
    acme.person = Person(Denial(note=note))
    outcome = await acme.call("delete_scene", {"id": "s1"})

    error = error_of(outcome)
    assert outcome.outcome == "denied"
    assert error.code == "denied"
    assert "denied by a person. Nothing was sent." in error.message
    assert said in error.message
    assert "Do not repeat the same call unchanged." in error.message
    assert acme.egress.lines == ["GET /v1/scenes/s1"]
    assert not outcome.may_have_happened


async def test_nobody_to_ask_is_no_persons_no() -> None:
    """Where nobody could be asked, nobody said no: it must be approved, and how (5)."""
    acme = stage(answer(SCENE))
    acme.person = Person(Unasked(why="there is no terminal", mend="Add --yes."))
    error = error_of(await acme.call("delete_scene", {"id": "s1"}))

    assert error.code == "denied"
    assert "by a person" not in error.message
    assert error.message == (
        "delete_scene must be approved, because the tool is destructive; nobody could be asked: "
        "there is no terminal. Nothing was sent. Add --yes."
    )


async def test_yes_for_another_request_runs_nothing() -> None:
    """An approval is bound to the digest that was shown (section 5, step 7; CWE-367)."""
    acme = stage(answer(SCENE))
    acme.person = Person(Approval(digest="0" * 64, by="ana"))
    error = error_of(await acme.call("delete_scene", {"id": "s1"}))

    assert error.code == "denied"
    assert "another request" in error.message
    assert len(acme.egress.sent) == 1


async def test_card_shows_pins_and_the_preview_uses_them() -> None:
    """The preview runs with the same pins and connection (contract section 5)."""
    acme = stage(answer(SCENE), answer(None, 204))
    await acme.call("delete_scene", {"id": "s-evil"}, {"id": "s-good"})

    assert acme.egress.lines == ["GET /v1/scenes/s-good", "DELETE /v1/scenes/s-good"]
    assert acme.person.cards[0].arguments == (("id", "s-good"),)


async def test_secret_pin_of_another_tool_is_shown_nowhere() -> None:
    """Neither on the card nor in the request nor in what the app answers (section 2)."""
    login = {**posting({}, {"pw": {"type": "string", "writeOnly": True}}), "name": "log_in"}
    asking = {**posting({"pw": "{{args.pw}}"}, {"name": "string"}), "requiresApproval": True}
    acme = stage(answer({"you": "hunter2!"}), definition=load(login, asking))
    outcome = await acme.call("post_thing", {"name": "x"}, {"pw": "hunter2!"})
    card = acme.person.cards[0]

    assert card.arguments == (("name", "x"), ("pw", "***"))
    assert card.request.shown_body == {"pw": "***"}
    assert outcome.result == {"you": "***"}
    assert acme.egress.sent[0].body == b'{"pw":"hunter2!"}'


@pytest.mark.parametrize(
    ("failing", "named"),
    [
        (answer({"message": "gone"}, 404), "404 Not Found: gone"),
        (answer({}, 503), "503"),
        (UpstreamTimeout("took too long", sent=True), "took too long"),
        (answer(b"text", media="text/plain"), "text where fields are mapped"),
        (answer({"message": f"bad {CREDENTIAL}"}, 400), "bad ***"),
    ],
)
async def test_failed_preview_is_shown_and_the_person_still_decides(
    failing: WireResponse | CallError, named: str
) -> None:
    """5 s, run once; a failure is shown (contract section 5)."""
    acme = stage(failing, answer(None, 204))
    outcome = await acme.call("delete_scene", {"id": "s1"})

    assert outcome.outcome == "ok"
    assert len(acme.egress.sent) == 2
    assert acme.clock.slept == []
    card = acme.person.cards[0]
    assert card.preview is None
    assert card.preview_failure is not None
    assert named in card.preview_failure
    assert "".join(part.text for part in card.title) == "Delete “(unknown)”"


@pytest.mark.parametrize(
    "preview",
    [
        target_tool({"type": "client", "name": "x"}, name="p", category="read", dangerLevel="safe"),
        target_tool({"type": "app", "component": "api", "path": "/x", "method": "GET"}, name="p"),
        endpoint_tool("p", requiresApproval=True),
        endpoint_tool("p", parameters=parameters("needed", needed="string")),
    ],
    ids=["client", "app", "asks", "arguments"],
)
async def test_preview_that_cannot_run_is_said_on_the_card(preview: Json) -> None:
    """A preview never runs unasked what must be asked for, nor without its token."""
    record = {**DELETE, "confirm": {"preview": {"tool": "p"}}}
    found = load(record, preview, components={"api": {"url": "https://kit.example"}})
    acme = stage(answer(None, 204), definition=found)
    outcome = await acme.call("delete_scene", {"id": "s1"})

    assert outcome.outcome == "ok"
    assert acme.egress.lines == ["DELETE /v1/scenes/s1"]
    assert acme.person.cards[0].preview_failure


# --- outcomes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failing", "code", "unknown"),
    [
        (UpstreamTimeout("x", sent=True), "upstream_timeout", True),
        (UpstreamTimeout("x", sent=False), "upstream_timeout", False),
        (UpstreamUnreachable("x", sent=True), "upstream_unreachable", True),
        (UpstreamUnreachable("x", sent=False), "upstream_unreachable", False),
        (ResponseTooLarge("x", sent=True), "response_too_large", True),
        (EgressRefused("x"), "egress_refused", False),
        (answer(b"{"), "response_invalid", True),
        (answer(b'{"a":1,"a":2}'), "response_invalid", True),
        (answer({}, 500), "upstream_error", False),
        # A gateway got no answer of the app's, which may have gone on.
        (answer({}, 502), "upstream_error", True),
        (answer({}, 504), "upstream_error", True),
        (answer({}, 404), "upstream_error", False),
        (answer(None, 302, location="https://evil.example/"), "upstream_error", False),
        (answer({}, 401), "not_connected", False),
    ],
)
async def test_unknown_outcome_is_said_of_a_write_and_not_of_a_read(
    failing: WireResponse | CallError, code: str, unknown: bool
) -> None:
    """`mayHaveHappened`: after the first byte, no answer read, not a GET of a read (5)."""
    write = await stage(failing).call("add_scene", {"name": "x"})
    read = await stage(failing).call("get_scene", {"id": "s"})

    assert error_of(write).code == error_of(read).code == code
    assert write.may_have_happened == unknown
    assert not read.may_have_happened


async def test_nothing_is_sent_twice() -> None:
    """Within one process nothing but a busy read is sent twice (section 5, step 9)."""
    for failing in (answer({}, 503), answer({}, 429), UpstreamTimeout("x", sent=False)):
        acme = stage(failing)
        await acme.call("add_scene", {"name": "x"})
        assert len(acme.egress.sent) == 1


@pytest.mark.parametrize(
    "body",
    [
        {"scene": {"name": f"a {CREDENTIAL}", "size": CREDENTIAL}},
        {"scene": {"name": [CREDENTIAL], "size": {CREDENTIAL: 1}}},
    ],
)
async def test_credential_is_masked_out_of_results(body: Json) -> None:
    """The credential is masked out of every upstream text, 2xx included (section 5)."""
    outcome = await stage(answer(body)).call("get_scene", {"id": "s"})

    assert outcome.outcome == "ok"
    assert outcome.content is not None
    assert outcome.display is not None
    shown = json.dumps(outcome.result) + outcome.content.text + str(outcome.display.data)
    assert "canary" not in shown
    assert "***" in shown


async def test_secret_argument_is_masked_out_of_the_echo() -> None:
    """A `writeOnly` argument is sent, and what echoes it is masked (contract section 2)."""
    secret = {"type": "string", "writeOnly": True}
    record = {**posting({"pw": "{{args.pw}}"}, {"pw": secret}), "name": "sign_up"}
    acme = stage(answer({"you": "hunter2"}), definition=load(record))
    outcome = await acme.call("sign_up", {"pw": "hunter2"})

    assert acme.egress.sent[0].body == b'{"pw":"hunter2"}'
    assert outcome.result == {"you": "***"}


async def test_env_values_and_credential_are_masked_out_of_errors() -> None:
    """A value never appears in an error (contract sections 5 and 8)."""
    headers = {"X-Key": "${env.KEY}"}
    acme = stage(
        answer({"message": "no env-canary here"}, 400),
        definition=load(target_tool(url_target(headers=headers))),
    )
    acme.env = {"KEY": "env-canary"}
    error = error_of(await acme.call("reach"))

    assert "canary" not in error.message + str(error.details)


async def test_credential_across_a_cut_leaves_no_half_behind() -> None:
    """What the app says is masked before it is cut (contract section 5, step 9)."""
    for before in range(2_020, 2_050):
        text = ("x" * before + CREDENTIAL).encode()
        error = error_of(
            await stage(answer(text, 500, media="text/plain")).call("get_scene", {"id": "s"})
        )
        assert "tok_" not in error.message + str(error.details)


async def test_cancelled_call_leaves_no_answer_behind() -> None:
    """Cancellation reaches the caller: what is in flight is known by the watcher (9)."""
    acme = stage(answer({}))
    entered = asyncio.Event()

    class Hanging(ScriptedEgress):
        async def send(self, request: object, limits: object) -> WireResponse:
            entered.set()
            await asyncio.Event().wait()
            raise AssertionError

    acme.egress = Hanging([answer({})])
    running = asyncio.ensure_future(acme.call("add_scene", {"name": "x"}))
    await entered.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert acme.notes.told == ["started add_scene", "answered add_scene"]


async def test_empty_answer_is_ok() -> None:
    """204: a mapping gives `{}`, without one null; content is never empty (section 5)."""
    mapped = await stage(answer(None, 204)).call("get_scene", {"id": "s"})
    whole = await stage(answer(None, 204)).call("add_scene", {"name": "x"})

    assert mapped.result == {}
    assert whole.result is None
    assert whole.outcome == "ok"
    assert whole.content is not None
    assert whole.content.text == "null"
