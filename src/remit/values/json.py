"""The types of a decoded JSON value, and what a name close to another one is."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
JsonObject: TypeAlias = "dict[str, JsonValue]"

# Nobody means a short name by a longer text, and comparing one takes time.
_MAX_NAME = 200


def same_json(left: JsonValue, right: JsonValue) -> bool:
    """JSON equality: ``1`` and ``true`` differ, ``1`` and ``1.0`` do not."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same_json(left[k], right[k]) for k in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same_json, left, right))
    return left == right


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that a person most likely meant by ``name``, or None."""
    if len(name) > _MAX_NAME:
        return None
    by_folded = {candidate.casefold(): candidate for candidate in known}
    found = get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None
