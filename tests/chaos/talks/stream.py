"""The events of a session as a browser reads them: server-sent, over a socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any
from urllib.parse import urlsplit

#: A stream that says nothing for so long is left, and read on with the last number.
QUIET_S = 4


class NoStream(Exception):
    """The server gives no stream; says its answer."""


async def messages(
    origin: str, path: str, token: str, after: int
) -> AsyncGenerator[tuple[str, dict[str, Any]]]:
    """Name and data of each message, until the stream ends or is quiet.

    Raises:
        NoStream: another answer than 200.
        OSError, EOFError, TimeoutError: the connection broke, or says nothing any more.
    """
    address = urlsplit(origin)
    async with asyncio.timeout(QUIET_S):
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
    try:
        lines = (
            f"GET {path} HTTP/1.1",
            f"Host: {address.netloc}",
            f"Authorization: Bearer {token}",
            "Accept: text/event-stream",
            f"Last-Event-ID: {after}",
        )
        writer.write("\r\n".join([*lines, "", ""]).encode())
        async with asyncio.timeout(QUIET_S):
            head = await reader.readuntil(b"\r\n\r\n")
        if head[9:12] != b"200":
            raise NoStream(head.decode().splitlines()[0])
        read = b""
        while part := await _chunk(reader):
            *whole, read = (read + part).split(b"\n\n")
            for message in whole:
                name, data = _fields(message)
                if data:
                    yield name, json.loads(data)
    finally:
        writer.transport.abort()


async def _chunk(reader: asyncio.StreamReader) -> bytes:
    """The next chunk of the answer's body (RFC 9112, 7.1); nothing is its end."""
    async with asyncio.timeout(QUIET_S):
        size = int(await reader.readuntil(b"\r\n"), 16)
        return (await reader.readexactly(size + 2))[:-2]


def _fields(message: bytes) -> tuple[str, str]:
    name, data = "message", ""
    for line in message.decode().split("\n"):
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            data += value
    return name, data
