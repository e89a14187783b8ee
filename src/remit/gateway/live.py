"""Tells the readers of this node what happens in sessions; a ``conversing.Live``.

Nothing here waits, and no reader has a task or a timer: what is heard is put into the reader's
queue and the reader is woken. The log is the truth. A queue holds what has happened since its
reader joined; what came before, and what another node did, is read from the store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, final

from msgspec import Struct

from remit.session.events import Event, TextDelta

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from remit.session.events import EndReason

#: A reader that lets more than this wait is cut off.
MAX_WAITING = 1_024
MAX_WAITING_CHARS = 1024 * 1024

_Key: TypeAlias = "tuple[str, str]"


class Heard(Struct):
    """What readers hear, one value for all of them.

    Attributes:
        what: an event of the log, or a piece of a message that is being written.
        encoded: kept here by whoever encodes it first.
    """

    what: Event | TextDelta
    encoded: bytes | None = None

    @property
    def chars(self) -> int:
        """How large it is, about."""
        return len(self.what.data_json if isinstance(self.what, Event) else self.what.text)


@final
class Subscription:
    """One reader of a session.

    Attributes:
        head: number of the newest event that this node has heard of; greater than that of the
            last event taken means that those between are in the store.
        ended: why nothing more is put in; None while it goes on.
    """

    __slots__ = ("_bus", "_chars", "_heard", "_key", "_wake", "ended", "head")

    def __init__(self, bus: Bus, key: _Key, wake: Callable[[], None]) -> None:
        self._bus = bus
        self._key = key
        self._wake = wake
        self._heard: list[Heard] = []
        self._chars = 0
        self.head = 0
        self.ended: EndReason | None = None

    def take(self) -> list[Heard]:
        """All that waits, in its order; nothing of it waits after that."""
        taken, self._heard, self._chars = self._heard, [], 0
        return taken

    def close(self) -> None:
        """The reader is gone."""
        self._bus.leave(self._key, self)

    def put(self, heard: Sequence[Heard]) -> None:
        """Something was heard; a reader that lets too much of it wait is cut off."""
        if self.ended is not None:
            return
        waits = bool(self._heard)
        self._heard += heard
        self._chars += sum(one.chars for one in heard)
        # Not one that has taken everything: what comes at once may be large.
        if waits and (len(self._heard) > MAX_WAITING or self._chars > MAX_WAITING_CHARS):
            self._heard, self._chars = [], 0
            self.end("slow_reader")
            return
        self._wake()

    def beyond(self, head: int) -> None:
        """The log has grown, perhaps by what another node did."""
        if head > self.head:
            self.head = head
            self._wake()

    def end(self, reason: EndReason) -> None:
        """Nothing more is put in; what waits can be taken."""
        if self.ended is None:
            self.ended = reason
            self._wake()


class _Writing(Struct):
    """A message that is being written."""

    run_id: str
    message_id: str
    parts: list[str]


@final
class Bus:
    """The readers of a node, by session.

    Attributes:
        on_join: told of each reader that joins, by workspace and session; None tells nobody.
    """

    def __init__(self) -> None:
        self.on_join: Callable[[str, str], None] | None = None
        # Never changed but replaced: whoever is woken may leave at that moment.
        self._readers: dict[_Key, tuple[Subscription, ...]] = {}
        self._writing: dict[_Key, _Writing] = {}
        self._over: EndReason | None = None

    def subscribe(self, workspace: str, session: str, wake: Callable[[], None]) -> Subscription:
        """Join the readers of a session.

        Args:
            workspace: of the session.
            session: its id.
            wake: called whenever there is something to take, a new head or an end; at once where
                a message is being written: its text so far is the first thing to take.
        """
        key = (workspace, session)
        joined = Subscription(self, key, wake)
        if self._over is not None:
            joined.end(self._over)
            return joined
        self._readers[key] = (*self._readers.get(key, ()), joined)
        if (writing := self._writing.get(key)) is not None:
            joined.put([Heard(_delta(writing, 0, "".join(writing.parts)))])
        if self.on_join is not None:
            self.on_join(workspace, session)
        return joined

    def is_read(self, workspace: str, session: str) -> bool:
        """Whether a session has readers here."""
        return (workspace, session) in self._readers

    def so_far(self, workspace: str, session: str) -> TextDelta | None:
        """The text so far of the message that is being written; None where none is."""
        writing = self._writing.get((workspace, session))
        if writing is None:
            return None
        return _delta(writing, 0, "".join(writing.parts))

    def leave(self, key: _Key, reader: Subscription) -> None:
        """A reader is gone; a second time changes nothing."""
        rest = tuple(one for one in self._readers.get(key, ()) if one is not reader)
        if rest:
            self._readers[key] = rest
        else:
            self._readers.pop(key, None)

    def readers(self) -> Iterable[tuple[str, str]]:
        """The sessions that have readers here, by workspace and id."""
        return tuple(self._readers)

    def happened(self, workspace: str, session: str, events: Sequence[Event]) -> None:
        """See ``Live``."""
        readers = self._readers.get((workspace, session))
        if not readers or not events:
            return
        heard = [Heard(event) for event in events]
        for reader in readers:
            reader.head = max(reader.head, events[-1].seq)
            reader.put(heard)

    def said(
        self, workspace: str, session: str, *, run_id: str, message_id: str, offset: int, text: str
    ) -> None:
        """See ``Live``."""
        key = (workspace, session)
        writing = self._writing.get(key)
        # At 0 it begins, perhaps again: the model was asked a second time.
        if writing is None or writing.message_id != message_id or offset == 0:
            writing = self._writing[key] = _Writing(run_id, message_id, [])
        writing.parts.append(text)
        if readers := self._readers.get(key):
            heard = [Heard(_delta(writing, offset, text))]
            for reader in readers:
                reader.put(heard)

    def unsaid(self, workspace: str, session: str) -> None:
        """See ``Live``."""
        self._writing.pop((workspace, session), None)

    def beyond(self, workspace: str, session: str, head: int) -> None:
        """The log of a session has grown elsewhere: whoever reads it here looks into the store."""
        for reader in self._readers.get((workspace, session), ()):
            reader.beyond(head)

    def end(self, workspace: str, session: str, reason: EndReason) -> None:
        """Nothing more happens in a session."""
        for reader in self._readers.pop((workspace, session), ()):
            reader.end(reason)
        self._writing.pop((workspace, session), None)

    def end_all(self, reason: EndReason) -> None:
        """The node stops: its readers leave, and nobody joins."""
        self._over = reason
        for workspace, session in self.readers():
            self.end(workspace, session, reason)


def _delta(writing: _Writing, offset: int, text: str) -> TextDelta:
    return TextDelta(run_id=writing.run_id, message_id=writing.message_id, offset=offset, text=text)
