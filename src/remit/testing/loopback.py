"""A small HTTP/1.1 server on loopback, in a thread of its own, that can also answer badly.

Servers of a framework end their answers well; a test of what a client does needs one that stops in
the middle, says nothing, or never ends.
"""

from __future__ import annotations

import asyncio
import json
import threading
import traceback
from dataclasses import dataclass, field
from http.client import responses
from typing import TYPE_CHECKING, Any, Self, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping

Json: TypeAlias = Any

_MOST_HEAD = 64 * 1024
_START_S = 10.0
_WAIT_S = 10.0


@dataclass(kw_only=True, eq=False)
class HttpRequest:
    """A request as it came.

    Attributes:
        target: path and query.
        headers: by their names in lower case; the last one where a name is repeated.
        peer: host and port of the client's end of the connection.
        dropped: set when the client went away before its answer was whole.
    """

    method: str
    target: str
    headers: dict[str, str]
    body: bytes = field(repr=False)
    peer: tuple[str, int]
    dropped: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    @property
    def json(self) -> Json:
        """The body as JSON."""
        return json.loads(self.body)


class Exchange:
    """One answer, as it is written."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._chunked = False
        self.keeps = True

    async def answer(
        self, status: int, body: bytes, content_type: str, headers: Mapping[str, str] | None = None
    ) -> None:
        """A whole answer."""
        self._head(
            status,
            {"content-type": content_type, "content-length": str(len(body)), **(headers or {})},
        )
        self._writer.write(body)
        await self._writer.drain()

    async def begin(self, content_type: str) -> None:
        """The head of an answer that comes in pieces."""
        self._chunked = True
        self._head(200, {"content-type": content_type, "transfer-encoding": "chunked"})
        await self._writer.drain()

    async def piece(self, body: bytes) -> None:
        """A piece of it."""
        if body:
            self._writer.write(b"%x\r\n%b\r\n" % (len(body), body))
            await self._writer.drain()

    async def end(self) -> None:
        """Its end; without it, the answer is cut off when the connection closes."""
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()

    async def until_gone(self) -> None:
        """Say nothing more until the client goes away."""
        self.keeps = False
        await self._reader.read(1)
        raise ConnectionResetError

    def cut(self) -> None:
        """Close the connection as it is."""
        self.keeps = False

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        phrase = responses.get(status, "Something")
        lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {v}" for name, v in headers.items())]
        self._writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))


class LoopbackServer:
    """Answers each request by ``respond``, which a subclass brings.

    It is a context manager, with and without ``async``; ``start`` and ``stop`` are the same.

    Attributes:
        http: every request, in the order in which they were read.
        faults: what ``respond`` raised, printed at once; the first one is raised where the block
            ends.
    """

    def __init__(self, port: int = 0) -> None:
        """Be ready to start.

        Args:
            port: on 127.0.0.1; 0 takes a free one.
        """
        self.http: list[HttpRequest] = []
        self.faults: list[Exception] = []
        self._port = port
        self._came = threading.Condition()
        self._bound = threading.Event()
        self._failed: OSError | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._open: set[asyncio.Task[None]] = set()

    async def respond(self, request: HttpRequest, exchange: Exchange) -> None:
        """Answer one request; runs in the server's thread."""
        raise NotImplementedError

    @property
    def origin(self) -> str:
        """``http://127.0.0.1:<port>``, once it is started."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def port(self) -> int:
        """Where it listens, once it is started."""
        return self._port

    def start(self) -> Self:
        """Listen.

        Raises:
            OSError: the port cannot be had.
        """
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve()), name=type(self).__name__, daemon=True
        )
        self._thread.start()
        if not self._bound.wait(_START_S):
            msg = "The server did not start in time."
            raise TimeoutError(msg)
        if self._failed is not None:
            raise self._failed
        return self

    def stop(self) -> None:
        """Close everything; answers that are being written are cut off."""
        loop, thread = self._loop, self._thread
        if loop is None or thread is None or not thread.is_alive():
            return
        loop.call_soon_threadsafe(self._close)
        thread.join(_START_S)

    def count(self) -> int:
        """How many requests have come."""
        return len(self.http)

    def notice(self) -> None:
        """Let those who wait count again."""
        with self._came:
            self._came.notify_all()

    def wait_for(self, count: int, timeout_s: float = _WAIT_S) -> None:
        """Wait until so many requests have come.

        Raises:
            TimeoutError: fewer came in time.
        """
        with self._came:
            if not self._came.wait_for(lambda: self.count() >= count, timeout_s):
                msg = f"{self.count()} requests came, {count} were expected."
                raise TimeoutError(msg)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.stop()
        # What a script raised, an assertion say, is the test's own; another failure goes first.
        if kind is None and self.faults:
            raise self.faults[0]

    async def __aenter__(self) -> Self:
        return await asyncio.to_thread(self.start)

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        await asyncio.to_thread(self.__exit__, kind)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        try:
            server = await asyncio.start_server(
                self._connected, "127.0.0.1", self._port, limit=_MOST_HEAD
            )
        except OSError as error:
            self._failed = error
            self._bound.set()
            return
        self._port = server.sockets[0].getsockname()[1]
        self._bound.set()
        async with server:
            await self._ended.wait()
            for task in self._open:
                task.cancel()
            await asyncio.gather(*self._open, return_exceptions=True)

    def _close(self) -> None:
        self._ended.set()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A task of our own, so that ``stop`` can end it.
        work: Coroutine[object, object, None] = self._connection(reader, writer)
        task = asyncio.get_running_loop().create_task(work)
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            keeps = True
            while keeps:
                request = await _read(reader, writer.get_extra_info("peername"))
                self.http.append(request)
                self.notice()
                exchange = Exchange(reader, writer)
                try:
                    await self.respond(request, exchange)
                except ConnectionError:
                    request.dropped.set()
                    raise
                except Exception as fault:  # noqa: BLE001 - a script's own, for the test to see
                    self.faults.append(fault)
                    # The block's end may be far away: who looks on now wants to know.
                    traceback.print_exception(fault)
                    exchange.cut()
                keeps = exchange.keeps
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()


async def _read(reader: asyncio.StreamReader, peer: tuple[str, int]) -> HttpRequest:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = head[0].split(" ", 2)
    headers: dict[str, str] = {}
    for line in head[1:]:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.lower()] = value.strip()
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body = await _chunks(reader)
    else:
        body = await reader.readexactly(int(headers.get("content-length", "0")))
    return HttpRequest(method=method, target=target, headers=headers, body=body, peer=peer)


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        body += await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readuntil(b"\r\n")
    return body
