"""A real server in front of the API, and a reader of its event streams over a socket."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import uvicorn

from tests.web.api import Api, open_api

#: More than any wait of these tests takes, so that one that hangs fails.
PATIENCE_S = 20


@dataclass(frozen=True)
class Sent:
    """One server-sent event; ``id`` is None where it has none."""

    event: str
    data: Any
    id: int | None = None


class Reader:
    """Reads one stream, as a browser does."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.writer = writer
        self.status = 0
        self.headers: dict[str, str] = {}
        self._text = ""
        self.comments = 0

    async def opened(self) -> None:
        """Read status and headers."""
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.strip().split("\r\n")
        self.status = int(first.split(" ")[1])
        self.headers = {
            name.lower(): value for name, value in (line.split(": ", 1) for line in lines)
        }

    async def next(self) -> Sent | None:
        """The next event; None at the end of the stream."""
        while True:
            while "\n\n" in self._text:
                block, self._text = self._text.split("\n\n", 1)
                if block.startswith(":"):
                    self.comments += 1
                    continue
                fields = dict(line.split(": ", 1) for line in block.split("\n"))
                number = fields.get("id")
                return Sent(
                    fields["event"],
                    json.loads(fields["data"]),
                    None if number is None else int(number),
                )
            if (part := await self._chunk()) is None:
                return None
            self._text += part

    async def heartbeat(self) -> None:
        """Wait for a sign of life after the first, which opens the stream."""
        known = self.comments
        while self.comments == known:
            if (part := await self._chunk()) is None:
                msg = "the stream ended"
                raise EOFError(msg)
            self.comments += part.count(":\n\n")

    async def rest(self) -> list[Sent]:
        """Everything until the end."""
        found: list[Sent] = []
        while (one := await self.next()) is not None:
            found.append(one)
        return found

    async def take(self, count: int) -> list[Sent]:
        """So many events."""
        found = [await self.next() for _ in range(count)]
        assert all(found), found
        return [one for one in found if one is not None]

    async def body(self) -> Any:  # noqa: ANN401 (any JSON value)
        """The body of an answer that is no stream."""
        size = int(self.headers["content-length"])
        return json.loads(await self._reader.readexactly(size))

    async def _chunk(self) -> str | None:
        size = int((await self._reader.readline()).strip() or b"0", 16)
        part = await self._reader.readexactly(size + 2)
        return part[:-2].decode() if size else None


@dataclass
class Server:
    """The API behind uvicorn on loopback."""

    api: Api
    port: int
    uvicorn: uvicorn.Server

    @asynccontextmanager
    async def follow(
        self, session: str, *, who: str = "tab", query: str = "", **headers: str
    ) -> AsyncIterator[Reader]:
        """A reader of a session's stream."""
        connection = socket.create_connection(("127.0.0.1", self.port))
        # What a reader does not take waits at the server, not here.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32 * 1024)
        reader, writer = await asyncio.open_connection(sock=connection)
        given = {
            "host": "127.0.0.1",
            "authorization": f"Bearer {self.api.keys[who]}",
            "accept": "text/event-stream",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in given.items())
        path = f"/v1/sessions/{session}/events{query}"
        writer.write(f"GET {path} HTTP/1.1\r\n{lines}\r\n".encode())
        found = Reader(reader, writer)
        try:
            async with asyncio.timeout(PATIENCE_S):
                await found.opened()
                yield found
        finally:
            writer.close()


@asynccontextmanager
async def open_streams(store_url: str) -> AsyncIterator[Server]:
    """The API behind a real server; it tells its operator of no fault."""
    async with open_api(store_url, public_url="http://127.0.0.1") as api:
        server = uvicorn.Server(
            uvicorn.Config(
                api.app, host="127.0.0.1", port=0, log_level="error", ws="none", lifespan="off"
            )
        )
        serving = asyncio.ensure_future(server.serve())
        async with asyncio.timeout(PATIENCE_S):
            while not server.started:  # noqa: ASYNC110 (uvicorn has no event for it)
                await asyncio.sleep(0.01)
        try:
            yield Server(api, server.servers[0].sockets[0].getsockname()[1], server)
        finally:
            api.bus.end_all("shutdown")
            server.should_exit = True
            await serving
        assert api.faults == []
