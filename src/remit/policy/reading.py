"""A policy from a decoded document to values, every mistake located at once (section 18)."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, get_args

from remit.catalog.definitions import ID
from remit.catalog.mistakes import Mistake, Mistakes
from remit.catalog.reading import Fields, is_object, kind, shown
from remit.catalog.scales import Category, DangerLevel
from remit.documents.problems import DocumentError
from remit.documents.schema import check_schema, compile_schema
from remit.policy.catalogs import CatalogMode
from remit.policy.decisions import Asked
from remit.policy.limits import Limits
from remit.policy.rules import Match, Policy, Rule, Source, TargetKind, Then
from remit.values.json import nearest
from remit.values.visible import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.documents.schema import Schema
    from remit.values.json import JsonValue

T = TypeVar("T")

MAX_RULES = 1_000
MAX_REASON = 300
MAX_LISTED = 200
MAX_LIMIT = 1_000_000_000_000
_KEYS = ("$schema", "rules", "catalog", "limits")
_RULE_KEYS = ("match", "when", "then", "by", "reason")
_MATCH_KEYS = ("app", "tool", "category", "dangerLevel", "target", "source")
_LIMIT_KEYS = ("callsPerRun", "writesPerRun", "tokensPerUserDay")
_GLOB = re.compile(r"[A-Za-z0-9_*?-]{1,100}")
_CATEGORIES = {member.value: member for member in Category}
_DANGER_LEVELS = {member.value: member for member in DangerLevel}
_TARGETS: Mapping[str, TargetKind] = {word: word for word in get_args(TargetKind)}
_SOURCES: Mapping[str, Source] = {word: word for word in get_args(Source)}
_THEN: Mapping[str, Then] = {word: word for word in get_args(Then)}
_ASKED: Mapping[str, Asked] = {word: word for word in get_args(Asked)}
_CATALOG: Mapping[str, CatalogMode] = {word: word for word in get_args(CatalogMode)}
_REASONS: Mapping[Then, str] = {
    "allow": "a rule of the workspace allows it",
    "ask": "a rule of the workspace asks for a person",
    "deny": "a rule of the workspace forbids it",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedPolicy:
    """A policy as far as it could be loaded.

    Attributes:
        policy: None where there is any mistake: a rule that is left out could be the one that
            denies.
        mistakes: every mistake of the document.
    """

    policy: Policy | None
    mistakes: tuple[Mistake, ...]


def load_policy(document: JsonValue) -> LoadedPolicy:
    """Load a policy, whole or not at all.

    Args:
        document: the decoded document.
    """
    mistakes = Mistakes()
    if not is_object(document):
        mistakes.add(
            "wrong-type",
            "",
            f"a policy must be an object; it is {kind(document)}",
            "write rules, catalog and limits, all of which may be left out",
        )
        return LoadedPolicy(policy=None, mistakes=tuple(mistakes.found))
    fields = Fields(document, "", mistakes)
    fields.only(_KEYS, "a policy")
    rules = _read_rules(fields)
    catalog = _choice(fields, "catalog", _CATALOG) or "live"
    limits = _read_limits(fields)
    if mistakes.found:
        return LoadedPolicy(policy=None, mistakes=tuple(mistakes.found))
    policy = Policy(rules=rules, catalog=catalog, limits=limits, record=document)
    return LoadedPolicy(policy=policy, mistakes=())


def _read_rules(fields: Fields) -> tuple[Rule, ...]:
    records = fields.items("rules") or []
    if len(records) > MAX_RULES:
        fields.wrong(
            "too-long",
            "rules",
            f"the policy has {len(records):,} rules; {MAX_RULES:,} are allowed",
            "join rules that differ in one value: a key of match takes a list",
        )
        return ()
    found: list[Rule] = []
    for index, record in enumerate(records):
        at = f"/rules/{index}"
        if not is_object(record):
            fields.mistakes.add(
                "wrong-type",
                at,
                f"a rule must be an object; it is {kind(record)}",
                "write {match, when, then, by, reason}; only then is required",
            )
            continue
        rule = _read_rule(Fields(record, at, fields.mistakes))
        if rule is not None:
            found.append(rule)
    return tuple(found)


def _read_rule(fields: Fields) -> Rule | None:
    fields.only(_RULE_KEYS, "a rule")
    if "then" not in fields.values:
        fields.missing("then", "a rule", "say allow, ask or deny; there is no default")
    then = _choice(fields, "then", _THEN)
    by = _choice(fields, "by", _ASKED)
    if "by" in fields.values and then is not None and then != "ask":
        fields.wrong(
            "unknown-key",
            "by",
            f'"by" says who may answer, and a rule with "then": "{then}" asks nobody',
            'take it out, or write "then": "ask"',
        )
    match = _read_match(fields)
    when = _read_when(fields)
    reason = _read_reason(fields)
    if then is None:
        return None
    return Rule(
        name=fields.at,
        match=match,
        when=when,
        then=then,
        by=by or "user",
        reason=reason or _REASONS[then],
    )


def _read_match(fields: Fields) -> Match:
    record = fields.object("match")
    if record is None:
        return Match()
    inner = Fields(record, fields.place("match"), fields.mistakes)
    inner.only(_MATCH_KEYS, "match")
    return Match(
        apps=_read_apps(inner),
        tools=_read_tools(inner),
        categories=_chosen(inner, "category", _CATEGORIES),
        danger_levels=_chosen(inner, "dangerLevel", _DANGER_LEVELS),
        targets=_chosen(inner, "target", _TARGETS),
        sources=_chosen(inner, "source", _SOURCES),
    )


def _read_apps(fields: Fields) -> frozenset[str] | None:
    found: list[str] = []
    for at, app in _texts(fields, "app"):
        if ID.fullmatch(app):
            found.append(app)
        else:
            fields.mistakes.add(
                "unknown-value",
                at,
                f'"{shown(app)}" is no app id, so the rule would never match',
                "write the app's id as it is; leave app out to match every app",
            )
    return frozenset(found) if "app" in fields.values else None


def _read_tools(fields: Fields) -> re.Pattern[str] | None:
    found: list[str] = []
    for at, glob in _texts(fields, "tool"):
        if _GLOB.fullmatch(glob):
            found.append(glob)
        else:
            fields.mistakes.add(
                "unknown-value",
                at,
                f'"{shown(glob)}" can match no tool name',
                "use letters, digits, _ and -, with * for any characters and ? for one; "
                "at most 100 in all",
            )
    # In its translation a * never looks back, so a match takes linear time.
    return re.compile("|".join(map(fnmatch.translate, found))) if found else None


def _read_when(fields: Fields) -> Schema | None:
    record = fields.object("when")
    if record is None:
        return None
    problems = check_schema(record, at=fields.place("when"))
    for problem in problems:
        fields.mistakes.add("bad-schema", problem.pointer, problem.message, problem.mend)
    if problems:
        return None
    try:
        return compile_schema(record)
    except DocumentError as error:
        problem = error.problems[0]
        fields.wrong("bad-schema", "when", problem.message, problem.mend)
        return None


def _read_reason(fields: Fields) -> str:
    text = fields.text("reason")
    if text is None:
        return ""
    # It stands on one line of a card and at the end of a sentence.
    reason = " ".join(visible(text).split())
    if len(reason) > MAX_REASON:
        fields.wrong(
            "too-long",
            "reason",
            f"the reason has {len(reason):,} characters; {MAX_REASON} are allowed",
            "shorten it; it is never cut for you",
        )
    return reason


def _read_limits(fields: Fields) -> Limits:
    record = fields.object("limits")
    if record is None:
        return Limits()
    inner = Fields(record, "/limits", fields.mistakes)
    inner.only(_LIMIT_KEYS, "limits")
    calls, writes, tokens = (inner.whole(key, 0, MAX_LIMIT) for key in _LIMIT_KEYS)
    return Limits(calls_per_run=calls, writes_per_run=writes, tokens_per_user_day=tokens)


def _choice(fields: Fields, key: str, known: Mapping[str, T]) -> T | None:
    """One of the words known, or None."""
    text = fields.text(key)
    return None if text is None else _word(fields, fields.place(key), text, key, known)


def _chosen(fields: Fields, key: str, known: Mapping[str, T]) -> frozenset[T] | None:
    """A value or a list of values, each one of those known; None where the key is absent."""
    if key not in fields.values:
        return None
    found = (_word(fields, at, text, key, known) for at, text in _texts(fields, key))
    return frozenset(value for value in found if value is not None)


def _word(fields: Fields, at: str, text: str, key: str, known: Mapping[str, T]) -> T | None:
    if text in known:
        return known[text]
    near = nearest(text.strip(), known)
    fields.mistakes.add(
        "unknown-value",
        at,
        f'"{key}" is "{shown(text)}", which is none of {", ".join(known)}',
        f'did you mean "{near}"?' if near else "write one of these",
    )
    return None


def _texts(fields: Fields, key: str) -> list[tuple[str, str]]:
    """The texts of a key that takes one or a list of them, each with its pointer."""
    value = fields.values.get(key)
    if not isinstance(value, list):
        text = fields.text(key)
        return [] if text is None else [(fields.place(key), text)]
    if not 1 <= len(value) <= MAX_LISTED:
        fields.wrong(
            "out-of-range",
            key,
            f'"{key}" lists {len(value):,} values',
            f"list 1 to {MAX_LISTED}; leave the key out to match everything",
        )
        return []
    found: list[tuple[str, str]] = []
    for index, item in enumerate(value):
        at = f"{fields.place(key)}/{index}"
        if isinstance(item, str):
            found.append((at, item))
        else:
            fields.mistakes.add(
                "wrong-type", at, f'"{key}" lists texts; this is {kind(item)}', "write text"
            )
    return found
