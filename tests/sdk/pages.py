"""Pages of an app with the SDK's chat, on an origin of their own, as a browser loads them."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from tests.sdk.node import ROOT, package
from tests.threaded_server import ThreadedServer

SOURCES = ROOT / "sdk" / "test" / "pages"
WAIT_S = 30
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Orders</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'self'; connect-src *; img-src *; frame-src *; style-src 'self'">
<link rel="stylesheet" href="/page.css">
</head><body><h1>Orders</h1><div id="chat"></div>
<script type="module" src="/page.js"></script></body></html>"""
STYLE = """:root { color-scheme: light dark }
html, body { height: 100%; margin: 0 } h1 { display: none } #chat { height: 100% }"""


def bundled(name: str) -> bytes:
    """The script of a page, with what it imports."""
    command = [
        str(package() / ".bin" / "esbuild"),
        str(SOURCES / name),
        "--bundle",
        "--format=esm",
        "--target=es2022",
        "--log-level=error",
    ]
    return subprocess.run(command, check=True, capture_output=True, timeout=60).stdout


class PageServer(ThreadedServer):
    """The app's own server.

    Attributes:
        settings: what the page is told.
        did: what tools and widgets of all tabs did, in order.
        token: gives a token of the session.
    """

    def __init__(self, script: bytes) -> None:
        super().__init__(_Handler)
        self.script = script
        self.settings: Mapping[str, Any] = {}
        self.token: Callable[[], str] = str
        self.did: list[str] = []
        self._changed = threading.Condition()

    def note(self, what: str) -> None:
        """Something was done in a page."""
        with self._changed:
            self.did.append(what)
            self._changed.notify_all()

    def until(self, what: str) -> None:
        """Wait until it was done."""
        with self._changed:
            assert self._changed.wait_for(lambda: what in self.did, WAIT_S), self.did


class _Handler(BaseHTTPRequestHandler):
    server: PageServer  # type: ignore[assignment]
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """A file, or what the page asks its own server."""
        texts: dict[str, Callable[[], tuple[str, bytes]]] = {
            "/page.js": lambda: ("text/javascript", self.server.script),
            "/page.css": lambda: ("text/css", STYLE.encode()),
            "/settings": lambda: ("application/json", json.dumps(self.server.settings).encode()),
            "/token": lambda: ("text/plain", self.server.token().encode()),
        }
        kind, body = texts.get(self.path, lambda: ("text/html", PAGE.encode()))()
        self._answer(kind, body)

    def do_POST(self) -> None:
        """What was done."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.note(body["what"])
        self._answer("text/plain", b"")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""

    def _answer(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)


def page_folder(folder: Path) -> Path:
    """A folder for the browser's profile."""
    made = folder / "profile"
    made.mkdir()
    return made
