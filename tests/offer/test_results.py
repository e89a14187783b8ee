"""The output schema that MCP clients get is true of every result of the mapping."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.calls.results import apply_mapping
from remit.documents.schema import check_schema, compile_schema
from remit.offer.results import output_schema
from remit.values.json import JsonObject, JsonValue
from tests.offer.apps import tool

MAPPING: JsonObject = {
    "id": "id",
    "url": "preview.url",
    "ids": "items.*.id",
    "rows": {"each": "items", "map": {"id": "id", "name": "label.text"}, "limit": 1},
    "all": {"each": "items", "map": {"id": "id"}},
}
POLLING: JsonObject = {
    "statusUrl": "/jobs/{{response.id}}",
    "statusField": "status",
    "completeValue": "done",
    "pollIntervalMs": 1000,
    "maxPolls": 3,
}


def test_mapping_becomes_an_object_schema_without_required_keys() -> None:
    """Values have no type: they are what the app answers with; lists of objects have theirs."""
    assert output_schema(tool("x", responseMapping=MAPPING)) == {
        "type": "object",
        "properties": {
            "id": {},
            "url": {},
            "ids": {},
            "rows": {
                "type": ["array", "null"],
                "items": {"type": "object", "properties": {"id": {}, "name": {}}},
            },
            "rowsMore": {"type": "integer"},
            "all": {
                "type": ["array", "null"],
                "items": {"type": "object", "properties": {"id": {}}},
            },
        },
    }


@pytest.mark.parametrize(
    ("more", "names"),
    [
        ({}, None),
        ({"polling": POLLING}, None),
        ({"polling": POLLING, "responseMapping": {"a": "a"}}, None),
        (
            {"polling": {**POLLING, "resultMapping": {"b": "b"}}, "responseMapping": {"a": "a"}},
            ["b"],
        ),
        ({"responseMapping": {}}, []),
    ],
)
def test_polled_result_has_its_own_mapping_or_none(
    more: JsonObject, names: list[str] | None
) -> None:
    """Contract section 6: with polling, resultMapping takes the place of responseMapping."""
    schema = output_schema(tool("x", **more))

    assert (schema and list(schema["properties"])) == names  # type: ignore[arg-type]


json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.sampled_from([None, True, 1, "x"]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["id", "items", "preview", "url", "label"]), inner),
    ),
    max_leaves=8,
)


@given(json_values)
def test_every_mapped_answer_is_valid(body: JsonValue) -> None:
    """Missing keys, nulls and wrong shapes included: a client that validates never fails."""
    made = tool("x", responseMapping=MAPPING)
    schema = output_schema(made)
    assert schema is not None
    assert made.response_mapping is not None
    assert check_schema(schema) == ()

    assert compile_schema(schema).validate(apply_mapping(made.response_mapping, body)) == ()
