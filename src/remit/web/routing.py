"""All routes but the call: Starlette finds the path, its methods are looked up in one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from msgspec import structs
from starlette.routing import Route as StarletteRoute
from starlette.routing import Router

from remit.web import open_routes
from remit.web.hot import segment
from remit.web.refusals import MethodNotAllowed, NoSuchRoute
from remit.web.sending import sent

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from starlette.types import ASGIApp, Receive, Scope, Send

    from remit.web.answers import Answer
    from remit.web.route import Route
    from remit.web.serving import Serving

#: What the metrics call a request that no route is there for.
ELSEWHERE = "elsewhere"


def router(serving: Serving, routes: Sequence[Route]) -> ASGIApp:
    """An application that answers these routes.

    Args:
        serving: what they share.
        routes: all that are described; those that another serves are refused by method here.
    """
    unlocked = open_routes.handlers(serving, routes)
    paths: dict[str, dict[str, Route]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method] = route
    return Router(
        [
            StarletteRoute(path, _Path(serving, methods, unlocked))
            for path, methods in paths.items()
        ],
        redirect_slashes=False,
        default=_Elsewhere(serving),
    )


@final
class _Path:
    """One path with its methods."""

    def __init__(
        self,
        serving: Serving,
        methods: Mapping[str, Route],
        unlocked: Mapping[str, Callable[[], Awaitable[Answer]]],
    ) -> None:
        self._serving = serving
        self._methods = methods
        self._unlocked = unlocked

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        method: str = scope["method"]
        head = method == "HEAD"
        route = self._methods.get("GET" if head else method)
        if route is None:
            error = MethodNotAllowed(
                f"This path does not take {method[:20]}; it takes {', '.join(self._methods)}."
            )
            answer = self._serving.refused(ELSEWHERE, error)
            await sent(_allowing(answer, self._methods), send)
            return
        work = self._unlocked.get(route.name)
        answer = await self._serving.answered(
            route.key, work or _asked(self, route, scope, receive)
        )
        await sent(answer, send, head=head)

    async def answer(self, route: Route, scope: Scope, receive: Receive) -> Answer:
        """The answer of a route that needs a key."""
        encoded: Mapping[str, str] = scope["path_params"]
        return await self._serving.serve(
            route,
            target=scope["path"],
            params={name: segment(value.encode("latin-1")) for name, value in encoded.items()},
            headers={
                name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
            },
            raw_query=scope["query_string"],
            receive=receive,
        )


@final
class _Elsewhere:
    """Answers where there is no route."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """404."""
        error = NoSuchRoute("There is no such path here. GET /v1/openapi.json lists them all.")
        await sent(self._serving.refused(ELSEWHERE, error), send)


def _asked(
    path: _Path, route: Route, scope: Scope, receive: Receive
) -> Callable[[], Awaitable[Answer]]:
    return lambda: path.answer(route, scope, receive)


def _allowing(answer: Answer, methods: Mapping[str, Route]) -> Answer:
    return structs.replace(answer, headers={**answer.headers, "allow": ", ".join(methods)})
