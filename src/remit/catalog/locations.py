"""Paths and query strings of an author: checked, encoded and compiled (contract sections 3, 4).

Literal text is percent-encoded here, once; what is encoded already stays. A reference stands
for one whole value, never for a part of a percent escape.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from remit.catalog.model import Location
from remit.catalog.references import Part, Reference, Text

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SEPARATORS = re.compile(r"[/\\]")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
# What RFC 3986 allows bare in a path segment or a query, besides letters and digits.
_SEGMENT_SAFE = "-._~!$&'()*+,;=:@%"
_QUERY_SAFE = _SEGMENT_SAFE + "/?[]"


class LocationFault(ValueError):
    """Why a path or URL cannot be used.

    Attributes:
        message: what is wrong.
        mend: what to write instead.
    """

    def __init__(self, message: str, mend: str) -> None:
        super().__init__(message)
        self.message = message
        self.mend = mend


def compile_path(text: Text, *, query: bool) -> Location:
    """Compile a path that begins with one slash.

    Args:
        text: the path with its references.
        query: whether a query string may follow (``url`` and ``statusUrl``, not ``path``).

    Raises:
        LocationFault: naming what is wrong and the mend.
    """
    first = text.parts[0] if text.parts else ""
    if not isinstance(first, str) or not first.startswith("/"):
        raise LocationFault("a path begins with one /", "begin it with /, below the base address")
    if first.startswith("//"):
        raise LocationFault(
            "a path begins with one /, not with two", "write the path alone, without a host"
        )
    path_parts, query_parts = _split_query(text.parts)
    if query_parts is not None and not query:
        raise LocationFault('a path holds no "?"', "put query parameters into queryParams")
    for part in text.parts:
        if isinstance(part, str):
            _refuse_characters(part)
    segments = tuple(_segment(parts) for parts in _split_segments(path_parts))
    _refuse_split_escapes(query_parts or ())
    return Location(
        segments=segments,
        query=None if query_parts is None else Text(_encode(query_parts, _QUERY_SAFE)),
    )


def _split_query(parts: tuple[Part, ...]) -> tuple[tuple[Part, ...], tuple[Part, ...] | None]:
    """The parts before and after the first literal question mark."""
    for index, part in enumerate(parts):
        if isinstance(part, str) and "?" in part:
            before, _, after = part.partition("?")
            head = (*parts[:index], before) if before else parts[:index]
            return head, ((after,) if after else ()) + parts[index + 1 :]
    return parts, None


def _split_segments(parts: tuple[Part, ...]) -> list[list[Part]]:
    """The parts of each segment; the slash at the very front belongs to none."""
    segments: list[list[Part]] = [[]]
    for part in parts:
        if isinstance(part, Reference):
            segments[-1].append(part)
            continue
        pieces = part.split("/")
        if pieces[0]:
            segments[-1].append(pieces[0])
        opened: list[list[Part]] = [[piece] if piece else [] for piece in pieces[1:]]
        segments += opened
    return segments[1:]


def _segment(parts: list[Part]) -> Text:
    _refuse_split_escapes(parts)
    # What a reference will stand for is looked at when it is known; NUL keeps its place here.
    literal = "".join(part if isinstance(part, str) else "\0" for part in parts)
    if has_dot_segment(literal):
        raise LocationFault(
            "a path holds no dot segment, percent-encoded or not",
            "write the path that is really meant",
        )
    return Text(_encode(parts, _SEGMENT_SAFE))


def has_dot_segment(path: str) -> bool:
    """Whether a part of a path is ``.`` or ``..``, also where escapes hide it or its slash.

    Servers decode before they route, some of them twice.
    """
    if "." not in path and "%" not in path:
        return False
    return any(part in (".", "..") for part in _SEPARATORS.split(unquote(unquote(path))))


def _encode(parts: list[Part] | tuple[Part, ...], safe: str) -> tuple[Part, ...]:
    return tuple(part if isinstance(part, Reference) else quote(part, safe=safe) for part in parts)


def _refuse_characters(literal: str) -> None:
    if _CONTROL.search(literal):
        raise LocationFault("it holds a control character", "take the character out")
    if "\\" in literal:
        raise LocationFault("it holds a backslash", "write / between the parts of a path")
    if "#" in literal:
        raise LocationFault('it holds a "#"', "a fragment is never sent; take it out")


def _refuse_split_escapes(parts: list[Part] | tuple[Part, ...]) -> None:
    """A percent sign is the start of one whole escape; a reference may not finish it."""
    for part in parts:
        if isinstance(part, str) and _BAD_ESCAPE.search(part):
            raise LocationFault(
                'it holds a "%" that begins no percent escape', "write %25 for a percent sign"
            )
