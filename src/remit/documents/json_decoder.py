"""The standard library's C parser, with hooks that refuse what strict JSON refuses."""

from __future__ import annotations

import json
import re
from math import isinf

from remit.documents.problems import Problem
from remit.documents.text import first_deeper, place

#: The most digits of one integer: what Python converts without quadratic cost.
MAX_DIGITS = 4300

_BLANKS = re.compile(r"[ \t\n\r]*")
# One escape at a time, so that an escaped backslash never looks like the start of another one.
_ESCAPES = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|\\u[dD](?P<alone>[89a-fA-F])[0-9a-fA-F]{2}"
    r"|\\.",
    re.DOTALL,
)


class NotStrict(ValueError):
    """The C parser would have taken it; strict JSON does not."""


def object_of(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of its pairs.

    Raises:
        NotStrict: a key stands twice.
    """
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotStrict
    return found


def finite(digits: str) -> float:
    """A float of its JSON text.

    Raises:
        NotStrict: it is beyond the largest double.
    """
    number = float(digits)
    if isinf(number):
        raise NotStrict
    return number


def whole(digits: str) -> int:
    """An integer of its JSON text, every digit kept.

    Raises:
        NotStrict: it has more than ``MAX_DIGITS`` digits.
    """
    if len(digits) - digits.startswith("-") > MAX_DIGITS:
        raise NotStrict
    return int(digits)


def _refuse_constant(_name: str) -> object:
    raise NotStrict


#: Raises ``NotStrict`` or ``json.JSONDecodeError``; it holds no state between calls.
DECODER = json.JSONDecoder(
    object_pairs_hook=object_of,
    parse_constant=_refuse_constant,
    parse_float=finite,
    parse_int=whole,
)


def lone_surrogate(text: str, start: int = 0, end: int | None = None) -> int | None:
    r"""The offset of the first ``\ud800`` escape without its other half, or None."""
    for match in _ESCAPES.finditer(text, start, len(text) if end is None else end):
        if match.group("alone"):
            return match.start()
    return None


def skip_blanks(text: str, at: int) -> int:
    """The offset of the next character that is no JSON white space."""
    match = _BLANKS.match(text, at)
    return match.end() if match else at


def too_deep(text: str, max_depth: int) -> Problem:
    """The problem of a text that nests deeper than ``max_depth``."""
    line, column = place(text, first_deeper(text, max_depth))
    return Problem(
        pointer="",
        message=f"arrays and objects stand inside each other more than {max_depth} deep here",
        mend="make the document flatter",
        line=line,
        column=column,
    )
