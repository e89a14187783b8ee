"""Columns, keys and constraints as every table here has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Text,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

# Ids are compared byte by byte (contract section 1), on both databases alike; and an index in
# the order of a locale breaks when the machine's locales are updated.
TEXT = Text().with_variant(Text(collation="C"), "postgresql")

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def texts(*names: str) -> list[Column[str]]:
    """Texts."""
    return [Column(name, TEXT, nullable=False) for name in names]


def maybe_texts(*names: str) -> list[Column[str]]:
    """Texts that may be null."""
    return [Column(name, TEXT, nullable=True) for name in names]


def times(*names: str) -> list[Column[int]]:
    """Times, and whatever counts further than 2^31."""
    return [Column(name, BigInteger, nullable=False) for name in names]


def maybe_times(*names: str) -> list[Column[int]]:
    """Times that may be null."""
    return [Column(name, BigInteger, nullable=True) for name in names]


def numbers(*names: str) -> list[Column[int]]:
    """Numbers."""
    return [Column(name, Integer, nullable=False) for name in names]


def maybe_numbers(*names: str) -> list[Column[int]]:
    """Numbers that may be null."""
    return [Column(name, Integer, nullable=True) for name in names]


def any_of(column: str, words: Iterable[str]) -> str:
    """The condition that a column is one of these words."""
    # Not IN: SQLite makes a table of the words anew for each row.
    return " OR ".join(f"{column} = '{word}'" for word in words)


def one_of(column: str, words: Iterable[str]) -> CheckConstraint:
    """A column that is always one of these words."""
    return CheckConstraint(any_of(column, words), name=column)


def key(*names: str) -> PrimaryKeyConstraint:
    """The primary key."""
    return PrimaryKeyConstraint(*names)


def partial_index(name: str, *columns: str, where: str, unique: bool = False) -> Index:
    """An index of those rows alone, on PostgreSQL too: there its migration says it.

    Said here, it would load that dialect at every start on SQLite, for 50 ms.
    """
    return Index(name, *columns, unique=unique, sqlite_where=text(where))
