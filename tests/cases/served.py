"""Sets a case up at a server: the HTTP API over a scratch store, in process, with a scripted app.

Store, vault, worker and routes are those of ``remit serve``; time and the way out are the case's.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import shutil
import sqlite3
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import httpx

from remit.gateway.consenting import grant
from remit.gateway.ports import WireResponse
from remit.store import migrating
from tests.cases.verdicts import Json
from tests.gateway.fakes import CREDENTIAL, ScriptedEgress, answer
from tests.web.api import Api, open_api

#: What a call of an approval is made with, where the case does not say.
REFUND = {"name": "7", "amount": 1}
CANARY = CREDENTIAL


class _Records(logging.Handler):
    """Keeps what is logged, one line each as a file would have it."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        self.lines.append(self.format(record))


@dataclass
class Served:
    """The API with the app ``acme`` in force, and all that can be read behind it."""

    api: Api
    file: Path
    records: _Records = field(default_factory=_Records)

    @property
    def sent(self) -> list[str]:
        """What reached the app: method and path of each request."""
        return self.api.stage.egress.lines

    @property
    def writes(self) -> list[str]:
        """What reached the app and may have changed it."""
        return [line for line in self.sent if not line.startswith("GET ")]

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Read or change the store behind the server's back."""
        with closing(sqlite3.connect(self.file, timeout=10)) as connection:
            found = connection.execute(sql, values).fetchall()
            connection.commit()
            return found

    def dump(self) -> str:
        """The whole database as SQL, and the bytes of its files."""
        with closing(sqlite3.connect(self.file, timeout=10)) as connection:
            text = "\n".join(connection.iterdump())
        files = [file.read_bytes() for file in self.file.parent.iterdir() if file.is_file()]
        return text + "".join(data.decode("latin-1") for data in files)

    async def waiting(self, args: Json = None) -> dict[str, Json]:
        """The input of a refund that waits for a person."""
        called = await self.api.call("refund", REFUND if args is None else args)
        if called.status_code != 202:
            raise AssertionError(f"expected a call that waits, seen {said(called)}")
        return (await self.api.get(f"/v1/inputs/{called.json()['inputId']}")).json()

    async def press(
        self,
        card: Json,
        decision: str = "approve",
        **more: Any,  # noqa: ANN401 (those of send)
    ) -> httpx.Response:
        """Answer an input as it was shown."""
        body = {"decision": decision, "digest": card["digest"], "user": "ana"}
        return await self.api.post(f"/v1/inputs/{card['id']}/answer", body, **more)

    async def add(self, document: Json) -> str:
        """Put another app in force, and let ``ana`` use it; gives its id."""
        server = self.api.stage.server
        version = await server.approved(document)
        await grant(server.books, server.operator, version.app, "ana", version.number)
        return version.app

    async def settled(self) -> None:
        """Wait for all that the server has begun, the worker's next round included."""
        await self.api.stage.settled()
        await self.api.stage.work()


def said(response: httpx.Response) -> str:
    """A response in a line, for a failure."""
    return f"{response.status_code} {response.text[:200]}"


def serve(
    act: Callable[[Served], Awaitable[list[str]]],
    *answers: WireResponse,
    egress: ScriptedEgress | None = None,
    **settings: Json,
) -> list[str]:
    """Run one act against a server of its own and give its faults; a fault of ours is one.

    Args:
        act: what is done, and judged.
        answers: of the app, in order; the last one repeats.
        egress: the app itself, where it must do more.
        settings: those of ``HttpSettings``.
    """
    with tempfile.TemporaryDirectory(prefix="remit-served-") as folder:
        file = Path(shutil.copy(_template(), Path(folder) / "remit.db"))
        return asyncio.run(_served(file, act, answers, egress, settings))


async def _served(
    file: Path,
    act: Callable[[Served], Awaitable[list[str]]],
    answers: Sequence[WireResponse],
    egress: ScriptedEgress | None,
    settings: Json,
) -> list[str]:
    apps = answers or (answer({"total": 5, "id": "j1"}),)
    async with open_api(file, *apps, egress=egress, **settings) as api:
        served = Served(api=api, file=file)
        logging.getLogger().addHandler(served.records)
        try:
            faults = await act(served)
            await api.stage.settled()
        finally:
            logging.getLogger().removeHandler(served.records)
        faults += [f"a fault of ours: {fault!r}" for _, fault in api.faults]
        return faults + [f"a fault of a task: {fault!r}" for fault in api.stage.faults]


@cache
def _template() -> Path:
    """A SQLite file with our schema, made once."""
    folder = tempfile.mkdtemp(prefix="remit-schema-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder) / "template.db"
    migrating.upgrade(f"sqlite:///{path}")
    return path
