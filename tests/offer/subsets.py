"""An independent reader of each provider's documented rules, for schemas about to be sent.

It knows nothing of the code under test: it walks a schema by keyword and lists what a provider
would refuse the request for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeAlias

# Decoded JSON, read by keyword.
Json: TypeAlias = Any

ONE = ("items", "additionalProperties", "contains", "not", "if", "then", "else", "propertyNames",
       "unevaluatedItems", "unevaluatedProperties", "contentSchema")  # fmt: skip
MANY = ("allOf", "anyOf", "oneOf", "prefixItems")
NAMED = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")


def words(text: str) -> set[str]:
    """The words of a text."""
    return set(text.split())


STRICT_OPENAI = words(
    "$ref $defs type title description properties required additionalProperties items anyOf enum"
    " const format pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems"
    " maxItems"
)
STRICT_ANTHROPIC = words(
    "$ref $defs type title description properties required additionalProperties items anyOf allOf"
    " enum const format minItems default"
)
GEMINI = words(
    "$ref $defs type format title description enum items prefixItems minItems maxItems minimum"
    " maximum anyOf properties additionalProperties required"
)
FORMATS = words("date-time time date duration email hostname ipv4 ipv6 uuid")


def nodes(schema: Json, path: str = "", depth: int = 1) -> Iterator[tuple[str, Json, int]]:
    """Every schema in a schema, with its path and its depth in properties and items."""
    yield path, schema, depth
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        if key in ONE:
            yield from nodes(value, f"{path}/{key}", depth + (key == "items"))
        elif key in MANY:
            for index, item in enumerate(value):
                yield from nodes(item, f"{path}/{key}/{index}", depth)
        elif key in NAMED:
            for name, item in value.items():
                yield from nodes(item, f"{path}/{key}/{name}", depth + (key == "properties"))


def refusals(schema: Json, provider: str, *, strict: bool) -> list[str]:
    """What a provider refuses in the parameters of one function."""
    found = [*_of_any_provider(schema)]
    if provider in ("anthropic", "mcp"):
        found += _bad_names(schema, r"[a-zA-Z0-9_.-]{1,64}")
    if provider == "gemini":
        found += _bad_names(schema, r"[A-Za-z_][A-Za-z0-9_]{0,63}")
        found += _of_gemini(schema)
    if provider == "openai":
        for path, node, _ in nodes(schema):
            if (
                isinstance(node, dict)
                and "array" in _types(node)
                and not isinstance(node.get("items"), dict)
            ):
                found.append(f"{path}: array without items")
    if strict:
        found += _of_strict(schema, provider)
    return found


def _of_any_provider(schema: Json) -> Iterator[str]:
    if schema.get("type") != "object" or not isinstance(schema.get("properties"), dict):
        yield "the root is no object with properties"
    for key in ("anyOf", "oneOf", "allOf", "not", "enum", "const", "$ref", "$schema", "$id"):
        if key in schema:
            yield f"the root has {key}"
    definitions = schema.get("$defs", {})
    used = set()
    for path, node, _ in nodes(schema):
        if isinstance(node, dict) and "$ref" in node:
            reference = node["$ref"]
            used.add(reference)
            if reference != "#" and reference.removeprefix("#/$defs/") not in definitions:
                yield f"{path}: dangling {reference}"
        if path and isinstance(node, dict) and ("$defs" in node or "definitions" in node):
            yield f"{path}: definitions below the root"
    for name in definitions:
        if f"#/$defs/{name}" not in used:
            yield f"unused definition {name}"


def _bad_names(schema: Json, pattern: str) -> list[str]:
    return [f"name {n!r}" for n in schema.get("properties", {}) if not re.fullmatch(pattern, n)]


def _types(node: Json) -> list[str]:
    kinds = node.get("type", [])
    return [kinds] if isinstance(kinds, str) else kinds


def _of_gemini(schema: Json) -> Iterator[str]:
    for path, node, _ in nodes(schema):
        if not isinstance(node, dict):
            if not path.endswith("additionalProperties"):
                yield f"{path}: a boolean"
            continue
        for key in set(node) - GEMINI:
            yield f"{path}: {key}"
        if "$ref" in node and set(node) != {"$ref"}:
            yield f"{path}: $ref is not alone"
        if any(
            not isinstance(v, str | int | float) or isinstance(v, bool)
            for v in node.get("enum", [])
        ):
            yield f"{path}: enum of other than texts and numbers"
        if set(node.get("required", [])) - set(node.get("properties", {})):
            yield f"{path}: undeclared required"


def _of_strict(schema: Json, provider: str) -> Iterator[str]:
    allowed = STRICT_OPENAI if provider == "openai" else STRICT_ANTHROPIC
    formats = FORMATS | ({"uri"} if provider == "anthropic" else set())
    for path, node, depth in nodes(schema):
        if not isinstance(node, dict):
            if not path.endswith("additionalProperties"):
                yield f"{path}: a boolean"
            continue
        wrong = {
            f"keywords {sorted(set(node) - allowed)}": bool(set(node) - allowed),
            f"{depth} levels": depth > 10,
            "format": node.get("format") not in {None, *formats},
            "$ref not alone": provider == "openai" and "$ref" in node and len(node) > 1,
            "untyped": not {"type", "anyOf", "allOf", "$ref"} & set(node),
            "untyped items": "array" in _types(node) and not isinstance(node.get("items"), dict),
            "minItems": provider == "anthropic" and node.get("minItems", 0) not in (0, 1),
        }
        if "object" in _types(node) or "properties" in node:
            every = list(node.get("properties", {}))
            wrong["open"] = node.get("additionalProperties") is not False
            wrong["not all required"] = provider == "openai" and node.get("required") != every
        yield from (f"{path}: {what}" for what, is_wrong in wrong.items() if is_wrong)
