"""What a node does by itself in conversations: sessions that are due are claimed and worked on.

All of it is rows: a round claims what is due and starts a task for each. A claim holds as long as
it is renewed; where a node dies, it runs out, and another one goes on from what was committed.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, final

from remit.errors import RemitError, StoreUnavailable
from remit.gateway.conversing import LostLease, Step
from remit.gateway.rounds import IDLE_MS, go_round
from remit.gateway.talks import act
from remit.gateway.turns import Turn
from remit.session.events import ToolProgress
from remit.session.parts import Fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.gateway.conversing import SessionRow
    from remit.gateway.journal import Ended
    from remit.gateway.ledger import CallRow
    from remit.gateway.talks import Talks, Working

_MAX_CLAIMED = 64


@final
class Talker:
    """Works the sessions of a node.

    Args:
        talks: the node.
        on_fault: is told what a turn or a round raised.
    """

    def __init__(self, talks: Talks, *, on_fault: Callable[[BaseException], None]) -> None:
        self._talks = talks
        self._on_fault = on_fault
        self._turns: dict[tuple[str, str], tuple[int, asyncio.Task[None]]] = {}
        self._loop: asyncio.Task[None] | None = None
        self._renewed_at = 0
        self._draining = False

    @property
    def busy(self) -> int:
        """How many sessions are worked on."""
        return len(self._turns)

    def start(self) -> None:
        """Begin to work."""
        self._talks.node.endings.listen(self)
        self._loop = self._talks.node.tasks.start_service(
            go_round(self._talks.alarm, self.round, self._on_fault)
        )

    async def stop(self) -> None:
        """Take nothing new and let go of what is worked on: another node goes on with it."""
        self._draining = True
        for _, task in tuple(self._turns.values()):
            task.cancel()
        if self._turns:
            await asyncio.wait([task for _, task in self._turns.values()])
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.wait({self._loop})
            self._loop = None

    async def round(self) -> int:
        """Do what is due now; says how long, in ms, nothing is.

        Raises:
            StoreUnavailable: the store does not do its part.
        """
        talks, terms = self._talks, self._talks.terms
        now = await talks.now_ms()
        await self._renew(now)
        if self._draining:
            return IDLE_MS
        room = min(_MAX_CLAIMED, terms.max_at_once - len(self._turns))
        due = await talks.sessions.next_due_at()
        if due is None or room <= 0:
            return IDLE_MS
        if due <= now:
            rows = await talks.sessions.claim(
                talks.node.id, at=now, lease_ms=terms.lease_ms, limit=room
            )
            for row in rows:
                self._begin(row)
            if len(rows) == room:
                return 0
            due = await talks.sessions.next_due_at()
        return IDLE_MS if due is None else max(1, min(IDLE_MS, due - now))

    # --- what the node ends (``endings.Listener``) -----------------------------------------------

    def ended(self, workspace: str, ended: Ended) -> None:
        """A call is over: its session goes on, wherever it is."""
        session = ended.record.get("sessionId")
        if isinstance(session, str) and not self._talks.stops.news(workspace, session):
            self._talks.node.tasks.start(self._wake(workspace, session))

    def progressed(self, workspace: str, call: CallRow, *, polls: int, status: str) -> None:
        """A job goes on: readers are told."""
        if call.session is not None:
            event = ToolProgress(call_id=call.id, polls=polls, status=status, run_id=call.run)
            self._talks.node.tasks.start(self._tell(workspace, call.session, event))

    async def _wake(self, workspace: str, session: str) -> None:
        talks = self._talks
        await talks.sessions.wake(workspace, session, at=await talks.now_ms())
        talks.alarm.set()

    async def _tell(self, workspace: str, session: str, event: ToolProgress) -> None:
        def decide(now: SessionRow) -> Step:
            return Step(events=(event,)) if event.call_id in now.state.calls else Step()

        await act(self._talks, workspace, session, decide)

    # --- turns -----------------------------------------------------------------------------------

    def _begin(self, row: SessionRow) -> None:
        key = (row.workspace, row.id)
        before = self._turns.get(key)
        if before is not None:
            # A claim of this node was lost and won again: the earlier turn can write nothing.
            before[1].cancel()
        working = self._talks.stops.begin(*key)
        task = asyncio.get_running_loop().create_task(self._work(row, working))
        self._turns[key] = (row.fence, task)
        task.add_done_callback(lambda done: self._over(key, done, working))

    async def _work(self, row: SessionRow, working: Working) -> None:
        turn = Turn(self._talks, row, working)
        try:
            await turn.work()
        except LostLease:
            return
        except StoreUnavailable:
            raise
        except RemitError as error:
            await turn.fail(Fault(code=error.code, message=error.message))
        except asyncio.CancelledError:
            if self._draining:
                await self._let_go(turn)
            raise
        except Exception:
            # A fault of ours: tried again when the claim is over, but not for ever.
            if row.attempts > self._talks.terms.max_attempts:
                await turn.abandon()
            raise

    async def _let_go(self, turn: Turn) -> None:
        """Give the claim back, so that another node need not wait for its end."""
        at = self._talks.node.wall.unix_ms()
        await turn.act(lambda _now: Step(due_at=at, release=True))

    def _over(self, key: tuple[str, str], task: asyncio.Task[None], working: Working) -> None:
        self._talks.stops.over(*key, working)
        if self._turns.get(key, (0, None))[1] is task:
            del self._turns[key]
        if working.news and not self._draining:
            self._talks.node.tasks.start(self._wake(*key))
        if not task.cancelled():
            fault = task.exception()
            if fault is not None and not isinstance(fault, LostLease):
                self._on_fault(fault)
        self._talks.alarm.set()

    async def _renew(self, now: int) -> None:
        """Prolong the claims of what is worked on; a turn whose claim is lost is stopped."""
        talks, terms = self._talks, self._talks.terms
        if not self._turns or now - self._renewed_at < terms.lease_ms // 3:
            return
        self._renewed_at = now
        claims = [(*key, fence) for key, (fence, _) in self._turns.items()]
        lost = await talks.sessions.renew(talks.node.id, claims, at=now, lease_ms=terms.lease_ms)
        for key in lost:
            if (turn := self._turns.get(key)) is not None:
                turn[1].cancel()
        await self._hear_stops()

    async def _hear_stops(self) -> None:
        """See by their rows which runs were stopped on another node."""
        for workspace, session in tuple(self._turns):
            row = await self._talks.sessions.get(workspace, session)
            if row is not None and (row.task.cancelled or row.status == "closed"):
                self._talks.stops.stop(workspace, session)
