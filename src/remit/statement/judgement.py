"""How bad one call is: by what is declared and by what the request shows (promise T-14).

The app declares category and danger level. Where the facts of its request, or its own name,
say otherwise, the remit says the fact beside the word. Words are judged, never known: the list
is short, and it only ever adds a remark.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.catalog.overrides import override_of
from remit.catalog.scales import Category, DangerLevel, Method

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remit.catalog.model import Tool
    from remit.statement.subject import Subject

_HARSH = frozenset(
    (
        *("delete", "remove", "erase", "purge", "wipe", "destroy", "revoke", "cancel", "overwrite"),
        *("pay", "charge", "refund", "transfer", "purchase", "buy", "send", "publish", "deploy"),
    )
)
_READING = frozenset(
    (
        *("get", "list", "find", "search", "fetch", "read", "show", "view", "check", "count"),
        *("preview", "describe", "compare", "lookup", "estimate", "simulate", "validate", "verify"),
    )
)
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
_METHOD_RANK = (Method.GET, Method.POST, Method.PATCH, Method.PUT, Method.DELETE)


def remark_on(tool: Tool) -> str | None:
    """Where words and facts of a tool disagree, to follow its name; None where they do not."""
    override = override_of(tool.request) if tool.request else None
    if override is not None and tool.request is not None:
        asked = override.method or "whatever method an argument names"
        return f"is sent as {tool.request.method.value}, but it asks the app to treat it as {asked}"
    method = tool.request.method if tool.request else None
    says = _mildest_claim(tool)
    if method is Method.DELETE and says is not None:
        return f"says it {says}, but it uses DELETE"
    if tool.category is Category.READ and method in (Method.PUT, Method.PATCH):
        return f"says it only reads, but it uses {method.value}, which overwrites"
    word = _harsh_word(tool)
    if tool.danger_level is DangerLevel.SAFE and word is not None:
        return f"says it is safe, but its own name says {word}"
    return None


def treated_as(tool: Tool) -> Method | None:
    """The method that the app will take a call for; the worst where nobody can tell."""
    if tool.request is None:
        return None
    override = override_of(tool.request)
    if override is None:
        return tool.request.method
    return next((m for m in Method if m.value == override.method), Method.DELETE)


def is_doubtful(tool: Tool) -> bool:
    """Whether a tool reads by POST, as some searches do, and nothing else speaks against it."""
    posts = tool.request is not None and tool.request.method is Method.POST
    return posts and tool.category is Category.READ and remark_on(tool) is None


def _mildest_claim(tool: Tool) -> str | None:
    if tool.danger_level is DangerLevel.SAFE:
        return "is safe"
    return "only reads" if tool.category is Category.READ else None


def _harsh_word(tool: Tool) -> str | None:
    """A word for lasting harm at the front of the name or title, or at the end of the name."""
    for text, places in ((tool.name, (0, -1)), (tool.title or "", (0,))):
        words = [word.lower() for word in _WORDS.split(text) if word]
        if not words or words[0] in _READING:
            continue
        found = next((words[at] for at in places if words[at] in _HARSH), None)
        if found is not None:
            return found
    return None


def likely_danger(tool: Tool) -> DangerLevel:
    """The declared danger level, or the one that the facts suggest where that is higher."""
    method = treated_as(tool)
    if method is Method.DELETE and _mildest_claim(tool) is not None:
        return DangerLevel.DESTRUCTIVE
    understated = tool.category is Category.READ and method in (Method.PUT, Method.PATCH)
    if understated or (tool.danger_level is DangerLevel.SAFE and _harsh_word(tool) is not None):
        return max(tool.danger_level, DangerLevel.MODERATE)
    return tool.danger_level


def badness(subject: Subject, tool: Tool) -> tuple[int, int, int, int, int]:
    """How bad one wrong call is, to be compared: the greater the worse.

    In this order: the danger, whether nobody is asked first, the category, the method, and
    whether it goes to an outside host.
    """
    method = treated_as(tool)
    return (
        likely_danger(tool).rank,
        int(not subject.stops(tool)),
        tool.category.rank,
        -1 if method is None else _METHOD_RANK.index(method),
        int(subject.reach[tool.name].place.kind == "url"),
    )


def worst_of(subject: Subject, tools: Iterable[Tool]) -> tuple[Tool, ...]:
    """The tools whose single call is the worst; more than one where they are equally bad."""
    ranked = [(badness(subject, tool), tool) for tool in tools]
    highest = max((rank for rank, _ in ranked), default=None)
    return tuple(tool for rank, tool in ranked if rank == highest)
