"""What clients of a session are answered by a real server, for the pages of the codes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

from remit.testing.completions import ScriptedModel
from remit.testing.script import Call, Turn
from tests.gateway.client_stage import OPEN
from tests.main import served_cards, served_sessions
from tests.main.processes import WAIT_S
from tests.main.test_serving import Api

#: It wants the order opened, once for each message; with some words it fails.
SCRIPT = {
    **served_sessions.FAILING,
    **served_cards.SEARCHING,
    "*": [Turn(calls=(Call(name="open_order", args={"id": "ord_1"}),)), "So it is."] * 2,
}


def model() -> ScriptedModel:
    """The model of the server, to be started."""
    return ScriptedModel(SCRIPT)


def settings(model_url: str) -> dict[str, str]:
    """What makes a server use it."""
    return {
        "REMIT_MODEL_NAME": "openai:scripted",
        "REMIT_MODEL_BASE_URL": model_url,
        "REMIT_MODEL_API_KEY": "scripted",
    }


def of_clients(backend: Api) -> Iterator[Any]:
    """Two tabs of one session, of which one executes what the agent asks for."""
    made = backend.done("POST", "/v1/sessions", {"apps": [], "user": "ana"})
    path = f"/v1/sessions/{made['id']}"
    for tab in ("tab-1", "tab-2"):
        backend.done("PUT", f"{path}/clients/{tab}", {"tools": [OPEN]})

    call, held = _claimed(backend, path, 0)
    yield backend.ask("POST", f"{call}/claim", {"clientId": "tab-2"}).json
    thrown = {"claim": held, "error": {"message": "There is no order ord_1."}}
    assert backend.ask("POST", f"{call}/result", thrown).status == 204
    yield _record(backend, call)
    yield backend.ask("POST", f"{call}/claim", {"clientId": "tab-2"}).json

    call, held = _claimed(backend, path, 1)
    fault = {"message": "it refers to itself.", "code": "unserializable_result"}
    assert backend.ask("POST", f"{call}/result", {"claim": held, "error": fault}).status == 204
    yield _record(backend, call)


def _claimed(backend: Api, path: str, number: int) -> tuple[str, str]:
    """The next call of the session, in the hands of the first tab: its path, its claim."""
    until = time.monotonic() + WAIT_S
    said = {"text": "Open my order.", "clientId": "tab-1", "queue": True}
    assert backend.ask("POST", f"{path}/messages", said).status == 202
    while time.monotonic() < until:
        page = backend.ask("GET", f"{path}/events", headers={"Accept": "application/json"}).json
        calls = [one for one in page["events"] if one["type"] == "client_tool_call"]
        if len(calls) > number:
            call = f"{path}/calls/{calls[number]['data']['callId']}"
            return call, backend.done("POST", f"{call}/claim", {"clientId": "tab-1"})["claim"]
        threading.Event().wait(0.02)
    msg = f"call {number} did not come"
    raise AssertionError(msg)


def _record(backend: Api, call: str) -> Any:  # noqa: ANN401 - JSON
    return backend.done("GET", f"/v1/calls/{call.rpartition('/')[2]}")
