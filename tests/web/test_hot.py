"""A call over the API: 200, 202 and problem documents exactly as contract section 10 says."""

from __future__ import annotations

import asyncio
import json

import pytest

from remit.errors import StoreUnavailable, UpstreamTimeout
from tests import databases
from tests.gateway.fakes import answer
from tests.gateway.nodes import HeldEgress
from tests.web.api import Api, open_api, problem

ORDER = {"name": "chair", "amount": 1}

pytestmark = databases.on_each_database


async def test_call_that_ended_is_200_with_result_and_content(api: Api) -> None:
    """Contract section 10, "A call over the API"."""
    response = await api.call("get_order", {"id": "7"})

    assert response.status_code == 200
    found = response.json()
    assert found.pop("callId")
    assert found.pop("display") == {"renderer": "json", "data": {"total": 5}}
    assert found == {"outcome": "ok", "result": {"total": 5}, "content": '{"total":5}'}
    assert api.stage.egress.lines == ["GET /v1/orders/7"]


async def test_null_result_is_there(store_url: str) -> None:
    """A result that is null is a result: the key stands there."""
    async with open_api(store_url, answer(None, 204)) as api:
        found = (await api.call("add_order", ORDER)).json()

    assert (found["outcome"], found["result"], found["content"]) == ("ok", None, "null")


async def test_upstream_404_is_200_with_the_error(store_url: str) -> None:
    """Contract section 10: the API did its part; the app's status is in the details."""
    async with open_api(store_url, answer({"code": "gone"}, 404)) as api:
        response = await api.call("get_order", {"id": "7"})

    assert response.status_code == 200
    found = response.json()
    assert (found["outcome"], found["error"]["code"]) == ("error", "upstream_error")
    assert found["error"]["details"]["status"] == 404
    assert "result" not in found


async def test_write_of_unknown_outcome_says_so(store_url: str) -> None:
    """Contract section 5, "Unknown outcomes"."""
    async with open_api(store_url, UpstreamTimeout("no answer", sent=True)) as api:
        found = (await api.call("add_order", ORDER)).json()

    assert found["error"]["mayHaveHappened"] is True


@pytest.mark.promise("T-18")
async def test_call_that_needs_a_person_is_202_at_once(api: Api) -> None:
    """A person is never waited for; the input is named, and answering it makes the call."""
    response = await api.call("refund", ORDER, headers={"prefer": "wait=120"})

    assert response.status_code == 202
    found = response.json()
    assert found["outcome"] == "waiting_human"
    assert response.headers["location"] == f"/v1/calls/{found['callId']}"
    assert api.stage.egress.lines == ["GET /v1/orders/chair"]
    answered = await api.post(f"/v1/inputs/{found['inputId']}/answer", {"decision": "approve"})
    assert answered.status_code == 200
    await api.stage.settled()
    record = (await api.get(f"/v1/calls/{found['callId']}")).json()
    assert (record["outcome"], record["inputId"]) == ("ok", found["inputId"])


async def test_job_is_202_polling(store_url: str) -> None:
    """What polls has an id and is asked for from then on."""
    async with open_api(store_url, answer({"id": "j1"})) as api:
        response = await api.call("render", ORDER, headers={"prefer": "wait=0"})

        assert response.status_code == 202
        assert response.json()["outcome"] in {"polling", "sending"}
        await api.stage.settled()
        record = (await api.get(response.headers["location"])).json()
        assert record["outcome"] == "polling"


async def test_slow_app_is_202_sending_after_the_wait(store_url: str) -> None:
    """`Prefer: wait` bounds the wait, and who stops waiting stops nothing."""
    held = HeldEgress([])
    async with open_api(store_url, egress=held) as api:
        response = await api.call("add_order", ORDER, headers={"prefer": "wait=0"})

        assert (response.status_code, response.json()["outcome"]) == (202, "sending")
        assert response.headers["preference-applied"] == "wait=0"
        held.go.set()
        await api.stage.settled()
        record = (await api.get(response.headers["location"])).json()
        assert record["outcome"] == "ok"


