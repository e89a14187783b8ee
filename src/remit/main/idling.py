"""Connections that wait for their next request, each closed once it has waited too long.

uvicorn makes a timer after every answer and takes it back at the next request. Of uvloop's timers
that pair costs 3 % of a call (docs/decisions/0016), so that one serves all connections here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

# No connection is closed later than this after its time, and none earlier.
_TICK_S = 0.1


@final
class Wait:
    """One connection's wait; ``cancel`` ends it, as it ends an ``asyncio.TimerHandle``."""

    __slots__ = ("_waits", "close", "until")

    def __init__(self, waits: dict[Wait, None], until: float, close: Callable[[], None]) -> None:
        self._waits = waits
        self.until = until
        self.close = close

    def cancel(self) -> None:
        """The connection waits no more."""
        self._waits.pop(self, None)


@final
class Waits:
    """The waits of one server's connections.

    Args:
        seconds: how long each may last.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        # In the order of their ends, since all are of one length.
        self._waits: dict[Wait, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, loop: asyncio.AbstractEventLoop, close: Callable[[], None]) -> Wait:
        """Call ``close`` when the time is over, unless it is cancelled before."""
        wait = Wait(self._waits, loop.time() + self._seconds, close)
        self._waits[wait] = None
        if self._timer is None:
            self._timer = loop.call_later(self._seconds, self._look, loop)
        return wait

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        now = loop.time()
        while self._waits:
            first = next(iter(self._waits))
            if first.until > now:
                self._timer = loop.call_later(max(first.until - now, _TICK_S), self._look, loop)
                return
            first.cancel()
            first.close()
