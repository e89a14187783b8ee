"""One store for each test, on SQLite and on PostgreSQL in turn."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from remit.store import migrating
from remit.store.schema import metadata
from remit.store.store import Store
from tests import postgres

BACKENDS = ("sqlite", "postgresql")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """A PostgreSQL of this worker's own; see ``tests.postgres``."""
    with postgres.server() as url:
        yield url


@pytest.fixture(scope="session")
def migrated_postgres(postgres_server: str) -> str:
    """A database with our schema."""
    url = postgres_server.format(database="postgres")
    migrating.upgrade(url)
    return url


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with our schema, to be copied."""
    path = tmp_path_factory.mktemp("store") / "template.db"
    migrating.upgrade(f"sqlite:///{path}")
    return path


@pytest.fixture(params=BACKENDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store with its schema."""
    if request.param == "sqlite":
        template: Path = request.getfixturevalue("migrated_sqlite")
        shutil.copy(template, tmp_path / "remit.db")
        return f"sqlite:///{tmp_path / 'remit.db'}"
    migrated: str = request.getfixturevalue("migrated_postgres")
    _empty(migrated)
    return migrated


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    """An open, empty store."""
    async with Store(url) as opened:
        yield opened


@pytest.fixture
async def beside(url: str) -> AsyncIterator[Store]:
    """Another process's view of the same store: its own writer and connections."""
    async with Store(url) as opened:
        yield opened


def _empty(url: str) -> None:
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        for table in reversed(metadata.sorted_tables):
            kept = " WHERE kind <> ''" if table.name == "revision" else ""
            connection.execute(text(f'DELETE FROM "{table.name}"{kept}'))
        connection.execute(text("UPDATE revision SET number = 0"))
    engine.dispose()
