"""A tool's parameters without those that the session has pinned (contract sections 2 and 5).

Only what the model would read is taken away; Remit validates the whole arguments, pins merged
in, against the author's own schema. So wherever a combinator speaks of a pinned parameter in a way
that cannot be said without it, the combinator goes too: the model is shown less, never something
false. The pinned *values* are not used: nothing of them may show, not even which branch they chose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from remit.catalog.reading import is_object
from remit.catalog.subschemas import IN_PLACE, Targets, children

if TYPE_CHECKING:
    from collections.abc import Collection

    from remit.values.json import JsonObject, JsonValue

_ANNOTATIONS = frozenset(
    {"title", "description", "$comment", "type", "deprecated", "examples", "default"}
)


def without_pins(schema: JsonObject, pins: Collection[str]) -> JsonObject:
    """The parameters as the model may see them: none of the pinned ones, at the top level.

    A parameter of the same name inside a nested object is another one and stays. The very
    ``schema`` comes back where it speaks of no pinned parameter.

    Args:
        schema: a tool's parameters, with ``properties`` at the root.
        pins: names of pinned arguments, declared or not.
    """
    pinning = _Pinning(schema, frozenset(pins))
    return pinning.stripped(schema) if pinning.mentions(schema) else schema


@final
class _Pinning:
    """One removal; ``at`` is always a schema of the arguments object as a whole."""

    __slots__ = ("_count", "_open", "_pins", "_targets")

    def __init__(self, root: JsonObject, pins: frozenset[str]) -> None:
        self._targets = Targets(root)
        self._pins = pins
        declared = root.get("properties")
        # The pins that are part of the arguments; an undeclared one is set aside (section 5).
        self._count = len(pins & set(declared)) if is_object(declared) else 0
        self._open: set[int] = set()

    def mentions(self, at: JsonValue) -> bool:
        """Whether a schema of the arguments speaks of a pinned parameter by name."""
        if not is_object(at) or id(at) in self._open or not self._pins:
            return False
        self._open.add(id(at))
        try:
            return (
                self._names(at)
                or any(
                    self.mentions(child)
                    for keyword, _, child in children(at)
                    if keyword in IN_PLACE
                )
                or self.mentions(self._target(at))
            )
        finally:
            self._open.discard(id(at))

    def _names(self, at: JsonObject) -> bool:
        if self._count and ("minProperties" in at or "maxProperties" in at):
            return True
        for keyword in ("properties", "required", "dependentRequired", "dependentSchemas"):
            named = at.get(keyword)
            if isinstance(named, dict | list) and not self._pins.isdisjoint(map(str, named)):
                return True
        dependent = at.get("dependentRequired")
        lists = list(dependent.values()) if is_object(dependent) else []
        lists.append(at.get("examples"))
        for values in (*lists, [at.get("default")], at.get("enum"), [at.get("const")]):
            for value in values if isinstance(values, list) else ():
                named = value if is_object(value) else {str(value)}
                if not self._pins.isdisjoint(named):
                    return True
        return False

    def _target(self, at: JsonObject) -> JsonValue:
        for keyword in ("$ref", "$dynamicRef"):
            found = self._targets.find(at.get(keyword))
            if found is not None:
                return found[1]
        return None

    def stripped(self, at: JsonObject) -> JsonObject:
        """A schema of the arguments, without its words on pinned parameters."""
        result: JsonObject = {}
        for keyword, value in at.items():
            kept = self._kept(keyword, value)
            if kept is not None or value is None or keyword == "oneOf":
                result[keyword] = kept
        self._loosen_one_of(at, result)
        self._drop_condition(at, result)
        self._count_properties(result)
        self._inline(at, result)
        return self._with_dependents(at, result)

    def _kept(self, keyword: str, value: JsonValue) -> JsonValue:
        """The value of one keyword; None where the keyword goes."""
        if keyword in ("anyOf", "oneOf", "allOf") and isinstance(value, list):
            return self._branches(keyword, value)
        if keyword in ("enum", "const") or (keyword == "not" and self.mentions(value)):
            return None
        if keyword in ("then", "else"):
            return self.stripped(value) if is_object(value) and self.mentions(value) else value
        if keyword in ("properties", "default") and is_object(value):
            return self._without(value)
        if keyword == "dependentSchemas" and is_object(value):
            return {
                name: self.stripped(schema)
                if is_object(schema) and self.mentions(schema)
                else schema
                for name, schema in self._without(value).items()
            }
        if keyword == "dependentRequired" and is_object(value):
            return {name: self._unnamed(names) for name, names in self._without(value).items()}
        if keyword == "required":
            return self._unnamed(value)
        if keyword == "examples" and isinstance(value, list):
            return [self._without(item) if is_object(item) else item for item in value]
        return value

    def _branches(self, keyword: str, branches: list[JsonValue]) -> JsonValue:
        if not any(self.mentions(branch) for branch in branches):
            return list(branches)
        kept: list[JsonValue] = [
            self.stripped(branch) if is_object(branch) and self.mentions(branch) else branch
            for branch in branches
        ]
        telling = [branch for branch in kept if not _says_nothing(branch)]
        if keyword == "allOf":
            return telling or None
        # A branch that the pin alone fulfils leaves nothing for the model to choose.
        return kept if len(telling) == len(kept) else None

    def _loosen_one_of(self, at: JsonObject, result: JsonObject) -> None:
        """Branches told apart by the pin alone are alike without it: no longer exactly one fits."""
        branches = at.get("oneOf")
        if not isinstance(branches, list) or not any(map(self.mentions, branches)):
            return
        del result["oneOf"]
        loose = self._branches("anyOf", branches)
        if loose is not None and "anyOf" not in at:
            result["anyOf"] = loose

    def _without(self, value: JsonObject) -> JsonObject:
        return {name: item for name, item in value.items() if name not in self._pins}

    def _unnamed(self, names: JsonValue) -> JsonValue:
        if not isinstance(names, list):
            return names
        return [name for name in names if name not in self._pins]

    def _drop_condition(self, at: JsonObject, result: JsonObject) -> None:
        if self.mentions(at.get("if")):
            for keyword in ("if", "then", "else"):
                result.pop(keyword, None)

    def _count_properties(self, result: JsonObject) -> None:
        """Pinned parameters count towards a number of properties, and are not the model's."""
        for keyword in ("minProperties", "maxProperties"):
            number = result.get(keyword)
            if isinstance(number, int | float):
                result[keyword] = max(0, int(number) - self._count)

    def _with_dependents(self, at: JsonObject, result: JsonObject) -> JsonObject:
        """What a pinned parameter makes necessary is necessary: the pin is always there."""
        dependent = at.get("dependentRequired")
        if not is_object(dependent):
            return result
        required = result.get("required")
        needed = list(required) if isinstance(required, list) else []
        for name in dependent:
            names = self._unnamed(dependent[name])
            if name in self._pins and isinstance(names, list):
                needed += [each for each in names if each not in needed]
        return {**result, "required": needed} if needed else result

    def _inline(self, at: JsonObject, result: JsonObject) -> None:
        """A reference whose target names a pin is replaced by a copy that does not."""
        target = self._target(at)
        if not is_object(target) or not self.mentions(target):
            return
        result.pop("$ref", None)
        result.pop("$dynamicRef", None)
        if id(target) in self._open:
            return
        self._open.add(id(target))
        copy = self.stripped(target)
        self._open.discard(id(target))
        every = result.get("allOf")
        result["allOf"] = [*(every if isinstance(every, list) else ()), copy]


def _says_nothing(schema: JsonValue) -> bool:
    """Whether any arguments object fulfils a schema, once its pinned words are gone."""
    if not is_object(schema):
        return schema is True
    return not any(
        value not in ({}, [], "object")
        for keyword, value in schema.items()
        if keyword not in _ANNOTATIONS or keyword == "type"
    )
