"""The ASGI application: calls in front, CORS and the public host around, Starlette for the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from starlette.middleware.cors import CORSMiddleware

from remit.web import (
    call_routes,
    governing_routes,
    hot,
    open_routes,
    people_routes,
    review_routes,
)
from remit.web.callers import Callers
from remit.web.hosts import check_host
from remit.web.metrics import Metrics
from remit.web.refusals import Misdirected
from remit.web.repeating import Repeats
from remit.web.routing import ELSEWHERE, router
from remit.web.sending import sent
from remit.web.serving import Serving

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from remit.web.route import Route
    from remit.web.services import Services

#: Everything that is served, hot routes included.
ROUTES: tuple[Route, ...] = (
    *review_routes.ROUTES,
    *people_routes.ROUTES,
    *call_routes.ROUTES,
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


def make_app(services: Services) -> ASGIApp:
    """The HTTP API over these services.

    It needs no lifespan: whoever makes the services starts and stops them.
    """
    front = _Front(Serving(services, Callers(services), Repeats(services), Metrics()))
    for_pages = CORSMiddleware(
        front,
        allow_origins=services.settings.allowed_origins,
        allow_methods=("GET", "POST", "PUT", "PATCH", "DELETE"),
        allow_headers=_SENT_BY_PAGES,
        expose_headers=_READ_BY_PAGES,
        # No cookie is ever read: the key stands in a header that no other page can set.
        allow_credentials=False,
        max_age=600,
    )

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        """A call that no page makes goes past what is there for pages."""
        if scope["type"] == "http" and hot.hot_path(scope) is not None:
            for name, _ in scope["headers"]:
                if name == b"origin":
                    break
            else:
                await front(scope, receive, send)
                return
        await for_pages(scope, receive, send)

    return app


@final
class _Front:
    """Sees every request first: is it for us, is it a call, else the router."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._hot = hot.Hot(serving)
        self._hosts = serving.services.settings.hosts()
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
