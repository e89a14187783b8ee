"""A policy from its document: every mistake at once, and what a rule is about (section 18)."""

from __future__ import annotations

import re
import time
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.lint.table import LOAD_RULES
from remit.policy.limits import Counts, Limits, over_limit
from remit.policy.reading import load_policy
from remit.policy.rules import target_kind
from tests.catalog.documents import target_tool, url_target
from tests.policy.making import judge, policy, tool

# A decoded document, or a part of one.
Json: TypeAlias = Any
AMOUNT = {"properties": {"amount": {"exclusiveMinimum": 500}}, "required": ["amount"]}
CONTRACT: dict[str, Any] = {
    "rules": [
        {
            "match": {"app": "acme", "tool": "refund_*"},
            "when": AMOUNT,
            "then": "ask",
            "by": "other",
            "reason": "Refunds over 500 need a second person",
        }
    ],
    "catalog": "live",
    "limits": {"callsPerRun": 50, "writesPerRun": 10, "tokensPerUserDay": 500_000},
}


def rule(**changes: Json) -> dict[str, Any]:
    """A policy of one rule that asks."""
    return {"rules": [{"then": "ask", **changes}]}


def match(**keys: Json) -> dict[str, Any]:
    """A policy of one rule with that match."""
    return rule(match=keys)


def test_example_of_the_contract_is_read_whole() -> None:
    """The policy that section 18 shows."""
    found = load_policy(CONTRACT).policy
    assert found is not None
    (first,) = found.rules
    assert (first.name, first.then, first.by) == ("/rules/0", "ask", "other")
    assert first.reason == "Refunds over 500 need a second person"
    assert found.catalog == "live"
    assert found.limits == Limits(calls_per_run=50, writes_per_run=10, tokens_per_user_day=500_000)


@pytest.mark.parametrize("document", [{}, {"rules": []}, {"$schema": "x", "limits": {}}])
def test_empty_policy_adds_nothing(document: Json) -> None:
    """All keys may be left out."""
    found = load_policy(document).policy
    assert found is not None
    assert (found.rules, found.catalog, found.limits) == ((), "live", Limits())


MISTAKES = [
    ([], "wrong-type", ""),
    ("deny", "wrong-type", ""),
    ({"rule": []}, "unknown-key", "/rule"),
    ({"rules": {}}, "wrong-type", "/rules"),
    ({"rules": None}, "wrong-type", "/rules"),
    ({"rules": ["deny"]}, "wrong-type", "/rules/0"),
    ({"rules": [{"then": "deny"}] * 1_001}, "too-long", "/rules"),
    ({"rules": [{}]}, "missing-key", "/rules/0"),
    (rule(then="Deny"), "unknown-value", "/rules/0/then"),
    (rule(then=True), "wrong-type", "/rules/0/then"),
    (rule(by="others"), "unknown-value", "/rules/0/by"),
    (rule(then="deny", by="user"), "unknown-key", "/rules/0/by"),
    (rule(then="allow", by="operator"), "unknown-key", "/rules/0/by"),
    (rule(reason=5), "wrong-type", "/rules/0/reason"),
    (rule(reason="x" * 301), "too-long", "/rules/0/reason"),
    (rule(unless={}), "unknown-key", "/rules/0/unless"),
    (rule(match=[]), "wrong-type", "/rules/0/match"),
    (match(apps="acme"), "unknown-key", "/rules/0/match/apps"),
    (match(app="*"), "unknown-value", "/rules/0/match/app"),
    (match(app=["acme", "Acme"]), "unknown-value", "/rules/0/match/app/1"),
    (match(app=None), "wrong-type", "/rules/0/match/app"),
    (match(tool=""), "unknown-value", "/rules/0/match/tool"),
    (match(tool="[rw]*"), "unknown-value", "/rules/0/match/tool"),
    (match(tool="a" * 101), "unknown-value", "/rules/0/match/tool"),
    (match(tool=[]), "out-of-range", "/rules/0/match/tool"),
    (match(tool=["a"] * 201), "out-of-range", "/rules/0/match/tool"),
    (match(tool=["a", 1]), "wrong-type", "/rules/0/match/tool/1"),
    (match(category="writes"), "unknown-value", "/rules/0/match/category"),
    (match(category=["write", "Read"]), "unknown-value", "/rules/0/match/category/1"),
    (match(dangerLevel="high"), "unknown-value", "/rules/0/match/dangerLevel"),
    (match(target="http"), "unknown-value", "/rules/0/match/target"),
    (match(source="web"), "unknown-value", "/rules/0/match/source"),
    (rule(when=True), "wrong-type", "/rules/0/when"),
    (rule(when={"type": "text"}), "bad-schema", "/rules/0/when/type"),
    (
        rule(when={"properties": {"a": {"pattern": "(?=x)"}}}),
        "bad-schema",
        "/rules/0/when/properties/a/pattern",
    ),
    (rule(when={"$ref": "https://a.example/s"}), "bad-schema", "/rules/0/when/$ref"),
    ({"catalog": "fixed"}, "unknown-value", "/catalog"),
    ({"limits": 5}, "wrong-type", "/limits"),
    ({"limits": {"callsPerDay": 5}}, "unknown-key", "/limits/callsPerDay"),
    ({"limits": {"callsPerRun": -1}}, "out-of-range", "/limits/callsPerRun"),
    ({"limits": {"writesPerRun": 1.5}}, "wrong-type", "/limits/writesPerRun"),
    ({"limits": {"tokensPerUserDay": True}}, "wrong-type", "/limits/tokensPerUserDay"),
]


