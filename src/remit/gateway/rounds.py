"""What works by rows goes round: it does what is due, and rests until more is or an alarm rings."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

#: The longest rest: what nobody rings for is seen by then.
IDLE_MS = 1_000


async def go_round(
    alarm: asyncio.Event,
    do: Callable[[], Awaitable[int]],
    on_fault: Callable[[BaseException], None],
) -> None:
    """Do rounds until this is cancelled.

    Args:
        alarm: set where something is due sooner than the next round.
        do: one round; says how long, in ms, nothing is due.
        on_fault: is told why a round failed; the next one tries again.
    """
    while True:
        alarm.clear()
        rest_ms = IDLE_MS
        try:
            rest_ms = await do()
        except Exception as error:  # noqa: BLE001 (the store may come back; the next round asks)
            on_fault(error)
        try:
            async with asyncio.timeout(rest_ms / 1000):
                await alarm.wait()
        except TimeoutError:
            continue
