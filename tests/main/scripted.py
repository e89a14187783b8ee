"""An app that answers what a page says, in order, over real HTTP on this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.threaded_server import ThreadedServer


class ScriptedApp(ThreadedServer):
    """Gives its answers in order; the last one again and again.

    An answer is `{status, body}` for JSON, `{status, type, text}` for a text, `{status, bytes}`
    for that many bytes of JSON, or `{drop: true}` for a connection closed without an answer;
    `delayMs` comes before any of them.

    Attributes:
        asked: set when the first request is here.
        paths: method and path of every request.
    """

    def __init__(self, answers: Sequence[dict[str, Any]]) -> None:
        super().__init__(_Handler)
        self.answers = list(answers)
        self.paths: list[str] = []
        self.asked = threading.Event()
        self.over = threading.Event()
        self._lock = threading.Lock()

    def __exit__(self, *exception: object) -> None:
        self.over.set()
        super().__exit__(*exception)

    def next_answer(self, path: str) -> dict[str, Any]:
        """The answer for the request that came now."""
        with self._lock:
            self.paths.append(path)
            self.asked.set()
            return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedApp

    def answer(self) -> None:
        """Say what is next in the script."""
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        answer = self.server.next_answer(f"{self.command} {self.path}")
        self.server.over.wait(answer.get("delayMs", 0) / 1000)
        if answer.get("drop") or self.server.over.is_set():
            self.close_connection = True
            return
        body = answer.get("text", json.dumps(answer.get("body"))).encode()
        if "bytes" in answer:
            body = json.dumps("x" * (answer["bytes"] - 2)).encode()
        self.send_response(answer["status"])
        self.send_header("Content-Type", answer.get("type", "application/json"))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            # The client stopped reading: it timed out, or had enough.
            self.close_connection = True

    do_GET = do_POST = do_DELETE = answer  # noqa: N815 - names of the base class

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - name of the base class
        """Say nothing."""
