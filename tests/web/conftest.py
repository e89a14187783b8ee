"""One API for each test."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from remit.store import migrating
from tests.web.api import Api, open_api


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with our schema, to be copied."""
    path = tmp_path_factory.mktemp("web") / "template.db"
    migrating.upgrade(f"sqlite:///{path}")
    return path


@pytest.fixture
def scratch(migrated_file: Path, tmp_path: Path) -> Path:
    """An empty store of one test."""
    return Path(shutil.copy(migrated_file, tmp_path / "remit.db"))


@pytest.fixture
async def api(scratch: Path) -> AsyncIterator[Api]:
    """The API with one app in force."""
    async with open_api(scratch) as opened:
        yield opened
        assert opened.faults == []


@pytest.fixture
async def bare(scratch: Path) -> AsyncIterator[Api]:
    """The API without an app, for what is refused before a use case is asked."""
    async with open_api(scratch, furnished=False) as opened:
        yield opened
        assert opened.faults == []
