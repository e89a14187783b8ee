"""What a node does by itself: polls that are due, inputs that expire, calls of the dead.

All of it is rows (architecture, section 3): a round looks what is due, claims it, and starts a
task for each. Nothing is lost with the process, and nothing is kept in it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, final

from remit.gateway.polls import CLAIM_MS, poll, stop
from remit.gateway.resuming import go_on, take_up
from remit.gateway.rounds import IDLE_MS, go_round

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from remit.gateway.governance import Suspension
    from remit.gateway.node import Node

_MAX_CLAIMED = 64
# What one node works on at once by itself; calls that somebody waits for are not counted.
_MAX_AT_ONCE = 256
_FORGET_MS = 600_000


@final
class Worker:
    """Works the rows of a node.

    Args:
        node: what works.
        now_ms: the store's own time, by which leases and claims run.
        alone: there can be no other node (SQLite): what others left is free at once.
        on_fault: is told why a round failed; the next one tries again.
    """

    def __init__(
        self,
        node: Node,
        now_ms: Callable[[], Awaitable[int]],
        *,
        alone: bool,
        on_fault: Callable[[BaseException], None],
    ) -> None:
        self._node = node
        self._now_ms = now_ms
        self._alone = alone
        self._on_fault = on_fault
        self._joined_at: int | None = None
        self._forgot_at = 0
        self._more = False
        self._draining = False
        self._own: set[asyncio.Task[object]] = set()
        self._loop: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Join, take up what dead nodes left, and go on with it from then on.

        Raises:
            StoreUnavailable: the store does not do its part.
        """
        await self.round()
        self._loop = self._node.tasks.start_service(
            go_round(self._node.alarm, self.round, self._on_fault)
        )

    async def stop(self, drain_s: float | None = None) -> bool:
        """Take nothing new, let what is being sent run to its end, and leave.

        Returns:
            False where time ran out; another node then finds what is left.
        """
        # The lease is renewed meanwhile: else another node took what is being sent for abandoned.
        self._draining = True
        drained = await self._node.tasks.drain(drain_s)
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.wait({self._loop})
            self._loop = None
        if drained:
            await self._node.work.leave(self._node.id)
        return drained

    async def round(self) -> int:
        """Do what is due now; says how long, in ms, nothing is.

        Raises:
            StoreUnavailable: the store does not do its part.
        """
        node, now = self._node, await self._now_ms()
        if self._joined_at is None or now - self._joined_at >= node.terms.lease_ms // 3:
            await self._join(now)
        if self._draining:
            return IDLE_MS
        await self._take_up(now)
        await self._expire(now)
        await self._poll(now)
        return await self._rest_ms(now)

    def stopped(self, suspension: Suspension) -> None:
        """End the calls that a suspension stopped (contract section 7, "Suspend")."""
        why = "polling was stopped, because the app was suspended"
        for waits in suspension.inputs:
            self._node.tasks.start(go_on(self._node, waits))
        for row in suspension.polls:
            self._node.tasks.start(stop(self._node, row, why))

    async def _join(self, now: int) -> None:
        node = self._node
        await node.work.join(node.id, at=now, lease_ms=node.terms.lease_ms, alone=self._alone)
        self._joined_at = now
        self._more = True
        if now - self._forgot_at >= _FORGET_MS:
            self._forgot_at = now
            await node.work.forget_answers(at=now)

    async def _take_up(self, now: int) -> None:
        """Claim what dead nodes left; the rest of it in the next rounds."""
        node, room = self._node, self._room()
        if not self._more or room == 0:
            return
        # A dead node said so long ago that it was alive; its last call is older than that.
        quiet_ms = 0 if self._alone else node.terms.lease_ms * 2 // 3
        rows = await node.work.abandoned(node.id, at=now, limit=room, quiet_ms=quiet_ms)
        self._more = len(rows) == room
        for row in rows:
            self._begin(take_up(node, row))

    async def _expire(self, now: int) -> None:
        node, room = self._node, self._room()
        due = await node.inputs.next_expiry_at()
        if due is None or due > now or room == 0:
            return
        for waits in await node.inputs.expire(node.id, at=now, limit=room):
            self._begin(go_on(node, waits))

    async def _poll(self, now: int) -> None:
        node, room = self._node, self._room()
        due = await node.work.next_poll_at()
        if due is None or due > now or room == 0:
            return
        rows = await node.work.due_polls(node.id, at=now, limit=room, claim_ms=CLAIM_MS)
        for row in rows:
            self._begin(poll(node, row))

    def _room(self) -> int:
        """How many rows may be claimed now."""
        return min(_MAX_CLAIMED, _MAX_AT_ONCE - len(self._own))

    def _begin(self, work: Coroutine[object, object, object]) -> None:
        """Start a task of the node; when it ends there is room for another."""
        task = self._node.tasks.start(work)
        self._own.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[object]) -> None:
        if len(self._own) >= _MAX_AT_ONCE or self._more:
            self._node.alarm.set()
        self._own.discard(task)

    async def _rest_ms(self, now: int) -> int:
        """Until the next thing is due, and no longer than a node may be silent."""
        dues = [await self._node.work.next_poll_at(), await self._node.inputs.next_expiry_at()]
        if self._room() == 0:
            # Whatever ends sets the alarm.
            return IDLE_MS
        waits = [0] if self._more else [due - now for due in dues if due is not None]
        return max(0, min([IDLE_MS, self._node.terms.lease_ms // 3, *waits]))
