"""The ASGI application: calls in front, CORS and the public host around, Starlette for the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from starlette.middleware.cors import CORSMiddleware

from remit.web import (
    call_routes,
    client_routes,
    device_routes,
    governing_routes,
    hot,
    open_routes,
    people_routes,
    review_routes,
    session_routes,
)
from remit.web.callers import Callers
from remit.web.hosts import check_host
from remit.web.metrics import Metrics
from remit.web.refusals import Misdirected
from remit.web.repeating import Repeats
from remit.web.routing import ELSEWHERE, router
from remit.web.sending import sent
from remit.web.serving import Serving
from remit.web.stream import Streams, streamed

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from remit.web.route import Route
    from remit.web.services import Services

#: Everything that is served, hot routes included.
ROUTES: tuple[Route, ...] = (
    *review_routes.ROUTES,
    *people_routes.ROUTES,
    *call_routes.ROUTES,
    *session_routes.ROUTES,
    *client_routes.ROUTES,
    *device_routes.ROUTES,
    *governing_routes.ROUTES,
    *open_routes.ROUTES,
)
_READ_BY_PAGES = ("ETag", "Location", "Retry-After", "Idempotency-Replayed", "Preference-Applied")
_SENT_BY_PAGES = (
    "Authorization",
    "Content-Type",
    "If-Match",
    "Idempotency-Key",
    "Prefer",
    "Last-Event-ID",
)


@final
class App:
    """The HTTP API as an ASGI application.

    Attributes:
        calls: makes the calls, also those that a server reads off the wire itself.
        hosts: that it answers for.
    """

    def __init__(self, services: Services) -> None:
        serving = Serving(services, Callers(services), Repeats(services), Metrics())
        self.calls = hot.Hot(serving)
        self.hosts = services.settings.hosts()
        self._front = _Front(serving, self.calls, self.hosts)
        self._for_pages = _for_pages(self._front, services)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A call or a stream that no page asks for goes past what is there for pages."""
        if scope["type"] == "http" and (call := hot.hot_path(scope)) is not None:
            headers = hot.plain_headers(scope["headers"], self.hosts)
            if headers is not None:
                await self.calls.serve(scope, receive, send, call, headers)
                return
        if scope["type"] == "http" and streamed(scope):
            for name, _ in scope["headers"]:
                if name == b"origin":
                    break
            else:
                await self._front(scope, receive, send)
                return
        await self._for_pages(scope, receive, send)


def make_app(services: Services) -> App:
    """The HTTP API over these services.

    It needs no lifespan: whoever makes the services starts and stops them.
    """
    return App(services)


def _for_pages(front: ASGIApp, services: Services) -> ASGIApp:
    """What stands in front of requests that a page makes."""
    return CORSMiddleware(
        front,
        allow_origins=services.settings.allowed_origins,
        allow_methods=("GET", "POST", "PUT", "PATCH", "DELETE"),
        allow_headers=_SENT_BY_PAGES,
        expose_headers=_READ_BY_PAGES,
        # No cookie is ever read: the key stands in a header that no other page can set.
        allow_credentials=False,
        max_age=600,
    )


@final
class _Front:
    """Sees every request first: is it for us, is it a call or a stream, else the router."""

    def __init__(self, serving: Serving, calls: hot.Hot, hosts: frozenset[str]) -> None:
        self._serving = serving
        self._hot = calls
        self._streams = Streams(serving)
        self._hosts = hosts
        self._rest = router(serving, ROUTES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
            return
        if scope["type"] != "http":
            return
        try:
            check_host(scope, self._hosts)
        except Misdirected as error:
            await sent(self._serving.refused(ELSEWHERE, error), send)
            return
        if (session := streamed(scope)) is not None:
            await self._streams.serve(scope, receive, send, session)
            return
        call = hot.hot_path(scope)
        if call is None:
            # The segments stay encoded until they are cut: a user's id may hold a slash.
            raw = scope.get("raw_path")
            encoded = scope if raw is None else {**scope, "path": raw.decode("latin-1")}
            await self._rest(encoded, receive, send)
            return
        answer = await self._serving.answered(
            hot.NAME, lambda: self._hot.answer(scope, receive, *call)
        )
        await sent(answer, send)


async def _lifespan(receive: Receive, send: Send) -> None:
    """Say yes: whoever made the services starts and stops them."""
    while (message := await receive())["type"] != "lifespan.shutdown":
        await send({"type": f"{message['type']}.complete"})
    await send({"type": "lifespan.shutdown.complete"})
