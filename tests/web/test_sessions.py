"""The routes of a session: its life, its client tokens, its inputs (contract sections 9 and 10)."""

from __future__ import annotations

from typing import Any

import pytest

from remit.session.events import Message, RunStarted
from tests import databases
from tests.web.api import Api, problem

pytestmark = databases.on_each_database

JSON = {"accept": "application/json"}
WRITES: dict[str, Any] = {"tool": "add_order"}


async def test_session_reads_as_the_contract_says(api: Api) -> None:
    """Id, status, apps with their versions, user, head, open inputs; and its client's token."""
    body = {
        "apps": [{"id": "acme", "pins": {"name": "chair"}, "tools": {"refund": {"pins": {}}}}],
        "user": "ana",
        "model": "openai:gpt-x",
        "instructions": "Be brief.",
        "clientCeiling": {"category": "read", "dangerLevel": "safe"},
        "clientTools": ["open_order"],
        "device": "laptop",
    }
    await api.device("laptop")
    made = await api.post("/v1/sessions", body, who="backend")

    assert made.status_code == 201
    found = made.json()
    token, expires = found.pop("clientToken"), found.pop("expiresAt")
    assert found.pop("id").startswith("ses_")
    assert found.pop("createdAt") == found.pop("updatedAt")
    assert found == {
        "status": "idle",
        "apps": [{"id": "acme", "version": 1}],
        "user": "ana",
        "headSeq": 1,
        "inputs": [],
        "model": "openai:gpt-x",
    }
    assert token.startswith("rk_client_")
    keys = (await api.get("/v1/keys?role=client")).json()["items"]
    assert expires in {one["expiresAt"] for one in keys}


async def test_pin_that_no_tool_has_is_told_at_once(api: Api) -> None:
    """A misspelt pin is a fence that stands open: whoever sets it is told, and what was meant."""
    apps = [{"id": "acme", "tools": {"refnd": {"pins": {"name": "x"}}}}]
    body = {"apps": apps, "user": "ana", "pins": {"nmae": "tea"}, "tools": ["zzz*"]}
    made = await api.post("/v1/sessions", body, who="backend")
    assert made.status_code == 201
    misspelt, no_tool, no_match = made.json()["notes"]
    assert 'The pin "nmae" holds nothing' in misspelt
    assert 'Did you mean "name"?' in misspelt
    assert 'acme has no tool "refnd"' in no_tool
    assert '"zzz*"' in no_match
    session = made.json()["id"]
    changed = await api.patch(f"/v1/sessions/{session}", {"pins": {"name": "tea"}}, who="backend")
    assert not any("nmae" in note for note in changed.json()["notes"])


async def test_pins_of_a_session_are_told_to_nobody(api: Api) -> None:
    """Their names are in the log; their values are sealed (contract section 9, "Pins")."""
    session = await api.session(pins={"name": "s3cret-pin"})

    events = await api.get(f"/v1/sessions/{session}/events", headers=JSON)
    read = await api.get(f"/v1/sessions/{session}")

    assert events.json()["events"][0]["data"]["pins"] == ["name"]
    assert "s3cret-pin" not in events.text + read.text


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"apps": ["acme"]}, 'the body has no "user"'),
        ({"apps": "acme", "user": "ana"}, "apps must be a list, and is a text"),
        ({"apps": [7], "user": "ana"}, "apps[0] must be"),
        ({"apps": [{"id": "acme", "pin": {}}], "user": "ana"}, 'apps[0] has "pin"'),
        ({"apps": ["acme"], "user": "a b"}, "no blank"),
        ({"apps": ["acme", "acme"], "user": "ana"}, "twice"),
        ({"apps": ["acme"], "user": "ana", "device": ""}, "device must be"),
        ({"apps": ["acme"], "user": "ana", "secret": "x"}, 'the body has "secret"'),
    ],
    ids=("no-user", "text", "number", "key", "blank", "twice", "device", "unknown"),
)
async def test_session_that_cannot_be_meant_is_refused(
    api: Api, body: dict[str, Any], words: str
) -> None:
    """422 in a plain sentence, and no session is there after it."""
    refused = problem(await api.post("/v1/sessions", body), 422, "invalid_request")

    assert words in refused["detail"]
    assert (await api.get("/v1/sessions")).json()["items"] == []


async def test_app_that_is_not_there_makes_no_session(api: Api) -> None:
    """404, as for every unknown app."""
    problem(await api.post("/v1/sessions", {"apps": ["shop"], "user": "ana"}), 404, "not_found")


