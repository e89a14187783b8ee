"""The transport that is used: HTTP/1.1 on ``asyncio.Protocol`` and llhttp (docs/decisions/0015).

Rules of this file and of those below it (``pool``, ``connection``, ``answers``), each held by a
test:

* It connects to the addresses that the admission gave, in their order, and to nothing else. The
  deciding check sees the address just before the socket connects, also of literals, and the
  address at the other end once more when it has. No name is resolved here.
* Nothing is sent twice. A kept connection that is seen to be dead *before* the first byte is
  left, and another one is used; after the first byte nothing is repeated.
* ``sent`` is exact: it turns true in the same step of the loop that writes the first byte.
* TLS verifies the certificate for the origin's host, and a connection serves one origin.
* ``Host`` and ``Content-Length`` are added, and nothing else.
* A connection is used again only after an answer that was read cleanly to its last byte. One
  that a caller gave up on is closed.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import TYPE_CHECKING

from remit.egress import faults
from remit.egress.connection import Connection
from remit.egress.pool import Pool, Site
from remit.errors import CallError

if TYPE_CHECKING:
    from remit.egress.admission import Admission
    from remit.egress.transport import Answer, Message
    from remit.gateway.ports import Limits

_WRITTEN_AT_ONCE_BYTES = 262_144


class HttpTransport:
    """One pool of connections, for one policy (a kept connection carries its decision)."""

    def __init__(self, *, ssl_context: ssl.SSLContext | None = None) -> None:
        """Prepare the pool; must run inside an event loop.

        Args:
            ssl_context: in place of the default one, which verifies against the system's roots.
        """
        self._loop = asyncio.get_running_loop()
        self._pool = Pool(self._loop)
        self._ssl_context = ssl_context

    async def exchange(self, message: Message, admission: Admission, limits: Limits) -> Answer:
        """Send and read to the end; see ``transport.Transport``."""
        pool = self._pool
        site = pool.site(admission.origin)
        head = _head(message, site)
        connection = pool.take(site)
        if connection is None:
            connection = await self._connect(site, admission, limits)
        # From here to the first byte nothing is awaited.
        outcome = connection.begin(limits)
        admission.mark_sent()
        body = message.body
        try:
            if body is None or len(body) <= _WRITTEN_AT_ONCE_BYTES:
                connection.write(head + body if body else head)
            else:
                connection.write(head)
                await connection.upload(body)
            answer = await outcome
        except BaseException:
            connection.abort()
            raise
        if isinstance(answer, CallError):
            raise answer
        if connection.reusable:
            pool.keep(site, connection)
        return answer

    async def close(self) -> None:
        """Close every connection, also those in use."""
        await self._pool.close()

    async def _connect(self, site: Site, admission: Admission, limits: Limits) -> Connection:
        """A connection that may carry a request now: a fresh one, or one that came back.

        Raises:
            EgressRefused: an address is none of the checked ones.
            UpstreamTimeout: there was none in time, waiting for room and the name included.
            UpstreamUnreachable: no address could be connected to.
        """
        try:
            async with asyncio.timeout(limits.connect_timeout_ms / 1000):
                connection = await self._pool.reserve(site)
                if connection is not None:
                    return connection
                try:
                    connection = await self._open_any(site, admission)
                except BaseException:
                    self._pool.give_up(site)
                    raise
        except (OSError, ValueError) as fault:
            error = fault if isinstance(fault, OSError) else OSError()
            raise faults.unconnected(error, admission.origin, limits) from fault
        fault_at_start = connection.fault_at_start()
        if fault_at_start is not None:
            connection.abort()
            raise fault_at_start
        return connection

    async def _open_any(self, site: Site, admission: Admission) -> Connection:
        """Connect to the first address that lets us."""
        last: OSError | None = None
        for address in await admission.addresses():
            if self._pool.closed:
                break
            try:
                return await self._open(site, address, admission)
            except OSError as fault:
                last = fault
        if last is not None:
            raise last
        raise faults.lost_at_once(admission.origin)

    async def _open(self, site: Site, address: str, admission: Admission) -> Connection:
        """Connect to one address, TLS included; the deciding check is here."""
        loop = self._loop
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        admission.admit(address)
        raw = socket.socket(family, socket.SOCK_STREAM)
        try:
            raw.setblocking(False)  # noqa: FBT003 -- the socket's signature
            await loop.sock_connect(raw, (address, site.origin.port))
            admission.admit(str(raw.getpeername()[0]))
        except BaseException:
            raw.close()
            raise
        context = self._context() if site.origin.scheme == "https" else None
        _, connection = await loop.create_connection(
            lambda: Connection(loop, site.origin, self._pool.forget),
            sock=raw,
            ssl=context,
            server_hostname=None if context is None else site.origin.host,
        )
        self._pool.add(site, connection)
        if self._pool.closed:
            connection.abort()
        return connection

    def _context(self) -> ssl.SSLContext:
        """Made at the first https request: reading the system's roots takes tens of ms."""
        if self._ssl_context is None:
            self._ssl_context = ssl.create_default_context()
            self._ssl_context.set_alpn_protocols(["http/1.1"])
        return self._ssl_context


def _head(message: Message, site: Site) -> bytes:
    """Request line and headers; everything in them was checked to be ASCII without line ends."""
    method, body = message.method, message.body
    lines = [f"{method} {message.target}{site.host_line}"]
    lines += [f"{name}: {value}\r\n" for name, value in message.headers]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}\r\n\r\n")
    else:
        lines.append("\r\n" if method == "GET" else "Content-Length: 0\r\n\r\n")
    return "".join(lines).encode("ascii")
