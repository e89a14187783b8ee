"""How what an approval fixes is said to a person: one wording for diff, lock and remit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.catalog.scales import Category, DangerLevel
from remit.values.visible import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.catalog.scales import Ceiling
    from remit.policy.reach import Place, ToolReach

CATEGORY_WORDS: Mapping[Category, str] = {
    Category.READ: "only read",
    Category.WRITE: "read and change data in the app",
    Category.ACTION: "read, change data in the app and set things off beyond it",
}
CATEGORY_DEEDS: Mapping[Category, str] = {
    Category.READ: "reads",
    Category.WRITE: "changes data",
    Category.ACTION: "sets things off",
}
CREDENTIAL_WORDS: Mapping[str, str] = {
    "none": "no credential",
    "bearer": "a bearer token",
    "basic": "a user name and password",
    "apiKey": "an API key",
    "oauth2": "an OAuth sign-in",
    "identity": "a signed identity token",
}

DANGER_WORDS: Mapping[DangerLevel, str] = {
    DangerLevel.SAFE: "must be safe",
    DangerLevel.MODERATE: "may be moderate, never destructive",
    DangerLevel.DESTRUCTIVE: "may be destructive",
}
_BLANKS = re.compile(r"\s+")
_INNER_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "‟": '"'})


def quoted(text: str) -> str:
    """Words that are not ours, on one line, between curly quotes.

    What cannot be seen is made visible, a line break is a ``⏎``, and a curly quote inside is
    written straight, so that the words can neither leave their quotes nor begin a line.
    """
    return f"“{one_line(text)}”"


def one_line(text: str) -> str:
    """Words that are not ours as ``quoted`` has them, without its quotes."""
    seen = visible(text.translate(_INNER_QUOTES)).replace("\n", " ⏎ ")
    return _BLANKS.sub(" ", seen).strip()


def facts_of(tool: ToolReach) -> str:
    """A tool in the platform's words: danger, category, method, place, who is asked."""
    where = place_words(tool.place)
    how = where if tool.method is None else f"{tool.method.value} {where}"
    asks = "asks a person first" if tool.stops else "asks nobody"
    return f"{tool.danger_level.value}, {tool.category.value}, {how}, {asks}"


def place_words(place: Place) -> str:
    """Where a request goes, as the second half of "it goes"."""
    if place.kind == "client":
        return f"to the handler {quoted(place.name)} in the user's own client"
    if place.kind == "app":
        return f"to {place.origin or 'the app'} (component {quoted(place.name)})"
    if place.kind == "url":
        return f"to {place.origin}, an outside host"
    return f"to {place.origin or 'the app'}"


def ceiling_words(ceiling: Ceiling) -> str:
    """What tools up to a ceiling may be, as the second half of a sentence."""
    category, danger_level = CATEGORY_WORDS[ceiling.category], DANGER_WORDS[ceiling.danger_level]
    return f"tools that may {category}, and {danger_level}"
