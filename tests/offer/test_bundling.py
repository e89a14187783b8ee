"""References lead into definitions of the schema's own, and nothing unused is carried."""

from __future__ import annotations

from remit.offer.bundling import bundle
from remit.values.json import JsonObject

TEXT: JsonObject = {"type": "string"}


def test_targets_anywhere_move_into_definitions() -> None:
    """By pointer, anchor or old keyword; names are kept, made fit and told apart."""
    schema: JsonObject = {
        "$id": "https://acme.example/s",
        "properties": {
            "a": {"$ref": "#/definitions/T"},
            "b": {"$ref": "#/$defs/T"},
            "c": {"$ref": "#/properties/a"},
            "d": {"$ref": "#here"},
            "e": {"$dynamicRef": "#here"},
            "f": {"$ref": "#"},
            "g": {"$ref": "#/$defs/odd%20name~1x"},
        },
        "$defs": {
            "T": TEXT,
            "odd name/x": {"$anchor": "here", "title": "odd"},
            "unused": {"$ref": "#/$defs/T"},
        },
        "definitions": {"T": {"type": "integer", "$defs": {"deep": TEXT}}},
    }
    found = bundle(schema, schema)

    assert found.root == {
        "properties": {
            "a": {"$ref": "#/$defs/T"},
            "b": {"$ref": "#/$defs/T_2"},
            "c": {"$ref": "#/$defs/a"},
            "d": {"$ref": "#/$defs/odd_name_x"},
            "e": {"$ref": "#/$defs/odd_name_x"},
            "f": {"$ref": "#"},
            "g": {"$ref": "#/$defs/odd_name_x"},
        }
    }
    assert found.definitions == {
        "T": {"type": "integer"},
        "T_2": TEXT,
        "a": {"$ref": "#/$defs/T"},
        "odd_name_x": {"title": "odd"},
    }
    assert found.places["odd_name_x"] == "/$defs/odd name~1x"
    assert [r.pointer for r in found.removals] == ["/$id", "/$defs/odd name~1x/$anchor"]


def test_reference_that_leads_nowhere_or_to_itself_is_taken_out() -> None:
    """The catalog refuses both; should one come through, no provider gets it."""
    schema: JsonObject = {
        "properties": {"a": {"$ref": "#/nowhere", "title": "A"}, "b": {"$ref": "#/$defs/x"}},
        "$defs": {"x": {"anyOf": [{"$ref": "#/$defs/y"}]}, "y": {"$ref": "#/$defs/x"}},
    }
    found = bundle(schema, schema)

    assert found.root == {"properties": {"a": {"title": "A"}, "b": {}}}
    assert found.definitions == {}
    assert [(r.pointer, r.lost) for r in found.removals] == [
        ("/properties/a/$ref", True),
        ("/properties/b/$ref", True),
    ]


def test_data_that_looks_like_a_reference_is_data() -> None:
    """A default, a value or a property's name is no reference."""
    schema: JsonObject = {
        "properties": {"$ref": TEXT, "a": {"default": {"$ref": "#/nowhere"}, "enum": [{"$ref": 1}]}}
    }
    found = bundle(schema, schema)

    assert found.root == schema
    assert found.removals == ()
