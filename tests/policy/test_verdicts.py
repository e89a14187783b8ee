"""One call judged by the built-in rules and a policy (contract sections 5, 9 and 18)."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from remit.catalog.scales import Category, Ceiling, DangerLevel
from remit.documents.schema import Schema
from remit.policy.decisions import (
    Allow,
    AllowedCall,
    Approval,
    Ask,
    Deny,
    SendableCall,
    decide,
    may_answer,
    recheck,
)
from remit.policy.rules import Policy
from remit.policy.verdicts import Ruling
from tests.calls.making import planned
from tests.catalog.documents import endpoint_tool, load_tool
from tests.policy.making import HIGHEST, LOWEST, judge, policy, tool

# A decoded document, or a part of one.
Json: TypeAlias = Any
OVER_500 = {"properties": {"amount": {"exclusiveMinimum": 500}}, "required": ["amount"]}
SECOND_PERSON = {
    "match": {"app": "acme", "tool": "refund_*"},
    "when": OVER_500,
    "then": "ask",
    "by": "other",
    "reason": "Refunds over 500 need a second person.",
}
ORDER = ("allow", "ask", "deny")
TOOLS = [
    tool(category=category.value, dangerLevel=danger.value, requiresApproval=approval)
    for category, danger, approval in product(Category, DangerLevel, (False, True))
]
CEILINGS = [
    Ceiling(category=category, danger_level=danger)
    for category, danger in product(Category, DangerLevel)
]


def fired(ruling: Ruling) -> list[tuple[str, str]]:
    """Which rules counted, and how."""
    return [(one.rule, one.verdict) for one in ruling.fired]


@pytest.mark.parametrize(
    ("amount", "verdict"), [(500, Allow), (500.01, Ask), (501, Ask), (10**30, Ask), ("501", Ask)]
)
def test_refund_over_the_limit_waits_for_a_second_person(amount: Json, verdict: type) -> None:
    """The example of section 18; a text is no number, so nothing bounds it."""
    ruling = judge(policy(SECOND_PERSON), tool(category="action"), {"amount": amount})
    assert isinstance(ruling.verdict, verdict)
    if isinstance(ruling.verdict, Ask):
        assert ruling.verdict.by == "other"
        assert ruling.verdict.apart
        assert ruling.verdict.reason == "Refunds over 500 need a second person"
        assert fired(ruling) == [("/rules/0", "ask")]


def test_without_rules_the_built_in_ones_judge_alone() -> None:
    """An empty policy says what a call without a server hears (contract section 5, step 6)."""
    for judged, ceiling in product(TOOLS, CEILINGS):
        ruling = judge(Policy(), judged, ceiling=ceiling)
        alone = decide(judged, ceiling)
        assert type(ruling.verdict) is type(alone)
        if isinstance(alone, Deny):
            assert ruling.verdict == alone
            assert ruling.fired[0].rule == "ceiling"
        else:
            assert ruling.verdict == alone


@pytest.mark.parametrize(
    ("thens", "verdict"),
    [
        (["allow"], "allow"),
        (["ask"], "ask"),
        (["deny"], "deny"),
        (["allow", "ask"], "ask"),
        (["ask", "deny"], "deny"),
        (["deny", "allow"], "deny"),
        (["allow", "deny", "ask", "allow"], "deny"),
    ],
)
def test_deny_beats_ask_beats_allow(thens: list[str], verdict: str) -> None:
    """Every rule that matches counts, and each is told."""
    ruling = judge(policy(*({"then": then} for then in thens)), tool())
    assert ruling.then == verdict
    assert fired(ruling) == [(f"/rules/{i}", then) for i, then in enumerate(thens)]


def test_every_reason_of_the_verdict_is_given_once() -> None:
    """The reason is shown on the card and in the refusal (section 18)."""
    rules = [
        {"then": "ask", "reason": reason} for reason in ("It is late.", "It is much", "It is late")
    ]
    assert judge(policy(*rules), tool()).verdict == Ask(
        reason="It is late; It is much", rememberable=True
    )
    denied = judge(policy({"then": "deny", "reason": "Never."}, *rules), tool()).verdict
    assert denied == Deny(code="denied", reason="Never")


def test_destructive_asks_unless_a_rule_allows_it_and_the_ruling_says_so() -> None:
    """`ask` for `destructive` is a default, the one built-in thing that a rule lifts."""
    judged = tool("drop_it", dangerLevel="destructive")
    assert fired(judge(Policy(), judged)) == [("destructive", "ask")]
    lifted = judge(policy({"match": {"tool": "drop_*"}, "then": "allow"}), judged)
    assert isinstance(lifted.verdict, Allow)
    assert fired(lifted) == [("destructive", "allow"), ("/rules/0", "allow")]
    assert "/rules/0" in lifted.fired[0].reason
    both = judge(policy({"then": "allow"}, {"then": "ask", "by": "operator"}), judged)
    assert isinstance(both.verdict, Ask)
    assert both.verdict.by == "operator"
    other = judge(policy({"match": {"tool": "keep_*"}, "then": "allow"}), judged)
    assert isinstance(other.verdict, Ask)


@pytest.mark.promise("T-15")
def test_no_rule_lowers_ceiling_or_approval() -> None:
    """Built in and not to be lowered by a rule (section 18)."""
    anything = policy({"then": "allow"})
    for judged, ceiling in product(TOOLS, CEILINGS):
        ruling = judge(anything, judged, ceiling=ceiling)
        if not ceiling.admits(judged.category, judged.danger_level):
            assert isinstance(ruling.verdict, Deny)
            assert ruling.verdict.code == "over_ceiling"
        elif judged.requires_approval:
            assert isinstance(ruling.verdict, Ask)
        else:
            assert isinstance(ruling.verdict, Allow)


@pytest.mark.parametrize(
    ("changes", "rules", "rememberable"),
    [
        ({}, [{"then": "ask"}], True),
        ({}, [{"then": "ask", "by": "operator"}], True),
        ({"requiresApproval": True}, [], False),
        ({"requiresApproval": True}, [{"then": "ask"}], False),
        ({"dangerLevel": "destructive"}, [], False),
        ({"dangerLevel": "destructive"}, [{"then": "ask"}], False),
        ({"dangerLevel": "destructive"}, [{"then": "ask"}, {"then": "allow"}], False),
    ],
)
def test_only_what_the_policy_alone_asks_is_remembered(
    changes: dict[str, Any], rules: list[Any], *, rememberable: bool
) -> None:
    """Not the tool's own `requiresApproval`, not `destructive` (section 9, "Inputs")."""
    verdict = judge(policy(*rules), tool(**changes)).verdict
    assert isinstance(verdict, Ask)
    assert verdict.rememberable is rememberable


