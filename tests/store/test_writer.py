"""The one writer: whatever waits goes together, and each piece fails alone."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
import time
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from msgspec import structs
from sqlalchemy import Connection, event, func, select, text, update

from remit.errors import RemitError, StoreUnavailable
from remit.gateway.ledger import CallChange
from remit.store import migrating
from remit.store.base import Database
from remit.store.engine import open_engine, to_disk
from remit.store.schema import audit, policies
from remit.store.store import Store
from tests.store.making import NOW, W, act, call, fresh

END: dict[str, Any] = {
    "was": "sending", "status": "done", "outcome": "ok", "record_json": "{}", "at": NOW,
}  # fmt: skip


async def test_what_many_producers_write_is_all_there(store: Store, beside: Store) -> None:
    """64 at once, each row committed when its producer goes on."""
    rows = [[call() for _ in range(10)] for _ in range(64)]

    async def produce(mine: list[object]) -> None:
        for row in mine:
            assert await store.calls.plan(W, row)
            assert await beside.calls.get(W, row.id) == row

    await asyncio.gather(*(produce(mine) for mine in rows))


async def test_failing_piece_fails_alone(store: Store) -> None:
    """In one batch: rows, a row that the database refuses, a taken id, a unit that raises."""
    taken, bad = call(), call(status="done")
    await store.calls.plan(W, taken)
    good = [call() for _ in range(20)]
    pieces = [store.calls.plan(W, row) for row in good]
    pieces.insert(3, store.calls.plan(W, bad))
    pieces.insert(7, store.calls.plan(W, structs.replace(taken, tool="other")))
    pieces.insert(9, store.policies.put("globex", "{}", if_number=0, act=act(W)))

    results = await asyncio.gather(*pieces, return_exceptions=True)

    assert isinstance(results.pop(9), ValueError)
    assert results.pop(7) is False
    assert isinstance(results.pop(3), RemitError)
    assert results == [True] * 20
    assert all([await store.calls.get(W, row.id) for row in good])
    assert await store.calls.get(W, bad.id) is None
    assert await store.policies.current("globex") is None


async def test_unit_that_raises_leaves_nothing_behind(url: str) -> None:
    """What a unit wrote before it failed is rolled back with it, and not with the others."""
    database = Database(open_engine(url, connections=3), readers=2)
    entry, other = act(), act()

    def failing(connection: Connection) -> None:
        connection.execute(audit.insert().values(**_columns(entry)))
        msg = "on purpose"
        raise KeyError(msg)

    def fine(connection: Connection) -> int:
        connection.execute(audit.insert().values(**_columns(other)))
        return 7

    results = await asyncio.gather(
        database.write(failing), database.write(fine), return_exceptions=True
    )
    count = await database.read(
        lambda connection: connection.scalar(select(func.count(audit.c.id)))
    )
    await database.close()

    assert isinstance(results[0], KeyError)
    assert results[1] == 7
    assert count == 1


async def test_piece_that_loses_a_deadlock_is_tried_again(migrated_postgres: str) -> None:
    """Two nodes wait for each other's rows; the loser's caller does not notice."""
    first, second = fresh("w"), fresh("w")
    holds_first, wants_first = threading.Event(), threading.Event()

    def count(connection: Connection, workspace: str) -> None:
        connection.execute(update(policies).where(policies.c.workspace == workspace).values(by="x"))

    def unit(connection: Connection) -> str:
        count(connection, first)
        holds_first.set()
        assert wants_first.wait(10)
        count(connection, second)
        return "done"

    def other_node() -> None:
        engine = open_engine(migrated_postgres)
        with engine.begin() as connection:
            # So that the writer is the one that PostgreSQL ends.
            connection.execute(text("SET LOCAL deadlock_timeout = '30s'"))
            count(connection, second)
            assert holds_first.wait(10)
            waiter = threading.Thread(target=count, args=(connection, first))
            waiter.start()
            _until_somebody_waits(migrated_postgres)
            wants_first.set()
            waiter.join(10)
        engine.dispose()

    async with Store(migrated_postgres) as store:
        for name in (first, second):
            await store.policies.put(name, "{}", if_number=0, act=act(name))
        written = store._database.write(unit)  # noqa: SLF001
        await asyncio.to_thread(other_node)
        assert await written == "done"


def _until_somebody_waits(url: str) -> None:
    engine = open_engine(url)
    waiting = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        with engine.connect() as connection:
            if connection.scalar(waiting):
                break
    engine.dispose()


async def test_cancelled_piece_harms_no_other(store: Store) -> None:
    """A task that is cancelled while it waits does not take its neighbours with it."""
    rows = [call() for _ in range(30)]
    tasks = [asyncio.ensure_future(store.calls.plan(W, row)) for row in rows]
    await asyncio.sleep(0)
    for task in tasks[::3]:
        task.cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)

    others = [result for number, result in enumerate(results) if number % 3]
    assert others == [True] * 20
    assert await store.calls.plan(W, call())


async def test_two_event_loops_share_a_store(url: str) -> None:
    """Each future is told on the loop that waits for it."""
    async with Store(url) as store:
        done: list[bool] = []

        async def plan() -> None:
            done.append(await store.calls.plan(W, call()))

        other = threading.Thread(target=lambda: asyncio.run(plan()))
        other.start()
        assert await store.calls.plan(W, call())
        await asyncio.to_thread(other.join)
        assert done == [True]


async def test_closing_writes_what_waits_and_refuses_what_comes(url: str) -> None:
    """A shutdown loses no row that was taken."""
    store = Store(url)
    rows = [call() for _ in range(50)]
    waiting = [asyncio.ensure_future(store.calls.plan(W, row)) for row in rows]
    await asyncio.sleep(0)
    await store.close()
    assert await asyncio.gather(*waiting) == [True] * 50
    with pytest.raises(StoreUnavailable, match="shutting down"):
        await store.calls.plan(W, call())
    await store.close()

    async with Store(url) as again:
        assert all([await again.calls.get(W, row.id) for row in rows])


async def test_only_the_end_of_a_call_does_not_wait_for_the_disk(tmp_path: Path) -> None:
    """Intents, moves and all else do, and so does an end that goes with one of them."""
    store, said = _heard(tmp_path)
    async with store:
        first, second, third = call(), call(), call()
        await store.calls.plan(W, first)
        await store.calls.plan(W, second)
        await store.policies.put(W, "{}", if_number=0, act=act())
        assert await store.calls.finish(W, first.id, **END)
        await asyncio.gather(store.calls.plan(W, third), store.calls.finish(W, second.id, **END))
        change = CallChange(status="polling", at=NOW, next_poll_at=NOW)
        assert await store.calls.move(W, third.id, was="sending", change=change)

    assert _waits(said, "INSERT INTO policy") == [True]
    assert _waits(said, "INSERT INTO call") == [True, True, True]
    assert _waits(said, "UPDATE call") == [False, True, True]


async def test_end_gets_to_the_disk_soon_after_it_was_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing else is committed that would take it along; and at the latest at the end."""
    brought: SimpleQueue[str] = SimpleQueue()
    monkeypatch.setattr(
        "remit.store.writer.to_disk", lambda engine: brought.put(engine.url.database)
    )
    store, _ = _heard(tmp_path)
    async with store:
        row, other = call(), call()
        await store.calls.plan(W, row)
        await store.calls.plan(W, other)
        await asyncio.sleep(0.2)
        assert brought.empty(), "what waited for the disk is there"
        await store.calls.finish(W, row.id, **END)
        await asyncio.to_thread(brought.get, timeout=10)
        await asyncio.sleep(0.2)
        assert brought.empty(), "once is enough"
        await store.calls.finish(W, other.id, **END)
    brought.get(timeout=1)


