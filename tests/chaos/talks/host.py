"""The app as a process: every request is in its database before anything is answered.

``python -m tests.chaos.talks.host DATABASE`` prints its port. A write is answered some 150 ms late:
who dies meanwhile does not know what became of it. ``POST /next-write`` is answered as soon as a
write that may not be sent again has come, and that one's answer is kept back for longer.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from remit.testing.loopback import Exchange, HttpRequest, LoopbackServer
from tests.chaos.shop import ADD, GET, ONCE, PUT, REFUND, RENDER

POLL = "poll"
_LATE_S, _HELD_S, _READ_S = 0.15, 0.6, 0.02
_POLLS = 2
_KINDS = {
    ("POST", "/orders"): ADD,
    ("PUT", "/orders"): PUT,
    ("POST", "/jobs"): RENDER,
    ("POST", "/refunds"): REFUND,
}
_TABLES = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = OFF;
CREATE TABLE arrival (kind TEXT, number INTEGER, key TEXT);
CREATE TABLE applied (kind TEXT, number INTEGER, key TEXT);
CREATE UNIQUE INDEX once ON applied (key) WHERE kind = 'put_order';
"""


@dataclass(frozen=True, slots=True)
class Visit:
    """A request that came: the tool or ``poll``, its order, its ``Idempotency-Key`` or nothing."""

    kind: str
    order: int
    key: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """What the app saw, and what it did."""

    visits: Sequence[Visit]
    applied: Counter[tuple[str, int]]


def read_ledger(database: Path) -> Ledger:
    """All of it."""
    with closing(sqlite3.connect(database)) as opened:
        visits = [Visit(*row) for row in opened.execute("SELECT kind, number, key FROM arrival")]
        counted = "SELECT kind, number, count(*) FROM applied GROUP BY kind, number"
        applied = {(row[0], row[1]): row[2] for row in opened.execute(counted)}
    return Ledger(visits, Counter(applied))


class Host(LoopbackServer):
    """The app."""

    def __init__(self, database: str) -> None:
        super().__init__()
        self._rows = sqlite3.connect(database, isolation_level=None, check_same_thread=False)
        self._rows.executescript(_TABLES)
        self._polls = Counter[int]()
        self._awaited: list[asyncio.Event] = []

    async def respond(self, request: HttpRequest, exchange: Exchange) -> None:
        """Write it down, do it, answer late."""
        if request.path == "/next-write":
            came = asyncio.Event()
            self._awaited.append(came)
            await came.wait()
            await exchange.answer(200, b"{}", "application/json")
            return
        kind = _KINDS.get((request.method, request.path))
        found: dict[str, object] = {}
        if kind is not None:
            order: int = request.json["order"]
        else:
            kind = GET if request.path.startswith("/orders/") else POLL
            order = int(request.path.rpartition("/")[2])
        row = (kind, order, request.headers.get("idempotency-key", ""))
        self._rows.execute("INSERT INTO arrival VALUES (?, ?, ?)", row)
        if kind == POLL:
            self._polls[order] += 1
            found["status"] = "done" if self._polls[order] > _POLLS else "running"
        elif kind != GET:
            self._rows.execute("INSERT OR IGNORE INTO applied VALUES (?, ?, ?)", row)
        await asyncio.sleep(self._late_s(kind))
        found |= {"order": order, "id": order}
        await exchange.answer(200, json.dumps(found).encode(), "application/json")

    def _late_s(self, kind: str) -> float:
        if kind in {GET, POLL}:
            return _READ_S
        if kind not in ONCE or not self._awaited:
            return _LATE_S
        for came in self._awaited:
            came.set()
        self._awaited.clear()
        return _HELD_S


if __name__ == "__main__":
    with Host(sys.argv[1]) as server:
        print(server.port, flush=True)  # noqa: T201 - a program of its own
        threading.Event().wait()
