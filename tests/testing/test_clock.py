"""Time passes when a test says so, and for everybody in order."""

from __future__ import annotations

import asyncio

from remit.testing import Clock
from remit.testing.clock import START_MS


async def test_sleepers_wake_in_the_order_of_their_times() -> None:
    """Also those who go to sleep again within the same move."""
    clock, woken = Clock(), list[tuple[str, int]]()

    async def every(name: str, delay_ms: int, times: int) -> None:
        for _ in range(times):
            await clock.sleep(delay_ms)
            woken.append((name, clock.now_ms()))

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(every("slow", 50, 1))
        tasks.create_task(every("fast", 20, 3))
        await clock.move(40)
        assert woken == [("fast", 20), ("fast", 40)]
        assert clock.sleeping == 2
        await clock.move(100)

    assert woken[2:] == [("slow", 50), ("fast", 60)]
    assert (clock.now_ms(), clock.unix_ms()) == (140, START_MS + 140)


async def test_nothing_is_waited_for_where_no_time_is_asked_for() -> None:
    """A delay of nothing, or of less, is over at once."""
    clock = Clock(start_ms=5)
    await clock.sleep(0)
    await clock.sleep(-3)

    assert (clock.sleeping, clock.unix_ms()) == (0, 5)


async def test_a_sleeper_that_was_cancelled_is_passed_over() -> None:
    """Time goes on past it."""
    clock = Clock()
    sleeper = asyncio.ensure_future(clock.sleep(10))
    await asyncio.sleep(0)
    sleeper.cancel()
    await asyncio.sleep(0)
    await clock.move(20)

    assert (sleeper.cancelled(), clock.sleeping, clock.now_ms()) == (True, 0, 20)
