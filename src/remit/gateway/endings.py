"""Who waits for the end of a call in this process, and is told of it (contract section 10)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from remit.gateway.journal import Ended


@final
class Endings:
    """Calls by workspace and id, with those who wait for their end.

    A call that another node ends is not told here: whoever waits looks at its row now and then.
    """

    def __init__(self) -> None:
        self._waiting: dict[tuple[str, str], list[asyncio.Future[Ended]]] = {}

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
