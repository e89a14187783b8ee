"""The conversation of ``remit demo``: an agent reads, writes, asks, and outlives its server."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, cast

from remit.main.output import paint, print_text
from remit.main.server_walk import APP, ENDS_WITHIN_S, INPUT, fields
from remit.main.walking import indented

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.main.server_walk import Walk
    from remit.values.json import JsonObject, JsonValue

_LAMPS = "select count(*) from objects where scene_id = 'scn_lobby' and x = 3 and y = 1"
_SCENE = "select count(*) from scenes where id = 'scn_q3_forecast'"
_DELETES = "select count(*) from requests where method = 'DELETE' and path like '%scn_q3_forecast'"
_TEXT = "Put a lamp into the lobby at 3, 1, and delete the scene Q3 forecast."
_ASK_AGAIN_S = 0.05
#: A page executes what its session waits for by itself.
_GOES_ON = frozenset({"running", "waiting_client"})


class Talk:
    """One session, and how much of its log has been shown."""

    def __init__(self, walk: Walk, session: str) -> None:
        self._walk = walk
        self._session = session
        self._shown = 0
        self._came: Counter[str] = Counter()
        self._tools: dict[JsonValue, JsonValue] = {}
        self._results: list[JsonObject] = []

    def say(self, text: str) -> JsonObject:
        """Say something as Ana; the session once it waits or rests."""
        body: JsonObject = {"text": text}
        path = f"{self.path}/messages"
        self._walk.ask("backend", "POST", path, body, shown=fields("runId", "seq"))
        return self.rested()

    def answer(self, input_id: JsonValue, answer: JsonObject) -> JsonObject:
        """Answer what it waits for, as Ana; the session once it waits or rests again."""
        path = f"{self.path}/human-input/{input_id}"
        self._walk.ask("backend", "POST", path, {**answer, "user": "ana"}, shown=INPUT)
        return self.rested()

    @property
    def path(self) -> str:
        """Of the session."""
        return f"/v1/sessions/{self._session}"

    def rested(self) -> JsonObject:
        """The session once it waits or rests, its events shown as they come."""
        until = time.monotonic() + ENDS_WITHIN_S
        while True:
            found = self._ask(self.path)
            self._show()
            if found.get("status") not in _GOES_ON or time.monotonic() > until:
                return found
            time.sleep(_ASK_AGAIN_S)

    def followed(self, kind: str) -> JsonObject:
        """The session once it waits or rests after an event that came by another way.

        Args:
            kind: of the event; one that is not shown yet.
        """
        before, until = self._came[kind], time.monotonic() + ENDS_WITHIN_S
        while self._came[kind] == before and time.monotonic() < until:
            self._show()
            time.sleep(_ASK_AGAIN_S)
        return self.rested()

    @property
    def calls(self) -> int:
        """How many calls the model has asked for."""
        return self._came["tool_call"]

    @property
    def errors(self) -> int:
        """How many calls have ended with an error."""
        return sum(one["outcome"] == "error" for one in self._results)

    def result(self, tool: str) -> JsonObject:
        """What the last call of a tool came to, as the log has it; empty where there was none."""
        own = (one for one in reversed(self._results) if self._tools.get(one["callId"]) == tool)
        return next(own, cast("JsonObject", {}))

    def _note(self, kind: str, data: JsonObject) -> None:
        self._came[kind] += 1
        if kind == "tool_call":
            self._tools[data["callId"]] = data.get("tool")
        elif kind == "tool_result":
            self._results.append(data)

    def _ask(self, path: str) -> JsonObject:
        walk = self._walk
        accept = {"Accept": "application/json"}
        return walk.server.ask("GET", path, key=walk.keys["backend"], headers=accept).body

    def _show(self) -> None:
        page = self._ask(f"{self.path}/events?after={self._shown}")
        for event in cast("list[JsonObject]", page.get("events", [])):
            self._shown = cast("int", event["seq"])
            self._note(cast("str", event["type"]), cast("JsonObject", event["data"]))
            line = _line(cast("str", event["type"]), cast("JsonObject", event["data"]))
            if line:
                print_text(indented(line))


def steps(scripted: bool) -> tuple[Callable[[Walk], None], ...]:
    """The steps of the conversation; what a model of one's own says is not checked."""

    def converse(walk: Walk) -> None:
        _converse(walk, scripted=scripted)

    return (converse,)


