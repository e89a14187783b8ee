"""Ends of calls in this process: who waits for one, and which the store did not take so far."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, final

from msgspec import Struct

if TYPE_CHECKING:
    from remit.gateway.journal import Ended
    from remit.gateway.ledger import CallStatus, Outcome


MAX_LATE = 10_000
MAX_LATE_CHARS = 64 * 1024 * 1024


class End(Struct, frozen=True, kw_only=True):
    """The end of a call as the ledger takes it.

    Attributes:
        was: what the call was before.
        record_json: the whole call record.
    """

    workspace: str
    call_id: str
    was: CallStatus
    status: CallStatus
    outcome: Outcome
    record_json: str


@final
class Endings:
    """Calls by workspace and id, with those who wait for their end.

    A call that another node ends is not told here: whoever waits looks at its row now and then.
    """

    def __init__(self) -> None:
        self._waiting: dict[tuple[str, str], list[asyncio.Future[Ended]]] = {}
        # Ends that the store did not take; what came back from the app is known nowhere else.
        self._late: dict[tuple[str, str], End] = {}
        self._late_chars = 0

    @property
    def late(self) -> int:
        """How many ends wait for the store."""
        return len(self._late)

    def keep(self, end: End) -> bool:
        """Keep an end that the store did not take.

        Returns:
            False where one of that call is kept already, or there is no room: ``MAX_LATE`` ends,
            ``MAX_LATE_CHARS`` characters of records.
        """
        key, chars = (end.workspace, end.call_id), self._late_chars + len(end.record_json)
        if key in self._late or len(self._late) >= MAX_LATE or chars > MAX_LATE_CHARS:
            return False
        self._late[key] = end
        self._late_chars = chars
        return True

    def let_go(self, end: End) -> None:
        """Forget an end that was kept."""
        del self._late[end.workspace, end.call_id]
        self._late_chars -= len(end.record_json)

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

    def _forget(self, key: tuple[str, str], future: asyncio.Future[Ended]) -> None:
        waiting = self._waiting.get(key, [])
        if future in waiting:
            waiting.remove(future)
        if not waiting:
            self._waiting.pop(key, None)
