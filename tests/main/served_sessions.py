"""What messages to sessions are answered by a real server, for the pages of the codes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

from remit.testing.script import Turn
from tests.gateway.client_stage import OPEN
from tests.main.processes import WAIT_S
from tests.main.test_serving import Api

SAID = {"text": "Open my order."}
#: What a model does that fails for good, by what was said to it.
FAILING = {
    "Are you there?": [Turn(status=401, code="invalid_api_key")],
    "Say what is not to be said.": [Turn(refusal="I will not.")],
    "Say everything.": [Turn(text="Everything is", finish="length")],
}


def without_model(backend: Api) -> Any:  # noqa: ANN401 - JSON
    """A message to a server that has no model."""
    return backend.ask("POST", f"{_session(backend)}/messages", SAID).json


def of_sessions(backend: Api) -> Iterator[Any]:
    """A message while the agent works, one while a client is waited for, one after the end.

    The model wants a tool of the client's for each message (``served_clients``).
    """
    path = _session(backend)
    until = time.monotonic() + WAIT_S
    while (answer := backend.ask("POST", f"{path}/messages", SAID)).status == 202:
        # The run before this one had ended already.
        assert time.monotonic() < until, answer
    yield answer.json

    path = _session(backend)
    backend.done("PUT", f"{path}/clients/tab-1", {"tools": [OPEN]})
    assert backend.ask("POST", f"{path}/messages", SAID).status == 202
    while backend.done("GET", path)["status"] != "waiting_client":
        assert time.monotonic() < until
        threading.Event().wait(0.02)
    yield backend.ask("POST", f"{path}/messages", SAID).json
    backend.done("POST", f"{path}/close")
    yield backend.ask("POST", f"{path}/messages", SAID).json


def of_models(backend: Api) -> Iterator[Any]:
    """The event that ends the run where the model fails so."""
    for text in FAILING:
        path = _session(backend)
        assert backend.ask("POST", f"{path}/messages", {"text": text}).status == 202
        until = time.monotonic() + WAIT_S
        while backend.done("GET", path)["status"] != "idle":
            assert time.monotonic() < until
            threading.Event().wait(0.02)
        page = backend.ask("GET", f"{path}/events", headers={"Accept": "application/json"}).json
        (finished,) = (one for one in page["events"] if one["type"] == "run_finished")
        yield finished


def _session(backend: Api) -> str:
    made = backend.done("POST", "/v1/sessions", {"apps": [], "user": "ana"})
    return f"/v1/sessions/{made['id']}"
