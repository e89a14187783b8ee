"""What nodes tell each other of sessions, as payloads of ``NOTIFY``: under 8,000 bytes each."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec import structs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MAX_BYTES = 7_900
# One character has six bytes at worst, as an escape.
_MAX_CHARS = 1_200


class _Hint(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """Of one session."""

    workspace: str
    session: str


class Piece(_Hint, frozen=True, kw_only=True, tag="piece"):
    """A piece of a message that is being written; ``offset`` in characters."""

    run_id: str
    message_id: str
    offset: int
    text: str


class Whole(_Hint, frozen=True, kw_only=True, tag="whole"):
    """The message that was being written is whole, or will never be."""


class Grown(_Hint, frozen=True, kw_only=True, tag="grown"):
    """The log has events up to this number."""

    head: int


class Wanted(_Hint, frozen=True, kw_only=True, tag="wanted"):
    """Somebody reads along, and wants the message in the making from its beginning."""


Hint: TypeAlias = Piece | Whole | Grown | Wanted


class _Told(msgspec.Struct, frozen=True, array_like=True):
    node: str
    hints: list[Hint]


_written = msgspec.json.Encoder().encode
_read = msgspec.json.Decoder(_Told).decode


def payloads_of(node: str, hints: Iterable[Hint]) -> list[str]:
    """Hints as payloads, in their order, as few as can be."""
    head, tail = b"[%b,[" % _written(node), b"]]"
    payloads: list[str] = []
    parts: list[bytes] = []
    size = room = _MAX_BYTES - len(head) - len(tail)
    for part in _encoded(hints):
        if len(part) + 1 > size and parts:
            payloads.append((head + b",".join(parts) + tail).decode())
            parts, size = [], room
        parts.append(part)
        size -= len(part) + 1
    if parts:
        payloads.append((head + b",".join(parts) + tail).decode())
    return payloads


def hints_of(payload: str) -> tuple[str, list[Hint]]:
    """Whose hints they are, and the hints; none where a newer release told something else."""
    try:
        told = _read(payload)
    except msgspec.MsgspecError:
        return "", []
    return told.node, told.hints


def pieces_of(hints: Iterable[Hint]) -> list[Hint]:
    """The hints with pieces that follow on each other made one."""
    found: list[Hint] = []
    for hint in hints:
        last = found[-1] if found else None
        if isinstance(hint, Piece) and isinstance(last, Piece) and _follows(last, hint):
            found[-1] = structs.replace(last, text=last.text + hint.text)
        else:
            found.append(hint)
    return found


def _follows(last: Piece, piece: Piece) -> bool:
    same = (last.workspace, last.session, last.message_id) == (
        piece.workspace,
        piece.session,
        piece.message_id,
    )
    return same and piece.offset == last.offset + len(last.text)


def _encoded(hints: Iterable[Hint]) -> Iterator[bytes]:
    for hint in hints:
        for part in _cut(hint) if isinstance(hint, Piece) else (hint,):
            try:
                yield _written(part)
            except UnicodeEncodeError:
                # Half of a UTF-16 pair: the others get the message when it is whole.
                continue


def _cut(piece: Piece) -> Iterator[Piece]:
    for at in range(0, len(piece.text), _MAX_CHARS):
        text = piece.text[at : at + _MAX_CHARS]
        yield structs.replace(piece, offset=piece.offset + at, text=text)
