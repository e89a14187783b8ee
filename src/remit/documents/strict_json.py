"""Strict JSON: RFC 8259 without the differences that let a checker and a user disagree.

Three readers, each slower than the one before and asked where that one does not say yes. First
msgspec, as strict as RFC 8259 but blind to duplicate keys: its word counts where no colon of the
text is missing in the value. Then the standard library's C parser with hooks. What that refuses,
``json_mistakes`` reads again to name every mistake and its place. ``tests/documents`` holds that
the first two never disagree.
"""

from __future__ import annotations

import msgspec

from remit.documents.json_decoder import DECODER, NotStrict, lone_surrogate, skip_blanks, too_deep
from remit.documents.json_mistakes import json_mistakes
from remit.documents.problems import DocumentError, Problem
from remit.documents.text import byte_order_mark, decode, nests_deeper

_DECODER = msgspec.json.Decoder()
_ENCODER = msgspec.json.Encoder()
_UNSURE = object()
# What may be "\u003a"; it needs not be.
_ESCAPED_COLON = b"\\u003"
# Of a text these are looked at: taken out together, they are counted in no time.
_UNMARKED = bytes(set(range(256)).difference(b"{[:\\"))


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
    if isinstance(data, bytes) and len(data) <= max_bytes:
        value = _at_once(data, max_depth)
        if value is not _UNSURE:
            return value
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


def _at_once(data: bytes, max_depth: int) -> object:
    """The value of a text that is strict JSON beyond doubt; ``_UNSURE`` where there is any.

    msgspec keeps one of two equal keys. Then the value written out has fewer colons than the text
    had: one stands behind every key, those in texts stay, and there are no others.
    """
    marks = data.translate(None, _UNMARKED)
    if len(marks) > max_depth and marks.count(b"{") + marks.count(b"[") > max_depth:
        return _UNSURE
    # ``find``, because ``in`` would try the bytes as a number first.
    if marks.find(b"\\") >= 0 and data.find(_ESCAPED_COLON) >= 0:
        return _UNSURE
    try:
        value = _DECODER.decode(data)
        written = _ENCODER.encode(value)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return _UNSURE
    return value if written.count(b":") == marks.count(b":") else _UNSURE


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
