"""What is asked of a tool's parameters again and again (contract section 2)."""

from __future__ import annotations

import pytest

from remit.catalog.parameters import Parameters
from remit.documents.schema_secrets import Secrets
from remit.values.json import JsonObject, JsonValue
from tests.catalog.documents import Json, parameters

PASSWORD = {"type": "string", "format": "password"}
HIDDEN = {"writeOnly": True}


@pytest.mark.parametrize(
    ("schema", "args", "shown"),
    [
        (parameters(a="string"), {"a": "x"}, {"a": "x"}),
        (parameters(a=PASSWORD, b="string"), {"a": "x", "b": "y"}, {"a": "***", "b": "y"}),
        (parameters(a=HIDDEN), {"a": 5}, {"a": "***"}),
        (parameters(a=HIDDEN), {"a": None}, {"a": None}),
        (parameters(a=HIDDEN), {"a": {"b": [1, "x"]}}, {"a": {"b": ["***", "***"]}}),
        (
            parameters(a={"type": "object", "properties": {"pin": PASSWORD, "no": {}}}),
            {"a": {"pin": "x", "no": "y"}},
            {"a": {"pin": "***", "no": "y"}},
        ),
        (
            parameters(a={"type": "array", "items": PASSWORD}),
            {"a": ["x", "y"]},
            {"a": ["***", "***"]},
        ),
        (
            {**parameters(a={"$ref": "#/$defs/p"}), "$defs": {"p": PASSWORD}},
            {"a": "x"},
            {"a": "***"},
        ),
        (parameters(a={"anyOf": [PASSWORD, {"type": "integer"}]}), {"a": 5}, {"a": "***"}),
        (parameters(a={"if": {}, "then": PASSWORD}), {"a": "x"}, {"a": "***"}),
        (
            parameters(a={"writeOnly": False}, password="string"),
            {"password": "x"},
            {"password": "x"},
        ),
    ],
)
def test_secret_arguments_are_masked_wherever_they_stand(
    schema: Json, args: JsonObject, shown: JsonObject
) -> None:
    """`writeOnly: true` and `format: password` are never stored or shown (section 2)."""
    found = Parameters(schema)

    assert found.masked(args) == shown
    texts = {secret.reveal() for secret in found.secrets_in(args)}
    assert bool(texts) == (shown != args)


def test_more_can_be_held_back_than_the_schema_says() -> None:
    """What another version of it, or another tool, calls a secret; only ever more."""
    found = Parameters(parameters(a=PASSWORD, b="string", c="string"))
    wider = found.holding_back(Secrets({"b", "d"}))
    args: JsonObject = {"a": "x", "b": "y", "c": {"d": "z", "e": "e"}}

    assert wider.masked(args) == {"a": "***", "b": "***", "c": {"d": "***", "e": "e"}}
    assert found.masked(args) == {**args, "a": "***"}
    assert wider.holding_back(Secrets({"a", "b"})) is wider
    assert wider.holding_back(Secrets((), everything=True)).masked({"f": 1}) == {"f": "***"}


def test_boolean_secret_shows_its_kind_alone() -> None:
    """True and false are no secret a mask could keep, and a mask must not change a type."""
    value: JsonValue = True

    assert Parameters(parameters(a=HIDDEN)).masked({"a": value}) == {"a": True}


def test_titles_and_schemas_of_parameters() -> None:
    """A card shows arguments under their titles (contract section 5)."""
    found = Parameters(parameters("b", a={"title": "An A"}, b={"title": ""}, c=True))

    assert [found.title(name) for name in ("a", "b", "c", "d")] == ["An A", "b", "c", "d"]
    assert found.schema_of("c") == {}
    assert found.required == {"b"}
