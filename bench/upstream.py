"""The host app of the comparison: answers every request with the same order. Argument: its port."""

from __future__ import annotations

import asyncio
import sys
from typing import cast

import httptools
import uvloop
from workload import ANSWER

_REPLY = (
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    f"Content-Length: {len(ANSWER)}\r\n\r\n{ANSWER}"
).encode()


class _Orders(asyncio.Protocol):
    """One connection, kept alive; httptools calls ``on_message_complete`` for each request."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection."""
        self._transport = cast("asyncio.Transport", transport)
        self._parser = httptools.HttpRequestParser(self)

    def data_received(self, data: bytes) -> None:
        """Read on."""
        self._parser.feed_data(data)

    def on_message_complete(self) -> None:
        """A whole request is there."""
        self._transport.write(_REPLY)


async def _serve(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(
        _Orders, "127.0.0.1", port, backlog=1024
    )
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_serve(int(sys.argv[1])))
