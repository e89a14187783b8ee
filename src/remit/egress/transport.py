"""The seam below the guard: connect to a checked address, send these bytes, read under budgets.

It is narrow so that another client can take the place of the present one without a caller
noticing. ``Message`` and ``Answer`` are not frozen, as each exchange makes both and setting
fields past a freeze costs three times as much; nobody changes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from remit.egress.admission import Admission
    from remit.gateway.ports import Limits
    from remit.values.urls import Url


@dataclass(slots=True, kw_only=True)
class Message:
    """A checked request: its parts may be written to the wire as they are.

    Attributes:
        method: upper case.
        url: parsed; path and query go out as written.
        headers: names are tokens, values visible ASCII, blank and tab.
        body: None where there is none.
    """

    method: str
    url: Url
    headers: tuple[tuple[str, str], ...]
    body: bytes | None


@dataclass(slots=True, kw_only=True)
class Answer:
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
