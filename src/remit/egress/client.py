"""The guarded client: the implementation of ``gateway.ports.Egress``."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Self

from remit.egress.admission import Admission
from remit.egress.allowances import Allowances
from remit.egress.deadlines import Deadlines
from remit.egress.guard import Guard
from remit.egress.lookup import Lookup, look_up
from remit.egress.outgoing import outgoing
from remit.errors import UpstreamTimeout
from remit.gateway.ports import Limits, WireRequest, WireResponse

if TYPE_CHECKING:
    from ssl import SSLContext
    from types import TracebackType

    from remit.egress.transport import Transport
    from remit.values.urls import Origin

_DEFAULT_LIMITS = Limits()


class GuardedClient:
    """Sends requests through the guard of one operator; an async context manager.

    One client is one policy and one pool of connections. It may be used by many tasks at once.
    """

    def __init__(
        self,
        allowances: Allowances | None = None,
        *,
        lookup: Lookup = look_up,
        ssl_context: SSLContext | None = None,
        transport: Transport | None = None,
    ) -> None:
        """Prepare a client; connections are opened when they are needed.

        Args:
            allowances: the operator's exceptions; none by default.
            lookup: names to addresses.
            ssl_context: in place of the default one, which verifies; for tests.
            transport: in place of the one on sockets; the client closes it.
        """
        self._guard = Guard(allowances or Allowances())
        self._lookup = lookup
        self._ssl_context = ssl_context
        self._transport = transport
        self._deadlines: Deadlines | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every connection; a client that is used again opens new ones."""
        transport, self._transport = self._transport, None
        if transport is not None:
            await transport.close()

    async def admit(self, origin: Origin) -> None:
        """Ask the guard about an origin; see ``gateway.ports.Egress``."""
        await Admission(self._guard, origin, self._lookup).addresses()

    async def send(self, request: WireRequest, limits: Limits = _DEFAULT_LIMITS) -> WireResponse:
        """Send a request at most once and read its answer; see ``gateway.ports.Egress``."""
        message = outgoing(request)
        admission = Admission(self._guard, message.origin, self._lookup)
        transport, deadlines = self._open()
        started = time.monotonic()
        try:
            with deadlines.within(limits.total_timeout_ms / 1000):
                answer = await transport.exchange(message, admission, limits)
        except TimeoutError as fault:
            msg = f"{admission.origin} did not answer within {limits.total_timeout_ms} ms."
            raise UpstreamTimeout(msg, sent=admission.sent) from fault
        return WireResponse(
            status=answer.status,
            headers=answer.headers,
            body=answer.body,
            elapsed_ms=round((time.monotonic() - started) * 1000),
        )

    def _open(self) -> tuple[Transport, Deadlines]:
        if self._transport is None:
            # TLS and HTTP take time to import; a command that sends nothing does not pay for it.
            from remit.egress.http_transport import HttpTransport  # noqa: PLC0415

            self._transport = HttpTransport(ssl_context=self._ssl_context)
            self._deadlines = None
        if self._deadlines is None:
            self._deadlines = Deadlines(asyncio.get_running_loop())
        return self._transport, self._deadlines
