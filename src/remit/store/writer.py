"""The one writer: a thread that takes everything that waits and commits it at once.

Why one thread and no timer: a commit costs the same for one row and for a thousand, so that
whatever came while the last one ran goes into the next. Nobody waits for a clock, and a busy
server makes its batches larger by itself (docs/decisions/0011).

Two kinds of work. A *change* is one prepared statement and one row of parameters that is expected
to touch exactly one row of the table; changes of one statement run as one ``executemany``. A
*unit* is a function of the connection. Both run in one transaction for the whole batch. When
anything in it raises, or a change did not touch its row, the batch is rolled back and runs again
in the order of arrival, each piece in a savepoint of its own, so that a failing piece fails
alone. Units may therefore run twice, and do nothing but read and write through the connection.
"""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from remit.errors import StoreUnavailable
from remit.store.engine import fault_of, writing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sqlalchemy import Connection, Engine
    from sqlalchemy.engine.interfaces import Dialect
    from sqlalchemy.sql.dml import UpdateBase

T = TypeVar("T")
Unit: TypeAlias = "Callable[[Connection], T]"

# Bounds the memory of a batch and how long its first piece waits for its last.
MAX_BATCH = 4_096


@dataclass(frozen=True, slots=True)
class Prepared:
    """A statement compiled once, with the order of its parameters.

    Attributes:
        sql: in the driver's own paramstyle, with positional parameters.
        names: of the parameters, in that order.
    """

    sql: str
    names: tuple[str, ...]


def prepare(statement: UpdateBase, dialect: Dialect) -> Prepared:
    """Compile a statement for the driver, so that a row costs no more than its tuple.

    Parameters go to the driver as they are: no column of a type of its own may be among them.
    """
    positional = type(dialect)(paramstyle="qmark" if dialect.name == "sqlite" else "format")
    compiled = statement.compile(dialect=positional)
    return Prepared(sql=str(compiled), names=tuple(compiled.positiontup or ()))


@dataclass(slots=True)
class _Piece:
    """One piece of work and whom to tell; ``unit`` is None for a change."""

    unit: Unit[object] | None
    prepared: Prepared | None
    values: tuple[object, ...]
    future: asyncio.Future[object]
    result: object = None
    error: Exception | None = None


class _Missed(Exception):
    """A change did not touch its row: the batch runs again, piece by piece."""


class Writer:
    """Runs changes and units on a thread of its own; each is committed when its future is done.

    Args:
        engine: one of its connections is the writer's while a batch runs.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._queue: SimpleQueue[_Piece | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="remit-store-writer", daemon=True)
        self._closed = False
        self._thread.start()

    def change(self, prepared: Prepared, values: tuple[object, ...]) -> asyncio.Future[bool]:
        """Run one prepared statement; the future says whether it touched its row."""
        return cast("asyncio.Future[bool]", self._put(None, prepared, values))

    def unit(self, unit: Callable[[Connection], Any]) -> asyncio.Future[Any]:
        """Run a function in the batch's transaction; the future has what it returned."""
        return self._put(unit, None, ())

    async def close(self) -> None:
        """Write what waits, and end the thread."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
            await asyncio.to_thread(self._thread.join)

    def _put(
        self,
        unit: Unit[object] | None,
        prepared: Prepared | None,
        values: tuple[object, ...],
    ) -> asyncio.Future[object]:
        if self._closed:
            msg = "The store is closed: the server is shutting down."
            raise StoreUnavailable(msg)
        future: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._queue.put(_Piece(unit, prepared, values, future))
        return future

    def _run(self) -> None:
        while True:
            piece = self._queue.get()
            if piece is None:
                return
            batch, last = self._take(piece)
            self._write(batch)
            _tell(batch)
            if last:
                return

    def _take(self, first: _Piece) -> tuple[list[_Piece], bool]:
        """Everything that waits, and whether the end was among it."""
        batch = [first]
        try:
            while len(batch) < MAX_BATCH:
                piece = self._queue.get_nowait()
                if piece is None:
                    return batch, True
                batch.append(piece)
        except Empty:
            pass
        return batch, False

    def _write(self, batch: list[_Piece]) -> None:
        # Who was cancelled while waiting in line wants nothing any more.
        alive = [piece for piece in batch if not piece.future.cancelled()]
        try:
            self._transact(alive, _together)
        except _Failed as failed:
            if not failed.retry:
                return
            try:
                self._transact(alive, _one_by_one)
            except _Failed:
                return

    def _transact(
        self, batch: list[_Piece], run: Callable[[Connection, list[_Piece]], None]
    ) -> None:
        """One transaction over the batch; where it fails as a whole, every piece has the error."""
        try:
            with self._engine.connect() as connection:
                transaction = writing(connection).begin()
                try:
                    run(connection, batch)
                except Exception as error:
                    transaction.rollback()
                    _fail(batch, error)
                    raise _Failed(retry=True) from error
                transaction.commit()
        except SQLAlchemyError as error:
            # At the begin or the commit. What was lost at a commit may have been kept after all,
            # so that it is not tried again.
            _fail(batch, error)
            raise _Failed(retry=False) from error


class _Failed(Exception):
    def __init__(self, *, retry: bool) -> None:
        super().__init__()
        self.retry = retry


def _fail(batch: Iterable[_Piece], error: Exception) -> None:
    for piece in batch:
        piece.error = error


def _together(connection: Connection, batch: list[_Piece]) -> None:
    """Changes first, those of one statement together, then the units."""
    groups: dict[Prepared, list[_Piece]] = defaultdict(list)
    for piece in batch:
        if piece.prepared is not None:
            groups[piece.prepared].append(piece)
    for prepared, pieces in groups.items():
        rows = [piece.values for piece in pieces]
        if _executed(connection, prepared, rows) != len(rows):
            raise _Missed
        for piece in pieces:
            piece.result = True
    for piece in batch:
        if piece.unit is not None:
            piece.result = piece.unit(connection)


def _one_by_one(connection: Connection, batch: list[_Piece]) -> None:
    """Each piece in a savepoint, in the order of arrival; its error is its own."""
    for piece in batch:
        piece.error = None
        savepoint = connection.begin_nested()
        try:
            if piece.unit is not None:
                piece.result = piece.unit(connection)
            elif piece.prepared is not None:
                piece.result = _executed(connection, piece.prepared, [piece.values]) == 1
            savepoint.commit()
        except DBAPIError as error:
            if error.connection_invalidated:
                raise
            savepoint.rollback()
            piece.error = error
        except Exception as error:  # noqa: BLE001 (it goes to whoever waits for this piece)
            savepoint.rollback()
            piece.error = error


def _executed(
    connection: Connection, prepared: Prepared, rows: Sequence[tuple[object, ...]]
) -> int:
    return connection.exec_driver_sql(prepared.sql, cast("Any", rows)).rowcount


def _tell(batch: list[_Piece]) -> None:
    """Wake everybody who waits, each event loop once."""
    loops: dict[asyncio.AbstractEventLoop, list[_Piece]] = defaultdict(list)
    for piece in batch:
        loops[piece.future.get_loop()].append(piece)
    for loop, pieces in loops.items():
        try:
            loop.call_soon_threadsafe(_settle, pieces)
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
