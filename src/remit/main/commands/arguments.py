"""The arguments of a call as they are typed, and what is printed when it fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.catalog.mistakes import sentence
from remit.documents.problems import DocumentError, quoted
from remit.documents.strict_json import parse_json
from remit.errors import InvalidArguments
from remit.main.files import read_bytes
from remit.main.output import say

if TYPE_CHECKING:
    from remit.calls.arguments import Arguments
    from remit.values.json import JsonObject, JsonValue


def args_text(args: str) -> bytes:
    """The text of ``--args``: as typed, or of the file after ``@``.

    Raises:
        WrongUse: the file cannot be read.
    """
    if args.startswith("@"):
        return read_bytes(args[1:])
    return args.encode("utf-8", "surrogateescape")


def parse_args(text: bytes, tool: str) -> JsonObject:
    """The arguments, parsed strictly (contract section 5, step 1).

    Raises:
        InvalidArguments: no JSON object.
    """
    try:
        given = parse_json(text)
    except DocumentError as error:
        faults = [
            {"pointer": p.pointer, "rule": "json", "message": p.message} for p in error.problems
        ]
        first = error.problems[0]
        raise InvalidArguments(
            f"{tool} was not called: the arguments are no JSON that can be used: "
            f"{first.message}. {sentence(first.mend)} In a shell, put the JSON in single quotes.",
            details={"faults": faults},
        ) from None
    if not isinstance(given, dict):
        raise InvalidArguments(
            f"{tool} was not called: the arguments must be an object such as {{}}.",
            details={"faults": [{"pointer": "", "rule": "type", "message": "must be an object"}]},
        )
    return given  # pyright: ignore[reportUnknownVariableType] -- a decoded JSON object


def tell(arguments: Arguments, tool: str) -> None:
    """Say on stderr what was not taken as it was given: nothing changes silently."""
    for change in arguments.repaired:
        say(f"Repaired {change.pointer}: {change.words}.")
    for name in arguments.refused_pins:
        say(f"The argument {quoted(name)} was ignored: it is pinned, and the pin wins.")
    for name in arguments.ignored:
        say(f"The argument {quoted(name)} was ignored: {tool} declares no such parameter.")


def error_json(
    code: str,
    message: str,
    tool: str,
    *,
    details: object = None,
    happened: bool = False,
) -> dict[str, JsonValue]:
    """The one error shape (contract section 5)."""
    error: dict[str, JsonValue] = {"code": code, "message": message, "tool": tool}
    if details:
        error["details"] = details  # pyright: ignore[reportArgumentType] -- JSON values
    if happened:
        error["mayHaveHappened"] = True
    return {"error": error}
