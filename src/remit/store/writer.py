"""The one writer: a thread that takes everything that waits and commits it at once.

Why one thread and no timer: a commit costs the same for one row and for a thousand, so that
whatever came while the last one ran goes into the next. Nobody waits for a clock, and a busy
server makes its batches larger by itself (docs/decisions/0011).

Two kinds of work. A *change* is one row of parameters for a prepared statement, expected to touch
exactly one row of the table; changes of one statement run together (``prepared``). A *unit* is a
function of the connection. Both run in one transaction for the whole batch. When anything in it
raises, or a change did not touch its row, the transaction is rolled back and each half of the
batch gets one of its own, and so on: a failing piece fails alone. Units may therefore run several
times, and do nothing but read and write through the connection.

What is told was committed, which outlasts the end of the process. On SQLite a commit also waits
for the disk, against a power cut, unless all of its batch are changes that need not last: these
get there with the next commit that waits, or 50 ms later.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections import defaultdict
from contextlib import suppress
from enum import Enum, auto
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from msgspec import Struct
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from remit.errors import StoreUnavailable
from remit.store.direct import Direct, Through
from remit.store.engine import fault_of, to_disk, writing

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection, Engine

    from remit.store.prepared import Prepared

T = TypeVar("T")
Unit: TypeAlias = "Callable[[Connection], T]"

# Bounds the memory of a batch and how long its first piece waits for its last.
MAX_BATCH = 4_096
# While each round of the event loop brings more, the next is awaited for at most so long.
_GATHER_S = 0.003
# After so long without a commit that waits for the disk, it is waited for.
_TO_DISK_S = 0.05
# Of a piece alone: two nodes may wait for each other's rows, and one of them has to let go.
_TRIES = 3
# PostgreSQL's serialization_failure and deadlock_detected.
_CONFLICTS = frozenset({"40001", "40P01"})


class _Piece(Struct):
    """One piece of work and whom to tell; ``unit`` is None for a change."""

    unit: Unit[object] | None
    prepared: Prepared | None
    values: tuple[object, ...]
    future: asyncio.Future[Any]
    result: object = None
    error: Exception | None = None


class _Missed(Exception):
    """A change did not touch its row: it has to be found which."""


class _End(Enum):
    """How a transaction ended.

    LOST: the database cannot be reached, or it is not known whether the commit was done.
    IN_THE_WAY: something passing was in the way.
    """

    COMMITTED = auto()
    ROLLED_BACK = auto()
    IN_THE_WAY = auto()
    LOST = auto()


class Writer:
    """Runs changes and units on a thread of its own; each is committed when its future is done.

    Args:
        engine: one of its connections is the writer's while a batch runs.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._queue: SimpleQueue[list[_Piece] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="remit-store-writer", daemon=True)
        self._closed = False
        # What came and was not handed over, by loop: to wake the thread and to commit costs as
        # much as several rows, so that a busy loop does it once for all that is on its way.
        self._waiting: dict[asyncio.AbstractEventLoop, list[_Piece]] = {}
        # Of the thread alone.
        self._connection: Connection | None = None
        self._all_on_disk = True
        self._thread.start()

    def change(self, prepared: Prepared, values: tuple[object, ...]) -> asyncio.Future[bool]:
        """Run one prepared statement; the future says whether it touched its row."""
        return self._put(None, prepared, values)

    def unit(self, unit: Callable[[Connection], Any]) -> asyncio.Future[Any]:
        """Run a function in the batch's transaction; the future has what it returned."""
        return self._put(unit, None, ())

    async def close(self) -> None:
        """Write what waits, and end the thread."""
        if not self._closed:
            self._closed = True
            for loop in tuple(self._waiting):
                self._hand_over(loop)
            self._queue.put(None)
            await asyncio.to_thread(self._thread.join)

    def _put(
        self,
        unit: Unit[object] | None,
        prepared: Prepared | None,
        values: tuple[object, ...],
    ) -> asyncio.Future[Any]:
        if self._closed:
            msg = "The store is closed: the server is shutting down."
            raise StoreUnavailable(msg)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        piece = _Piece(unit, prepared, values, future)
        waiting = self._waiting.get(loop)
        if waiting is None:
            self._waiting[loop] = [piece]
            loop.call_soon(self._gather, loop, 0, loop.time() + _GATHER_S)
        else:
            waiting.append(piece)
        return future

    def _gather(self, loop: asyncio.AbstractEventLoop, seen: int, until: float) -> None:
        """Hand over what waits, once a round of the loop brought nothing more."""
        count = len(self._waiting.get(loop, ()))
        if seen < count < MAX_BATCH and loop.time() < until:
            loop.call_soon(self._gather, loop, count, until)
        else:
            self._hand_over(loop)

    def _hand_over(self, loop: asyncio.AbstractEventLoop) -> None:
        if (waiting := self._waiting.pop(loop, None)) is not None:
            self._queue.put(waiting)

    def _run(self) -> None:
        _yield_to_the_loop()
        last = False
        while not last:
            pieces = self._next()
            if pieces is None:
                break
            batch, last = self._take(pieces)
            # Who was cancelled while waiting in line wants nothing any more.
            self._write([piece for piece in batch if not piece.future.cancelled()])
            _tell(batch)
        if not self._all_on_disk:
            self._to_disk()
        self._disconnect()

    def _next(self) -> list[_Piece] | None:
        """What comes next; while nothing comes, what was committed is brought to the disk."""
        if not self._all_on_disk:
            with suppress(Empty):
                return self._queue.get(timeout=_TO_DISK_S)
            self._to_disk()
        return self._queue.get()

    def _to_disk(self) -> None:
        # Where the disk fails, the next commit meets it too, and says so.
        with suppress(OSError):
            to_disk(self._engine)
            self._all_on_disk = True

    def _take(self, batch: list[_Piece]) -> tuple[list[_Piece], bool]:
        """Everything that waits, and whether the end was among it."""
        try:
            while len(batch) < MAX_BATCH:
                pieces = self._queue.get_nowait()
                if pieces is None:
                    return batch, True
                batch += pieces
        except Empty:
            pass
        return batch, False

    def _write(self, batch: list[_Piece]) -> None:
        """Commit a batch, in halves where it cannot be done as a whole."""
        end = self._transact(batch)
        if len(batch) > 1 and end in {_End.ROLLED_BACK, _End.IN_THE_WAY}:
            middle = len(batch) // 2
            self._write(batch[:middle])
            self._write(batch[middle:])
            return
        for _ in range(_TRIES - 1):
            if end is _End.IN_THE_WAY:
                end = self._transact(batch)

    def _transact(self, batch: list[_Piece]) -> _End:
        """One transaction; where it fails, every piece has the error."""
        if all(piece.unit is None for piece in batch):
            end = self._transact_directly(batch)
            if end is not None:
                return end
        try:
            connection = self._connected()
            transaction = connection.begin()
        except SQLAlchemyError as error:
            return self._failed(batch, error, _End.LOST)
        try:
            _run(connection, batch)
        except Exception as error:  # noqa: BLE001 (it goes to whoever waits for its piece)
            end = _End.IN_THE_WAY if _in_the_way(error) else _End.ROLLED_BACK
            return self._failed(batch, error, end)
        try:
            transaction.commit()
        except SQLAlchemyError as error:
            # It may have been kept after all, so that it is not tried again.
            return self._failed(batch, error, _End.LOST)
        self._all_on_disk = True
        return _End.COMMITTED

    def _transact_directly(self, batch: list[_Piece]) -> _End | None:
        """One transaction of changes alone, the short way; None where it was of no use.

        What goes wrong before the commit is rolled back and tried the long way, which can tell
        why.
        """
        groups = _grouped(batch)
        try:
            direct = Direct(self._connected())
            touched = direct.run(
                {
                    prepared: [piece.values for piece in pieces]
                    for prepared, pieces in groups.items()
                }
            )
            if len(batch) > 1 and sum(touched) != len(batch):
                direct.rollback()
                return self._missed(batch)
        except Exception:  # noqa: BLE001 (the long way meets it again)
            self._invalidate()
            return None
        try:
            direct.commit()
        except SQLAlchemyError as error:
            self._invalidate()
            return self._failed(batch, error, _End.LOST)
        self._all_on_disk = direct.lasts
        for pieces, count in zip(groups.values(), touched, strict=True):
            for piece in pieces:
                piece.error, piece.result = None, count == len(pieces)
        return _End.COMMITTED

    def _missed(self, batch: list[_Piece]) -> _End:
        for piece in batch:
            piece.error = _Missed()
        return _End.ROLLED_BACK

    def _failed(self, batch: list[_Piece], error: Exception, end: _End) -> _End:
        self._disconnect()
        for piece in batch:
            piece.error = error
        return end

    def _connected(self) -> Connection:
        """The writer's connection, kept from batch to batch; a new one after a fault."""
        if self._connection is None:
            self._connection = writing(self._engine.connect())
        return self._connection

    def _invalidate(self) -> None:
        """Throw the connection away: nobody knows what state it is in."""
        if self._connection is not None:
            self._connection.invalidate()
        self._disconnect()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _yield_to_the_loop() -> None:
    """Have the system not interrupt the event loop each time that the writer wakes.

    What woke it is mostly the interpreter's lock, which the loop still holds then: on a core that
    they share both would be switched for nothing. Elsewhere than on Linux they are.
    """
    if sys.platform == "linux":
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))  # of this thread alone


