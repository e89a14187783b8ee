"""What a node remembers of the store: look-ups that are at most so old (architecture, section 5).

The rule: before anything remembered is used, the store has been asked within ``max_age_ms`` what
changed, and whatever changed was forgotten. The theory: what was read is kept in a *shelf* for
each workspace and kind of thing. A change takes the whole shelf away, so that a read which was
under way meanwhile finds its shelf gone, and is made again.
"""

from __future__ import annotations

import asyncio
from math import inf
from typing import TYPE_CHECKING, TypeVar, cast, final

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable

    from remit.gateway.acting import Bell
    from remit.gateway.governance import Kind, Revisions
    from remit.gateway.ports import Clock

T = TypeVar("T")

#: A call looks up and is then sent, both within the 2 s of contract section 7 ("Suspend").
MAX_AGE_MS = 1_000
#: Nothing that may be used now is remembered of this.
UNKNOWN = object()
_MAX_ON_SHELF = 50_000
_MAX_SHELVES = 10_000


@final
class _Shelf:
    """What is known of one kind of thing in one workspace, and what is being read of it."""

    __slots__ = ("known", "reading")

    def __init__(self) -> None:
        self.known: dict[Hashable, object] = {}
        self.reading: dict[Hashable, asyncio.Lock] = {}


@final
class Memory:
    """Remembers what was read until the store says that it changed.

    Args:
        revisions: says what changed.
        clock: monotonic.
        bell: rung when something was changed on this node, which then holds at once.
        max_age_ms: how old an answer of ``revisions`` may be.
    """

    def __init__(
        self, revisions: Revisions, clock: Clock, bell: Bell, *, max_age_ms: int = MAX_AGE_MS
    ) -> None:
        self._revisions = revisions
        self._clock = clock
        self._bell = bell
        self._max_age_ms = max_age_ms
        self._number = 0
        # On the clock: until then the last answer holds; there was none yet.
        self._until_ms: float = -inf
        self._heard = 0
        self._asking = asyncio.Lock()
        self._shelves: dict[tuple[str, Kind], _Shelf] = {}

    async def recall(
        self,
        workspace: str,
        kind: Kind,
        key: Hashable,
        read: Callable[[], Awaitable[T]],
        *,
        absent_too: bool = True,
    ) -> T:
        """What ``read`` gives, read once and remembered until things of that kind change.

        Args:
            workspace: ``SERVER`` for what is looked up across all.
            kind: of thing.
            key: what is read; one read of a key runs at a time.
            read: asks the store.
            absent_too: whether None is remembered: not where anybody could ask for anything.

        Raises:
            StoreUnavailable: the store could not be asked; nothing older is answered then.
        """
        while True:
            if not self._is_fresh():
                await self.refresh()
            shelf = self._shelf(workspace, kind)
            if key in shelf.known:
                return cast("T", shelf.known[key])
            lock = shelf.reading.setdefault(key, asyncio.Lock())
            async with lock:
                if key in shelf.known or self._shelves.get((workspace, kind)) is not shelf:
                    continue
                try:
                    found = await read()
                finally:
                    shelf.reading.pop(key, None)
                if self._shelves.get((workspace, kind)) is not shelf:
                    continue
                if found is not None or absent_too:
                    if len(shelf.known) >= _MAX_ON_SHELF:
                        shelf.known.clear()
                    shelf.known[key] = found
                return found

    def known(self, workspace: str, kind: Kind, key: Hashable) -> object:
        """What is remembered and may be used now, or ``UNKNOWN``; asks nobody."""
        shelf = self._shelves.get((workspace, kind))
        # As ``_is_fresh``; several times in every call.
        if (
            shelf is None
            or self._heard != self._bell.rings
            or self._clock.now_ms() >= self._until_ms
        ):
            return UNKNOWN
        return shelf.known.get(key, UNKNOWN)

    async def refresh(self) -> None:
        """Forget what changed, if that was not asked within the last ``max_age_ms``."""
        if self._is_fresh():
            return
        async with self._asking:
            if self._is_fresh():
                return
            # Before the question: what changes while it is answered may not be in the answer.
            heard, asked_ms = self._bell.rings, self._clock.now_ms()
            changes = await self._revisions.changes(self._number)
            for workspace, kind in changes.changed:
                self._shelves.pop((workspace, kind), None)
                # Looked up across all workspaces.
                self._shelves.pop(("", kind), None)
            self._number, self._heard = changes.number, heard
            self._until_ms = asked_ms + self._max_age_ms

    def _is_fresh(self) -> bool:
        return self._heard == self._bell.rings and self._clock.now_ms() < self._until_ms

    def _shelf(self, workspace: str, kind: Kind) -> _Shelf:
        shelf = self._shelves.get((workspace, kind))
        if shelf is None:
            if len(self._shelves) >= _MAX_SHELVES:
                self._shelves.clear()
            shelf = self._shelves[workspace, kind] = _Shelf()
        return shelf
