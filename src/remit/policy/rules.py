"""A workspace's policy as values: its rules, what they match, when they hold (section 18)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, final

from remit.catalog.model import AppTarget, ClientTarget, UrlTarget
from remit.policy.limits import Limits

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping

    from remit.catalog.model import Tool
    from remit.catalog.scales import Category, DangerLevel
    from remit.documents.schema import Schema
    from remit.policy.catalogs import CatalogMode
    from remit.policy.decisions import Asked
    from remit.values.json import JsonObject, JsonValue

Then = Literal["allow", "ask", "deny"]
Source = Literal["session", "api", "mcp", "button", "cli"]
TargetKind = Literal["endpoint", "app", "url", "client"]

# Tools whose rules are remembered at once; beyond, all are looked up anew.
_MAX_KNOWN = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Which calls a rule is about; None matches everything.

    Attributes:
        apps: app ids.
        tools: a pattern for the whole catalog name.
        categories, danger_levels: exactly these, not those above or below.
        targets: ``endpoint``, or the ``type`` of a target.
        sources: where the call came from.
    """

    apps: frozenset[str] | None = None
    tools: re.Pattern[str] | None = None
    categories: frozenset[Category] | None = None
    danger_levels: frozenset[DangerLevel] | None = None
    targets: frozenset[TargetKind] | None = None
    sources: frozenset[Source] | None = None

    def covers(self, app: str, tool: Tool) -> bool:
        """Whether calls of a tool can be meant; the source is left open."""
        return (
            (self.apps is None or app in self.apps)
            and (self.tools is None or self.tools.match(tool.name) is not None)
            and (self.categories is None or tool.category in self.categories)
            and (self.danger_levels is None or tool.danger_level in self.danger_levels)
            and (self.targets is None or target_kind(tool) in self.targets)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule of a policy.

    Attributes:
        name: its RFC 6901 pointer in the policy, such as ``/rules/0``; records hold it.
        when: a schema over the final arguments; None holds for all.
        by: who may answer, where ``then`` is ``ask``.
        reason: for the card, the refusal and the record; never empty.
    """

    name: str
    match: Match
    when: Schema | None
    then: Then
    by: Asked
    reason: str

    def holds(self, args: Mapping[str, JsonValue], source: Source) -> bool:
        """Whether it counts for a call of a tool that ``match`` covers.

        Where ``when`` cannot be judged the most dangerous is taken to be true: a rule that asks
        or denies counts, one that allows does not.
        """
        sources = self.match.sources
        if sources is not None and source not in sources:
            return False
        if self.when is None:
            return True
        fits = self.when.admits(args)
        return self.then != "allow" if fits is None else fits


@final
class RuleIndex:
    """The rules by tool: those that cover one are looked for once, at its first call."""

    __slots__ = ("_known", "_rules")

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self._rules = rules
        self._known: dict[tuple[str, str], tuple[Tool, tuple[Rule, ...]]] = {}

    def covering(self, app: str, tool: Tool) -> tuple[Rule, ...]:
        """The rules that can hold for a tool of an app, in the order written."""
        if not self._rules:
            return ()
        key = (app, tool.name)
        known = self._known.get(key)
        # A refresh makes another tool of the same name.
        if known is not None and known[0] is tool:
            return known[1]
        rules = tuple(rule for rule in self._rules if rule.match.covers(app, tool))
        if len(self._known) >= _MAX_KNOWN:
            self._known.clear()
        self._known[key] = (tool, rules)
        return rules


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a workspace allows; the default value adds nothing to the built-in rules.

    Attributes:
        rules: in the order written, which decides nothing.
        catalog: whether new tools of a refresh are used at once, wait, or never come.
        record: the decoded document.
    """

    rules: tuple[Rule, ...] = ()
    catalog: CatalogMode = "live"
    limits: Limits = field(default_factory=Limits)
    record: JsonObject = field(default_factory=dict["str", "JsonValue"])
    index: RuleIndex = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "index", RuleIndex(self.rules))


def target_kind(tool: Tool) -> TargetKind:
    """The kind of a tool's destination, in the words of a policy."""
    destination = tool.destination
    if isinstance(destination, ClientTarget):
        return "client"
    if isinstance(destination, AppTarget):
        return "app"
    return "url" if isinstance(destination, UrlTarget) else "endpoint"
