"""The text of a document: its bytes decoded strictly, its places counted, its nesting measured."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from remit.documents.problems import DocumentError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

_BOM = "\ufeff"
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_END = re.compile(r"\r\n|\n|\r")
_ESCAPE = re.compile(rb"\\.", re.DOTALL)
_STRING = re.compile(rb'"[^"]*"')
# Possessive, so that a string of 30 MB does not leave a way back at each of its characters.
_MARKS = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[\]{}]', re.DOTALL)
# All bytes but brackets and quotes: what bytes.translate takes out in one pass.
_OTHERS = bytes(code for code in range(256) if code not in b'[]{}"')


def decode(data: str | bytes, *, max_bytes: int) -> str:
    """The document's text: UTF-8, at most ``max_bytes`` of it, without lone surrogates.

    Raises:
        DocumentError: it is too large, or no Unicode text.
    """
    if len(data) > max_bytes:
        raise too_large(len(data), max_bytes)
    if isinstance(data, bytes):
        return _decode_bytes(data)
    if not data.isascii():
        _measure(data, max_bytes)
    return data


def _decode_bytes(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line, column = place(data[: error.start].decode("utf-8"), None)
        hint = "save the document as UTF-8"
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            hint = "it looks like UTF-16; save it as UTF-8"
        problem = Problem(
            pointer="",
            message=f"the byte 0x{data[error.start]:02x} is not valid UTF-8 here",
            mend=hint,
            line=line,
            column=column,
        )
        raise DocumentError([problem]) from None


def _measure(text: str, max_bytes: int) -> None:
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise DocumentError([surrogate(text, error.start)]) from None
    if size > max_bytes:
        raise too_large(size, max_bytes)


def surrogate(text: str, offset: int, pointer: str = "") -> Problem:
    """The problem of half a UTF-16 pair at ``offset``."""
    line, column = place(text, offset)
    return Problem(
        pointer=pointer,
        message="half of a UTF-16 surrogate pair stands alone in a string",
        mend="write the whole character, or leave it out",
        line=line,
        column=column,
    )


def too_large(size_bytes: int, max_bytes: int) -> DocumentError:
    """The error of a document over its bound."""
    problem = Problem(
        pointer="",
        message=f"the document has {size_bytes:,} bytes; at most {max_bytes:,} are read",
        mend="make it smaller, or split it",
    )
    return DocumentError([problem])


def byte_order_mark(text: str) -> bool:
    """Whether the text begins with a byte order mark."""
    return text.startswith(_BOM)


def has_surrogate(text: str) -> bool:
    """Whether a decoded string holds half a UTF-16 pair."""
    return not text.isascii() and _SURROGATE.search(text) is not None


def place(text: str, offset: int | None) -> tuple[int, int]:
    """The 1-based line and column (in characters) of an offset; None is the end of the text.

    Lines end at LF, CR LF or CR, as YAML 1.2 and editors count them.
    """
    before = text if offset is None else text[:offset]
    before = before.replace("\r\n", "\n").replace("\r", "\n")
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def places(text: str, offsets: Iterable[int]) -> dict[int, tuple[int, int]]:
    """What ``place`` says of each offset, in one reading of the text."""
    starts = [0, *(found.end() for found in _LINE_END.finditer(text))]
    known: dict[int, tuple[int, int]] = {}
    for offset in offsets:
        line = bisect_right(starts, offset)
        known[offset] = line, offset - starts[line - 1] + 1
    return known


def nests_deeper(text: str, max_depth: int) -> bool:
    """Whether a valid JSON text nests its containers more than ``max_depth`` deep.

    Reads the text with a handful of C passes instead of walking the value: brackets alone are
    left standing, then the innermost pairs are taken out, one level each time.
    """
    if text.count("[") + text.count("{") <= max_depth:
        return False
    data = text.encode("utf-8", "surrogatepass")
    if b"\\" in data:
        data = _ESCAPE.sub(b"", data)
    # Most strings are now two quotes; taking out two neighbours leaves the rest in or out of a
    # string as it was.
    data = data.translate(None, _OTHERS).replace(b'""', b"")
    if b'"' in data:
        data = _STRING.sub(b"", data)
    for _ in range(max_depth):
        if not data:
            return False
        # Marked first, taken out then: an emptied parent must not go in the same round.
        data = data.replace(b"{}", b"_").replace(b"[]", b"_").replace(b"_", b"")
    return bool(data)


def first_deeper(text: str, max_depth: int) -> int:
    """The offset of the first bracket below ``max_depth`` levels; the text's length if none."""
    depth = 0
    for match in _MARKS.finditer(text):
        mark = match.group()
        if mark in "[{":
            depth += 1
            if depth > max_depth:
                return match.start()
        elif mark in "]}":
            depth -= 1
    return len(text)
