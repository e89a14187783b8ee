"""Strict JSON: RFC 8259 without the differences that let a checker and a user disagree.

The fast path is the standard library's C parser with its hooks, and one scan for depth; no parser
by itself refuses duplicate keys. Where it refuses, ``json_mistakes`` reads the text again, slowly,
to name every mistake and its place.
"""

from __future__ import annotations

from remit.documents.json_decoder import DECODER, NotStrict, lone_surrogate, skip_blanks, too_deep
from remit.documents.json_mistakes import json_mistakes
from remit.documents.problems import DocumentError, Problem
from remit.documents.text import byte_order_mark, decode, nests_deeper


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


def _mistakes(text: str, max_depth: int) -> list[Problem]:
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
