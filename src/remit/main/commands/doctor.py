"""``remit doctor``: looks whether a server could run here, and says the mend where it could not."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from remit.errors import RemitError, StoreUnavailable
from remit.main.output import paint, print_json, print_text, say

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from remit.main.examining import Found
    from remit.main.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the report; ``fault`` has the place and the mend in it."""

    check: str
    words: str
    fault: bool


def run(load: Callable[[], Settings], config: Path | None, *, as_json: bool) -> int:
    """Print a line for each check; 1 where one of them is a fault."""
    lines = _examined(load, config)
    if as_json:
        print_json(
            {"checks": [{"check": x.check, "ok": not x.fault, "words": x.words} for x in lines]}
        )
    else:
        print_text("\n".join(_drawn(line) for line in lines))
    faults = sum(line.fault for line in lines)
    if faults:
        say(f"\n{faults} of {len(lines)} checks found a fault. Mend it, then run this again.")
    elif not as_json:
        say("\nNothing stands in the way. Next: remit serve")
    return 1 if faults else 0


def _examined(load: Callable[[], Settings], config: Path | None) -> list[Line]:
    from remit.main.examining import CHECKS, of_settings

    try:
        settings = load()
    except RemitError as error:
        # Nothing else can be looked at: where would it be?
        return [Line(check="settings", words=error.message, fault=True)]
    lines = [_line("settings", lambda: of_settings(config))]
    lines += [
        _line(name, lambda check=check: asyncio.run(check(settings))) for name, check in CHECKS
    ]
    return lines


def _line(name: str, check: Callable[[], Found]) -> Line:
    try:
        found = check()
    except StoreUnavailable as error:
        words = error.message if name == "store" else "cannot be known: the store does not answer"
        return Line(check=name, words=words, fault=True)
    except RemitError as error:
        return Line(check=name, words=error.message, fault=True)
    return Line(check=name, words=found.words, fault=found.fault)


def _drawn(line: Line) -> str:
    mark = paint("fault", "red", sys.stdout) if line.fault else paint("ok   ", "green", sys.stdout)
    first, *rest = line.words.split("\n")
    return "\n".join([f"{mark}  {line.check:<8}  {first}", *(f"{'':17}{more}" for more in rest)])
