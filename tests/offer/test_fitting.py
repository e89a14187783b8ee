"""Each provider's subset, keyword by keyword: rewritten, told in words, or reported as gone."""

from __future__ import annotations

from typing import Any

import pytest

from remit.catalog.parameters import Parameters
from remit.documents.schema import check_schema
from remit.offer.dialects import PROVIDERS, Provider
from remit.offer.offering import Offered, offered, refused_keywords
from remit.values.json import JsonObject, JsonValue
from tests.offer.apps import closed
from tests.offer.subsets import refusals

TEXT: JsonObject = {"type": "string"}
NUMBER: JsonObject = {"type": "integer"}


def offer(schema: JsonObject, provider: Provider, *, strict: bool | None = None) -> Offered:
    """Offer a schema that a catalog loads; the provider must take the result."""
    assert check_schema(schema) == ()
    found = offered(Parameters(schema), provider, strict=strict)
    assert refusals(found.schema, provider, strict=found.strict) == []
    return found


def of_x(found: Offered) -> JsonValue:
    """What became of the parameter ``x``."""
    return found.schema["properties"]["x"]  # type: ignore[index,call-overload]


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ({"type": "string", "minLength": 3}, {"type": "string", "description": "minLength: 3"}),
        (
            {"type": "string", "maxLength": 9, "description": "A name."},
            {"type": "string", "description": "A name. (maxLength: 9)"},
        ),
        ({"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "^a"}),
        ({"type": "string", "format": "uuid"}, {"type": "string", "format": "uuid"}),
        ({"type": "string", "format": "uri"}, {"type": "string", "description": 'format: "uri"'}),
        ({"type": "string", "default": "d"}, {"type": "string", "description": 'default: "d"'}),
        (
            {"type": "number", "minimum": 0, "exclusiveMaximum": 1, "multipleOf": 0.5},
            {"type": "number", "minimum": 0, "exclusiveMaximum": 1, "multipleOf": 0.5},
        ),
        (
            {"type": "array", "items": TEXT, "minItems": 2, "uniqueItems": True},
            {"type": "array", "items": TEXT, "minItems": 2, "description": "uniqueItems: true"},
        ),
        ({"oneOf": [TEXT, NUMBER]}, {"anyOf": [TEXT, NUMBER]}),
        ({"allOf": [TEXT], "title": "X"}, {"title": "X", "type": "string"}),
        ({"enum": ["a", "b"]}, {"enum": ["a", "b"], "type": "string"}),
        ({"const": 1}, {"const": 1, "type": "integer"}),
        (
            {"$ref": "#/$defs/t", "description": "D"},
            {"description": "D", "anyOf": [{"$ref": "#/$defs/t"}]},
        ),
        (
            {**closed(a=TEXT), "minProperties": 1},
            {
                **closed(a={"type": ["string", "null"]}),
                "required": ["a"],
                "description": "minProperties: 1",
            },
        ),
    ],
)
def test_openai_strict_form_of_a_keyword(written: JsonObject, sent: JsonObject) -> None:
    """Its derived schema keeps what strict mode takes and says the rest (provider notes)."""
    schema = {**closed("x", x=written), "$defs": {"t": TEXT}}
    found = offer(schema, "openai")

    assert found.strict
    assert of_x(found) == sent


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        (TEXT, {"type": ["string", "null"]}),
        ({"type": ["string", "integer"]}, {"type": ["string", "integer", "null"]}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        (
            {"type": "string", "enum": ["a"]},
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        (
            {"const": "a", "title": "T"},
            {"title": "T", "anyOf": [{"const": "a", "type": "string"}, {"type": "null"}]},
        ),
        ({"anyOf": [TEXT, NUMBER]}, {"anyOf": [TEXT, NUMBER, {"type": "null"}]}),
        ({"anyOf": [TEXT, {"type": "null"}]}, {"anyOf": [TEXT, {"type": "null"}]}),
        ({"$ref": "#/$defs/t"}, {"anyOf": [{"$ref": "#/$defs/t"}, {"type": "null"}]}),
        (
            {"type": "array", "items": TEXT},
            {"anyOf": [{"type": "array", "items": TEXT}, {"type": "null"}]},
        ),
        (
            {**closed("a", a=TEXT), "description": "D"},
            {"description": "D", "anyOf": [closed("a", a=TEXT), {"type": "null"}]},
        ),
    ],
)
def test_openai_strict_form_of_an_optional_parameter(written: JsonObject, sent: JsonObject) -> None:
    """Every property is required, so an optional one takes null for "not given"."""
    found = offer({**closed(x=written), "$defs": {"t": TEXT}}, "openai")

    assert found.strict
    assert of_x(found) == sent
    assert found.schema["required"] == ["x"]


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ({"type": "string", "pattern": "^a"}, {"type": "string", "description": 'pattern: "^a"'}),
        ({"type": "string", "format": "uri"}, {"type": "string", "format": "uri"}),
        ({"type": "integer", "minimum": 1}, {"type": "integer", "description": "minimum: 1"}),
        (
            {"type": "array", "items": TEXT, "minItems": 1, "maxItems": 3},
            {"type": "array", "items": TEXT, "minItems": 1, "description": "maxItems: 3"},
        ),
        (
            {"type": "array", "items": TEXT, "minItems": 2},
            {"type": "array", "items": TEXT, "description": "minItems: 2"},
        ),
        ({"type": "string", "default": "d"}, {"type": "string", "default": "d"}),
        ({"oneOf": [TEXT, NUMBER]}, {"anyOf": [TEXT, NUMBER]}),
        ({"allOf": [TEXT, {"type": "string"}]}, {"allOf": [TEXT, TEXT]}),
    ],
)
def test_anthropic_strict_form_of_a_keyword(written: JsonObject, sent: JsonObject) -> None:
    """Optional stays optional; no number, length or pattern is enforced there."""
    found = offer(closed(x=written), "anthropic", strict=True)

    assert found.strict
    assert of_x(found) == sent
    assert "required" not in found.schema


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ({"const": "a"}, {"enum": ["a"], "type": "string"}),
        ({"const": True}, {"type": "boolean", "description": "const: true"}),
        ({"const": None}, {"type": "null"}),
        ({"enum": ["a", None]}, {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]}),
        ({"enum": [{"a": 1}]}, {"type": "object", "description": 'enum: [{"a":1}]'}),
        (
            {"type": "integer", "exclusiveMinimum": 0, "maximum": 9},
            {"type": "integer", "maximum": 9, "description": "exclusiveMinimum: 0"},
        ),
        ({"type": "string", "format": "date"}, {"type": "string", "format": "date"}),
        (
            {"type": "string", "format": "email"},
            {"type": "string", "description": 'format: "email"'},
        ),
        ({"type": "string", "x-note": "n"}, {"type": "string"}),
        ({"oneOf": [TEXT, NUMBER]}, {"anyOf": [TEXT, NUMBER]}),
        (
            {
                "allOf": [
                    {"properties": {"a": TEXT}, "required": ["a"]},
                    {"properties": {"b": NUMBER}, "required": ["b"]},
                ],
                "type": "object",
            },
            {"type": "object", "properties": {"b": NUMBER, "a": TEXT}, "required": ["a", "b"]},
        ),
        (
            {"type": "object", "additionalProperties": False, "patternProperties": {"^x": TEXT}},
            {"type": "object", "description": 'patternProperties: {"^x":{"type":"string"}}'},
        ),
        (
            {"type": "object", "additionalProperties": NUMBER},
            {"type": "object", "additionalProperties": NUMBER},
        ),
        (
            {"type": "array", "prefixItems": [TEXT], "items": False},
            {"type": "array", "prefixItems": [TEXT]},
        ),
        ({"type": "object", "required": ["a"]}, {"type": "object"}),
        (True, {}),
    ],
)
def test_gemini_form_of_a_keyword(written: JsonValue, sent: JsonObject) -> None:
    """Its JSON Schema form takes a list of keywords; a const is a list of one value there."""
    found = offer({"type": "object", "properties": {"x": written}}, "gemini")

    assert of_x(found) == sent


