"""The events of a YAML text, from PyYAML's C parser, with its faults as located problems.

The parser knows YAML 1.1: it takes NEL and the Unicode line separators for line ends, which YAML
1.2 does not. They are swapped for characters that the text does not use, and back in each scalar.
"""

from __future__ import annotations

import re
from typing import Protocol, final

import yaml

from remit.documents.problems import DocumentError, Problem
from remit.documents.text import place

_LINE_ENDS_OF_1_1 = "\x85\u2028\u2029"
# What YAML 1.2 (section 5.1) does not allow in a text, as it stands.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x84\x86-\x9f\ufffe\uffff]")
_WORDS = (
    (
        "cannot start any token",
        "this character cannot begin a value here",
        "quote a value that begins with @, ` or %",
    ),
    (
        "mapping values are not allowed",
        'a ": " stands where no key can',
        'quote a text that holds ": ", or mend the indentation',
    ),
    (
        "did not find expected key",
        "a key of the surrounding mapping was expected here",
        "mend the indentation: keys of one mapping begin in one column",
    ),
    (
        "could not find expected ':'",
        'a ":" was expected after a key before this place',
        'write "key: value", and quote a text of several lines',
    ),
    (
        "did not find expected '-' indicator",
        'a "- " of the surrounding list was expected here',
        "mend the indentation: items of one list begin in one column",
    ),
    (
        "did not find expected ',' or",
        'a ",", or the closing bracket, was expected here',
        "add what is missing",
    ),
    ("unexpected end of stream", "a quoted text has no end", "close the quote"),
    (
        "unknown escape character",
        "a double-quoted text holds an unknown escape",
        r"write a backslash as \\, or use single quotes",
    ),
    (
        "invalid Unicode character escape",
        "an escape names half of a UTF-16 pair, or no character",
        r"write the character itself, or as \U0001F600",
    ),
    ("exceeded maximum nesting", "the text nests too deep", "make the document flatter"),
    (
        "incompatible YAML document",
        "the document asks for a YAML version other than 1.2",
        "leave the %YAML line out",
    ),
    (
        "did not find expected <document start>",
        "something stands after the end of the document",
        "indent it, quote it, or leave it out",
    ),
)


class Mark(Protocol):
    """A place in the text, its line and column counted from 0; the C parser's, or Python's."""

    line: int
    column: int


@final
class Events:
    """The events of one text, one after the other.

    Raises (from ``next``):
        DocumentError: the text is no YAML.
    """

    __slots__ = ("_get", "_text", "restored")

    def __init__(self, text: str) -> None:
        bad = _UNPRINTABLE.search(text)
        if bad is not None:
            raise _unprintable(text, bad.start())
        self._text = text
        # The table that gives a scalar its own characters back; empty where none was swapped.
        swapped, self.restored = _swap(text)
        loader = yaml.CLoader(swapped)
        self._get = loader.get_event

    def next(self) -> yaml.Event | None:
        """The next event; None after the last."""
        try:
            return self._get()
        except yaml.MarkedYAMLError as error:
            raise self._located(error) from None
        except yaml.YAMLError as error:
            message = str(error).partition("\n")[0]
            raise DocumentError([Problem(pointer="", message=message, mend="mend it")]) from None

    def _located(self, error: yaml.MarkedYAMLError) -> DocumentError:
        problem = error.problem or "the text is no YAML"
        if problem == "found unexpected end of stream":
            mark = error.context_mark or error.problem_mark
        else:
            mark = error.problem_mark or error.context_mark
        message, mend = problem, "mend the text there"
        for known, words, advice in _WORDS:
            if known in problem:
                message, mend = words, advice
                break
        if mark is not None and "cannot start any token" in problem and self._is_tab(mark.index):
            message, mend = "a tab stands where only spaces may", "indent with spaces"
        return DocumentError([problem_at(mark, "", message, mend)])

    def _is_tab(self, offset: int) -> bool:
        return self._text[offset : offset + 1] == "\t"


def problem_at(mark: Mark | None, pointer: str, message: str, mend: str) -> Problem:
    """A problem at a mark of the parser, whose lines and columns count from 0."""
    return Problem(
        pointer=pointer,
        message=message,
        mend=mend,
        line=None if mark is None else mark.line + 1,
        column=None if mark is None else mark.column + 1,
    )


def _unprintable(text: str, offset: int) -> DocumentError:
    line, column = place(text, offset)
    problem = Problem(
        pointer="",
        message=f"the character U+{ord(text[offset]):04X} may not stand in a YAML text",
        mend=rf'write it as an escape in double quotes, as in "\x{ord(text[offset]) & 0xFF:02x}"',
        line=line,
        column=column,
    )
    return DocumentError([problem])


def _swap(text: str) -> tuple[str, dict[int, str]]:
    """The text with YAML 1.1's extra line ends swapped, and the table that swaps them back."""
    if text.isascii():
        return text, {}
    used = [char for char in _LINE_ENDS_OF_1_1 if char in text]
    if not used:
        return text, {}
    taken = set(text)
    free = (chr(code) for code in range(0xE000, 0xF8FF) if chr(code) not in taken)
    there: dict[int, str] = {}
    back: dict[int, str] = {}
    for char, stand_in in zip(used, free, strict=False):
        there[ord(char)] = stand_in
        back[ord(stand_in)] = char
    return text.translate(there), back
