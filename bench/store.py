"""What a row of the call ledger costs: rows a second, the wait for the commit, CPU for each row.

    python bench/store.py [SQLITE-FILE | postgresql://…]

Producers wait for each commit, as a call waits before it is sent or answered; ``burst`` waits
for all of its rows at once. A read is one row, written when it has ended; a write is two commits:
its intent, then its outcome.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from remit.gateway.ledger import CallRow
from remit.store import migrating
from remit.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

ROWS = 30_000
RECORD = '{"request":{"method":"POST","url":"https://api.acme.example/v1/orders"}}' * 10
NOW = 1_764_500_000_000


def row(number: int, status: str) -> CallRow:
    """A call as the Tools API makes it, with a record of 0.7 kB."""
    ended = status == "done"
    return CallRow(
        workspace="acme",
        id=f"call_{time.time_ns():020d}{number:08d}",
        app="acme-orders",
        version=1,
        tool="pay_order",
        user="ada",
        status="done" if ended else "sending",
        category="read" if ended else "write",
        danger_level="moderate",
        source="api",
        at=NOW + number,
        updated_at=NOW + number,
        record_json=RECORD,
        outcome="ok" if ended else None,
        sent_at=NOW + number,
        node=None if ended else "n1",
    )


async def read(store: Store, made: CallRow) -> None:
    """One row, when the call has ended."""
    await store.calls.plan("acme", made)


async def write(store: Store, planned: CallRow) -> None:
    """The intent, and then the outcome."""
    await store.calls.plan("acme", planned)
    await store.calls.finish(
        "acme",
        planned.id,
        was="sending",
        status="done",
        outcome="ok",
        record_json=RECORD,
        at=NOW,
    )


async def producers(
    store: Store, count: int, work: Callable[[Store, CallRow], Awaitable[None]], commits: int
) -> str:
    """So many producers at once; what they reached, as a line."""
    waits: list[float] = []
    status = "done" if work is read else "sending"
    rows = [row(number, status) for number in range(ROWS // commits)]

    async def produce(first: int) -> None:
        for number in range(first, len(rows), count):
            began = time.perf_counter()
            await work(store, rows[number])
            waits.append(time.perf_counter() - began)

    cpu, began = time.process_time(), time.perf_counter()
    await asyncio.gather(*(produce(first) for first in range(count)))
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    waits.sort()
    return (
        f"{ROWS / took:9,.0f} rows/s   wait p50 {waits[len(waits) // 2] * 1e3:6.2f}"
        f"  p99 {waits[len(waits) * 99 // 100] * 1e3:6.2f} ms   cpu {cpu / ROWS * 1e6:5.1f} us/row"
    )


async def measure(url: str) -> None:
    """Print each kind three times: on a shared machine one figure means little."""
    migrating.upgrade(url)
    async with Store(url) as store:
        for _ in range(3):
            for count in (16, 64, 512):
                print(f"read   {count:5} producers {await producers(store, count, read, 1)}")
            print(f"write  {64:5} producers {await producers(store, 64, write, 2)}")
            print(f"burst  {ROWS:5} at once    {await producers(store, ROWS, read, 1)}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        given = sys.argv[1]
        asyncio.run(measure(given if "://" in given else f"sqlite:///{given}"))
    else:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(measure(f"sqlite:///{Path(folder) / 'bench.db'}"))
