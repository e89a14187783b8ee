"""Tools that make one request under several names: a new name must not loosen a reviewed tool.

Two requests are the same here where all that the author wrote of them is: the destination, the
method, and the literal text of path, query, headers and body, with a hole wherever an argument
goes in. What the arguments are called says nothing, and neither does the order of query
parameters, of headers or of a body's keys. Where this is unsure it takes two for one.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote

from remit.catalog.model import BodyArray, BodyConstant, BodyNode, BodyObject
from remit.documents.canonical import canonical_json
from remit.policy.reach import place_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from remit.catalog.model import Definition, RequestTemplate, Tool
    from remit.catalog.references import Text
    from remit.catalog.scales import Category, DangerLevel
    from remit.values.json import JsonValue

_HOLE = "\0"
_HOLES = re.compile(f"{_HOLE}+")
# Of many tools that make one request, as many are looked at for the same arguments.
_LOOKED_AT = 20


class Held(Protocol):
    """How strictly a tool is held."""

    @property
    def category(self) -> Category:
        """What a call may do."""
        ...

    @property
    def danger_level(self) -> DangerLevel:
        """How bad a wrong call is."""
        ...

    @property
    def requires_approval(self) -> bool:
        """Whether it demands an approval."""
        ...


def is_looser(tool: Held, reviewed: Held) -> bool:
    """Whether a tool is held less strictly than a reviewed one."""
    return (
        tool.category < reviewed.category
        or tool.danger_level < reviewed.danger_level
        or (reviewed.requires_approval and not tool.requires_approval)
    )


def strictness(tool: Tool) -> tuple[int, int, bool, str]:
    """To sort by: the least strict first, and always in the same order."""
    return tool.category.rank, tool.danger_level.rank, tool.requires_approval, tool.name


class Requests:
    """Reviewed tools by the request that they make."""

    __slots__ = ("_by_request", "_definition")

    def __init__(self, tools: Iterable[Tool], definition: Definition | None) -> None:
        self._definition = definition
        self._by_request: dict[str, list[Tool]] = {}
        for tool in sorted(tools, key=strictness):
            self._by_request.setdefault(skeleton(tool, definition), []).append(tool)

    def twins(self, tool: Tool, definition: Definition | None) -> Sequence[Tool]:
        """The reviewed tools that a tool must be held as strictly as, if any.

        One that also takes the same arguments to the same places speaks alone, the least strict
        of several: whatever it was reviewed as, this tool is nothing else. Otherwise all count:
        what made one of them harmless may have been its arguments.
        """
        found = self._by_request.get(skeleton(tool, definition), ())
        same = next((known for known in found[:_LOOKED_AT] if _is_same(known, tool)), None)
        return found if same is None else (same,)


def _is_same(known: Tool, tool: Tool) -> bool:
    return known.destination == tool.destination and canonical_json(
        known.parameters.schema
    ) == canonical_json(tool.parameters.schema)


def skeleton(tool: Tool, definition: Definition | None) -> str:
    """A text that is the same for the same request, whatever its arguments are called."""
    place = place_of(tool.destination, definition)
    request = tool.request
    return repr((place.kind, place.name, place.origin, *(_parts(request) if request else ())))


def _parts(request: RequestTemplate) -> Iterator[object]:
    yield request.method.value
    segments = (unquote(_holed(segment)) for segment in request.location.segments)
    yield [segment for segment in segments if segment]
    query = [f"{each.name}={_holed(each.value)}" for each in request.query]
    if request.location.query is not None:
        query += [unquote(pair) for pair in _holed(request.location.query).split("&") if pair]
    yield sorted(query)
    yield sorted((name.lower(), _holed(value)) for name, value in request.headers)
    yield None if request.body is None else json.dumps(_value(request.body), sort_keys=True)


def _holed(text: Text) -> str:
    """A text with holes where arguments go in; an env value is none, its name is the author's."""
    parts = (
        part if isinstance(part, str) else part.written if part.root == "env" else _HOLE
        for part in text.parts
    )
    return _HOLES.sub(_HOLE, "".join(parts))


def _value(node: BodyNode) -> JsonValue:
    if isinstance(node, BodyObject):
        return {name: _value(item) for name, item in node.items}
    if isinstance(node, BodyArray):
        return [_value(item) for item in node.items]
    return node.value if isinstance(node, BodyConstant) else _holed(node)
