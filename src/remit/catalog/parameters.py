"""A tool's parameters: the schema, and what is asked of it again and again (contract section 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast, final

from remit.catalog.reading import is_object
from remit.documents.schema import Schema, check_schema, compile_schema
from remit.values.secrets import MASK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.catalog.mistakes import Mistakes
    from remit.values.json import JsonObject, JsonValue


@final
class Parameters:
    """The JSON Schema of a tool's arguments.

    The validator is built at the first call of the tool and kept: it costs 10 kB and 30 us, too
    much for each tool of a catalog of 10,000. That the schema *can* be built is checked when the
    catalog loads.

    Attributes:
        schema: as the author wrote it.
        names: the declared parameters, in order.
        required: the required ones.
    """

    __slots__ = ("_compiled", "names", "required", "schema")

    def __init__(self, schema: JsonObject) -> None:
        self.schema = schema
        self.names = frozenset(cast("JsonObject", schema["properties"]))
        self.required = frozenset(cast("list[str]", schema.get("required", [])))
        self._compiled: Schema | None = None

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
    def admits_others(self) -> bool:
        """Whether the author said in so many words that undeclared arguments are wanted."""
        extra = self.schema.get("additionalProperties")
        return extra is True or is_object(extra) or "patternProperties" in self.schema

    def masked(self, args: Mapping[str, JsonValue]) -> JsonObject:
        """The arguments as they may be stored or shown: ``writeOnly`` and passwords masked."""
        masked = mask_secret(self.schema, dict(args), self.schema)
        return masked if is_object(masked) else {}


def mask_secret(schema: object, value: JsonValue, root: JsonObject, depth: int = 0) -> JsonValue:
    """``value`` with every part masked that its schema calls secret."""
    if not is_object(schema) or depth > 64:
        return value
    if schema.get("writeOnly") is True or schema.get("format") == "password":
        return MASK
    target = _resolve(schema, root)
    if target is not None:
        value = mask_secret(target, value, root, depth + 1)
    for key in ("allOf", "anyOf", "oneOf"):
        branches = schema.get(key)
        for branch in branches if isinstance(branches, list) else ():
            value = mask_secret(branch, value, root, depth + 1)
    if isinstance(value, dict):
        declared = schema.get("properties")
        declared = declared if is_object(declared) else {}
        rest = schema.get("additionalProperties")
        return {
            name: mask_secret(declared.get(name, rest), item, root, depth + 1)
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [mask_secret(schema.get("items"), item, root, depth + 1) for item in value]
    return value


def _resolve(schema: JsonObject, root: JsonObject) -> object:
    """What a local ``$ref`` points to, or None."""
    ref = schema.get("$ref")
    if not isinstance(ref, str) or not ref.startswith("#/"):
        return None
    found: object = root
    for part in ref[2:].split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        if not is_object(found):
            return None
        found = found.get(name)
    return found


def read_parameters(record: object, at: str, mistakes: Mistakes) -> Parameters | None:
    """Check a tool's ``parameters``; None where they cannot be used."""
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
    for problem in check_schema(record, at=at):
        # The rules above say the same of the root's own type and properties, in fewer words.
        if sound or problem.pointer not in (f"{at}/type", f"{at}/properties"):
            mistakes.add("bad-schema", problem.pointer, problem.message, problem.mend)
            sound = False
    return Parameters(record) if sound else None
