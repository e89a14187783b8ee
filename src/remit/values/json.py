"""The types of a decoded JSON value, and what a name close to another one is."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

JsonValue: TypeAlias = (
    "None | bool | int | float | str | list[JsonValue] | dict[str, JsonValue]"
)
JsonObject: TypeAlias = "dict[str, JsonValue]"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that a person most likely meant by ``name``, or None."""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    found = get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None
