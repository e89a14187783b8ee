"""A JSON Schema as a graph: its subschemas, and which of them apply others.

Everything that has to be known of a schema without building a validator is asked of this graph:
whether its references resolve, how far they expand, whether they turn in a circle, and under
which names secrets stand. A subschema is known by its JSON Pointer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, final
from urllib.parse import unquote

from remit.documents.problems import escaped, parts_of
from remit.documents.shapes import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: in place: applied to the same value; child: to a part of it; named: to one named property.
Kind = Literal["place", "child", "named", "definition"]

_ONE: Mapping[str, Kind] = {
    "not": "place",
    "if": "place",
    "then": "place",
    "else": "place",
    "items": "child",
    "contains": "child",
    "additionalProperties": "child",
    "unevaluatedProperties": "child",
    "unevaluatedItems": "child",
    "propertyNames": "child",
    "contentSchema": "definition",
}
_LISTS: Mapping[str, Kind] = {
    "allOf": "place",
    "anyOf": "place",
    "oneOf": "place",
    "prefixItems": "child",
}
_MAPS: Mapping[str, Kind] = {
    "properties": "named",
    "patternProperties": "child",
    "dependentSchemas": "place",
    "dependencies": "place",
    "$defs": "definition",
    "definitions": "definition",
}
REFERENCES = ("$ref", "$dynamicRef")
_ANCHORS = ("$anchor", "$dynamicAnchor")


class Edge(NamedTuple):
    """One subschema that another one applies, or merely holds.

    Attributes:
        keyword: the keyword that does it.
        part: the property's name or the index below the keyword, where there is one.
        target: pointer of the subschema.
    """

    kind: Kind
    keyword: str
    part: str
    target: str


def subschemas(schema: Mapping[str, object]) -> Iterator[tuple[Kind, str, str, object]]:
    """Kind, keyword, part and value of each subschema that stands in ``schema`` itself."""
    for keyword, value in schema.items():
        if keyword in _ONE:
            yield _ONE[keyword], keyword, "", value
        elif keyword in _LISTS and is_array(value):
            for index, item in enumerate(value):
                yield _LISTS[keyword], keyword, str(index), item
        elif keyword in _MAPS and is_object(value):
            for name, item in value.items():
                # A list under "dependencies" holds names, not schemas.
                if not isinstance(item, list):
                    yield _MAPS[keyword], keyword, name, item


class Unresolved(NamedTuple):
    """A reference that leads nowhere in its document."""

    at: str
    keyword: str
    text: str
    is_remote: bool


@final
class SchemaGraph:
    """The subschemas of one schema document, and the edges between them.

    Attributes:
        nodes: the subschemas that are objects, by pointer, in the order of the document.
        edges: what each applies.
        unresolved: references that leave the document, or name nothing in it.
    """

    __slots__ = ("_anchors", "_order", "_root", "edges", "nodes", "unresolved")

    def __init__(self, root: Mapping[str, object]) -> None:
        self._root = root
        self.nodes: dict[str, Mapping[str, object]] = {}
        self.edges: dict[str, list[Edge]] = {}
        self.unresolved: list[Unresolved] = []
        self._anchors: dict[str, str] = {}
        self._order: list[str] = []
        self._take("", root)
        self._find_anchors()
        # A reference may lead to a place that is a schema only because of it: the order grows.
        for at in self._order:
            self._resolve(at)

    def _take(self, at: str, schema: object) -> None:
        """Take in the subschemas at and below a place, each once."""
        waiting = [(at, schema)]
        while waiting:
            place, node = waiting.pop()
            if place in self.nodes or not is_object(node):
                continue
            self.nodes[place] = node
            self._order.append(place)
            edges = self.edges[place] = []
            found: list[tuple[str, object]] = []
            for kind, keyword, part, below in subschemas(node):
                target = f"{place}/{escaped(keyword)}"
                if keyword not in _ONE:
                    target += f"/{escaped(part)}"
                edges.append(Edge(kind, keyword, part, target))
                found.append((target, below))
            # The first of them next, so that all comes in the order of the document.
            waiting.extend(reversed(found))

    def _find_anchors(self) -> None:
        for at, node in self.nodes.items():
            for keyword in _ANCHORS:
                name = node.get(keyword)
                if isinstance(name, str):
                    self._anchors.setdefault(name, at)

    def _resolve(self, at: str) -> None:
        for keyword in REFERENCES:
            text = self.nodes[at].get(keyword)
            if not isinstance(text, str):
                continue
            if text and not text.startswith("#"):
                self.unresolved.append(Unresolved(at, keyword, text, is_remote=True))
                continue
            target = self._target(unquote(text[1:]))
            if target is None:
                self.unresolved.append(Unresolved(at, keyword, text, is_remote=False))
                continue
            place, schema = target
            self.edges[at].append(Edge("place", keyword, "", place))
            if place not in self.nodes:
                self._take(place, schema)

    def _target(self, fragment: str) -> tuple[str, object] | None:
        if fragment and not fragment.startswith("/"):
            place = self._anchors.get(fragment)
            return None if place is None else (place, self.nodes[place])
        found: object = self._root
        for part in parts_of(fragment):
            if is_object(found) and part in found:
                found = found[part]
            elif is_array(found) and _is_index(part) and int(part) < len(found):
                found = found[int(part)]
            else:
                return None
        return (fragment, found) if is_object(found) or isinstance(found, bool) else None


def _is_index(part: str) -> bool:
    return part.isascii() and part.isdecimal() and len(part) < 8 and str(int(part)) == part
