"""Migrations: from nothing, again, half done, and always to the schema that the code has."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, select, text
from sqlalchemy.exc import IntegrityError

from remit.store import migrating
from remit.store.engine import open_engine, writing
from remit.store.schema import HEAD, api_keys, devices, metadata

BYTE_ORDER = "SELECT count(*) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid " \
    "JOIN pg_collation o ON o.oid = a.attcollation " \
    "WHERE c.relnamespace = 'public'::regnamespace AND c.relname NOT LIKE 'alembic%' " \
    "AND o.collname <> 'C'"  # fmt: skip


@pytest.fixture(params=("sqlite", "postgresql"))
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database with nothing in it."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'remit.db'}"
    server: str = request.getfixturevalue("postgres_server")
    name = f"empty_{tmp_path.name.replace('[', '_').replace(']', '')}_{os.getpid()}".lower()
    engine = open_engine(server.format(database="postgres"))
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f'DROP DATABASE IF EXISTS "{name}"'))
        connection.execute(text(f'CREATE DATABASE "{name}"'))
    engine.dispose()
    return server.format(database=name)


def test_empty_database_is_brought_up_to_date_once(empty: str) -> None:
    """From nothing to the head; again nothing happens; ``behind`` says when it must."""
    assert migrating.current(empty) is None
    assert migrating.behind(empty)

    assert migrating.upgrade(empty) == HEAD
    assert not migrating.behind(empty)
    assert migrating.upgrade(empty) == HEAD


def test_question_about_the_schema_makes_no_file(tmp_path: Path) -> None:
    """``remit doctor`` looks, and leaves nothing behind."""
    assert migrating.behind(f"sqlite:///{tmp_path / 'remit.db'}")
    assert list(tmp_path.iterdir()) == []


def test_migrations_make_the_schema_that_the_code_has(empty: str) -> None:
    """What the code reads and writes is what a migrated database holds."""
    migrating.upgrade(empty)
    engine = open_engine(empty)
    with engine.connect() as connection:
        found = compare_metadata(MigrationContext.configure(connection), metadata)
        inspected = inspect(connection)
        for table in metadata.sorted_tables:
            checks = {check["name"] for check in inspected.get_check_constraints(table.name)}
            declared = {str(c.name) for c in table.constraints if type(c).__name__[:5] == "Check"}
            assert {name.split("_")[-1] for name in checks if name} == {
                name.split("_")[-1] for name in declared
            }
            indexes = {index["name"]: index for index in inspected.get_indexes(table.name)}
            for index in table.indexes:
                partial = index.dialect_options["sqlite"]["where"] is not None
                made = indexes[index.name].get("dialect_options", {})
                assert (f"{connection.dialect.name}_where" in made) is partial, index.name
        if connection.dialect.name == "postgresql":
            assert connection.scalar(text(BYTE_ORDER)) == 0
    engine.dispose()

    assert found == []


def test_rows_of_the_first_schema_are_kept(empty: str) -> None:
    """A key made before there were sessions opens what it opened, and is of none."""
    engine = open_engine(empty)
    with writing(engine.connect()) as connection, connection.begin():
        config = Config()
        config.set_main_option("script_location", str(migrating.MIGRATIONS))
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        connection.execute(
            text(
                "INSERT INTO api_key (workspace, id, role, name, secret_hash, prefix, created_at, "
                "created_by, apps) VALUES ('w', 'k', 'user', 'n', 'h', 'p', 1, 'system', '[\"a\"]')"
            )
        )
    migrating.upgrade(empty)

    with engine.connect() as connection:
        row = connection.execute(select(api_keys)).mappings().one()
        assert (row["id"], row["role"], row["apps"]) == ("k", "user", ("a",))
        assert (row["session"], row["device"]) == (None, None)
    with pytest.raises(IntegrityError), engine.begin() as connection:
        connection.execute(text("UPDATE api_key SET role = 'admin'"))
    with engine.begin() as connection:
        connection.execute(text("UPDATE api_key SET role = 'client'"))
    engine.dispose()


def test_rows_of_the_second_schema_are_kept(empty: str) -> None:
    """A client token that was made for a device is one still; the device has yet to be registered.

    Until then no device is proved by it.
    """
    engine = open_engine(empty)
    with writing(engine.connect()) as connection, connection.begin():
        config = Config()
        config.set_main_option("script_location", str(migrating.MIGRATIONS))
        config.attributes["connection"] = connection
        command.upgrade(config, "0002")
        connection.execute(
            text(
                "INSERT INTO api_key (workspace, id, role, name, secret_hash, prefix, created_at, "
                'created_by, "user", session, device) '
                "VALUES ('w', 'k', 'client', 'n', 'h', 'p', 1, 'system', 'ana', 's', 'phone')"
            )
        )
    assert migrating.upgrade(empty) == HEAD

    with engine.connect() as connection:
        row = connection.execute(select(api_keys)).mappings().one()
        assert (row["id"], row["session"], row["device"]) == ("k", "s", "phone")
        assert connection.execute(select(devices)).all() == []
    engine.dispose()


def test_upgrades_at_once_do_it_once(empty: str) -> None:
    """Several nodes start together; each finds the schema right when it goes on."""
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(migrating.upgrade, [empty] * 4))
    assert done == [HEAD] * 4
    assert not migrating.behind(empty)


def test_migration_that_fails_leaves_nothing(empty: str) -> None:
    """All or nothing, on SQLite too: the table in the way is found late, the others are gone."""
    engine = open_engine(empty)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE input (mine text)"))
    with pytest.raises(Exception, match="input"):
        migrating.upgrade(empty)

    with engine.connect() as connection:
        assert inspect(connection).get_table_names() == ["input"]
    engine.dispose()
    assert migrating.behind(empty)


def test_schema_of_another_release_is_not_up_to_date(empty: str) -> None:
    """``serve`` refuses while the schema is behind (contract section 13), or ahead."""
    migrating.upgrade(empty)
    engine = open_engine(empty)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()

    assert migrating.current(empty) == "9999"
    assert migrating.behind(empty)


def test_head_is_the_newest_migration() -> None:
    """The constant spares a start the import of Alembic."""
    assert ScriptDirectory(str(migrating.MIGRATIONS)).get_heads() == [HEAD]


def test_start_on_a_right_schema_does_not_import_alembic(migrated_sqlite: Path) -> None:
    """Start to first answer is to stay under 1.5 s (issue 3)."""
    program = (
        "import sys; from remit.store import migrating; from remit.store.store import Store; "
        "assert not migrating.behind(sys.argv[1]); "
        "sys.exit('alembic' in sys.modules or 'psycopg' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, f"sqlite:///{migrated_sqlite}"], check=False
    )
    assert done.returncode == 0
