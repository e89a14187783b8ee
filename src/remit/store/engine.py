"""Opens a database: SQLite in WAL with every commit on the disk, or PostgreSQL.

One code path for both: what differs stands here, in ``migrating`` and in ``prepared``.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sqlalchemy import create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DataError,
    DBAPIError,
    IntegrityError,
    ProgrammingError,
    SQLAlchemyError,
)

from remit.errors import RemitError, StoreUnavailable, WrongUse

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

# Another process may hold the write lock: `remit keys create` beside a server, say.
BUSY_TIMEOUT_MS = 10_000
# A process that is stopped in the middle of a transaction holds its locks no longer than this:
# less than a lease, so that others can take up what it had.
STOPPED_TIMEOUT_MS = 5_000
# RETURNING came with this one (March 2021).
_OLDEST_SQLITE = (3, 35, 0)
# NORMAL may lose the last commits when the power fails: an intent that was recorded. FULL brings
# to the disk whatever was committed before, too.
WAIT_FOR_THE_DISK = "PRAGMA synchronous = FULL"
DO_NOT_WAIT = "PRAGMA synchronous = NORMAL"
_PRAGMAS = (
    # First: to change the journal needs the lock too.
    f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}",
    # Of a file that is made now. A record of a call has 2 kB and grows as the call ends: on pages
    # of 4 kB it is moved then.
    "PRAGMA page_size = 8192",
    "PRAGMA journal_mode = WAL",
    WAIT_FOR_THE_DISK,
    "PRAGMA foreign_keys = ON",
    # What a statement may have to take back: it holds records, and belongs into no file.
    "PRAGMA temp_store = MEMORY",
    # What is erased is overwritten in the file (contract section 10, DELETE of a session).
    "PRAGMA secure_delete = ON",
)
_MEND = "Give sqlite:///PATH or postgresql://USER:PASSWORD@HOST/DATABASE as [store] url."


class _Connected(Protocol):
    def execute(self, statement: str, /) -> object: ...

    def commit(self) -> None: ...


def open_engine(url: str, *, connections: int = 5) -> Engine:
    """Open a database; nothing is sent to it yet.

    Args:
        url: ``sqlite:///remit.db``, ``sqlite:////absolute/path`` or ``postgresql://…``. A file
            that is not there is made, readable by its owner alone.
        connections: as many as threads will use it.

    Raises:
        WrongUse: the URL is of another kind, or its folder is not there.
    """
    address = _address(url)
    if address.get_backend_name() == "sqlite":
        return _sqlite(address, connections)
    engine = create_engine(
        address.set(drivername="postgresql+psycopg"),
        pool_size=connections,
        max_overflow=0,
        hide_parameters=True,
        connect_args={"connect_timeout": 10},
    )
    event.listen(engine, "connect", _bound)
    return engine


def writing(connection: Connection) -> Connection:
    """The connection, whose transactions take the write lock as they begin.

    SQLite refuses to raise a read transaction to a writing one when another wrote meanwhile.
    """
    return connection.execution_options(remit_writes=True)


def is_missing(url: str) -> bool:
    """Whether it is a SQLite file that is not there yet; raises as ``open_engine`` does."""
    address = _address(url)
    return address.drivername == "sqlite" and not Path(address.database or "").exists()


def is_sqlite(engine: Engine) -> bool:
    """Whether it is SQLite, which only one node can use."""
    return engine.dialect.name == "sqlite"


def to_disk(engine: Engine) -> None:
    """Bring to the disk what was committed on SQLite without waiting for it.

    Raises:
        OSError: it is not known whether it got there.
    """
    # Beside the file itself, wherever a link to it stands. A checkpoint that emptied it has
    # brought its pages to the disk.
    path = os.path.realpath(engine.url.database or "") + "-wal"
    with suppress(FileNotFoundError):
        descriptor = os.open(path, os.O_RDWR)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def fault_of(error: SQLAlchemyError) -> RemitError:
    """A driver's error in our words; the first line of its own holds no value that was kept."""
    cause = error.orig if isinstance(error, DBAPIError) else None
    said = str(cause or type(error).__name__).strip().split("\n", 1)[0]
    if isinstance(error, IntegrityError | DataError | ProgrammingError):
        msg = f"The store refused what was to be kept: {said}. This is a mistake in Remit."
        return RemitError(msg)
    msg = f"The store cannot be used: {said}. Check [store] url, the database and its disk."
    return StoreUnavailable(msg)


def _address(url: str) -> URL:
    try:
        address = make_url(url)
    except (ArgumentError, ValueError):
        # The text may hold a password, so that it is not repeated.
        msg = f"The store's URL cannot be read. {_MEND}"
        raise WrongUse(msg) from None
    if address.drivername == "postgres":
        address = address.set(drivername="postgresql")
    if address.drivername not in {"sqlite", "postgresql"}:
        msg = f'The store cannot be kept on "{address.drivername}". {_MEND}'
        raise WrongUse(msg)
    if address.drivername == "sqlite" and address.database in {None, "", ":memory:"}:
        msg = f"The store needs a file: in memory it would not survive a restart. {_MEND}"
        raise WrongUse(msg)
    return address


def _sqlite(address: URL, connections: int) -> Engine:
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        msg = (
            f"SQLite is of version {sqlite3.sqlite_version}, and 3.35 is the oldest that can be "
            "used. Take a newer Python, or PostgreSQL."
        )
        raise WrongUse(msg)
    path = Path(address.database or "")
    if not path.parent.is_dir():
        msg = f"{path.parent} is not there, so that the store cannot be made in it. Make it first."
        raise WrongUse(msg)
    _make_private(path)
    # Without one, the driver looks for two methods of None and words two errors, for every null.
    sqlite3.register_adapter(type(None), {None: None}.get)
    engine = create_engine(
        address.set(drivername="sqlite+pysqlite"),
        pool_size=connections,
        max_overflow=0,
        hide_parameters=True,
        connect_args={
            "check_same_thread": False,
            # The driver begins no transaction of its own, ``_begin`` does.
            "isolation_level": None,
            # One for each number of rows of ``prepared``, and all others.
            "cached_statements": 512,
        },
    )
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    return engine


def _make_private(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as error:
        reason = error.strerror or "it is not a file"
        msg = f"The store {path} cannot be opened: {reason}. Check [store] url."
        raise WrongUse(msg) from None
    os.close(descriptor)


def _set_up(connection: _Connected, _record: object) -> None:
    for pragma in _PRAGMAS:
        connection.execute(pragma)


def _bound(connection: _Connected, _record: object) -> None:
    connection.execute(f"SET idle_in_transaction_session_timeout = {STOPPED_TIMEOUT_MS}")
    connection.commit()


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("remit_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
