"""Statements for many rows at once, written out beforehand.

On SQLite one statement for a whole batch and not ``executemany``: its driver lets go of the
interpreter at every step, and with ``executemany`` each row is a step. While the event loop is
busy, each row would then wait until the interpreter is free again, 5 ms at worst. PostgreSQL's
driver sends an ``executemany`` in one go, and takes long to read a long statement.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Table
    from sqlalchemy.engine.interfaces import Dialect

# SQLite takes 32,766 parameters in a statement.
MAX_ROWS = 64


class Cursor(Protocol):
    """A cursor of either driver (PEP 249)."""

    @property
    def rowcount(self) -> int:
        """How many rows of the table the last statement touched."""
        ...

    def execute(self, sql: str, values: Sequence[object] = ..., /) -> object:
        """Run a statement once."""
        ...

    def executemany(self, sql: str, rows: Sequence[Sequence[object]], /) -> object:
        """Run a statement for each of these."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A statement for 1 to ``MAX_ROWS`` rows; told apart by identity.

    Attributes:
        sql: for each number of rows, in the driver's paramstyle; the driver keeps them compiled.
            Of one row alone where the driver is to repeat it.
        names: of the parameters of one row, in their order.
        lasts: whether it is told only when it would outlast a power cut, too (``writer``).
    """

    sql: tuple[str, ...]
    names: tuple[str, ...]
    lasts: bool = True

    def run(self, cursor: Cursor, rows: Sequence[tuple[object, ...]]) -> int:
        """Run it for all of these rows; says how many rows of the table it touched."""
        if len(self.sql) == 1:
            cursor.executemany(self.sql[0], rows)
            return cursor.rowcount
        touched = 0
        for first in range(0, len(rows), MAX_ROWS):
            some = rows[first : first + MAX_ROWS]
            cursor.execute(self.sql[len(some) - 1], tuple(chain.from_iterable(some)))
            touched += cursor.rowcount
        return touched


def insert_of(table: Table, dialect: Dialect) -> Prepared:
    """An insert of whole rows that leaves those alone whose key is taken.

    Parameters go to the driver as they are: no column may be of a type of its own.
    """
    names = tuple(column.name for column in table.columns)
    quote = dialect.identifier_preparer.quote
    listed = ", ".join(quote(name) for name in names)
    return Prepared(
        sql=_for_each_number(
            # Names of our own schema, no value of anybody's.
            f"INSERT INTO {quote(table.name)} ({listed}) VALUES ",  # noqa: S608
            _row(names, {}, dialect),
            " ON CONFLICT DO NOTHING",
            dialect,
        ),
        names=names,
    )


def update_of(
    table: Table,
    *,
    where: Mapping[str, str],
    values: Mapping[str, str | None],
    dialect: Dialect,
    null: Sequence[str] = (),
    lasts: bool = True,
) -> Prepared:
    """An update of many rows, each with parameters of its own.

    Args:
        table: what is updated.
        where: column to the parameter that it must equal.
        values: column to the parameter that it becomes; None is null.
        dialect: whose SQL it is.
        null: columns that must be null.
        lasts: see ``Prepared``.
    """
    quote = dialect.identifier_preparer.quote
    columns = {parameter: name for name, parameter in values.items() if parameter is not None}
    columns |= {parameter: name for name, parameter in where.items()}
    names = tuple(columns)
    # PostgreSQL cannot tell the type of a parameter that is compared with nothing yet.
    types = {name: _type(table, column, dialect) for name, column in columns.items()}
    # Both databases name the columns of VALUES so, and SQLite lets nobody rename them.
    given = {name: f"given.column{number}" for number, name in enumerate(names, 1)}
    changed = ", ".join(
        f"{quote(name)} = {'NULL' if parameter is None else given[parameter]}"
        for name, parameter in values.items()
    )
    own = quote(table.name)
    matches = [f"{own}.{quote(name)} = {given[p]}" for name, p in where.items()]
    matched = " AND ".join([*matches, *(f"{own}.{quote(name)} IS NULL" for name in null)])
    return Prepared(
        sql=_for_each_number(
            # Names of our own schema, no value of anybody's.
            f"UPDATE {own} SET {changed} FROM (VALUES ",  # noqa: S608
            _row(names, types, dialect),
            f") AS given WHERE {matched}",
            dialect,
        ),
        names=names,
        lasts=lasts,
    )


def _type(table: Table, column: str, dialect: Dialect) -> str:
    """The type alone: its compiled text may name a collation too."""
    return str(table.c[column].type.compile(dialect)).split(" ", 1)[0]


def _row(names: Sequence[str], types: Mapping[str, str], dialect: Dialect) -> str:
    mark = "?" if dialect.name == "sqlite" else "%s"
    marks = [f"CAST({mark} AS {types[name]})" if name in types else mark for name in names]
    return f"({', '.join(marks)})"


def _for_each_number(head: str, row: str, tail: str, dialect: Dialect) -> tuple[str, ...]:
    most = MAX_ROWS if dialect.name == "sqlite" else 1
    return tuple(head + ", ".join([row] * number) + tail for number in range(1, most + 1))
