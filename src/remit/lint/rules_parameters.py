"""Rules on parameters: described, closed, complete, and kept secret where they are secret."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.catalog.reading import is_object, shown
from remit.lint.schemas import described, resolve, types_of
from remit.lint.subject import Finding
from remit.lint.words import lists_alternatives, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.lint.schemas import SchemaNode
    from remit.lint.subject import ToolView
    from remit.values.json import JsonObject

_CLOSING = ("enum", "const", "pattern", "format")
_SECRET_ENDS = frozenset(
    {"password", "passwd", "passphrase", "secret", "token", "cvv", "cvc", "otp"}
)
_SECRET_PAIRS = frozenset(
    {
        ("api", "key"),
        ("private", "key"),
        ("access", "key"),
        ("card", "number"),
        ("security", "code"),
    }
)
# Tokens that are no secrets: places in a list.
_PLACES = frozenset(
    {
        "page",
        "next",
        "previous",
        "prev",
        "continuation",
        "cursor",
        "sync",
        "pagination",
        "resume",
        "start",
    }
)


def undescribed_parameter(view: ToolView) -> Iterator[Finding]:
    """A parameter, nested or not, that the model has to guess."""
    for node in view.schema_nodes:
        if (
            node.is_property
            and not described(node.schema, view.parameters)
            and "const" not in node.schema
        ):
            yield Finding(
                node.at,
                f'the parameter "{shown(node.label)}" has no description',
                "say what it means in your domain: unit, range, where the value comes from",
            )


def closed_set_without_enum(view: ToolView) -> Iterator[Finding]:
    """A description that lists the values a schema does not."""
    for node in view.schema_nodes:
        schema = node.schema
        text = schema.get("description")
        if not isinstance(text, str) or not _is_open_text(resolve(schema, view.parameters)):
            continue
        if listed := lists_alternatives(text):
            yield Finding(
                node.at,
                f'the description of "{shown(node.label or "parameters")}" lists its values '
                f"({shown(listed)}), "
                "but any text is accepted",
                'list the values in "enum": the model then cannot choose another',
            )


def _is_open_text(schema: JsonObject) -> bool:
    """Whether a schema takes free text, alone or in an array."""
    kinds = types_of(schema)
    items = schema.get("items")
    if "array" in kinds and is_object(items):
        return _is_open_text(items) and "description" not in items
    if any(key in schema for key in (*_CLOSING, "anyOf", "oneOf", "allOf", "$ref", "properties")):
        return False
    return not kinds or "string" in kinds


def open_schema(view: ToolView) -> Iterator[Finding]:
    """An object of the schema that takes keys nobody declared."""
    for node in view.schema_nodes:
        if is_open(node):
            what = f'the object "{shown(node.label)}"' if node.label else "the schema"
            yield Finding(
                node.at,
                f"{what} takes keys that it does not list, so no model can be held to it",
                'write "additionalProperties": false beside "properties"',
            )


def is_open(node: SchemaNode) -> bool:
    """Whether a schema is an object that takes undeclared keys without the author saying so."""
    schema = node.schema
    if (
        node.is_mixin
        or "$ref" in schema
        or not ("object" in types_of(schema) or "properties" in schema)
    ):
        return False
    return not any(
        k in schema for k in ("additionalProperties", "unevaluatedProperties", "patternProperties")
    )


def required_not_declared(view: ToolView) -> Iterator[Finding]:
    """A required name that ``properties`` does not have (contract section 4)."""
    for node in view.schema_nodes:
        names, properties = node.schema.get("required"), node.schema.get("properties")
        if node.is_mixin or not isinstance(names, list) or not is_object(properties):
            continue
        for index, name in enumerate(names):
            if isinstance(name, str) and name not in properties:
                yield Finding(
                    f"{node.at}/required/{index}",
                    f'"{shown(name)}" is required but is no declared parameter',
                    f'declare "{shown(name)}" under properties, or take it out of required',
                )


def secret_parameter(view: ToolView) -> Iterator[Finding]:
    """A parameter that is named like a secret and would be stored and shown."""
    for node in view.schema_nodes:
        schema = node.schema
        if (
            not node.is_property
            or schema.get("writeOnly") is True
            or schema.get("format") == "password"
        ):
            continue
        kinds = types_of(schema)
        if (not kinds or "string" in kinds) and _is_secret(words_of(node.label.rpartition(".")[2])):
            yield Finding(
                node.at,
                f'"{shown(node.label)}" is named like a secret, but its value is stored and shown',
                'write "writeOnly": true: the value is then sent and never stored or shown',
            )


def _is_secret(words: tuple[str, ...]) -> bool:
    if words[-2:] in _SECRET_PAIRS:
        return True
    return bool(_SECRET_ENDS.intersection(words[-1:])) and not _PLACES.intersection(words[:-1])
