"""One call judged by the built-in rules and a workspace's policy (contract sections 5 and 18).

Every rule that holds counts, whatever their order: deny beats ask beats allow. A rule can lift
one built-in thing only, that a destructive tool asks by default.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import Struct

from remit.catalog.scales import DangerLevel
from remit.policy.decisions import (
    APPROVAL_REASON,
    DESTRUCTIVE_REASON,
    Allow,
    Ask,
    Asked,
    Deny,
    Verdict,
    decide,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from remit.catalog.model import Tool
    from remit.catalog.scales import Ceiling
    from remit.policy.rules import Policy, Rule, Source, Then
    from remit.values.json import JsonObject, JsonValue

# The mildest first: of several that ask, the strictest says who may answer.
_STRICTNESS: tuple[Asked, ...] = ("user", "other", "operator")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fired:
    """One rule that counted for a call, as its record holds it (contract section 10).

    Attributes:
        rule: a pointer into the policy, such as ``/rules/0``, or a built-in rule: ``ceiling``,
            ``requiresApproval``, ``destructive``.
        verdict: what it says; ``allow`` of ``destructive`` is the default, lifted.
    """

    rule: str
    verdict: Then
    reason: str

    def as_json(self) -> JsonObject:
        """The rule as data."""
        return {"rule": self.rule, "verdict": self.verdict, "reason": self.reason}


class Ruling(Struct, frozen=True, kw_only=True):
    """What the built-in rules and the policy say of one call.

    Attributes:
        fired: what counted: built-in rules first, then the policy's in the order written; ()
            where nothing did and the call is allowed.
    """

    verdict: Verdict
    fired: tuple[Fired, ...]

    @property
    def then(self) -> Then:
        """The verdict in a word."""
        if isinstance(self.verdict, Deny):
            return "deny"
        return "ask" if isinstance(self.verdict, Ask) else "allow"


def evaluate(
    policy: Policy,
    tool: Tool,
    *,
    app: str,
    ceiling: Ceiling,
    args: Mapping[str, JsonValue],
    source: Source,
) -> Ruling:
    """Judge one call.

    Args:
        policy: in force now.
        tool: of the effective catalog.
        app: id of its app.
        ceiling: in force now.
        args: final: pins merged, repaired, valid.
        source: where the call comes from.
    """
    standing = decide(tool, ceiling)
    holding = [rule for rule in policy.index.covering(app, tool) if rule.holds(args, source)]
    if not holding and isinstance(standing, Allow):
        return Ruling(verdict=standing, fired=())
    fired = (*_built_in(tool, standing, holding), *map(_told, holding))
    if any(one.verdict == "deny" for one in fired):
        code = "over_ceiling" if isinstance(standing, Deny) else "denied"
        return Ruling(verdict=Deny(code=code, reason=_reasons(fired, "deny")), fired=fired)
    if any(one.verdict == "ask" for one in fired):
        return Ruling(verdict=_ask(tool, holding, fired), fired=fired)
    return Ruling(verdict=Allow(reason=_reasons(fired, "allow")), fired=fired)


def _built_in(tool: Tool, standing: Verdict, holding: Iterable[Rule]) -> list[Fired]:
    """The built-in rules that count."""
    found: list[Fired] = []
    if isinstance(standing, Deny):
        found.append(Fired(rule="ceiling", verdict="deny", reason=standing.reason))
    if tool.requires_approval:
        found.append(Fired(rule="requiresApproval", verdict="ask", reason=APPROVAL_REASON))
    elif tool.danger_level is DangerLevel.DESTRUCTIVE:
        lifting = [rule.name for rule in holding if rule.then == "allow"]
        if lifting:
            reason = f"{DESTRUCTIVE_REASON}; {', '.join(lifting)} lifts that a person is asked"
            found.append(Fired(rule="destructive", verdict="allow", reason=reason))
        else:
            found.append(Fired(rule="destructive", verdict="ask", reason=DESTRUCTIVE_REASON))
    return found


def _told(rule: Rule) -> Fired:
    return Fired(rule=rule.name, verdict=rule.then, reason=rule.reason)


def _ask(tool: Tool, holding: Iterable[Rule], fired: tuple[Fired, ...]) -> Ask:
    """The one question that answers all that ask: the strictest of who may, and every reason."""
    asked: list[Asked] = ["user", *(rule.by for rule in holding if rule.then == "ask")]
    by = max(asked, key=_STRICTNESS.index)
    own = tool.requires_approval or tool.danger_level is DangerLevel.DESTRUCTIVE
    return Ask(
        reason=_reasons(fired, "ask"),
        by=by,
        rememberable=not own,
        # An operator alone would be the user too, where the user is one.
        apart="other" in asked,
    )


def _reasons(fired: Iterable[Fired], verdict: Then) -> str:
    """The reasons of one kind, each once, as the end of a sentence."""
    reasons = dict.fromkeys(one.reason.removesuffix(".") for one in fired if one.verdict == verdict)
    return "; ".join(reasons)
