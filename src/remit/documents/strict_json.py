"""Strict JSON: RFC 8259 without the differences that let a checker and a user disagree.

Three readers, each slower than the one before and asked where that one does not say yes. First
msgspec, as strict as RFC 8259 but blind to duplicate keys: its word counts where the text has as
many keys as the value. Then the standard library's C parser with hooks. What that refuses,
``json_mistakes`` reads again to name every mistake and its place. ``tests/documents`` holds that
the first two never disagree.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from remit.documents.json_decoder import DECODER, NotStrict, lone_surrogate, skip_blanks, too_deep
from remit.documents.json_mistakes import json_mistakes
from remit.documents.problems import DocumentError, Problem
from remit.documents.text import byte_order_mark, decode, nests_deeper

_DECODER = msgspec.json.Decoder()
_UNSURE = object()
_CONTAINERS = frozenset({dict, list})
_BLANK_COLON = re.compile(rb"[ \t\n\r]:")


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

    There is a colon behind every key that was written. Where the text has as many as the value
    has keys, no key was there twice. Where texts hold colons too, the same is asked of ``":``,
    which ends a key unless something blank stands between the two.
    """
    if data.count(b"{") + data.count(b"[") > max_depth:
        return _UNSURE
    try:
        value = _DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return _UNSURE
    keys = _keys(value)
    if keys == data.count(b":"):
        return value
    same = keys == data.count(b'":') and _BLANK_COLON.search(data) is None
    return value if same else _UNSURE


def _keys(value: Any) -> int:  # noqa: ANN401 -- a JSON value; narrowing one costs a call each
    """How many keys the objects of a value have, all in all."""
    found = 0
    waiting = [value]
    for one in waiting:
        kind: type[object] = one.__class__
        if kind is dict:
            found += len(one)
            one = one.values()  # noqa: PLW2901
        elif kind is not list:
            continue
        if not _CONTAINERS.isdisjoint(map(type, one)):
            waiting += [item for item in one if item.__class__ in _CONTAINERS]
    return found


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
