"""Decompression under a budget: a small answer may not grow without bound (CWE-409).

``gzip`` and ``deflate`` are read, the latter with or without its zlib wrapper, as servers send
both. Stacked and other codings were not asked for and are refused.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_GZIP, _ZLIB, _RAW = 31, 15, -15


class CodingFault(Exception):
    """An answer's body cannot be decoded; the text says why, as the rest of "its body …"."""


class OverBudget(Exception):
    """An answer's body is longer than its budget."""


def content_coding(header_values: Sequence[str]) -> str | None:
    """The one coding of a body, ``gzip`` or ``deflate``, or None for none.

    Raises:
        CodingFault: there are several, or another one.
    """
    codings = [part.strip().lower() for value in header_values for part in value.split(",")]
    codings = [coding for coding in codings if coding not in {"", "identity"}]
    if not codings:
        return None
    if len(codings) > 1:
        msg = "is compressed several times over"
        raise CodingFault(msg)
    coding = codings[0].removeprefix("x-")
    if coding not in {"gzip", "deflate"}:
        msg = "is in a coding that was not asked for; only gzip and deflate are read"
        raise CodingFault(msg)
    return coding


class BodyReader:
    """Collects a body and decodes it as it comes, never holding more than the budget.

    The wire bytes count too, so that compressed emptiness cannot stream forever.
    """

    def __init__(self, coding: str | None, max_bytes: int) -> None:
        self._coding = coding
        self._max_bytes = max_bytes
        self._max_wire_bytes = max_bytes + 65_536
        self._wire_bytes = 0
        self._body = bytearray()
        self._inflater = zlib.decompressobj(_GZIP) if coding == "gzip" else None
        self._head: bytes = b""

    def feed(self, data: bytes) -> None:
        """Take the next bytes off the wire.

        Raises:
            OverBudget: the body is too long.
            CodingFault: it is no stream of its coding.
        """
        self._wire_bytes += len(data)
        over = self._wire_bytes - self._max_wire_bytes
        if over > 0:
            # What has room counts first, so that it does not matter how the bytes were cut.
            self._read(data[:-over])
            raise OverBudget
        self._read(data)

    def _read(self, data: bytes) -> None:
        if self._coding is None:
            self._take(data)
            return
        if self._inflater is None:
            data = self._head + data
            if len(data) < 2:
                self._head = data
                return
            self._inflater = zlib.decompressobj(_deflate_window(data))
        self._inflate(data)

    def finish(self) -> bytes:
        """The whole body, at the end of the stream.

        Raises:
            CodingFault: the stream ended in the middle.
        """
        ended = self._inflater is not None and self._inflater.eof
        if self._coding is not None and self._wire_bytes and not ended:
            msg = f"is cut short inside its {self._coding} stream"
            raise CodingFault(msg)
        return bytes(self._body)

    def _take(self, data: bytes) -> None:
        if len(self._body) + len(data) > self._max_bytes:
            raise OverBudget
        self._body += data

    def _inflate(self, data: bytes) -> None:
        while data:
            inflater = self._inflater
            if inflater is None or inflater.eof:
                self._check_next_member(data)
                inflater = self._inflater = zlib.decompressobj(_GZIP)
            room = self._max_bytes - len(self._body) + 1
            try:
                self._take(inflater.decompress(data, room))
            except zlib.error:
                msg = f"is no valid {self._coding} stream"
                raise CodingFault(msg) from None
            data = inflater.unused_data or inflater.unconsumed_tail

    def _check_next_member(self, data: bytes) -> None:
        """Several gzip members in a row are one body (RFC 1952); nothing else may follow."""
        if self._coding != "gzip" or not data.startswith(b"\x1f"):
            msg = f"goes on after its {self._coding} stream has ended"
            raise CodingFault(msg)


def _deflate_window(head: bytes) -> int:
    """Whether a deflate body begins with a zlib header (RFC 1950) or is raw (RFC 1951)."""
    is_zlib = head[0] & 0x0F == 8 and head[0] >> 4 <= 7 and (head[0] << 8 | head[1]) % 31 == 0
    return _ZLIB if is_zlib else _RAW