async def test_sessions_are_listed_by_user_status_and_app(api: Api) -> None:
    """Filters are equal-to; a list goes on by its cursor."""
    ana, empty = await api.session(), await api.session(apps=[])
    made = await api.post("/v1/sessions", {"apps": ["acme"], "user": "ben"})
    ben = made.json()["id"]
    await api.post(f"/v1/sessions/{ben}/close")

    async def ids(query: str) -> set[str]:
        return {one["id"] for one in (await api.get(f"/v1/sessions?{query}")).json()["items"]}

    assert await ids("") == {ana, empty, ben}
    assert await ids("user=ana") == {ana, empty}
    assert await ids("status=closed") == {ben}
    assert await ids("app=acme") == {ana, ben}
    first = (await api.get("/v1/sessions?limit=2")).json()
    rest = (await api.get(f"/v1/sessions?limit=2&cursor={first['next']}")).json()
    assert rest["next"] is None
    assert {one["id"] for one in first["items"] + rest["items"]} == {ana, empty, ben}
    problem(await api.get("/v1/sessions?status=open"), 422, "invalid_request")


async def test_message_is_taken_and_stands_in_the_log(api: Api) -> None:
    """202 with the run that it begins and the number of its event."""
    session = await api.session()
    sent = await api.post(f"/v1/sessions/{session}/messages", {"text": "Hello"}, who="tab")

    assert sent.status_code == 202
    events = (await api.get(f"/v1/sessions/{session}/events", headers=JSON)).json()["events"]
    said = next(one for one in events if one["type"] == "message")
    assert sent.json() == {"runId": said["data"]["runId"], "seq": said["seq"]}
    assert said["data"]["text"] == "Hello"
    assert (await api.get(f"/v1/sessions/{session}")).json()["title"] == "Hello"


async def test_message_while_the_agent_works_waits_only_where_it_says_so(api: Api) -> None:
    """409 session_running; with ``queue`` it is taken (contract section 10)."""
    session = await api.session()
    path = f"/v1/sessions/{session}/messages"
    await api.happens(session, _started("run_1"))

    problem(await api.post(path, {"text": "And?"}, who="tab"), 409, "session_running")
    assert (await api.post(path, {"text": "And?", "queue": True}, who="tab")).status_code == 202


@pytest.mark.parametrize(
    "body",
    [{"text": " "}, {"text": 7}, {}, {"text": "x", "context": {"a": "x" * 9_000}}, {"text": "x",
     "role": "system"}],
    ids=("blank", "number", "none", "context", "role"),
)  # fmt: skip
async def test_message_that_cannot_be_meant_is_refused(api: Api, body: dict[str, Any]) -> None:
    """Nobody speaks in another role than the user's, and nothing is in the log after it."""
    session = await api.session()
    refused = await api.post(f"/v1/sessions/{session}/messages", body, who="tab")

    problem(refused, 422, "invalid_request")
    assert (await api.get(f"/v1/sessions/{session}")).json()["headSeq"] == 1


async def test_repeated_message_is_said_once(api: Api) -> None:
    """``Idempotency-Key`` is honoured on every POST (contract section 10)."""
    session = await api.session()
    path, headers = f"/v1/sessions/{session}/messages", {"idempotency-key": "m-1"}
    first = await api.post(path, {"text": "Hello"}, who="tab", headers=headers)
    again = await api.post(path, {"text": "Hello"}, who="tab", headers=headers)

    assert again.json() == first.json()
    assert again.headers["idempotency-replayed"] == "true"
    events = (await api.get(f"/v1/sessions/{session}/events", headers=JSON)).json()["events"]
    assert [one["type"] for one in events].count("message") == 1


async def test_repeated_creation_makes_one_session_and_keeps_its_token_sealed(
    api: Api, store_url: str
) -> None:
    """The repeat has the token of the first; the store holds it nowhere in plain."""
    body, headers = {"apps": ["acme"], "user": "ana"}, {"idempotency-key": "s-1"}
    first = await api.post("/v1/sessions", body, headers=headers)
    again = await api.post("/v1/sessions", body, headers=headers)

    assert again.json() == first.json()
    assert len((await api.get("/v1/sessions")).json()["items"]) == 1
    secret = first.json()["clientToken"].encode()
    assert [name for name, text in databases.kept(store_url).items() if secret in text] == []


