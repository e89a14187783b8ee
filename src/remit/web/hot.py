"""``POST /v1/tools/{app}/{tool}/call`` as raw ASGI, in front of everything else.

A framework costs as much as the call itself does here (docs/decisions/0014): so the path is cut
by hand, and what is needed is read from the headers in one pass. What is answered is described by
the same ``Route`` and decoded into the same type as everywhere.
"""

from __future__ import annotations

import re
from functools import lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING, final
from urllib.parse import unquote_to_bytes

import msgspec
from msgspec import structs

from remit.errors import Forbidden, InvalidRequest, NotFound, RemitError
from remit.gateway.acting import checked_user
from remit.gateway.awaiting import as_it_stands
from remit.gateway.governed import MAX_WAIT_MS, WAIT_MS, Command, Refused, call
from remit.web import reading
from remit.web.bodies import CallBody
from remit.web.repeating import REPLAYED, Repeatable, checked_key, digest_of
from remit.web.sending import sent
from remit.web.services import MAX_CALL_BYTES
from remit.web.telling import outcome_of, told

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable, Mapping

    from starlette.types import Receive, Scope, Send

    from remit.gateway.acting import Actor
    from remit.gateway.governed import Called
    from remit.web.answers import Answer
    from remit.web.serving import Serving

# What ends a path is in none, so that a whole target can be looked at too.
_PATH = re.compile(rb"/v1/tools/([^/?#]+)/([^/?#]+)/call")
_WAIT = re.compile(r'(?:^|,)\s*wait\s*=\s*"?(\d{1,6})"?\s*(?=,|;|$)', re.IGNORECASE)
_WANTED = {
    b"host": "host",
    b"origin": "origin",
    b"authorization": "authorization",
    b"content-type": "content-type",
    b"content-length": "content-length",
    b"prefer": "prefer",
    b"idempotency-key": "idempotency-key",
}
NAME = "POST /v1/tools/{app}/{tool}/call"
_NO_CLIENT = (
    "The token of a session's client calls no tools by itself: the agent of the session does. "
    "Send a message, or use a key or a user's token."
)


def hot_path(scope: Scope) -> tuple[str, str] | None:
    """App and tool of a request for a call; None for any other."""
    if scope["method"] != "POST":
        return None
    return called(scope.get("raw_path") or scope["path"].encode())


@lru_cache(maxsize=1_024)
def called(path: bytes) -> tuple[str, str] | None:
    """App and tool of the path of a call, still encoded; None for any other, and with a query."""
    found = _PATH.fullmatch(path)
    return None if found is None else (segment(found[1]), segment(found[2]))


def segment(raw: bytes) -> str:
    """One segment of a path, decoded; bytes that are no UTF-8 name nothing."""
    return unquote_to_bytes(raw).decode("utf-8", "replace")


def plain_headers(
    given: Iterable[tuple[bytes, bytes]], accepted: frozenset[str]
) -> Mapping[str, str] | None:
    """The headers that a call is read from; None where more is to be looked at first.

    Args:
        given: of a request for a call, names in lower case.
        accepted: hosts that this server answers for. Another one, several, and the ``Origin`` of
            a page are for those to judge that stand before every route.
    """
    headers = _headers(given)
    plain = "origin" not in headers and headers.get("host", "").lower() in accepted
    return headers if plain else None


class _Kept(msgspec.Struct, rename="camel"):
    """What is read of the answer that was kept of a call."""

    call_id: str


