"""A server's books on a scratch store, for the tests of governing."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.gateway.server import Server, open_server


@pytest.fixture
def scratch(migrated_sqlite: Path, tmp_path: Path) -> Path:
    """An empty store of one test."""
    return Path(shutil.copy(migrated_sqlite, tmp_path / "remit.db"))


@pytest.fixture
async def server(scratch: Path) -> AsyncIterator[Server]:
    """One node on it, with the workspace ``acme`` and its operator."""
    async with open_server(scratch) as opened:
        await opened.books.workspaces.make("acme", at=0)
        await opened.books.workspaces.make("other", at=0)
        yield opened