def _run(connection: Connection, batch: list[_Piece]) -> None:
    """Changes first, those of one statement together, then the units.

    Raises:
        _Missed: one of several changes did not touch its row.
    """
    for piece in batch:
        piece.error = None
    for prepared, pieces in _grouped(batch).items():
        touched = prepared.run(Through(connection), [piece.values for piece in pieces])
        if touched != len(pieces) and len(batch) > 1:
            raise _Missed
        for piece in pieces:
            piece.result = touched == len(pieces)
    for piece in batch:
        if piece.unit is not None:
            piece.result = piece.unit(connection)


def _grouped(batch: list[_Piece]) -> dict[Prepared, list[_Piece]]:
    """The changes of a batch by their statement."""
    groups: dict[Prepared, list[_Piece]] = defaultdict(list)
    for piece in batch:
        if piece.prepared is not None:
            groups[piece.prepared].append(piece)
    return groups


def _in_the_way(error: Exception) -> bool:
    """Whether another node's transaction was in the way, and a second try may well do."""
    cause = error.orig if isinstance(error, DBAPIError) else None
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    return getattr(cause, "sqlstate", None) in _CONFLICTS


def _tell(batch: list[_Piece]) -> None:
    """Wake everybody who waits, each event loop once."""
    loops = {piece.future.get_loop() for piece in batch}
    for loop in loops:
        # A server has one loop.
        own = batch if len(loops) == 1 else [p for p in batch if p.future.get_loop() is loop]
        try:
            loop.call_soon_threadsafe(_settle, own)
        except RuntimeError:
            # The loop was closed over its waiting tasks: nobody is left to be told.
            continue


def _settle(pieces: list[_Piece]) -> None:
    for piece in pieces:
        if piece.future.cancelled():
            continue
        if piece.error is None:
            piece.future.set_result(piece.result)
        else:
            piece.future.set_exception(_for_callers(piece.error))


def _for_callers(error: Exception) -> Exception:
    """A driver's error as ours, without its cause: that holds what was to be kept."""
    if not isinstance(error, SQLAlchemyError):
        return error
    return fault_of(error)