async def test_patch_holds_from_the_next_run_on(api: Api) -> None:
    """Apps and instructions change, what is left out stays."""
    session = await api.session()
    changed = await api.patch(f"/v1/sessions/{session}", {"apps": [], "instructions": "Be brief."})

    assert changed.status_code == 200, changed.text
    assert changed.json()["apps"] == []
    kept = await api.patch(f"/v1/sessions/{session}", {"instructions": None})
    assert kept.json()["apps"] == []
    problem(await api.patch(f"/v1/sessions/{session}", {"user": "ben"}), 422, "invalid_request")


async def test_cancelled_run_is_told_to_whoever_works_it(api: Api) -> None:
    """The route answers at once; the run's node ends it."""
    session = await api.session()
    assert (await api.post(f"/v1/sessions/{session}/cancel", who="tab")).json()["status"] == "idle"
    await api.happens(session, _started("run_1"))

    cancelled = await api.post(f"/v1/sessions/{session}/cancel", who="tab")

    assert cancelled.status_code == 200
    row = await api.talks.sessions.get("acme", session)
    assert row is not None
    assert row.task.cancelled


async def test_closed_session_takes_nothing_and_can_still_be_read(api: Api) -> None:
    """409 session_closed; the log stays."""
    session = await api.session()
    closed = await api.post(f"/v1/sessions/{session}/close")

    assert closed.json()["status"] == "closed"
    refused = await api.post(f"/v1/sessions/{session}/messages", {"text": "Hello"})
    problem(refused, 409, "session_closed")
    events = (await api.get(f"/v1/sessions/{session}/events", headers=JSON)).json()["events"]
    assert events[-1]["data"] == {"status": "closed"}


async def test_erased_session_is_not_there_for_key_nor_token(api: Api) -> None:
    """Its text is gone, and the tokens of its clients open nothing."""
    session = await api.session()
    await api.post(f"/v1/sessions/{session}/messages", {"text": "My PIN is 1234"}, who="tab")

    erased = await api.send("DELETE", f"/v1/sessions/{session}")

    assert (erased.status_code, erased.content) == (204, b"")
    problem(await api.get(f"/v1/sessions/{session}"), 404, "not_found")
    api.stage.time.passed_ms += 2_000
    problem(await api.get(f"/v1/sessions/{session}", who="tab"), 401, "unauthorized")
    audit = (await api.get("/v1/audit?limit=500")).text
    assert "1234" not in audit


async def test_client_token_reaches_its_own_session_alone(api: Api) -> None:
    """Another session of the same user is as good as not there."""
    own, other = await api.session(), await api.session(who="other tab")

    assert (await api.get(f"/v1/sessions/{own}", who="tab")).status_code == 200
    for method, path, body in (
        ("GET", "", None),
        ("POST", "/messages", {"text": "Hello"}),
        ("POST", "/cancel", None),
        ("GET", "/events", None),
    ):
        foreign = await api.send(method, f"/v1/sessions/{other}{path}", body, who="tab")
        unknown = await api.send(method, f"/v1/sessions/ses_0{path}", body, who="tab")
        told = problem(foreign, 404, "not_found")["detail"]
        assert told == problem(unknown, 404, "not_found")["detail"].replace("ses_0", other)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/sessions", {"apps": ["acme"], "user": "ana"}),
        ("GET", "/v1/sessions", None),
        ("PATCH", "/v1/sessions/{}", {"pins": {}}),
        ("DELETE", "/v1/sessions/{}", None),
        ("POST", "/v1/sessions/{}/tokens", {}),
        ("POST", "/v1/tools/acme/get_order/call", {"user": "ana", "args": {"id": "7"}}),
        ("GET", "/v1/calls", None),
        ("GET", "/v1/inputs", None),
        ("GET", "/v1/connections", None),
        ("GET", "/v1/apps", None),
        ("GET", "/v1/keys", None),
    ],
)
async def test_client_token_may_do_nothing_else(
    api: Api, method: str, path: str, body: object
) -> None:
    """It makes no sessions and no tokens, calls no tools, and lists nothing."""
    session = await api.session()
    refused = await api.send(method, path.format(session), body, who="tab")

    problem(refused, 403, "forbidden")
    assert api.stage.egress.sent == []


