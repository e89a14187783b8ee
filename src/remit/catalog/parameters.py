"""A tool's parameters: the schema, and what is asked of it again and again (contract section 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast, final

from remit.catalog.reading import is_object
from remit.documents.canonical import compact_json
from remit.documents.schema import Schema, check_schema, compile_schema
from remit.documents.schema_graph import SchemaGraph
from remit.documents.schema_secrets import Secrets
from remit.values.secrets import MASK, Secret

if TYPE_CHECKING:
    from collections.abc import Callable, KeysView, Mapping

    from remit.catalog.mistakes import Mistakes
    from remit.documents.pattern_cost import PatternBudget
    from remit.values.json import JsonObject, JsonValue


@final
class Parameters:
    """The JSON Schema of a tool's arguments.

    The validator is built at the first call of the tool and kept: it costs 10 kB and 30 us, too
    much for each tool of a catalog of 10,000. That the schema *can* be built is checked when the
    catalog loads.

    Attributes:
        schema: as the author wrote it.
        names: the declared parameters, in the order written.
        admits_others: whether the author said in so many words that undeclared arguments are
            wanted.
    """

    __slots__ = ("_compiled", "_secrets", "admits_others", "names", "schema")

    def __init__(self, schema: JsonObject) -> None:
        self.schema = schema
        self._compiled: Schema | None = None
        self._secrets: Secrets | Literal["none"] | None = None
        self.names: KeysView[str] = cast("JsonObject", schema["properties"]).keys()
        extra = schema.get("additionalProperties")
        self.admits_others = extra is True or is_object(extra) or "patternProperties" in schema

    @property
    def required(self) -> frozenset[str]:
        """The required ones."""
        return frozenset(cast("list[str]", self.schema.get("required", [])))

    @property
    def compiled(self) -> Schema:
        """The validator."""
        if self._compiled is None:
            self._compiled = compile_schema(self.schema)
        return self._compiled

    def schema_of(self, name: str) -> JsonObject:
        """The schema of one parameter; empty where it is not declared or a boolean."""
        found = cast("JsonObject", self.schema["properties"]).get(name)
        return found if is_object(found) else {}

    def title(self, name: str) -> str:
        """A person's name for a parameter: its title, or its own name."""
        title = self.schema_of(name).get("title")
        return title if isinstance(title, str) and title else name

    @property
    def closed(self) -> bool:
        """Whether the arguments are an object that allows no undeclared key."""
        return self.schema.get("additionalProperties") is False

    @property
    def secrets(self) -> Secrets | None:
        """Which parts of the arguments are sent but never stored or shown; None where none is."""
        if self._secrets is None:
            text = compact_json(self.schema)
            some = '"writeOnly":true' in text or '"format":"password"' in text
            self._secrets = Secrets.of(SchemaGraph(self.schema)) if some else "none"
        return None if self._secrets == "none" else self._secrets

    def holding_back(self, more: Secrets) -> Parameters:
        """The same parameters with more of them held back; these themselves where it is no more."""
        held = self.secrets
        if held is not None and held.everything >= more.everything and held.names >= more.names:
            return self
        wider = Parameters(self.schema)
        wider._compiled = self._compiled
        wider._secrets = more if held is None else held | more
        return wider

    def masked(self, args: Mapping[str, JsonValue]) -> JsonObject:
        """The arguments as they may be stored or shown: ``writeOnly`` and passwords masked.

        Every scalar inside a secret is masked and its containers stay, so that a reference into
        it still leads somewhere.
        """
        secrets = self.secrets
        if secrets is None:
            return dict(args)
        return {name: _marked(secrets, name, value, _mask) for name, value in args.items()}

    def secrets_in(self, args: Mapping[str, JsonValue]) -> tuple[Secret, ...]:
        """The texts and numbers of the arguments that may not be stored or shown."""
        secrets = self.secrets
        if secrets is None:
            return ()
        found: list[Secret] = []

        def keep(value: JsonValue) -> JsonValue:
            found.append(Secret(value if isinstance(value, str) else compact_json(value)))
            return value

        for name, value in args.items():
            _marked(secrets, name, value, keep)
        return tuple(found)


def all_masked(value: JsonValue) -> JsonValue:
    """A value that is secret as a whole, as it may be stored or shown."""
    return _all_marked(value, _mask)


def _mask(_value: JsonValue) -> JsonValue:
    return MASK


def _marked(
    secrets: Secrets, name: str, value: JsonValue, mark: Callable[[JsonValue], JsonValue]
) -> JsonValue:
    """The value of one name with ``mark`` called on every text and number that is secret."""
    if secrets.holds((name,)):
        return _all_marked(value, mark)
    if isinstance(value, dict):
        return {key: _marked(secrets, key, item, mark) for key, item in value.items()}
    if isinstance(value, list):
        return [_marked(secrets, name, item, mark) for item in value]
    return value


def _all_marked(value: JsonValue, mark: Callable[[JsonValue], JsonValue]) -> JsonValue:
    if isinstance(value, dict):
        return {name: _all_marked(item, mark) for name, item in value.items()}
    if isinstance(value, list):
        return [_all_marked(item, mark) for item in value]
    return value if value is None or isinstance(value, bool) else mark(value)


def read_parameters(
    record: object, at: str, mistakes: Mistakes, patterns: PatternBudget
) -> Parameters | None:
    """Check a tool's ``parameters``; None where they cannot be used.

    Args:
        record: the schema as written.
        at: its pointer from the tool.
        mistakes: where mistakes are noted.
        patterns: what the tools of one document share for their patterns.
    """
    if not is_object(record):
        mistakes.add(
            "bad-schema",
            at,
            '"parameters" must be a JSON Schema object',
            "write {type: object, properties: {…}, required: […]}",
        )
        return None
    sound = True
    if record.get("type") != "object":
        mistakes.add(
            "bad-schema",
            f"{at}/type" if "type" in record else at,
            'the "type" of "parameters" must be exactly "object"',
            'write "type": "object"',
        )
        sound = False
    if not is_object(record.get("properties")):
        mistakes.add(
            "bad-schema",
            f"{at}/properties" if "properties" in record else at,
            '"parameters" needs "properties", an object',
            'write "properties": {} where there are no parameters',
        )
        sound = False
    for problem in check_schema(record, at=at, budget=patterns):
        # The rules above say the same of the root's own type and properties, in fewer words.
        if sound or problem.pointer not in (f"{at}/type", f"{at}/properties"):
            mistakes.add("bad-schema", problem.pointer, problem.message, problem.mend)
            sound = False
    return Parameters(record) if sound else None
