"""The straight way to a request makes what the long way makes, or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.calls.arguments import Arguments
from remit.calls.planning import plan
from remit.calls.straight import Straights, compiled
from remit.errors import CallError
from tests.calls.making import ANY, settled, with_body, with_path, with_query, with_target
from tests.catalog.documents import endpoint_tool, load_tool, parameters

if TYPE_CHECKING:
    from remit.catalog.model import Definition, Tool
    from remit.values.json import JsonObject, JsonValue

STRAIGHT: dict[str, tuple[Tool, Definition]] = {
    "path": with_path("/s/{{args.a}}/v1.0/{{args.b}}", "a", "b"),
    "deep-path": with_path("/{{args.a.b}}", "a"),
    "query": with_query({"a b": "{{args.a}}", "fixed": "x y", "d": "{{args.b.0}}"}, "a", "b"),
    "own-query": with_target(
        {
            "type": "url",
            "url": "https://x.example/a?x=1%202",
            "method": "GET",
            "query": {"q": "${input.a}"},
        },
        "a",
    ),
    "body": with_body({"a": "{{args.a}}", "deep": {"b": ["{{args.b}}", 1.5]}, "n": None}, "a", "b"),
    "whole-body": with_body("{{args.a}}", "a"),
    "constant": with_body({"a": [1, {"b": None}]}, "a"),
    "target": with_target(
        {
            "type": "app",
            "component": "api",
            "method": "POST",
            "path": "/x",
            "query": {"q": "${input.a}"},
            "headers": {"X-Own": "y"},
            "body": {"b": "${input.b}", "text": "as it is"},
        },
        "a",
        "b",
    ),
    "admits-others": load_tool(
        endpoint_tool(
            endpoint={"method": "GET", "path": "/q", "queryParams": {"b": "{{args.b}}"}},
            parameters={"type": "object", "properties": {"a": ANY}, "additionalProperties": True},
        )
    ),
}
LONG: dict[str, tuple[Tool, Definition]] = {
    "text-in-path": with_path("/a-{{args.a}}", "a"),
    "text-in-query": with_query({"q": "x-{{args.a}}"}, "a"),
    "text-in-body": with_body({"t": "Dear {{args.a}}"}, "a"),
    "form": with_body({"a": "{{args.a}}"}, "a", bodyFormat="form"),
    "many": with_body({str(n): "{{args.a}}" for n in range(17)}, "a"),
    "whole-input": with_target({"type": "url", "url": "https://x.example/", "method": "POST",
                                "body": "${input}"}, "a"),
    "env": with_target({"type": "app", "component": "api", "method": "GET", "path": "/x",
                        "query": {"q": "${env.KEY}"}}, "a"),
    "header": with_target({"type": "url", "url": "https://x.example/", "method": "GET",
                           "headers": {"X-A": "${input.a}"}}, "a"),
    "secret": load_tool(
        endpoint_tool(
            category="write",
            endpoint={"method": "POST", "path": "/b", "bodyTemplate": {"a": "{{args.a}}"}},
            parameters=parameters(a={"type": "string", "writeOnly": True}),
        )
    ),
}  # fmt: skip

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["", ".", "..", "%2e", "a/b", "a b", "\x00", "\x85", "x" * 9000])
)
VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
NESTED: st.SearchStrategy[JsonObject] = st.fixed_dictionaries(
    {"a": st.fixed_dictionaries({"b": VALUES}), "b": st.lists(VALUES, min_size=1, max_size=2)}
)
GIVEN: st.SearchStrategy[JsonObject] = (
    st.dictionaries(st.sampled_from(["a", "b", "c"]), VALUES) | NESTED
)


@given(which=st.sampled_from(sorted(STRAIGHT)), args=GIVEN)
def test_straight_request_is_the_one_that_the_long_way_makes(which: str, args: JsonObject) -> None:
    """Whatever the values: the same request and digest, and none where the long way refuses."""
    tool, definition = STRAIGHT[which]
    arguments = settled(tool, args)
    made = Straights(definition, 3).request(tool, arguments)

    try:
        expected = plan(tool, definition, arguments, version=3)
    except CallError:
        expected = None
    assert made is None or made == expected


@pytest.mark.parametrize("which", sorted(STRAIGHT))
def test_usual_call_takes_the_straight_way(which: str) -> None:
    """Plain values in their places need nothing else."""
    tool, definition = STRAIGHT[which]
    args: JsonObject = {"a": 4711, "b": "plain"}
    if which == "deep-path":
        args["a"] = {"b": "x.y"}
    if which == "query":
        args["b"] = [1.5]

    assert Straights(definition, 1).request(tool, settled(tool, args)) is not None


@pytest.mark.parametrize("which", sorted(LONG))
def test_tool_that_needs_more_has_no_straight_way(which: str) -> None:
    """Env values, secrets, forms and texts around a reference are the long way's alone."""
    assert compiled(*LONG[which], 1) is None


def test_undeclared_pin_goes_the_long_way() -> None:
    """It may be the secret of another tool of the app (section 5)."""
    tool, definition = STRAIGHT["body"]
    pinned = settled(tool, {"a": 1, "b": 2}, {"elsewhere": "x"})

    assert Straights(definition, 1).request(tool, pinned) is None


def test_other_tool_of_that_name_is_looked_at_anew() -> None:
    """A refreshed catalog takes the place of the one before."""
    _, definition = STRAIGHT["body"]
    straights = Straights(definition, 1)
    for tool in (STRAIGHT["body"][0], STRAIGHT["constant"][0], STRAIGHT["body"][0]):
        arguments: Arguments = settled(tool, {"a": 1, "b": 2})
        expected = plan(tool, definition, arguments, version=1)

        assert straights.request(tool, arguments) == expected
