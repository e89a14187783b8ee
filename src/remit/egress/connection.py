"""One connection of the client: it carries one exchange at a time.

The bytes that come are handed to the ``AnswerReader`` of the exchange; its outcome is an
``Answer`` or a ``CallError``, given to a future as a value, so that nothing is logged when
nobody waits any more. Whatever is said outside an exchange spoils the connection.
"""

from __future__ import annotations

import asyncio
import select
from typing import TYPE_CHECKING, cast

from remit.egress import faults
from remit.egress.answers import AnswerReader
from remit.errors import CallError

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.egress.transport import Answer
    from remit.gateway.ports import Limits
    from remit.values.urls import Origin

_PIECE_BYTES = 65_536


class Connection(asyncio.Protocol):
    """A connection to one origin, checked before it was made.

    Attributes:
        idle_since: the loop's time at which it was put into the pool.
        spoiled: it ended, or said something unasked; it may not carry a request.
        reusable: the last answer was whole and leaves it good for another request.
    """

    __slots__ = (
        "_drained",
        "_loop",
        "_lost",
        "_on_lost",
        "_origin",
        "_paused",
        "_poll",
        "_reader",
        "_transport",
        "_unasked",
        "_waiter",
        "idle_since",
        "reusable",
        "spoiled",
    )

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        origin: Origin,
        on_lost: Callable[[Connection], None],
    ) -> None:
        self.idle_since = 0.0
        self.spoiled = False
        self.reusable = False
        self._loop = loop
        self._origin = origin
        self._on_lost = on_lost
        self._transport: asyncio.Transport | None = None
        self._poll: select.poll | None = None
        self._reader: AnswerReader | None = None
        self._waiter: asyncio.Future[Answer | CallError] | None = None
        self._drained: asyncio.Future[None] | None = None
        self._paused = False
        self._unasked = False
        self._lost = False

    # --- the pool's and the transport's side ------------------------------------------------------

    def fault_at_start(self) -> CallError | None:
        """Why a fresh connection may not be used after all, or None."""
        if self._unasked:
            return faults.spoke_first(self._origin)
        transport = self._transport
        if self.spoiled or transport is None or transport.is_closing():
            return faults.lost_at_once(self._origin)
        return None

    def usable_again(self) -> bool:
        """Whether a kept connection is alive and silent, also in the kernel, at this moment."""
        transport = self._transport
        if self.spoiled or transport is None or transport.is_closing():
            return False
        if self._poll is None:
            if not hasattr(select, "poll"):
                return True  # on such a machine only the loop tells
            self._poll = select.poll()
            self._poll.register(transport.get_extra_info("socket").fileno(), select.POLLIN)
        return not self._poll.poll(0)

    def begin(self, limits: Limits) -> asyncio.Future[Answer | CallError]:
        """Expect an answer; what comes from now on belongs to it. The future never raises."""
        self.reusable = False
        self._reader = AnswerReader(self._origin, limits)
        waiter = self._waiter = self._loop.create_future()
        return waiter

    def write(self, data: bytes) -> None:
        """Hand bytes to the network."""
        if self._transport is not None:
            self._transport.write(data)

    async def upload(self, body: bytes) -> None:
        """Write a large body as fast as it is taken; stops where the answer comes first."""
        view = memoryview(body)
        for start in range(0, len(body), _PIECE_BYTES):
            while self._paused and self._reader is not None:
                self._drained = self._loop.create_future()
                try:
                    await self._drained
                finally:
                    self._drained = None
            if self._reader is None:
                self.abort()  # the server waits for the rest and would take a request for it
                return
            self.write(view[start : start + _PIECE_BYTES])  # type: ignore[arg-type]

    def abort(self) -> None:
        """Close at once; the rest of an exchange is told that the connection broke."""
        self.spoiled = True
        self.reusable = False
        if self._transport is not None:
            self._transport.abort()

    # --- the loop's side ----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the loop, after TLS."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Called by the loop."""
        reader = self._reader
        if reader is None:
            self._unasked = True
            self.abort()
            return
        try:
            whole = reader.feed(data)
        except CallError as fault:
            self._settle(fault)
            return
        if whole and reader.answer is not None:
            self._settle(reader.answer, reusable=reader.reusable)

    def eof_received(self) -> None:
        """Called by the loop, which closes the connection then."""
        self.spoiled = True
        self._end(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by the loop, once."""
        self.spoiled = True
        self._end(exc)
        if not self._lost:
            self._lost = True
            self._transport = None
            self._poll = None
            self._on_lost(self)

    def pause_writing(self) -> None:
        """Called by the loop: the network takes no more for now."""
        self._paused = True

    def resume_writing(self) -> None:
        """Called by the loop."""
        self._paused = False
        self._wake_upload()

    def _end(self, cause: Exception | None) -> None:
        reader = self._reader
        if reader is None:
            return
        try:
            reader.end(broken=cause is not None)
        except CallError as fault:
            fault.__cause__ = cause
            self._settle(fault)
        else:
            if reader.answer is not None:
                self._settle(reader.answer)

    def _settle(self, outcome: Answer | CallError, *, reusable: bool = False) -> None:
        self._reader = None
        waiter, self._waiter = self._waiter, None
        transport = self._transport
        unsent = self._paused or transport is None or transport.get_write_buffer_size() > 0
        self.reusable = reusable and not unsent and not self.spoiled
        if not self.reusable:
            self.abort()
        if waiter is not None and not waiter.done():
            waiter.set_result(outcome)
        if self._drained is not None:
            self._wake_upload()

    def _wake_upload(self) -> None:
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)
