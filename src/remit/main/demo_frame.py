"""What a chat does with a page of an app: fetches it as a browser would, and frames it in one."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import tempfile
import threading
from contextlib import closing
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, cast
from urllib.parse import parse_qs, quote, urlsplit

from remit.main.demo_browser import browser_command

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

_WAIT_S = 20
_HOPS = 3
#: A chat with nothing but a frame; it passes on what the page in it says.
_CHAT = """<!doctype html><title>A chat</title>
<iframe id="it" style="width: 100%" sandbox="allow-scripts allow-same-origin allow-forms"></iframe>
<script>
const it = document.getElementById("it")
addEventListener("message", ({ source, data }) => {
  if (source === it.contentWindow) fetch("/told?" + encodeURIComponent(JSON.stringify(data)))
})
it.src = decodeURIComponent(location.search.slice(1))
</script>"""


@dataclass(slots=True)
class Visitor:
    """A browser's part: it goes where it is led, and keeps cookies."""

    cookies: dict[str, str] = field(default_factory=dict[str, str])

    def open(self, address: str) -> tuple[int, str]:
        """The status and text at the end of the way."""
        parts = urlsplit(address)
        target = f"{parts.path}?{parts.query}"
        for _ in range(_HOPS):
            with closing(http.client.HTTPConnection(parts.netloc, timeout=_WAIT_S)) as connection:
                kept = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
                connection.request("GET", target, headers={"Cookie": kept} if kept else {})
                answer = connection.getresponse()
                text = answer.read().decode()
            for given in answer.headers.get_all("Set-Cookie") or ():
                name, _, value = given.partition(";")[0].partition("=")
                self.cookies[name] = value
            target = answer.headers.get("Location", "")
            if not target:
                return answer.status, text
        return 0, ""


class Chat:
    """A page that frames others, in a real browser; a context manager.

    Attributes:
        origin: of the page.
    """

    def __init__(self) -> None:
        self._said = threading.Event()
        self._height: object = None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self.origin = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def height_of(self, address: str) -> object:
        """The height that a page says in a frame, in CSS pixels; None where it says none.

        Raises:
            LookupError: there is no browser.
        """
        with tempfile.TemporaryDirectory(prefix="remit-demo-", ignore_cleanup_errors=True) as kept:
            process = subprocess.Popen(  # noqa: S603 -- a browser, no shell
                [*browser_command(kept), f"{self.origin}/?{quote(address, safe='')}"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            try:
                self._said.wait(_WAIT_S)
            finally:
                process.kill()
                process.wait()
        return self._height

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        chat = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path.startswith("/told?"):
                    chat.hear(next(iter(parse_qs(self.path, keep_blank_values=True)), ""))
                body = _CHAT.encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - inherited
                """Nothing."""

        return Handler

    def hear(self, said: str) -> None:
        """Take what the page in the frame said, as JSON."""
        found = re.search(r"\{.*\}", said)
        try:
            value: object = json.loads(found[0]) if found else None
        except ValueError:
            return
        if isinstance(value, dict):
            self._height = cast("dict[str, object]", value).get("__remit_height")
            self._said.set()
