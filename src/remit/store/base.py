"""What the functions of every aggregate stand on: one writer, a few readers, rows as values."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, TypeVar, cast

from msgspec import Struct
from sqlalchemy import Table, func, insert, select
from sqlalchemy.dialects.sqlite import Insert as InsertSqlite
from sqlalchemy.dialects.sqlite import insert as insert_sqlite
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from remit.store.engine import fault_of, is_sqlite
from remit.store.prepared import insert_of
from remit.store.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from _typeshed import DataclassInstance
    from sqlalchemy import Connection, Engine
    from sqlalchemy.dialects.postgresql import Insert as InsertPostgresql
    from sqlalchemy.engine import RowMapping

T = TypeVar("T")


class Database:
    """An open database: the writer, and the threads that read.

    Args:
        engine: with at least ``readers + 1`` connections.
        readers: how many reads run side by side.
    """

    def __init__(self, engine: Engine, *, readers: int) -> None:
        self.engine = engine
        self.writer = Writer(engine)
        self._readers = ThreadPoolExecutor(readers, thread_name_prefix="remit-store-reader")

    async def read(self, query: Callable[[Connection], T]) -> T:
        """Run a query on a reader's connection: it sees what was committed before.

        Raises:
            StoreUnavailable: the database did not answer.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, self._queried, query)

    def write(self, unit: Callable[[Connection], T]) -> Awaitable[T]:
        """Run a unit of work through the writer; when it is awaited to its end it is committed.

        A unit may run twice: it reads and writes through the connection and does nothing else.

        Raises:
            StoreUnavailable: it could not be written; at a commit, it may have been.
        """
        return self.writer.unit(unit)

    async def ping(self) -> None:
        """Ask for a sign of life; raises as ``read`` does."""
        await self.read(lambda connection: connection.scalar(select(1)))

    async def now_ms(self) -> int:
        """The database's own time where nodes share it; SQLite is on this machine."""
        if is_sqlite(self.engine):
            return time.time_ns() // 1_000_000
        query = select(func.extract("epoch", func.clock_timestamp()) * 1000)
        return int(await self.read(lambda connection: connection.scalar(query) or 0))

    async def close(self) -> None:
        """Write what waits, end the threads, close the connections."""
        await self.writer.close()
        await asyncio.to_thread(self._readers.shutdown)
        await asyncio.to_thread(self.engine.dispose)

    def _queried(self, query: Callable[[Connection], T]) -> T:
        try:
            try:
                return self._query(query)
            except DBAPIError as error:
                # The database was restarted: the connection was an old one, and so are all.
                if not error.connection_invalidated:
                    raise
                return self._query(query)
        except SQLAlchemyError as error:
            raise fault_of(error) from None

    def _query(self, query: Callable[[Connection], T]) -> T:
        with self.engine.connect() as connection:
            return query(connection)


class Inserts:
    """The insert of a row into one table, prepared: a row costs its tuple and its place.

    Args:
        table: its columns are the fields of the values, none of a type of its own.
    """

    def __init__(self, database: Database, table: Table) -> None:
        self._prepared = insert_of(table, database.engine.dialect)
        self._values: Callable[[object], tuple[object, ...]] = attrgetter(*self._prepared.names)
        self._writer = database.writer

    def put(self, row: object) -> Awaitable[bool]:
        """Insert a row; False where its key is taken, and nothing is changed then."""
        return self._writer.change(self._prepared, self._values(row))


def insert_or(table: Table, connection: Connection | Engine) -> InsertSqlite | InsertPostgresql:
    """An insert that can say what happens where the key is taken."""
    if connection.dialect.name == "sqlite":
        return insert_sqlite(table)
    # Of some size, and loaded already where it is used.
    from sqlalchemy.dialects.postgresql import insert as insert_postgresql  # noqa: PLC0415

    return insert_postgresql(table)


def keep(connection: Connection, table: Table, value: object, **extra: object) -> None:
    """Insert a value whose fields, with ``extra``, are the table's columns."""
    connection.execute(insert(table).values(_columns(value, table, extra)))


def keep_new(connection: Connection, table: Table, value: object, **extra: object) -> bool:
    """Insert a value; False where a row has its key, and nothing is changed then."""
    statement = insert_or(table, connection).on_conflict_do_nothing()
    row = _columns(value, table, extra)
    # Of an insert SQLAlchemy forgets the count unless it is asked to keep it.
    counted = {"preserve_rowcount": True}
    return connection.execute(statement.values(row), execution_options=counted).rowcount == 1


def keep_latest(connection: Connection, table: Table, value: object, **extra: object) -> None:
    """Insert a value, or put it in the place of the row that has its primary key."""
    row = _columns(value, table, extra)
    key = [column.name for column in table.primary_key]
    rest = {name: content for name, content in row.items() if name not in key}
    statement = insert_or(table, connection).values(row)
    connection.execute(statement.on_conflict_do_update(index_elements=key, set_=rest))


def _columns(value: object, table: Table, extra: dict[str, object]) -> dict[str, object]:
    return {
        column.name: extra[column.name] if column.name in extra else getattr(value, column.name)
        for column in table.columns
    }


def one(cls: type[T], rows: Iterable[RowMapping]) -> T | None:
    """The only row as a value, or None."""
    return next((made(cls, row) for row in rows), None)


def many(cls: type[T], rows: Iterable[RowMapping]) -> tuple[T, ...]:
    """The rows as values."""
    return tuple(made(cls, row) for row in rows)


def made(cls: type[T], row: RowMapping) -> T:
    """A row as a value: names of fields are names of columns."""
    return cls(**{name: row[name] for name in _fields(cls)})


@cache
def _fields(cls: type[object]) -> tuple[str, ...]:
    if issubclass(cls, Struct):
        return cls.__struct_fields__
    return tuple(field.name for field in fields(cast("type[DataclassInstance]", cls)))


def owned(workspace: str, value: object) -> None:
    """Refuse to keep a row under another workspace than its own.

    Raises:
        ValueError: the two differ; that is a mistake of the caller.
    """
    if getattr(value, "workspace", None) != workspace:
        msg = f"{type(value).__name__} belongs to another workspace than the one it is kept in"
        raise ValueError(msg)
