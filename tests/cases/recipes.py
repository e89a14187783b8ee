"""Recipes for large inputs: ``$repeat``, ``$generate``, ``$nest``, ``$defs_doubling``."""

from __future__ import annotations

from tests.cases.verdicts import Json, UnknownShapeError

_NESTS: dict[str, str] = {"properties": "object", "items": "array", "array": "array"}
_WRAPS = ("allOf", "anyOf", "oneOf")


def expand(value: Json) -> Json:
    """The value with every recipe in it carried out.

    Raises:
        UnknownShapeError: a recipe that is none of the known ones.
    """
    if isinstance(value, list):
        return [expand(item) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"$repeat"}:
        text, count = value["$repeat"]
        return text * count
    for key in value:
        if key in _RECIPES:
            return _RECIPES[key](value)
        if key.startswith("$repeat") or key in ("$times", "$fill"):
            raise UnknownShapeError(f"recipe {key}")
    return {key: expand(item) for key, item in value.items()}


def _rest(value: dict[str, Json], *keys: str) -> dict[str, Json]:
    return {key: expand(item) for key, item in value.items() if key not in keys}


def _generate(value: dict[str, Json]) -> Json:
    """``count`` of a thing: properties, an enum, required names, definitions, branches."""
    what, count = value["$generate"], int(value.get("count", 0))
    rest = _rest(value, "$generate", "count")
    names = [f"p{index}" for index in range(count)]
    made: Json
    if what in ("properties", "$defs", "definitions", "patternProperties"):
        made = {name: {"type": "string"} for name in names}
    elif what in ("enum", "required"):
        made = names
    elif what in _WRAPS:
        made = [{"properties": {name: {"type": "string"}}} for name in names]
    else:
        raise UnknownShapeError(f"recipe $generate of {what!r}")
    rest.setdefault("type", "object")
    if what in ("properties", "$defs", "definitions", "patternProperties", "required", *_WRAPS):
        rest[what] = made
        rest.setdefault("properties", {})
        return rest
    rest["properties"] = {"a": {"enum": made}}
    return rest


def _nest(value: dict[str, Json]) -> Json:
    """A schema (or value) so many levels deep."""
    recipe = value["$nest"]
    rest = _rest(value, "$nest", "depth", "count", "levels", "with", "key", "leaf")
    how, depth, leaf = _nesting(recipe, value)
    node: Json = expand(leaf)
    for _ in range(depth):
        if how in _WRAPS:
            node = {how: [node]}
        elif how in ("not", "if", "then", "additionalProperties", "contains", "propertyNames"):
            node = {how: node}
        elif how in _NESTS and how != "properties":
            node = {"type": "array", "items": node}
        elif how in ("[", "list"):
            node = [node]
        else:
            name = "a" if how in ("properties", "object", "{") else how
            node = {"type": "object", "properties": {name: node}}
    if isinstance(node, dict):
        node = {**node, **rest}
        if "type" not in node and "properties" not in node:
            return {"type": "object", "properties": {"a": node}}
        if node.get("type") == "array":
            return {"type": "object", "properties": {"a": node}}
    return node


def _nesting(recipe: Json, value: dict[str, Json]) -> tuple[str, int, Json]:
    """What is nested, how deep, round what; said in the recipe or beside it, in any order."""
    if isinstance(recipe, dict):
        value, recipe = {**value, **recipe}, None
    told = [value[k] for k in ("depth", "count", "levels", "times") if k in value]
    told += [value[k] for k in ("with", "key", "keyword", "in", "kind") if k in value]
    told += recipe if isinstance(recipe, list) else [recipe]
    depths = [t for t in told if isinstance(t, int) and not isinstance(t, bool)]
    words = [t for t in told if isinstance(t, str)]
    leaves = [t for t in told if isinstance(t, dict)]
    if not depths:
        raise UnknownShapeError(f"recipe $nest without a depth: {recipe!r}")
    leaf = value.get("leaf", leaves[-1] if leaves else {"type": "string"})
    return words[-1] if words else "properties", depths[-1], leaf


def _doubling(value: dict[str, Json]) -> Json:
    """``$defs`` of which each uses the next one twice: 2**n uses when they are written out."""
    recipe = value["$defs_doubling"]
    levels = recipe if isinstance(recipe, int) else None
    if isinstance(recipe, dict):
        levels = next((n for n in recipe.values() if isinstance(n, int)), None)
    if levels is None:
        raise UnknownShapeError(f"recipe $defs_doubling: {recipe!r}")
    defs: dict[str, Json] = {f"d{levels}": {"type": "string"}}
    for level in range(levels):
        use = {"$ref": f"#/$defs/d{level + 1}"}
        defs[f"d{level}"] = {"type": "object", "properties": {"l": use, "r": use}}
    rest = _rest(value, "$defs_doubling", "count", "levels")
    made = {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}}
    return {**made, **rest, "$defs": defs}


_RECIPES = {"$generate": _generate, "$nest": _nest, "$defs_doubling": _doubling}