async def test_client_token_is_over_when_its_time_is(api: Api) -> None:
    """15 minutes where nobody says how long; a back end makes another one."""
    session = await api.session()
    path = f"/v1/sessions/{session}"
    await api.device("phone")
    longer = await api.post(f"{path}/tokens", {"device": "phone", "ttlS": 3_600}, who="backend")
    assert longer.status_code == 201
    assert set(longer.json()) == {"clientToken", "expiresAt"}
    api.keys["phone"] = longer.json()["clientToken"]

    api.stage.time.passed_ms += 900_000
    problem(await api.get(path, who="tab"), 401, "unauthorized")
    assert (await api.get(path, who="phone")).status_code == 200

    problem(await api.post(f"{path}/tokens", {"ttlS": 86_401}), 422, "invalid_request")
    assert (await api.post(f"{path}/tokens")).status_code == 201


async def test_client_tokens_are_listed_and_revoked_like_others(api: Api) -> None:
    """With their session and device, never with their secret."""
    await api.device("laptop")
    session = await api.session(device="laptop")
    page = await api.get("/v1/keys?role=client&limit=500")
    row = next(one for one in page.json()["items"] if one.get("session") == session)

    assert (row["user"], row["device"]) == ("ana", "laptop")
    assert api.keys["tab"] not in page.text
    assert (await api.send("DELETE", f"/v1/tokens/{row['id']}", who="backend")).status_code == 204
    problem(await api.get(f"/v1/sessions/{session}", who="tab"), 401, "unauthorized")


async def test_user_answers_in_person_through_the_client_of_the_session(api: Api) -> None:
    """By each of the three ways; the call goes on, and its session is due."""
    await api.device("phone")
    session = await api.session(device="phone")
    inputs = [await api.waiting(session) for _ in range(3)]
    yes = {"decision": "approve"}
    answers = [
        await api.post(f"/v1/sessions/{session}/human-input/{inputs[0]}", yes, who="tab"),
        await api.post(f"/v1/inputs/{inputs[1]}/answer", yes, who="tab"),
        await api.post(
            "/chat/resume", {**yes, "threadId": session, "inputId": inputs[2]}, who="tab"
        ),
    ]
    await api.stage.settled()

    assert [one.status_code for one in answers] == [200, 200, 200]
    assert [one.json()["answeredBy"] for one in answers] == ["user:ana"] * 3
    posts = [one for one in api.stage.egress.sent if one.method == "POST"]
    assert len(posts) == 3
    assert api.talks.alarm.is_set()
    row = await api.talks.sessions.get("acme", session)
    assert row is not None
    assert row.due_at is not None


async def test_connect_input_says_what_it_takes_to_whoever_answers_otherwise(api: Api) -> None:
    """It is no approval and no card: connecting is the answer, or going on without."""
    session = await api.session()
    await api.send("DELETE", "/v1/connections/acme/ana", who="backend")
    path = f"/v1/sessions/{session}/human-input/{await api.waiting(session)}"

    for given in ("skip", "press"):
        body = {given: True if given == "skip" else "connect"}
        told = problem(await api.post(path, body, who="tab"), 422, "invalid_request")["detail"]
        assert f"An input of kind connect takes no {given}." in told
        assert "PUT /v1/connections/acme/ana" in told
        assert "deny or cancel" in told
    assert (await api.post(path, {"decision": "deny"}, who="tab")).json()["status"] == "denied"


async def test_client_answers_nothing_outside_its_session(api: Api) -> None:
    """Neither another session's inputs nor those of the Tools API; it does not see them either."""
    await api.session()
    other = await api.session(who="other tab")
    alone = (await api.call("refund", {"name": "chair", "amount": 1})).json()["inputId"]
    for input_id in (await api.waiting(other), alone):
        path = f"/v1/inputs/{input_id}"
        problem(await api.get(path, who="tab"), 404, "not_found")
        problem(await api.post(f"{path}/answer", {"decision": "deny"}, who="tab"), 404, "not_found")
        assert (await api.get(path)).json()["status"] == "open"


async def test_client_answers_for_nobody_else(api: Api) -> None:
    """A name in the body makes no other person of it."""
    session = await api.session()
    path = f"/v1/sessions/{session}/human-input/{await api.waiting(session)}"

    problem(await api.post(path, {"decision": "deny", "user": "ben"}, who="tab"), 403, "forbidden")
    answered = await api.post(path, {"decision": "deny", "user": "ana"}, who="tab")
    assert answered.json()["answeredBy"] == "user:ana"


async def test_token_for_an_agent_answers_nothing(api: Api) -> None:
    """Also not in a session (contract section 9, "the model never can")."""
    session = await api.session()
    path = f"/v1/sessions/{session}/human-input/{await api.waiting(session)}"

    problem(await api.post(path, {"decision": "approve"}, who="ana"), 403, "forbidden")


