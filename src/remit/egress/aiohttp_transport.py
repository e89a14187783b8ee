"""The transport that is used: aiohttp, with every convenience that could act on its own off.

Rules of this file, each held by a test:

* One look-up. The resolver is ours and returns checked addresses only; there is no name cache.
* The deciding check is in ``socket_factory``, which sees the address of every connection, also
  of literals, for which aiohttp asks no resolver.
* Nothing is sent twice. aiohttp repeats GET, PUT and DELETE on a broken kept-alive connection;
  a middleware turns these breaks into an error that it does not repeat. A kept-alive connection
  that is seen to be dead *before* the first byte is left, and a fresh one is used.
* ``sent`` is exact: it turns true in the same step of the loop that writes the first byte.
* No redirects, cookies, proxy variables, default headers or decompression of aiohttp's.

A request finds its ``Admission`` through a context variable, because the hooks of the connector
are not told for which request they are called. Without one they refuse.
"""

from __future__ import annotations

import select
import socket
from contextvars import ContextVar
from typing import TYPE_CHECKING, cast

import aiohttp
from aiohttp import payload
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from remit.egress.aiohttp_faults import ConnectionBroke, StaleConnection, as_call_error
from remit.egress.inflating import BodyReader, CodingFault, OverBudget, content_coding
from remit.egress.transport import Answer
from remit.errors import EgressRefused, ResponseInvalid, ResponseTooLarge

if TYPE_CHECKING:
    import asyncio
    from ssl import SSLContext

    from aiohttp.abc import AbstractStreamWriter
    from aiohttp.client_middlewares import ClientHandlerType
    from aiohttp.connector import Connection

    from remit.egress.admission import Admission
    from remit.egress.transport import Message
    from remit.gateway.ports import Limits

_IDLE_S = 15.0
_MAX_CONNECTIONS = 1000
_MAX_HEADERS = 128
_MAX_HEADER_LINE_BYTES = 16_384
_NO_CEILING_S = 1e9

_current: ContextVar[_Attempt] = ContextVar("remit_egress_attempt")


class _Attempt:
    """One try to get a connection for a request; ``opened`` where it is a fresh one."""

    __slots__ = ("admission", "opened")

    def __init__(self, admission: Admission) -> None:
        self.admission = admission
        self.opened = False


class AiohttpTransport:
    """One pool of connections, for one policy (a pooled connection carries its decision)."""

    def __init__(self, *, ssl_context: SSLContext | None = None) -> None:
        """Open the pool; must run inside an event loop.

        Args:
            ssl_context: in place of the default one, which verifies against the system's roots.
        """
        connector = aiohttp.TCPConnector(
            resolver=_CheckedResolver(),
            socket_factory=_open_checked_socket,
            use_dns_cache=False,
            happy_eyeballs_delay=None,
            ssl=True if ssl_context is None else ssl_context,
            limit=_MAX_CONNECTIONS,
            keepalive_timeout=_IDLE_S,
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            trust_env=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            request_class=_Request,
            middlewares=(_never_again,),
            skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
            max_headers=_MAX_HEADERS,
        )

    async def exchange(self, message: Message, admission: Admission, limits: Limits) -> Answer:
        """Send and read to the end; see ``transport.Transport``."""
        while True:
            token = _current.set(_Attempt(admission))
            try:
                return await self._exchange_once(message, admission, limits)
            except StaleConnection:
                continue  # nothing was sent, and the dead connection has left the pool
            except (aiohttp.ClientError, OSError, ValueError) as fault:
                raise as_call_error(fault, admission, limits) from fault
            finally:
                _current.reset(token)

    async def close(self) -> None:
        """Close every connection."""
        await self._session.close()

    async def _exchange_once(
        self, message: Message, admission: Admission, limits: Limits
    ) -> Answer:
        body = None if message.body is None else _MarkedBody(message.body, admission)
        async with self._session.request(
            message.method,
            URL(message.url.text, encoded=True),
            headers=message.headers,
            data=body,
            allow_redirects=False,
            max_field_size=min(limits.max_header_bytes, _MAX_HEADER_LINE_BYTES),
            timeout=aiohttp.ClientTimeout(
                total=None,
                connect=limits.connect_timeout_ms / 1000,
                ceil_threshold=_NO_CEILING_S,
            ),
        ) as response:
            try:
                return await _read(response, admission, limits)
            except BaseException:
                response.close()
                raise


