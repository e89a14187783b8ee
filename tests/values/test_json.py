"""JSON equality, and the name that a person most likely meant."""

from __future__ import annotations

import pytest

from remit.values.json import JsonValue, nearest, same_json


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (None, False, False),
        ("1", 1, False),
        ([1, [2]], [1, [2.0]], True),
        ([1], [True], False),
        ([1], [1, 2], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": None}, {}, False),
        ({}, [], False),
        (2**64, 2**64 + 1, False),
    ],
)
def test_equality_is_jsons(left: JsonValue, right: JsonValue, same: bool) -> None:
    """Values are compared by JSON equality (contract section 6)."""
    assert same_json(left, right) == same
    assert same_json(right, left) == same


@pytest.mark.parametrize(
    ("name", "found"),
    [("amuont", "amount"), ("AMOUNT", "amount"), ("zzz", None), ("", None), ("a" * 10**6, None)],
)
def test_near_name_is_found(name: str, found: str | None) -> None:
    """A mend names what was meant; nobody means a short name by a long text (voice)."""
    assert nearest(name, ["amount", "Scene"]) == found
