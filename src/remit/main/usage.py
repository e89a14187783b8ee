"""A command line that cannot be understood: what is wrong with it, and how to type it."""

from __future__ import annotations

import re
from io import StringIO
from typing import TYPE_CHECKING, Protocol, cast

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO

# Typer keeps click to itself and publishes this child of its UsageError alone.
_USAGE_ERROR = typer.BadParameter.__mro__[1]
_VALIDATOR = re.compile(r"(: )Value error, ")
_BEFORE = ("--config", "--version")
_OF_SERVER = ("host", "port")


class _UsageError(Protocol):
    """What click's UsageError has."""

    message: str

    def show(self, file: IO[str]) -> None: ...


def spelled_out(arguments: Sequence[str]) -> list[str]:
    """The command line with ``help`` as people type it: ``remit help lint``."""
    if list(arguments[:1]) == ["help"]:
        return [*arguments[1:], "--help"]
    return list(arguments)


def told(error: Exception, arguments: Sequence[str]) -> str | None:
    """The words for a fault of usage; None where the error is another one.

    Args:
        error: what running the command line raised.
        arguments: the command line.
    """
    if not isinstance(error, _USAGE_ERROR):
        return None
    fault = cast("_UsageError", error)
    shown = StringIO()
    fault.show(shown)
    words = _VALIDATOR.sub(r"\1", shown.getvalue().rstrip(), count=1)
    hint = _hint(fault.message, arguments)
    return words if hint is None else f"{words}\n{hint}"


def _hint(message: str, arguments: Sequence[str]) -> str | None:
    command = next((word for word in arguments if not word.startswith("-")), "COMMAND")
    for option in _BEFORE:
        if message == f"No such option: {option}":
            value = " FILE" if option == "--config" else ""
            after = "" if option == "--version" else f" {command} …"
            return f"{option} stands before the command: remit {option}{value}{after}"
    for key in _OF_SERVER:
        if command == "serve" and message == f"No such option: --{key}":
            return f"Where it listens is a setting: REMIT_SERVER_{key.upper()}, or [server] {key}."
    if message.startswith("Got unexpected extra argument"):
        if command == "call" and any(word.lstrip().startswith("{") for word in arguments):
            return "The arguments of the tool stand after --args: --args '{…}'"
        if command == "call" and len(arguments) > 3:
            return "After FILE and TOOL come options only; an argument of the tool is in --args."
    return None
