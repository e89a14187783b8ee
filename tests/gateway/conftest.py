"""A server's books on a scratch store, for the tests of governing."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from remit.store import migrating
from tests.gateway.server import Server, open_server


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with our schema, to be copied."""
    path = tmp_path_factory.mktemp("gateway") / "template.db"
    migrating.upgrade(f"sqlite:///{path}")
    return path


@pytest.fixture
def scratch(migrated_file: Path, tmp_path: Path) -> Path:
    """An empty store of one test."""
    return Path(shutil.copy(migrated_file, tmp_path / "remit.db"))


@pytest.fixture
async def server(scratch: Path) -> AsyncIterator[Server]:
    """One node on it, with the workspace ``acme`` and its operator."""
    async with open_server(scratch) as opened:
        await opened.books.workspaces.make("acme", at=0)
        await opened.books.workspaces.make("other", at=0)
        yield opened
