"""The server of the tracker as a process, asked as its page asks it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from tests.examples.scenes_process import WAIT_S, Reply

TRACKER = Path(__file__).parents[2] / "examples" / "tracker"
_READY = "Tracker is listening on "


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracker:
    """The running server."""

    process: subprocess.Popen[str]
    url: str
    folder: Path

    @property
    def said(self) -> str:
        """What it has written to stderr so far."""
        return (self.folder / "tracker.err").read_text("utf-8")

    def stop(self) -> None:
        """Ask it to end, and wait until it has."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(WAIT_S)


@dataclass(slots=True)
class Visitor:
    """A browser: it keeps cookies, and says which page asks."""

    tracker: Tracker
    cookies: dict[str, str] = field(default_factory=dict[str, str])

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send a request; a body that is no bytes goes out as JSON."""
        parts = urlsplit(self.tracker.url)
        raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        sent = {} if method == "GET" else {"Origin": self.tracker.url}
        if raw is not None:
            sent["Content-Type"] = "application/json"
        if self.cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        with closing(http.client.HTTPConnection(parts.netloc, timeout=WAIT_S)) as connection:
            connection.request(method, path, raw, {**sent, **(headers or {})})
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            reply = Reply(status=answer.status, headers=found, body=answer.read())
        if given := reply.headers.get("set-cookie"):
            name, _, value = given.partition(";")[0].partition("=")
            self.cookies[name] = value
        return reply

    def sign_in(self, user: str) -> Visitor:
        """Become somebody."""
        assert self.ask("POST", "/sign-in", {"user": user}).status == 200
        return self


@contextmanager
def tracker(
    folder: Path, *, dist: Path | None = None, port: str = "0", **env: str
) -> Generator[Tracker]:
    """The server with a database in a folder; killed in the end."""
    command = [sys.executable, str(TRACKER / "server.py"), "--port", port]
    command += ["--database", str(folder / "tracker.db"), "--dist", str(dist or folder / "dist")]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("REMIT_")}
    with (
        (folder / "tracker.err").open("a", encoding="utf-8") as err,
        subprocess.Popen(
            command,
            cwd=folder,
            env={**kept, **env},
            stdout=subprocess.PIPE,
            stderr=err,
            text=True,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            line = process.stdout.readline().strip()
            assert line.startswith(_READY), (folder / "tracker.err").read_text("utf-8")
            yield Tracker(process=process, url=line.removeprefix(_READY), folder=folder)
        finally:
            if process.poll() is None:
                process.kill()


def refusal_to_start(folder: Path, **env: str) -> tuple[int, str]:
    """Start it with settings that it does not take: its exit code, and what it says."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("REMIT_")}
    done = subprocess.run(
        [sys.executable, str(TRACKER / "server.py"), "--port", "0"],
        cwd=folder,
        env={**kept, **env},
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )
    return done.returncode, done.stderr
