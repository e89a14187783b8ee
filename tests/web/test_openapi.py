"""The OpenAPI document is what is served: every route of it is called from it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from remit.web import descriptions
from remit.web.app import ROUTES
from remit.web.openapi import document
from remit.web.services import HttpSettings
from tests.gateway.nodes import GET
from tests.gateway.server import shop
from tests.web.api import PUBLIC, Api, problem

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "http-api.md"
DESCRIBED = document(ROUTES, HttpSettings(public_url=PUBLIC, version="0.1.0"))
ORDER = {"name": "chair", "amount": 1}
SHOP: dict[str, Any] = {**shop(GET), "id": "shop", "name": "Shop"}
BODIES: dict[str, Any] = {
    "submitApp": SHOP,
    "changeApp": {**shop(GET), "description": "Changed"},
    "approveVersion": {"consent": "workspace"},
    "rejectVersion": {"reason": "No"},
    "suspendApp": {"reason": "No"},
    "acceptCatalog": {"snapshot": "0" * 64},
    "putEnv": {"PARTNER_KEY": "v"},
    "giveGrant": {"app": "acme", "user": "ana", "version": 1},
    "putConnection": {"type": "bearer", "token": "tok"},
    "callTool": {"user": "ana", "args": ORDER},
    "answerInput": {"decision": "approve"},
    "answerInSession": {"decision": "approve"},
    "resumeChat": {"decision": "approve", "threadId": "s1", "inputId": "inp"},
    "createToken": {"user": "ana", "apps": ["acme"], "ttlS": 60},
    "putPolicy": {"rules": []},
    "createKey": {"role": "backend", "name": "ci"},
    "putDevice": {"user": "ana", "name": "Phone"},
    "createSession": {"apps": ["acme"], "user": "ana"},
    "changeSession": {"instructions": "Be brief."},
    "sendMessage": {"text": "Hello"},
    "announceClient": {"tools": [], "widgets": []},
    "claimCall": {"clientId": "tab-1"},
    "giveResult": {"claim": "clm_1", "result": None},
}
# An app without a toolsUrl has no fetched catalog (test_routes has one that has), and a session
# in which no run was has no call of a client's tool (test_clients has one).
NOT_FOUND = {"acceptCatalog", "claimCall", "giveResult"}
#: Of a session, whose id stands in the body.
IN_BODY = {"resumeChat"}


@dataclass(frozen=True)
class Operation:
    """One operation of the document."""

    path: str
    method: str
    said: dict[str, Any]

    @property
    def name(self) -> str:
        """Its ``operationId``."""
        return self.said["operationId"]

    @property
    def has_key(self) -> bool:
        """Whether it needs a key."""
        return self.said.get("security") != []


def operations() -> Iterator[Operation]:
    """All of the document."""
    for path, methods in DESCRIBED["paths"].items():
        for method, said in methods.items():
            yield Operation(path, method.upper(), said)


ALL = list(operations())
PATHS = {one.name: one.path for one in ALL}
LOCKED = [one for one in ALL if one.has_key]
#: Whose body names something of the workspace, which its answer would tell of.
NAMING = {"giveGrant", "createSession", "resumeChat"}


async def _values(api: Api, name: str) -> dict[str, str]:
    """What stands in the path of an operation, made so that it is there."""
    found = {
        "app": "acme", "version": "1", "collection": "main", "environment": "production",
        "user": "ana", "tool": "add_order", "client": "tab-1", "call": "call_none",
        "device": "ph-1",
    }  # fmt: skip
    if name in IN_BODY or "{session}" in PATHS[name]:
        found["session"] = await api.session()
    if name in {"approveVersion", "rejectVersion"}:
        await api.post("/v1/apps", SHOP)
        found["app"] = "shop"
    if name == "readDiff":
        found["version"] = "2"
        await api.post("/v1/apps", {**shop(GET), "baseUrl": "https://api2.acme.example"})
    if name == "readCall":
        found["call"] = (await api.call("add_order", ORDER)).json()["callId"]
    if name in {"readInput", "answerInput"}:
        found["input"] = (await api.call("refund", ORDER)).json()["inputId"]
    if name in {"answerInSession", "resumeChat"}:
        found["input"] = await api.waiting(found["session"])
    if name == "revokeGrant":
        found["grant"] = (await api.get("/v1/grants")).json()["items"][0]["id"]
    return {**found, **await _made(api, name)}


async def _made(api: Api, name: str) -> dict[str, str]:
    """A key, a token or a device of an operation's own."""
    if name in {"readToken", "revokeToken"}:
        body = {"user": "ana", "apps": ["acme"], "ttlS": 60}
        return {"token": (await api.post("/v1/tokens", body)).json()["id"]}
    if name == "revokeKey":
        made = await api.post("/v1/keys", {"role": "backend", "name": "old"})
        return {"key": made.json()["id"]}
    if name == "deleteDevice":
        await api.device("ph-2")
        return {"device": "ph-2"}
    return {}


