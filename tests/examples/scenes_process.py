"""Acme Scenes as a process: started on a free port, spoken to over HTTP, its database read."""

from __future__ import annotations

import http.client
import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Mapping, Set
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import pytest

SCENES = Path(__file__).parents[2] / "examples" / "scenes"
ANA = {"Authorization": "Bearer ana-token"}
BEN = {"Authorization": "Bearer ben-token"}
WAIT_S = 30
_JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer of the app."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:  # noqa: ANN401 - whatever the app answers
        """Decode the body."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningApp:
    """The app as a process, with its database and its catalog file."""

    process: subprocess.Popen[str]
    url: str
    database: Path
    tools: Path

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        headers: Mapping[str, str] = ANA,
    ) -> Reply:
        """Send one request; a body that is no bytes goes out as JSON. A full URL is fine too."""
        parts = urlsplit(path)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        sent = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        extra = _JSON if sent is not None else {}
        with closing(http.client.HTTPConnection(self.address, timeout=WAIT_S)) as connection:
            connection.request(method, target, sent, {**extra, **headers})
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(status=answer.status, headers=found, body=answer.read())

    @property
    def address(self) -> str:
        """Host and port."""
        return urlsplit(self.url).netloc

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Read the app's database from outside, while it runs."""
        with closing(sqlite3.connect(self.database, timeout=WAIT_S)) as connection:
            return connection.execute(statement, values).fetchall()

    def wait_for_job(
        self, job_id: str, *, until: Set[str] = frozenset({"done", "failed"})
    ) -> tuple[Any, set[str]]:
        """Ask for a job until it ends; returns its last answer and every status seen."""
        seen: set[str] = set()
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            job = self.ask("GET", f"/v1/jobs/{job_id}").json()
            seen.add(job["status"])
            if job["status"] in until:
                return job, seen
        pytest.fail(f"The job did not end within {WAIT_S} s; it was {seen}.")


class Start(Protocol):
    """Starts an app; a second one in the same test has the same database."""

    def __call__(self, *, render_s: float = 0.3) -> RunningApp:
        """Start it; a rendering takes about `render_s` seconds."""
        ...


def start_app(stack: ExitStack, folder: Path, *, render_s: float = 0.3) -> RunningApp:
    """Start the app on a free port; the stack ends it."""
    tools, database = folder / "tools.json", folder / "scenes.db"
    if not tools.exists():
        tools.write_bytes((SCENES / "catalog.json").read_bytes())
    command = [sys.executable, str(SCENES / "app.py"), "--port", "0", "--database", str(database)]
    command += ["--tools", str(tools), "--render-seconds", str(render_s)]
    process = stack.enter_context(
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    )
    stack.callback(process.kill)
    assert process.stdout is not None
    line = process.stdout.readline()
    start = "Acme Scenes is listening on http://127.0.0.1:"
    assert line.startswith(start), line
    url = line.removeprefix("Acme Scenes is listening on ").strip()
    return RunningApp(process=process, url=url, database=database, tools=tools)


def stop(app: RunningApp, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
    """Signal the app; returns its exit code and what it said to stderr."""
    app.process.send_signal(number)
    _, errors = app.process.communicate(timeout=WAIT_S)
    return app.process.returncode, errors
