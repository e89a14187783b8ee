"""The strict tools of one request stay within what a provider takes of them together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from remit.catalog.model import Tool
from remit.offer.offering import offered
from remit.offer.packing import (
    MAX_OPTIONAL,
    MAX_STRICT_TOOLS,
    MAX_UNIONS,
    packed,
    weight_of,
)
from remit.values.json import JsonObject, JsonValue
from tests.offer.apps import closed, tool

TEXT: JsonObject = {"type": "string"}
EITHER: JsonObject = {"anyOf": [TEXT, {"type": "integer"}]}


def held(tools: list[Tool]) -> set[int]:
    """What is chosen of them for Anthropic."""
    return packed(tools, lambda index: strict_schema(tools[index]))


def strict_schema(one: Tool) -> JsonObject | None:
    """As Anthropic is offered it; None where it is not eligible."""
    found = offered(one.parameters, "anthropic", strict=True)
    return found.schema if found.strict else None


def test_a_weight_counts_what_is_optional_and_what_is_a_union_at_any_depth() -> None:
    """Those of a definition too, however often it is referred to."""
    schema: JsonObject = {
        **closed("a", a=TEXT, b=TEXT, c=closed("x", x=EITHER, y={"type": ["string", "null"]})),
        "$defs": {"d": closed("k", k=TEXT, n=EITHER)},
    }

    assert weight_of(schema) == (4, 3)


def test_no_more_tools_than_a_request_takes_are_held() -> None:
    """The first of equal ones, in the order of the catalog."""
    tools = [tool(f"t{number}", closed("a", a=TEXT)) for number in range(MAX_STRICT_TOOLS + 5)]

    assert held(tools) == set(range(MAX_STRICT_TOOLS))


def test_where_a_mistake_costs_most_comes_first() -> None:
    """What asks a person or destroys, then what writes, then what reads."""
    many: JsonValue = closed("", **{f"p{n}": TEXT for n in range(MAX_OPTIONAL // 2)})
    reads, writes, asks = (
        tool("read_it", many),
        tool("write_it", many, category="write", dangerLevel="moderate"),
        tool("ask_it", many, category="write", dangerLevel="moderate", requiresApproval=True),
    )

    assert held([reads, writes, asks]) == {1, 2}
    assert held([asks, reads, writes]) == {0, 2}


def test_one_that_is_too_heavy_leaves_room_for_the_lighter() -> None:
    """And one that is not eligible takes none."""
    heavy = closed("", **{f"p{n}": EITHER for n in range(MAX_UNIONS + 1)})
    tools = [
        tool("heavy", heavy),
        tool("loose", {"type": "object", "properties": {}}),
        tool("light", closed(a=TEXT)),
    ]

    assert held(tools) == {2}


shapes = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 6), st.sampled_from(["read", "write", "action"])),
    max_size=40,
)


@given(shapes)
def test_whatever_the_tools_what_is_held_is_within_every_bound(
    given_: list[tuple[int, int, str]],
) -> None:
    """A request over one of them is refused as a whole."""
    tools = [
        tool(
            f"t{number}",
            closed(
                " ".join(f"u{n}" for n in range(unions)),
                **{f"u{n}": EITHER for n in range(unions)},
                **{f"o{n}": TEXT for n in range(optional)},
            ),
            category=category,
            dangerLevel="moderate",
        )
        for number, (optional, unions, category) in enumerate(given_)
    ]
    chosen = held(tools)
    weights = [weight_of(schema) for one in chosen if (schema := strict_schema(tools[one]))]

    assert len(chosen) == len(weights) <= MAX_STRICT_TOOLS
    assert sum(weight.optional for weight in weights) <= MAX_OPTIONAL
    assert sum(weight.unions for weight in weights) <= MAX_UNIONS
