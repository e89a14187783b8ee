"""Following a dotted path into a JSON value: own keys and indexes only, never attributes."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.values.json import JsonObject, JsonValue


class _Missing(Enum):
    MISSING = "missing"


MISSING: Final = _Missing.MISSING
Found: TypeAlias = "JsonValue | _Missing"
_ROW = frozenset({dict})


def find(value: JsonValue, path: Sequence[str]) -> Found:
    """The value at a path, or ``MISSING``; a number indexes an array."""
    for segment in path:
        if isinstance(value, dict):
            if segment not in value:
                return MISSING
            value = value[segment]
        elif isinstance(value, list):
            if not (segment.isascii() and segment.isdigit()) or len(segment) > 9:
                return MISSING
            index = int(segment)
            if index >= len(value):
                return MISSING
            value = value[index]
        else:
            return MISSING
    return value


def collect(value: JsonValue, path: Sequence[str]) -> Found:
    """As ``find``; ``*`` collects over an array what is there in its items."""
    if "*" not in path:
        return find(value, path)
    star = path.index("*")
    array = find(value, path[:star])
    if not isinstance(array, list):
        # On an object a star is a key like any other.
        return collect_in_object(array, path[star:])
    rest = path[star + 1 :]
    if len(rest) == 1 and rest[0] != "*" and _ROW.issuperset(map(type, array)):
        # A field of each row, as nearly always.
        key, rows = rest[0], cast("list[JsonObject]", array)
        return [row[key] for row in rows if key in row]
    follow = collect if "*" in rest else find
    found = [follow(item, rest) for item in array]
    return [item for item in found if item is not MISSING]


def collect_in_object(value: Found, path: Sequence[str]) -> Found:
    """Follow a path that begins with a star below something that is no array."""
    if isinstance(value, dict) and path[0] in value:
        return collect(value[path[0]], path[1:])
    return MISSING
