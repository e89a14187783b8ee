"""What tests do with a store behind its back, on SQLite and on PostgreSQL alike."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from psycopg import connect, sql
from sqlalchemy import delete, text
from sqlalchemy.engine import make_url

from remit.store.engine import open_engine, writing
from remit.store.schema import metadata

BACKENDS = ("sqlite", "postgresql")
#: As ``pytestmark`` of a module: its tests run on each database.
on_each_database = pytest.mark.parametrize("backend", BACKENDS)

_TABLES = (
    "SELECT table_schema, table_name FROM information_schema.tables "
    "WHERE table_type = 'BASE TABLE' "
    "AND table_schema NOT IN ('pg_catalog', 'information_schema')"
)


def empty(url: str) -> None:
    """Delete every row, so that the store is as its migrations left it.

    By the drivers, in one script: it stands before every test.
    """
    deletes = [str(delete(table)) for table in reversed(metadata.sorted_tables)]
    script = ";".join([*deletes, "INSERT INTO revision VALUES ('', '', 0)"])
    if path := _file(url):
        with closing(sqlite3.connect(path, timeout=10, isolation_level=None)) as database:
            database.executescript(f"BEGIN IMMEDIATE; {script}; COMMIT")
        return
    # A test that left a transaction open fails the next one, and does not hold it for ever.
    with connect(url, options="-c lock_timeout=10s") as connection:
        connection.execute(script.encode())


def change(url: str, statement: str, **values: str) -> None:
    """Change rows as nobody should; names of values stand as ``:name``."""
    engine = open_engine(url, connections=1)
    with writing(engine.connect()) as connection, connection.begin():
        connection.execute(text(statement), values)
    engine.dispose()


def kept(url: str) -> dict[str, bytes]:
    """All that a store keeps, by place: SQLite's files, its WAL too; else every table."""
    if path := _file(url):
        return {file.name: file.read_bytes() for file in path.parent.glob(f"{path.name}*")}
    found: dict[str, bytes] = {}
    with connect(url) as connection:
        for schema, table in connection.execute(_TABLES).fetchall():
            name = sql.Identifier(schema, table)
            with connection.cursor().copy(sql.SQL("COPY {} TO STDOUT").format(name)) as rows:
                found[f"table {schema}.{table}"] = b"".join(rows)
    assert found, "no table was found"
    return found


def _file(url: str) -> Path | None:
    address = make_url(url)
    return Path(address.database or "") if address.get_backend_name() == "sqlite" else None