@pytest.mark.parametrize(("document", "rule_id", "pointer"), MISTAKES)
def test_mistake_is_located_and_keeps_the_policy_from_loading(
    document: Json, rule_id: str, pointer: str
) -> None:
    """A rule left out could be the one that denies, so a policy loads whole or not at all."""
    loaded = load_policy(document)
    assert loaded.policy is None
    assert [(m.rule, m.pointer) for m in loaded.mistakes] == [(rule_id, pointer)]
    assert rule_id in LOAD_RULES, "`remit explain` has a page for it"
    assert loaded.mistakes[0].mend


def test_all_mistakes_are_told_at_once() -> None:
    """An operator mends a policy in one pass (contract section 2)."""
    document: Json = {
        "rules": [{"then": "alow"}, {"then": "deny", "when": {"type": 5}}, 7],
        "catalog": "Live",
        "limits": {"callsPerRun": "5"},
    }
    assert [m.pointer for m in load_policy(document).mistakes] == [
        "/rules/0/then",
        "/rules/1/when/type",
        "/rules/2",
        "/catalog",
        "/limits/callsPerRun",
    ]


def test_reason_is_one_line_in_which_nothing_hides() -> None:
    """It stands on a card and at the end of a sentence."""
    found = policy({"then": "deny", "reason": "  Not\n today\u202e.\n"})
    assert found.rules[0].reason == "Not today⟨U+202E⟩."


