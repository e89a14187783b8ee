"""Whether a model can be held to a tool's schema, and if not, the first reason (section 2).

Eligible is a property of a tool: every object in its schema lists its properties and allows no
others, every value has a type, and a provider's strict mode can say all of it. *Held* is a fact of
one call. Bounds on a text's length and the like do not decide: where a provider cannot say them,
the description does, and Remit enforces them all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, final

from remit.catalog.reading import is_object
from remit.catalog.subschemas import children
from remit.documents.problems import pointer, quoted
from remit.offer.dialects import (
    MAX_DEPTH,
    OPENAI_LONG_ENUM,
    OPENAI_MAX_CHARACTERS,
    OPENAI_MAX_ENUM_VALUES,
    OPENAI_MAX_LONG_ENUM_CHARACTERS,
    OPENAI_MAX_PROPERTIES,
    PLAIN_NAME,
    STRICT,
    Dialect,
    Provider,
)
from remit.offer.nodes import is_plain, is_scalar, kinds_of, types_of_values

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from remit.offer.bundling import Bundle
    from remit.values.json import JsonObject, JsonValue

# No provider's strict mode holds a model to any of these.
_STRUCTURE = (
    "patternProperties",
    "prefixItems",
    "contains",
    "not",
    "if",
    "dependentSchemas",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_OF_OBJECTS = frozenset({"properties", "required", "additionalProperties"})
_ASIDE = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Eligibility:
    """Whether a provider's strict mode can hold a model to a schema.

    Attributes:
        reason: the first obstacle, for a person; None where there is none.
        pointer: where it stands in the author's parameters.
    """

    eligible: bool
    reason: str | None = None
    pointer: str | None = None


ELIGIBLE = Eligibility(eligible=True)


def judge(bundled: Bundle, provider: Provider) -> Eligibility:
    """Judge a bundled, pin-less schema by the portable core and the provider's own rules."""
    return _Judging(bundled, provider).verdict()


def judge_all(bundled: Bundle, providers: Collection[Provider]) -> dict[Provider, Eligibility]:
    """Judge a schema for several providers; once, where no rule of one provider's own is met."""
    found: dict[Provider, Eligibility] = {}
    common: Eligibility | None = None
    for provider in providers:
        if common is None:
            judging = _Judging(bundled, provider)
            found[provider] = judging.verdict()
            common = None if judging.is_own else found[provider]
        else:
            found[provider] = common
    return found


class _Place(NamedTuple):
    """Where a schema stands: in which part, on what path below it, how deep, in which references.

    Its pointer is made only where there is something to say.
    """

    part: str
    path: tuple[str | int, ...]
    depth: int
    open: tuple[str, ...]

    @property
    def at(self) -> str:
        return self.part + pointer(*self.path)

    def step(self, *path: str | int, deeper: bool = False) -> _Place:
        return _Place(self.part, self.path + path, self.depth + deeper, self.open)


