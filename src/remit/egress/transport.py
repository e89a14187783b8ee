"""The seam below the guard: connect to a checked address, send these bytes, read under budgets.

It is narrow so that another client can take the place of the present one without a caller
noticing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from remit.egress.admission import Admission
    from remit.gateway.ports import Limits
    from remit.values.urls import Origin


class Message(Struct, frozen=True, kw_only=True):
    """A checked request: its parts may be written to the wire as they are.

    Attributes:
        method: upper case.
        origin: where it goes.
        target: path and query, as written.
        headers: names are tokens, values visible ASCII, blank and tab.
        body: None where there is none.
    """

    method: str
    origin: Origin
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes | None


class Answer(Struct, frozen=True, kw_only=True):
    """Status, headers and the decompressed body."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


class Transport(Protocol):
    """Sends one request at most once.

    It connects only to addresses that ``admission.addresses`` returned, asks
    ``admission.admit`` with the address of each connection it opens, and calls
    ``admission.mark_sent`` just before it writes the first byte of the request; bytes of TLS
    are none of the request. A pooled connection may be used again for the same origin.
    The caller holds the total deadline and cancels; the transport keeps the other limits.
    """

    async def exchange(self, message: Message, admission: Admission, limits: Limits) -> Answer:
        """Send and read to the end, with the errors of ``gateway.ports.Egress.send``."""
        ...

    async def close(self) -> None:
        """Close every connection."""
        ...
