"""Requests that may be repeated: ``Idempotency-Key`` (contract section 10).

Per key and route, for 24 h. The first one does the work; a repeat gets its answer. An answer that
holds a secret is sealed before it is kept.

What failed by a fault of ours is forgotten, so that a repeat does it; so is a refusal for want of
room. But where something may have been sent (a call), the request stays as it is: a repeat is
told to look what became of the first one, and only where nothing was written down does it again.
An answer that a call has not ended is kept too; what it has become since, ``hot`` looks up.
"""

from __future__ import annotations

import hmac
import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, TypeAlias, final

from remit.documents.canonical import compact_json
from remit.errors import InvalidRequest
from remit.gateway.keeping import Place, Sealed
from remit.gateway.ledger import (
    Fresh,
    InProgress,
    Mismatch,
    Replay,
    RequestKey,
    StoredAnswer,
)
from remit.values.secrets import Secret
from remit.web.answers import Answer
from remit.web.refusals import KeyReused, StillRunning

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from remit.gateway.acting import Actor
    from remit.gateway.recording import Beginning
    from remit.web.services import Services

Work: TypeAlias = "Callable[[str, bool], Awaitable[Answer]]"
MAX_KEY = 255
#: The header of an answer that was given before.
REPLAYED = "idempotency-replayed"
_MAX_LEFT = 10_000
_TOO_MANY, _FAULT = 429, 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeatable:
    """A request with an ``Idempotency-Key``.

    Attributes:
        route: method and path as they came.
        digest: of all else that makes it the same request.
        reference: the id of what it will make.
        seals: whether its answer is kept sealed.
        sends: whether a fault leaves open what was done.
    """

    actor: Actor
    route: str
    key: str
    digest: str
    reference: str
    seals: bool = False
    sends: bool = False

    @property
    def request_key(self) -> RequestKey:
        """As the store knows it."""
        return RequestKey(key_id=self.actor.key_id, route=self.route, key=self.key)

    @property
    def place(self) -> Place:
        """Where its sealed answer belongs."""
        field = ("answer", self.actor.key_id, self.route, self.key)
        return Place(workspace=self.actor.workspace, app="", user=None, field=field)


def digest_of(query: bytes, media: str | None, body: bytes) -> str:
    """What two requests with one key must have in common; ``Repeats`` keeps it keyed."""
    return sha256(b"\n".join((query, (media or "").encode(), body))).hexdigest()


def checked_key(key: str) -> str:
    """A key as a client may choose it.

    Raises:
        InvalidRequest: it is empty, too long, or has other than visible ASCII characters.
    """
    if not 1 <= len(key) <= MAX_KEY or not all("!" <= sign <= "~" for sign in key):
        raise InvalidRequest(
            f"The Idempotency-Key must have 1 to {MAX_KEY} visible ASCII characters, such as a "
            "UUID. Nothing was done."
        )
    return key


@final
class Repeats:
    """Answers repeated requests of a node.

    Args:
        services: keep the answers.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        # Requests of this node that a fault left open; those of a dead node the store knows.
        self._left: set[tuple[str, RequestKey]] = set()
        self._key = b""

    async def once(self, request: Repeatable, work: Work) -> Answer:
        """Do the work once, however often it is asked for.

        Args:
            request: which.
            work: is given the reference of what it makes, and whether it may have been made
                already by one that did not come to its end.

        Raises:
            KeyReused: the key was used with another body.
            StillRunning: the first one has not ended.
        """
        services, workspace, key = self._services, request.actor.workspace, request.request_key
        node, at = services.node.id, await services.now_ms()
        found = await services.idempotency.begin(
            workspace,
            key,
            body_digest=await self._keyed(request),
            reference=request.reference,
            node=node,
            at=at,
        )
        if isinstance(found, Fresh):
            return await self._work(request, work, request.reference, again=False)
        if isinstance(found, InProgress):
            if (workspace, key) in self._left:
                self._left.discard((workspace, key))
                return await self._work(request, work, found.reference, again=True)
            if found.abandoned and await services.idempotency.take_over(
                workspace, key, node=node, at=at
            ):
                return await self._work(request, work, found.reference, again=True)
        return await self._known(request, found)

    async def _keyed(self, request: Repeatable) -> str:
        """The digest as it is kept: of a plain one a short secret in the body could be guessed."""
        self._key = self._key or await self._services.books.keeper.digest_key()
        said = (request.actor.key_id, request.route, request.key, request.digest)
        return hmac.digest(self._key, "\n".join(said).encode(), "sha256").hex()

    async def _known(self, request: Repeatable, found: Beginning) -> Answer:
        if isinstance(found, Mismatch):
            raise KeyReused(
                "This Idempotency-Key was used for this route with another body. Use a new key "
                "for a new request; nothing was done."
            )
        if not isinstance(found, Replay):
            raise StillRunning(
                "The first request with this Idempotency-Key has not ended. Ask again in a second."
            )
        kept = found.answer
        headers = json.loads(kept.headers_json)
        media, sealed = headers.pop("content-type", ""), headers.pop("sealed", None)
        body = kept.body
        if sealed:
            opened = await self._services.books.keeper.open(request.place, Sealed(body))
            body = opened.reveal()
        return Answer(
            status=kept.status,
            body=body.encode(),
            media=media,
            headers={**headers, REPLAYED: "true"},
        )

    async def _work(
        self, request: Repeatable, work: Work, reference: str, *, again: bool
    ) -> Answer:
        try:
            answer = await work(reference, again)
            if answer.status >= _FAULT or answer.status == _TOO_MANY:
                await self._not_done(request, left=answer.status >= _FAULT)
                return answer
            return await self._keep(request, answer)
        except Exception:
            await self._not_done(request, left=True)
            raise

    async def _not_done(self, request: Repeatable, *, left: bool) -> None:
        workspace, key = request.actor.workspace, request.request_key
        if left and request.sends:
            if len(self._left) >= _MAX_LEFT:
                # Their repeats are told to wait until another node takes them over.
                self._left.clear()
            self._left.add((workspace, key))
            return
        await self._services.idempotency.forget(workspace, key, node=self._services.node.id)

    async def _keep(self, request: Repeatable, answer: Answer) -> Answer:
        services = self._services
        headers: dict[str, object] = {**answer.headers, "content-type": answer.media}
        body = answer.body.decode()
        if request.seals:
            body = (await services.books.keeper.seal(request.place, Secret(body))).text
            headers["sealed"] = True
        kept = StoredAnswer(status=answer.status, headers_json=compact_json(headers), body=body)
        await services.idempotency.finish(
            request.actor.workspace, request.request_key, kept, node=services.node.id
        )
        return answer
