"""Deadlines of many requests under one timer, as a timer for each costs as much as its write.

The timer looks at all of them every 20 ms while there are any, so that a deadline may be kept
up to 20 ms late and never early.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

TICK_S = 0.02


class Deadlines:
    """The running deadlines of one loop; ``within`` gives one more."""

    __slots__ = ("_loop", "_running", "_ticking")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._running: set[Deadline] = set()
        self._ticking = False

    def within(self, seconds: float) -> Deadline:
        """A context manager with the meaning of ``asyncio.timeout``, entered with ``with``.

        Raises:
            TimeoutError: on leaving, where the block was cancelled because the time was up.
        """
        return Deadline(self, self._loop.time() + seconds)

    def start(self, deadline: Deadline) -> asyncio.Task[object] | None:
        """Watch one; gives the task that it is for."""
        self._running.add(deadline)
        if not self._ticking:
            self._ticking = True
            self._loop.call_later(TICK_S, self._tick)
        return asyncio.current_task(self._loop)

    def stop(self, deadline: Deadline) -> None:
        """Watch it no more."""
        self._running.discard(deadline)

    def _tick(self) -> None:
        now = self._loop.time()
        for deadline in [item for item in self._running if item.at <= now]:
            self._running.discard(deadline)
            deadline.expire()
        if self._running:
            self._loop.call_later(TICK_S, self._tick)
        else:
            self._ticking = False


class Deadline:
    """One task's time for one block.

    Attributes:
        at: the loop's time at which it is up.
    """

    __slots__ = ("_cancelling", "_deadlines", "_expired", "_task", "at")

    def __init__(self, deadlines: Deadlines, at: float) -> None:
        self.at = at
        self._deadlines = deadlines
        self._expired = False

    def expire(self) -> None:
        """The time is up: cancel the block."""
        self._expired = True
        self._task.cancel()

    def __enter__(self) -> None:
        task = self._deadlines.start(self)
        if task is None:
            self._deadlines.stop(self)
            msg = "a deadline needs a task"
            raise RuntimeError(msg)
        self._task = task
        self._cancelling = task.cancelling()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._deadlines.stop(self)
        if not self._expired:
            return
        # As asyncio.timeout: another's cancellation goes on, only our own ends here.
        ours = self._task.uncancel() <= self._cancelling
        if ours and kind is not None and issubclass(kind, asyncio.CancelledError):
            raise TimeoutError from error