@pytest.mark.parametrize(
    ("prefer", "applied"),
    [
        ("wait=10", "wait=10"),
        ("respond-async, wait=5", "wait=5"),
        ("wait=900", "wait=120"),
        ("wait=-1", None),
        ("wait=soon", None),
        ("return=minimal", None),
    ],
)
async def test_wait_is_read_as_rfc_7240_says(api: Api, prefer: str, applied: str | None) -> None:
    """At most 120 s; what cannot be read is passed over."""
    response = await api.call("get_order", {"id": "7"}, headers={"prefer": prefer})

    assert response.status_code == 200
    assert response.headers.get("preference-applied") == applied


BAD_BODIES = (
    (b'{"user": "ana", "args": {"id": "7"', 400, "malformed_body"),
    (b'{"user": "ana", "args": {}, "args": {"id": "7"}}', 400, "malformed_body"),
    (b'{"user": "ana", "args": {"id": NaN}}', 400, "malformed_body"),
    (b"", 400, "malformed_body"),
    (b'{"user": "ana", "args": {"id": "7"}, "argz": {}}', 422, "invalid_request"),
    (b'{"user": "ana"}', 422, "invalid_request"),
    (b'{"args": {"id": "7"}}', 422, "invalid_request"),
    (b'{"user": "", "args": {"id": "7"}}', 422, "invalid_request"),
    (b'{"user": "a b", "args": {"id": "7"}}', 422, "invalid_request"),
    (b'{"user": 7, "args": {"id": "7"}}', 422, "invalid_request"),
    (b'{"user": "ana", "args": []}', 422, "invalid_request"),
    (b"[]", 422, "invalid_request"),
    (b'{"user": "ana", "args": {"id": "' + b"7" * 300_000 + b'"}}', 413, "body_too_large"),
)


async def test_bad_body_leaves_no_record(api: Api) -> None:
    """Contract section 10: refused without a record, and nothing is sent."""
    for body, status, code in BAD_BODIES:
        response = await api.post("/v1/tools/acme/get_order/call", content=body, who="backend")
        assert "callId" not in problem(response, status, code)
    assert (await api.get("/v1/calls")).json()["items"] == []
    assert api.stage.egress.sent == []


async def test_other_media_type_is_415(api: Api) -> None:
    """A form is no JSON."""
    response = await api.post(
        "/v1/tools/acme/get_order/call",
        content=b"user=ana",
        headers={"content-type": "application/x-www-form-urlencoded"},
    )

    problem(response, 415, "unsupported_media_type")


async def test_refusal_before_the_send_is_a_problem_with_its_call(api: Api) -> None:
    """422 `invalid_arguments` with a record; nothing was sent."""
    response = await api.call("get_order", {"id": 7})

    found = problem(response, 422, "invalid_arguments")
    record = (await api.get(f"/v1/calls/{found['callId']}")).json()
    assert (record["outcome"], record["error"]["code"]) == ("error", "invalid_arguments")
    assert api.stage.egress.sent == []


async def test_denied_suspended_consent_and_connection_have_their_codes(api: Api) -> None:
    """403 `denied`, `app_suspended`, `consent_required`; 409 `not_connected`."""
    stage = api.stage
    await stage.policy({"match": {"tool": "get_order"}, "then": "deny", "reason": "Not today"})
    problem(await api.call("get_order", {"id": "7"}), 403, "denied")
    await stage.policy()
    await api.send("DELETE", "/v1/connections/acme/ana")
    problem(await api.call("get_order", {"id": "7"}), 409, "not_connected")
    grants = (await api.get("/v1/grants?user=ana")).json()["items"]
    await api.send("DELETE", f"/v1/grants/{grants[0]['id']}")
    problem(await api.call("get_order", {"id": "7"}), 403, "consent_required")
    await api.post("/v1/apps/acme/suspend", {"reason": "It leaks"})
    found = problem(await api.call("get_order", {"id": "7"}), 403, "app_suspended")
    assert "It leaks" in found["detail"]
    assert stage.egress.sent == []


async def test_used_up_limit_is_429_with_retry_after(api: Api) -> None:
    """429 `rate_limited`, with a record and the time to come back."""
    await api.stage.policy(limits={"tokensPerUserDay": 1})
    store, at = api.stage.server.store, api.stage.time.unix_ms()
    await store.usage.add_tokens("acme", "ana", tokens=5, at=at)

    response = await api.call("get_order", {"id": "7"})

    assert "callId" in problem(response, 429, "rate_limited")
    assert int(response.headers["retry-after"]) > 0