def _body(name: str, values: dict[str, str]) -> Any:  # noqa: ANN401 (any JSON value)
    if name in IN_BODY:
        return {**BODIES[name], "threadId": values["session"], "inputId": values["input"]}
    return BODIES.get(name)


async def _headers(api: Api, operation: Operation, path: str) -> dict[str, str]:
    if operation.name == "readEvents":
        # Else it is a stream, which test_stream reads.
        return {"accept": "application/json"}
    named = {one["name"] for one in operation.said["parameters"] if one["in"] == "header"}
    if "If-Match" not in named:
        return {}
    return {"if-match": (await api.get(path)).headers["etag"]}


def _anything(operation: Operation) -> dict[str, str]:
    """Path parameters of what is not there."""
    return dict.fromkeys(re.findall(r"\{(\w+)\}", operation.path), "1")


def _url(operation: Operation, values: dict[str, str]) -> str:
    required = [
        one for one in operation.said["parameters"] if one["in"] == "query" and one["required"]
    ]
    query = "&".join(f"{one['name']}={one['schema']['enum'][0]}" for one in required)
    path = re.sub(r"\{(\w+)\}", lambda found: values[found[1]], operation.path)
    return f"{path}?{query}" if query else path


@pytest.mark.parametrize("operation", ALL, ids=lambda one: one.name)
async def test_every_route_answers_as_the_document_says(api: Api, operation: Operation) -> None:
    """Its status is one of the document's, and its answer is of the type that stands there."""
    values = await _values(api, operation.name)
    url = _url(operation, values)
    who = "operator" if operation.has_key else None
    headers = await _headers(api, operation, url)

    response = await api.send(
        operation.method, url, _body(operation.name, values), who=who, headers=headers
    )

    await api.stage.settled()
    responses = operation.said["responses"]
    if operation.name in NOT_FOUND:
        found = problem(response, 404, "not_found")
        schema = responses["default"]["content"]["application/problem+json"]["schema"]
        _hold(schema, found)
        return
    assert str(response.status_code) in responses, response.text
    content = responses[str(response.status_code)].get("content")
    if content is None:
        assert response.content == b""
        return
    media = response.headers["content-type"].partition(";")[0]
    assert media in content
    if media == "application/json":
        _hold(content[media]["schema"], response.json())


async def test_no_route_opens_without_a_good_key(bare: Api) -> None:
    """401, whatever else is wrong with the request; a key in the query is none."""
    good = bare.keys["operator"]
    changed = good[:-1] + ("x" if good[-1] != "x" else "y")
    for operation in LOCKED:
        url = _url(operation, _anything(operation))
        for headers in (
            {},
            {"authorization": "Bearer rk_operator_wrong"},
            {"authorization": f"Basic {good}"},
            {"authorization": f"Bearer {changed}"},
        ):
            response = await bare.send(operation.method, url, who=None, headers=headers)
            problem(response, 401, "unauthorized")
            assert response.headers["www-authenticate"] == "Bearer"
        sign = "&" if "?" in url else "?"
        response = await bare.send(operation.method, f"{url}{sign}key={good}", who=None)
        problem(response, 401, "unauthorized")


async def test_roles_are_those_of_the_document(bare: Api) -> None:
    """A role that does not stand there is 403, before the body is looked at."""
    for operation in LOCKED:
        url = _url(operation, _anything(operation))
        for who, role in (
            ("operator", "operator"),
            ("backend", "backend"),
            ("token", "user"),
            ("client", "client"),
        ):
            response = await bare.send(operation.method, url, who=who)
            refused = response.status_code == 403 and response.json()["code"] == "forbidden"
            assert refused is (role not in operation.said["x-roles"]), (operation.name, role)


async def test_nothing_of_another_workspace_is_there(api: Api) -> None:
    """Another workspace's key gets 404, or an empty list, for all that is in this one."""
    for operation in LOCKED:
        if operation.name in {"submitApp", "putDevice"}:
            continue  # It makes one of the same id in the other workspace: a neighbour's own.
        values = await _values(api, operation.name)
        url, body = _url(operation, values), _body(operation.name, values)
        headers = {"if-match": "*"}
        response = await api.send(operation.method, url, body, who="other", headers=headers)
        if re.search(r"\{(?!tool)", operation.path) or operation.name in NAMING:
            problem(response, 404, "not_found")
        elif operation.method == "GET" and "items" in response.json():
            assert "acme" not in response.text, operation.name
    await api.stage.settled()
    assert (await api.get("/v1/apps/acme")).json()["inForce"] == 1


