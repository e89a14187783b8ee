"""One request's way out: where it may connect, and whether its first byte has gone.

A transport gets an ``Admission`` and connects nowhere but to what it returns. The name is looked
up at most once in its life, so a name server cannot answer the check and the connection apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.egress.lookup import Lookup, NameUnresolved
from remit.errors import EgressRefused, UpstreamUnreachable
from remit.values.ip import parse_ip

if TYPE_CHECKING:
    from remit.egress.guard import Guard
    from remit.values.urls import Origin


class Admission:
    """The leave of one request to reach one origin.

    Attributes:
        sent: whether the first byte of the request was handed to the network.
    """

    __slots__ = ("_addresses", "_guard", "_lookup", "origin", "sent")

    def __init__(self, guard: Guard, origin: Origin, lookup: Lookup) -> None:
        """Decide what the URL alone decides.

        Raises:
            EgressRefused: the guard refuses before anything is resolved.
        """
        early = guard.before(origin)
        if early is not None and early.decision != "allow":
            raise early.as_error()
        self.origin = origin
        self.sent = False
        self._guard = guard
        self._lookup = lookup
        self._addresses: tuple[str, ...] | None = None if early is None else early.addresses

    async def addresses(self) -> tuple[str, ...]:
        """The checked addresses to connect to; the one look-up happens at the first question.

        Raises:
            EgressRefused: one address of the answer is bad, so all are.
            UpstreamUnreachable: the name has no address.
        """
        if self._addresses is None:
            try:
                answer = await self._lookup(self.origin.host, self.origin.port)
            except NameUnresolved as fault:
                msg = f"{self.origin} cannot be resolved: {fault.reason}. Nothing was sent."
                raise UpstreamUnreachable(msg, sent=False) from fault
            decision = self._guard.after(self.origin, answer)
            if not decision.allowed:
                raise decision.as_error()
            self._addresses = decision.addresses
        return self._addresses

    def admit(self, address: str) -> None:
        """The deciding check, called with the very address of the connection being opened.

        Raises:
            EgressRefused: it is none of the checked ones.
        """
        parsed = parse_ip(address)
        if parsed is None or str(parsed) not in (self._addresses or ()):
            msg = f"The request was not sent: {self.origin} led to an address not checked."
            raise EgressRefused(msg, sent=False)

    def mark_sent(self) -> None:
        """The first byte goes out now; a transport calls it just before it writes."""
        self.sent = True