@pytest.mark.parametrize(
    ("who", "app", "tool", "code"),
    [
        ("backend", "nowhere", "get_order", "not_found"),
        ("other", "acme", "get_order", "not_found"),
        ("backend", "acme", "no_such_tool", "unknown_tool"),
    ],
)
async def test_what_is_not_there_is_404_without_a_record(
    api: Api, who: str, app: str, tool: str, code: str
) -> None:
    """Another workspace's app is as good as none."""
    body = {"user": "ana", "args": {}}
    response = await api.post(f"/v1/tools/{app}/{tool}/call", body, who=who)

    assert "callId" not in problem(response, 404, code)


async def test_app_of_another_workspace_answers_like_one_that_is_nowhere(api: Api) -> None:
    """Contract section 10: wrong workspace and unknown id answer the same 404."""
    body = {"user": "ana", "args": {}}
    there = (await api.post("/v1/tools/acme/get_order/call", body, who="other")).json()
    nowhere = (await api.post("/v1/tools/acmf/get_order/call", body, who="other")).json()

    assert there["detail"].replace("acme", "acmf") == nowhere["detail"]
    assert {**there, "requestId": "", "detail": ""} == {**nowhere, "requestId": "", "detail": ""}


async def test_token_needs_no_user_and_speaks_for_no_other(api: Api) -> None:
    """A token is of one user; for another one it is refused, and says whose it is."""
    path = "/v1/tools/acme/get_order/call"
    own = await api.post(path, {"args": {"id": "7"}}, who="ana")
    other = await api.post(path, {"user": "bob", "args": {"id": "7"}}, who="ana")

    assert own.status_code == 200
    found = problem(other, 403, "forbidden")
    assert "callId" not in found
    assert 'This token speaks for the user "ana"' in found["detail"]
    assert api.stage.egress.lines == ["GET /v1/orders/7"]


async def test_unknown_tool_says_where_the_tools_are_listed_over_http(api: Api) -> None:
    """Whoever calls over HTTP may have no command line."""
    found = problem(await api.call("zzz"), 404, "unknown_tool")

    assert "GET /v1/apps/acme/catalog lists the tools." in found["detail"]
    assert "remit catalog" not in found["detail"]


async def test_pin_of_the_token_wins_over_the_request(api: Api) -> None:
    """Pins hang on the token (contract section 10): nobody who holds it changes them."""
    body = {"user": "ana", "apps": ["acme"], "ttlS": 60, "pins": {"id": "pinned"}}
    token = (await api.post("/v1/tokens", body)).json()["token"]
    api.keys["pinned"] = token

    sent = {"args": {"id": "mine"}, "pins": {"id": "theirs"}}
    response = await api.post("/v1/tools/acme/get_order/call", sent, who="pinned")

    assert response.status_code == 200
    assert api.stage.egress.lines == ["GET /v1/orders/pinned"]


async def test_integers_keep_every_digit_both_ways(store_url: str) -> None:
    """Contract section 5, step 1."""
    big = 2**70 + 1
    async with open_api(store_url, answer(b'{"total": %d}' % big)) as api:
        body = b'{"user": "ana", "args": {"name": "x", "amount": %d}}' % big
        response = await api.post("/v1/tools/acme/add_order/call", content=body)

        assert json.loads(response.text)["result"]["total"] == big
        assert json.loads(api.stage.egress.sent[0].body or b"")["amount"] == big


async def test_key_with_too_much_under_way_is_429(store_url: str) -> None:
    """One caller cannot take the node for itself; the others go on."""
    held = HeldEgress([])
    async with open_api(store_url, egress=held, max_in_flight=1) as api:
        first = asyncio.ensure_future(api.call("get_order", {"id": "7"}))
        await held.left.wait()
        response = await api.call("get_order", {"id": "7"})
        assert problem(response, 429, "rate_limited")["detail"].startswith("This key has 1 ")
        assert response.headers["retry-after"] == "1"
        held.go.set()
        assert (await first).status_code == 200


async def test_fault_of_the_store_is_503_and_nothing_is_sent(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the intent cannot be committed, no byte leaves (contract section 5, step 8)."""

    async def fails(*_: object, **__: object) -> bool:
        raise StoreUnavailable("The database does not answer.")

    monkeypatch.setattr(api.stage.server.store.calls, "plan", fails)
    response = await api.call("add_order", ORDER)

    problem(response, 503, "store_unavailable")
    assert api.stage.egress.sent == []
    # The task that planned it told it, too.
    await api.stage.settled()
