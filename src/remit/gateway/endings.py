"""Ends of calls in this process: who waits for one, and what the store did not take so far."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol, final

from msgspec import Struct

if TYPE_CHECKING:
    from remit.gateway.journal import Ended
    from remit.gateway.ledger import CallRow, CallStatus

MAX_LATE = 10_000
MAX_LATE_CHARS = 64 * 1024 * 1024
# Whole results of calls of sessions, for the turn that looks a moment later: a record holds 4 KiB.
_MAX_RECENT = 512


class Listener(Protocol):
    """Whoever wants to know of every call that this process ends or polls."""

    def ended(self, workspace: str, ended: Ended) -> None:
        """An end was committed."""
        ...

    def progressed(self, workspace: str, call: CallRow, *, polls: int, status: str) -> None:
        """A job was asked for, and goes on."""
        ...


class Late(Struct, frozen=True, kw_only=True):
    """A step of a call that the store has not taken so far.

    Attributes:
        was: what the call is before it; of one call each step is kept once.
        chars: about how much memory it takes, as characters of text.
    """

    workspace: str
    call_id: str
    was: CallStatus
    chars: int


@final
class Endings:
    """Calls by workspace and id, with those who wait for their end.

    A call that another node ends is not told here: whoever waits looks at its row now and then.
    """

    def __init__(self) -> None:
        self._waiting: dict[tuple[str, str], list[asyncio.Future[Ended]]] = {}
        # What the store did not take; what came back from an app is known nowhere else.
        self._late: dict[tuple[str, str, CallStatus], Late] = {}
        self._late_chars = 0
        self._listeners: list[Listener] = []
        self._recent: dict[tuple[str, str], Ended] = {}

    def listen(self, listener: Listener) -> None:
        """Tell somebody of everything from now on."""
        self._listeners.append(listener)

    def recent(self, workspace: str, call: str) -> Ended | None:
        """The whole end of a call of a session that ended here lately; None where it is gone."""
        return self._recent.get((workspace, call))

    def progressed(self, workspace: str, call: CallRow, *, polls: int, status: str) -> None:
        """Tell how far a job is."""
        for listener in self._listeners:
            listener.progressed(workspace, call, polls=polls, status=status)

    @property
    def late(self) -> int:
        """How many ends and other steps of calls wait for the store."""
        return len(self._late)

    def keep(self, late: Late) -> bool:
        """Note that a step which the store did not take is tried on.

        Returns:
            False where that step of the call is tried on already, or there is no room:
            ``MAX_LATE`` steps, ``MAX_LATE_CHARS`` characters together.
        """
        key, chars = _step(late), self._late_chars + late.chars
        if key in self._late or len(self._late) >= MAX_LATE or chars > MAX_LATE_CHARS:
            return False
        self._late[key] = late
        self._late_chars = chars
        return True

    def let_go(self, late: Late) -> None:
        """Forget a step that was kept."""
        del self._late[_step(late)]
        self._late_chars -= late.chars

    def expect(self, workspace: str, call: str) -> asyncio.Future[Ended]:
        """A future that has the end of a call; cancel it when it is wanted no more."""
        future: asyncio.Future[Ended] = asyncio.get_running_loop().create_future()
        key = (workspace, call)
        self._waiting.setdefault(key, []).append(future)
        future.add_done_callback(lambda done: self._forget(key, done))
        return future

    def tell(self, workspace: str, ended: Ended) -> None:
        """Tell whoever waits; called once the end is committed."""
        for future in tuple(self._waiting.get((workspace, ended.call_id), ())):
            if not future.done():
                future.set_result(ended)
        if "sessionId" in ended.record:
            self._recent[workspace, ended.call_id] = ended
            if len(self._recent) > _MAX_RECENT:
                del self._recent[next(iter(self._recent))]
        for listener in self._listeners:
            listener.ended(workspace, ended)

    def _forget(self, key: tuple[str, str], future: asyncio.Future[Ended]) -> None:
        waiting = self._waiting.get(key, [])
        if future in waiting:
            waiting.remove(future)
        if not waiting:
            self._waiting.pop(key, None)


def _step(late: Late) -> tuple[str, str, CallStatus]:
    return late.workspace, late.call_id, late.was