@final
class _Judging:
    def __init__(self, bundled: Bundle, provider: Provider) -> None:
        self._bundle = bundled
        self._dialect: Dialect = STRICT[provider]
        self._all_of = "allOf" in (self._dialect.keywords or ())
        self._judged: set[tuple[str, int]] = set()
        self.is_own = False
        """Whether the verdict may be another for another provider."""

    def verdict(self) -> Eligibility:
        found = next(self.faults(), None)
        if found is None:
            return ELIGIBLE
        place, reason = found
        return Eligibility(eligible=False, reason=reason, pointer=place)

    def faults(self) -> Iterator[tuple[str, str]]:
        root = self._bundle.root
        for keyword in ("$ref", "allOf", "anyOf", "oneOf", "enum", "const"):
            if keyword in root:
                yield (
                    pointer(keyword),
                    f'the parameters as a whole use "{keyword}"; no provider takes it there',
                )
        yield from self._node(root, _Place("", (), 1, ()))

    def _node(self, schema: JsonValue, place: _Place) -> Iterator[tuple[str, str]]:
        if not is_object(schema):
            what = "any value" if schema is not False else "no value"
            yield (
                place.at,
                f"{_name(place.at)} takes {what}; a strict schema gives every value a type",
            )
            return
        if place.depth > MAX_DEPTH:
            yield place.at, f"the schema is more than {MAX_DEPTH} levels deep"
            return
        for keyword in _STRUCTURE:
            if keyword in schema and not (
                keyword.startswith("unevaluated") and schema[keyword] is False
            ):
                yield (
                    place.at + pointer(keyword),
                    f'{_name(place.at)} uses "{keyword}", which no strict mode takes',
                )
        if "$ref" in schema:
            yield from self._reference(schema, place)
        elif any(keyword in schema for keyword in ("anyOf", "oneOf", "allOf")):
            yield from self._union(schema, place)
        else:
            yield from self._typed(schema, place)

    def _reference(self, schema: JsonObject, place: _Place) -> Iterator[tuple[str, str]]:
        beside = [keyword for keyword in schema if keyword not in _ASIDE and keyword != "$ref"]
        if beside:
            yield (
                place.at + pointer(beside[0]),
                f'{_name(place.at)} has "{beside[0]}" beside a $ref, which must stand alone',
            )
            return
        name = str(schema["$ref"]).removeprefix("#/$defs/")
        if name == "#" or name in place.open:
            yield (
                place.at + "/$ref",
                f"{_name(place.at)} contains itself; not every provider holds a model to recursion",
            )
            return
        if (name, place.depth) not in self._judged:
            inner = _Place(self._bundle.places[name], (), place.depth, (*place.open, name))
            yield from self._node(self._bundle.definitions[name], inner)
            self._judged.add((name, place.depth))

    def _union(self, schema: JsonObject, place: _Place) -> Iterator[tuple[str, str]]:
        used = [keyword for keyword in ("anyOf", "oneOf", "allOf") if keyword in schema]
        beside = [keyword for keyword in schema if keyword not in _ASIDE and keyword != used[0]]
        if beside:
            yield (
                place.at + pointer(beside[0]),
                f'{_name(place.at)} has "{beside[0]}" beside "{used[0]}"; '
                "a strict schema says one or the other",
            )
            return
        branches = schema[used[0]]
        branches = branches if isinstance(branches, list) else []
        if used[0] == "allOf" and len(branches) > 1:
            self.is_own = True
            refers = any(is_object(branch) and "$ref" in branch for branch in branches)
            if not self._all_of or refers:
                yield (
                    place.at + "/allOf",
                    f'{_name(place.at)} combines schemas with "allOf", '
                    f"which {self._dialect.label} does not take"
                    + (" with a $ref" if self._all_of else ""),
                )
                return
        for index, branch in enumerate(branches):
            yield from self._node(branch, place.step(used[0], index))

    def _typed(self, schema: JsonObject, place: _Place) -> Iterator[tuple[str, str]]:
        kinds = list(kinds_of(schema))
        values = schema.get("enum", [schema["const"]] if "const" in schema else None)
        if isinstance(values, list):
            if not all(is_plain(value, numbers_and_texts=False) for value in values):
                yield place.at, f"{_name(place.at)} lists objects or arrays as its values"
            kinds = kinds or list(map(str, types_of_values(values)))
        if not kinds:
            yield place.at, f"{_name(place.at)} has no type; a strict schema gives every value one"
        # A provider reads these keywords whether or not the type lets them apply.
        if "object" in kinds or not _OF_OBJECTS.isdisjoint(schema):
            yield from self._object(schema, place)
        if "array" in kinds or "items" in schema:
            items = schema.get("items")
            if not is_object(items):
                yield place.at, f"{_name(place.at)} does not say what its items are"
            else:
                yield from self._node(items, place.step("items", deeper=True))

    def _object(self, schema: JsonObject, place: _Place) -> Iterator[tuple[str, str]]:
        declared = schema.get("properties")
        extra = schema.get("additionalProperties")
        if is_object(extra):
            yield (
                place.at + "/additionalProperties",
                f"{_name(place.at)} is a map with any keys; a strict schema lists every property",
            )
        elif not is_object(declared):
            yield place.at, f"{_name(place.at)} does not list its properties"
        if extra is not False:
            yield (
                place.at,
                f"{_name(place.at)} allows properties it does not list; "
                "write additionalProperties: false",
            )
        names = declared if is_object(declared) else {}
        required = schema.get("required")
        for name in required if isinstance(required, list) else ():
            if name not in names:
                yield (
                    place.at + "/required",
                    f"{_name(place.at)} requires {quoted(str(name))}, which it does not list",
                )
        for name, item in names.items():
            named = PLAIN_NAME.fullmatch(name) or self._own_name(name)
            if named and place.depth < MAX_DEPTH and is_scalar(item):
                continue
            inner = place.step("properties", name, deeper=True)
            if not named:
                yield inner.at, f"{self._dialect.label} does not take the name {quoted(name)}"
            yield from self._node(item, inner)

    def _own_name(self, name: str) -> bool:
        """Whether this provider takes a name that not all of them take."""
        self.is_own = True
        return self._dialect.names.fullmatch(name) is not None


def _name(at: str) -> str:
    """What stands at a pointer, for a person."""
    return quoted(at) if at else "the root of the parameters"


def openai_size(bundled: Bundle) -> str | None:
    """The reason why a strict schema is over OpenAI's bounds; None where it is within them."""
    properties = values = 0
    characters = sum(map(len, bundled.definitions))
    for node in _nodes(bundled):
        named = node.get("properties")
        if is_object(named):
            properties += len(named)
            characters += sum(map(len, named))
        listed = node.get("enum", [node["const"]] if "const" in node else [])
        if not isinstance(listed, list):
            continue
        length = sum(len(value) for value in listed if isinstance(value, str))
        values += len(listed) if "enum" in node else 0
        characters += length
        if len(listed) > OPENAI_LONG_ENUM and length > OPENAI_MAX_LONG_ENUM_CHARACTERS:
            return f"one list of {len(listed):,} values has {length:,} characters"
    for count, most, what in (
        (properties, OPENAI_MAX_PROPERTIES, "properties"),
        (characters, OPENAI_MAX_CHARACTERS, "characters of names and listed values"),
        (values, OPENAI_MAX_ENUM_VALUES, "listed values"),
    ):
        if count > most:
            return f"the schema has {count:,} {what}; OpenAI's strict mode takes {most:,}"
    return None


def _nodes(bundled: Bundle) -> Iterator[JsonObject]:
    waiting: list[JsonValue] = [bundled.root, *bundled.definitions.values()]
    while waiting:
        here = waiting.pop()
        if is_object(here):
            yield here
            waiting += [child for _, _, child in children(here)]