async def test_body_that_is_not_the_described_one_is_refused(bare: Api) -> None:
    """400 for what is no JSON, 422 for another shape or an unknown key, 415, 413."""

    async def sent(operation: Operation, content: bytes, media: str = "application/json") -> Any:  # noqa: ANN401 (a response)
        headers = {"content-type": media, "if-match": "*"}
        url = _url(operation, _anything(operation))
        return await bare.send(operation.method, url, content=content, headers=headers)

    form = "application/x-www-form-urlencoded"
    large = b" " * (17 * 1024 * 1024)
    for one in LOCKED:
        if "requestBody" not in one.said:
            continue
        problem(await sent(one, b'{"a":'), 400, "malformed_body")
        problem(await sent(one, b'{"a":1,"a":2}'), 400, "malformed_body")
        problem(await sent(one, b"a=1", form), 415, "unsupported_media_type")
        problem(await sent(one, large), 413, "body_too_large")
        if one.name not in {"submitApp", "changeApp", "putPolicy", "putEnv"}:
            body = {**BODIES.get(one.name, {}), "unknownKey": 1}
            problem(await sent(one, json.dumps(body).encode()), 422, "invalid_request")
            problem(await sent(one, b"[]"), 422, "invalid_request")


def test_document_describes_every_route_with_the_type_it_decodes() -> None:
    """Hot routes included (contract section 10)."""
    described = {(one.method, one.path) for one in ALL}
    assert described == {(route.method, route.path) for route in ROUTES}
    assert ("POST", "/v1/tools/{app}/{tool}/call") in described
    body = DESCRIBED["components"]["schemas"]["CallBody"]
    assert body["additionalProperties"] is False
    assert set(body["properties"]) == {"user", "args", "pins"}


def test_names_are_unique_and_references_resolve() -> None:
    """A generator of clients stumbles over either."""
    names = [one.name for one in ALL]
    assert len(set(names)) == len(names)
    for reference in re.findall(r'"#/components/schemas/(\w+)"', json.dumps(DESCRIBED)):
        assert reference in DESCRIBED["components"]["schemas"]


def test_every_property_and_parameter_is_described_in_a_sentence() -> None:
    """Of every body, answer and list; each ends with a full stop, as a sentence does."""
    found = [
        *((one["name"], one.get("description")) for op in ALL for one in op.said["parameters"]),
        *_properties(DESCRIBED),
    ]

    assert len(found) > 200
    assert [name for name, words in found if not words] == []
    assert [words for _, words in _properties(DESCRIBED) if not words.endswith(".")] == []
    assert "409 stale_digest" in _described("AnswerBody", "digest")
    assert "409 stale_digest" in _described("ApproveBody", "digest")


def test_no_description_is_left_over() -> None:
    """A description of a property that is no more is one that nobody reads."""
    names = {name for name, _ in _properties(DESCRIBED)}
    named = {one["name"] for op in ALL for one in op.said["parameters"]}

    assert {name for _, name in descriptions.OWN} | set(descriptions.EVERYWHERE) <= names | named
    assert set(descriptions.IN_PATH) <= named


def test_document_names_no_page_that_its_reader_has_not() -> None:
    """Every text stands for itself."""
    assert "contract" not in json.dumps(DESCRIBED)
    assert "``" not in json.dumps(DESCRIBED)


def test_reference_page_lists_what_is_served() -> None:
    """`docs/reference/http-api.md` has every route with its roles, and none that is not there."""
    rows = re.findall(r"^\| `(\w+) (/\S+)` \| ([^|]+) \|", PAGE.read_text("utf-8"), re.M)
    written = {(method, path, keys.strip()) for method, path, keys in rows}
    served = {(one.method, one.path, ", ".join(one.said.get("x-roles", ["none"]))) for one in ALL}
    assert written == served


def _properties(schema: object) -> Iterator[tuple[str, str]]:
    """Every property of the document, however deep it stands, with its description."""
    if isinstance(schema, dict):
        found: dict[str, Any] = schema
        for name, one in found.get("properties", {}).items():
            yield name, one.get("description", "")
        for one in found.values():
            yield from _properties(one)
    elif isinstance(schema, list):
        for one in schema:
            yield from _properties(one)


def _described(kind: str, name: str) -> str:
    return DESCRIBED["components"]["schemas"][kind]["properties"][name]["description"]


def _hold(schema: dict[str, Any], value: object) -> None:
    whole = {**schema, "components": DESCRIBED["components"]}
    jsonschema_rs.validator_for(whole).validate(value)