@pytest.mark.parametrize(
    ("keys", "matches"),
    [
        ({}, True),
        ({"app": "acme"}, True),
        ({"app": ["other", "acme"]}, True),
        ({"app": "acme-two"}, False),
        ({"tool": "refund_order"}, True),
        ({"tool": "refund_*"}, True),
        ({"tool": "*"}, True),
        ({"tool": "*order*"}, True),
        ({"tool": "refund?order"}, True),
        ({"tool": "refund_orde?"}, True),
        ({"tool": "refund_order?"}, False),
        ({"tool": "refund"}, False),
        ({"tool": "Refund_*"}, False),
        ({"tool": ["get_*", "refund_*"]}, True),
        ({"tool": ["get_*", "list_*"]}, False),
        ({"category": "write"}, True),
        ({"category": ["read", "action"]}, False),
        ({"dangerLevel": "moderate"}, True),
        ({"dangerLevel": "destructive"}, False),
        ({"target": "endpoint"}, True),
        ({"target": ["url", "app", "client"]}, False),
        ({"source": "session"}, True),
        ({"source": ["api", "mcp", "button", "cli"]}, False),
        ({"app": "acme", "tool": "refund_*", "category": "read"}, False),
    ],
)
def test_rule_is_about_calls_that_fit_every_key(keys: dict[str, Any], *, matches: bool) -> None:
    """A value or a list of them for each key; all keys must fit, none fits everything."""
    judged = tool(category="write", dangerLevel="moderate")
    ruling = judge(policy({"match": keys, "then": "deny"}), judged)
    assert (ruling.then == "deny") is matches


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        (url_target(), "url"),
        ({"type": "app", "component": "api", "method": "GET", "path": "/x"}, "app"),
        ({"type": "client", "name": "notify"}, "client"),
    ],
)
def test_target_is_the_kind_of_destination(target: dict[str, Any], kind: str) -> None:
    """`endpoint`, or the type of the target (contract section 3)."""
    from tests.catalog.documents import load_tool

    components = {"components": {"api": {"url": "https://api.kit.example"}}}
    judged, _ = load_tool(target_tool(target), **components)
    assert target_kind(judged) == kind
    assert judge(policy({"match": {"target": kind}, "then": "deny"}), judged).then == "deny"
    assert judge(policy({"match": {"target": "endpoint"}, "then": "deny"}), judged).then == "allow"


def _fits(glob: str, name: str) -> bool:
    """The meaning of a glob, spelled out."""
    parts = {"*": ".*", "?": "."}
    return re.fullmatch("".join(parts.get(c) or re.escape(c) for c in glob), name) is not None


@given(glob=st.text("ab_*?", min_size=1, max_size=6), name=st.text("ab_", min_size=1, max_size=6))
def test_glob_means_what_it_says(glob: str, name: str) -> None:
    """`*` is any characters, none too; `?` is exactly one; the whole name must fit."""
    found = policy({"match": {"tool": glob}, "then": "deny"})
    assert (judge(found, tool(name)).then == "deny") is _fits(glob, name)


def test_hostile_glob_costs_no_time() -> None:
    """A match takes linear time, whatever the pattern."""
    found = policy({"match": {"tool": "*a" * 49 + "*b"}, "then": "deny"})
    started = time.process_time()
    assert judge(found, tool("a" * 52)).then == "allow"
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize(
    ("limits", "counts", "writes", "refused"),
    [
        (Limits(), Counts(calls=10**9, writes=10**9, tokens=10**12), True, None),
        (Limits(calls_per_run=2), Counts(calls=1), True, None),
        (Limits(calls_per_run=2), Counts(calls=2), False, "2 calls in one run"),
        (Limits(calls_per_run=1), Counts(calls=1), False, "1 call in one run"),
        (Limits(calls_per_run=0), Counts(), False, "no calls in one run"),
        (Limits(writes_per_run=1), Counts(calls=9), True, None),
        (Limits(writes_per_run=1), Counts(writes=1), True, "change something"),
        (Limits(writes_per_run=1), Counts(writes=5), False, None),
        (Limits(tokens_per_user_day=1_000), Counts(tokens=999), True, None),
        (Limits(tokens_per_user_day=1_000), Counts(tokens=1_000), False, "1,000 tokens"),
    ],
)
def test_limit_refuses_the_first_call_beyond_it(
    limits: Limits, counts: Counts, refused: str | None, *, writes: bool
) -> None:
    """Of two calls allowed both run; used-up writes leave reads alone (section 18)."""
    found = over_limit(limits, counts, writes=writes)
    assert found is None if refused is None else refused in (found or "")
