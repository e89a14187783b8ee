"""A model that writes arguments to overload a request, or to pass for something else."""

from __future__ import annotations

import tracemalloc

import pytest

from remit.calls.arguments import settle
from remit.calls.planning import plan
from remit.errors import InvalidArguments
from remit.values.json import JsonObject, JsonValue
from tests.catalog.documents import (
    Json,
    endpoint_tool,
    load,
    parameters,
    posting,
    target_tool,
)

ANYTHING: JsonObject = {}


def swelling() -> JsonValue:
    """An argument of 240 KB that stands for gigabytes, each value under all the names above it."""
    many: list[JsonValue] = ["y" for _ in range(60_000)]
    value: JsonValue = {"x": many}
    for _ in range(58):
        value = {"k" * 1000: value}
    return value


@pytest.mark.parametrize(
    ("record", "rule"),
    [
        (posting({"a": "{{args.a}}"}, {"a": ANYTHING}, bodyFormat="form"), "body_size"),
        (
            endpoint_tool(
                parameters=parameters(a=ANYTHING),
                endpoint={
                    "method": "GET",
                    "path": "/x",
                    "queryParams": {"a": {"value": "{{args.a}}", "style": "brackets"}},
                },
            ),
            "url_length",
        ),
    ],
)
def test_an_argument_that_swells_is_refused_before_it_is_written_out(
    record: Json, rule: str
) -> None:
    """Was 10 GB of memory and 48 s for one call; now it stops at what may be sent."""
    definition = load(record)
    tool = definition.tools[0]
    arguments = settle(tool, {"a": swelling()}, {})
    tracemalloc.start()
    try:
        with pytest.raises(InvalidArguments) as raised:
            plan(tool, definition, arguments)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
    assert raised.value.details is not None
    assert raised.value.details["faults"][0]["rule"] == rule  # type: ignore[index]


def test_a_value_that_reads_like_an_env_reference_shows_as_what_it_is() -> None:
    """Two requests that send the secret in different places have different digests."""
    target = {
        "type": "url",
        "url": "https://api.acme.example/x",
        "method": "POST",
        "body": {"text": "${input.a}${env.KEY}${input.b}"},
    }
    both = parameters(a={"type": "string"}, b={"type": "string"})
    definition = load(
        target_tool(target, parameters=both), env={"collection": "c", "environment": "e"}
    )
    tool = definition.tools[0]
    given: tuple[JsonObject, JsonObject] = (
        {"a": "${env.KEY}", "b": ""},
        {"a": "", "b": "${env.KEY}"},
    )
    digests = {
        plan(tool, definition, settle(tool, each, {}), env_names={"KEY"}).digest for each in given
    }
    assert len(digests) == 2


def test_repairs_make_arguments_no_deeper_than_arguments_may_be() -> None:
    """Section 5, step 1: depth 64, also where a list comes as JSON text within a list."""
    schema: JsonObject = {"type": "array"}
    for _ in range(20):
        schema = {"type": "array", "items": schema}
    definition = load(endpoint_tool(parameters=parameters(a=schema)))
    inner = "[" * 60 + "]" * 60
    with pytest.raises(InvalidArguments):
        settle(definition.tools[0], {"a": [[[[[[inner]]]]]]}, {})
    fits = "[" * 50 + "]" * 50
    assert settle(definition.tools[0], {"a": [[[[[[fits]]]]]]}, {}).repaired
