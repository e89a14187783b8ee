"""``NAME=VALUE`` options, read once for every command that has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.documents.problems import DocumentError
from remit.documents.strict_json import parse_json
from remit.documents.text import has_surrogate
from remit.errors import WrongUse
from remit.lint.uses import idle_pins
from remit.main.output import say
from remit.values.secrets import Secret

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from remit.catalog.model import Tool
    from remit.values.json import JsonObject, JsonValue


def pairs(option: str, entries: Sequence[str], form: str) -> Iterator[tuple[str, str]]:
    """The names and values of ``NAME=VALUE`` entries.

    Raises:
        WrongUse: one is no pair, or a name stands twice.
    """
    seen: set[str] = set()
    for entry in entries:
        name, equals, value = entry.partition("=")
        if not equals or not name:
            # The value may be a secret, so only the name is repeated.
            raise WrongUse(f"{option} {name[:60]!r}: write {option} {form}.")
        if name in seen:
            raise WrongUse(f"{option} {name!r} is given twice. Keep one.")
        seen.add(name)
        yield name, value


def read_pins(entries: Sequence[str]) -> JsonObject:
    """Pins by argument name, from ``NAME=JSON`` entries.

    Raises:
        WrongUse: no pair, a name twice, or a value that is no JSON.
    """
    pins: dict[str, JsonValue] = {}
    for name, text in pairs("--pin", entries, "NAME=JSON"):
        try:
            pins[name] = parse_json(text)  # pyright: ignore[reportArgumentType] -- a decoded JSON value
        except DocumentError as error:
            raise WrongUse(
                f"--pin {name}: the value is no JSON: {error.problems[0].message}. "
                f"A text needs quotes: --pin '{name}=\"…\"'."
            ) from None
    return pins


def tell_idle_pins(pins: Iterable[str], tools: Iterable[Tool]) -> None:
    """Say which pins reach no tool."""
    listed = tuple(tools)
    whom = listed[0].name if len(listed) == 1 else "no tool of the app"
    has = "has no" if len(listed) == 1 else "has a"
    for name, hint in idle_pins(pins, listed):
        say(f'The pin "{name}" holds nothing: {whom} {has} parameter of that name.{hint}')


def read_env(entries: Sequence[str]) -> dict[str, Secret]:
    """Env values by name, from ``NAME=VALUE`` entries.

    Raises:
        WrongUse: no pair, a name twice, or a value that is no text.
    """
    values: dict[str, Secret] = {}
    for name, text in pairs("--env", entries, "NAME=VALUE"):
        if has_surrogate(text):
            # Bytes of the command line that are no UTF-8; the value itself is not repeated.
            raise WrongUse(f"--env {name!a}: the value is no UTF-8 text, so it cannot be sent.")
        values[name] = Secret(text)
    return values
