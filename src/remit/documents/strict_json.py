"""Strict JSON: RFC 8259 without the differences that let a checker and a user disagree.

The fast path is the standard library's C parser with three hooks and one scan for depth; no
parser by itself refuses duplicate keys. Where it refuses, ``json_mistakes`` reads the text again,
slowly, to name every mistake and its place.
"""

from __future__ import annotations

import json
import re
from math import isinf
from typing import TYPE_CHECKING

from remit.documents.problems import DocumentError, Problem
from remit.documents.text import (
    byte_order_mark,
    decode,
    first_deeper,
    nests_deeper,
    place,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def parse_json(data: str | bytes, *, max_bytes: int = 256 * 1024, max_depth: int = 64) -> object:
    """Decode JSON strictly (contract section 5, step 1; RFC 8259, RFC 7493).

    Refused are invalid UTF-8, a byte order mark, NaN and infinities, numbers that overflow to
    infinity, integers of more than ``MAX_DIGITS`` digits, duplicate keys, lone surrogates, and
    whatever RFC 8259 does not allow. Integers keep every digit.

    Args:
        data: the document; text, or UTF-8 bytes.
        max_bytes: the most bytes it may have.
        max_depth: the most containers inside each other.

    Raises:
        DocumentError: with every mistake found, its line and its column.
    """
    text = decode(data, max_bytes=max_bytes)
    try:
        value = _parse(text)
    except RecursionError:
        raise DocumentError([too_deep(text, max_depth)]) from None
    except ValueError:
        raise DocumentError(_mistakes(text, max_depth)) from None
    if nests_deeper(text, max_depth):
        raise DocumentError([too_deep(text, max_depth)])
    if "\\u" in text and lone_surrogate(text) is not None:
        raise DocumentError(_mistakes(text, max_depth))
    return value


def _parse(text: str) -> object:
    value, end = DECODER.raw_decode(text, skip_blanks(text, 0))
    if skip_blanks(text, end) != len(text):
        raise NotStrict
    return value


def skip_blanks(text: str, at: int) -> int:
    """The offset of the next character that is no JSON white space."""
    match = _BLANKS.match(text, at)
    return match.end() if match else at


def _mistakes(text: str, max_depth: int) -> Sequence[Problem]:
    # Only a refused document pays for the second reader.
    from remit.documents.json_mistakes import json_mistakes  # noqa: PLC0415

    if byte_order_mark(text):
        problem = Problem(
            pointer="",
            message="the document begins with a byte order mark, which JSON does not allow",
            mend='save it as "UTF-8 without BOM"',
            line=1,
            column=1,
        )
        return [problem]
    return json_mistakes(text, max_depth=max_depth)


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
