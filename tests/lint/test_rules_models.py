"""Rules on what models and their providers take."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.catalog.parameters import Parameters
from remit.documents.schema import check_schema
from remit.lint.schemas import is_plain, walk
from remit.offer.offering import eligible, refused_keywords
from tests.lint.documents import app, closed, of_rule, places, rules, text, tool


def with_value(schema: object, name: str = "value") -> dict[str, Any]:
    """A tool of one parameter that is sent in the query."""
    endpoint = {"method": "GET", "path": "/x", "queryParams": {name: f"{{{{args.{name}}}}}"}}
    return tool(parameters=closed({name: schema}), endpoint=endpoint)


def test_keywords_that_a_provider_is_not_offered_are_noted_once_for_each() -> None:
    """Issue 2, point 4: keywords a provider refuses."""
    found = of_rule("provider-refuses", with_value(text(pattern="^a", minLength=2)))
    (gemini,) = [mistake for mistake in found if '"pattern"' in mistake.message]
    assert "Gemini" in gemini.message
    assert gemini.level == "note"
    assert gemini.at == "/parameters/properties/value/pattern"
    assert '"pattern", "minLength"' in gemini.message
    assert len({mistake.message.partition(" is ")[0] for mistake in found}) == len(found)


@pytest.mark.parametrize(
    "schema", [text(), text(enum=["a"]), text(default="a"), text(writeOnly=True)]
)
def test_plain_schemas_are_taken_by_everybody(schema: dict[str, Any]) -> None:
    """What only describes a value is no keyword to speak of."""
    assert places("provider-refuses", with_value(schema)) == []


def test_a_schema_that_no_model_can_be_held_to_is_noted_with_the_reason() -> None:
    """Contract section 2: `lint` shows eligible and held."""
    (found,) = of_rule("not-held", with_value({"description": "Any value."}))
    assert (found.level, found.at) == ("note", "/parameters/properties/value")
    assert found.message.startswith("no model can be held to this schema: ")


def test_an_open_object_is_said_once() -> None:
    """`open-schema` names it; `not-held` would only repeat it."""
    inner = {"type": "object", "description": "Where.", "properties": {}}
    assert places("not-held", with_value(inner)) == []
    assert places("open-schema", with_value(inner)) == ["/parameters/properties/value"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("filter-state", True),
        ("1st", True),
        ("größe", True),
        ("x" * 65, True),
        ("filter_state", False),
        ("_x9", False),
    ],
)
def test_a_parameter_name_that_a_provider_refuses_is_noted(name: str, found: bool) -> None:
    """One bad name would fail the whole request."""
    document = tool(parameters=closed({name: text()}))
    assert ("parameter-name" in rules(document)) is found


def test_a_name_that_may_be_cut_is_noted() -> None:
    """Contract section 2: beyond 64 characters a digest takes the name's end."""
    long = tool(name="get_" + "x" * 48)
    (found,) = of_rule("long-name", app(long))
    assert "integration_acme-scenes_get_" in found.message
    assert rules(app(tool())) == []


_leaves = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            ["string", "number", "integer", "boolean", "null", "array", ["string", "null"]]
        )
    },
    optional={
        "enum": st.lists(
            st.one_of(st.text(max_size=3), st.integers()), min_size=1, max_size=3, unique_by=repr
        ),
        "minimum": st.integers(-5, 5),
        "pattern": st.just("^a"),
        "format": st.just("uuid"),
        "const": st.just("a"),
        "items": st.just({"type": "string"}),
    },
)


def _objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    names = st.sampled_from(["a", "b", "a-b", "c"])
    return st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(names, inner, max_size=3)},
        optional={
            "additionalProperties": st.booleans(),
            "required": st.lists(names, max_size=2, unique=True),
            "oneOf": st.just([{"required": ["a"]}]),
        },
    )


@given(_objects(st.recursive(_leaves, _objects, max_leaves=4)))
def test_a_schema_called_plain_is_taken_and_held_as_it_is_written(schema: object) -> None:
    """The short cut never hides a finding that the long way would make."""
    if check_schema(schema, at=""):
        return
    nodes = walk(schema, "")
    if not all(is_plain(node) for node in nodes) or any("-" in node.label for node in nodes):
        return
    closed_one = _closed(schema)
    for provider in ("openai", "anthropic", "gemini"):
        assert eligible(Parameters(closed_one), provider).eligible
        assert refused_keywords(Parameters(schema), provider) == ()


def _closed(schema: object) -> object:
    if isinstance(schema, dict):
        inner = {key: _closed(value) for key, value in schema.items()}
        return inner | ({"additionalProperties": False} if schema.get("type") == "object" else {})
    return schema
