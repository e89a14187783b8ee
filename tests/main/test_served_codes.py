"""The pages of the codes that need a server show what one really answers, word for word."""

from __future__ import annotations

import http.client
import json
import re
import signal
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.catalog.documents import definition, endpoint_tool, parameters
from tests.docs.console import assert_holds
from tests.main import served_cards, served_clients, served_sessions
from tests.main.processes import WAIT_S, run, serving
from tests.main.scripted import ScriptedApp
from tests.main.test_code_pages import SERVED, sections
from tests.main.test_serving import ALLOW, NEVER_MS, Api

# These take a database or a key that goes away under a running server.
NOT_ASKED = {"store_unavailable", "vault_unavailable"}
ID = re.compile(r"\b(call|inp|key|req|run|ses)_\w+")
CALL = "/v1/tools/shop/{}/call"


def shop(url: str) -> dict[str, Any]:
    """The app of the pages: one tool reads an order, one pays it back."""
    tools = [
        endpoint_tool(
            "get_order", parameters=parameters(), endpoint={"method": "GET", "path": "/order"}
        ),
        endpoint_tool(
            "refund_order",
            category="write",
            dangerLevel="safe",
            parameters=parameters(),
            endpoint={"method": "POST", "path": "/refund"},
        ),
    ]
    document: dict[str, Any] = definition(*tools, baseUrl=url, auth={"type": "none"})
    ceiling = {"category": "write", "dangerLevel": "safe"}
    return {**document, "id": "shop", "name": "Shop", "ceiling": ceiling}


def raw(api: Api, method: str, path: str, body: bytes = b"", **headers: str) -> Any:  # noqa: ANN401 - JSON
    """A request as it is given, without a key; the answer's document."""
    host = urlsplit(api.url)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    with closing(
        http.client.HTTPConnection(host.hostname or "", host.port, timeout=WAIT_S)
    ) as connection:
        connection.request(method, path, body, sent)
        return json.loads(connection.getresponse().read())


def reviewed(api: Api, backend: Api, url: str) -> Iterator[Any]:
    """What a review is refused, and a call before there was one."""
    versions = "/v1/apps/shop/versions"
    one = api.done("POST", "/v1/apps", shop(url))
    yield backend.ask("POST", CALL.format("get_order"), {"user": "ana", "args": {}}).json
    more = {"ceiling": {"category": "action", "dangerLevel": "safe"}}
    yield api.ask("POST", f"{versions}/1/approve", more).json
    yield backend.ask("POST", f"{versions}/1/approve", {}).json
    api.done("POST", f"{versions}/1/approve", {})
    yield api.ask("POST", f"{versions}/1/approve", {}).json
    backend.done("POST", "/v1/grants", {"app": "shop", "user": "ana", "version": 1})
    two = {**shop(url), "name": "Shop Two"}
    assert api.ask("PUT", "/v1/apps/shop", two, {"If-Match": '"2"'}).json["change"] == "version"
    shown = {"digest": one["remitDigest"]}
    yield api.ask("POST", f"{versions}/2/approve", shown).json
    api.done("POST", f"{versions}/2/approve", {})
    yield backend.ask("POST", CALL.format("get_order"), {"user": "ana", "args": {}}).json
    backend.done("POST", "/v1/grants", {"app": "shop", "user": "ana", "version": 2})
    api.done("POST", "/v1/apps/shop/suspend", {"reason": "it leaked a key"})
    yield backend.ask("POST", CALL.format("get_order"), {"user": "ana", "args": {}}).json
    api.done("POST", "/v1/apps/shop/resume", {})


def of_http(api: Api) -> Iterator[Any]:
    """What is refused before a use case is asked."""
    key = f"Bearer {api.key}"
    path = CALL.format("get_order")
    yield api.ask("GET", "/v1/apps/shpo").json
    yield raw(api, "GET", "/v1/calls")
    yield raw(api, "DELETE", "/v1/calls", Authorization=key)
    yield raw(api, "GET", "/v1/calls", Authorization=key, Host="other.example")
    yield raw(api, "POST", path, b"a: 1", Authorization=key, Content_Type="text/plain")
    twice = b'{"user": "ana", "user": "bo", "args": {}}'
    yield raw(api, "POST", path, twice, Authorization=key, Content_Type="application/json")
    large = json.dumps({"user": "ana", "args": {"x": "x" * 262_144}}).encode()
    yield raw(api, "POST", path, large, Authorization=key, Content_Type="application/json")


