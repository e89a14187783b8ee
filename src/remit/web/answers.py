"""An answer as data, before it is HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct, field

from remit.documents.canonical import compact_bytes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping

JSON = "application/json"


class Answer(Struct, frozen=True, kw_only=True):
    """Status, headers and body.

    Attributes:
        headers: besides ``content-type`` and ``content-length``; names in lower case.
        stream: parts of the body, in the place of ``body``.
    """

    status: int = 200
    body: bytes = b""
    media: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    stream: AsyncIterator[bytes] | None = None


def said(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """A JSON answer; a struct of ``shapes`` or a JSON value.

    Integers keep every digit, so that it is written by the project's own encoder.
    """
    body = compact_bytes(plain(value))
    return Answer(status=status, body=body, headers=headers or {})


def listed(items: Iterable[object], cursor: str | None) -> Answer:
    """``{items, next}``."""
    return said({"items": [plain(item) for item in items], "next": cursor})


def plain(value: object) -> object:
    """A struct of ``shapes`` as a JSON value; what is none stays."""
    return msgspec.to_builtins(value) if isinstance(value, msgspec.Struct) else value


def nothing() -> Answer:
    """204."""
    return Answer(status=204)
