"""Everything that a run lets out, kept by the name of the place that it came out at."""

from __future__ import annotations

import http.client
import json
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from remit.main.cli import main
from tests import databases
from tests.canary.leaky import LeakyApp
from tests.main.conftest import Ran
from tests.main.processes import WAIT_S, environment, run


@dataclass
class Capture:
    """What came out where.

    Attributes:
        places: bytes by place: ``wire to <app>: …``, ``answer <n> to <what>``,
            ``<command>: stdout``, ``file <name> (<when>)``, ``table … (<when>)``.
    """

    folder: Path
    store_url: str
    env: Mapping[str, str]
    places: dict[str, bytes] = field(default_factory=dict[str, bytes])
    lock: threading.Lock = field(default_factory=threading.Lock)

    def keep(self, place: str, data: bytes) -> None:
        """Keep what came out at a place."""
        with self.lock:
            assert place not in self.places, place
            self.places[place] = data

    def command(self, *arguments: str, hidden: str = "", **env: str) -> Ran:
        """Run a command to its end and keep what it says.

        It runs in this process, which takes a tenth of the time; ``process`` runs one of its own.

        Args:
            arguments: its command line.
            hidden: stands in the name of the place where an argument is a secret.
            env: besides that of the run.
        """
        out, err = (TextIOWrapper(BytesIO(), "utf-8", newline="\n") for _ in range(2))
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            patch.chdir(self.folder)
            for name in [name for name in os.environ if name.startswith("REMIT_")]:
                patch.delenv(name)
            for name, value in environment({**self.env, **env}).items():
                patch.setenv(name, value)
            code = main(arguments)
        said = [stream.detach() for stream in (out, err)]
        texts = [one.getvalue().decode() for one in said]
        return self._said(Ran(code=code, out=texts[0], err=texts[1]), arguments, hidden)

    def process(self, *arguments: str) -> Ran:
        """Run a command as a process and keep what it says."""
        return self._said(run(self.folder, *arguments, **self.env), arguments, "")

    def _said(self, ran: Ran, arguments: Sequence[str], hidden: str) -> Ran:
        name = f"{hidden or ' '.join(arguments)} [{len(self.places)}]"
        # What `keys create` prints is the key: whoever asked for it has it from there.
        if arguments[:2] != ("keys", "create"):
            self.keep(f"{name}: stdout", ran.out.encode())
        self.keep(f"{name}: stderr", ran.err.encode())
        return ran

    def look(self, when: str) -> None:
        """Keep every file and every table as it is now, but for the master keys' own file."""
        kept = self.store_url.startswith("postgresql")
        for name, data in (databases.kept(self.store_url) if kept else {}).items():
            self.keep(f"{name} ({when})", data)
        for file in sorted(self.folder.rglob("*")):
            if file.is_file():
                place = f"file {file.relative_to(self.folder)} ({when})"
                # A journal may be gone by now.
                self.keep(place, file.read_bytes() if file.exists() else b"")

    def wires(self, apps: Iterable[tuple[str, LeakyApp]]) -> None:
        """Keep every request that each app received."""
        for kind, app in apps:
            for number, request in enumerate(app.requests):
                self.keep(f"wire to {kind}: request {number}", request)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer of the API, as it came."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:  # noqa: ANN401 - JSON
        """Its body."""
        return json.loads(self.body)


@dataclass
class Client:
    """The API with one key; every answer is kept."""

    capture: Capture
    url: str
    key: str

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        what: str = "",
        raw: bytes | None = None,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send a request.

        Args:
            method: of HTTP.
            path: percent-encoded.
            body: sent as JSON.
            what: begins the name of the place, and then the path is not in it.
            raw: a body as it is, in place of ``body``.
            key: in place of this client's.
            headers: further ones, in small letters.
        """
        parts = urlsplit(self.url)
        sent = {"authorization": f"Bearer {key or self.key}", "content-type": "application/json"}
        sent |= headers or {}
        data = json.dumps(body).encode() if raw is None and body is not None else raw
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=WAIT_S)
        try:
            connection.request(method, path, data, sent)
            response = connection.getresponse()
            reply = Reply(
                status=response.status, headers=dict(response.headers), body=response.read()
            )
        finally:
            connection.close()
        with self.capture.lock:
            number = len(self.capture.places)
            head = "".join(f"{name}: {value}\n" for name, value in reply.headers.items())
            # An answer to whoever misplaced a secret may name the key that is wrong: that one.
            place = f"{what or 'answer'}, {number} to {method}{'' if what else f' {path}'}"
            self.capture.places[place] = head.encode() + reply.body
        return reply

    def done(self, method: str, path: str, body: object = None, *, what: str = "") -> Any:  # noqa: ANN401 - JSON
        """Send a request that must go well."""
        reply = self.ask(method, path, body, what=what)
        assert reply.status in {200, 201, 202, 204}, (path, reply.status, reply.body[:500])
        return reply.json if reply.body else None
