"""A server on loopback that counts what reaches it and answers as a script says."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from ssl import SSLContext
from typing import Self

Script = Callable[["Visit"], Awaitable[None]]

_LENGTH = re.compile(rb"^content-length: *(\d+)", re.IGNORECASE | re.MULTILINE)


class Visit:
    """One connection, as the server sees it."""

    def __init__(
        self, upstream: Upstream, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.upstream = upstream
        self.reader = reader
        self.writer = writer

    async def request(self) -> bytes:
        """Read one whole request and count it."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(head)
        body = await self.reader.readexactly(int(length[1])) if length else b""
        self.upstream.requests.append(head + body)
        return head + body

    async def say(self, data: bytes) -> None:
        """Write and wait until it may go on."""
        self.writer.write(data)
        self.upstream.bytes_said += len(data)
        await self.writer.drain()

    def reset(self) -> None:
        """Break the connection at once."""
        self.writer.transport.abort()

    async def until_closed(self) -> None:
        """Wait until the client goes away."""
        await self.reader.read()


class Upstream:
    """The server.

    Attributes:
        connections: how many were accepted.
        requests: each whole request, raw.
        bytes_said: how many bytes the scripts have written.
        visits_ended: how many connections are over.
    """

    def __init__(
        self,
        script: Script,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: SSLContext | None = None,
    ) -> None:
        self.host = host
        self.port = port
        self.connections = 0
        self.requests: list[bytes] = []
        self.bytes_said = 0
        self.visits_ended = asyncio.Semaphore(0)
        self._script = script
        self._tls = tls
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """Its origin, with a slash."""
        return f"http://{self.host}:{self.port}/"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self.host, self.port, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await self._script(Visit(self, reader, writer))
        self.visits_ended.release()
        writer.close()
        with suppress(ConnectionError, asyncio.CancelledError):
            await writer.wait_closed()


def http(
    body: bytes = b"ok", *headers: str, status: str = "200 OK", length: int | None = None
) -> bytes:
    """A whole answer."""
    lines = [
        f"HTTP/1.1 {status}",
        *headers,
        f"Content-Length: {len(body) if length is None else length}",
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def always(answer: bytes) -> Script:
    """Answers every request of a kept connection in the same way."""

    async def script(visit: Visit) -> None:
        while True:
            await visit.request()
            await visit.say(answer)

    return script


def once(answer: bytes) -> Script:
    """Answers one request and closes."""

    async def script(visit: Visit) -> None:
        await visit.request()
        await visit.say(answer)

    return script
