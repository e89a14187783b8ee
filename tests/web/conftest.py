"""One API for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.web.api import Api, open_api


@pytest.fixture
async def api(store_url: str) -> AsyncIterator[Api]:
    """The API with one app in force."""
    async with open_api(store_url) as opened:
        yield opened
        assert opened.faults == []


@pytest.fixture
async def bare(store_url: str) -> AsyncIterator[Api]:
    """The API without an app, for what is refused before a use case is asked."""
    async with open_api(store_url, furnished=False) as opened:
        yield opened
        assert opened.faults == []
