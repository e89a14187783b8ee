"""Where schemas stand in a schema, and where its references lead."""

from __future__ import annotations

import pytest

from remit.catalog.subschemas import Targets, children
from remit.values.json import JsonObject, JsonValue

ROOT: JsonObject = {
    "properties": {"a/b": {"type": "string"}, "flag": True, "$ref": {"$anchor": "here"}},
    "$defs": {"50%": {"allOf": [{"title": "first"}]}, "list": [1]},
    "default": {"properties": {"no": {"$anchor": "nowhere"}}},
}


@pytest.mark.parametrize(
    ("reference", "place", "found"),
    [
        ("#", "", ROOT),
        ("#/properties/a~1b", "/properties/a~1b", {"type": "string"}),
        ("#/properties/flag", "/properties/flag", True),
        ("#/$defs/50%25/allOf/0", "/$defs/50%/allOf/0", {"title": "first"}),
        ("#here", "/properties/$ref", {"$anchor": "here"}),
    ],
)
def test_local_reference_finds_its_schema(reference: str, place: str, found: JsonValue) -> None:
    """By pointer (RFC 6901, percent-encoded as in a URI) and by anchor."""
    assert Targets(ROOT).find(reference) == (place, found)


@pytest.mark.parametrize(
    "reference",
    ["#/nowhere", "#nowhere", "#/$defs/list", "#/$defs/list/0", "https://a.example/s", 7, None],
)
def test_reference_to_no_schema_finds_nothing(reference: JsonValue) -> None:
    """No other document is ever read; data is no schema."""
    assert Targets(ROOT).find(reference) is None


def test_children_are_schemas_and_not_data() -> None:
    """A property named like a keyword is a schema; a default that looks like a schema is not."""
    assert [path for _, path, _ in children(ROOT)] == [
        ("properties", "a/b"),
        ("properties", "flag"),
        ("properties", "$ref"),
        ("$defs", "50%"),
        ("$defs", "list"),
    ]
