"""Walking a JSON text by its places: where each member and item of a container stands.

Values that nobody asks about are skipped by the C parser, so that finding one place in a large
document costs about as much as parsing it.
"""

from __future__ import annotations

import json
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from remit.documents.json_decoder import DECODER, skip_blanks
from remit.documents.problems import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: What a JSON number may be, and what looks like one and is none.
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(r"\w+|.", re.DOTALL)
_MENDS = MappingProxyType({"True": "write true", "False": "write false", "None": "write null"})


class Syntax(Exception):
    """The text is no JSON at ``offset``."""

    def __init__(self, offset: int, message: str, mend: str) -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message
        self.mend = mend


class Member(NamedTuple):
    """A member of an object, or an item of an array.

    Attributes:
        part: the key or the index.
        part_at: offset of the key, or of the item.
        value_at: offset of the value.
    """

    part: str | int
    part_at: int
    value_at: int


def members(text: str, at: int, end_of: Callable[[Member], int]) -> Iterator[Member]:
    """The members of the container that begins at ``at``.

    Args:
        text: the whole document.
        at: offset of the container's bracket.
        end_of: gives the offset after a member's value; called after the member was yielded.

    Raises:
        Syntax: the container is not well-formed here.
    """
    is_object = text[at] == "{"
    close = "}" if is_object else "]"
    at = skip_blanks(text, at + 1)
    if text[at : at + 1] == close:
        return
    index = 0
    while True:
        member = _key(text, at) if is_object else Member(index, at, at)
        yield member
        at = skip_blanks(text, end_of(member))
        following = text[at : at + 1]
        if following == close:
            return
        if following != ",":
            raise _no_comma(text, at, close)
        at = skip_blanks(text, at + 1)
        if text[at : at + 1] == close:
            raise Syntax(at, f'a comma stands before "{close}"', "leave the last comma out")
        index += 1


def end_of_container(text: str, at: int, end_of: Callable[[Member], int]) -> int:
    """The offset after the container at ``at``, each member's end given by ``end_of``."""
    end = at + 1

    def ending(member: Member) -> int:
        nonlocal end
        end = end_of(member)
        return end

    for _ in members(text, at, ending):
        pass
    return skip_blanks(text, end) + 1


def _key(text: str, at: int) -> Member:
    key, end = string(text, at, "a key")
    colon = skip_blanks(text, end)
    if text[colon : colon + 1] != ":":
        raise Syntax(colon, f"a colon is missing after the key {quoted(key)}", 'write ":" there')
    return Member(key, at, skip_blanks(text, colon + 1))


def string(text: str, at: int, what: str = "a string") -> tuple[str, int]:
    """The string that begins at ``at``, and the offset after it.

    Raises:
        Syntax: no well-formed string stands there.
    """
    first = text[at : at + 1]
    if first == "'":
        raise Syntax(at, f"{what} stands in single quotes", "use double quotes")
    if first != '"':
        raise _unexpected(text, at, f"{what} in double quotes")
    try:
        return DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise _bad_string(error, what) from None


def _bad_string(error: json.JSONDecodeError, what: str) -> Syntax:
    if error.msg.startswith("Unterminated"):
        return Syntax(error.pos, f"{what} begins here and has no end", "close it with a quote")
    if "control character" in error.msg:
        return Syntax(
            error.pos, f"{what} holds a raw control character", r"escape it, as in \n or \u0000"
        )
    return Syntax(error.pos, f"{what} holds an unknown escape", r"a backslash is written \\")


def unexpected_value(text: str, at: int) -> Syntax:
    """The error of a place where a JSON value should begin and none does."""
    return _unexpected(text, at, "a value")


def _unexpected(text: str, at: int, wanted: str) -> Syntax:
    if at >= len(text):
        return Syntax(at, f"the document ends where {wanted} should stand", "complete it")
    if text.startswith(("//", "/*", "#"), at):
        return Syntax(at, "a comment stands here, and JSON has none", "leave the comment out")
    word = _WORD.match(text, at)
    found = word.group() if word else text[at]
    mend = _MENDS.get(found) or "write a value there, strings in double quotes"
    return Syntax(at, f"{quoted(found, 40)} stands where {wanted} should", mend)


def _no_comma(text: str, at: int, close: str) -> Syntax:
    if at >= len(text):
        return Syntax(at, f'the document ends before its "{close}"', f'add the missing "{close}"')
    if text[at] in "0123456789" and text[at - 1] in "-0":
        return Syntax(at, "a number begins with a zero", "leave the leading zero out")
    return Syntax(
        at, f'{quoted(text[at])} stands where "," or "{close}" should', "add what is missing"
    )