async def _read(response: aiohttp.ClientResponse, admission: Admission, limits: Limits) -> Answer:
    origin = admission.origin
    raw_headers = response.raw_headers
    if sum(len(name) + len(value) + 4 for name, value in raw_headers) > limits.max_header_bytes:
        msg = f"{origin} answered with headers of more than {limits.max_header_bytes} bytes."
        raise ResponseTooLarge(msg, sent=True)
    transfer = ", ".join(response.headers.getall("Transfer-Encoding", ["chunked"]))
    if response.status == 101 or transfer.strip().lower() != "chunked":
        msg = f"{origin} answered in a way that was not asked for (upgrade or transfer coding)."
        raise ResponseInvalid(msg, sent=True)
    try:
        coding = content_coding(response.headers.getall("Content-Encoding", []))
        reader = BodyReader(coding, limits.max_body_bytes)
        while data := await response.content.readany():
            reader.feed(data)
        body = reader.finish()
    except CodingFault as fault:
        raise ResponseInvalid(f"The answer of {origin} {fault}.", sent=True) from None
    except OverBudget:
        msg = f"The answer of {origin} is longer than {limits.max_body_bytes} bytes."
        raise ResponseTooLarge(msg, sent=True) from None
    headers = tuple((_text(name), _text(value)) for name, value in raw_headers)
    return Answer(status=response.status, headers=headers, body=body)


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


class _CheckedResolver(AbstractResolver):
    """Gives aiohttp the checked addresses of the request that it resolves for."""

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_UNSPEC,  # noqa: ARG002 -- the port's signature
    ) -> list[ResolveResult]:
        addresses = await _current.get().admission.addresses()
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for address in addresses
        ]

    async def close(self) -> None:
        """Nothing is held."""


def _open_checked_socket(
    address_info: tuple[int, int, int, str, tuple[object, ...]],
) -> socket.socket:
    """The deciding check: no socket is made for an address that was not admitted."""
    family, kind, protocol, _, socket_address = address_info
    attempt = _current.get(None)
    if attempt is None:
        msg = "The request was not sent: a connection was opened for no request."
        raise EgressRefused(msg, sent=False)
    attempt.admission.admit(str(socket_address[0]))
    attempt.opened = True
    return socket.socket(family=family, type=kind, proto=protocol)


async def _never_again(
    request: aiohttp.ClientRequest, handler: ClientHandlerType
) -> aiohttp.ClientResponse:
    """Keep aiohttp from sending a request again after a connection broke."""
    try:
        return await handler(request)
    except aiohttp.ClientConnectorError:
        raise  # no connection was made; aiohttp does not repeat these
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as fault:
        raise ConnectionBroke(str(fault)) from fault


class _Request(aiohttp.ClientRequest):
    """Looks at a connection before it is used again, and marks the first byte."""

    async def send(self, conn: Connection) -> aiohttp.ClientResponse:
        attempt = _current.get()
        closed = conn.transport is None or conn.transport.is_closing()
        if attempt.opened and closed:
            msg = "closed as soon as it was made"
            raise ConnectionBroke(msg)
        if not attempt.opened and (closed or _is_stale(conn)):
            raise StaleConnection
        if not self.body:
            attempt.admission.mark_sent()
        return await super().send(conn)


def _is_stale(connection: Connection) -> bool:
    """Whether the server closed a kept-alive connection, or said something unasked on it."""
    protocol, transport = connection.protocol, connection.transport
    if protocol is None or transport is None or protocol.should_close:
        return True
    poll_class = getattr(select, "poll", None)
    if poll_class is None:
        return False
    poll = poll_class()
    poll.register(transport.get_extra_info("socket").fileno(), select.POLLIN)
    return bool(poll.poll(0))


class _MarkedBody(payload.BytesPayload):
    """A body that marks its admission in the step that writes headers and body together."""

    def __init__(self, body: bytes, admission: Admission) -> None:
        super().__init__(body)
        self._admission = admission

    async def write_with_length(
        self, writer: AbstractStreamWriter, content_length: int | None
    ) -> None:
        transport = cast("asyncio.Transport | None", getattr(writer, "transport", None))
        if transport is not None and not transport.is_closing():
            self._admission.mark_sent()
        await super().write_with_length(writer, content_length)