def test_what_was_committed_is_brought_to_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log beside the file itself, also where a link leads to it; none is there at first."""
    (tmp_path / "here").mkdir()
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "here" / "remit.db")
    engine = open_engine(f"sqlite:///{link}")
    synced: list[int] = []
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        synced.append(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    monkeypatch.setattr("remit.store.engine.os.fsync", noted)
    to_disk(engine)
    assert not synced
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE one (id)")
        to_disk(engine)
        assert synced == [(tmp_path / "here" / "remit.db-wal").stat().st_ino]
    engine.dispose()


async def test_writer_waits_for_another_process_that_writes(tmp_path: Path) -> None:
    """``remit keys create`` beside a server: SQLite has one write lock, taken in turn."""
    path = tmp_path / "remit.db"
    migrating.upgrade(f"sqlite:///{path}")
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    async with Store(f"sqlite:///{path}") as store:
        other.execute("BEGIN IMMEDIATE")
        planned = asyncio.ensure_future(store.calls.plan(W, call()))
        other.execute("INSERT INTO workspace VALUES ('w', 1)")
        assert not planned.done()
        other.execute("COMMIT")
        assert await planned
    other.close()


async def test_store_that_lost_its_tables_says_so_without_values(tmp_path: Path) -> None:
    """A schema that is not there is a clear error, and the next write is tried anew."""
    url = f"sqlite:///{tmp_path / 'remit.db'}"
    async with Store(url) as store:
        with pytest.raises(StoreUnavailable, match="no such table") as raised:
            await store.calls.plan(W, call(record_json="canary-value"))
        assert "canary-value" not in str(raised.value)
        with pytest.raises(StoreUnavailable, match="no such table"):
            await store.calls.get(W, "c1")
        migrating.upgrade(url)
        assert await store.calls.plan(W, call())


async def test_lost_connection_is_made_again(migrated_postgres: str) -> None:
    """A database that was restarted serves the next batch."""
    async with Store(migrated_postgres) as store, Store(migrated_postgres) as killer:
        await store.calls.plan(W, call())
        await store.ping()
        await killer._database.write(  # noqa: SLF001
            lambda connection: connection.execute(
                text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE pid <> pg_backend_pid() AND datname = current_database()"
                )
            )
        )
        row = call()
        assert await store.calls.plan(W, row)
        assert await store.calls.get(W, row.id) == row


def _heard(folder: Path) -> tuple[Store, list[str]]:
    """A store of its own, and all statements of its connections, in their order."""
    url = f"sqlite:///{folder / 'remit.db'}"
    migrating.upgrade(url)
    said: list[str] = []
    store = Store(url)

    def heard(connection: sqlite3.Connection, _record: object) -> None:
        connection.set_trace_callback(said.append)

    event.listen(store._database.engine, "connect", heard)  # noqa: SLF001 (what it says)
    return store, said


def _waits(said: list[str], begin: str) -> list[bool]:
    """Of each statement that begins so, whether its commit waited for the disk."""
    found: list[bool] = []
    waits, open_ = True, 0
    for statement in said:
        if statement.startswith("PRAGMA synchronous"):
            waits = statement.endswith("FULL")
        elif statement.startswith(begin):
            open_ += 1
        elif statement == "COMMIT":
            found += [waits] * open_
            open_ = 0
        elif statement == "ROLLBACK":
            open_ = 0
    return found


def _columns(entry: object) -> dict[str, object]:
    return {column.name: getattr(entry, column.name) for column in audit.columns}
