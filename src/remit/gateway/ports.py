"""What the use cases need from the world, as protocols. The contract of a port stands here.

``egress`` implements ``Egress``; the fakes of the testing room pass the same suite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from remit.calls.answers import Answer
from remit.calls.wire import WireRequest

if TYPE_CHECKING:
    from remit.calls.cards import Card
    from remit.policy.decisions import Approval
    from remit.values.urls import Origin

__all__ = [
    "Approver",
    "Clock",
    "Denial",
    "Egress",
    "Ids",
    "Limits",
    "Unasked",
    "Watcher",
    "WireRequest",
    "WireResponse",
]


class Limits(Struct, frozen=True, kw_only=True):
    """What one exchange may cost.

    Attributes:
        connect_timeout_ms: name look-up, connection and TLS together.
        total_timeout_ms: everything, from the call to the last byte of the answer.
        max_body_bytes: of the answer's body, decompressed.
        max_header_bytes: of the answer's header lines together.
    """

    connect_timeout_ms: int = 5_000
    total_timeout_ms: int = 30_000
    max_body_bytes: int = 1_048_576
    max_header_bytes: int = 65_536


class WireResponse(Answer, frozen=True, kw_only=True):
    """One answer, read to its end.

    Attributes:
        status: 200 to 599; a redirect is an answer like any other.
        headers: as they came; bytes that are no UTF-8 are replaced.
        body: decompressed.
        elapsed_ms: from the call to the last byte.
    """

    elapsed_ms: int


class Egress(Protocol):
    """The only way out: one guarded HTTP exchange (contract section 11)."""

    async def admit(self, origin: Origin) -> None:
        """Ask the guard about an origin without sending anything.

        Raises:
            EgressRefused: a request to it would be refused.
            UpstreamUnreachable: its name has no address.
        """
        ...

    async def send(self, request: WireRequest, limits: Limits) -> WireResponse:
        """Send a request at most once and read its answer.

        No redirect is followed, no cookie kept, no proxy variable read, nothing sent again.
        Every error says in ``sent`` whether the first byte of the request went out.

        Raises:
            EgressRefused: the guard refused the destination, or the request is malformed
                (a line break in a header, 8 KiB exceeded); never sent.
            UpstreamTimeout: no connection, or no whole answer, in time.
            UpstreamUnreachable: the name or the connection failed, or it broke.
            ResponseTooLarge: the body or the headers are over their limit.
            ResponseInvalid: the answer is no HTTP, or in a coding that was not asked for.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Denial:
    """A person's no; ``note`` is what they said with it."""

    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unasked:
    """There was nobody to ask.

    Attributes:
        why: what is missing, as a clause: "there is no terminal".
        mend: how it can be approved, as a sentence.
    """

    why: str
    mend: str


class Approver(Protocol):
    """A person who can say yes or no to one exact request."""

    async def ask(self, card: Card) -> Approval | Denial | Unasked:
        """Show the card and wait for the answer; somebody who says nothing says no."""
        ...


class Clock(Protocol):
    """Time, so that the use cases can be tested without waiting."""

    async def sleep(self, delay_ms: int) -> None:
        """Wait for so many milliseconds."""
        ...

    def now_ms(self) -> int:
        """Milliseconds of a monotonic clock with an origin of its own."""
        ...


class Ids(Protocol):
    """Fresh identifiers."""

    def call_id(self) -> str:
        """An id of a call: unique for ever, safe in a header and in a URL."""
        ...

    def traceparent(self) -> str:
        """A W3C ``traceparent`` value of a new trace."""
        ...


class Watcher(Protocol):
    """Whoever wants to see a call go on while it runs."""

    def started(self, tool: str) -> None:
        """A request of the call itself goes out now; a preview or a poll is not told."""
        ...

    def answered(self, tool: str) -> None:
        """The exchange that was told as started is over."""
        ...

    def polled(self, tool: str, poll: int, max_polls: int, status: str) -> None:
        """A job was asked for its status for the ``poll``-th time."""
        ...

    def retrying(self, tool: str, delay_ms: int, status: int) -> None:
        """A read will be sent again after a wait, because the app said that it is busy."""
        ...
