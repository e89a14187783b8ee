"""A real browser without a window: Chromium, driven over its debugging pipe."""

from __future__ import annotations

import base64
import json
import os
import select
import subprocess
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from remit.main.demo_browser import PIPED, WIRED, browser_command

WAIT_S = 60
_FLAGS = (
    PIPED,
    "--no-default-browser-check",
    "--disable-extensions",
    "--disable-sync",
    "--force-color-profile=srgb",
    "--password-store=basic",
)


def chromium(profile: Path | str = "") -> list[str]:
    """The command; a machine without one skips what is drawn in a browser."""
    try:
        return browser_command(profile)
    except LookupError:
        pytest.skip("no Chromium was found: the page is not looked at in a browser")


class Browser:
    """A running browser; every page of it is a tab of its own."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._number = 0
        self._rest = b""
        self.events: list[dict[str, Any]] = []

    def open(self, url: str, *, width: int = 1280, height: int = 900) -> Page:
        """A page at an address, in a window of that many CSS pixels."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session, target)
        for domain in ("Page", "Network", "Runtime"):
            page.call(f"{domain}.enable")
        page.resize(width, height)
        page.call("Page.navigate", url=url)
        page.until("document.readyState === 'complete'")
        return page

    def call(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:  # noqa: ANN401
        """Call a method of the protocol; what it answers."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\0")
        self._process.stdin.flush()
        while True:
            said = self._next()
            if said.get("id") == self._number:
                assert "error" not in said, said
                return said["result"]
            if "method" in said:
                self.events.append(said)

    def _next(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        until = time.monotonic() + WAIT_S
        while b"\0" not in self._rest:
            left = max(0.0, until - time.monotonic())
            ready, _, _ = select.select([self._process.stdout], [], [], left)
            assert ready, "the browser says nothing"
            chunk = os.read(self._process.stdout.fileno(), 1 << 20)
            assert chunk, "the browser has ended"
            self._rest += chunk
        raw, _, self._rest = self._rest.partition(b"\0")
        return json.loads(raw)


class Page:
    """One page."""

    def __init__(self, browser: Browser, session: str, target: str) -> None:
        self._browser = browser
        self._session = session
        self._target = target

    def call(self, method: str, **params: Any) -> dict[str, Any]:  # noqa: ANN401
        """Call a method of the protocol for this page."""
        return self._browser.call(method, self._session, **params)

    def close(self) -> None:
        """Close the tab."""
        self._browser.call("Target.closeTarget", targetId=self._target)

    def resize(self, width: int, height: int) -> None:
        """Give the window so many CSS pixels."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def prefer(self, scheme: str) -> None:
        """Have it light or dark, as a user's system says."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def run(self, script: str) -> Any:  # noqa: ANN401
        """The value of an expression in the page; a promise is waited for."""
        said = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in said, said["exceptionDetails"]
        return said["result"].get("value")

    def until(self, script: str) -> None:
        """Wait until an expression is true."""
        until = time.monotonic() + WAIT_S
        while not self.run(f"Boolean({script})"):
            assert time.monotonic() < until, (script, self.run("document.body?.innerText"))
            time.sleep(0.02)

    def click(self, x: float, y: float) -> None:
        """Click as a mouse does, also into a frame."""
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def requests(self) -> list[str]:
        """Addresses that this page has asked for since it was opened."""
        return [
            one["params"]["request"]["url"]
            for one in self._browser.events
            if one["method"] == "Network.requestWillBeSent"
            and one.get("sessionId") == self._session
        ]

    def picture(self, file: Path) -> None:
        """Write what is to be seen as a PNG."""
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))


@contextmanager
def browsing(folder: Path, flags: Sequence[str] = ()) -> Generator[Browser]:
    """A browser with a profile of its own, ended at the end."""
    wired = [*WIRED, *chromium(folder), *_FLAGS, *flags]
    with subprocess.Popen(
        wired, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as process:
        try:
            yield Browser(process)
        finally:
            process.kill()
