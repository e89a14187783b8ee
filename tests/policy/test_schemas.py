"""The JSON Schema of a policy and its loader agree (contract section 13)."""

from __future__ import annotations

import copy
from typing import Any, TypeAlias

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.policy.reading import load_policy
from remit.policy.schemas import policy_schema

# A decoded document, or a part of one.
Json: TypeAlias = Any
VALIDATOR = jsonschema_rs.Draft202012Validator(policy_schema(), offline=True)
FULL: dict[str, Any] = {
    "$schema": "https://remit.example/policy.json",
    "rules": [
        {
            "match": {
                "app": "acme",
                "tool": ["refund_*", "pay?"],
                "category": "action",
                "dangerLevel": ["moderate", "destructive"],
                "target": ["endpoint", "url"],
                "source": "mcp",
            },
            "when": {"properties": {"amount": {"exclusiveMinimum": 500}}, "required": ["amount"]},
            "then": "ask",
            "by": "other",
            "reason": "Refunds over 500 need a second person",
        },
        {"match": {}, "then": "deny"},
        {"then": "allow", "when": {}},
    ],
    "catalog": "review",
    "limits": {"callsPerRun": 50, "writesPerRun": 0, "tokensPerUserDay": 500_000},
}
OBJECTS = {"": "", "/rules/0": "rule", "/rules/0/match": "match", "/limits": ""}


def at(document: Json, pointer: str) -> Json:
    """The value at a pointer."""
    for part in pointer.split("/")[1:]:
        document = document[int(part) if isinstance(document, list) else part]
    return document


def test_full_policy_pleases_both() -> None:
    """Every key in one document."""
    assert VALIDATOR.is_valid(FULL)
    assert load_policy(FULL).policy is not None


@pytest.mark.parametrize("pointer", OBJECTS)
def test_loader_and_schema_know_the_same_keys(pointer: str) -> None:
    """The loader names every key it knows when it meets one that it does not."""
    document = copy.deepcopy(FULL)
    at(document, pointer)["zzzzzzzz"] = 1
    (found,) = load_policy(document).mistakes
    known = set(found.mend.removeprefix("known keys: ").split(", "))
    schema: Any = policy_schema()
    part = schema["$defs"][OBJECTS[pointer]] if OBJECTS[pointer] else schema
    part = part["properties"]["limits"] if pointer == "/limits" else part
    assert set(part["properties"]) == known
    assert not VALIDATOR.is_valid(document)


VALUES = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        1.5,
        10**13,
        "",
        "x",
        "*",
        "acme",
        "ask",
        "deny",
        "user",
        "read",
        [],
        ["x"],
        ["acme"],
        [1],
        {},
        {"x": 1},
        {"type": "text"},
        [{}],
        [{"then": "deny", "by": "user"}],
    ]
)
PLACES = [
    *((("rules", 0), key) for key in ("match", "when", "then", "by", "reason", "x")),
    *((("rules", 0, "match"), key) for key in (*FULL["rules"][0]["match"], "x")),
    *((("limits",), key) for key in (*FULL["limits"], "x")),
    *(((), key) for key in (*FULL, "x")),
    (("rules", 1), "by"),
    (("rules",), 1),
]


@given(place=st.sampled_from(PLACES), value=VALUES)
def test_loader_is_never_laxer_than_the_schema(place: Json, value: Json) -> None:
    """What an editor underlines must not load."""
    document = copy.deepcopy(FULL)
    container: Any = document
    for step in place[0]:
        container = container[step]
    container[place[1]] = value
    if not VALIDATOR.is_valid(document):
        assert load_policy(document).policy is None
