"""What all tests share: how hypothesis looks for cases, the databases, a watch for secrets."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests import postgres
from tests.canary.watching import pytest_runtest_makereport as pytest_runtest_makereport

# No deadline: the machine may be busy, and a slow case is not a wrong one. In CI the same cases
# every time, so that a failure there is a change of ours.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

# The rooms' libraries are imported where a fixture is asked for: a run of a pure room's tests
# waits for no database.


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """A PostgreSQL of this worker's own; see ``tests.postgres``."""
    with postgres.server() as url:
        yield url


@pytest.fixture(scope="session")
def migrated_postgres(postgres_server: str) -> str:
    """A database with our schema."""
    from remit.store import migrating

    url = postgres_server.format(database="postgres")
    migrating.upgrade(url)
    return url


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with our schema, to be copied."""
    from remit.store import migrating

    path = tmp_path_factory.mktemp("store") / "template.db"
    migrating.upgrade(f"sqlite:///{path}")
    return path


@pytest.fixture
def backend() -> str:
    """The database of a test; ``databases.on_each_database`` asks for each in turn."""
    return "sqlite"


@pytest.fixture
def store_url(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store of one test, with its schema."""
    if backend == "postgresql":
        from tests import databases

        url: str = request.getfixturevalue("migrated_postgres")
        databases.empty(url)
        return url
    template: Path = request.getfixturevalue("migrated_sqlite")
    return f"sqlite:///{shutil.copy(template, tmp_path / 'remit.db')}"
