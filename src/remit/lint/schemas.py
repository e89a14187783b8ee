"""Walking a tool's parameters: every schema inside them, named as a person would name it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from remit.catalog.reading import is_object
from remit.documents.problems import escaped

if TYPE_CHECKING:
    from remit.values.json import JsonObject, JsonValue

_MAX_NODES = 6_000
_MAX_DEPTH = 64
_BRANCHES = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLE = ("items", "additionalProperties", "not", "if", "then", "else", "contains")
_MAPS = ("$defs", "definitions", "patternProperties", "dependentSchemas")


class SchemaNode(NamedTuple):
    """One schema inside ``parameters``.

    Attributes:
        at: its pointer from the tool.
        schema: as written.
        label: dotted name for a person: ``position.x``; empty for the root.
        is_property: whether it is a named property, which needs a description.
        is_mixin: whether it is a branch of a combinator, which adds to another schema.
    """

    at: str
    schema: JsonObject
    label: str
    is_property: bool
    is_mixin: bool


def walk(schema: JsonObject, at: str) -> tuple[SchemaNode, ...]:
    """Every schema object below and including ``schema``, in the order written."""
    found: list[SchemaNode] = []
    _visit(SchemaNode(at, schema, "", False, False), found, 0)
    return tuple(found)


def _visit(node: SchemaNode, found: list[SchemaNode], depth: int) -> None:
    if depth > _MAX_DEPTH or len(found) >= _MAX_NODES:
        return
    found.append(node)
    schema, at, label = node.schema, node.at, node.label
    for key, value in schema.items():
        if key == "properties" and is_object(value):
            for name, child in value.items():
                if is_object(child):
                    inner = f"{label}.{name}" if label else name
                    place = f"{at}/properties/{escaped(name)}"
                    _visit(SchemaNode(place, child, inner, True, False), found, depth + 1)
        elif key in _SINGLE and is_object(value):
            inner = f"{label}[]" if key == "items" else label
            mixin = key in ("not", "if", "then", "else", "contains")
            _visit(SchemaNode(f"{at}/{key}", value, inner, False, mixin), found, depth + 1)
        elif key in _BRANCHES and isinstance(value, list):
            for index, child in enumerate(value):
                if is_object(child):
                    place = f"{at}/{key}/{index}"
                    _visit(SchemaNode(place, child, label, False, key == "allOf"), found, depth + 1)
        elif key in _MAPS and is_object(value):
            for name, child in value.items():
                if is_object(child):
                    place = f"{at}/{escaped(key)}/{escaped(name)}"
                    inner = name if key.startswith(("$", "def")) else label
                    mixin = key == "dependentSchemas"
                    _visit(SchemaNode(place, child, inner, False, mixin), found, depth + 1)


def resolve(schema: JsonObject, root: JsonObject) -> JsonObject:
    """What a local ``$ref`` of a schema leads to; the schema itself where it has none."""
    for _ in range(_MAX_DEPTH):
        ref = schema.get("$ref")
        if not isinstance(ref, str) or not ref.startswith("#"):
            return schema
        target: JsonValue = root
        for part in ref[1:].split("/")[1:]:
            if not is_object(target):
                return schema
            target = target.get(part.replace("~1", "/").replace("~0", "~"))
        if not is_object(target):
            return schema
        schema = target
    return schema


def described(schema: JsonObject, root: JsonObject) -> str:
    """The description of a schema, its own or that of what it refers to."""
    for candidate in (schema, resolve(schema, root)):
        text = candidate.get("description")
        if isinstance(text, str) and text.strip():
            return text
    return ""


def types_of(schema: JsonObject) -> tuple[str, ...]:
    """The JSON types that a schema names; empty where it names none."""
    value = schema.get("type")
    if isinstance(value, str):
        return (value,)
    return tuple(t for t in value if isinstance(t, str)) if isinstance(value, list) else ()
