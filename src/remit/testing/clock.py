"""A clock that only a test moves."""

from __future__ import annotations

import asyncio
import heapq
from itertools import count

#: Where it begins, in Unix milliseconds: a day of 2026.
START_MS = 1_790_000_000_000


class Clock:
    """Time for the ``Clock`` and ``WallClock`` ports of the gateway.

    It stands still until ``move``: then everybody who sleeps until then wakes, in the order of
    their times.
    """

    def __init__(self, start_ms: int = START_MS) -> None:
        """Stand still at that time.

        Args:
            start_ms: the time of day, in Unix milliseconds.
        """
        self._start_ms = start_ms
        self._passed_ms = 0
        self._order = count()
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []

    def now_ms(self) -> int:
        """Milliseconds since the test began."""
        return self._passed_ms

    def unix_ms(self) -> int:
        """The time of day, in Unix milliseconds."""
        return self._start_ms + self._passed_ms

    @property
    def sleeping(self) -> int:
        """How many sleep now."""
        return sum(not future.done() for _, _, future in self._sleepers)

    async def sleep(self, delay_ms: int) -> None:
        """Sleep until the test has moved so far; not at all where it is nothing."""
        if delay_ms <= 0:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (self._passed_ms + delay_ms, next(self._order), future)
        heapq.heappush(self._sleepers, entry)
        await future

    async def move(self, by_ms: int) -> None:
        """Let time pass; who wakes has begun to run when it is done, and may sleep again in it."""
        until = self._passed_ms + by_ms
        await self._settle()
        while self._sleepers and self._sleepers[0][0] <= until:
            at, _, future = heapq.heappop(self._sleepers)
            self._passed_ms = at
            if not future.done():
                future.set_result(None)
                await self._settle()
        self._passed_ms = until

    async def _settle(self) -> None:
        # Enough rounds of the loop for a chain of awaits to come to its next sleep.
        for _ in range(10):
            await asyncio.sleep(0)
