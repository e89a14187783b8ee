"""Prepared statements through the driver itself, without SQLAlchemy between.

Every call writes two rows, each in a batch of a few: then SQLAlchemy's transaction, contexts and
results cost more than the database does. What it is good for stays with it: the pool, the
dialects, and telling what went wrong (``writer``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast, final

from sqlalchemy.exc import DBAPIError

from remit.store.engine import DO_NOT_WAIT, WAIT_FOR_THE_DISK

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from remit.store.prepared import Cursor, Prepared


class _Driver(Protocol):
    """What ``sqlite3`` and ``psycopg`` have in common (PEP 249)."""

    def cursor(self) -> Cursor: ...
    def execute(self, sql: str, /) -> object: ...
    def commit(self) -> None: ...
    def rollback(self) -> None: ...


@final
class Through:
    """A ``Cursor`` that goes through SQLAlchemy, which tells faults of the driver apart."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.rowcount = 0

    def execute(self, sql: str, values: Sequence[object] = (), /) -> None:
        """Run a statement once."""
        self.rowcount = self._connection.exec_driver_sql(sql, tuple(values)).rowcount

    def executemany(self, sql: str, rows: Sequence[Sequence[object]], /) -> None:
        """Run a statement for each of these."""
        many = [tuple(row) for row in rows]
        self.rowcount = self._connection.exec_driver_sql(sql, many).rowcount

    def close(self) -> None:
        """Nothing is held."""


@final
class Direct:
    """One connection of the driver, which is in no transaction of SQLAlchemy's.

    Attributes:
        lasts: whether a commit waits until the disk has it, as all others do.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._driver = cast("_Driver", connection.connection.driver_connection)
        self._begins = connection.dialect.name == "sqlite"
        self.lasts = True

    def run(self, changes: Mapping[Prepared, Sequence[tuple[object, ...]]]) -> list[int]:
        """Run each statement for its rows, in a transaction that is left open.

        Returns:
            How many rows of the table each touched.

        Raises:
            Exception: whatever the driver raises; the transaction is to be rolled back.
        """
        cursor = self._driver.cursor()
        try:
            if self._begins:
                self.lasts = any(prepared.lasts for prepared in changes)
                if not self.lasts:
                    cursor.execute(DO_NOT_WAIT)
                # SQLite refuses to raise a read transaction to a writing one.
                cursor.execute("BEGIN IMMEDIATE")
            return [prepared.run(cursor, rows) for prepared, rows in changes.items()]
        finally:
            cursor.close()

    def commit(self) -> None:
        """Commit.

        Raises:
            DBAPIError: it is not known whether it was kept.
        """
        try:
            self._driver.commit()
            self._wait_again()
        except Exception as error:  # noqa: BLE001 (it is the driver's, and told as such)
            base = self._connection.dialect.loaded_dbapi.Error
            raise DBAPIError.instance(
                "COMMIT", (), error, base, hide_parameters=True, dialect=self._connection.dialect
            ) from None

    def rollback(self) -> None:
        """Take back what was run."""
        self._driver.rollback()
        self._wait_again()

    def _wait_again(self) -> None:
        if not self.lasts:
            self._driver.execute(WAIT_FOR_THE_DISK)
