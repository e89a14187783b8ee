"""``GET /v1/sessions/{session}/events`` as server-sent events: raw ASGI, in front of the router.

A stream first reads what the log has beyond what its reader knows, then joins the node's bus, reads
what happened in between, and from then on sends what it hears. An event goes out once and in its
order: what the bus skips (another node's) is read from the store, what comes twice is dropped.

One timer serves all streams. A reader costs its task, one that waits for it to hang up, and its
place on the bus: about 10 kB with the server's own (architecture, section 5).
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, final

from msgspec import Struct
from msgspec.json import decode

from remit.errors import InvalidRequest, RemitError
from remit.gateway import sessions
from remit.gateway.acting import no_such
from remit.session.events import Event
from remit.web import reading
from remit.web.answers import Answer
from remit.web.event_bytes import HEARTBEAT, delta_sse, end_sse, event_sse, reset_sse
from remit.web.hot import segment
from remit.web.refusals import Busy
from remit.web.sending import ABORT, sent
from remit.web.serving import forbidden
from remit.web.session_bodies import EventsQuery
from remit.web.session_routes import EVENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from starlette.types import Receive, Scope, Send

    from remit.gateway.acting import Actor
    from remit.gateway.conversing import SessionRow
    from remit.gateway.live import Heard, Subscription
    from remit.session.events import EndReason
    from remit.web.serving import Serving

#: Of one client token, which one tab holds; a key follows the streams of many.
MAX_OF_CLIENT = 16
MAX_OF_KEY = 10_000
BEAT_S = 15
#: How often a key is looked up again while its stream goes on.
#: How long one write may wait for a reader that takes nothing.
WRITE_S = 20.0
RECHECK_S = 5

_TICK_S = 1.0
_FIRST_PAGE, _MAX_PAGE = 32, 512
_PAGE_BYTES = 256 * 1024
_PATH = re.compile(rb"/v1/sessions/([^/]+)/events")
_SEQ = re.compile(r"[0-9]{1,15}", re.ASCII)
_HEADERS = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    # A proxy that gathers answers would hold every event back.
    (b"x-accel-buffering", b"no"),
)


def streamed(scope: Scope) -> str | None:
    """The session of a request that wants its stream; None for any other."""
    if scope["method"] != "GET":
        return None
    found = _PATH.fullmatch(scope.get("raw_path") or scope["path"].encode())
    if found is None:
        return None
    wanted = b",".join(value for name, value in scope["headers"] if name == b"accept").lower()
    if b"application/json" in wanted and b"text/event-stream" not in wanted:
        return None
    return segment(found[1])


class _Said(Struct, rename="camel"):
    """What is looked at of a ``message``."""

    message_id: str
    role: str


class _Now(Struct):
    """What is looked at of a ``status``."""

    status: str


@final
class Streams:
    """The open streams of a node.

    Args:
        serving: what all routes share.
    """

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._open: set[_Stream] = set()
        self._of_key: dict[str, int] = {}
        self._ticking = False

    async def serve(self, scope: Scope, receive: Receive, send: Send, session: str) -> None:
        """Answer one request for a stream, until either side ends it."""
        opened: list[_Stream] = []

        async def work() -> Answer:
            opened.append(await self._opened(scope, receive, session))
            return Answer()

        answer = await self._serving.answered(EVENTS.key, work)
        if not opened:
            await sent(answer, send)
            return
        stream = opened[0]
        self._open.add(stream)
        self._serving.metrics.streams += 1
        self._of_key[stream.actor.key_id] = self._of_key.get(stream.actor.key_id, 0) + 1
        if not self._ticking:
            self._ticking = True
            self._serving.services.node.tasks.start_service(self._tick())
        try:
            await stream.run(receive, send, _abort_of(scope))
        finally:
            self._open.discard(stream)
            self._serving.metrics.streams -= 1
            self._left(stream.actor)

    async def _opened(self, scope: Scope, receive: Receive, session: str) -> _Stream:
        serving = self._serving
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        authorization = headers.get(b"authorization", "")
        actor = await serving.callers.actor(authorization)
        if EVENTS.roles is not None and actor.role not in EVENTS.roles:
            raise forbidden(EVENTS, actor)
        if "\0" in session or not actor.attends(session):
            raise no_such("session", session)
        serving.callers.enter(actor)
        try:
            query = reading.query(scope["query_string"], EventsQuery)
            most = serving.services.settings.max_body_bytes
            if await reading.whole_body(receive, headers.get(b"content-length"), most):
                raise InvalidRequest("This route takes no body. Send none.")
            after = _after(headers, query)
            row = await sessions.seen(serving.services.talks, actor, session)
        finally:
            serving.callers.leave(actor)
        self._refuse_many(actor)
        return _Stream(serving, actor, authorization, row, after)

    def _refuse_many(self, actor: Actor) -> None:
        most = MAX_OF_CLIENT if actor.is_token else MAX_OF_KEY
        if self._of_key.get(actor.key_id, 0) >= most:
            raise Busy(
                f"This key follows {most:,} streams, which is the most it may. Close one of them."
            )

    def _left(self, actor: Actor) -> None:
        count = self._of_key[actor.key_id] - 1
        if count:
            self._of_key[actor.key_id] = count
        else:
            del self._of_key[actor.key_id]

    async def _tick(self) -> None:
        """Once a second, as long as there is a stream."""
        loop, standing = asyncio.get_running_loop(), self._serving.services.standing
        try:
            while self._open:
                await asyncio.sleep(_TICK_S)
                now = loop.time()
                for stream in tuple(self._open):
                    stream.beat(now)
                    stream.expire()
                    if now >= stream.checked_at + RECHECK_S:
                        stream.checked_at = now
                        try:
                            if await standing.actor(stream.secret) is None:
                                stream.end("token_expired")
                        except RemitError:
                            # The store is away: whoever was let in stays until it can be asked.
                            continue
        finally:
            self._ticking = False


@final
class _Stream:
    """One reader of one session."""

    __slots__ = (
        "_abort", "_beat", "_closed", "_ended", "_gone", "_head", "_last", "_serving", "_session",
        "_stir", "_whole", "_written_at", "actor", "checked_at", "secret",
    )  # fmt: skip

    def __init__(
        self, serving: Serving, actor: Actor, authorization: str, row: SessionRow, after: int
    ) -> None:
        self.actor = actor
        self.secret = authorization.partition(" ")[2].strip()
        self.checked_at = self._written_at = asyncio.get_running_loop().time()
        self._serving = serving
        self._session, self._head, self._closed = row.id, row.head_seq, row.status == "closed"
        self._last = after
        self._stir = asyncio.Event()
        self._beat = self._gone = False
        self._ended: EndReason | None = None
        # The agent's message that went out last, of which a piece may still be under way.
        self._whole = ""

    def beat(self, now: float) -> None:
        """Send a sign of life, if nothing was sent for so long."""
        if now - self._written_at >= BEAT_S - _TICK_S:
            self._beat = True
            self._stir.set()

    def expire(self) -> None:
        """End the stream, if the time of its token is over."""
        expires_at = self.actor.expires_at
        if expires_at is not None and self._serving.services.books.wall.unix_ms() >= expires_at:
            self.end("token_expired")

    def end(self, reason: EndReason) -> None:
        """End the stream, unless it ends already."""
        if self._ended is None:
            self._ended = reason
            self._stir.set()

    async def run(
        self, receive: Receive, send: Send, abort: Callable[[], None] | None = None
    ) -> None:
        """Send until either side ends it; ``abort`` cuts the connection off."""
        self._abort = abort
        services = self._serving.services
        hanging = services.node.tasks.start_service(self._until_gone(receive))
        subscription: Subscription | None = None
        try:
            await send({"type": "http.response.start", "status": 200, "headers": [*_HEADERS]})
            await self._write(send, HEARTBEAT)
            if self._last > self._head:
                await self._write(send, reset_sse(self._head))
                self._last = 0
            # Without a place on the bus: a long log is no fault of the reader's.
            await self._read_on(send)
            if self._closed:
                self.end("session_closed")
            if not self._over:
                workspace = self.actor.workspace
                subscription = services.bus.subscribe(workspace, self._session, self._stir.set)
                await self._read_on(send)
                await self._follow(subscription, send)
            if self._ended is not None and not self._gone:
                await self._write(send, end_sse(self._ended))
        except Exception as error:  # noqa: BLE001 (the reader comes again with the last id it has)
            services.on_fault(self._serving.request_id(), error)
        finally:
            hanging.cancel()
            if subscription is not None:
                subscription.close()
        await send({"type": "http.response.body", "body": b""})

    @property
    def _over(self) -> bool:
        return self._gone or self._ended is not None

    async def _follow(self, subscription: Subscription, send: Send) -> None:
        while not self._over:
            self._stir.clear()
            self.expire()
            if (heard := subscription.take()) and not self._over:
                await self._send_heard(heard, send)
            if subscription.ended is None and subscription.head > self._last:
                await self._read_on(send)
            if subscription.ended is not None and not self._stir.is_set():
                # Whatever was put in before the end has been taken.
                self.end(subscription.ended)
            if self._beat:
                self._beat = False
                await self._write(send, HEARTBEAT)
            if not self._over:
                await self._stir.wait()

    async def _send_heard(self, heard: Sequence[Heard], send: Send) -> None:
        """Send what was heard, in its order; of a gap what the store has first."""
        parts: list[bytes] = []
        for one in heard:
            what = one.what
            if not isinstance(what, Event):
                if what.message_id != self._whole:
                    one.encoded = one.encoded or delta_sse(what)
                    parts.append(one.encoded)
                continue
            if what.seq <= self._last:
                continue
            if what.seq > self._last + 1:
                await self._write(send, b"".join(parts))
                parts = []
                await self._read_on(send)
                continue
            self._passed(what)
            one.encoded = one.encoded or event_sse(what)
            parts.append(one.encoded)
        await self._write(send, b"".join(parts))

    async def _read_on(self, send: Send) -> None:
        """Send what the log has beyond the last event that was sent."""
        store, workspace = self._serving.services.talks.sessions, self.actor.workspace
        limit = _FIRST_PAGE
        while not self._over:
            events = await store.events(workspace, self._session, after=self._last, limit=limit)
            for event in events:
                self._passed(event)
            body = b"".join(map(event_sse, events))
            await self._write(send, body)
            if len(events) < limit:
                return
            # An event may have a few bytes or a megabyte.
            limit = min(_MAX_PAGE, limit * 2) if len(body) < _PAGE_BYTES else max(1, limit // 2)

    def _passed(self, event: Event) -> None:
        """An event goes out now."""
        self._last = event.seq
        if event.type == "message":
            said = decode(event.data_json, type=_Said)
            self._whole = said.message_id if said.role == "assistant" else self._whole
        elif event.type == "status" and decode(event.data_json, type=_Now).status == "closed":
            self.end("session_closed")

    async def _write(self, send: Send, body: bytes) -> None:
        if body and not self._gone:
            # It waits while the reader's side is full; what happens meanwhile waits on the bus.
            try:
                async with asyncio.timeout(WRITE_S):
                    await send({"type": "http.response.body", "body": body, "more_body": True})
            except TimeoutError:
                # Neither an end nor anything else can be told to whoever reads nothing.
                self._gone = True
                if self._abort is not None:
                    self._abort()
                return
            self._written_at = asyncio.get_running_loop().time()
            self._beat = False

    async def _until_gone(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            continue
        self._gone = True
        self._stir.set()


def _abort_of(scope: Scope) -> Callable[[], None] | None:
    """What cuts the connection of a request off, where the server offers it."""
    offered = scope.get("extensions", {}).get(ABORT)
    return None if offered is None else offered["abort"]


def _after(headers: Mapping[bytes, str], query: EventsQuery) -> int:
    """The number of the last event that the reader has.

    The header wins: a browser repeats its first URL when it comes again.

    Raises:
        InvalidRequest: it is no number.
    """
    last = headers.get(b"last-event-id", "").strip()
    if not last:
        return query.after
    if not _SEQ.fullmatch(last):
        raise InvalidRequest(
            "The Last-Event-ID is no number of an event. Send the id of the last event that you "
            "have, or leave it out."
        )
    return int(last)
