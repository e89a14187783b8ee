"""What needs no key: the description, the key set, health and metrics (contract section 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.gateway.identity import JWKS_AGE_S
from remit.web import metrics, shapes
from remit.web.answers import Answer, said
from remit.web.docs import docs_page
from remit.web.openapi import document
from remit.web.route import Route

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from remit.web.serving import Serving

_DOCS_HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
}


def handlers(
    serving: Serving, routes: Sequence[Route]
) -> Mapping[str, Callable[[], Awaitable[Answer]]]:
    """The handlers of ``ROUTES``, by the name of the route.

    Args:
        serving: what all routes share.
        routes: all that are served; described once, as bytes.
    """
    services = serving.services
    described = document(routes, services.settings)
    openapi, page = said(described), docs_page(described, services.settings.brand)

    async def read_openapi() -> Answer:
        return openapi

    async def read_docs() -> Answer:
        return Answer(body=page, media="text/html; charset=utf-8", headers=_DOCS_HEADERS)

    async def read_jwks() -> Answer:
        keys = await services.node.minter.jwks(now_s=services.books.wall.unix_ms() // 1000)
        return said(keys, headers={"cache-control": f"public, max-age={JWKS_AGE_S}"})

    async def read_health() -> Answer:
        return said(shapes.State(status="ok"))

    async def read_readiness() -> Answer:
        await services.ping()
        return said(shapes.State(status="ready"))

    async def read_metrics() -> Answer:
        node = services.node
        counted = serving.metrics.text(len(node.tasks), node.endings.late)
        return Answer(body=counted, media=metrics.MEDIA)

    return {
        "readOpenapi": read_openapi,
        "readDocs": read_docs,
        "readKeySet": read_jwks,
        "readHealth": read_health,
        "readReadiness": read_readiness,
        "readMetrics": read_metrics,
    }


def _open(
    name: str,
    path: str,
    summary: str,
    answer: Any,  # noqa: ANN401 (any type)
    media: str = "application/json",
) -> Route:
    return Route(
        name=name,
        method="GET",
        path=path,
        summary=summary,
        handler=None,
        roles=None,
        answer=answer,
        media=(media,),
    )


ROUTES = (
    _open("readOpenapi", "/v1/openapi.json", "Read this description", dict[str, Any]),
    _open("readDocs", "/docs", "Read this description as a page", None, "text/html"),
    _open(
        "readKeySet",
        "/.well-known/jwks.json",
        "Read the keys that verify identity tokens",
        shapes.Keys,
    ),
    _open("readHealth", "/healthz", "Whether the process answers", shapes.State),
    _open("readReadiness", "/readyz", "Whether it can do its work", shapes.State),
    _open("readMetrics", "/metrics", "Read the counters, for Prometheus", None, "text/plain"),
)
