"""Which arguments of a tool are sent, read from its compiled references."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.catalog.model import BodyArray, BodyObject, ClientTarget, Location
from remit.catalog.references import Text
from remit.policy.wording import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.catalog.model import BodyNode, Polling, RequestTemplate, Tool
    from remit.catalog.references import Reference


def sent_arguments(tool: Tool) -> tuple[str, ...]:
    """What of a tool's arguments leaves with its request, each by its title, in quotes.

    Required ones come first, then the others, then those that only a session can fix. An
    argument that no reference names is not sent and is not in here.
    """
    names = _names(tool)
    required = tool.parameters.required
    declared = sorted(names & tool.parameters.names, key=lambda n: (n not in required, n))
    fixed = sorted(names - tool.parameters.names)
    return (
        *(_titled(tool, name) for name in declared),
        *(f"{quoted(name)} (only the session can fill it)" for name in fixed),
    )


def _titled(tool: Tool, name: str) -> str:
    return quoted(tool.parameters.title(name))


def _names(tool: Tool) -> frozenset[str]:
    if isinstance(tool.destination, ClientTarget):
        return frozenset(tool.parameters.names)
    found: set[str] = set()
    for reference in (*_of_request(tool.destination.request), *_of_polling(tool.polling)):
        if reference.root in ("args", "input"):
            # `${input}` alone is all of them.
            found.update(reference.path[:1] or tool.parameters.names)
    return frozenset(found)


def _of_request(request: RequestTemplate) -> Iterator[Reference]:
    yield from _of_location(request.location)
    for parameter in request.query:
        yield from parameter.value.references
    for _, value in request.headers:
        yield from value.references
    if request.body is not None:
        yield from _of_body(request.body)


def _of_location(location: Location) -> Iterator[Reference]:
    for segment in location.segments:
        yield from segment.references
    if location.query is not None:
        yield from location.query.references


def _of_body(body: BodyNode) -> Iterator[Reference]:
    if isinstance(body, Text):
        yield from body.references
    elif isinstance(body, BodyObject):
        for _, node in body.items:
            yield from _of_body(node)
    elif isinstance(body, BodyArray):
        for node in body.items:
            yield from _of_body(node)


def _of_polling(polling: Polling | None) -> Iterator[Reference]:
    if polling is not None and isinstance(polling.status, Location):
        yield from _of_location(polling.status)