def waited(api: Api, backend: Api, store: Path) -> Iterator[Any]:
    """What becomes of changes of the policy, of answers and of limits."""
    asks = {"rules": [{"match": {"tool": "refund_order"}, "then": "ask", "reason": "Money"}]}
    yield api.ask("PUT", "/v1/policy", asks).json
    assert api.ask("PUT", "/v1/policy", asks, {"If-Match": '"0"'}).status == 200
    yield api.ask("PUT", "/v1/policy", asks, {"If-Match": '"0"'}).json
    call = {"user": "ana", "args": {}}
    waiting = backend.ask("POST", CALL.format("refund_order"), call).json
    answer = f"/v1/inputs/{waiting['inputId']}/answer"
    backend.done("POST", answer, {"decision": "deny", "user": "ana"})
    yield backend.ask("POST", answer, {"decision": "approve", "user": "ana"}).json

    waiting = backend.ask("POST", CALL.format("refund_order"), call).json
    with closing(sqlite3.connect(store)) as database, database:
        database.execute("update input set expires_at = 1 where id = ?", (waiting["inputId"],))
    backend.ask("POST", f"/v1/inputs/{waiting['inputId']}/answer", {"decision": "approve"})
    yield ended(backend, waiting["callId"])

    none = {"limits": {"tokensPerUserDay": 0}}
    assert api.ask("PUT", "/v1/policy", none, {"If-Match": '"1"'}).status == 200
    yield backend.ask("POST", CALL.format("get_order"), call).json


def ended(api: Api, call: str) -> Any:  # noqa: ANN401 - JSON
    """The record of a call, once it has ended."""
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        record = api.done("GET", f"/v1/calls/{call}")
        if "error" in record:
            return record
        threading.Event().wait(0.02)
    pytest.fail(f"{call} did not end")


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """An answer of a real server for each code."""
    folder = tmp_path_factory.mktemp("served")
    secrets = [
        run(folder, "keys", "create", "--role", role).out.strip()
        for role in ("operator", "backend")
    ]
    found: list[Any] = []
    refund = (CALL.format("refund_order"), {"user": "ana", "args": {}})
    again = {"Idempotency-Key": "one"}
    with ScriptedApp([{"status": 200, "delayMs": NEVER_MS}]) as app:
        with serving(folder, **ALLOW) as server, ThreadPoolExecutor() as threads:
            api, backend = (Api(url=server.url, key=secret) for secret in secrets)
            found += [*reviewed(api, backend, app.url), *of_http(api)]
            found.append(served_sessions.without_model(backend))
            backend.done("PUT", "/v1/devices/phone-1", {"user": "ana", "name": "Phone"})
            bo = {"user": "bo", "name": "Phone"}
            found.append(backend.ask("PUT", "/v1/devices/phone-1", bo).json)
            first = threads.submit(backend.ask, "POST", *refund, again)
            assert app.asked.wait(WAIT_S)
            found.append(backend.ask("POST", *refund, again).json)
            found.append(backend.ask("POST", refund[0], {"user": "bo", "args": {}}, again).json)
            server.end(signal.SIGKILL)
            assert isinstance(first.exception(), Exception)
        with (
            served_clients.model() as model,
            serving(folder, **ALLOW, **served_clients.settings(model.base_url)) as server,
        ):
            api, backend = (Api(url=server.url, key=secret) for secret in secrets)
            found += [
                *served_clients.of_clients(backend),
                *served_sessions.of_sessions(backend),
                *served_sessions.of_models(backend),
            ]
            with ScriptedApp([served_cards.CARD]) as handler:
                found.append(served_cards.skipped(api, backend, handler.url))
            until = time.monotonic() + WAIT_S
            while (answer := backend.ask("POST", *refund, again)).status != 200:
                assert time.monotonic() < until, answer
                threading.Event().wait(0.05)
            found.append(answer.json)
            found += waited(api, backend, folder / "remit.db")
    return {code_of(one): one for one in found}


def code_of(answer: Any) -> str:  # noqa: ANN401 - JSON
    """The code of a problem document, of a call's record, or of the event that ends a run."""
    if "code" in answer:
        return str(answer["code"])
    return str(answer.get("data", answer)["error"]["code"])


def without_ids(value: object) -> Any:  # noqa: ANN401 - JSON
    """The value with every id as its kind alone."""
    return json.loads(ID.sub(r"\1_…", json.dumps(value)))


def test_every_code_that_needs_a_server_was_asked_of_one(answers: Mapping[str, Any]) -> None:
    """But those whose cause is not one that a request can make."""
    assert set(answers) == set(SERVED) - NOT_ASKED


@pytest.mark.parametrize("code", [code for code in SERVED if code not in NOT_ASKED])
def test_page_shows_what_the_server_answers(code: str, answers: Mapping[str, Any]) -> None:
    """Each member that the page shows, word for word but for ids; it may leave some out."""
    block = re.findall(r"^```json\n(.*?)^```$", sections(code)["An example"], re.M | re.S)[0]
    assert_holds(without_ids(json.loads(block)), without_ids(answers[code]))
