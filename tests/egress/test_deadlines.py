"""Deadlines under one timer mean what ``asyncio.timeout`` means."""

from __future__ import annotations

import asyncio

import pytest

from remit.egress.deadlines import Deadlines


async def test_a_block_that_takes_too_long_is_cancelled_and_times_out() -> None:
    """Afterwards the task is as if it had never been cancelled."""
    deadlines = Deadlines(asyncio.get_running_loop())
    task = asyncio.current_task()
    assert task is not None
    with pytest.raises(TimeoutError), deadlines.within(0.01):
        await asyncio.Event().wait()
    assert task.cancelling() == 0
    await asyncio.sleep(0)


async def test_a_deadline_is_never_early() -> None:
    """It may be a tick late."""
    loop = asyncio.get_running_loop()
    deadlines = Deadlines(loop)
    started = loop.time()
    with pytest.raises(TimeoutError), deadlines.within(0.03):
        await asyncio.Event().wait()
    assert loop.time() - started >= 0.03


async def test_a_block_in_time_is_left_alone() -> None:
    """Also once its deadline is past."""
    deadlines = Deadlines(asyncio.get_running_loop())
    with deadlines.within(0.02):
        await asyncio.sleep(0)
    await asyncio.sleep(0.06)


async def test_a_cancellation_from_outside_stays_one() -> None:
    """A caller that cancels is not told of a timeout."""
    deadlines = Deadlines(asyncio.get_running_loop())
    inside = asyncio.Event()

    async def work() -> None:
        with deadlines.within(10):
            inside.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_cancellation_at_the_deadline_is_not_swallowed() -> None:
    """Both at once: the outer one goes on."""
    deadlines = Deadlines(asyncio.get_running_loop())

    async def work() -> None:
        with deadlines.within(0.01):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                task.cancel()
                raise

    task = asyncio.create_task(work())
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_each_task_has_its_own() -> None:
    """Short ones end, long ones go on, under the same timer."""
    deadlines = Deadlines(asyncio.get_running_loop())

    async def work(seconds: float) -> bool:
        try:
            with deadlines.within(seconds):
                await asyncio.sleep(0.2)
        except TimeoutError:
            return False
        return True

    assert await asyncio.gather(*(work(s) for s in (0.01, 5, 0.03, 5))) == [
        False,
        True,
        False,
        True,
    ]


async def test_an_error_of_the_block_goes_through() -> None:
    """Only its own cancellation is turned into a timeout."""
    deadlines = Deadlines(asyncio.get_running_loop())
    with pytest.raises(ValueError, match="mine"), deadlines.within(5):
        raise ValueError("mine")