@pytest.mark.parametrize("provider", ["anthropic", "mcp"])
def test_schema_stays_as_written_where_all_of_it_is_taken(provider: Provider) -> None:
    """Outside strict mode nearly everything is taken: nothing is rewritten for its own sake."""
    written: JsonObject = {
        "type": "object",
        "properties": {
            "x": {"type": "string", "pattern": "^a", "minLength": 1, "default": "a", "x-note": "n"},
            "y": {"oneOf": [TEXT, {"not": TEXT}], "if": NUMBER, "then": {"minimum": 1}},
            "z": {"type": "array", "prefixItems": [TEXT], "items": False},
        },
        "required": ["x"],
    }
    found = offer(written, provider)

    assert found.schema == written
    assert found.removals == ()


ROOT_COMBINED: JsonObject = {
    "type": "object",
    "properties": {"id": TEXT},
    "anyOf": [
        {"properties": {"email": TEXT}, "required": ["email"]},
        {"properties": {"phone": TEXT}, "required": ["phone"]},
    ],
}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_union_at_the_root_becomes_optional_parameters_and_words(provider: Provider) -> None:
    """Every provider refuses one there, and with it the whole request."""
    found = offer(ROOT_COMBINED, provider)

    assert set(found.schema["properties"]) == {"id", "email", "phone"}  # type: ignore[arg-type]
    assert found.schema["description"] == "Give at least one of these: email | phone"
    assert "required" not in found.schema
    assert ("/anyOf", False) in [(r.pointer, r.lost) for r in found.removals]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_combination_at_the_root_is_merged(provider: Provider) -> None:
    """Both allOf and $ref at the root say what one object can say."""
    written: JsonObject = {
        "type": "object",
        "properties": {"a": TEXT},
        "required": ["a"],
        "allOf": [{"$ref": "#/$defs/page"}, {"allOf": [{"required": ["b"]}]}],
        "$ref": "#/$defs/more",
        "not": {"required": ["never"]},
        "$defs": {
            "page": {"properties": {"page": NUMBER}},
            "more": {"properties": {"b": TEXT}, "$ref": "#/$defs/page"},
        },
    }
    found = offer(written, provider)

    assert set(found.schema["properties"]) == {"a", "b", "page"}  # type: ignore[arg-type]
    assert found.schema["required"] == ["a", "b"]
    assert found.schema["description"] == 'not: {"required":["never"]}'
    assert "$defs" not in found.schema


