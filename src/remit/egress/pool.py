"""Kept connections by origin, and how many there may be.

Bounds: 1,000 connections in all, those being opened included; where there is no room the
longest unused one is closed, else a request waits. A connection is used again within 15 s of its
last use and closed within a second more. The last one used is the first one used again,
so that the others can grow old.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from remit.egress.connection import Connection
    from remit.values.urls import Origin

MAX_CONNECTIONS = 1000
IDLE_S = 15.0
_SWEEP_S = 1.0
_GONE_S = 1.0


class Site:
    """One origin's part of the pool.

    Attributes:
        origin: scheme, host and port; a connection is used for no other one.
        host_line: the ``Host`` header of its requests, with what ends the line before it.
        kept: connections without an exchange, the last used one at the end.
        users: connections open or being opened, and requests that wait for room.
    """

    __slots__ = ("host_line", "kept", "origin", "users")

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.host_line = f" HTTP/1.1\r\nHost: {origin.authority}\r\n"
        self.kept: list[Connection] = []
        self.users = 0


class Pool:
    """The connections of one transport; they are used by no other one."""

    __slots__ = (
        "_closed",
        "_count",
        "_empty",
        "_kept",
        "_loop",
        "_open",
        "_sites",
        "_sweeping",
        "_waiting",
    )

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._sites: dict[tuple[str, str, int], Site] = {}
        self._open: dict[Connection, Site] = {}
        self._kept: dict[Connection, Site] = {}  # the longest unused first
        self._count = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._sweeping: asyncio.TimerHandle | None = None
        self._empty: asyncio.Future[None] | None = None
        self._closed = False

    @property
    def closed(self) -> bool:
        """Whether no connection may be opened any more."""
        return self._closed

    def site(self, origin: Origin) -> Site:
        """The part of this origin; it lives as long as it has users."""
        key = (origin.scheme, origin.host, origin.port)
        site = self._sites.get(key)
        if site is None:
            site = Site(origin)
            if not self._closed:
                self._sites[key] = site
        return site

    def take(self, site: Site) -> Connection | None:
        """A kept connection that is alive at this moment; the dead ones found are closed."""
        kept = site.kept
        while kept:
            connection = kept.pop()
            del self._kept[connection]
            fresh = self._loop.time() - connection.idle_since <= IDLE_S
            if fresh and connection.usable_again():
                return connection
            connection.abort()
        return None

    async def reserve(self, site: Site) -> Connection | None:
        """Wait for room for one more connection; a kept one where one comes back meanwhile.

        Whoever gets None opens a connection and calls ``add`` or ``give_up``.
        """
        site.users += 1
        try:
            while self._count >= MAX_CONNECTIONS and not self._closed:
                if self._kept:
                    self._drop(next(iter(self._kept)))
                await self._wait()
                connection = self.take(site)
                if connection is not None:
                    self._leave(site)
                    self._wake()
                    return connection
        except BaseException:
            self._leave(site)
            raise
        self._count += 1
        return None

    def add(self, site: Site, connection: Connection) -> None:
        """The reserved connection is open."""
        self._open[connection] = site

    def give_up(self, site: Site) -> None:
        """The reserved connection was not made."""
        self._count -= 1
        self._leave(site)
        self._wake()

    def keep(self, site: Site, connection: Connection) -> None:
        """Take a connection back after a clean exchange."""
        if self._closed or connection.spoiled:
            connection.abort()
            return
        connection.idle_since = self._loop.time()
        site.kept.append(connection)
        self._kept[connection] = site
        if self._sweeping is None:
            self._sweeping = self._loop.call_later(IDLE_S, self._sweep)
        if self._waiting:
            self._wake()

    def forget(self, connection: Connection) -> None:
        """A connection is gone."""
        site = self._open.pop(connection, None)
        if site is None:
            return
        if self._kept.pop(connection, None) is not None:
            site.kept.remove(connection)
        self.give_up(site)
        if self._empty is not None and not self._open and not self._empty.done():
            self._empty.set_result(None)

    async def close(self) -> None:
        """Close every connection, also those in use, and wait until they are gone."""
        self._closed = True
        if self._sweeping is not None:
            self._sweeping.cancel()
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)
        if self._open:
            self._empty = self._loop.create_future()
            for connection in tuple(self._open):
                connection.abort()
            await asyncio.wait([self._empty], timeout=_GONE_S)

    async def _wait(self) -> None:
        waiter = self._loop.create_future()
        self._waiting.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self._wake()  # this room is another's now
            raise

    def _wake(self) -> None:
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return

    def _leave(self, site: Site) -> None:
        site.users -= 1
        if not site.users:
            origin = site.origin
            self._sites.pop((origin.scheme, origin.host, origin.port), None)

    def _drop(self, connection: Connection) -> None:
        self._kept.pop(connection).kept.remove(connection)
        connection.abort()

    def _sweep(self) -> None:
        """Close what is too old; one timer for all."""
        self._sweeping = None
        now = self._loop.time()
        while self._kept:
            oldest = next(iter(self._kept))
            rest_s = oldest.idle_since + IDLE_S - now
            if rest_s > 0:
                self._sweeping = self._loop.call_later(max(rest_s, _SWEEP_S), self._sweep)
                return
            self._drop(oldest)
