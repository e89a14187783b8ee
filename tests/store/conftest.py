"""One store for each test, on SQLite and on PostgreSQL in turn."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from remit.store.store import Store
from tests import databases


@pytest.fixture(scope="session")
def opened(request: pytest.FixtureRequest) -> Iterator[Callable[[str], tuple[str, Store, Store]]]:
    """Two stores on one database, opened once for each kind: what a test wrote is wiped."""
    pairs: dict[str, tuple[str, Store, Store]] = {}

    def open_pair(backend: str) -> tuple[str, Store, Store]:
        if backend not in pairs:
            url = _database(request, backend)
            pairs[backend] = url, Store(url), Store(url)
        return pairs[backend]

    yield open_pair
    for _, first, second in pairs.values():
        asyncio.run(first.close())
        asyncio.run(second.close())


@pytest.fixture(params=databases.BACKENDS)
def pair(
    request: pytest.FixtureRequest, opened: Callable[[str], tuple[str, Store, Store]]
) -> tuple[str, Store, Store]:
    """A URL of an empty database, and two stores that are open on it."""
    url, first, second = opened(request.param)
    databases.empty(url)
    return url, first, second


@pytest.fixture
def url(pair: tuple[str, Store, Store]) -> str:
    """The URL of an empty store with its schema."""
    return pair[0]


@pytest.fixture
def store(pair: tuple[str, Store, Store]) -> Store:
    """An open, empty store."""
    return pair[1]


@pytest.fixture
def beside(pair: tuple[str, Store, Store]) -> Store:
    """Another process's view of the same store: its own writer and connections."""
    return pair[2]


def _database(request: pytest.FixtureRequest, backend: str) -> str:
    if backend == "postgresql":
        migrated: str = request.getfixturevalue("migrated_postgres")
        return migrated
    template: Path = request.getfixturevalue("migrated_sqlite")
    shutil.copy(template, template.with_name("shared.db"))
    return f"sqlite:///{template.with_name('shared.db')}"
