"""The tree of a JSON Schema 2020-12: where schemas stand in it, and where its references lead."""

from __future__ import annotations

from typing import TYPE_CHECKING, final
from urllib.parse import unquote

from remit.catalog.reading import is_object
from remit.documents.problems import parts_of, pointer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.values.json import JsonObject, JsonValue

# Keywords whose value is a list of schemas, an object of schemas, one schema.
LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
MAPS = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})
SINGLES = frozenset(
    {
        "items",
        "additionalProperties",
        "contains",
        "not",
        "if",
        "then",
        "else",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
        "contentSchema",
    }
)
_HOLDERS = LISTS | MAPS | SINGLES
# Of these, the ones that say something of the same value as the schema they stand in.
IN_PLACE = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"})


def children(schema: JsonObject) -> Iterator[tuple[str, tuple[str | int, ...], JsonValue]]:
    """The schemas that stand directly in ``schema``: keyword, path from it, and the schema."""
    if _HOLDERS.isdisjoint(schema):
        return
    for keyword, value in schema.items():
        if keyword in SINGLES:
            yield keyword, (keyword,), value
        elif keyword in LISTS and isinstance(value, list):
            for index, item in enumerate(value):
                yield keyword, (keyword, index), item
        elif keyword in MAPS and is_object(value):
            for name, item in value.items():
                yield keyword, (keyword, name), item


@final
class Targets:
    """Finds what the references of one schema document lead to; it reads nothing else."""

    __slots__ = ("_anchors", "_root")

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._anchors: dict[str, tuple[str, JsonObject]] | None = None

    def find(self, reference: JsonValue) -> tuple[str, JsonValue] | None:
        """The JSON Pointer and the schema that a local ``$ref`` leads to; None where it is none."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        fragment = unquote(reference[1:])
        if fragment and not fragment.startswith("/"):
            return self._named.get(fragment)
        place = pointer(*parts_of(fragment))
        found = self.at(place)
        return None if found is None else (place, found)

    def at(self, place: str) -> JsonValue:
        """The schema at a JSON Pointer; None where no schema stands there."""
        found: JsonValue = self._root
        for part in parts_of(place):
            if is_object(found) and part in found:
                found = found[part]
            elif isinstance(found, list) and part.isdecimal() and int(part) < len(found):
                found = found[int(part)]
            else:
                return None
        return found if is_object(found) or isinstance(found, bool) else None

    @property
    def _named(self) -> dict[str, tuple[str, JsonObject]]:
        if self._anchors is None:
            self._anchors = {}
            waiting: list[tuple[tuple[str | int, ...], JsonObject]] = [((), self._root)]
            while waiting:
                path, schema = waiting.pop()
                for keyword in ("$anchor", "$dynamicAnchor"):
                    name = schema.get(keyword)
                    if isinstance(name, str):
                        self._anchors.setdefault(name, (pointer(*path), schema))
                waiting += [
                    ((*path, *step), child)
                    for _, step, child in children(schema)
                    if is_object(child)
                ]
        return self._anchors
