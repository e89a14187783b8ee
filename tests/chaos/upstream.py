"""The app as a process: it writes down every request before all else, and answers at its whim.

``python -m tests.chaos.upstream LEDGER SEED`` prints its port. What it does with a request follows
from the seed, the order and how often that order came, so that two runs of one seed meet the same
whims. ``POST /hold`` keeps every answer to a write back until ``POST /release``, and is answered
once it holds one that may not be sent again: its bytes have left, and no answer has come.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.chaos.shop import ADD, GET, ONCE, PUT, REFUND, RENDER, TIMEOUT_MS

POLL = "poll"
#: What is done with how many of a thousand requests; with all others, an answer at once.
WHIMS = {
    "slow": 60,
    "drop": 20,
    "reset": 10,
    "cut": 10,
    "500": 20,
    "503": 10,
    "503 later": 10,
    "leave": 10,
    "stuck": 2,
}
#: No whole answer comes, although the request was read.
UNANSWERED = frozenset({"drop", "reset", "cut"})
_STUCK_S = TIMEOUT_MS / 1000 + 1
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_KEY = re.compile(rb"\r\nidempotency-key: *([!-~]+)", re.IGNORECASE)
_KINDS = {
    b"POST /orders": ADD,
    b"PUT /orders": PUT,
    b"POST /jobs": RENDER,
    b"POST /refunds": REFUND,
}


@dataclass(slots=True)
class Visit:
    """One request, as the ledger has it.

    Attributes:
        kind: the tool, or ``poll``.
        key: its ``Idempotency-Key``; empty where it had none.
        does: the whim.
        status: of the answer that was written whole; None where none was.
    """

    kind: str
    order: int
    key: str
    does: str
    status: int | None = None


def read_ledger(file: Path) -> list[Visit]:
    """All requests that came, in their order."""
    visits: list[Visit] = []
    for line in file.read_text("utf-8").splitlines():
        entry: list[Any] = json.loads(line)
        if len(entry) == 2:
            visits[entry[0]].status = entry[1]
        else:
            visits.append(Visit(*entry))
    return visits


class Shop:
    """What all connections share."""

    def __init__(self, ledger: Path, seed: str) -> None:
        self._file = os.open(ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        self._seed = seed
        self._visits = 0
        self._came = Counter[tuple[str, int]]()
        self._holds = False
        self._held: list[Callable[[], None]] = []
        self._waiting: list[Callable[[], None]] = []

    def hold(self, held: Callable[[], None]) -> None:
        """Keep answers to writes back from now on; ``held`` is told of the first."""
        self._holds = True
        self._waiting.append(held)

    def release(self) -> None:
        """Give the answers that were kept back."""
        self._holds = False
        waiting, self._waiting = [*self._waiting, *self._held], []
        self._held = []
        for go_on in waiting:
            go_on()

    def ask(self, line: bytes, key: str, body: bytes) -> tuple[int, str, bytes]:
        """Write a request down: its number, what is done with it, and the answer's body."""
        kind = _KINDS.get(line)
        if kind is not None:
            order: int = json.loads(body)["order"]
        else:
            kind = GET if line.startswith(b"GET /orders/") else POLL
            order = int(line.rpartition(b"/")[2])
        self._came[kind, order] += 1
        nth = self._came[kind, order]
        does = self._whim(kind, order, nth)
        number = self._visits
        self._visits += 1
        self._write([kind, order, key, does])
        found: dict[str, object] = {"order": order, "id": order}
        if kind == POLL:
            found["status"] = self._state(order, nth)
        return number, does, json.dumps(found).encode()

    def answered(self, number: int, status: int) -> None:
        """Write down that a request got its whole answer."""
        self._write([number, status])

    def keeps(self, line: bytes, go_on: Callable[[], None]) -> bool:
        """Whether an answer is kept back; ``go_on`` gives it later."""
        if not self._holds or line not in _KINDS:
            return False
        self._held.append(go_on)
        if _KINDS[line] in ONCE:
            waiting, self._waiting = self._waiting, []
            for held in waiting:
                held()
        return True

    def _whim(self, kind: str, order: int, nth: int) -> str:
        drawn = self._drawn(f"{kind} {order} {nth}", 1000)
        for whim, share in WHIMS.items():
            if drawn < share:
                return whim
            drawn -= share
        return "answer"

    def _state(self, order: int, nth: int) -> str:
        drawn = self._drawn(f"job {order}", 100)
        if nth <= drawn % 3:
            return "running"
        return "broken" if drawn >= 96 else "done"

    def _drawn(self, what: str, below: int) -> int:
        return zlib.crc32(f"{self._seed} {what}".encode()) % below

    def _write(self, entry: Iterable[object]) -> None:
        os.write(self._file, (json.dumps(entry) + "\n").encode())


class Connection(asyncio.Protocol):
    """One connection; its requests come one after another."""

    def __init__(self, shop: Shop) -> None:
        self._shop = shop
        self._read = b""
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what is written to."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody hears an answer any more."""
        self._transport = None

    def data_received(self, data: bytes) -> None:
        """Take whole requests out of what was read."""
        self._read += data
        while (end := self._read.find(b"\r\n\r\n")) >= 0:
            head = self._read[: end + 2]
            length = _LENGTH.search(head)
            whole = end + 4 + (int(length[1]) if length else 0)
            if len(self._read) < whole:
                return
            body, self._read = self._read[end + 4 : whole], self._read[whole:]
            self._asked(head, body)

    def _asked(self, head: bytes, body: bytes) -> None:
        line = head[: head.index(b" HTTP/")]
        if line == b"POST /hold":
            self._shop.hold(lambda: self._say(200, b"{}"))
        elif line == b"POST /release":
            self._shop.release()
            self._say(200, b"{}")
        else:
            key = _KEY.search(head)
            number, does, found = self._shop.ask(line, key[1].decode() if key else "", body)

            def go_on() -> None:
                self._do(number, does, found)

            if not self._shop.keeps(line, go_on):
                delay_s = {"slow": 0.05 + number % 7 * 0.05, "stuck": _STUCK_S}.get(does)
                if delay_s is None:
                    go_on()
                else:
                    self._loop.call_later(delay_s, go_on)

    def _do(self, number: int, does: str, found: bytes) -> None:
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        if does == "reset":
            transport.abort()
        elif does == "drop":
            transport.close()
        elif does == "cut":
            transport.write(_whole(200, found)[:-3])
            transport.close()
        else:
            status = int(does[:3]) if does[:1] == "5" else 200
            later = "Retry-After: 1\r\n" if does == "503 later" else ""
            self._shop.answered(number, status)
            self._say(status, found if status == 200 else b'{"code": "whim"}', later)
            if does == "leave":
                transport.close()

    def _say(self, status: int, body: bytes, more: str = "") -> None:
        if self._transport is not None:
            self._transport.write(_whole(status, body, more))


def _whole(status: int, body: bytes, more: str = "") -> bytes:
    head = f"HTTP/1.1 {status} Said\r\nContent-Type: application/json\r\n{more}"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def main(ledger: str, seed: str) -> None:
    """Serve until the process is ended."""
    shop = Shop(Path(ledger), seed)
    server = await asyncio.get_running_loop().create_server(
        lambda: Connection(shop), "127.0.0.1", 0, backlog=1024
    )
    print(server.sockets[0].getsockname()[1], flush=True)  # noqa: T201 - a program of its own
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
