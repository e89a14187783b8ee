"""The event stream of a session, read in a thread of its own (contract sections 9 and 10).

It is read with the standard library and not through the guard, whose client reads an answer to
its end. It goes to the one server that the user named, which the guard allows as well.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import ssl
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from remit.main.asking import Asker
    from remit.values.json import JsonObject

# Three heartbeats of the server; a connection that is quiet for longer is dead.
QUIET_S = 45
_DELAYS_S = (0.2, 0.5, 1, 2, 4, 8)
_PASSING = frozenset({408, 429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """An event.

    Attributes:
        seq: its number in the log; None for what is on the stream alone.
        at: RFC 3339, or empty.
    """

    type: str
    data: JsonObject
    seq: int | None = None
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupted:
    """The stream is lost and will be read on; ``why`` in words."""

    why: str


@dataclass(frozen=True, slots=True)
class Resumed:
    """The stream is read on where it was lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Over:
    """Nothing more will come; ``why`` in words."""

    why: str


Item = Happened | Interrupted | Resumed | Over


class EventStream:
    """Reads the events of a session until it is closed, whatever becomes of the connection.

    Args:
        server: what is asked, and with which key.
        path: of the stream.
        after: the number of the last event that is known.
        tell: called in the reader's thread with each item, in their order.
    """

    def __init__(
        self, server: Asker, path: str, *, after: int, tell: Callable[[Item], None]
    ) -> None:
        self._server = server
        self._path = path
        self._last = after
        self._tell = tell
        self._closed = threading.Event()
        self._socket: socket.socket | None = None
        self._thread = threading.Thread(target=self._run, name="events", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def close(self) -> None:
        """Stop reading; returns when nothing more will be told."""
        self._closed.set()
        if (open_socket := self._socket) is not None:
            with contextlib.suppress(OSError):
                open_socket.shutdown(socket.SHUT_RDWR)
        self._thread.join(QUIET_S)

    def _run(self) -> None:
        tries = 0
        while not self._closed.is_set():
            try:
                for item in self._connected():
                    if tries:
                        self._tell(Resumed())
                        tries = 0
                    if item is not None:
                        self._tell(item)
                    if isinstance(item, Over):
                        return
                why = "the server ended it"
            except (OSError, http.client.HTTPException, ValueError) as error:
                why = getattr(error, "strerror", None) or type(error).__name__
            if self._closed.is_set():
                return
            if tries == 0:
                self._tell(Interrupted(why=why))
            self._closed.wait(_DELAYS_S[min(tries, len(_DELAYS_S) - 1)])
            tries += 1

    def _connected(self) -> Iterator[Item | None]:
        """What one connection brings; the first item says that it is open."""
        connection = self._connection()
        try:
            connection.connect()
            self._socket = connection.sock
            if self._closed.is_set():
                return
            headers = {
                "Authorization": f"Bearer {self._server.key.reveal()}",
                "Accept": "text/event-stream",
                "Last-Event-ID": str(self._last),
            }
            connection.request("GET", self._path, headers=headers)
            response = connection.getresponse()
            if response.status in _PASSING:
                return
            if response.status != 200:
                yield Over(why=f"the server answers {response.status} and gives no events")
                return
            yield None
            for name, text in _messages(response):
                item = self._item(name, text)
                if item is not None:
                    yield item
        finally:
            self._socket = None
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        origin = self._server.origin
        if origin.scheme == "https":
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(
                origin.host, origin.port, timeout=QUIET_S, context=context
            )
        return http.client.HTTPConnection(origin.host, origin.port, timeout=QUIET_S)

    def _item(self, name: str, text: str) -> Item | None:
        """What a message of the stream says; None for one that is to be read past."""
        data = _object(text)
        if name == "end":
            reason = str(data.get("reason"))
            return Over(why="the session is closed") if reason == "session_closed" else None
        if name == "reset":
            return Over(why="the server does not know these events; its store is another one now")
        if name == "text_delta":
            return Happened(type=name, data=data)
        happened = event_of(data)
        if happened is None or happened.seq is None or happened.seq <= self._last:
            return None
        self._last = happened.seq
        return happened


def event_of(event: JsonObject) -> Happened | None:
    """An event of the log as the API writes it; None for what is none."""
    seq, kind, data = event.get("seq"), event.get("type"), event.get("data")
    if not isinstance(seq, int) or not isinstance(kind, str) or not isinstance(data, dict):
        return None
    return Happened(type=kind, data=cast("JsonObject", data), seq=seq, at=str(event.get("at", "")))


def _messages(response: http.client.HTTPResponse) -> Iterator[tuple[str, str]]:
    """Name and data of each message of a stream (WHATWG, server-sent events)."""
    name, data = "message", list[str]()
    while line := response.readline():
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if not text:
            if data:
                yield name, "\n".join(data)
            name, data = "message", []
            continue
        field, _, value = text.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)


def _object(text: str) -> JsonObject:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return cast("JsonObject", found) if isinstance(found, dict) else {}