async def test_yes_is_remembered_where_only_the_policy_asked(api: Api) -> None:
    """And kept with the answer, for the run to go by."""
    await api.stage.policy({"match": WRITES, "then": "ask", "reason": "Look at it"})
    session = await api.session()
    first, second = [await api.waiting(session, "add_order") for _ in range(2)]
    path = f"/v1/sessions/{session}/human-input/"

    no = await api.post(f"{path}{first}", {"decision": "deny", "remember": "session"}, who="tab")
    problem(no, 422, "invalid_request")
    yes = await api.post(
        f"{path}{first}", {"decision": "approve", "remember": "session"}, who="tab"
    )
    assert yes.status_code == 200, yes.text
    row = await api.stage.server.store.inputs.get("acme", first)
    assert row is not None
    assert '"remember":"session"' in (row.answer_json or "")
    plain = await api.post(f"{path}{second}", {"decision": "approve"}, who="tab")
    assert plain.status_code == 200
    await api.stage.settled()


async def test_yes_to_what_always_asks_is_not_remembered(api: Api) -> None:
    """Nor one outside a session; the input stays open."""
    session = await api.session()
    remembered = {"decision": "approve", "remember": "session"}
    inside = await api.waiting(session)
    outside = (await api.call("refund", {"name": "chair", "amount": 1})).json()["inputId"]

    for input_id, words in ((inside, "asks for a person"), (outside, "this call has none")):
        refused = await api.post(f"/v1/inputs/{input_id}/answer", remembered)
        assert words in problem(refused, 422, "invalid_request")["detail"]
        assert (await api.get(f"/v1/inputs/{input_id}")).json()["status"] == "open"


async def test_calls_and_inputs_of_a_session_are_found_by_it(api: Api) -> None:
    """The ``session`` filter of both lists."""
    session = await api.session()
    waiting = await api.waiting(session)
    await api.call("get_order", {"id": "7"})

    inputs = (await api.get(f"/v1/inputs?session={session}")).json()["items"]
    calls = (await api.get(f"/v1/calls?session={session}")).json()["items"]

    assert [one["id"] for one in inputs] == [waiting]
    assert [one["sessionId"] for one in calls] == [session]


async def test_page_of_large_events_is_cut_short(api: Api) -> None:
    """No page holds more than a few megabytes; ``next`` goes on with the rest."""
    session = await api.session()
    large = Message(message_id="m", role="user", text="x" * 100_000)
    for _ in range(3):
        await api.happens(session, *([large] * 40))
    path = f"/v1/sessions/{session}/events"

    seqs: list[int] = []
    after: int | None = 0
    while after is not None:
        page = (await api.get(f"{path}?limit=500&after={after}", headers=JSON)).json()
        seqs += [one["seq"] for one in page["events"]]
        assert len(page["events"]) <= 50
        after = page["next"]
    assert seqs == list(range(1, 122))


async def test_log_is_read_in_pages(api: Api) -> None:
    """``next`` is the ``after`` of the next part, and null at the head."""
    session = await api.session()
    await api.happens(session, *(_said(f"m{number}") for number in range(5)))
    path = f"/v1/sessions/{session}/events"

    first = (await api.get(f"{path}?limit=4", headers=JSON)).json()
    rest = (await api.get(f"{path}?limit=4&after={first['next']}", headers=JSON)).json()
    beyond = (await api.get(f"{path}?after=99", headers=JSON)).json()

    assert [one["seq"] for one in first["events"] + rest["events"]] == [1, 2, 3, 4, 5, 6]
    assert first["next"] == 4
    assert rest["next"] is None
    assert beyond == {"events": [], "next": None}
    assert rest["events"][-1] == {
        "seq": 6,
        "type": "message",
        "at": (await api.get(f"/v1/sessions/{session}")).json()["updatedAt"],
        "data": {"messageId": "m4", "role": "user", "text": "line\nof text"},
    }
    for query in ("limit=501", "limit=0", "after=-1", "after=x", "page=2"):
        problem(await api.get(f"{path}?{query}", headers=JSON), 422, "invalid_request")


def _said(message_id: str) -> Message:
    return Message(message_id=message_id, role="user", text="line\nof text")


def _started(run_id: str) -> RunStarted:
    return RunStarted(run_id=run_id, model=None, instructions_digest="0" * 64, catalog_digests={})
