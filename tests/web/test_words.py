"""What a request is told that cannot be meant: plain sentences, with the mend in them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests import databases
from tests.web.api import Api, problem

pytestmark = databases.on_each_database

CALL = "/v1/tools/acme/get_order/call"
APPROVE = "/v1/apps/acme/versions/1/approve"
KEYS, TOKENS, CONNECTION = "/v1/keys", "/v1/tokens", "/v1/connections/acme/ana"
TOKEN: dict[str, Any] = {"user": "ana", "apps": ["acme"], "ttlS": 60}
BEARER: dict[str, Any] = {"type": "bearer", "token": "tok"}
RULE = "rules:\n  - match: {tool: add_*}\n    then: deny\n    reason: No\n"

WRONG: tuple[tuple[str, str, object, str], ...] = (
    ("POST", CALL, {"user": "", "args": {}}, "user must be a text of at least 1 character"),
    ("POST", CALL, {"user": "a" * 201, "args": {}},
     "user must be a text of at most 200 characters"),
    ("POST", CALL, {"user": 7, "args": {}}, "user must be a text or null, and is an integer"),
    ("POST", CALL, {"user": "ana", "args": []}, "args must be an object, and is a list"),
    ("POST", CALL, {"user": "ana"}, 'the body has no "args", and must have one'),
    ("POST", CALL, {"args": {}, "x": 1},
     'the body has "x", which is not known here; it takes args, user and pins'),
    ("POST", APPROVE, {"ceiling": {"category": "read", "x": 1}},
     'ceiling has "x", which is not known here; it takes category and dangerLevel'),
    ("POST", CALL, [], "the body must be an object, and is a list"),
    ("POST", TOKENS, {**TOKEN, "ttlS": 0}, "ttlS must be an integer, at least 1"),
    ("POST", TOKENS, {**TOKEN, "ttlS": 2**70}, "ttlS must be an integer, at most 2147483647"),
    ("POST", TOKENS, {**TOKEN, "ttlS": 1.5}, "ttlS must be an integer, and is a number"),
    ("POST", TOKENS, {**TOKEN, "apps": [7]}, "apps[0] must be a text, and is an integer"),
    ("POST", KEYS, {"role": "root", "name": "x"}, "role must be backend or operator"),
    ("POST", APPROVE, {"ceiling": {"category": "x", "dangerLevel": "safe"}},
     "ceiling.category must be action, read or write"),
    ("POST", APPROVE, {"ceiling": {"category": "read"}},
     'ceiling has no "dangerLevel", and must have one'),
    ("PUT", CONNECTION, {**BEARER, "expiresAt": "tomorrow"},
     "expiresAt must be a time as RFC 3339 with its offset, such as 2026-01-31T12:00:00Z"),
    ("PUT", CONNECTION, {**BEARER, "expiresAt": "2030-01-01T00:00:00"},
     "expiresAt must be a time as RFC 3339 with its offset, such as 2026-01-31T12:00:00Z"),
    ("PUT", "/v1/apps/acme/env/main/production", {"A": 7},
     "a value of the body must be a text or null, and is an integer"),
)  # fmt: skip
FILTERS = (
    ("/v1/calls?outcome=banana",
     "outcome must be cancelled, denied, error, expired, ok, outcome_unknown or skipped"),
    ("/v1/calls?category=reed", "category must be action, read or write"),
    ("/v1/calls?dangerLevel=high", "dangerLevel must be destructive, moderate or safe"),
    ("/v1/inputs?status=waiting",
     "status must be answered, approved, cancelled, denied, expired, open or skipped"),
    ("/v1/keys?role=root", "role must be backend, client, operator or user"),
    ("/v1/calls?limit=many", "limit must be an integer, and is a text"),
    ("/v1/calls?from=yesterday", "from must be a time as RFC 3339 with its offset"),
    ("/v1/calls?status=done", 'the query has "status", which is not known here'),
    ("/v1/calls?source=api", 'the query has "source", which is not known here'),
)  # fmt: skip


async def test_body_of_another_shape_is_told_in_plain_words(api: Api) -> None:
    """The property, what it must be, and no word of the decoder's."""
    for method, path, body, words in WRONG:
        found = problem(await api.send(method, path, body), 422, "invalid_request")
        assert f": {words}. GET /v1/openapi.json describes it." in found["detail"]


async def test_filter_of_no_such_value_names_those_that_there_are(api: Api) -> None:
    """An empty list would say that there is nothing of it."""
    for path, words in FILTERS:
        assert words in problem(await api.get(path), 422, "invalid_request")["detail"]


