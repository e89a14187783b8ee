"""Every test of the room runs on both event loops: the standard one and the server's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import uvloop

LOOPS: Mapping[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.SelectorEventLoop,
    "uvloop": uvloop.new_event_loop,
}


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """What pytest-asyncio makes its loops with."""
    return LOOPS
