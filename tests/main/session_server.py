"""A server of one session that does what a test says, for what no real one does when asked to.

It speaks the session routes of contract section 10 over real HTTP: a stream that breaks in the
middle of a message, an answer that comes from elsewhere, a request that is another one by now.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.threaded_server import ThreadedServer

WAIT_S = 30
KEY = "rk_scripted_key"
Json = dict[str, Any]
Script = Callable[["SessionServer", str], None]


class SessionServer(ThreadedServer):
    """One session.

    Attributes:
        scripts: what happens on each message, in order.
        asked: method, path and body of every request but those for the stream.
        after: the ``Last-Event-ID`` of every stream.
        stops: whether a cancelled run ends.
        answers: what an answer to an input gets, in order: status and body; 200 when used up.
    """

    def __init__(self, *scripts: Script) -> None:
        super().__init__(_Handler)
        self.scripts = list(scripts)
        self.asked: list[tuple[str, str, Json]] = []
        self.after: list[str] = []
        self.answers: list[tuple[int, Json]] = []
        self.log: list[Json] = []
        self.stops = True
        self.over = False
        self._changed = threading.Condition()
        self._live: list[tuple[int, bytes]] = []
        self._cut = 0

    def __exit__(self, *exception: object) -> None:
        self.over = True
        with self._changed:
            self._changed.notify_all()
        super().__exit__(*exception)

    # -- what a script does --------------------------------------------------------------------

    def event(self, kind: str, /, **data: object) -> None:
        """An event of the log."""
        with self._changed:
            seq = len(self.log) + 1
            event = {"seq": seq, "type": kind, "at": datetime.now(UTC).isoformat(), "data": data}
            self.log.append(event)
            raw = f"id: {seq}\nevent: {kind}\ndata: {json.dumps(event)}\n\n"
            self._live.append((seq, raw.encode()))
            self._changed.notify_all()

    def piece(self, message: str, offset: int, text: str) -> None:
        """A piece of a message."""
        data = {"runId": "run_1", "messageId": message, "offset": offset, "text": text}
        with self._changed:
            self._live.append((0, f"event: text_delta\ndata: {json.dumps(data)}\n\n".encode()))
            self._changed.notify_all()

    def cut(self) -> None:
        """Break every stream that is open, once all that was said is out, and forget pieces."""
        with self._changed:
            self._cut = len(self._live)
            self._live.append((-1, b""))
            self._changed.notify_all()

    def until(self, method: str, ending: str, *, times: int = 1) -> Json:
        """Wait until a path was asked for; the body of the last such request."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self._of(method, ending)) >= times, WAIT_S)
            return self._of(method, ending)[-1]

    def streams(self, count: int) -> None:
        """Wait until the stream was asked for so often."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.after) >= count, WAIT_S)

    def finish(self, run: str, reason: str = "done", **more: object) -> None:
        """The agent rests."""
        usage = {"inputTokens": 1, "outputTokens": 1, "cachedTokens": 0, "calls": 0, "ms": 1}
        self.event("run_finished", runId=run, reason=reason, usage=usage, **more)
        self.event("status", status="waiting_human" if reason == "waiting" else "idle")

    def _of(self, method: str, ending: str) -> list[Json]:
        return [b for m, path, b in self.asked if m == method and path.endswith(ending)]

    # -- what a handler does -------------------------------------------------------------------

    def note(self, method: str, path: str, body: Json) -> None:
        """A request came."""
        with self._changed:
            self.asked.append((method, path, body))
            self._changed.notify_all()

    def followed(self, after: str) -> None:
        """A stream begins."""
        with self._changed:
            self.after.append(after)
            self._changed.notify_all()

    def message(self, text: str) -> Json:
        """Take a message, and begin what it begins."""
        run = f"run_{sum(e['type'] == 'run_started' for e in self.log) + 1}"
        self.event("message", messageId=f"msg_{run}", role="user", text=text, runId=run)
        seq = len(self.log)
        self.event("run_started", runId=run, model="scripted:a")
        self.event("status", status="running", runId=run)
        if self.scripts:
            script = self.scripts.pop(0)
            threading.Thread(target=script, args=(self, run), daemon=True).start()
        return {"runId": run, "seq": seq}

    def cancelled(self) -> None:
        """Stop what is under way, unless it cannot be stopped."""
        if not self.stops:
            return
        with self._changed:
            open_runs = [e["data"]["runId"] for e in self.log if e["type"] == "run_started"]
        self.finish(open_runs[-1], "cancelled")

    def follow(self, after: int, write: Callable[[bytes], object]) -> None:
        """Write a stream until it is cut, or the test is over."""
        with self._changed:
            place = 0
            write(b": here\n\n")
            while not self.over:
                while place < len(self._live):
                    seq, raw = self._live[place]
                    place += 1
                    if seq == -1 and place - 1 >= self._cut:
                        # Pieces are of those who were there: the next reader begins after them.
                        self._live = [one for one in self._live if one[0] > 0]
                        self._cut = 0
                        return
                    if seq == 0 or seq > after:
                        write(raw)
                self._changed.wait(WAIT_S)


class _Handler(BaseHTTPRequestHandler):
    server: SessionServer
    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        """Answer one request."""
        raw = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        body = json.loads(raw) if raw else {}
        path, _, query = self.path.partition("?")
        if self.headers.get("Authorization") != f"Bearer {KEY}":
            self._say(401, {"code": "unauthorized", "detail": "No such key."})
        elif path.endswith("/events") and "application/json" not in self.headers.get("Accept", ""):
            self._stream()
        else:
            self.server.note(self.command, path, body)
            self._say(*self._found(path, query, body))

    def _found(self, path: str, query: str, body: Json) -> tuple[int, Json]:
        server = self.server
        if path == "/v1/apps":
            return 200, {"items": [{"id": "acme", "inForce": 1}, {"id": "off"}], "next": None}
        if path.endswith("/events"):
            after = int(query.partition("after=")[2].partition("&")[0] or 0)
            return 200, {"events": server.log[after:], "next": None}
        if path.endswith("/messages"):
            return 202, server.message(body["text"])
        if path.endswith("/cancel"):
            server.cancelled()
        elif path.startswith("/v1/inputs/"):
            return server.answers.pop(0) if server.answers else (200, {"status": "answered"})
        return 200 if self.command == "GET" else 201, self._session()

    def _session(self) -> Json:
        log = self.server.log
        done = {e["data"]["inputId"] for e in log if e["type"] == "human_input_resolved"}
        needed = [e["data"] for e in log if e["type"] == "human_input_needed"]
        waiting = [one for one in needed if one["id"] not in done]
        return {
            "id": "ses_1",
            "status": "waiting_human" if waiting else "idle",
            "apps": [{"id": "acme", "version": 1}],
            "user": "ana",
            "headSeq": len(log),
            "inputs": waiting,
        }

    def _stream(self) -> None:
        server = self.server
        after = self.headers.get("Last-Event-ID", "0")
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        server.followed(after)
        try:
            server.follow(int(after), lambda raw: (self.wfile.write(raw), self.wfile.flush()))
        except OSError:
            return

    def _say(self, status: int, body: Json) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    do_GET = do_POST = answer  # noqa: N815 - names of the base class

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - name of the base class
        """Say nothing."""


def approval(run: str, **changes: object) -> Json:
    """The data of a `human_input_needed` of a call that deletes a scene."""
    return {
        "id": "inp_1",
        "inputId": "inp_1",
        "kind": "approval",
        "status": "open",
        "callId": "call_1",
        "user": "ana",
        "app": "acme",
        "tool": "delete_scene",
        "title": "Delete scene Q3 forecast",
        "titleParts": [
            {"text": "Delete scene ", "inserted": False},
            {"text": "Q3 forecast", "inserted": True},
        ],
        "line": {"act": "DELETES", "danger": "cannot be undone", "host": "api.acme.example"},
        "verb": "Delete scene",
        "args": {"sceneId": "scn_1"},
        "arguments": [{"title": "Scene", "text": "scn_1"}],
        "request": {
            "method": "DELETE",
            "url": "https://api.acme.example/v1/scenes/scn_1",
            "headers": {},
            "body": None,
            "digest": "d1",
        },
        "digest": "d1",
        "reason": "the tool is destructive",
        "by": "user",
        "account": "ana@acme.example",
        "createdAt": "2026-11-30T14:03:00.000Z",
        "expiresAt": "2026-12-01T14:03:00.000Z",
        "runId": run,
        **changes,
    }


def scripted(*steps: Callable[[SessionServer, str], None]) -> Script:
    """A script of several steps."""

    def play(server: SessionServer, run: str) -> None:
        for step in steps:
            step(server, run)

    return play


def within(condition: Callable[[], bool]) -> None:
    """Wait for something; fails when it never comes."""
    until = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < until
        threading.Event().wait(0.02)


def events_of(server: SessionServer) -> Sequence[str]:
    """The types of all that happened."""
    return [event["type"] for event in server.log]
