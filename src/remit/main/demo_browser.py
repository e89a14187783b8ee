"""A real browser without a window, found and driven over its debugging pipe."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import time
from typing import TYPE_CHECKING, cast

from remit.errors import RemitError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from remit.values.json import JsonObject, JsonValue

WAIT_S = 20
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = (
    "--headless=new",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--no-first-run",
)
PIPED = "--remote-debugging-pipe"
#: What starts a browser whose debugging pipe, on its 3 and 4, is its stdin and stdout here.
WIRED = ("/bin/sh", "-c", 'exec "$@" 3<&0 4>&1 0</dev/null 1>/dev/null 2>&1', "sh")
_LOOK_AGAIN_S = 0.02
_CHUNK_BYTES = 1 << 20


class BrowserGone(RemitError):
    """The browser does not start, or says nothing any more."""

    code = "browser_gone"


def browser_command(profile: Path | str) -> list[str]:
    """How a browser is started, with a profile of its own.

    Raises:
        LookupError: there is none.
    """
    found = next((path for name in _BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        raise LookupError("no browser was found")
    # Its own sandbox does not start for root; what it is shown here is the demo's own.
    root = ("--no-sandbox",) if os.geteuid() == 0 else ()
    return [found, *_FLAGS, *root, f"--user-data-dir={profile}"]


class Page:
    """One page, in a browser that ends with it; a context manager.

    Args:
        command: starts the browser.
        width: of the window, in CSS pixels.
        height: of the window.
    """

    def __init__(self, command: Sequence[str], *, width: int = 1440, height: int = 900) -> None:
        self._command = [*command, PIPED, f"--window-size={width},{height}"]
        self._process: subprocess.Popen[bytes] | None = None
        self._session = ""
        self._number = 0
        self._rest = b""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(  # noqa: S603 -- a browser, wired by a shell of ours
            [*WIRED, *self._command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        try:
            target = self._call("Target.createTarget", {"url": "about:blank"})["targetId"]
            attached: JsonObject = {"targetId": target, "flatten": True}
            self._session = str(self._call("Target.attachToTarget", attached)["sessionId"])
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end()

    def open(self, address: str) -> bool:
        """Open an address; whether it is there."""
        self._call("Page.navigate", {"url": address})
        return self.until("location.protocol !== 'about:' && document.readyState === 'complete'")

    def run(self, script: str) -> JsonValue:
        """The value of an expression in the page; None where it fails."""
        said = self._call("Runtime.evaluate", {"expression": script, "returnByValue": True})
        return cast("JsonObject", said["result"]).get("value")

    def until(self, script: str) -> bool:
        """Wait until an expression is true; whether it became so."""
        until = time.monotonic() + WAIT_S
        while self.run(f"Boolean({script})") is not True:
            if time.monotonic() > until:
                return False
            time.sleep(_LOOK_AGAIN_S)
        return True

    def type(self, text: str) -> None:
        """Type a text where the focus is."""
        self._call("Input.insertText", {"text": text})

    def _call(self, method: str, params: JsonObject | None = None) -> JsonObject:
        """Call a method of the debugging protocol; what it answers.

        Raises:
            BrowserGone: nothing comes, or a refusal.
        """
        self._number += 1
        message: JsonObject = {"id": self._number, "method": method, "params": params or {}}
        if self._session:
            message["sessionId"] = self._session
        self._send(message)
        while True:
            said = self._next()
            if said.get("id") != self._number:
                continue
            if "error" in said:
                raise BrowserGone(f"The browser did not take {method}: {said['error']}")
            return cast("JsonObject", said["result"])

    def _send(self, message: JsonObject) -> None:
        process = self._process
        if process is None or process.stdin is None:
            raise BrowserGone("The browser does not run.")
        try:
            process.stdin.write(json.dumps(message).encode() + b"\0")
        except OSError:
            raise BrowserGone("The browser has ended.") from None

    def _next(self) -> JsonObject:
        process = self._process
        if process is None or process.stdout is None:
            raise BrowserGone("The browser does not run.")
        until = time.monotonic() + WAIT_S
        while b"\0" not in self._rest:
            left = max(0.0, until - time.monotonic())
            if not select.select([process.stdout], [], [], left)[0]:
                raise BrowserGone(f"The browser said nothing for {WAIT_S} s.")
            chunk = os.read(process.stdout.fileno(), _CHUNK_BYTES)
            if not chunk:
                raise BrowserGone("The browser has ended.")
            self._rest += chunk
        raw, _, self._rest = self._rest.partition(b"\0")
        return cast("JsonObject", json.loads(raw))

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                pipe.close()
