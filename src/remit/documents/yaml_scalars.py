"""Scalars of the YAML 1.2 core schema (YAML 1.2.2, section 10.3): what a plain word means.

``NO``, ``on``, dates and ``1_000`` are strings here; YAML 1.1 made other things of them.
"""

from __future__ import annotations

import re
from types import MappingProxyType

from remit.documents.json_decoder import NotStrict, finite, whole

TAG = "tag:yaml.org,2002:"

_WORDS = MappingProxyType(
    {
        "": None,
        "~": None,
        "null": None,
        "Null": None,
        "NULL": None,
        "true": True,
        "True": True,
        "TRUE": True,
        "false": False,
        "False": False,
        "FALSE": False,
    }
)
# What a plain scalar must begin with to be anything but a string.
_STARTS = frozenset("0123456789+-.~nNtTfF")
_INTEGER = re.compile(r"[-+]?[0-9]+")
_OTHER_BASE = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
# So that no such integer has more than MAX_DIGITS decimal digits (16^3500 < 10^4300).
_MAX_OTHER_DIGITS = 3500


class BadScalar(ValueError):
    """A scalar that no JSON value stands for.

    Attributes:
        message: what is wrong.
        mend: what to do.
    """

    def __init__(self, message: str, mend: str) -> None:
        super().__init__(message)
        self.message = message
        self.mend = mend


def plain(text: str) -> object:
    """The value of a plain scalar without a tag.

    Raises:
        BadScalar: it is an infinity, no number, or a number out of bounds.
    """
    if text and text[0] not in _STARTS:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _NOT_FINITE.fullmatch(text):
        raise BadScalar(f"{text} is no JSON number", "write null, a number, or quote it")
    number = _number(text)
    return text if number is None else number


def _number(text: str) -> int | float | None:
    try:
        if _INTEGER.fullmatch(text):
            return whole(text.removeprefix("+"))
        if _OTHER_BASE.fullmatch(text):
            return _other_base(text)
        return finite(text) if _FLOAT.fullmatch(text) else None
    except NotStrict:
        raise _too_large(text) from None


def _too_large(text: str) -> BadScalar:
    shown = f"{text[:40]}… ({len(text):,} characters)" if len(text) > 40 else text
    return BadScalar(f"the number {shown} is too large", "quote it, so that it is a string")


def _other_base(text: str) -> int:
    if len(text) > _MAX_OTHER_DIGITS:
        raise NotStrict
    return int(text[2:], 8 if text[1] == "o" else 16)


def tagged(text: str, tag: str) -> object:
    """The value of a scalar with an explicit tag of the core schema.

    Raises:
        BadScalar: the tag is another one, or the text does not fit it.
    """
    if tag in ("!", TAG + "str"):
        return text
    name = tag.removeprefix(TAG)
    types = {"null": (type(None),), "bool": (bool,), "int": (int,), "float": (int, float)}
    wanted = types.get(name) if tag.startswith(TAG) else None
    if wanted is None:
        raise unknown_tag(tag)
    value = plain(text)
    # bool is an int to isinstance.
    if type(value) not in wanted:
        raise BadScalar(f'the tag "!!{name}" does not fit its value', "leave the tag out")
    if name == "float" and isinstance(value, int):
        try:
            return float(value)
        except OverflowError:
            raise _too_large(text) from None
    return value


def unknown_tag(tag: str) -> BadScalar:
    """The error of a tag that JSON has no value for."""
    shown = f"!!{tag.removeprefix(TAG)}" if tag.startswith(TAG) else tag
    return BadScalar(f'the tag "{shown[:60]}" is not of the YAML core schema', "leave the tag out")
