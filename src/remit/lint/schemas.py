"""Walking a tool's parameters: every schema inside them, named as a person would name it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from remit.catalog.reading import is_object
from remit.documents.problems import escaped
from remit.lint.words import word_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.values.json import JsonObject, JsonValue

# More than any schema that loads has: 256 KiB and 5,000 properties are allowed.
_MAX_NODES = 20_000
_MAX_DEPTH = 64
# A schema of nothing but these is taken by every provider as it is written, and is held where it
# is closed: most tools need no closer look, which costs more than all other rules together.
_PLAIN_KEYS = word_set(
    "type title description properties required additionalProperties items enum minimum maximum"
)
_PLAIN_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array"})
_PLAIN_DEPTH = 8
_BRANCHES = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLE = ("items", "additionalProperties", "not", "if", "then", "else", "contains")
_MAPS = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
_HOLDERS = frozenset((*_BRANCHES, *_SINGLE, *_MAPS))
# These add to the schema that they stand in, or choose from it; they need not be complete.
_MIXINS = frozenset(("allOf", "not", "if", "then", "else", "contains", "dependentSchemas"))


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
    """Every schema object below and including ``schema``, in the order written.

    Of a schema far too large to load, the root alone: its size is the finding.
    """
    found: list[SchemaNode] = []
    root = SchemaNode(at, schema, label="", is_property=False, is_mixin=False)
    _visit(root, found, 0)
    return tuple(found[:1] if len(found) >= _MAX_NODES else found)


def _visit(node: SchemaNode, found: list[SchemaNode], depth: int) -> None:
    if depth > _MAX_DEPTH or len(found) >= _MAX_NODES:
        return
    found.append(node)
    for key, value in node.schema.items():
        if key in _HOLDERS and isinstance(value, dict | list):
            for child in _children(node, key, value):
                _visit(child, found, depth + 1)


def _children(
    node: SchemaNode, key: str, value: JsonObject | list[JsonValue]
) -> Iterator[SchemaNode]:
    """The schemas below one keyword of a schema."""
    place, mixin = f"{node.at}/{escaped(key)}", key in _MIXINS
    if key in _SINGLE:
        label = f"{node.label}[]" if key == "items" else node.label
        if is_object(value):
            yield SchemaNode(place, value, label, is_property=False, is_mixin=mixin)
        return
    entries = value.items() if is_object(value) else enumerate(value)
    if is_object(value) is (key in _BRANCHES):
        return
    for name, child in entries:
        if is_object(child):
            yield SchemaNode(
                f"{place}/{escaped(name)}",
                child,
                label=_label(node.label, key, str(name)),
                is_property=key == "properties",
                is_mixin=mixin,
            )


def _label(label: str, key: str, name: str) -> str:
    if key == "properties":
        return f"{label}.{name}" if label else name
    return name if key in ("$defs", "definitions") else label


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


def is_plain(node: SchemaNode) -> bool:
    """Whether every provider takes a schema as written, and holds it where it is closed."""
    schema = node.schema
    if not schema.keys() <= _PLAIN_KEYS or schema.get("additionalProperties", False) is not False:
        return False
    kind, members, items = schema.get("type"), schema.get("enum"), schema.get("items")
    if (
        not isinstance(kind, str)
        or kind not in _PLAIN_TYPES
        or node.at.count("/") > 2 * _PLAIN_DEPTH
    ):
        return False
    if (kind == "array") != is_object(items) or (kind == "object") != is_object(
        schema.get("properties")
    ):
        return False
    if members is not None and not (
        kind == "string" and isinstance(members, list) and all(isinstance(m, str) for m in members)
    ):
        return False
    properties = schema.get("properties")
    required = schema.get("required", [])
    if is_object(properties):
        return (
            all(is_object(child) for child in properties.values())
            and isinstance(required, list)
            and all(name in properties for name in required)
        )
    return not required
