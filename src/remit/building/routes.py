"""Whether the components of an app answer the routes that its tools name (promise K-26).

A route that is missing is a warning, never an error: a component may not run where the folder is
built. Nothing is called: ``OPTIONS`` is sent, without credential or body.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from remit import __version__
from remit.catalog.mistakes import Mistake
from remit.catalog.model import AppTarget
from remit.documents.problems import pointer
from remit.errors import CallError, ResponseInvalid, ResponseTooLarge
from remit.gateway.ports import Limits, WireRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.catalog.model import Definition, Tool
    from remit.gateway.ports import Egress
    from remit.values.urls import Url

TIMEOUT_MS = 1_000
AT_ONCE = 4
_LIMITS = Limits(connect_timeout_ms=TIMEOUT_MS, total_timeout_ms=TIMEOUT_MS)
_GONE = (404, 410)
_SOME = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Route:
    """One path of one component, and the tools that name it, with their places in the catalog."""

    component: str
    url: str
    path: str
    tools: tuple[tuple[int, Tool], ...]


async def missing_routes(definition: Definition, egress: Egress) -> tuple[Mistake, ...]:
    """Ask every component for the routes of its tools; a warning for each that is not there.

    A path answers where ``OPTIONS`` brings anything but 404 and 410. A component that cannot be
    reached is one warning; its routes are not asked for any more.

    Args:
        definition: loaded without an error.
        egress: the guarded way out; an address that it refuses cannot be reached.
    """
    slots = asyncio.Semaphore(AT_ONCE)
    by_component: dict[str, list[_Route]] = {}
    for route in _routes(definition):
        by_component.setdefault(route.component, []).append(route)
    found = await asyncio.gather(
        *(
            _of_component(name, definition.components[name].url, routes, egress, slots)
            for name, routes in by_component.items()
        )
    )
    return tuple(mistake for mistakes in found for mistake in mistakes)


async def _of_component(
    name: str, url: Url, routes: Sequence[_Route], egress: Egress, slots: asyncio.Semaphore
) -> list[Mistake]:
    # The first alone: where nobody answers, a hundred routes would say so a hundred times.
    first = await _status(routes[0], egress, slots)
    if isinstance(first, str):
        return [_unreached(name, url, first)]
    others = await asyncio.gather(*(_status(route, egress, slots) for route in routes[1:]))
    found: list[Mistake] = []
    for route, status in zip(routes, (first, *others), strict=True):
        if status in _GONE:
            found += [_missing(route, index, tool, status) for index, tool in route.tools]
    return found


async def _status(route: _Route, egress: Egress, slots: asyncio.Semaphore) -> int | str:
    """The status that it answers, or why there is none."""
    request = WireRequest(
        method="OPTIONS",
        url=route.url,
        headers=(("Accept", "*/*"), ("User-Agent", f"remit/{__version__}")),
    )
    async with slots:
        try:
            return (await egress.send(request, _LIMITS)).status
        except (ResponseInvalid, ResponseTooLarge):
            # What came back is no use, but somebody answered.
            return _SOME
        except CallError as error:
            return error.message


def _routes(definition: Definition) -> list[_Route]:
    tools: dict[tuple[str, str], list[tuple[int, Tool]]] = {}
    records = definition.record.get("tools")
    names = [
        record.get("name") if isinstance(record, dict) else None
        for record in (records if isinstance(records, list) else ())
    ]
    for tool in definition.tools:
        target = tool.destination
        if isinstance(target, AppTarget) and target.component in definition.components:
            path = _path(tool)
            if path is not None:
                key = target.component, path
                tools.setdefault(key, []).append((names.index(tool.name), tool))
    return [
        _Route(
            component=component,
            url=_joined(definition.components[component].url, path),
            path=path,
            tools=tuple(of),
        )
        for (component, path), of in tools.items()
    ]


def _path(tool: Tool) -> str | None:
    """The path of its request as it is sent; None where a reference stands in it."""
    request = tool.request
    if request is None:
        return None
    literals = [segment.literal for segment in request.location.segments]
    texts = [text for text in literals if text is not None]
    return "".join(f"/{text}" for text in texts) if len(texts) == len(literals) else None


def _joined(url: Url, path: str) -> str:
    return f"{url.origin}{url.path.rstrip('/')}{path}"


def _missing(route: _Route, index: int, tool: Tool, status: int) -> Mistake:
    method = tool.request.method.value if tool.request else ""
    at = "/target/path"
    return Mistake(
        rule="route-not-answered",
        level="warning",
        tool=tool.name,
        pointer=pointer("tools", index) + at,
        at=at,
        message=f'the component "{route.component}" has no route {method} {route.path}, or it does '
        f"not answer OPTIONS there: it answered {status}",
        mend="add the route to the component, or mend the path",
    )


def _unreached(name: str, url: Url, why: str) -> Mistake:
    at = pointer("components", name, "url")
    return Mistake(
        rule="component-not-reached",
        level="warning",
        tool=None,
        pointer=at,
        at=at,
        message=f'no route of the component "{name}" could be looked for at {_joined(url, "")}: '
        f"{' '.join(why.split())}",
        mend="start it before the build, or leave the look out with --no-routes",
    )
