"""HTTP to the server on kept connections, where it is known whether an answer came."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

ANSWER_WITHIN_S = 60
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class NoAnswer(Exception):
    """No whole answer came; what became of the request is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer.

    Attributes:
        replayed: whether it is the kept answer of an earlier request.
    """

    status: int
    body: Any
    replayed: bool


class Wire:
    """One connection, opened when it is needed and again after it broke."""

    def __init__(self) -> None:
        self._origin = ""
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Break it."""
        streams, self._streams = self._streams, None
        if streams is not None:
            streams[1].transport.abort()

    async def ask(
        self,
        origin: str,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send a request and read its answer.

        Raises:
            NoAnswer: the connection broke, or was never made.
        """
        raw = b"" if body is None else json.dumps(body).encode()
        given = {"Host": urlsplit(origin).netloc, **(headers or {})}
        if body is not None:
            given |= {"Content-Type": "application/json", "Content-Length": str(len(raw))}
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {text}" for name, text in given.items())]
        whole = "\r\n".join([*lines, "", ""]).encode() + raw
        try:
            async with asyncio.timeout(ANSWER_WITHIN_S):
                return await self._ask(origin, whole)
        except (OSError, EOFError, TimeoutError) as error:
            self.close()
            raise NoAnswer(f"{method} {path}: {type(error).__name__}") from None
        except BaseException:
            # An answer that is half read must not be taken for the next one's.
            self.close()
            raise

    async def _ask(self, origin: str, whole: bytes) -> Reply:
        reader, writer = await self._open(origin)
        writer.write(whole)
        head = await reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(head)
        raw = await reader.readexactly(int(length[1])) if length else b""
        return Reply(
            status=int(head[9:12]),
            body=json.loads(raw or b"null"),
            replayed=b"\r\nidempotency-replayed: true" in head.lower(),
        )

    async def _open(self, origin: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        streams = self._streams
        if streams is not None and (origin != self._origin or streams[0].at_eof()):
            self.close()
        if self._streams is None:
            parts = urlsplit(origin)
            self._streams = await asyncio.open_connection(
                parts.hostname, parts.port, limit=16 * 1024 * 1024
            )
            self._origin = origin
        return self._streams
