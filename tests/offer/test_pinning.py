"""A model neither sees nor chooses a pinned argument."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.catalog.parameters import Parameters
from remit.documents.canonical import compact_json
from remit.documents.schema import check_schema, compile_schema
from remit.offer.dialects import PROVIDERS
from remit.offer.offering import offered
from remit.offer.pinning import without_pins
from remit.values.json import JsonObject, JsonValue

TEXT: JsonObject = {"type": "string"}


def schema(required: str = "", properties: str = "pin a b", **more: JsonValue) -> JsonObject:
    """Parameters with three texts, one of them to be pinned."""
    result: JsonObject = {"type": "object", "properties": dict.fromkeys(properties.split(), TEXT)}
    if required:
        result["required"] = [*required.split()]
    return {**result, **more}


def needs(*names: str) -> JsonObject:
    """A schema that requires these names."""
    return {"required": [*names]}


@pytest.mark.promise("T-32")
@pytest.mark.parametrize(
    ("written", "shown"),
    [
        pytest.param(schema("pin a"), schema("a", "a b"), id="declared and required"),
        pytest.param(
            schema(anyOf=[needs("pin"), needs("a")]),
            schema(properties="a b"),
            id="the pin fulfils a union",
        ),
        pytest.param(
            schema(anyOf=[needs("pin", "a"), needs("b")]),
            schema(properties="a b", anyOf=[needs("a"), needs("b")]),
            id="the rest of a union stays",
        ),
        pytest.param(
            schema(oneOf=[needs("pin"), needs("a")]),
            schema(properties="a b"),
            id="one of several cannot be said without the pin",
        ),
        pytest.param(
            schema(oneOf=[needs("pin", "a"), needs("pin", "b")]),
            schema(properties="a b", anyOf=[needs("a"), needs("b")]),
            id="told apart by the pin perhaps: any of several",
        ),
        pytest.param(
            schema(allOf=[needs("pin"), needs("a", "pin"), needs("b")]),
            schema(properties="a b", allOf=[needs("a"), needs("b")]),
            id="all of several",
        ),
        pytest.param(
            {**schema(properties="a b"), "not": needs("pin", "a")},
            schema(properties="a b"),
            id="a negation would turn round",
        ),
        pytest.param(
            {
                **schema(),
                "if": {"properties": {"pin": {"const": "x"}}},
                "then": needs("a"),
                "else": needs("b"),
            },
            schema(properties="a b"),
            id="a condition on the pin",
        ),
        pytest.param(
            {**schema(), "if": needs("a"), "then": needs("b", "pin")},
            {**schema(properties="a b"), "if": needs("a"), "then": needs("b")},
            id="a consequence for the pin",
        ),
        pytest.param(
            schema(dependentRequired={"pin": ["a"], "b": ["pin", "a"]}),
            schema("a", "a b", dependentRequired={"b": ["a"]}),
            id="what the pin makes necessary is necessary",
        ),
        pytest.param(
            schema(dependentSchemas={"pin": needs("a"), "b": needs("pin", "a")}),
            schema(properties="a b", dependentSchemas={"b": needs("a")}),
            id="dependent schemas",
        ),
        pytest.param(
            schema(minProperties=2, maxProperties=3),
            schema(properties="a b", minProperties=1, maxProperties=2),
            id="the pin counts as a property",
        ),
        pytest.param(
            schema(examples=[{"pin": "s-1", "a": "x"}], default={"pin": "s-1"}),
            schema(properties="a b", examples=[{"a": "x"}], default={}),
            id="examples and default",
        ),
        pytest.param(
            schema(const={"pin": "s-1"}, enum=[{"pin": "s-1"}]),
            schema(properties="a b"),
            id="whole values",
        ),
        pytest.param(
            {"type": "object", "properties": {"o": schema("pin")}},
            {"type": "object", "properties": {"o": schema("pin")}},
            id="a nested argument of that name is another one",
        ),
        pytest.param(schema(properties="a"), schema(properties="a"), id="undeclared pin"),
    ],
)
def test_pinned_parameter_is_not_in_the_schema(written: JsonObject, shown: JsonObject) -> None:
    """Contract section 2, at every keyword that can name a parameter of the root."""
    assert check_schema(written) == ()

    assert without_pins(written, {"pin"}) == shown


def test_schema_that_names_no_pin_is_the_very_same() -> None:
    """Nothing is copied for the many tools that a pin does not concern."""
    written = schema("a")

    assert without_pins(written, {"other"}) is written
    assert without_pins(written, ()) is written


@pytest.mark.promise("T-32")
def test_definition_that_declares_the_pin_is_shown_without_it() -> None:
    """A root that refers to its parameters; the definition's other users keep theirs."""
    written: JsonObject = {
        "type": "object",
        "properties": {"inner": {"$ref": "#/$defs/base"}},
        "$ref": "#/$defs/base",
        "$defs": {"base": schema("pin a", "pin a")},
    }
    found = offered(Parameters(written), "anthropic", {"pin": "s-1"})

    assert found.schema["properties"] == {"inner": {"$ref": "#/$defs/base"}, "a": TEXT}
    assert found.schema["required"] == ["a"]
    assert found.schema["$defs"] == {"base": schema("pin a", "pin a")}


@pytest.mark.promise("T-32")
def test_recursion_into_the_root_keeps_its_own_parameters() -> None:
    """``#`` means the arguments as declared: an inner one of that name is not pinned."""
    written = schema("pin", "pin", additionalProperties=False)
    written["properties"] = {"pin": TEXT, "child": {"$ref": "#"}}
    for provider in PROVIDERS:
        found = offered(Parameters(written), provider, {"pin"}).schema

        assert found["properties"] == {"child": {"$ref": "#/$defs/root"}}
        assert "required" not in found
        root = found["$defs"]["root"]  # type: ignore[index,call-overload]
        assert root["properties"] == {"pin": TEXT, "child": {"$ref": "#/$defs/root"}}  # type: ignore[index,call-overload]


roots = st.recursive(
    st.sampled_from(
        [
            needs("pin"),
            needs("a"),
            needs("a", "pin"),
            {"properties": {"pin": {"const": "p"}}},
            {"properties": {"a": {"const": "x"}}, "required": ["a"]},
            {"dependentRequired": {"pin": ["a"], "b": ["pin"]}},
            {"minProperties": 2},
        ]
    ),
    lambda inner: st.one_of(
        st.builds(lambda *b: {"anyOf": list(b)}, inner, inner),
        st.builds(lambda *b: {"oneOf": list(b)}, inner, inner),
        st.builds(lambda *b: {"allOf": list(b)}, inner, inner),
        st.builds(lambda b, c: {"if": b, "then": c}, inner, inner),
        st.builds(lambda b: {"not": b}, inner),
    ),
    max_leaves=5,
)
arguments = st.dictionaries(st.sampled_from("ab"), st.sampled_from(["x", "y"]))


@given(roots, arguments)
def test_shown_schema_speaks_of_no_pin_and_refuses_nothing_valid(
    combined: JsonObject, args: dict[str, JsonValue]
) -> None:
    """What is valid with the pin merged in is valid, without it, for what the model saw."""
    written = {**schema(), **combined}
    shown = without_pins(written, {"pin"})

    assert '"pin"' not in compact_json(shown)
    if compile_schema(written).validate({**args, "pin": "p"}) == ():
        assert compile_schema(shown).validate(args) == ()
