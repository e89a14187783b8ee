"""Small questions and rewritings of one schema of an offer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.catalog.reading import is_object

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeGuard

    from remit.values.json import JsonObject, JsonValue

PLAIN = frozenset(
    {
        "type",
        "title",
        "description",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
    }
)


# The keywords of a scalar that hold no schema and no list of values.
_SCALAR_KEYWORDS = frozenset(
    {
        "type",
        "title",
        "description",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "pattern",
    }
)
_LISTED_KEYWORDS = _SCALAR_KEYWORDS | {"enum"}
SIMPLE = PLAIN | _SCALAR_KEYWORDS | {"format", "minLength", "maxLength", "default"}
_SCALARS = ("string", "number", "integer", "boolean")


def is_scalar(schema: JsonValue) -> TypeGuard[JsonObject]:
    """Whether a schema is one scalar type, with bounds or a list of texts: most need no more."""
    if not is_object(schema) or schema.get("type") not in _SCALARS:
        return False
    if _SCALAR_KEYWORDS.issuperset(schema):
        return True
    values = schema.get("enum")
    return (
        isinstance(values, list)
        and len(values) > 0
        and _LISTED_KEYWORDS.issuperset(schema)
        and all(isinstance(value, str) for value in values)
    )


def kinds_of(schema: JsonValue) -> tuple[str, ...]:
    """The types that a schema names; () where it names none."""
    kinds = schema.get("type") if is_object(schema) else None
    if isinstance(kinds, str):
        return (kinds,)
    return tuple(map(str, kinds)) if isinstance(kinds, list) else ()


def is_plain(value: JsonValue, *, numbers_and_texts: bool) -> bool:
    """Whether a value may stand in a list of values: no object or array, perhaps no more either."""
    if numbers_and_texts:
        return isinstance(value, str | int | float) and not isinstance(value, bool)
    return not isinstance(value, dict | list)


def is_plain_schema(schema: JsonValue, keywords: frozenset[str] = PLAIN) -> bool:
    """Whether a schema holds these keywords alone, each in its usual form.

    With ``PLAIN`` every provider takes it as it is, with ``SIMPLE`` each that takes any keyword.
    """
    if not is_object(schema) or not keywords.issuperset(schema):
        return False
    if schema.get("type") == "array" and "items" not in schema:
        return False
    if _SCALAR_KEYWORDS.issuperset(schema):
        return True
    declared = schema.get("properties", {})
    required = schema.get("required", [])
    values = schema.get("enum", [])
    return (
        is_object(declared)
        and isinstance(required, list)
        and isinstance(values, list)
        and all(name in declared for name in required)
        and all(isinstance(value, str) for value in values)
        and all(is_plain_schema(each, keywords) for each in declared.values())
        and ("items" not in schema or is_plain_schema(schema["items"], keywords))
        and isinstance(schema.get("additionalProperties", False), bool)
    )


def types_of_values(values: Iterable[JsonValue]) -> list[JsonValue]:
    """The types of some values, in the order of their first one."""
    found: list[JsonValue] = []
    for value in values:
        kind = _type_of(value)
        if kind not in found:
            found.append(kind)
    return found


def _type_of(value: JsonValue) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "integer" if isinstance(value, int) else "number"
    return {str: "string", list: "array", dict: "object"}[type(value)]


def nullable(schema: JsonObject) -> JsonObject:
    """A schema that takes null too; its title and description stay outermost."""
    kinds = list(kinds_of(schema))
    structural = {"anyOf", "$ref", "const", "properties", "items", "allOf"}
    if kinds and structural.isdisjoint(schema):
        result: JsonObject = {**schema, "type": [*kinds, "null"]}
        values = schema.get("enum")
        if isinstance(values, list):
            result["enum"] = [*values, None]
        return result
    branches = schema.get("anyOf")
    if isinstance(branches, list) and not kinds:
        return {**schema, "anyOf": [*branches, {"type": "null"}]}
    words = {key: schema[key] for key in ("title", "description") if key in schema}
    inner = {key: value for key, value in schema.items() if key not in words}
    return {**words, "anyOf": [inner, {"type": "null"}]}


def as_enum(values: list[JsonValue], schema: JsonObject) -> JsonObject | None:
    """A list of values where only texts and numbers may stand in one; None where it cannot be.

    Null, true and false become types of their own: looser for one boolean, the same for both.
    """
    plain = [value for value in values if is_plain(value, numbers_and_texts=True)]
    others = [value for value in values if not is_plain(value, numbers_and_texts=True)]
    if not others:
        return {"enum": plain}
    if any(value is not None for value in others):
        return None
    if not plain:
        return {"type": "null"}
    kinds = [kind for kind in kinds_of(schema) if kind != "null"] or types_of_values(plain)
    branch: JsonObject = {"type": kinds[0] if len(kinds) == 1 else list(kinds), "enum": plain}
    return {"anyOf": [branch, {"type": "null"}]}
