"""Calls off the wire: uvicorn's protocol, with a shorter way for the one request that is made most.

ASGI takes three messages, a scope and an event to hand one request over and its answer back; with
them a call costs twice what HTTP itself does (docs/decisions/0019). So a plain call is read here:
a POST of one small body of known length, on a connection that stays open, from no page. It gets
to the same ``Hot`` as any other, and its answer leaves in one piece. Whatever is not plain, and
everything that is no call, goes through the base class and the application.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from remit.main.idling import Waits
from remit.web import hot
from remit.web.sending import ABORT, header_lines, lines_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.web.answers import Answer

#: Of the body: what is larger is read under ASGI's flow control.
MAX_BODY_BYTES = 64 * 1024
#: Between two requests of a connection; uvicorn's own.
KEEP_ALIVE_S = 5.0
_NOT_PLAIN = frozenset({b"connection", b"expect", b"transfer-encoding", b"upgrade"})


@final
class _Nobody:
    """In the place of the event that ASGI's ``receive`` waits for."""

    def set(self) -> None:
        """Nobody waits."""


@final
class _Cycle:
    """A plain call and its answer: of uvicorn's ``RequestResponseCycle`` what its protocol uses.

    Attributes:
        keep_alive: whether the connection stays open; a stop of the server changes it.
        disconnected: nobody is there any more to be answered.
    """

    __slots__ = (
        "body", "call", "disconnected", "headers", "keep_alive", "more_body", "response_complete",
        "target",
    )  # fmt: skip
    message_event = _Nobody()

    def __init__(self, call: tuple[str, str], target: bytes, headers: Mapping[str, str]) -> None:
        self.call = call
        self.target = target
        self.headers = headers
        self.body = b""
        self.more_body = True
        self.disconnected = False
        self.keep_alive = True
        self.response_complete = False


async def _received() -> dict[str, Any]:
    """In the place of ASGI's ``receive``: the body was read, and nothing comes after it."""
    return {"type": "http.disconnect"}


class CallProtocol(HttpToolsProtocol):
    """One connection; ``protocol_of`` says who makes the calls that come over it."""

    calls: hot.Hot
    hosts: frozenset[str]
    # Of all connections of the server.
    waits: Waits
    # The server's own headers and their lines, kept while it keeps them: for a second.
    _defaults: tuple[object, bytes] = (None, b"")
    # The last headers of this connection and what was read of them: most callers repeat theirs.
    _read: tuple[object, Mapping[str, str] | None] = (None, None)

    def on_headers_complete(self) -> None:
        """Take a plain call out of the way of all others."""
        cycle = self._plain()
        if cycle is None:
            # What ASGI has no message for: a reader that takes nothing is cut off.
            self.scope["extensions"] = {ABORT: {"abort": self.transport.abort}}
            super().on_headers_complete()
        else:
            self.cycle = cycle  # type: ignore[assignment]

    def on_body(self, body: bytes) -> None:
        """Called by the parser with a piece of the body."""
        cycle: Any = self.cycle
        if cycle.__class__ is _Cycle:
            cycle.body = cycle.body + body if cycle.body else body
        else:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Called by the parser at the end of a request."""
        cycle: Any = self.cycle
        if cycle.__class__ is _Cycle:
            task = self.loop.create_task(self._answer(cycle))
            task.add_done_callback(self.tasks.discard)
            self.tasks.add(task)
        else:
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """Called when an answer was written: the next request is waited for, for a while."""
        if self.pipeline or self.transport.is_closing():
            super().on_response_complete()
            return
        self.server_state.total_requests += 1
        self._unset_keepalive_if_required()
        self.flow.resume_reading()
        wait = self.waits.begin(self.loop, self.timeout_keep_alive_handler)
        self.timeout_keep_alive_task = wait  # type: ignore[assignment]

    def _plain(self) -> _Cycle | None:
        """The call that is asked for, if it is one and plain."""
        parser, target = self.parser, self.url
        if parser is None or parser.get_method() != b"POST":
            return None
        call = hot.called(target)
        if call is None or self._is_busy():
            return None
        if parser.get_http_version() != "1.1" or parser.should_upgrade():
            return None
        if self._read[0] != self.headers:
            self._read = (self.headers, self._plain_headers())
        headers = self._read[1]
        return None if headers is None else _Cycle(call, target, headers)

    def _plain_headers(self) -> Mapping[str, str] | None:
        """The headers of a plain call; None where these make it none."""
        for name, _ in self.headers:
            if name in _NOT_PLAIN:
                return None
        headers = hot.plain_headers(self.headers, self.hosts)
        length = "" if headers is None else headers.get("content-length", "")
        if not (length.isascii() and length.isdigit()) or int(length) > MAX_BODY_BYTES:
            return None
        return headers

    def _is_busy(self) -> bool:
        """Whether an answer before is not made yet, or not taken: then the next one has to wait."""
        before: Any = self.cycle
        return self.flow.write_paused or (before is not None and not before.response_complete)

    async def _answer(self, cycle: _Cycle) -> None:
        scope = {"raw_path": cycle.target, "query_string": b""}
        try:
            answer = await self.calls.answered(
                scope, _received, cycle.call, cycle.headers, cycle.body
            )
            if cycle.disconnected:
                return
            self.transport.write(self._written(answer, keep_alive=cycle.keep_alive))
        except BaseException:
            # Nobody is left waiting for what does not come.
            self.transport.close()
            raise
        cycle.response_complete = True
        if not cycle.keep_alive:
            self.transport.close()
        self.on_response_complete()

    def _written(self, answer: Answer, *, keep_alive: bool) -> bytes:
        """The whole answer as it goes over the wire."""
        defaults = self.server_state.default_headers
        if self._defaults[0] is not defaults:
            self._defaults = (defaults, header_lines(defaults))
        end = b"\r\n" if keep_alive else b"connection: close\r\n\r\n"
        lines = lines_of(answer)
        return b"".join((STATUS_LINE[answer.status], self._defaults[1], lines, end, answer.body))


def protocol_of(
    calls: hot.Hot, hosts: frozenset[str], keep_alive_s: float = KEEP_ALIVE_S
) -> type[CallProtocol]:
    """The protocol of a server.

    Args:
        calls: makes the plain ones.
        hosts: that the server answers for.
        keep_alive_s: how long a connection may be silent between two requests.
    """
    members = {"calls": calls, "hosts": hosts, "waits": Waits(keep_alive_s)}
    return type("CallProtocol", (CallProtocol,), members)
