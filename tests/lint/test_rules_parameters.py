"""Rules on parameters."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lint.documents import closed, of_rule, places, rules, text, tool


def with_parameter(schema: object, name: str = "value") -> dict[str, Any]:
    """A tool of one parameter that is sent in the query."""
    return tool(
        parameters=closed({name: schema}),
        endpoint={
            "method": "GET",
            "path": "/scenes",
            "queryParams": {name: f"{{{{args.{name}}}}}"},
        },
    )


@pytest.mark.promise("T-25", "T-59")
def test_every_undescribed_parameter_is_found_nested_ones_too() -> None:
    """Seed: an undescribed parameter is a guessed parameter."""
    schema = closed(
        {
            "x": {"type": "number"},
            "position": {
                "type": "object",
                "description": "Where.",
                "properties": {"y": {"type": "number"}},
            },
            "marks": {
                "type": "array",
                "description": "Marks.",
                "items": {"type": "object", "properties": {"z": {}}},
            },
            "blank": text("  "),
            "good": text(),
        }
    )
    found = of_rule("undescribed-parameter", tool(parameters=schema))
    names = ["x", "position.y", "marks[].z", "blank"]
    assert [m.message.split('"')[1] for m in found] == names
    assert found[1].at == "/parameters/properties/position/properties/y"
    assert {m.level for m in found} == {"warning"}


def test_a_description_behind_a_reference_counts() -> None:
    """The model is shown what the reference leads to."""
    schema = closed({"sceneId": {"$ref": "#/$defs/id"}}, "sceneId") | {"$defs": {"id": text()}}
    assert places("undescribed-parameter", tool(parameters=schema)) == []


@pytest.mark.promise("T-25", "T-59")
@pytest.mark.parametrize(
    "description",
    [
        "Sort order: asc or desc.",
        "One of: draft, final.",
        "one of small, medium or large",
        "The state, one of 'open' or 'closed'.",
        "'open' | 'closed'",
        "Either open or closed.",
        "Carrier to ask: dhl, ups or fedex.",
        "open|closed|merged",
        "Allowed values: low, medium, high.",
        "Possible values are red, green and blue.",
        'Must be "json", "csv" or "xml".',
        "Priority (low, medium, high).",
        "Can be public, private or internal.",
        "`draft`, `final`",
        "open or closed",
    ],
)
def test_a_closed_set_in_words_is_found(description: str) -> None:
    """Seed: an enum is worth more than a sentence asking the model nicely."""
    document = with_parameter(text(description))
    assert places("closed-set-without-enum", document) == ["/parameters/properties/value"]


@pytest.mark.parametrize(
    "schema",
    [
        text("Sort order: asc or desc.", enum=["asc", "desc"]),
        text("One of: a, b.", const="a"),
        text("One of: a, b.", pattern="^[ab]$"),
        {"type": "boolean", "description": "open or closed"},
        {"type": "integer", "description": "0 or 1"},
        {"type": "array", "description": "One of a, b.", "items": text("State.", enum=["a", "b"])},
        text("One of the user's scenes, by id."),
        text("Id or name."),
        text("Name or email of the person."),
        text('Any tag, such as "red" or "blue".'),
        text("Any tag, e.g. 'red', 'blue'."),
        text("Free text, in one or more sentences."),
        text("Address of the room: street and number, or its name."),
        text("Text to look for; words in quotes are one term."),
    ],
)
def test_what_is_no_closed_set_is_left_alone(schema: dict[str, Any]) -> None:
    """Examples, kinds of values and sets that are closed already."""
    assert places("closed-set-without-enum", with_parameter(schema)) == []


def test_open_objects_are_noted_nested_ones_too() -> None:
    """Only a closed schema can hold a model; a fact, so a note."""
    inner = {"type": "object", "description": "Where.", "properties": {}}
    schema = {"type": "object", "properties": {"position": inner}}
    found = of_rule("open-schema", tool(parameters=schema))
    assert [(m.at, m.level) for m in found] == [
        ("/parameters", "note"),
        ("/parameters/properties/position", "note"),
    ]


@pytest.mark.parametrize("extra", [True, False, {"type": "string"}])
def test_an_object_that_says_what_else_it_takes_is_not_open(extra: object) -> None:
    """Wanted on purpose and forgotten are two things."""
    assert places("open-schema", tool(parameters=closed() | {"additionalProperties": extra})) == []


def test_a_required_name_that_is_not_declared_is_a_warning() -> None:
    """Contract section 4."""
    (found,) = of_rule(
        "required-not-declared", tool(parameters=closed({"sceneId": text()}, "sceneId", "b"))
    )
    assert (found.level, found.at) == ("warning", "/parameters/required/1")
    assert '"b"' in found.message


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("password", True),
        ("newPassword", True),
        ("api_key", True),
        ("clientSecret", True),
        ("accessToken", True),
        ("card_number", True),
        ("pageToken", False),
        ("next_token", False),
        ("tokens", False),
        ("secretary", False),
        ("passwordHint", False),
        ("key", False),
    ],
)
def test_a_secret_that_would_be_stored_is_found(name: str, secret: bool) -> None:
    """Contract section 2: writeOnly or format password is never stored or shown."""
    assert ("secret-parameter" in rules(with_parameter(text("What it is."), name))) is secret
    kept = with_parameter(text("What it is.", writeOnly=True), name)
    assert "secret-parameter" not in rules(kept)
    assert "secret-parameter" not in rules(with_parameter(text("It.", format="password"), name))
    number = with_parameter({"type": "integer", "description": "How many."}, name)
    assert "secret-parameter" not in rules(number)
