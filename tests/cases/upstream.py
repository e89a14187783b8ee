"""A scripted HTTP/1.1 server on loopback, in threads: it records what reaches it, byte for byte."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Self

from tests.cases.verdicts import Json, only

_CHUNK = 65_536
# A peer that reads nothing is given up after this.
_STALL_S = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A request as it came in."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def path(self) -> str:
        """The raw path."""
        return self.target.partition("?")[0]

    @property
    def raw_query(self) -> str:
        """The raw query, without its mark."""
        return self.target.partition("?")[2]

    def header(self, name: str) -> str | None:
        """The value of a header, or None."""
        found = [value for key, value in self.headers if key.lower() == name.lower()]
        return ", ".join(found) if found else None

    def text(self) -> str:
        """All of it, to search in; header values included."""
        head = "\n".join(f"{name}: {value}" for name, value in self.headers)
        return f"{self.method} {self.target}\n{head}\n\n{self.body.decode('utf-8', 'replace')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the server says to one request.

    Attributes:
        stream: body as an endless or very long run of pieces, in place of ``body``.
        hang: read the request and never answer.
        reset: read the request and break the connection.
    """

    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    stream: tuple[bytes, bytes, int] | None = None
    chunked: bool = False
    hang: bool = False
    reset: bool = False
    delay_ms: int = 0


def answer_of(record: Json) -> Answer:
    """An entry of a case's ``upstream``."""
    known = "status headers body bodyRaw acceptThenHang acceptThenReset delayMs also note"
    record = only(record, known, "an upstream answer")
    headers = {str(k): str(v) for k, v in record.get("headers", {}).items()}
    body = b""
    if "bodyRaw" in record:
        body = str(record["bodyRaw"]).encode()
    elif "body" in record:
        body = json.dumps(record["body"]).encode()
        if not any(name.lower() == "content-type" for name in headers):
            headers["content-type"] = "application/json"
    return Answer(
        status=record.get("status", 200),
        headers=tuple(headers.items()),
        body=body,
        hang=bool(record.get("acceptThenHang")),
        reset=bool(record.get("acceptThenReset")),
        delay_ms=record.get("delayMs", 0),
    )


def inflating(inflated_bytes: int) -> tuple[bytes, bytes, int]:
    """A gzip stream that inflates to so many zeros: head, piece, how often the piece repeats."""
    block = 1 << 20
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = deflate.compress(b"\0" * block) + deflate.flush(zlib.Z_FULL_FLUSH)
    head = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"
    return head, piece, max(1, inflated_bytes // block)


@dataclass(eq=False)
class Upstream:
    """The server.

    Attributes:
        answers: in order; the last one repeats. None answers ``200 {"ok": true}``.
        received: each request, in order.
        bytes_said: how many bytes of bodies went out.
    """

    answers: Sequence[Answer] = ()
    host: str = "127.0.0.1"
    port: int = 0
    received: list[Received] = field(default_factory=list)
    bytes_said: int = 0

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return f"http://{self.host}:{self.port}"

    def start(self) -> None:
        """Listen; after ``stop`` on the same port again."""
        self._over = threading.Event()
        self._open: list[socket.socket] = []
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((self.host, self.port))
        listener.listen(64)
        self.port = listener.getsockname()[1]
        self._listener = listener
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Close the door and every connection: they are refused from now on."""
        self._over.set()
        # Wakes the accepting thread.
        with contextlib.suppress(OSError):
            socket.create_connection((self.host, self.port), timeout=1).close()
        self._thread.join()
        self._listener.close()

    def _accept(self) -> None:
        threads: list[threading.Thread] = []
        while True:
            connection, _ = self._listener.accept()
            if self._over.is_set():
                connection.close()
                break
            self._open.append(connection)
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            thread.start()
            threads.append(thread)
        for open_one in self._open:
            with contextlib.suppress(OSError):
                open_one.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join(timeout=2)

    def _serve(self, connection: socket.socket) -> None:
        connection.settimeout(_STALL_S)
        reader = _Reader(connection)
        with contextlib.suppress(OSError, EOFError, ValueError):
            while (request := reader.request()) is not None:
                answer = self._next()
                self.received.append(request)
                if not self._say(connection, request, answer):
                    break
        with contextlib.suppress(OSError):
            connection.close()

    def _next(self) -> Answer:
        if not self.answers:
            return Answer(headers=(("content-type", "application/json"),), body=b'{"ok": true}')
        return self.answers[min(len(self.received), len(self.answers) - 1)]

    def _say(self, connection: socket.socket, request: Received, answer: Answer) -> bool:
        """Answer one request; whether the connection goes on."""
        if answer.delay_ms:
            self._over.wait(answer.delay_ms / 1000)
        if answer.reset:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        if answer.hang:
            while connection.recv(_CHUNK):
                pass
            return False
        for piece in _pieces(request, answer):
            connection.sendall(piece)
            self.bytes_said += len(piece)
        return answer.stream is None


def _pieces(request: Received, answer: Answer) -> Iterator[bytes]:
    phrase = HTTPStatus(answer.status).phrase if answer.status in set(HTTPStatus) else "Status"
    lines = [f"HTTP/1.1 {answer.status} {phrase}"]
    lines += [f"{name}: {value}" for name, value in answer.headers]
    bare = answer.status in (204, 304) or answer.status < 200 or request.method == "HEAD"
    if answer.stream is not None:
        lines.append("Transfer-Encoding: chunked" if answer.chunked else "Connection: close")
    elif not bare:
        lines.append(f"Content-Length: {len(answer.body)}")
    yield "\r\n".join(lines).encode() + b"\r\n\r\n"
    if answer.stream is None:
        if not bare:
            yield answer.body
        return
    head, piece, count = answer.stream
    for part in (head, *(piece for _ in range(count))):
        if answer.chunked:
            yield f"{len(part):x}\r\n".encode() + part + b"\r\n"
        else:
            yield part
    if answer.chunked:
        yield b"0\r\n\r\n"


class _Reader:
    """Requests of one connection, one after another."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.buffer = b""

    def request(self) -> Received | None:
        """The next one; None where the peer is done."""
        while b"\r\n\r\n" not in self.buffer:
            if not self._more():
                return None
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        first, *rest = head.decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ", 2)
        headers = tuple((n, v.strip()) for n, _, v in (line.partition(":") for line in rest))
        lengths = [int(v) for n, v in headers if n.lower() == "content-length"]
        need = lengths[0] if lengths else 0
        while len(self.buffer) < need:
            if not self._more():
                raise EOFError
        body, self.buffer = self.buffer[:need], self.buffer[need:]
        return Received(method=method, target=target, headers=headers, body=body)

    def _more(self) -> bool:
        data = self.connection.recv(_CHUNK)
        self.buffer += data
        return bool(data)
