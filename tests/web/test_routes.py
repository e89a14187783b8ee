"""The routes of contract section 10 that need no session, from a key to its answer."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest

from tests import databases
from tests.gateway.fakes import CREDENTIAL, answer
from tests.gateway.nodes import DEFINITION, GET
from tests.gateway.server import shop
from tests.web.api import Api, problem

SHOP: dict[str, Any] = {**shop(GET), "id": "shop", "name": "Shop"}
ORDER = {"name": "chair", "amount": 1}

pytestmark = databases.on_each_database


async def test_app_goes_from_submitted_to_approved_to_suspended(api: Api) -> None:
    """Contract section 7, "Life", through the API."""
    submitted = await api.post("/v1/apps", SHOP)
    assert submitted.status_code == 201
    found = submitted.json()
    assert (found["app"], found["version"], found["status"]) == ("shop", 1, "submitted")
    assert isinstance(found["findings"], list)
    assert submitted.headers["location"] == "/v1/apps/shop"

    remit = (await api.get("/v1/apps/shop/versions/1/remit")).json()
    assert remit["digest"] == found["remitDigest"]
    assert remit["sections"][0]["id"] == "abilities"
    for form, media in (("text", "text/plain"), ("md", "text/markdown")):
        page = await api.get(f"/v1/apps/shop/versions/1/remit?format={form}")
        assert page.headers["content-type"].startswith(media)
        assert remit["digest"] in page.text

    path = "/v1/apps/shop/versions/1/approve"
    stale = await api.post(path, {"digest": "0" * 64})
    problem(stale, 409, "stale_digest")
    above = {"ceiling": {"category": "action", "dangerLevel": "destructive"}}
    problem(await api.post(path, above), 422, "invalid_request")
    approved = await api.post(path, {"digest": remit["digest"], "consent": "workspace"})
    assert (approved.json()["status"], approved.json()["consent"]) == ("approved", "workspace")
    problem(await api.post(path), 409, "already_decided")

    suspended = await api.post("/v1/apps/shop/suspend", {"reason": "It leaks"})
    assert suspended.json()["suspended"]["reason"] == "It leaks"
    assert "suspended" in (await api.get("/v1/apps/shop")).json()
    resumed = await api.post("/v1/apps/shop/resume")
    assert "suspended" not in resumed.json()


async def test_rejected_version_says_why(api: Api) -> None:
    """And is not in force."""
    await api.post("/v1/apps", SHOP)
    rejected = await api.post("/v1/apps/shop/versions/1/reject", {"reason": "Too much"})

    assert rejected.json()["status"] == "rejected"
    assert (await api.get("/v1/apps/shop/versions/1")).json()["reason"] == "Too much"
    assert "inForce" not in (await api.get("/v1/apps/shop")).json()


async def test_definition_may_be_yaml(api: Api) -> None:
    """`application/yaml` where a definition is posted (contract, first page)."""
    lines = [f"{key}: {json.dumps(value)}" for key, value in SHOP.items()]
    response = await api.post(
        "/v1/apps",
        content="\n".join(lines).encode(),
        headers={"content-type": "application/yaml; charset=utf-8"},
    )

    assert response.status_code == 201, response.text
    assert (await api.get("/v1/apps/shop")).json()["definition"] == SHOP


async def test_definition_that_lies_is_422_with_every_mistake(api: Api) -> None:
    """Nothing half done: no app is there after it."""
    bad = {**SHOP, "tools": [{**GET, "category": "reed"}, {**GET, "name": "no spaces!"}]}
    found = problem(await api.post("/v1/apps", bad), 422, "invalid_definition")

    assert {one["level"] for one in found["findings"]} == {"error"}
    assert len(found["findings"]) >= 2
    assert all(one["pointer"] and one["mend"] for one in found["findings"])
    problem(await api.get("/v1/apps/shop"), 404, "not_found")


async def test_change_needs_the_etag_that_was_read(api: Api) -> None:
    """428 without, 412 when stale, and the change with it; a dry run only answers."""
    read = await api.get("/v1/apps/acme")
    changed = {**read.json()["definition"], "description": "Another text"}
    problem(await api.put("/v1/apps/acme", changed), 428, "precondition_required")
    stale = {"if-match": '"99"'}
    problem(await api.put("/v1/apps/acme", changed, headers=stale), 412, "precondition_failed")

    match = {"if-match": read.headers["etag"]}
    dry = await api.put("/v1/apps/acme?dryRun=true", changed, headers=match)
    assert (dry.json()["change"], dry.headers["etag"]) == ("edit", read.headers["etag"])
    done = await api.put("/v1/apps/acme", changed, headers=match)
    assert (done.status_code, done.json()["change"]) == (200, "edit")
    assert done.json()["needsConsent"] is False
    assert done.headers["etag"] == (await api.get("/v1/apps/acme")).headers["etag"]
    assert done.headers["etag"] != read.headers["etag"]


async def test_new_version_is_listed_with_its_diff(api: Api) -> None:
    """Another origin is a new version, and the one in force goes on."""
    read = await api.get("/v1/apps/acme")
    changed = {**read.json()["definition"], "baseUrl": "https://api2.acme.example"}
    match = {"if-match": read.headers["etag"]}
    done = (await api.put("/v1/apps/acme", changed, headers=match)).json()

    assert (done["change"], done["version"], done["needsConsent"]) == ("version", 2, True)
    rows = (await api.get("/v1/apps/acme/versions")).json()["items"]
    assert [(row["version"], row["status"]) for row in rows] == [(2, "submitted"), (1, "approved")]
    diff = (await api.get("/v1/apps/acme/versions/2/diff?against=1")).json()
    assert diff["change"] == "version"
    assert diff["reasons"]
    assert (await api.get("/v1/apps/acme/versions/2/diff")).json() == diff
    problem(await api.get("/v1/apps/acme/versions/1/diff"), 404, "not_found")


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "mcp"])
async def test_tools_are_written_for_a_provider(api: Api, provider: str) -> None:
    """As the model sees them: names of endpoints begin with `integration_`."""
    response = await api.get(f"/v1/apps/acme/tools?for={provider}", who="ana")

    assert response.status_code == 200
    name = "get_order" if provider == "mcp" else "integration_get_order"
    assert f'"name":"{name}"' in response.text


async def test_catalog_is_the_effective_one(api: Api) -> None:
    """With its source, and the judgement in force."""
    found = (await api.get("/v1/apps/acme/catalog")).json()

    assert (found["source"], found["ageSeconds"], found["dropped"]) == ("static", None, [])
    assert [tool["name"] for tool in found["tools"]] == [
        tool["name"] for tool in DEFINITION["tools"]
    ]


async def test_credential_and_env_value_are_never_read_out(api: Api) -> None:
    """Write-only: no answer of any list holds them."""
    env = {"PARTNER_KEY": "canary-env-value", "OLD": None}
    put = await api.put("/v1/apps/acme/env/main/production", env)
    assert (put.status_code, put.content) == (204, b"")
    body = {"type": "bearer", "token": "canary-token-1", "account": "ana@acme"}
    expires = {"expiresAt": "2099-01-01T00:00:00+01:00"}
    kept = await api.put("/v1/connections/acme/ana", {**body, **expires})
    assert kept.json()["expiresAt"] == "2098-12-31T23:00:00.000Z"

    pages = ["/v1/connections?user=ana", "/v1/audit", "/v1/apps/acme"]
    texts = [kept.text, *[(await api.get(page)).text for page in pages]]
    assert not any("canary" in text for text in texts)
    assert not any(CREDENTIAL in text for text in texts)


async def test_user_with_odd_characters_stands_in_a_path(api: Api) -> None:
    """A user's id is the back end's own: percent-encoded in paths, a slash included."""
    user = "org/7:ü@x%2F"
    path = f"/v1/connections/acme/{quote(user, safe='')}"
    kept = await api.put(path, {"type": "bearer", "token": "tok"})

    assert kept.json()["user"] == user
    assert (await api.send("DELETE", path)).status_code == 204
    problem(await api.send("DELETE", path), 404, "not_found")


ODD_CREDENTIALS: tuple[dict[str, Any], ...] = (
    {"type": "bearer"},
    {"type": "bearer", "token": ""},
    {"type": "basic", "username": "a", "password": "canary-b"},
    {"type": "oauth2", "token": "canary-c"},
    {"type": "bearer", "token": "canary-d", "key": "canary-e"},
    {"type": "bearer", "token": "canary\r\nX: 1"},
    {"type": "bearer", "token": 7},
    {"type": "bearer", "token": "canary-f", "expiresAt": "tomorrow"},
    {"type": "bearer", "token": "canary-g", "expiresAt": "2030-01-01T00:00:00"},
)


async def test_credential_that_does_not_fit_is_not_quoted(api: Api) -> None:
    """A problem document, and no word of the secret in it."""
    for body in ODD_CREDENTIALS:
        response = await api.put("/v1/connections/acme/ana", body)
        assert "canary" not in problem(response, 422, "invalid_request")["detail"]


async def test_grant_is_given_listed_and_revoked(api: Api) -> None:
    """A token grants for its own user, and for no other."""
    body = {"app": "acme", "user": "ana", "version": 1}
    given = await api.post("/v1/grants", body, who="ana")
    assert given.status_code == 201
    problem(await api.post("/v1/grants", {**body, "user": "bob"}, who="ana"), 403, "forbidden")
    rows = (await api.get("/v1/grants?app=acme", who="ana")).json()["items"]
    assert [row["id"] for row in rows] == [given.json()["id"]]
    revoked = await api.send("DELETE", f"/v1/grants/{given.json()['id']}")
    assert revoked.status_code == 204
    assert "revokedAt" in (await api.get("/v1/grants")).json()["items"][0]


async def test_calls_are_listed_by_what_they_are(api: Api) -> None:
    """Filters are equal-to; times are RFC 3339; pages follow on each other."""
    for number in range(3):
        await api.call("get_order", {"id": str(number)})
    await api.call("add_order", ORDER)

    everything = (await api.get("/v1/calls")).json()
    assert (len(everything["items"]), everything["next"]) == (4, None)
    first = (await api.get("/v1/calls?tool=get_order&limit=2")).json()
    rest = (await api.get(f"/v1/calls?tool=get_order&limit=2&cursor={first['next']}")).json()
    assert [len(first["items"]), len(rest["items"]), rest["next"]] == [2, 1, None]
    assert len((await api.get("/v1/calls?category=write&outcome=ok")).json()["items"]) == 1
    assert (await api.get("/v1/calls?from=2099-01-01T00:00:00Z")).json()["items"] == []
    assert len((await api.get("/v1/calls?to=2099-01-01T00:00:00Z", who="ana")).json()["items"]) == 4


ODD_QUERIES = (
    "limit=0",
    "limit=501",
    "limit=many",
    "from=yesterday",
    "from=2026-01-01T00:00:00",
    "category=reed",
    "toool=x",
    "app=a&app=b",
    "user=",
)


async def test_query_that_cannot_be_meant_is_refused(api: Api) -> None:
    """A mistyped filter must not answer as if it had been none."""
    for query in ODD_QUERIES:
        problem(await api.get(f"/v1/calls?{query}"), 422, "invalid_request")


async def test_cursor_of_nobody_is_a_problem(api: Api) -> None:
    """It was not given out here."""
    assert (await api.get("/v1/calls?cursor=abc")).status_code in {400, 422}


async def test_first_answer_decides_and_the_others_see_it(api: Api) -> None:
    """The same answer again is 200 with it, any other 409 with it (contract section 9)."""
    call = (await api.call("refund", ORDER)).json()
    path = f"/v1/inputs/{call['inputId']}"
    opened = (await api.get(path)).json()
    assert (opened["status"], opened["callId"]) == ("open", call["callId"])
    assert [row["id"] for row in (await api.get("/v1/inputs?status=open")).json()["items"]] == [
        call["inputId"]
    ]
    stale = problem(
        await api.post(f"{path}/answer", {"decision": "approve", "digest": "x"}),
        409,
        "stale_digest",
    )
    assert stale["input"]["status"] == "open"
    yes = {"decision": "approve", "digest": opened["digest"]}
    assert (await api.post(f"{path}/answer", yes)).json()["decision"] == "approve"
    assert (await api.post(f"{path}/answer", yes)).status_code == 200
    late = problem(await api.post(f"{path}/answer", {"decision": "deny"}), 409, "already_answered")
    assert late["input"]["decision"] == "approve"
    await api.stage.settled()


async def test_agents_token_cannot_answer_and_a_backend_names_the_user(api: Api) -> None:
    """The model never can (contract section 9)."""
    call = (await api.call("refund", ORDER)).json()
    path = f"/v1/inputs/{call['inputId']}/answer"

    problem(await api.post(path, {"decision": "approve"}, who="ana"), 403, "forbidden")
    problem(await api.post(path, {"decision": "approve"}, who="backend"), 403, "forbidden")
    denied = await api.post(
        path, {"decision": "deny", "note": "Too much", "user": "ana"}, who="backend"
    )
    assert (denied.status_code, denied.json()["note"]) == (200, "Too much")
    await api.stage.settled()
    record = (await api.get(f"/v1/calls/{call['callId']}")).json()
    assert (record["outcome"], record["error"]["code"]) == ("denied", "denied")


ODD_ANSWERS: tuple[dict[str, Any], ...] = (
    {},
    {"decision": "maybe"},
    {"decision": "approve", "cancel": True},
    {"press": "connect"},
    {"skip": True},
    {"cancel": False},
    {"decision": "approve", "remember": "session"},
    {"decision": "approve", "extra": 1},
)


async def test_answer_that_says_nothing_or_two_things_is_refused(api: Api) -> None:
    """And the input is still open."""
    call = (await api.call("refund", ORDER)).json()
    path = f"/v1/inputs/{call['inputId']}"
    for body in ODD_ANSWERS:
        problem(await api.post(f"{path}/answer", body), 422, "invalid_request")
        assert (await api.get(path)).json()["status"] == "open"
    refused = problem(await api.post(f"{path}/answer", {"skip": True}), 422, "invalid_request")
    assert "An input of kind approval takes no skip. Answer it with" in refused["detail"]


async def test_input_without_a_session_is_in_none(api: Api) -> None:
    """The other two ways to answer name a session, and hold the input to it."""
    call = (await api.call("refund", ORDER)).json()
    input_id = call["inputId"]
    yes = {"decision": "approve"}

    problem(await api.post(f"/v1/sessions/s1/human-input/{input_id}", yes), 404, "not_found")
    resume = {**yes, "threadId": "s1", "inputId": input_id}
    problem(await api.post("/chat/resume", resume), 404, "not_found")


async def test_key_is_shown_once_and_stops_when_revoked(api: Api) -> None:
    """A revoked key is 401 like a wrong one."""
    made = (await api.post("/v1/keys", {"role": "backend", "name": "ci"})).json()
    api.keys["ci"] = made["key"]
    assert (await api.get("/v1/apps", who="ci")).status_code == 200
    row = next(one for one in (await api.get("/v1/keys")).json()["items"] if one["name"] == "ci")
    assert "key" not in row
    assert made["key"].startswith(row["prefix"])

    assert (await api.send("DELETE", f"/v1/keys/{made['id']}")).status_code == 204
    problem(await api.get("/v1/apps", who="ci"), 401, "unauthorized")


async def test_token_is_read_and_revoked_by_its_id(api: Api) -> None:
    """A key is no token, and is not revoked as one."""
    body = {"user": "bob", "apps": ["acme"], "ttlS": 60, "tools": ["get_*"]}
    made = await api.post("/v1/tokens", body, who="backend")
    assert made.status_code == 201
    path = f"/v1/tokens/{made.json()['id']}"
    read = (await api.get(path)).json()
    assert (read["user"], read["tools"], "token" in read) == ("bob", ["get_*"], False)
    assert (await api.send("DELETE", path)).status_code == 204
    key = next(
        row for row in (await api.get("/v1/keys")).json()["items"] if row["role"] == "backend"
    )
    problem(await api.send("DELETE", f"/v1/tokens/{key['id']}"), 404, "not_found")


async def test_policy_needs_the_etag_too(api: Api) -> None:
    """Number 0 and an empty document where none was ever put."""
    read = await api.get("/v1/policy")
    assert (read.json()["number"], read.json()["policy"]) == (0, {})
    rules = {"rules": [{"match": {"tool": "add_*"}, "then": "deny", "reason": "No"}]}
    problem(await api.put("/v1/policy", rules), 428, "precondition_required")
    match = {"if-match": read.headers["etag"]}
    put = await api.put("/v1/policy", rules, headers=match)
    assert put.json()["number"] == 1
    problem(await api.put("/v1/policy", rules, headers=match), 412, "precondition_failed")
    bad = {"rules": [{"then": "perhaps"}]}
    newer = {"if-match": put.headers["etag"]}
    problem(await api.put("/v1/policy", bad, headers=newer), 422, "invalid_request")
    problem(await api.call("add_order", ORDER), 403, "denied")


async def test_audit_is_listed_and_exported(api: Api) -> None:
    """Who did what: a page of JSON, or all of it as NDJSON."""
    kinds = {one["kind"] for one in (await api.get("/v1/audit")).json()["items"]}
    assert {"app.submitted", "app.approved", "grant.given", "key.created"} <= kinds
    one = (await api.get("/v1/audit?kind=app.approved&limit=1")).json()["items"]
    assert one[0]["subject"] == "app/acme/1"

    exported = await api.get("/v1/audit", headers={"accept": "application/x-ndjson"})
    assert exported.headers["content-type"] == "application/x-ndjson"
    lines = [json.loads(line) for line in exported.text.splitlines()]
    assert len(lines) == len((await api.get("/v1/audit?limit=500")).json()["items"])


async def test_fetched_catalog_waits_for_a_reviewer(api: Api) -> None:
    """`catalog: review`: a new tool waits until the snapshot is let in (contract section 7)."""
    more = {**GET, "name": "list_orders", "parameters": {"type": "object", "properties": {}}}
    more["endpoint"] = {"method": "GET", "path": "/orders"}
    app = {
        **SHOP,
        "toolsUrl": "https://api.acme.example/tools",
        "baseUrl": "https://api.acme.example",
    }
    app["ceiling"] = {"category": "read", "dangerLevel": "safe"}
    match = {"if-match": (await api.get("/v1/policy")).headers["etag"]}
    await api.put("/v1/policy", {"catalog": "review"}, headers=match)
    await api.post("/v1/apps", app)
    approved = await api.post("/v1/apps/shop/versions/1/approve", {"consent": "workspace"})
    assert approved.status_code == 200, approved.text
    api.stage.server.egress.answers = [answer([GET, more])]

    before = (await api.get("/v1/apps/shop/catalog")).json()
    assert [tool["name"] for tool in before["tools"]] == ["get_order"]
    assert [one["tool"] for one in before["sinceReview"]] == ["list_orders"]
    assert [one["name"] for one in before["dropped"]] == ["list_orders"]
    path = "/v1/apps/shop/catalog/accept"
    accepted = await api.post(path, {"snapshot": before["snapshot"]})
    assert accepted.status_code == 204
    after = (await api.get("/v1/apps/shop/catalog")).json()
    assert {tool["name"] for tool in after["tools"]} == {"get_order", "list_orders"}
    assert after["accepted"] == before["snapshot"]
    assert "snapshot" not in (await api.get("/v1/apps/acme/catalog", who="ana")).json()


async def test_odd_ids_and_numbers_are_refused_and_no_fault_of_ours(api: Api) -> None:
    """NUL, huge numbers, empty segments: a clear answer on every database."""
    for path in (
        "/v1/apps/%00",
        "/v1/apps/acme/versions/0",
        "/v1/apps/acme/versions/-1",
        f"/v1/apps/acme/versions/{2**70}",
        "/v1/apps/acme/versions/%C2%B2",
        "/v1/calls/%ff%fe",
        "/v1/inputs/%2e%2e",
        f"/v1/calls/{'x' * 5_000}",
    ):
        problem(await api.get(path), 404, "not_found")
    for query in ("user=%00", "cursor=%00", f"limit={2**70}"):
        problem(await api.get(f"/v1/calls?{query}"), 422, "invalid_request")
    grant = {"app": "acme", "user": "ana", "version": 1}
    for body in ({**grant, "app": "a\0"}, {**grant, "version": 2**70}, {**grant, "version": True}):
        problem(await api.post("/v1/grants", body), 422, "invalid_request")
    problem(await api.post("/v1/apps/acme/suspend", {"reason": "\0"}), 422, "invalid_request")


async def test_credential_stands_nowhere_in_the_clear(api: Api, store_url: str) -> None:
    """A canary is found nowhere but sealed, and on the wire to its own host."""
    canary = "canary-7f3a91"
    await api.put("/v1/connections/acme/ana", {"type": "bearer", "token": canary})
    await api.put("/v1/apps/acme/env/main/production", {"PARTNER_KEY": canary})
    assert (await api.call("add_order", ORDER)).json()["outcome"] == "ok"

    sent = dict(api.stage.egress.sent[0].headers)
    assert sent["Authorization"] == f"Bearer {canary}"
    assert all(canary.encode() not in data for data in databases.kept(store_url).values())
    for path in ("/v1/calls", "/v1/audit", "/v1/connections", "/metrics", "/v1/apps/acme/catalog"):
        assert canary not in (await api.get(path)).text
