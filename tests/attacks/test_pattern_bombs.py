"""A vendor whose catalog is small, and whose patterns would hold the interpreter for a minute."""

from __future__ import annotations

import re
import time

import pytest

from remit.catalog.definitions import load_catalog
from remit.catalog.requests import Surroundings
from remit.catalog.tools import LoadedTools
from remit.documents.pattern_cost import MAX_PATTERN_COST, PatternBudget, pattern_cost
from tests.catalog.documents import Json, endpoint_tool, parameters


def loaded(tools: int, each: int, pattern: str) -> LoadedTools:
    """A catalog of tools with so many patterns each; ``#`` in them is a running number."""
    records: list[Json] = []
    for number in range(tools):
        numbers = range(number * each, (number + 1) * each)
        named = {f"a{index}": {"pattern": pattern.replace("#", str(index))} for index in numbers}
        records.append(endpoint_tool(f"t{number}", parameters=parameters(**named)))
    found = load_catalog(records, Surroundings())  # type: ignore[arg-type]
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("tools", "each", "pattern"),
    [
        (350, 100, r"\pL{60}#"),
        (350, 100, r"\pL{2}#"),
        (60, 100, "(?i)[\u0080-\U0010ffff]" * 20 + "#"),
        (1, 1, "(?i)[\u0080-\U0010ffff]" * 10_000 + "#"),
        (100, 1, "a|" * 10_000 + "#"),
        (100, 1, "(?i)" + "\\pL" * 5_000 + "#"),
    ],
    ids=["repeated", "short", "folded", "one", "long", "letters"],
)
def test_a_catalog_of_patterns_loads_in_bounded_time(tools: int, each: int, pattern: str) -> None:
    """Was over 60 s for 2 MiB; now what goes beyond the budget is refused, tool by tool."""
    start = time.process_time()
    found = loaded(tools, each, pattern)
    # Twice what it takes on a slow machine.
    assert time.process_time() - start < 5
    assert len(found.tools) < tools
    last = found.mistakes[-1]
    assert last.rule == "bad-schema"
    assert "the patterns of one document may not take more than" in last.message


def test_patterns_as_authors_write_them_fit_into_the_budget() -> None:
    """A thousand tools with a pattern of their own, and any number with the same one."""
    own = loaded(1_000, 1, r"^[a-z]{2,8}-#-\d{4}-[0-9A-F]+$")
    assert own.mistakes == ()
    same = loaded(3_000, 1, r"^\p{Lu}[\p{L}\p{N} -]{0,8}$")
    assert same.mistakes == ()


@pytest.mark.parametrize(
    ("pattern", "least"),
    [
        ("a", 0),
        (r"\pL{60}", 5_000),
        (r"(?:\pL){60}", 5_000),
        (r"(\pL{8}){8}", 5_000),
        (r"\pL{8}{8}", 5_000),
        (r"[^\]\[(\pL]{60}", 5_000),
        (r"[]\pL]{60}", 5_000),
        (r"(?x) \pL # [" + "\n{60}", 5_000),
        ("(?i)[\u0080-\uffff]", 3_000),
        (r"(?i:\p{Any})", 3_000),
        (r"\pL" * 20, 4_000),
    ],
)
def test_the_price_of_a_pattern_is_no_less_than_what_it_takes(pattern: str, least: int) -> None:
    """In about microseconds, as measured; too high is fine, too low is a hole."""
    assert pattern_cost(pattern) >= least


@pytest.mark.parametrize(
    "pattern", [r"^[a-z0-9-]{1,64}$", r"^\d{4}-\d{2}-\d{2}$", r"^[^\s@]+@[^\s@]+\.[^\s@]+$"]
)
def test_a_plain_pattern_costs_little(pattern: str) -> None:
    """Thousands of them fit."""
    assert re.compile(pattern)
    assert pattern_cost(pattern) * 4_000 < MAX_PATTERN_COST


def test_a_pattern_is_paid_for_once() -> None:
    """The same pattern is compiled once."""
    budget = PatternBudget(100)
    assert budget.pays_for("abc")
    assert budget.pays_for("abc")
    assert budget.pays_for("abc")
    assert not budget.pays_for("x" * 100)
    assert budget.pays_for("abc")
