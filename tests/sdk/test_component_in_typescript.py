"""A component written with the TypeScript kit, over real HTTP, as a Remit server would call it."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.kit.tokens import ATTACKER, CLAIMS, JWKS, es256, made
from tests.sdk.node import node

AUDIENCE = "bookmarks/api"
PAGES = "http://127.0.0.1:8123"


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - any JSON value
        """The body as JSON."""
        return json.loads(self.text)


class Component:
    """The component and the issuer that it believes."""

    def __init__(self, issuer: str, port: int) -> None:
        self.issuer = issuer
        self._port = port

    def call(
        self,
        tool: str,
        *,
        source: str = "thread",
        token: str | None = None,
        brand: str = "Kazzle",
        method: str = "POST",
        **claims: object,
    ) -> Answer:
        """One request, signed as the server signs."""
        now = int(time.time())
        given = {"iss": self.issuer, "aud": AUDIENCE, "iat": now, "exp": now + 300, **claims}
        signed = made(claims={**CLAIMS, **given}) if token is None else token
        context = (
            {"source": "thread", "threadId": "s_7"} if source == "thread" else {"source": source}
        )
        headers = {
            "Authorization": f"Bearer {signed}",
            f"{brand}-Tool-Context": json.dumps(context),
            "Content-Type": "application/json",
        }
        body = json.dumps({"folder": "läs ☕"}) if method == "POST" else None
        return self.ask(method, f"/tools/{tool}", body, headers if method == "POST" else {})

    def ask(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> Answer:
        """One request as it is given."""
        connection = HTTPConnection("127.0.0.1", self._port, timeout=30)
        try:
            connection.request(method, path, None if body is None else body.encode(), headers)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, found, answer.read().decode())
        finally:
            connection.close()


class _KeySet(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """The key set, where a server publishes it."""
        body = json.dumps(JWKS).encode()
        self.send_response(200 if self.path == "/.well-known/jwks.json" else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Nothing."""


@pytest.fixture(scope="module")
def component() -> Iterator[Component]:
    """Both running, on ports of their own."""
    command = [node(), str(Path(__file__).parent / "component.mjs")]
    with ThreadingHTTPServer(("127.0.0.1", 0), _KeySet) as keys:
        threading.Thread(target=keys.serve_forever, daemon=True).start()
        issuer = f"http://127.0.0.1:{keys.server_port}"
        settings = {
            "KAZZLE_APP_ISSUER": issuer,
            "KAZZLE_APP_AUDIENCE": AUDIENCE,
            "KAZZLE_APP_COMPONENT_URL": PAGES,
        }
        with subprocess.Popen(
            command,
            env={"PATH": os.environ["PATH"], **settings},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            try:
                assert process.stdout is not None
                yield Component(issuer, int(process.stdout.readline()))
            finally:
                process.kill()
                keys.shutdown()


@pytest.mark.promise("K-28")
def test_a_text_is_an_answer(component: Component) -> None:
    """And the input reaches the function of its tool."""
    answer = component.call("say")

    assert answer.status == 200
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text == "Saved in läs ☕."


@pytest.mark.promise("K-29", "K-46")
def test_a_result_has_three_channels(component: Component) -> None:
    """The page's address is made from the component's own."""
    answer = component.call("show")

    assert answer.status == 200
    assert answer.json == {
        "content": "Three bookmarks.",
        "markdown": "**Three** bookmarks.",
        "embedUrl": f"{PAGES}/page?day=1",
    }


@pytest.mark.promise("K-22", "K-23")
def test_a_handler_knows_whom_it_serves_and_from_where(component: Component) -> None:
    """User and installation from the token, the thread from the header."""
    seen = component.call("whose", sub="ünal", installation="inst_9").json

    assert seen["identity"]["user"] == "ünal"
    assert seen["identity"]["installation"] == "inst_9"
    assert seen["identity"]["workspace"] == "t1"
    assert seen["context"] == {"source": "thread", "threadId": "s_7"}


@pytest.mark.promise("K-25")
@pytest.mark.parametrize("brand", ["Kazzle", "Remit", "acme-co"])
def test_a_thread_is_told_from_the_api_under_any_brand(component: Component, brand: str) -> None:
    """One handler asks with a card in a thread, and answers with an error over the API."""
    thread = component.call("ask_politely", brand=brand)
    api = component.call("ask_politely", brand=brand, source="api")

    assert thread.json["description"] == "In s_7."
    assert api.status == 409
    assert api.json == {"code": "connect_required", "error": "Connect the mail first."}


@pytest.mark.promise("K-37", "K-40")
def test_a_card_is_written_as_the_contract_says(component: Component) -> None:
    """Title and buttons, each with id, label, variant, input and perhaps a target."""
    answer = component.call("ask")

    assert answer.status == 200
    assert answer.json == {
        "type": "action_required",
        "title": "Connect the mail",
        "elements": [
            {
                "type": "button",
                "id": "connect",
                "label": "Connect",
                "variant": "secondary",
                "input": {"folder": "inbox"},
                "target": {
                    "type": "app",
                    "component": "api",
                    "path": "/tools/start",
                    "method": "POST",
                    "body": "${input}",
                },
            }
        ],
    }
    assert component.call("start").text == "Connected läs ☕."


@pytest.mark.promise("K-38")
def test_a_card_never_leaves_for_the_api(component: Component) -> None:
    """Where the author forgot to ask, the kit gives an ordinary error."""
    answer = component.call("ask", source="api")

    assert answer.status == 409
    assert answer.json["code"] == "action_unavailable"
    assert "Connect the mail" in answer.json["error"]


@pytest.mark.promise("K-39")
def test_an_error_of_the_handler_leaves_as_it_is(component: Component) -> None:
    """Status, code and message."""
    answer = component.call("fail")

    assert (answer.status, answer.json) == (
        403,
        {"code": "too_many", "error": "The folder is full."},
    )


def test_a_stranger_is_refused_and_learns_nothing(component: Component) -> None:
    """Forged, for another app, expired, without a token: one and the same answer."""
    forged = made(sign=es256(ATTACKER))

    answers = [
        component.call("say", token=forged),
        component.call("say", token=""),
        component.call("say", aud="other/api"),
        component.call("say", iat=1, exp=2),
    ]

    assert {(answer.status, answer.text) for answer in answers} == {
        (
            401,
            '{"code":"identity_refused","error":"The identity token was not accepted."}',
        )
    }


def test_a_context_that_remit_never_sends_is_refused(component: Component) -> None:
    """Neither a thread nor the API."""
    answer = component.call("say", source="mail")

    assert (answer.status, answer.json["code"]) == (400, "invalid_tool_context")


def test_a_route_says_that_it_is_there(component: Component) -> None:
    """To anybody, without a token; a route that is not there is 404."""
    there = component.call("say", method="OPTIONS")
    missing = component.call("nowhere", method="OPTIONS")

    assert (there.status, there.headers["allow"]) == (204, "POST, OPTIONS")
    assert missing.status == 404
