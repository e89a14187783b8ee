"""Where a loaded tool refers to its arguments and to env values: reference by reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from remit.catalog.model import (
    BodyArray,
    BodyConstant,
    BodyNode,
    BodyObject,
    Endpoint,
    Location,
    UrlTarget,
)
from remit.catalog.reading import is_object
from remit.catalog.references import Reference, Text
from remit.documents.problems import escaped
from remit.values.json import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from remit.catalog.model import RequestTemplate, Tool
    from remit.values.json import JsonValue

Part: TypeAlias = Literal["path", "query", "header", "body", "poll", "confirm"]


class Use(NamedTuple):
    """One reference and where it stands.

    Attributes:
        reference: what is referred to.
        part: which part of the request, or of what stands around it.
        at: pointer from the tool.
        whole: whether the text is exactly this reference.
    """

    reference: Reference
    part: Part
    at: str
    whole: bool

    @property
    def argument(self) -> str | None:
        """The argument it needs; None for another namespace and for the whole ``${input}``."""
        if self.reference.root in ("args", "input") and self.reference.path:
            return self.reference.path[0]
        return None


def uses_of(tool: Tool) -> tuple[Use, ...]:
    """Every reference of a tool, in the order of the request's parts."""
    found: list[Use] = []
    if tool.request is not None:
        found += _request(tool, tool.request)
    if tool.polling is not None:
        status = tool.polling.status
        at = "/polling/statusUrl"
        if isinstance(status, Reference):
            found.append(Use(status, "poll", at, whole=True))
        else:
            found += _location(status, "poll", at)
    if tool.confirm is not None:
        if tool.confirm.title is not None:
            found += _text(tool.confirm.title, "confirm", "/confirm/title")
        if tool.confirm.preview is not None:
            found += _node(tool.confirm.preview.args, "confirm", "/confirm/preview/args")
    # Each reference once per place: "{{args.x}} to {{args.x}}" is one thing to mend.
    return tuple({(use.at, use.reference): use for use in found}.values())


def _request(tool: Tool, request: RequestTemplate) -> Iterator[Use]:
    endpoint = isinstance(tool.destination, Endpoint)
    form = "/endpoint" if endpoint else "/target"
    path_key = "url" if isinstance(tool.destination, UrlTarget) else "path"
    yield from _location(request.location, "path", f"{form}/{path_key}")
    query_at = f"{form}/{'queryParams' if endpoint else 'query'}"
    for parameter in request.query:
        yield from _text(parameter.value, "query", f"{query_at}/{escaped(parameter.name)}")
    for name, value in request.headers:
        yield from _text(value, "header", f"{form}/headers/{escaped(name)}")
    if request.body is not None:
        yield from _node(request.body, "body", f"{form}/{'bodyTemplate' if endpoint else 'body'}")


def _location(location: Location, part: Part, at: str) -> Iterator[Use]:
    for segment in location.segments:
        # In a path and in its query a missing value cannot be left out: never "whole".
        yield from (Use(reference, part, at, whole=False) for reference in segment.references)
    if location.query is not None:
        yield from (
            Use(reference, part, at, whole=False) for reference in location.query.references
        )


def _text(text: Text, part: Part, at: str) -> Iterator[Use]:
    whole = text.whole is not None
    yield from (Use(reference, part, at, whole=whole) for reference in text.references)


def _node(node: BodyNode, part: Part, at: str) -> Iterator[Use]:
    if isinstance(node, Text):
        yield from _text(node, part, at)
    elif isinstance(node, BodyObject):
        for name, child in node.items:
            yield from _node(child, part, f"{at}/{escaped(name)}")
    elif isinstance(node, BodyArray):
        for index, child in enumerate(node.items):
            yield from _node(child, part, f"{at}/{index}")


def constants_of(node: BodyNode | None, at: str) -> Iterator[tuple[str, str, str]]:
    """Every literal text of a body: its key, its text and its pointer."""
    if isinstance(node, BodyConstant):
        yield from _constants(node.value, "", at)
    elif isinstance(node, BodyObject):
        for name, child in node.items:
            place = f"{at}/{escaped(name)}"
            if isinstance(child, BodyConstant):
                yield from _constants(child.value, name, place)
            else:
                yield from constants_of(child, place)
    elif isinstance(node, BodyArray):
        for index, child in enumerate(node.items):
            yield from constants_of(child, f"{at}/{index}")


def _constants(value: object, key: str, at: str) -> Iterator[tuple[str, str, str]]:
    if isinstance(value, str):
        yield key, value, at
    elif isinstance(value, dict):
        for name, child in value.items():  # pyright: ignore[reportUnknownVariableType]
            yield from _constants(child, str(name), f"{at}/{escaped(str(name))}")  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, list):
        for index, child in enumerate(value):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
            yield from _constants(child, key, f"{at}/{index}")  # pyright: ignore[reportUnknownArgumentType]


def strings_of(value: JsonValue, at: str) -> list[tuple[str, str]]:
    """Every text of a record as written: its pointer and the text."""
    found: list[tuple[str, str]] = []
    _gather(value, at, found)
    return found


def _gather(value: JsonValue, at: str, found: list[tuple[str, str]]) -> None:
    if isinstance(value, str):
        found.append((at, value))
    elif is_object(value):
        for name, child in value.items():
            _gather(child, f"{at}/{escaped(name)}", found)
    elif isinstance(value, list):
        for index, child in enumerate(value):
            _gather(child, f"{at}/{index}", found)


def idle_pins(pins: Iterable[str], tools: Iterable[Tool]) -> Iterator[tuple[str, str]]:
    """The pins that reach no tool, each with what was meant, as a sentence or empty.

    A pin is a fence, and a misspelt one stands open unseen.
    """
    reached: set[str] = set()
    for tool in tools:
        reached |= tool.parameters.names
        reached |= {use.reference.path[0] for use in uses_of(tool) if use.reference.path}
    for name in pins:
        if name not in reached:
            near = nearest(name, reached)
            yield name, f' Did you mean "{near}"?' if near else ""