def _converse(walk: Walk, *, scripted: bool) -> None:
    demo = walk.demo
    demo.step("Hold a conversation", walk.speaker)
    lamps, there = demo.example.count(_LAMPS), demo.example.count(_SCENE)
    body: JsonObject = {"apps": [{"id": APP}], "user": "ana"}
    made = walk.ask("backend", "POST", "/v1/sessions", body, shown=fields("id", "status", "apps"))
    talk = Talk(walk, str(made.body.get("id")))
    session = talk.say(_TEXT)
    waits = open_input(session)
    if not scripted and waits is None:
        demo.holds("the agent has answered", true=session.get("status") == "idle")
        return
    demo.holds(
        "the agent waits for Ana: the lamp is placed, and nothing was deleted",
        true=session.get("status") == "waiting_human"
        and demo.example.count(_LAMPS) == lamps + 1
        and demo.example.count(_SCENE) == there
        and demo.example.count(_DELETES) == 0,
    )
    print_text(f"   {paint('$ kill -9 <the server>', 'cyan', sys.stdout)}\n")
    code = walk.server.kill()
    print_text(
        f"   {paint('$ remit serve', 'cyan', sys.stdout)}\n{indented(walk.server.start())}\n"
    )
    session = talk.answer(waits, {"decision": "approve"})
    demo.holds(
        "the server was killed in between; Ana approves, and the conversation goes on to its end",
        true=code == -signal.SIGKILL and session.get("status") == "idle",
    )
    demo.holds(
        "Q3 forecast is gone, by exactly one DELETE, and there is one lamp more",
        true=not scripted
        or (
            demo.example.count(_SCENE) == 0
            and demo.example.count(_DELETES) == 1
            and demo.example.count(_LAMPS) == lamps + 1
        ),
    )


def open_input(session: JsonObject) -> JsonValue:
    """The id of what a session waits for, or None."""
    inputs = cast("list[JsonObject]", session.get("inputs") or [])
    return inputs[0].get("id") if inputs else None


def _line(kind: str, data: JsonObject) -> str | None:
    """An event as one quiet line; None for what only machines need."""
    if kind == "message":
        who = "Ana" if data.get("role") == "user" else "Agent"
        return f"{who}: {data.get('text')}"
    if kind == "tool_call":
        # What a page lends is told with its arguments: nowhere else are they to be read.
        args = f" {json.dumps(data.get('args'))}" if data.get("origin") == "client" else ""
        return f"· {data.get('title')}{args} …"
    if kind == "tool_result":
        return f"  → {data.get('outcome')}{_reason(data)}"
    if kind == "human_input_needed":
        return f"? {data.get('title')}: waits for {data.get('user')}{_buttons(data)}"
    if kind == "human_input_resolved":
        what = f"{data['press']} pressed" if data.get("press") else data.get("decision")
        return f"! {what} by {data.get('by')}"
    if kind == "run_finished" and data.get("reason") not in {"done", "waiting"}:
        return f"The run ended: {data.get('reason')}"
    return None


def _reason(result: JsonObject) -> str:
    """Of a call that ended with an error the words that the model reads."""
    if result.get("outcome") != "error":
        return ""
    try:
        return f": {json.loads(str(result.get('content')))['error']['message']}"
    except (ValueError, KeyError, TypeError):
        return ""


def _buttons(data: JsonObject) -> str:
    """The buttons of a card, as they are labelled."""
    card = cast("JsonObject", data.get("card") or {})
    found = cast("list[JsonObject]", card.get("elements") or [])
    return "".join(f" [{one.get('label')}]" for one in found)
