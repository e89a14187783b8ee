"""Lossless repair, only where validation fails (contract section 5, step 3)."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from remit.errors import InvalidArguments, InvalidPin
from remit.values.json import JsonValue
from tests.calls.making import settled
from tests.catalog.documents import Json, endpoint_tool, load_tool, parameters


def value_of(schema: object, value: JsonValue) -> JsonValue:
    """The one argument after settling."""
    tool, _ = load_tool(endpoint_tool(parameters=parameters(a=schema)))
    return settled(tool, {"a": value}).values["a"]


@pytest.mark.promise("A-17")
@pytest.mark.parametrize(
    ("schema", "given", "repaired"),
    [
        ("integer", "5", 5),
        ("integer", "-0", 0),
        ("integer", "18446744073709551616", 18446744073709551616),
        ("number", "5", 5),
        ("number", "0.1", 0.1),
        ("number", "1e3", 1000.0),
        ("boolean", "true", True),
        ("boolean", "false", False),
        ("object", '{"b": 1}', {"b": 1}),
        ("array", "[1, 2]", [1, 2]),
        ({"type": ["integer", "null"]}, "7", 7),
        ({"type": "array", "items": {"type": "integer"}}, ["1", 2, "3"], [1, 2, 3]),
        ({"type": "array", "items": {"type": "integer"}}, '["1", 2]', [1, 2]),
        ({"anyOf": [{"type": "integer"}, {"type": "boolean"}]}, "true", True),
        ({"type": "object", "properties": {"x": {"type": "number"}}}, {"x": "1.5"}, {"x": 1.5}),
    ],
)
def test_text_that_spells_the_value_is_taken(
    schema: object, given: JsonValue, repaired: JsonValue
) -> None:
    """Numbers, booleans, objects and arrays that came as text are taken as such (step 3)."""
    found = value_of(schema, given)

    assert found == repaired
    assert type(found) is type(repaired)


@pytest.mark.parametrize(
    ("schema", "given"),
    [
        ("integer", "007"),
        ("integer", "+5"),
        ("integer", " 5"),
        ("integer", "5.0"),
        ("integer", "1e3"),
        ("integer", "\u0665"),
        ("integer", "five"),
        ("integer", ""),
        ("number", "0.10000000000000000001"),
        ("number", "1e400"),
        ("number", "1e-400"),
        ("number", "1e99999999999999999999"),
        ("number", "1e-99999999999999999999"),
        ("number", "NaN"),
        ("number", ".5"),
        ("boolean", "True"),
        ("boolean", "1"),
        ("boolean", 1),
        ("object", "[1]"),
        ("object", '{"a": 1, "a": 2}'),
        ("array", "1, 2"),
        ("string", 5),
        ("integer", 1.5),
    ],
)
def test_what_would_lose_or_guess_is_refused(schema: str, given: JsonValue) -> None:
    """A repair that loses a digit or guesses a meaning is none (section 5, step 3)."""
    with pytest.raises(InvalidArguments):
        value_of(schema, given)


@pytest.mark.parametrize(
    ("schema", "given"),
    [("string", "5"), ("string", "true"), ({}, "5"), ({"type": ["string", "integer"]}, "5")],
)
def test_text_that_fits_stays_text(schema: object, given: str) -> None:
    """Repair is tried only where validation fails (section 5, step 3)."""
    assert value_of(schema, given) == given


def test_record_says_what_was_repaired_without_the_value() -> None:
    """The record says what was repaired (section 5, step 3)."""
    schema = parameters(
        limit="integer", deep={"type": "object", "properties": {"x": {"type": "boolean"}}}
    )
    tool, _ = load_tool(endpoint_tool(parameters=schema))
    found = settled(tool, {"limit": "41", "deep": {"x": "true"}})

    assert [change.pointer for change in found.repaired] == ["/limit", "/deep/x"]
    assert all("41" not in change.words for change in found.repaired)
    assert found.origins == {"limit": "repair", "deep": "repair"}


def test_null_of_a_strict_mode_is_undone() -> None:
    """A null for an optional, non-nullable property of a closed schema is dropped (2)."""
    closed = {
        **parameters(a="string", b={"type": ["string", "null"]}),
        "additionalProperties": False,
    }
    tool, _ = load_tool(endpoint_tool(parameters=closed))

    assert settled(tool, {"a": None, "b": None}).values == {"b": None}
    with pytest.raises(InvalidPin):
        settled(tool, {}, {"a": None})


def test_caller_keeps_what_it_gave() -> None:
    """Repair works on a copy: what came is recorded as it came (section 5)."""
    tool, _ = load_tool(
        endpoint_tool(parameters=parameters(a={"type": "array", "items": {"type": "integer"}}))
    )
    given: Json = {"a": ["1"]}
    settled(tool, given)

    assert given == {"a": ["1"]}


NUMBERS = st.from_regex(
    r"-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,20})?", fullmatch=True
)


@given(text=NUMBERS | st.text(max_size=12))
@example(text="1E-00000000000000000005")
def test_repaired_number_is_the_number_that_was_spelt(text: str) -> None:
    """Lossless: the repaired value is exactly what the text spells (section 5, step 3)."""
    try:
        found = value_of("number", text)
    except InvalidArguments:
        return
    assert isinstance(found, int | float)
    assert Decimal(text) == Decimal(repr(found))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(value=st.dictionaries(st.text(max_size=5), JSON, max_size=3) | st.lists(JSON, max_size=3))
def test_repaired_container_is_the_value_that_was_written(value: JsonValue) -> None:
    """A JSON-encoded object or array is decoded, and nothing in it changes (step 3)."""
    kind = "object" if isinstance(value, dict) else "array"

    assert value_of(kind, json.dumps(value)) == value


@given(pin=st.text(max_size=6) | st.sampled_from(["5", "true", "{}", "[]"]))
def test_repair_never_touches_a_pin(pin: str) -> None:
    """A pin that does not fit is refused as it is (section 5, steps 2 and 3)."""
    types = {"type": ["integer", "boolean", "object", "array"]}
    tool, _ = load_tool(endpoint_tool(parameters=parameters(a=types, b="integer")))
    with pytest.raises(InvalidPin):
        settled(tool, {"b": "5"}, {"a": pin})
