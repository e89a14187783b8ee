"""Serves a route: key, role, query, body, repeat, handler, and whatever goes wrong as a problem."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, final

from remit.errors import Forbidden, InvalidRequest, NotFound, RemitError
from remit.gateway.acting import no_such
from remit.gateway.keeping import VaultFault
from remit.web import bodies, reading
from remit.web.problems import internal, problem
from remit.web.refusals import VaultUnavailable
from remit.web.repeating import Repeatable, checked_key, digest_of
from remit.web.route import Request

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from starlette.types import Receive

    from remit.gateway.acting import Actor
    from remit.web.answers import Answer
    from remit.web.callers import Callers
    from remit.web.metrics import Metrics
    from remit.web.repeating import Repeats
    from remit.web.route import Route
    from remit.web.services import Services


@final
class Serving:
    """What all routes of a node share.

    Args:
        services: the use cases' objects.
        callers: know the keys.
        repeats: know what was asked before.
        metrics: count.
    """

    def __init__(
        self, services: Services, callers: Callers, repeats: Repeats, metrics: Metrics
    ) -> None:
        self.services = services
        self.callers = callers
        self.repeats = repeats
        self.metrics = metrics

    async def answered(self, name: str, work: Callable[[], Awaitable[Answer]]) -> Answer:
        """The answer of some work; what it raises becomes a problem document.

        Args:
            name: of the route, for the metrics.
            work: answers.
        """
        return await self.answered_at_last(name, work())

    async def answered_at_last(self, name: str, work: Awaitable[Answer]) -> Answer:
        """As ``answered``, of work that needs only to be awaited."""
        began = time.perf_counter()
        try:
            answer = await work
        except RemitError as error:
            answer = self.problem_of(error)
        except Exception as error:  # noqa: BLE001 (a caller gets words, the operator the fault)
            request_id = self.request_id()
            self.services.on_fault(request_id, error)
            answer = internal(request_id)
        self.metrics.answered(name, answer.status, time.perf_counter() - began)
        return answer

    def refused(self, name: str, error: RemitError) -> Answer:
        """The problem document of a request that no route gets to see."""
        self.metrics.answered(name, error.status, 0.0)
        return self.problem_of(error)

    def problem_of(self, error: RemitError, more: Mapping[str, object] | None = None) -> Answer:
        """The problem document of an error; a fault of ours is told to the operator too."""
        request_id = self.request_id()
        if isinstance(error, VaultFault):
            self.services.on_fault(request_id, error)
            return problem(VaultUnavailable(error.message), request_id)
        if error.code == RemitError.code:
            self.services.on_fault(request_id, error)
            return internal(request_id)
        return problem(error, request_id, more=more)

    def request_id(self) -> str:
        """A fresh id of a request."""
        return self.services.books.fresh.fresh_id("req")

    async def serve(
        self,
        route: Route,
        *,
        target: str,
        params: Mapping[str, str],
        headers: Mapping[str, str],
        raw_query: bytes,
        receive: Receive,
    ) -> Answer:
        """Answer a request that needs a key.

        Raises:
            RemitError: it is refused; ``answered`` makes a problem document of it.
        """
        actor = await self.callers.actor(headers.get("authorization"))
        if route.roles is not None and actor.role not in route.roles:
            raise forbidden(route, actor)
        if any("\0" in value for value in params.values()):
            raise NotFound("There is nothing of that name in this workspace. Check its id.")
        if "session" in params and not actor.attends(params["session"]):
            raise no_such("session", params["session"])
        self.callers.enter(actor)
        try:
            query = reading.query(raw_query, route.query)
            raw = await reading.whole_body(
                receive, headers.get("content-length"), self._max_bytes(route)
            )
            # Not Request[Any, Any](…): typing would write to the frozen value.
            request: Request[Any, Any] = Request(
                services=self.services,
                actor=actor,
                params=params,
                headers=headers,
                query=query,
                body=self._body(route, raw, headers.get("content-type")),
            )
            return await self._once(route, request, target, raw_query, raw)
        finally:
            self.callers.leave(actor)

    async def _once(
        self, route: Route, request: Request[Any, Any], target: str, raw_query: bytes, raw: bytes
    ) -> Answer:
        handler, key = route.handler, request.headers.get("idempotency-key")
        if handler is None:
            msg = f"{route.name} is served elsewhere"
            raise TypeError(msg)
        if route.method != "POST" or key is None:
            return await handler(request)

        async def work(reference: str, _again: bool) -> Answer:  # noqa: FBT001 (a callback)
            try:
                return await handler(replace(request, reference=reference))
            except RemitError as error:
                return self.problem_of(error)

        repeatable = Repeatable(
            actor=request.actor,
            route=f"{route.method} {target}",
            key=checked_key(key),
            digest=digest_of(raw_query, request.headers.get("content-type"), raw),
            reference=self.request_id(),
            seals=route.seals,
            sends=route.finds,
        )
        return await self.repeats.once(repeatable, work)

    def _max_bytes(self, route: Route) -> int:
        settings = self.services.settings
        if route.document == "definition":
            return settings.max_definition_bytes
        return route.max_body_bytes or settings.max_body_bytes

    def _body(self, route: Route, raw: bytes, media: str | None) -> Any:  # noqa: ANN401 (its type is the route's)
        most = self._max_bytes(route)
        if route.document == "definition":
            return reading.document_value(raw, media, max_bytes=most)
        if route.document == "policy":
            return reading.document_value(raw, media, max_bytes=most, max_depth=reading.MAX_DEPTH)
        if route.body is None:
            if raw:
                raise InvalidRequest("This route takes no body. Send none.")
            return None
        # Where an empty object is a usual body, no body at all says as much.
        value: object = {}
        if raw or route.body not in bodies.MAY_BE_EMPTY:
            value = reading.json_value(raw, media, max_bytes=most)
        reading.without_nul(value)
        return reading.shaped(value, route.body)


def forbidden(route: Route, actor: Actor) -> Forbidden:
    """Why a key of the actor's role does not reach a route."""
    if route.unfit is not None:
        return Forbidden(route.unfit)
    roles = " or ".join(sorted(route.roles or ()))
    return Forbidden(
        f"A key of the role {actor.role} may not do this; it takes {roles}. "
        "Use such a key, or ask an operator of the workspace."
    )
