"""Load on loopback: so many connections, and on each of them one request in flight at a time."""

from __future__ import annotations

import asyncio
import gc
import time
from dataclasses import dataclass, field
from typing import cast

import httptools
import uvloop

_GRACE_S = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked again and again.

    Attributes:
        port: on 127.0.0.1.
        request: one HTTP/1.1 request, head and body.
        expected: stands in every good answer, whose status is 200.
    """

    port: int
    request: bytes
    expected: bytes


@dataclass(slots=True, kw_only=True)
class Window:
    """What came of one window of load.

    Attributes:
        seconds: of wall time, until the last answer.
        waits: of each answer, in seconds, in order of size.
        wrong: answers that were not good, that never came, and connections that were closed.
        sample: the last of the wrong answers.
    """

    seconds: float = 0.0
    waits: list[float] = field(default_factory=list[float])
    wrong: int = 0
    sample: bytes = b""


def http_request(port: int, path: str, body: bytes, headers: dict[str, str]) -> bytes:
    """A POST of JSON, as it goes over the wire."""
    lines = {
        "Host": f"127.0.0.1:{port}",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        **headers,
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + body


def run(asked: Asked, connections: int, seconds: float) -> Window:
    """One window of so many seconds.

    Raises:
        OSError: nobody listens there.
    """
    window = Window()
    gc.collect()
    gc.disable()
    try:
        uvloop.run(_run(asked, connections, seconds, window))
    finally:
        gc.enable()
    window.waits.sort()
    return window


async def _run(asked: Asked, connections: int, seconds: float, window: Window) -> None:
    loop = asyncio.get_running_loop()
    began = time.perf_counter()
    made = [_Connection(asked, window, began + seconds) for _ in range(connections)]
    for connection in made:
        await loop.create_connection(lambda each=connection: each, "127.0.0.1", asked.port)
    ends = [connection.ended for connection in made]
    _, missing = await asyncio.wait(ends, timeout=seconds + _GRACE_S)
    if missing:
        window.wrong += len(missing)
        window.sample = b"no answer"
    window.seconds = time.perf_counter() - began


class _Connection(asyncio.Protocol):
    """Asks, reads the answer, asks again, until the window ends."""

    def __init__(self, asked: Asked, window: Window, until: float) -> None:
        self.ended = asyncio.get_running_loop().create_future()
        self._asked, self._window, self._until = asked, window, until
        self._parser = httptools.HttpResponseParser(self)
        self._body, self._began = b"", 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._ask()

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_body(self, body: bytes) -> None:
        """Part of an answer; called by the parser, as is the next."""
        self._body += body

    def on_message_complete(self) -> None:
        """A whole answer is there."""
        now, window = time.perf_counter(), self._window
        window.waits.append(now - self._began)
        if self._parser.get_status_code() != 200 or self._asked.expected not in self._body:
            window.wrong += 1
            window.sample = self._body
        if now < self._until:
            self._ask()
        else:
            self.ended.set_result(None)
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.ended.done():
            self._window.wrong += 1
            self._window.sample = f"the connection was closed: {exc}".encode()
            self.ended.set_result(None)

    def _ask(self) -> None:
        self._body, self._began = b"", time.perf_counter()
        self._transport.write(self._asked.request)
