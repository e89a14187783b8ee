"""Mistakes of a document, each with its place and its mend."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One mistake of a document, located.

    Attributes:
        pointer: RFC 6901 JSON Pointer of the value; "" is the whole document.
        message: what is wrong, for a person; no full stop at its end.
        mend: what to do about it; no full stop at its end.
        line: 1-based line in the text, or None where there is no text.
        column: 1-based column in characters, or None where there is no text.
    """

    pointer: str
    message: str
    mend: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        at = f"line {self.line}, column {self.column}" if self.line is not None else ""
        place = "  ".join(part for part in (self.pointer, at) if part)
        return f"{place}: {self.message}. {self.mend}" if place else f"{self.message}. {self.mend}"


class DocumentError(Exception):
    """A document cannot be decoded, or a schema not be compiled.

    Attributes:
        problems: every mistake found, in the order of the text; at least one.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def pointer(*parts: str | int) -> str:
    """The JSON Pointer of a path (RFC 6901): ``pointer("a/b", 0)`` is ``/a~1b/0``."""
    if len(parts) == 1:
        return f"/{escaped(parts[0])}"
    return "".join([f"/{escaped(part)}" for part in parts])


def escaped(part: str | int) -> str:
    """One reference token of a JSON Pointer, with ``~`` and ``/`` escaped."""
    text = str(part)
    # Hardly any name needs it, and every name of a document comes by here.
    return text if text.isidentifier() else text.replace("~", "~0").replace("/", "~1")


def parts_of(pointer_text: str) -> tuple[str, ...]:
    """The reference tokens of a JSON Pointer, unescaped; () for the whole document."""
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer_text.split("/")[1:])


def shortened(text: str, limit: int = 80) -> str:
    """``text``, cut to ``limit`` characters; a cut text says how long it was."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… (cut, {len(text):,} characters in all)"


def quoted(text: str, limit: int = 80) -> str:
    """``text`` in double quotes, cut to ``limit`` characters, unprintable ones escaped."""
    shown = text[:limit]
    body = json.dumps(shown, ensure_ascii=not shown.isprintable())
    return body if len(text) <= limit else f'{body[:-1]}…" (cut, {len(text):,} characters in all)'
