"""An app that shows cards, notes and pages of its own, and notes who asks for what."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.catalog.documents import Json, parameters
from tests.threaded_server import ThreadedServer

#: A text that stands on the app's page and nowhere else.
MARKER = "only-on-the-page-of-the-app"
#: What the page does: it says how high it is, tries what it must not, and reports to its app.
PAGE = """<!doctype html><title>A page</title><p>MARKER</p>
<button id="sign-in" style="position:absolute;left:0;top:0;width:200px;height:60px">Sign in</button>
<form method="post" action="/form" target="_self"><input name="a" value="b"></form>
<script>
const tell = (what) => fetch("/report", { method: "POST", body: JSON.stringify(what) });
const refused = (work) => { try { work(); return false; } catch { return true; } };
document.cookie = "signed=in; SameSite=Lax";
localStorage.setItem("kept", "yes");
tell({
  origin: location.origin,
  cookie: document.cookie,
  kept: localStorage.getItem("kept"),
  referrer: document.referrer,
  transcript: refused(() => parent.document.body),
  storage: refused(() => parent.sessionStorage),
  away: refused(() => { top.location = "/elsewhere"; }),
});
addEventListener("message", ({ data }) => tell({ popup: data }));
document.getElementById("sign-in").addEventListener("click", () => window.open("/oauth"));
if (location.hash === "#form") document.forms[0].submit();
const asked = new URLSearchParams(location.search);
const height = asked.get("height");
const name = `__${asked.get("brand") ?? "remit"}_height`;
if (height !== null) parent.postMessage({ [name]: JSON.parse(height) }, "*");
</script>""".replace("MARKER", MARKER)
POPUP = """<!doctype html><script>
window.opener.postMessage("signed in on " + location.origin, "*");
</script>"""


class ShownApp(ThreadedServer):
    """One component.

    Attributes:
        answers: of the tool, in order; the last one again and again.
        asked: method, path and user agent of every request.
        reports: what the page told of itself.
    """

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.answers: list[object] = []
        self.asked: list[tuple[str, str, str]] = []
        self.reports: list[dict[str, Any]] = []

    def paths(self) -> list[str]:
        """Method and path of every request."""
        return [f"{method} {path}" for method, path, _ in self.asked]

    def definition(self) -> Json:
        """The app, with one tool on this component."""
        tool = {
            "name": "show",
            "title": "Show it",
            "description": "Shows what there is. Use it for that alone.",
            "parameters": parameters(),
            "target": {
                "type": "app",
                "component": "api",
                "path": "/show",
                "method": "POST",
                "body": "${input}",
            },
            "category": "action",
            "dangerLevel": "moderate",
        }
        return {
            "id": "acme",
            "name": "Acme Mail",
            "auth": {"type": "none"},
            "components": {"api": {"url": self.url}},
            "tools": [tool],
        }


class _Handler(BaseHTTPRequestHandler):
    server: ShownApp

    def answer(self) -> None:
        """Answer as the app, or as its pages."""
        raw = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        app = self.server
        app.asked.append((self.command, self.path, self.headers.get("User-Agent", "")))
        kind, body = "text/html; charset=utf-8", b""
        match self.path.partition("?")[0]:
            case "/page":
                body = PAGE.encode()
            case "/oauth":
                body = POPUP.encode()
            case "/report":
                app.reports.append(json.loads(raw))
            case "/show" | "/start":
                found = app.answers.pop(0) if len(app.answers) > 1 else app.answers[0]
                kind, body = "application/json", json.dumps(found).encode()
            case _:
                body = b"<!doctype html><p>Here."
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer  # noqa: N815 - names of the base class

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - name of the base class
        """Say nothing."""
