"""The component of Acme Bookmarks as a process, called as Remit does, framed as a chat does."""

from __future__ import annotations

import fcntl
import hashlib
import http.client
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from remit.kit import ToolContext
from remit.kit.testing import API, THREAD, Issuer
from remit.main.free_port import free_port
from tests.examples.scenes_process import WAIT_S, Reply

BOOKMARKS = Path(__file__).parents[2] / "examples" / "bookmarks"
AUDIENCE = "acme-bookmarks/api"
_READY = "Acme Bookmarks is listening on "


def packages() -> bool:
    """Whether the example's npm packages are there; they are installed where they can be."""
    key = hashlib.sha256(str(BOOKMARKS).encode()).hexdigest()[:16]
    # Several workers come by at once.
    with (Path(tempfile.gettempdir()) / f"remit-npm-{key}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run([BOOKMARKS.parents[1] / ".ci" / "example"], check=True)
    return (BOOKMARKS / "node_modules" / ".installed").is_file()


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """The running component, and who signs for its users."""

    url: str
    issuer: Issuer
    database: Path

    def call(
        self,
        path: str,
        args: object = None,
        *,
        user: str = "ana",
        installation: str = "here",
        context: ToolContext = THREAD,
    ) -> Reply:
        """Call a route for a user."""
        headers = {
            **self.issuer.headers(AUDIENCE, context=context, user=user),
            "Authorization": "Bearer "
            + self.issuer.token(AUDIENCE, user=user, installation=installation),
        }
        return self.ask("POST", path, args or {}, headers=headers)

    def by_api(self, path: str, args: object = None) -> Reply:
        """Call a route for Ana outside a conversation."""
        return self.call(path, args, context=API)

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send a request; an answer that leads elsewhere is not followed."""
        sent = None if body is None else json.dumps(body).encode()
        parts = urlsplit(self.url)
        with closing(http.client.HTTPConnection(parts.netloc, timeout=WAIT_S)) as connection:
            connection.request(method, path, sent, dict(headers or {}))
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(status=answer.status, headers=found, body=answer.read())

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Read the component's database from outside, while it runs."""
        with closing(sqlite3.connect(self.database, timeout=WAIT_S)) as connection:
            return connection.execute(statement, values).fetchall()

    def change(self, statement: str, *values: object) -> None:
        """Change the component's database from outside, while it runs."""
        with closing(sqlite3.connect(self.database, timeout=WAIT_S)) as connection, connection:
            connection.execute(statement, values)


@dataclass(slots=True)
class Frame:
    """What a browser does with the address of a frame: it follows, and keeps cookies."""

    component: Component
    cookies: dict[str, str] = field(default_factory=dict[str, str])
    given: list[str] = field(default_factory=list[str])

    def open(self, address: str) -> Reply:
        """Go to an address, and on where it leads."""
        path = address.removeprefix(self.component.url)
        for _ in range(3):
            headers = {"Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items())}
            reply = self.component.ask("GET", path, headers=headers if self.cookies else None)
            if "set-cookie" in reply.headers:
                self.given.append(reply.headers["set-cookie"])
                name, _, value = self.given[-1].partition(";")[0].partition("=")
                self.cookies[name] = value
            if reply.status != 303:
                return reply
            path = reply.headers["location"]
        raise AssertionError("it leads on and on")


@contextmanager
def component(folder: Path, *, brand: str = "Remit", **env: str) -> Generator[Component]:
    """The component with a database in a folder; killed in the end."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    database = folder / "bookmarks.db"
    command = [sys.executable, str(BOOKMARKS / "serve.py"), "--database", str(database)]
    kept = {key: value for key, value in os.environ.items() if not key.startswith("REMIT_")}
    with Issuer(brand=brand) as issuer:
        told = issuer.environment(AUDIENCE, component_url=url)
        with subprocess.Popen(
            [*command, "--port", str(port)],
            cwd=folder,
            env={**kept, **told, **env},
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                assert process.stdout is not None
                assert process.stdout.readline().strip() == f"{_READY}{url}"
                yield Component(url=url, issuer=issuer, database=database)
            finally:
                process.kill()