@pytest.mark.parametrize("provider", ["openai", "anthropic", "mcp"])
@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ({"oneOf": [TEXT, False]}, {"oneOf": [TEXT, {"not": {}}]}),
        (
            {"not": {"properties": {"a": False}}},
            {"not": {"properties": {"a": {"not": {}}}}},
        ),
    ],
)
def test_what_admits_nothing_stays_so_where_more_would_refuse_more(
    written: JsonObject, sent: JsonObject, provider: Provider
) -> None:
    """An alternative that takes anything would overlap the others, and the call be refused."""
    schema: JsonObject = {"type": "object", "properties": {"x": written}}

    assert of_x(offer(schema, provider, strict=False)) == sent


def test_two_conditions_at_the_root_are_not_made_one() -> None:
    """The "then" of one is not asked for where the "if" of the other holds."""
    written: JsonObject = {
        "type": "object",
        "properties": {"x": TEXT},
        "then": {"required": ["x"]},
        "allOf": [{"if": True}],
    }
    found = offer(written, "openai")

    assert "if" not in found.schema
    assert ("/allOf", True) in [(r.pointer, r.lost) for r in found.removals]


def test_alternatives_with_one_parameter_in_common_offer_both_of_its_forms() -> None:
    """A discriminated union at the root keeps its discriminator's values."""
    written: JsonObject = {
        "type": "object",
        "properties": {},
        "oneOf": [
            {"properties": {"kind": {"const": kind}, kind: TEXT}, "required": ["kind", kind]}
            for kind in ("card", "bank")
        ],
    }
    found = offer(written, "anthropic")

    assert found.schema["properties"] == {
        "kind": {"anyOf": [{"const": "card"}, {"const": "bank"}]},
        "card": TEXT,
        "bank": TEXT,
    }
    assert found.schema["description"] == "Give exactly one of these: kind, card | kind, bank"


@pytest.mark.parametrize(
    ("provider", "kept"),
    [
        ("openai", ["filter[id]", "a.b", "plain", "x" * 65]),
        ("anthropic", ["a.b", "plain"]),
        ("mcp", ["a.b", "plain"]),
        ("gemini", ["plain"]),
    ],
)
def test_parameter_name_a_provider_refuses_is_told_instead(
    provider: Provider, kept: list[str]
) -> None:
    """One such name fails the request with every other tool in it; the model can still use it."""
    names = ["filter[id]", "a.b", "plain", "x" * 65]
    written = closed("filter[id] plain", **dict.fromkeys(names, TEXT))
    found = offer(written, provider)

    assert list(found.schema["properties"]) == kept  # type: ignore[arg-type]
    if provider != "openai":
        assert '"filter[id]" (required) {"type":"string"}' in str(found.schema["description"])
        assert found.schema["required"] == ["plain"]
        assert "additionalProperties" not in found.schema
        assert "/properties/filter[id]" in [r.pointer for r in found.removals]


def test_every_removal_is_reported_with_its_place() -> None:
    """Nothing is taken away without saying so; what the description cannot hold is lost."""
    written: JsonObject = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "a/b": {"type": "string", "minLength": 1},
            "n": {"$ref": "#/$defs/n"},
        },
        "$defs": {"n": {"type": "object", "patternProperties": {f"^{i}": TEXT for i in range(40)}}},
    }
    removals = refused_keywords(Parameters(written), "gemini")

    assert {(r.pointer, r.keyword, r.lost) for r in removals} == {
        ("/$schema", "$schema", False),
        ("/properties/a~1b/minLength", "minLength", False),
        ("/properties/a~1b", "a/b", False),
        ("/$defs/n/patternProperties", "patternProperties", True),
    }
    assert all(r.reason for r in removals)


def test_words_of_a_schema_are_made_visible() -> None:
    """Titles and descriptions of parameters are third-party text as well (contract section 7)."""
    written: Any = {
        "type": "object",
        "properties": {
            "x": {"title": "a\u202eb", "description": "c\U000e0041", "examples": ["\u200b"]}
        },
        "additionalProperties": False,
    }
    assert of_x(offer(written, "anthropic")) == {
        "title": "a⟨U+202E⟩b",
        "description": "c⟨U+E0041⟩",
        "examples": ["\u200b"],
    }
    assert "\u200b" not in str(of_x(offer(written, "gemini")))


def test_author_s_schema_is_never_changed() -> None:
    """Offers are made anew; what the call validates against stays the author's."""
    before = repr(ROOT_COMBINED)
    for provider in PROVIDERS:
        offer(ROOT_COMBINED, provider)

    assert repr(ROOT_COMBINED) == before
