"""Reading the fields of a decoded object: of the right type, or a located mistake."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, TypeGuard, TypeVar, cast

from remit.documents.problems import escaped
from remit.values.json import nearest

if TYPE_CHECKING:
    from collections.abc import Collection

    from remit.catalog.mistakes import Mistakes
    from remit.values.json import JsonObject

E = TypeVar("E", bound=Enum)

_TYPES: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "true or false",
    int: "a number",
}


def kind(value: object) -> str:
    """What a JSON value is, in a person's words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return "a number"
    return _TYPES.get(type(value), "a value")


def shown(text: str) -> str:
    """An author's text for a message: control characters shown, at most 80 characters."""
    safe = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text[:81])
    return safe if len(safe) <= 80 else safe[:79] + "…"


def is_object(value: object) -> TypeGuard[JsonObject]:
    """Whether a decoded JSON value is an object."""
    return isinstance(value, dict)


class Fields:
    """One object of an author's document, read field by field.

    A field of the wrong type is a mistake and reads as absent, so that all the mistakes of a
    document are found in one pass. ``at`` is the object's pointer below the collector's root.
    """

    __slots__ = ("at", "mistakes", "values")

    def __init__(self, values: JsonObject, at: str, mistakes: Mistakes) -> None:
        self.values = values
        self.at = at
        self.mistakes = mistakes

    def place(self, key: str) -> str:
        """The pointer of one of its keys."""
        return f"{self.at}/{escaped(key)}"

    def only(self, known: Collection[str], what: str) -> None:
        """Every key that is not known is a mistake: an author's file has no unknown keys."""
        for key in self.values:
            if key not in known:
                near = nearest(key, known)
                mend = (
                    f'did you mean "{near}"?' if near else f"known keys: {', '.join(sorted(known))}"
                )
                self.wrong("unknown-key", key, f'{what} has no key "{shown(key)}"', mend)

    def wrong(self, rule: str, key: str, message: str, mend: str) -> None:
        """Note a mistake at one of its keys."""
        self.mistakes.add(rule, self.place(key), message, mend)

    def missing(self, key: str, what: str, mend: str) -> None:
        """Note that a required key is not there; the place is the object itself."""
        self.mistakes.add("missing-key", self.at, f'{what} needs "{key}"', mend)

    def text(self, key: str) -> str | None:
        """A string, or None where it is absent or no string."""
        value = self.values.get(key)
        if isinstance(value, str):
            return value
        self._refuse(key, "text")
        return None

    def flag(self, key: str) -> bool | None:
        """A boolean, or None where it is absent or no boolean."""
        value = self.values.get(key)
        if isinstance(value, bool):
            return value
        self._refuse(key, "true or false")
        return None

    def whole(self, key: str, low: int, high: int | None = None) -> int | None:
        """An integer within its bounds, or None."""
        value = self.values.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            if value >= low and (high is None or value <= high):
                return value
            bounds = f"at least {low:,}" if high is None else f"from {low:,} to {high:,}"
            self.wrong(
                "out-of-range",
                key,
                f'"{key}" is {shown(f"{value:,}")}',
                f"use a whole number {bounds}",
            )
            return None
        self._refuse(key, "a whole number")
        return None

    def object(self, key: str) -> JsonObject | None:
        """An object, or None."""
        value = self.values.get(key)
        if is_object(value):
            return value
        self._refuse(key, "an object")
        return None

    def items(self, key: str) -> list[object] | None:
        """A list, or None."""
        value = self.values.get(key)
        if isinstance(value, list):
            return cast("list[object]", value)
        self._refuse(key, "a list")
        return None

    def choice(self, key: str, members: type[E]) -> E | None:
        """A member of a closed enum, matched exactly, or None."""
        value = self.values.get(key)
        if isinstance(value, str):
            try:
                return members(value)
            except ValueError:
                pass
            known = [str(member.value) for member in members]
            near = nearest(value.strip(), known)
            hint = f'did you mean "{near}"?' if near else "write one of these"
            self.wrong(
                "unknown-value",
                key,
                f'"{key}" is "{shown(value)}", which is none of {", ".join(known)}',
                hint,
            )
            return None
        self._refuse(key, f"one of {', '.join(str(member.value) for member in members)}")
        return None

    def _refuse(self, key: str, wanted: str) -> None:
        if key in self.values:
            found = kind(self.values[key])
            self.wrong(
                "wrong-type",
                key,
                f'"{key}" must be {wanted}; it is {found}',
                _mend(self.values[key], wanted),
            )


def _mend(value: object, wanted: str) -> str:
    """What to write instead of a value of the wrong type."""
    if value is None:
        return "leave the key out"
    quoted_flag = wanted == "true or false" and value in ("true", "false")
    quoted_number = wanted == "a whole number" and isinstance(value, str) and value.isdecimal()
    if quoted_flag or quoted_number:
        return f"take the quotes away: write {value}"
    return f"write {wanted}"
