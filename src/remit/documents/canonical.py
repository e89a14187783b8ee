"""Canonical JSON (RFC 8785) for digests, and compact JSON for wires and models."""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Any, cast

import msgspec

from remit.documents.text import has_surrogate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

#: Where ECMAScript leaves plain digits for an exponent (Number::toString).
_PLAIN_BELOW = 21
_PLAIN_ABOVE = -7

_quote: Callable[[str], str] = json.JSONEncoder(ensure_ascii=False).encode
_carefully: Callable[[object], str] = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":")
).encode
_compact: Callable[[object], bytes] = msgspec.json.Encoder().encode
_sorted: Callable[[object], bytes] = msgspec.json.Encoder(order="sorted").encode
_PLAIN = frozenset({str, int, bool, type(None)})
# Every digit as 0 and every sign of a float as a point, so that one look finds them together.
_FLOAT_SIGNS = bytes.maketrans(b"123456789eE", b"000000000..")


def compact_json(value: object) -> str:
    """``value`` as JSON without blanks, its keys in their own order, text as it is.

    Raises:
        ValueError: it holds a NaN or an infinity.
        TypeError: it holds something that is not JSON.
    """
    try:
        written = _compact(value)
    except UnicodeEncodeError:
        return _carefully(value)
    # msgspec writes null for a NaN, too. (``in`` would try the text as a number first.)
    return written.decode() if written.find(b"null") < 0 else _carefully(value)


def compact_bytes(value: object) -> bytes:
    """``compact_json`` in UTF-8; raises ``UnicodeEncodeError`` for half a surrogate pair too."""
    written = _compact(value)
    return written if written.find(b"null") < 0 else _carefully(value).encode()


def canonical_json(value: object) -> bytes:
    """The one form of ``value`` that a digest is made of (RFC 8785, JCS).

    Keys are sorted by their UTF-16 code units, floats are written as ECMAScript writes them, text
    is UTF-8 with the fewest escapes. Integers keep all their digits (contract section 5, step 5),
    where RFC 8785 would round those above 2^53.

    Raises:
        ValueError: a NaN, an infinity or a lone surrogate is in it.
        TypeError: something that is not JSON is in it.
    """
    if _is_plain(value):
        return _sorted(value)
    out: list[str] = []
    _write(value, out.append)
    return "".join(out).encode("utf-8")


def canonical_decoded(value: object) -> bytes:
    """``canonical_json`` of what was decoded from JSON, told by the text itself where it can be.

    The text holds no float where no digit has a point or an exponent behind it, and no key beyond
    ASCII where it is ASCII; then sorting the keys is all there is to do.

    Raises:
        ValueError: as ``canonical_json``.
    """
    written = _sorted(value)
    if written.isascii() and written.translate(_FLOAT_SIGNS).find(b"0.") < 0:
        return written
    return canonical_json(value)


def _is_plain(value: Any) -> bool:  # noqa: ANN401 -- any value; narrowing one costs a call each
    """Whether sorting the keys is all there is to do: no float, and no key beyond ASCII.

    Most requests are, and a C encoder writes them much faster.
    """
    kind: type[object] = value.__class__
    if kind is dict:
        try:
            if not "".join(value).isascii():
                return False
        except TypeError:
            return False
        value = value.values()
    elif kind is not list:
        return kind in _PLAIN
    if _PLAIN.issuperset(map(type, value)):
        return True
    for item in value:
        kind = item.__class__
        if kind not in _PLAIN and not _is_plain(item):
            return False
    return True


def _write(value: object, put: Callable[[str], None]) -> None:
    if isinstance(value, str):
        put(_text(value))
    elif isinstance(value, dict):
        _write_object(cast("dict[object, object]", value), put)
    elif isinstance(value, (list, tuple)):
        put("[")
        for index, item in enumerate(cast("Iterable[object]", value)):
            if index:
                put(",")
            _write(item, put)
        put("]")
    else:
        put(_scalar(value))


def _write_object(members: dict[object, object], put: Callable[[str], None]) -> None:
    put("{")
    for index, key in enumerate(sorted(members, key=_code_units)):
        put(f",{_text(key)}:" if index else f"{_text(key)}:")
        _write(members[key], put)
    put("}")


def _code_units(key: object) -> bytes:
    if not isinstance(key, str):
        msg = f"a key is a {type(key).__name__}, and JSON keys are strings"
        raise TypeError(msg)
    # Big-endian UTF-16 sorts by code unit; halves of pairs are refused when they are written.
    return key.encode("utf-16-be", "surrogatepass")


def _text(text: object) -> str:
    text = str(text)
    if has_surrogate(text):
        msg = "half of a UTF-16 surrogate pair stands alone in a string"
        raise ValueError(msg)
    return _quote(text)


def _scalar(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return _float(value)
    msg = f"a {type(value).__name__} is no JSON value"
    raise TypeError(msg)


def _float(number: float) -> str:
    """A double as ECMAScript writes it; Python's shortest digits are the same digits."""
    if not isfinite(number):
        msg = f"{number} is no JSON number"
        raise ValueError(msg)
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    mantissa, _, exponent = f"{float.__repr__(abs(number))}e0".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    # The decimal point stands after this many of the digits.
    point = len(whole) + int(exponent.partition("e")[0])
    point -= len(whole + fraction) - len(digits)
    return sign + _place_point(digits.rstrip("0"), point)


def _place_point(digits: str, point: int) -> str:
    count = len(digits)
    if count <= point <= _PLAIN_BELOW:
        return digits + "0" * (point - count)
    if 0 < point <= _PLAIN_BELOW:
        return f"{digits[:point]}.{digits[point:]}"
    if _PLAIN_ABOVE < point - 1 < 0 or point == 0:
        return f"0.{'0' * -point}{digits}"
    exponent = f"{point - 1:+d}"
    rest = f".{digits[1:]}" if count > 1 else ""
    return f"{digits[0]}{rest}e{exponent}"
