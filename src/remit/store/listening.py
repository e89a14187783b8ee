"""Readers on one node hear soon what another node does; on PostgreSQL, by ``NOTIFY``.

What is told is a hint and no truth: how far logs have grown, and pieces of messages that are being
written. Events are read from the store. Every second and a half the heads of sessions with
readers are looked up besides, so that a hint that was lost costs no more than that.

The first hint goes out at once, those of the next milliseconds in one, on a connection of their
own: a ``NOTIFY`` in the transaction that appends would make all appends wait for each other.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeAlias, final

from psycopg import AsyncConnection, Error

from remit.errors import RemitError
from remit.store.hints import Grown, Piece, Wanted, Whole, hints_of, payloads_of, pieces_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence

    from remit.gateway.live import Bus
    from remit.session.events import EndReason, Event
    from remit.store.hints import Hint

CHANNEL = "remit_live"
GATHER_S = 0.03
POLL_S = 1.5

_AGAIN_S = 1.0
_MAX_POLLED = 2_000
# Of all texts that go out at once, in characters: others get a message beyond it when it is whole.
_MAX_TEXT = 64 * 1024
# So many wait while the database is away; more are forgotten.
_MAX_WAITING = 10_000

_Key: TypeAlias = "tuple[str, str]"


@final
class _Elsewhere:
    """A message that another node writes, as far as its beginning is known here."""

    __slots__ = ("is_wanted", "length", "message_id")

    def __init__(self, message_id: str) -> None:
        self.message_id = message_id
        self.length = 0
        self.is_wanted = False


@final
class Listening:
    """Tells the readers of this node and of the others; a ``conversing.Live``.

    Args:
        url: of the database, as libpq reads it.
        bus: the readers of this node.
        heads: ``Sessions.heads``.
        node: this one's id.
        on_fault: told why a connection broke; it is made anew.
    """

    def __init__(
        self,
        url: str,
        bus: Bus,
        heads: Callable[[Iterable[_Key]], Awaitable[dict[_Key, int]]],
        *,
        node: str,
        on_fault: Callable[[Exception], None],
    ) -> None:
        self._url = url
        self._bus = bus
        self._heads_of = heads
        self._node = node
        self._on_fault = on_fault
        self._tasks: list[asyncio.Task[None]] = []
        self._tried = asyncio.Event()
        self._stir = asyncio.Event()
        self._hints: list[Hint] = []
        self._heads: dict[_Key, int] = {}
        # Sessions whose message is written here, and messages that others write.
        self._here: set[_Key] = set()
        self._elsewhere: dict[_Key, _Elsewhere] = {}
        self._polled = 0

    async def start(self) -> None:
        """Listen from now on; returns when that was tried once."""
        self._bus.on_join = self._joined
        works = (self._connected(self._listen), self._connected(self._tell), self._poll())
        self._tasks = [asyncio.create_task(work) for work in works]
        await self._tried.wait()

    async def stop(self) -> None:
        """Neither listen nor tell any more."""
        self._bus.on_join = None
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []

    def happened(self, workspace: str, session: str, events: Sequence[Event]) -> None:
        """See ``Live``."""
        self._bus.happened(workspace, session, events)
        if events:
            self._heads[workspace, session] = events[-1].seq
            self._stir.set()

    def said(
        self, workspace: str, session: str, *, run_id: str, message_id: str, offset: int, text: str
    ) -> None:
        """See ``Live``."""
        self._bus.said(
            workspace, session, run_id=run_id, message_id=message_id, offset=offset, text=text
        )
        self._here.add((workspace, session))
        self._elsewhere.pop((workspace, session), None)
        self._put(
            Piece(
                workspace=workspace,
                session=session,
                run_id=run_id,
                message_id=message_id,
                offset=offset,
                text=text,
            )
        )

    def unsaid(self, workspace: str, session: str) -> None:
        """See ``Live``."""
        self._bus.unsaid(workspace, session)
        self._here.discard((workspace, session))
        self._put(Whole(workspace=workspace, session=session))

    def end(self, workspace: str, session: str, reason: EndReason) -> None:
        """See the port; other nodes see by its head that a session is gone."""
        self._bus.end(workspace, session, reason)

    def _put(self, hint: Hint) -> None:
        if len(self._hints) >= _MAX_WAITING:
            self._hints.clear()
        self._hints.append(hint)
        self._stir.set()

    def _joined(self, workspace: str, session: str) -> None:
        """A reader may have joined in the middle of a message that another node writes."""
        key = (workspace, session)
        known = self._elsewhere.get(key)
        if key not in self._here and (known is None or not known.length):
            self._put(Wanted(workspace=workspace, session=session))

    async def _connected(
        self, work: Callable[[AsyncConnection[tuple[object, ...]]], Coroutine[None, None, None]]
    ) -> None:
        """Do this on a connection, and on the next one when that broke."""
        while True:
            try:
                async with await AsyncConnection.connect(self._url, autocommit=True) as connection:
                    await work(connection)
            except (Error, OSError) as error:
                self._on_fault(error)
            self._tried.set()
            await asyncio.sleep(_AGAIN_S)

    async def _tell(self, connection: AsyncConnection[tuple[object, ...]]) -> None:
        # A hint may be lost with the machine: nobody waits for the disk.
        await connection.execute("SET synchronous_commit = off")
        while True:
            await self._stir.wait()
            self._stir.clear()
            told = payloads_of(self._node, self._taken())
            await connection.execute(
                "SELECT pg_notify(%s, told) FROM unnest(%s::text[]) AS told", (CHANNEL, told)
            )
            # What comes in a quiet moment is told at once, what comes meanwhile in one.
            await asyncio.sleep(GATHER_S)

    def _taken(self) -> list[Hint]:
        """What waits to be told; texts first, so that no message is whole before its end."""
        hints, heads = pieces_of(self._hints), self._heads
        self._hints, self._heads = [], {}
        if sum(len(hint.text) for hint in hints if isinstance(hint, Piece)) > _MAX_TEXT:
            hints = [hint for hint in hints if not isinstance(hint, Piece)]
        grown = (Grown(workspace=key[0], session=key[1], head=head) for key, head in heads.items())
        return [*hints, *grown]

    async def _listen(self, connection: AsyncConnection[tuple[object, ...]]) -> None:
        await connection.execute(f"LISTEN {CHANNEL}")
        self._tried.set()
        async for notice in connection.notifies():
            node, hints = hints_of(notice.payload)
            if node != self._node:
                for hint in hints:
                    self._heard(hint)

    def _heard(self, hint: Hint) -> None:
        key = (hint.workspace, hint.session)
        if isinstance(hint, Grown):
            self._bus.beyond(*key, hint.head)
        elif isinstance(hint, Wanted):
            self._tell_so_far(key)
        elif key in self._here:
            return
        elif isinstance(hint, Whole) or not self._bus.is_read(*key):
            self._forget(key)
        else:
            self._said_elsewhere(key, hint)

    def _tell_so_far(self, key: _Key) -> None:
        """Somebody joined the readers of a message in the middle: say it from its beginning."""
        so_far = self._bus.so_far(*key) if key in self._here else None
        if so_far is not None and len(so_far.text) <= _MAX_TEXT // 2:
            self._put(
                Piece(
                    workspace=key[0],
                    session=key[1],
                    run_id=so_far.run_id,
                    message_id=so_far.message_id,
                    offset=0,
                    text=so_far.text,
                )
            )

    def _said_elsewhere(self, key: _Key, piece: Piece) -> None:
        """Hand on what is new of a piece; one behind a gap waits for the beginning."""
        known = self._elsewhere.get(key)
        if known is None or known.message_id != piece.message_id:
            known = self._elsewhere[key] = _Elsewhere(piece.message_id)
        if piece.offset > known.length:
            if not known.is_wanted:
                known.is_wanted = True
                self._put(Wanted(workspace=key[0], session=key[1]))
            return
        text = piece.text[known.length - piece.offset :]
        if text:
            self._bus.said(
                *key,
                run_id=piece.run_id,
                message_id=piece.message_id,
                offset=known.length,
                text=text,
            )
            known.length += len(text)

    def _forget(self, key: _Key) -> None:
        if self._elsewhere.pop(key, None) is not None:
            self._bus.unsaid(*key)

    async def _poll(self) -> None:
        """Look up how far the logs with readers here are, whatever was told of them."""
        while True:
            await asyncio.sleep(POLL_S)
            for key in [key for key in self._elsewhere if not self._bus.is_read(*key)]:
                self._forget(key)
            read = list(self._bus.readers())
            first = self._polled if self._polled < len(read) else 0
            self._polled = first + _MAX_POLLED
            await self._look_up(read[first : self._polled])

    async def _look_up(self, keys: Sequence[_Key]) -> None:
        try:
            heads = await self._heads_of(keys)
        except RemitError as error:
            self._on_fault(error)
            return
        for workspace, session in keys:
            head = heads.get((workspace, session))
            if head is None:
                # It was erased.
                self._bus.end(workspace, session, "session_closed")
            else:
                self._bus.beyond(workspace, session, head)
