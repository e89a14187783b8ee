"""What a skipped card is answered with by a real server, for the page of its code."""

from __future__ import annotations

import threading
import time
from typing import Any

from remit.testing.script import Call, Turn
from tests.catalog.documents import Json
from tests.main.processes import WAIT_S
from tests.main.test_serving import Api

#: What was said, and what the model does then.
SEARCHING = {
    "Search my mail.": [Turn(calls=(Call(name="search_mail", args={}),)), "Then not."],
}
#: What the handler answers.
CARD = {
    "status": 200,
    "body": {
        "type": "action_required",
        "title": "Connect your mail",
        "elements": [{"type": "button", "id": "connect", "label": "Connect"}],
    },
}


def mail(url: str) -> Json:
    """An app whose one tool is served by a component."""
    tool: Json = {
        "name": "search_mail",
        "description": "Searches the mail. Not for sending.",
        "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
        "target": {"type": "app", "component": "api", "path": "/search", "method": "GET"},
    }
    return {
        "id": "mail",
        "name": "Mail",
        "auth": {"type": "none"},
        "components": {"api": {"url": url}},
        "tools": [tool],
    }


def skipped(api: Api, backend: Api, url: str) -> Any:  # noqa: ANN401 - JSON
    """The record of a call whose card the user skipped."""
    api.done("POST", "/v1/apps", mail(url))
    api.done("POST", "/v1/apps/mail/versions/1/approve", {"consent": "workspace"})
    made = backend.done("POST", "/v1/sessions", {"apps": ["mail"], "user": "ana"})
    path = f"/v1/sessions/{made['id']}"
    said = backend.ask("POST", f"{path}/messages", {"text": "Search my mail."})
    assert said.status == 202, said
    (waits,) = _until(lambda: backend.done("GET", path)["inputs"])
    answer = f"{path}/human-input/{waits['id']}"
    backend.done("POST", answer, {"skip": True, "user": "ana"})
    return _until(lambda: _ended(backend.done("GET", f"/v1/calls/{waits['callId']}")))


def _ended(record: Any) -> Any:  # noqa: ANN401 - JSON
    return record if "error" in record else None


def _until(found: Any) -> Any:  # noqa: ANN401 - JSON
    until = time.monotonic() + WAIT_S
    while not (value := found()):
        assert time.monotonic() < until
        threading.Event().wait(0.02)
    return value