@pytest.mark.parametrize(
    "user", [" ana", "ana ", "a na", "ana\n", "\tana", "ana\u00a0", "ana\u200b", "ana\x7f"],
    ids=["before", "after", "inside", "line", "tab", "no-break", "zero-width", "delete"],
)  # fmt: skip
async def test_user_that_only_looks_like_another_is_refused_everywhere(api: Api, user: str) -> None:
    """Ids of people are compared exactly: " ana" must not be another person than ana."""
    await api.stage.policy({"match": {"tool": "add_order"}, "then": "ask", "by": "other"})
    call = (await api.call("add_order", {"name": "chair", "amount": 1})).json()
    path = f"/v1/inputs/{call['inputId']}"
    yes = {"decision": "approve", "user": user}

    for who in ("backend", "operator"):
        found = problem(await api.post(f"{path}/answer", yes, who=who), 422, "invalid_request")
        assert "The user's id must have 1 to 200 visible characters" in found["detail"]
    assert (await api.get(path)).json()["status"] == "open"
    grant = {"app": "acme", "user": user, "version": 1}
    for response in (
        await api.post(CALL, {"user": user, "args": {"id": "7"}}),
        await api.post("/v1/grants", grant),
        await api.post(TOKENS, {**TOKEN, "user": user}),
        await api.client.put(
            f"/v1/connections/acme/{_encoded(user)}",
            json=BEARER,
            headers={"authorization": f"Bearer {api.keys['operator']}"},
        ),
        *[
            await api.get(f"/v1/{rows}?user={_encoded(user)}")
            for rows in ("calls", "inputs", "grants", "connections")
        ],
    ):
        problem(response, 422, "invalid_request")
    assert api.stage.egress.sent == []


async def test_if_match_without_its_quotes_is_told_so(api: Api) -> None:
    """An entity tag has them (RFC 9110, 8.8.3); it was not changed by anybody."""
    for path, body in (("/v1/policy", {"rules": []}), ("/v1/apps/acme", {})):
        bare = (await api.get(path)).headers["etag"].strip('"')
        response = await api.put(path, body, headers={"if-match": bare})
        found = problem(response, 422, "invalid_request")
        assert "one stands in double quotes" in found["detail"]
        assert f'If-Match: "{bare}".' in found["detail"]


@pytest.mark.parametrize(
    ("tag", "status"),
    [('"0"', 200), ('"7", "0"', 200), ("*", 200), ('W/"0"', 412), ('"7,0"', 412), ('"0', 422)],
    ids=["one", "several", "any", "weak", "comma", "half"],
)
async def test_if_match_is_read_as_rfc_9110_says(api: Api, tag: str, status: int) -> None:
    """One entity tag, several, or any state; a weak one matches none."""
    response = await api.put("/v1/policy", {"rules": []}, headers={"if-match": tag})

    assert response.status_code == status, response.text


async def test_late_answer_is_told_what_ended_its_call(api: Api) -> None:
    """Where no person decided, nobody is said to have."""
    call = (await api.call("refund", {"name": "chair", "amount": 1})).json()
    await api.post("/v1/apps/acme/suspend", {"reason": "It leaks"})
    await api.stage.settled()
    response = await api.post(f"/v1/inputs/{call['inputId']}/answer", {"decision": "approve"})

    found = problem(response, 409, "already_answered")
    assert "nobody answered it" in found["detail"]
    assert "suspended" in found["detail"]
    assert "It leaks" in found["detail"]
    assert "another answer" not in found["detail"]
    assert found["input"]["status"] == "cancelled"


async def test_answer_after_the_time_is_told_that_it_is_over(api: Api) -> None:
    """An input ends after a day."""
    call = (await api.call("refund", {"name": "chair", "amount": 1})).json()
    api.stage.time.passed_ms += 25 * 3_600_000
    response = await api.post(f"/v1/inputs/{call['inputId']}/answer", {"decision": "approve"})

    found = problem(response, 409, "already_answered")
    assert "nobody answered in time" in found["detail"]
    await api.stage.settled()


async def test_agents_token_is_told_who_can_answer(api: Api) -> None:
    """There is nothing that it could do itself."""
    call = (await api.call("refund", {"name": "chair", "amount": 1})).json()
    path = f"/v1/inputs/{call['inputId']}/answer"
    found = problem(await api.post(path, {"decision": "approve"}, who="ana"), 403, "forbidden")

    assert "your back end's key" in found["detail"]
    assert "console" not in found["detail"]


async def test_policy_may_be_yaml(api: Api) -> None:
    """As it stands in a file of its author."""
    headers = {"if-match": '"0"', "content-type": "application/yaml"}
    put = await api.put("/v1/policy", content=RULE.encode(), headers=headers)

    assert put.status_code == 200, put.text
    assert put.json()["policy"]["rules"] == [
        {"match": {"tool": "add_*"}, "then": "deny", "reason": "No"}
    ]
    order = {"name": "chair", "amount": 1}
    problem(await api.call("add_order", order), 403, "denied")


async def test_mistakes_of_a_policy_are_findings(api: Api) -> None:
    """All at once, each with its place and its mend, from JSON and YAML alike."""
    bad = {"rules": [{"then": "perhaps"}], "catalog": "dead"}
    yaml = {"if-match": '"0"', "content-type": "application/yaml"}
    for response in (
        await api.put("/v1/policy", bad, headers={"if-match": '"0"'}),
        await api.put("/v1/policy", content=json.dumps(bad).encode(), headers=yaml),
    ):
        found = problem(response, 422, "invalid_request")["findings"]
        assert {"/rules/0/then", "/catalog"} <= {one["pointer"] for one in found}
        assert all(one["message"] and one["mend"] for one in found)
    assert (await api.get("/v1/policy")).json()["number"] == 0


def _encoded(user: str) -> str:
    return "".join(f"%{byte:02x}" for byte in user.encode())
