"""Policies and the calls that they judge, for the tests of this room."""

from __future__ import annotations

from remit.catalog.model import Tool
from remit.catalog.scales import Category, Ceiling, DangerLevel
from remit.policy.reading import load_policy
from remit.policy.rules import Policy, Source
from remit.policy.verdicts import Ruling, evaluate
from remit.values.json import JsonObject, JsonValue
from tests.catalog.documents import Json, endpoint_tool, load_tool

HIGHEST = Ceiling(category=Category.ACTION, danger_level=DangerLevel.DESTRUCTIVE)
LOWEST = Ceiling(category=Category.READ, danger_level=DangerLevel.SAFE)


def policy(*rules: Json, **further: JsonValue) -> Policy:
    """A policy that must load without a mistake."""
    loaded = load_policy({"rules": list(rules), **further})
    assert loaded.policy is not None, [str(mistake) for mistake in loaded.mistakes]
    return loaded.policy


def tool(name: str = "refund_order", **changes: object) -> Tool:
    """A tool on the app itself."""
    return load_tool(endpoint_tool(name, **changes))[0]


def judge(
    found: Policy,
    judged: Tool,
    args: JsonObject | None = None,
    *,
    app: str = "acme",
    ceiling: Ceiling = HIGHEST,
    source: Source = "session",
) -> Ruling:
    """The ruling on one call."""
    return evaluate(found, judged, app=app, ceiling=ceiling, args=args or {}, source=source)
