"""Whether a model can be held to a schema, and the first reason why not."""

from __future__ import annotations

import pytest

from remit.catalog.parameters import Parameters
from remit.documents.schema import check_schema
from remit.offer.dialects import PROVIDERS, Provider
from remit.offer.eligibility import Eligibility
from remit.offer.offering import eligible
from remit.values.json import JsonObject, JsonValue
from tests.offer.apps import NO_PARAMETERS, closed

TEXT: JsonObject = {"type": "string"}
MODELS: tuple[Provider, ...] = ("openai", "anthropic", "gemini")


def judged(
    schema: JsonObject, provider: Provider, pins: frozenset[str] = frozenset()
) -> Eligibility:
    """Judge a schema that a catalog loads."""
    assert check_schema(schema) == ()
    return eligible(Parameters(schema), provider, pins)


def nested(levels: int) -> JsonObject:
    """Closed objects, so many levels deep with the root."""
    schema = closed(x=TEXT)
    for _ in range(levels - 2):
        schema = closed(x=schema)
    return schema


@pytest.mark.promise("A-18")
@pytest.mark.parametrize("provider", MODELS)
@pytest.mark.parametrize(
    "schema",
    [
        pytest.param(closed(), id="no parameters, closed"),
        pytest.param(closed("a", a=TEXT, b={"type": "integer", "minimum": 3}), id="plain"),
        pytest.param(closed(a=closed(b={"type": "array", "items": closed(c=TEXT)})), id="nested"),
        pytest.param(closed(a={"enum": ["x", 1, None]}, b={"const": "c"}), id="values have types"),
        pytest.param(closed(a={"anyOf": [TEXT, closed(b=TEXT)]}), id="union"),
        pytest.param(closed(a={"oneOf": [TEXT, {"type": "null"}]}), id="one of several"),
        pytest.param(closed(a={"type": ["string", "null"], "default": None}), id="several types"),
        pytest.param(closed(a={"allOf": [TEXT], "description": "d"}), id="allOf of one"),
        pytest.param(
            {**closed(a={"$ref": "#/$defs/t", "title": "T"}), "$defs": {"t": closed(b=TEXT)}},
            id="reference with words beside it",
        ),
        pytest.param({**closed(a=TEXT), "unevaluatedProperties": False}, id="closed twice"),
        pytest.param(closed(a={"type": "string", "minLength": 1, "format": "uri"}), id="bounds"),
        pytest.param(nested(10), id="ten levels"),
    ],
)
def test_closed_schema_is_eligible(schema: JsonObject, provider: Provider) -> None:
    """Every object lists its properties and allows no others (contract section 2)."""
    assert judged(schema, provider) == Eligibility(eligible=True)


