"""Events as they go over the wire: JSON, and server-sent events (contract section 9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.json import encode

from remit.gateway.journal import moment
from remit.session.events import End, Event, Reset, TextDelta

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remit.session.events import EndReason

#: A comment, which readers skip: it keeps the connection from being taken for dead.
HEARTBEAT = b":\n\n"


def event_json(event: Event) -> bytes:
    """``{seq, type, at, data}`` on one line; the data as it is kept."""
    return (
        f'{{"seq":{event.seq},"type":"{event.type}","at":"{moment(event.at)}",'
        f'"data":{event.data_json}}}'
    ).encode()


def event_sse(event: Event) -> bytes:
    """An event of the log, under its number."""
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (event.seq, event.type.encode(), event_json(event))


def delta_sse(delta: TextDelta) -> bytes:
    """A piece of a message; it has no number, so that nobody resumes in the middle of one."""
    return _unnumbered(b"text_delta", delta)


def reset_sse(head_seq: int) -> bytes:
    """The reader knew of more than there is: everything follows from the first event on."""
    return _unnumbered(b"reset", Reset(head_seq=head_seq))


def end_sse(reason: EndReason) -> bytes:
    """Nothing follows, and why."""
    return _unnumbered(b"end", End(reason=reason))


def page_body(events: Iterable[Event], following: int | None) -> bytes:
    """``{events, next}``."""
    after = b"null" if following is None else b"%d" % following
    return b'{"events":[%b],"next":%b}' % (b",".join(map(event_json, events)), after)


def _unnumbered(name: bytes, data: TextDelta | Reset | End) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name, encode(data))
