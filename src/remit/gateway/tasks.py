"""The tasks of a node: what was begun runs to its end, whoever stops listening (section 9)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar, final

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any

T = TypeVar("T")

_TICK_S = 0.1


@final
class Tasks:
    """Owns the tasks that send and poll; no request owns one.

    Args:
        on_fault: is handed what a task raised, which nobody might see else.
    """

    def __init__(self, on_fault: Callable[[BaseException], None]) -> None:
        # Each with whoever waits for it through ``within``, if anybody does.
        self._running: dict[asyncio.Task[Any], asyncio.Future[None] | None] = {}
        self._services: set[asyncio.Task[Any]] = set()
        self._on_fault = on_fault
        # Waits and the loop's time when each is over.
        self._waits: dict[asyncio.Future[None], float] = {}
        self._ticking: asyncio.TimerHandle | None = None

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run something to its end."""
        task = asyncio.get_running_loop().create_task(work)
        self._running[task] = None
        task.add_done_callback(self._ended)
        return task

    def start_service(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run something that goes on until it is cancelled; a drain does not wait for it."""
        task = asyncio.get_running_loop().create_task(work)
        self._services.add(task)
        task.add_done_callback(self._services.discard)
        return task

    async def within(self, task: asyncio.Task[Any], timeout_s: float) -> bool:
        """Wait for a task that was started here; whether it ended in that time, or 0.1 s later.

        One waits for a task so at a time, and who stops waiting stops nothing else. One timer
        serves all waits: most end long before their time, and a timer for each would cost more
        than the wait.
        """
        if task not in self._running:
            return True
        if timeout_s < _TICK_S:
            await asyncio.wait({task}, timeout=timeout_s)
            return task.done()
        loop = asyncio.get_running_loop()
        woken: asyncio.Future[None] = loop.create_future()
        self._running[task] = woken
        self._waits[woken] = loop.time() + timeout_s
        if self._ticking is None:
            self._ticking = loop.call_later(_TICK_S, self._tick, loop)
        try:
            await woken
        finally:
            del self._waits[woken]
            if task in self._running:
                self._running[task] = None
        return task.done()

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        for woken, until in self._waits.items():
            if until <= now and not woken.done():
                woken.set_result(None)
        self._ticking = loop.call_later(_TICK_S, self._tick, loop) if self._waits else None

    def _ended(self, task: asyncio.Task[Any]) -> None:
        woken = self._running.pop(task)
        if woken is not None and not woken.done():
            woken.set_result(None)
        if not task.cancelled() and (fault := task.exception()) is not None:
            self._on_fault(fault)

    def __len__(self) -> int:
        return len(self._running)

    async def drain(self, timeout_s: float | None = None) -> bool:
        """Wait until all that runs has ended, and what it began; False when time ran out."""
        loop = asyncio.get_running_loop()
        until = None if timeout_s is None else loop.time() + timeout_s
        while self._running:
            left = None if until is None else max(0.0, until - loop.time())
            done, _ = await asyncio.wait(set(self._running), timeout=left)
            if not done:
                return False
        return True


async def side_by_side(*work: Coroutine[Any, Any, None]) -> None:
    """Do several things side by side; the first fault stops the others and is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            for one in work:
                group.create_task(one)
    except BaseExceptionGroup as faults:
        raise faults.exceptions[0] from None