@pytest.mark.promise("A-18")
@pytest.mark.parametrize("provider", MODELS)
@pytest.mark.parametrize(
    ("schema", "pointer", "reason"),
    [
        pytest.param(NO_PARAMETERS, "", "allows properties it does not list", id="open root"),
        pytest.param(
            closed(meta={"type": "object"}),
            "/properties/meta",
            '"/properties/meta" does not list its properties',
            id="free form",
        ),
        pytest.param(
            closed(m={"type": "object", "additionalProperties": TEXT}),
            "/properties/m/additionalProperties",
            "is a map with any keys",
            id="map",
        ),
        pytest.param(
            closed(o={**closed(a=TEXT), "additionalProperties": True}),
            "/properties/o",
            "allows properties it does not list",
            id="open inside",
        ),
        pytest.param(closed(x={}), "/properties/x", "has no type", id="untyped"),
        pytest.param(closed(x=True), "/properties/x", "takes any value", id="true"),
        pytest.param(closed(x={"minimum": 1}), "/properties/x", "has no type", id="bound alone"),
        pytest.param(
            closed(x={"type": "array"}),
            "/properties/x",
            "does not say what its items are",
            id="items",
        ),
        pytest.param(
            closed(x={"type": "array", "prefixItems": [TEXT], "items": TEXT}),
            "/properties/x/prefixItems",
            '"prefixItems"',
            id="tuple",
        ),
        pytest.param(
            {**closed(a=TEXT), "patternProperties": {"^x": TEXT}},
            "/patternProperties",
            '"patternProperties"',
            id="patterns",
        ),
        pytest.param(
            closed(x={"type": "string", "not": {"const": "a"}}),
            "/properties/x/not",
            '"not"',
            id="negation",
        ),
        pytest.param(
            {**closed(a=TEXT, b=TEXT), "if": {"required": ["a"]}, "then": {"required": ["b"]}},
            "/if",
            '"if"',
            id="condition",
        ),
        pytest.param(
            {**closed(a=TEXT), "anyOf": [{"required": ["a"]}]},
            "/anyOf",
            "as a whole",
            id="root union",
        ),
        pytest.param(
            closed(x={"type": "string", "anyOf": [TEXT]}),
            "/properties/x/type",
            'beside "anyOf"',
            id="mixed",
        ),
        pytest.param(
            closed(x={"anyOf": [TEXT, {"maxLength": 3}]}),
            "/properties/x/anyOf/1",
            "has no type",
            id="untyped branch",
        ),
        pytest.param(
            {**closed(x={"$ref": "#/$defs/t", "maxLength": 3}), "$defs": {"t": TEXT}},
            "/properties/x/maxLength",
            "must stand alone",
            id="reference beside a bound",
        ),
        pytest.param(
            closed(next={"$ref": "#"}),
            "/properties/next/$ref",
            "contains itself",
            id="recursive root",
        ),
        pytest.param(
            {**closed(x={"$ref": "#/$defs/n"}), "$defs": {"n": closed(next={"$ref": "#/$defs/n"})}},
            "/$defs/n/properties/next/$ref",
            "contains itself",
            id="recursive definition",
        ),
        pytest.param(
            {
                **closed(x={"$ref": "#/$defs/t"}),
                "$defs": {"t": {"type": "object", "properties": {}}},
            },
            "/$defs/t",
            "allows properties",
            id="open definition",
        ),
        pytest.param(
            closed("a b", a=TEXT), "/required", 'requires "b"', id="required but not listed"
        ),
        pytest.param(
            closed(x={"enum": [{"a": 1}]}), "/properties/x", "objects or arrays", id="object values"
        ),
        pytest.param(closed(**{"a b": TEXT}), "/properties/a b", 'the name "a b"', id="name"),
        pytest.param(nested(11), "/properties/x" * 10, "more than 10 levels", id="eleven levels"),
        pytest.param(
            closed(x={"allOf": [{"$ref": "#/$defs/t"}, TEXT]}) | {"$defs": {"t": TEXT}},
            "/properties/x/allOf",
            '"allOf"',
            id="allOf of several with a reference",
        ),
    ],
)
def test_first_obstacle_is_named_with_its_place(
    schema: JsonObject, pointer: str, reason: str, provider: Provider
) -> None:
    """The portable core: what no provider can hold a model to, in a person's words."""
    found = judged(schema, provider)

    assert not found.eligible
    assert found.pointer == pointer
    assert reason in (found.reason or "")


@pytest.mark.parametrize(
    ("schema", "eligible_for"),
    [
        (closed(x={"allOf": [TEXT, {"type": "string"}]}), {"anthropic"}),
        (closed(**{"a.b": TEXT}), {"openai", "anthropic"}),
        (closed(**{"1st": TEXT}), {"openai", "anthropic"}),
        (closed(x={"enum": [f"v{i}" for i in range(1_001)]}), {"anthropic", "gemini"}),
        (closed(x={"enum": ["v" * 60 + str(i) for i in range(251)]}), {"anthropic", "gemini"}),
        (closed(x={"enum": ["v" * 60 + str(i) for i in range(249)]}), set(MODELS)),
    ],
)
def test_providers_own_rules_decide_beyond_the_core(
    schema: JsonObject, eligible_for: set[str]
) -> None:
    """Names, allOf, and the size of what OpenAI compiles (the notes' table)."""
    assert {p for p in MODELS if judged(schema, p).eligible} == eligible_for


@pytest.mark.promise("T-32")
def test_pinned_parameter_is_left_out_before_judging() -> None:
    """A free-form parameter that the session fixes is no obstacle: the model does not see it."""
    schema = closed("meta a", meta={"type": "object"}, a=TEXT)

    assert not judged(schema, "openai").eligible
    assert judged(schema, "openai", frozenset({"meta"})).eligible


def test_many_shared_definitions_are_judged_once() -> None:
    """Definitions that use each other twice, 9 deep, cost their number and not a power of it."""
    definitions: dict[str, JsonValue] = {
        f"d{i}": {"anyOf": [{"$ref": f"#/$defs/d{i + 1}"}, {"$ref": f"#/$defs/d{i + 1}"}]}
        for i in range(9)
    }
    schema: JsonObject = {**closed(x={"$ref": "#/$defs/d0"}), "$defs": {**definitions, "d9": TEXT}}
    for provider in PROVIDERS:
        assert judged(schema, provider).eligible
