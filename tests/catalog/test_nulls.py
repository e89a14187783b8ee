"""Nulls that strict mode forced on a model are dropped, and no others (contract section 2)."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.catalog.nulls import admits_null, drop_optional_nulls
from remit.documents.schema import compile_schema
from remit.values.json import JsonObject, JsonValue


def closed(required: str = "", **properties: object) -> JsonObject:
    """A closed object that requires the names in ``required``."""
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": properties,  # type: ignore[dict-item]
        "required": required.split(),
    }


TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
MAYBE = {"type": ["string", "null"]}
CHOICE = {
    "anyOf": [
        closed("kind", kind={"const": "a"}, x=TEXT),
        closed("kind", kind={"const": "b"}, x=MAYBE),
    ]
}
RECURSIVE = {
    **closed("node", node={"$ref": "#/$defs/node"}),
    "$defs": {"node": closed("name", name=TEXT, note=TEXT, next={"$ref": "#/$defs/node"})},
}


@pytest.mark.parametrize(
    ("schema", "args", "kept", "dropped"),
    [
        pytest.param(closed(a=TEXT), {"a": None}, {}, ["/a"], id="optional"),
        pytest.param(closed("a", a=TEXT), {"a": None}, {"a": None}, [], id="required"),
        pytest.param(closed(a=MAYBE), {"a": None}, {"a": None}, [], id="nullable"),
        pytest.param(closed(a={}), {"a": None}, {"a": None}, [], id="untyped admits null"),
        pytest.param(closed(a=TEXT), {"b": None}, {"b": None}, [], id="undeclared"),
        pytest.param(closed(a={"enum": ["x", 1]}), {"a": None}, {}, ["/a"], id="enum"),
        pytest.param(closed(a={"enum": ["x", None]}), {"a": None}, {"a": None}, [], id="null enum"),
        pytest.param(closed(a={"const": 0}), {"a": None}, {}, ["/a"], id="const"),
        pytest.param(
            closed(a={"anyOf": [TEXT, {"type": "null"}]}), {"a": None}, {"a": None}, [], id="anyOf"
        ),
        pytest.param(
            closed(a={"oneOf": [MAYBE, {"type": "null"}]}), {"a": None}, {}, ["/a"], id="oneOf both"
        ),
        pytest.param(closed(a={"allOf": [MAYBE, TEXT]}), {"a": None}, {}, ["/a"], id="allOf"),
        pytest.param(closed(a={"not": {"type": "null"}}), {"a": None}, {}, ["/a"], id="not"),
        pytest.param(
            closed("o", o=closed("n", n=NUMBER, m=NUMBER)),
            {"o": {"n": 1, "m": None}},
            {"o": {"n": 1}},
            ["/o/m"],
            id="nested",
        ),
        pytest.param(
            closed(l={"type": "array", "items": closed(a=TEXT, b=TEXT)}),
            {"l": [{"a": None, "b": "x"}, {"a": "y", "b": None}]},
            {"l": [{"b": "x"}, {"a": "y"}]},
            ["/l/0/a", "/l/1/b"],
            id="in an array",
        ),
        pytest.param(
            closed(l={"type": "array", "items": TEXT}),
            {"l": [None]},
            {"l": [None]},
            [],
            id="an item is no property",
        ),
        pytest.param(
            RECURSIVE,
            {"node": {"name": "a", "note": None, "next": {"name": "b", "note": "n", "next": None}}},
            {"node": {"name": "a", "next": {"name": "b", "note": "n"}}},
            ["/node/note", "/node/next/next"],
            id="through references",
        ),
        pytest.param(
            closed("c", c=CHOICE),
            {"c": {"kind": "a", "x": None}},
            {"c": {"kind": "a"}},
            ["/c/x"],
            id="the branch that is meant drops it",
        ),
        pytest.param(
            closed("c", c=CHOICE),
            {"c": {"kind": "b", "x": None}},
            {"c": {"kind": "b", "x": None}},
            [],
            id="the branch that is meant takes null",
        ),
        pytest.param(closed(a=False), {"a": None}, {}, ["/a"], id="never valid"),
        pytest.param(
            closed(**{"a/b": closed(**{"~": TEXT})}),
            {"a/b": {"~": None}},
            {"a/b": {}},
            ["/a~1b/~0"],
            id="pointer is escaped",
        ),
    ],
)
def test_only_nulls_that_mean_not_given_are_dropped(
    schema: JsonObject, args: JsonObject, kept: JsonObject, dropped: list[str]
) -> None:
    """A null for an optional, non-nullable property is dropped, at any depth."""
    assert drop_optional_nulls(schema, args) == (kept, tuple(dropped))


def test_arguments_without_nulls_come_back_as_they_are() -> None:
    """The common call pays for one look, and its arguments are never changed in place."""
    args: JsonObject = {"a": [1, {"b": "x"}]}
    with_null: JsonObject = {"a": None}

    assert drop_optional_nulls(closed(a={}), args)[0] is args
    drop_optional_nulls(closed(a=TEXT), with_null)
    assert with_null == {"a": None}


def test_unions_within_unions_take_no_time() -> None:
    """A hostile schema of unions and a deep value cost their product, not a power of it."""
    node: JsonObject = {
        "anyOf": [
            closed(l={"$ref": "#/$defs/n"}, x1=TEXT, x2=TEXT, kind={"const": i}) for i in range(8)
        ]
    }
    schema: JsonObject = {**closed(l={"$ref": "#/$defs/n"}), "$defs": {"n": node}}
    value: JsonObject = {"x1": None}
    for _ in range(60):
        value = {"l": value, "x2": None}
    start = time.process_time()

    kept, dropped = drop_optional_nulls(schema, {"l": value})

    assert time.process_time() - start < 1
    assert len(dropped) == 61
    assert "None" not in str(kept)


def test_circle_of_references_ends() -> None:
    """A schema that only refers to itself says nothing of null, and costs no stack."""
    root: JsonObject = {
        **closed(a={"$ref": "#/$defs/x"}),
        "$defs": {"x": {"anyOf": [{"$ref": "#/$defs/y"}]}, "y": {"allOf": [{"$ref": "#/$defs/x"}]}},
    }
    assert drop_optional_nulls(root, {"a": None}) == ({"a": None}, ())


leaves = st.sampled_from(
    [
        {},
        True,
        False,
        TEXT,
        MAYBE,
        {"type": "null"},
        {"enum": [1, None]},
        {"const": None},
        {"minimum": 3},
        {"type": ["integer", "boolean"]},
        {"$ref": "#/$defs/leaf"},
    ]
)
judged = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(lambda *b: {"anyOf": list(b)}, inner, inner),
        st.builds(lambda *b: {"oneOf": list(b)}, inner, inner),
        st.builds(lambda *b: {"allOf": list(b)}, inner, inner),
        st.builds(lambda b: {"not": b}, inner),
        st.builds(lambda a, b, c: {"if": a, "then": b, "else": c}, inner, inner, inner),
    ),
    max_leaves=6,
)


@given(judged, leaves)
def test_null_is_judged_as_the_validator_judges_it(schema: JsonValue, leaf: JsonValue) -> None:
    """``admits_null`` agrees with the validator that the call itself uses."""
    leaf = {} if isinstance(leaf, dict) and "$ref" in leaf else leaf
    root: JsonObject = {"properties": {"a": schema}, "$defs": {"leaf": leaf}}

    assert admits_null(schema, root) == (compile_schema(root).validate({"a": None}) == ())
