"""Takes back the nulls that a provider's strict mode forces on a model (contract section 2).

A strict schema requires every property, so an optional one is offered as "or null" and a null in
its place means "not given". On the way in such a null is dropped again: where the schema, as its
author wrote it, neither requires the property nor admits null for it. A null that the author
admits is data and stays.

Where a union leaves open which branch a value was meant for, the branch that fits best is taken,
of equals the one that drops least, of those the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, cast, final

from remit.catalog.reading import is_object
from remit.catalog.subschemas import Targets
from remit.documents.problems import pointer

if TYPE_CHECKING:
    from remit.values.json import JsonObject, JsonValue

Path: TypeAlias = "tuple[str | int, ...]"
# A value without its nulls, where they stood in it, and how many plain faults are left.
_Outcome: TypeAlias = "tuple[JsonValue, tuple[Path, ...], int]"

_MAX_REFERENCES = 200


def drop_optional_nulls(schema: JsonObject, args: JsonObject) -> tuple[JsonObject, tuple[str, ...]]:
    """Drop every null that stands for an optional, non-nullable property, at any depth.

    Args:
        schema: as the author wrote it, checked when the catalog loaded.
        args: decoded arguments; they are not changed.

    Returns:
        The arguments without those nulls, and the JSON Pointer of each, in order. The very
        ``args`` where there is none.
    """
    if not _holds_null(args):
        return args, ()
    found, dropped, _ = _Undoing(schema).settle((schema,), args)
    if not dropped:
        return args, ()
    return cast("JsonObject", found), tuple(pointer(*path) for path in dropped)


def admits_null(schema: JsonValue, root: JsonObject) -> bool:
    """Whether null is valid under a schema of the document ``root``.

    Exact, but for references that lead nowhere or only in a circle: they count as admitting.
    """
    return _Nullness(Targets(root)).admits(schema)


def _holds_null(value: JsonValue) -> bool:
    if isinstance(value, dict):
        return any(_holds_null(item) for item in value.values())
    if isinstance(value, list):
        return any(_holds_null(item) for item in value)
    return value is None


@final
class _Nullness:
    """Judges null alone: keywords about objects, arrays, texts and numbers do not apply to it."""

    __slots__ = ("_known", "_targets")

    def __init__(self, targets: Targets) -> None:
        self._targets = targets
        self._known: dict[str, bool] = {}

    def admits(self, schema: JsonValue) -> bool:
        if not is_object(schema):
            return schema is not False
        return self._by_value(schema) and self._by_reference(schema) and self._in_place(schema)

    def _by_value(self, schema: JsonObject) -> bool:
        kinds = schema.get("type")
        if isinstance(kinds, str):
            kinds = [kinds]
        if isinstance(kinds, list) and "null" not in kinds:
            return False
        values = schema.get("enum")
        if isinstance(values, list) and None not in values:
            return False
        return "const" not in schema or schema["const"] is None

    def _by_reference(self, schema: JsonObject) -> bool:
        for keyword in ("$ref", "$dynamicRef"):
            target = self._targets.find(schema.get(keyword))
            if target is None:
                continue
            place, found = target
            if place not in self._known:
                # While it is being judged, a circle back to it says nothing.
                self._known[place] = True
                self._known[place] = self.admits(found)
            if not self._known[place]:
                return False
        return True

    def _in_place(self, schema: JsonObject) -> bool:
        for keyword, least in (("allOf", None), ("anyOf", 1), ("oneOf", 1)):
            branches = schema.get(keyword)
            if not isinstance(branches, list):
                continue
            fitting = sum(self.admits(branch) for branch in branches)
            exact = keyword == "oneOf" or least is None
            wanted = len(branches) if least is None else least
            if fitting < wanted or (exact and fitting != wanted):
                return False
        if "not" in schema and self.admits(schema["not"]):
            return False
        if "if" in schema:
            return self.admits(schema.get("then" if self.admits(schema["if"]) else "else", True))
        return True


@final
class _Undoing:
    """One walk over arguments and the schemas that speak of each of their values.

    Each value is settled once for each set of schemas, so that unions in unions cost the product
    of the two sizes and not a power.
    """

    __slots__ = ("_nullness", "_settled", "_targets")

    def __init__(self, root: JsonObject) -> None:
        self._targets = Targets(root)
        self._nullness = _Nullness(self._targets)
        self._settled: dict[tuple[int, ...], _Outcome] = {}

    def settle(self, schemas: tuple[JsonObject, ...], value: JsonValue) -> _Outcome:
        """Settle one value that all of ``schemas`` speak of."""
        key = (id(value), *map(id, schemas))
        if key not in self._settled:
            # What a circle of references back to here finds.
            self._settled[key] = (value, (), 0)
            conjuncts = self._conjuncts(schemas, value)
            faults = sum(not _fits(schema, value) for schema in conjuncts)
            found, dropped, more = self._inside(conjuncts, value)
            self._settled[key] = (found, dropped, faults + more)
        return self._settled[key]

    def _inside(self, schemas: tuple[JsonObject, ...], value: JsonValue) -> _Outcome:
        if isinstance(value, dict):
            return self._object(schemas, value)
        if isinstance(value, list):
            return self._array(schemas, value)
        return value, (), 0

    def _conjuncts(
        self, schemas: tuple[JsonObject, ...], value: JsonValue
    ) -> tuple[JsonObject, ...]:
        """All schemas that speak of the value: references followed, one branch of each union."""
        found: dict[int, JsonObject] = {}
        waiting = list(reversed(schemas))
        while waiting and len(found) < _MAX_REFERENCES:
            schema = waiting.pop()
            if id(schema) in found:
                continue
            found[id(schema)] = schema
            target = self._targets.find(schema.get("$ref"))
            if target is not None and is_object(target[1]):
                waiting.append(target[1])
            every = schema.get("allOf")
            if isinstance(every, list):
                waiting += [branch for branch in every if is_object(branch)]
            for keyword in ("anyOf", "oneOf"):
                best = self._best(schema.get(keyword), value)
                if best is not None:
                    waiting.append(best)
        return tuple(found.values())

    def _best(self, branches: JsonValue, value: JsonValue) -> JsonObject | None:
        if not isinstance(branches, list):
            return None
        best: tuple[tuple[int, int], JsonObject] | None = None
        for branch in branches:
            if is_object(branch):
                _, dropped, faults = self.settle((branch,), value)
                if best is None or (faults, len(dropped)) < best[0]:
                    best = ((faults, len(dropped)), branch)
        return best[1] if best else None

    def _object(self, schemas: tuple[JsonObject, ...], value: JsonObject) -> _Outcome:
        kept: JsonObject = {}
        dropped: list[Path] = []
        faults = 0
        for name, item in value.items():
            said = [found for schema in schemas if (found := _property(schema, name)) is not None]
            rejecting = item is None and not all(self._nullness.admits(each) for each in said)
            required = any(_requires(schema, name) for schema in schemas)
            if rejecting and not required:
                dropped.append((name,))
                continue
            inner, paths, more = self.settle(tuple(filter(is_object, said)), item)
            kept[name] = inner
            dropped += [(name, *path) for path in paths]
            faults += max(more, int(rejecting))
        return kept, tuple(dropped), faults

    def _array(self, schemas: tuple[JsonObject, ...], value: list[JsonValue]) -> _Outcome:
        kept: list[JsonValue] = []
        dropped: list[Path] = []
        faults = 0
        for index, item in enumerate(value):
            said = tuple(
                found for schema in schemas if is_object(found := _item_schema(schema, index))
            )
            inner, paths, more = self.settle(said, item)
            kept.append(inner)
            dropped += [(index, *path) for path in paths]
            faults += more
        return kept, tuple(dropped), faults


def _property(schema: JsonObject, name: str) -> JsonValue:
    """The schema that declares a property; None where none does (null is no schema)."""
    declared = schema.get("properties")
    return declared.get(name) if is_object(declared) else None


def _requires(schema: JsonObject, name: str) -> bool:
    required = schema.get("required")
    return isinstance(required, list) and name in required


def _item_schema(schema: JsonObject, index: int) -> JsonValue:
    first = schema.get("prefixItems")
    if isinstance(first, list):
        return first[index] if index < len(first) else schema.get("items")
    return schema.get("items")


def _fits(schema: JsonObject, value: JsonValue) -> bool:
    """Whether a value fits as far as type, values, and names tell."""
    kinds = schema.get("type")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if isinstance(kinds, list) and not any(_is(kind, value) for kind in kinds):
        return False
    if "const" in schema and not _same(schema["const"], value):
        return False
    values = schema.get("enum")
    if isinstance(values, list) and not any(_same(each, value) for each in values):
        return False
    return not isinstance(value, dict) or _fits_names(schema, value)


def _fits_names(schema: JsonObject, value: JsonObject) -> bool:
    required = schema.get("required")
    if isinstance(required, list) and any(name not in value for name in required):
        return False
    closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
    declared = schema.get("properties")
    declared = declared if is_object(declared) else {}
    return not closed or all(name in declared for name in value)


def _is(kind: JsonValue, value: JsonValue) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if isinstance(value, int):
        return kind in ("integer", "number")
    if isinstance(value, float):
        return kind == "number" or (kind == "integer" and value.is_integer())
    names = {dict: "object", list: "array", str: "string"}
    return kind == ("null" if value is None else names.get(type(value)))


def _same(one: JsonValue, other: JsonValue) -> bool:
    """JSON equality of plain values: true is not 1."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)