@final
class Hot:
    """Makes the calls that come over HTTP.

    Args:
        serving: what all routes share.
    """

    def __init__(self, serving: Serving) -> None:
        self._serving = serving

    async def serve(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        call: tuple[str, str],
        headers: Mapping[str, str],
    ) -> None:
        """Answer a request for a call that ``plain_headers`` let through."""
        await sent(await self.answered(scope, receive, call, headers), send)

    def answered(
        self,
        scope: Scope,
        receive: Receive,
        call: tuple[str, str],
        headers: Mapping[str, str],
        body: bytes | None = None,
    ) -> Awaitable[Answer]:
        """The answer to a request for a call, a problem document where it is refused.

        Args:
            scope: of ASGI: its ``raw_path`` and ``query_string`` are looked at.
            receive: of ASGI.
            call: app and tool.
            headers: what ``plain_headers`` gave.
            body: where it was read already.
        """
        work = self.answer(scope, receive, *call, headers, body)
        return self._serving.answered_at_last(NAME, work)

    async def answer(
        self,
        scope: Scope,
        receive: Receive,
        app: str,
        tool: str,
        headers: Mapping[str, str] | None = None,
        raw: bytes | None = None,
    ) -> Answer:
        """Answer a request for a call.

        Raises:
            RemitError: it is refused without a record.
        """
        serving = self._serving
        headers = _headers(scope["headers"]) if headers is None else headers
        actor = await serving.callers.actor(headers.get("authorization"))
        if actor.role == "client":
            raise Forbidden(_NO_CLIENT)
        serving.callers.enter(actor)
        try:
            if raw is None:
                length = headers.get("content-length")
                raw = await reading.whole_body(receive, length, MAX_CALL_BYTES)
            if query := scope["query_string"]:
                raise InvalidRequest(
                    f"A call takes no query, and this one has {len(query):,} bytes of it. "
                    "Send everything in the body."
                )
            value = reading.json_value(raw, headers.get("content-type"), max_bytes=MAX_CALL_BYTES)
            body = reading.shaped(value, CallBody)
            wait_ms, applied = _wait(headers.get("prefer"))
            command = _command(actor, app, tool, body, wait_ms)
            key = headers.get("idempotency-key")
            if key is None:
                return self._told(await call(serving.services.node, command), applied)
            return await self._repeatable(command, applied, key, headers, scope, raw)
        finally:
            serving.callers.leave(actor)

    async def _repeatable(
        self,
        command: Command,
        applied: Mapping[str, str],
        key: str,
        headers: Mapping[str, str],
        scope: Scope,
        raw: bytes,
    ) -> Answer:
        """Make the call once; the id of the first is kept, so that a crash makes no second."""
        serving = self._serving
        node = serving.services.node

        async def work(reference: str, again: bool) -> Answer:  # noqa: FBT001 (a callback)
            try:
                if again and (found := await self._begun(command, reference)) is not None:
                    return self._told(found, applied)
                named = structs.replace(command, call_id=reference)
                return self._told(await call(node, named), applied)
            except RemitError as error:
                return serving.problem_of(error)

        path = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1")
        repeatable = Repeatable(
            actor=command.actor,
            route=f"POST {path}",
            key=checked_key(key),
            digest=digest_of(b"", headers.get("content-type"), raw),
            reference=node.ids.call_id(),
            sends=True,
        )
        return await self._as_it_is_now(command, await serving.repeats.once(repeatable, work))

    async def _as_it_is_now(self, command: Command, answer: Answer) -> Answer:
        """A repeat of a call that had not ended is told how far it is by now (contract, 10)."""
        if answer.status != HTTPStatus.ACCEPTED or REPLAYED not in answer.headers:
            return answer
        found = await self._begun(command, msgspec.json.decode(answer.body, type=_Kept).call_id)
        if found is None or isinstance(found, Refused):
            return answer
        return told(found, {REPLAYED: answer.headers[REPLAYED]})

    async def _begun(self, command: Command, reference: str) -> Called | None:
        """What became of a call that was begun; None where nothing was written down."""
        try:
            return await as_it_stands(self._serving.services.node, command.workspace, reference)
        except NotFound:
            return None

    def _told(self, called: Called, applied: Mapping[str, str]) -> Answer:
        self._serving.metrics.called(outcome_of(called))
        if not isinstance(called, Refused):
            return told(called, applied)
        more = {} if called.call_id is None else {"callId": called.call_id}
        return self._serving.problem_of(called.error, more)


def _headers(given: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in given:
        wanted = _WANTED.get(name)
        if wanted is not None:
            text = value.decode("latin-1")
            # Of several hosts none is the one that is meant.
            several = wanted == "host" and "host" in found
            found[wanted] = f"{found['host']},{text}" if several else text
    return found


def _wait(prefer: str | None) -> tuple[int, Mapping[str, str]]:
    """How long an app is waited for, and the header that says so (RFC 7240)."""
    if prefer is None:
        return WAIT_MS, {}
    found = _WAIT.search(prefer)
    if found is None:
        return WAIT_MS, {}
    wait_ms = min(int(found[1]) * 1000, MAX_WAIT_MS)
    return wait_ms, {"preference-applied": f"wait={wait_ms // 1000}"}


def _command(actor: Actor, app: str, tool: str, body: CallBody, wait_ms: int) -> Command:
    """The call that a body asks for. Pins of the token win over those of the request.

    Raises:
        Forbidden: it names another user than the token's own.
        InvalidRequest: it names no user, and the key is not of one.
    """
    user = body.user or actor.user
    if user is None:
        raise InvalidRequest('The body does not say for which user the call is. Send "user".')
    checked_user(user)
    if not actor.speaks_for(user):
        raise Forbidden(
            f'This token speaks for the user "{actor.user}", and the body names another one. '
            'Leave "user" out, or use a token of that user.'
        )
    return Command(
        actor=actor,
        app=app,
        tool=tool,
        user=user,
        args=body.args,
        pins={**body.pins, **actor.pins} if body.pins or actor.pins else {},
        wait_ms=wait_ms,
    )
