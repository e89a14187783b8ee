"""An action card over HTTP: waits through a kill, is pressed once, told as a page (section 8)."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.main import served_cards, served_clients
from tests.main.processes import WAIT_S, run, serving
from tests.main.scripted import ScriptedApp
from tests.main.test_serving import ALLOW, Api

START = {"type": "app", "component": "api", "path": "/start", "method": "POST", "body": "${input}"}
CARD = {
    "status": 200,
    "body": {
        "type": "action_required",
        "title": "Connect your mail",
        "elements": [
            {"type": "button", "id": "connect", "label": "Connect", "input": {}, "target": START}
        ],
    },
}


def until(found: Callable[[], Any]) -> Any:  # noqa: ANN401 - JSON
    """What is there in the end."""
    deadline = time.monotonic() + WAIT_S
    while not (value := found()):
        assert time.monotonic() < deadline
        threading.Event().wait(0.02)
    return value


@pytest.mark.promise("K-42")
def test_card_outlives_the_server_and_is_pressed_once(tmp_path: Path) -> None:
    """The first press decides; the page of `remit why` tells the card, the press and its call."""
    key = run(tmp_path, "keys", "create", "--role", "operator").out.strip()
    with ScriptedApp([CARD]) as app, served_clients.model() as model:
        done = {"content": "Connected.", "embedUrl": f"{app.url}/done?code=sesame"}
        app.answers.append({"status": 200, "body": done})
        given = {**ALLOW, **served_clients.settings(model.base_url)}
        with serving(tmp_path, **given) as server:
            api = Api(url=server.url, key=key)
            asks = {"category": "action", "dangerLevel": "moderate"}
            api.done("POST", "/v1/apps", {**served_cards.mail(app.url), "ceiling": asks})
            api.done("POST", "/v1/apps/mail/versions/1/approve", {"consent": "workspace"})
            made = api.done("POST", "/v1/sessions", {"apps": [{"id": "mail"}], "user": "ana"})
            path = f"/v1/sessions/{made['id']}"
            assert api.ask("POST", f"{path}/messages", {"text": "Search my mail."}).status == 202
            (waits,) = until(lambda: api.done("GET", path)["inputs"])
            assert waits["kind"] == "action"
            server.end(signal.SIGKILL)

        with serving(tmp_path, **given) as server:
            api = Api(url=server.url, key=key)
            ana = Api(url=server.url, key=made["clientToken"])
            (still,) = api.done("GET", path)["inputs"]
            assert still == waits
            press = {"threadId": made["id"], "inputId": waits["id"], "press": "connect"}
            answered = ana.done("POST", "/chat/resume", press)
            assert (answered["status"], answered["press"]) == ("answered", "connect")
            assert ana.ask("POST", "/chat/resume", press).status == 200
            late = api.ask("POST", f"/v1/inputs/{waits['id']}/answer", {"skip": True})
            assert (late.status, late.json["code"]) == (409, "already_answered")

            until(lambda: api.done("GET", path)["status"] == "idle")
            assert app.paths == ["GET /search", "POST /start"]
            events = api.ask("GET", f"{path}/events", headers={"Accept": "application/json"}).json
            (result,) = [one["data"] for one in events["events"] if one["type"] == "tool_result"]
            assert result["display"] == {"embedUrl": f"{app.url}/done?code=sesame"}

            record = api.done("GET", f"/v1/calls/{waits['callId']}")
            assert "sesame" not in str(record)
            (pressed,) = record["presses"]
            server_of = {"REMIT_SERVER_URL": server.url, "REMIT_KEY": key}
            page = run(tmp_path, "why", waits["callId"], **server_of).out
            assert "a card: Connect your mail [Connect]" in page
            assert (
                f'the button "Connect" (connect) called its target: call {pressed["callId"]}'
                in page
            )
            assert f"a page of the app was shown: {app.url}/done?***" in page
            child = run(tmp_path, "why", pressed["callId"], **server_of).out
            assert "ana, with a button, through user:ana" in child
            assert f"a button of the card that call {waits['callId']} came back with" in child
            assert "POST " + app.url + "/start" in child