@pytest.mark.parametrize(
    ("asked", "may"),
    [
        (["user"], {"user", "operator", "user and operator"}),
        (["other"], {"operator", "somebody"}),
        (["operator"], {"operator", "user and operator"}),
        (["user", "other"], {"operator", "somebody"}),
        (["user", "operator"], {"operator", "user and operator"}),
        (["other", "operator"], {"operator"}),
        (["operator", "user", "other"], {"operator"}),
    ],
)
def test_strictest_rule_says_who_may_answer(asked: list[str], may: set[str]) -> None:
    """Whoever answers satisfies every rule that asks, so one more rule never lets more people."""
    people = {
        "user": (True, False),
        "operator": (False, True),
        "user and operator": (True, True),
        "somebody": (False, False),
    }
    verdict = judge(policy(*({"then": "ask", "by": by} for by in asked)), tool()).verdict
    assert isinstance(verdict, Ask)
    assert may == {
        name
        for name, (is_user, is_operator) in people.items()
        if may_answer(verdict, is_user=is_user, is_operator=is_operator)
    }


def test_when_that_cannot_be_judged_asks_and_denies_and_never_allows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Unknown means most dangerous."""
    when = {"properties": {"amount": {"maximum": 1}}}
    rules = [{"when": when, "then": then} for then in ORDER]
    args = {"amount": float("nan")}
    monkeypatch.setattr(Schema, "admits", lambda *_: None)
    judged = tool(dangerLevel="destructive")
    assert fired(judge(policy(*rules), judged, args)) == [
        ("destructive", "ask"),
        ("/rules/1", "ask"),
        ("/rules/2", "deny"),
    ]


def test_when_that_nests_too_deep_to_be_judged_counts_against_the_call() -> None:
    """A real value that no validator may spend the time on: 8 branches, 60 deep."""
    when: Any = {
        "$defs": {"node": {"anyOf": [{"properties": {"next": {"$ref": "#/$defs/node"}}}] * 8}},
        "$ref": "#/$defs/node",
    }
    args: Any = {}
    for _ in range(60):
        args = {"next": args}
    assert judge(policy({"when": when, "then": "deny"}), tool(), args).then == "deny"
    judged = tool(dangerLevel="destructive")
    assert judge(policy({"when": when, "then": "allow"}), judged, args).then == "ask"


def test_refreshed_tool_of_the_same_name_is_judged_as_it_is_now() -> None:
    """What is remembered of a tool is dropped when another takes its name."""
    found = policy({"match": {"category": "action"}, "then": "deny"})
    assert judge(found, tool(category="write")).then == "allow"
    assert judge(found, tool(category="action")).then == "deny"
    assert judge(found, tool(category="write")).then == "allow"


WORDS = {
    "app": ["acme", "other"],
    "tool": ["refund_*", "refund_order", "get_*", "*"],
    "category": ["read", "write", "action"],
    "dangerLevel": ["safe", "moderate", "destructive"],
    "target": ["endpoint", "url"],
    "source": ["session", "api"],
}
MATCHES = st.fixed_dictionaries(
    {},
    optional={key: st.sampled_from([*words, words]) for key, words in WORDS.items()},
)
WHENS = st.sampled_from([{}, OVER_500, {"required": ["note"]}, {"not": {"required": ["note"]}}])


def rules_that(*thens: str) -> st.SearchStrategy[dict[str, Any]]:
    """Rules with one of these verdicts."""
    plain = st.fixed_dictionaries(
        {"then": st.sampled_from(thens), "match": MATCHES, "when": WHENS},
        optional={"reason": st.sampled_from(["a", "b"])},
    )
    asking = st.sampled_from(["user", "other", "operator"])
    return plain.flatmap(
        lambda rule: (
            asking.map(lambda by: {**rule, "by": by}) if rule["then"] == "ask" else st.just(rule)
        )
    )


RULES = st.lists(rules_that(*ORDER), max_size=5)
CALLS = st.fixed_dictionaries(
    {
        "judged": st.sampled_from(TOOLS),
        "args": st.sampled_from([{}, {"amount": 5}, {"amount": 501, "note": "x"}]),
        "ceiling": st.sampled_from(CEILINGS),
        "source": st.sampled_from(["session", "api"]),
    }
)
PEOPLE = list(product((False, True), (False, True)))


def strictness(ruling: Ruling) -> tuple[int, int]:
    """How strict a verdict is, and how few of four kinds of people may answer it."""
    verdict = ruling.verdict
    if not isinstance(verdict, Ask):
        return ORDER.index(ruling.then), 0
    able = sum(may_answer(verdict, is_user=u, is_operator=o) for u, o in PEOPLE)
    return 1, len(PEOPLE) - able


@given(rules=RULES, more=rules_that("ask", "deny"), at=st.integers(0, 5), call=CALLS)
def test_one_more_rule_that_asks_or_denies_never_loosens(
    rules: list[Any], more: Json, at: int, call: Json
) -> None:
    """Neither the verdict nor who may answer."""
    before = judge(policy(*rules), **call)
    after = judge(policy(*rules[:at], more, *rules[at:]), **call)
    assert strictness(after) >= strictness(before)


@given(rules=RULES, more=rules_that("allow"), call=CALLS)
def test_one_more_rule_that_allows_lifts_the_default_of_destructive_alone(
    rules: list[Any], more: Json, call: Json
) -> None:
    """Ceiling and approval flag stand, and so does every rule that asks or denies."""
    before, after = judge(policy(*rules), **call), judge(policy(*rules, more), **call)
    if after.then != before.then:
        assert fired(before) == [("destructive", "ask")]
        assert after.then == "allow"
    else:
        assert strictness(after) == strictness(before)


@given(rules=RULES, call=CALLS, data=st.data())
def test_order_of_rules_decides_nothing(rules: list[Any], call: Json, data: st.DataObject) -> None:
    """The same verdict, the same people, the same reasons."""
    one = judge(policy(*rules), **call)
    other = judge(policy(*data.draw(st.permutations(rules))), **call)
    assert strictness(one) == strictness(other)
    assert sorted((f.verdict, f.reason.split(";")[0]) for f in one.fired) == sorted(
        (f.verdict, f.reason.split(";")[0]) for f in other.fired
    )
    if isinstance(one.verdict, Ask) and isinstance(other.verdict, Ask):
        assert replace(one.verdict, reason="") == replace(other.verdict, reason="")


def test_recheck_follows_the_policy_in_force_and_never_lowers_what_is_built_in() -> None:
    """Permission is checked again now (section 5, step 7): a lifted default stays lifted."""

    def call(approval: Approval | None = None, **changes: object) -> AllowedCall:
        loaded = load_tool(endpoint_tool(**changes))
        return AllowedCall(request=planned(loaded, {}), tool=loaded[0], approval=approval)

    lifted, denied = Allow(reason="lifted"), Deny(code="denied", reason="Not any more")
    destructive = call(dangerLevel="destructive")
    assert isinstance(recheck(destructive, ceiling=HIGHEST), Deny)
    assert isinstance(recheck(destructive, ceiling=HIGHEST, verdict=lifted), SendableCall)
    over = recheck(destructive, ceiling=LOWEST, verdict=lifted)
    assert isinstance(over, Deny)
    assert over.code == "over_ceiling"
    flagged = call(requiresApproval=True)
    assert isinstance(recheck(flagged, ceiling=HIGHEST, verdict=lifted), Deny)
    approved = structs.replace(flagged, approval=Approval(digest=flagged.request.digest, by="ana"))
    assert isinstance(recheck(approved, ceiling=HIGHEST, verdict=lifted), SendableCall)
    assert recheck(approved, ceiling=HIGHEST, verdict=denied) == denied
