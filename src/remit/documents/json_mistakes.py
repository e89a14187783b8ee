"""Every mistake of a refused JSON text, each with its pointer and place.

A part that the strict C parser takes holds no mistake and is skipped; a part that it refuses is
opened, member by member, down to the mistakes themselves. A mistake of syntax ends the reading.
"""

from __future__ import annotations

from typing import final

from remit.documents.json_decoder import (
    DECODER,
    MAX_DIGITS,
    NotStrict,
    finite,
    lone_surrogate,
    skip_blanks,
    too_deep,
)
from remit.documents.json_text import (
    NUMBER,
    Member,
    Syntax,
    end_of_container,
    string,
    unexpected_value,
)
from remit.documents.problems import Problem, escaped, quoted, shortened
from remit.documents.text import place, surrogate

#: More mistakes than a person reads at once; the count of the rest is not known.
MAX_PROBLEMS = 50
# Containers below this depth are not tried with the C parser: each level above a mistake reads
# all of what is in it once more, and eighty readings of 30 MB take minutes.
_TRIED_DEPTH = 8


class _Enough(Exception):
    """As many problems as are reported were found."""


def json_mistakes(text: str, *, max_depth: int) -> list[Problem]:
    """The mistakes of a text that strict JSON refuses, in the order of the text; at least one."""
    reader = _Reader(text, max_depth)
    try:
        reader.read()
    except Syntax as error:
        reader.add(error.offset, "", error.message, error.mend, enough=False)
    except _Enough:
        pass
    return reader.problems or [too_deep(text, max_depth)]


@final
class _Reader:
    __slots__ = ("_max_depth", "_text", "problems")

    def __init__(self, text: str, max_depth: int) -> None:
        self._text = text
        self._max_depth = max_depth
        self.problems: list[Problem] = []

    def add(
        self, offset: int, pointer: str, message: str, mend: str, *, enough: bool = True
    ) -> None:
        line, column = place(self._text, offset)
        self.problems.append(
            Problem(pointer=pointer, message=message, mend=mend, line=line, column=column)
        )
        if enough and len(self.problems) >= MAX_PROBLEMS:
            raise _Enough

    def read(self) -> None:
        start = skip_blanks(self._text, 0)
        if start == len(self._text):
            raise Syntax(start, "the document is empty", "write a JSON value")
        end = skip_blanks(self._text, self._value(start, "", 1))
        if end != len(self._text):
            raise Syntax(
                end, "something stands after the end of the document", "leave one value only"
            )

    def _value(self, at: int, pointer: str, depth: int) -> int:
        """Note the mistakes of the value at ``at``; gives the offset after it."""
        first = self._text[at : at + 1]
        opens = bool(first) and first in "[{"
        if not opens or depth <= _TRIED_DEPTH:
            sound_end = self._sound_end(at)
            if sound_end is not None:
                return sound_end
        if opens:
            return self._container(at, pointer, depth)
        if first == '"':
            return self._string(at, pointer)
        return self._number(at, pointer)

    def _sound_end(self, at: int) -> int | None:
        try:
            _, end = DECODER.raw_decode(self._text, at)
        except (ValueError, RecursionError):
            return None
        return end if lone_surrogate(self._text, at, end) is None else None

    def _container(self, at: int, pointer: str, depth: int) -> int:
        if depth > self._max_depth:
            self.problems.append(too_deep(self._text, self._max_depth))
            raise _Enough
        seen: set[str] = set()

        def end_of(member: Member) -> int:
            below = f"{pointer}/{escaped(member.part)}"
            if isinstance(member.part, str):
                self._key(member, below, seen)
            return self._value(member.value_at, below, depth + 1)

        return end_of_container(self._text, at, end_of)

    def _key(self, member: Member, below: str, seen: set[str]) -> None:
        key = str(member.part)
        if key in seen:
            self.add(
                member.part_at,
                below,
                f"the key {quoted(key)} stands twice",
                "keep one of the two",
            )
        seen.add(key)
        _, end = string(self._text, member.part_at)
        lone = lone_surrogate(self._text, member.part_at, end)
        if lone is not None:
            # The key itself has no text that could be shown.
            self._add_surrogate(lone, below.rpartition("/")[0])

    def _string(self, at: int, pointer: str) -> int:
        _, end = string(self._text, at)
        lone = lone_surrogate(self._text, at, end)
        if lone is not None:
            self._add_surrogate(lone, pointer)
        return end

    def _add_surrogate(self, offset: int, pointer: str) -> None:
        problem = surrogate(self._text, offset, pointer)
        self.add(offset, pointer, problem.message, problem.mend)

    def _number(self, at: int, pointer: str) -> int:
        text = self._text
        for name in ("NaN", "Infinity", "-Infinity"):
            if text.startswith(name, at):
                self.add(at, pointer, f"{name} is no JSON number", "write null, or a number")
                return at + len(name)
        match = NUMBER.match(text, at)
        if match is None:
            raise unexpected_value(text, at)
        digits = match.group()
        if not set(digits) & set(".eE"):
            self.add(
                at,
                pointer,
                f"an integer of more than {MAX_DIGITS:,} digits",
                "write it as a string",
            )
        elif _overflows(digits):
            self.add(
                at,
                pointer,
                f"the number {shortened(digits, 40)} is too large for a double",
                "write it as a string",
            )
        return match.end()


def _overflows(digits: str) -> bool:
    try:
        finite(digits)
    except NotStrict:
        return True
    return False
