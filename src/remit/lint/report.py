"""Findings as a program reads them and as a person does (contract section 13; look and voice).

The text is made of spans with a style each; whoever prints it decides on colours. What is known
of places (line and column) is passed in: nothing here reads a file.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from remit.catalog.mistakes import sentence
from remit.lint.table import every_rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from remit.catalog.mistakes import Level, Mistake
    from remit.values.json import JsonObject

Style: TypeAlias = Literal["plain", "bold", "dim", "red", "yellow", "cyan", "green"]

_LEVELS: tuple[Level, ...] = ("error", "warning", "note")
_STYLES: dict[Level, Style] = {"error": "red", "warning": "yellow", "note": "cyan"}
_WIDTH = 100
_MAX_NAME_COLUMN = 56


class Span(NamedTuple):
    """A piece of a line in one style."""

    text: str
    style: Style = "plain"


Line: TypeAlias = "tuple[Span, ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """One file and what was found in it.

    Attributes:
        file: the path as the user wrote it; of a fetched catalog its address.
        mistakes: in the order of the text.
        subject: what a finding that belongs to no tool is about: a definition or a catalog.
        places: line and column, 1-based, by pointer; ask for those of ``pointers_of``.
        fetched: whether it is what the ``toolsUrl`` of the file before it serves.
        folder: the app folder that the file is part of, as the user wrote it; None for a file.
    """

    file: str
    mistakes: Sequence[Mistake]
    subject: Literal["definition", "catalog", "skill", "folder", "file"] = "definition"
    places: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    fetched: bool = False
    folder: str | None = None


def strict(mistakes: Iterable[Mistake]) -> tuple[Mistake, ...]:
    """The findings with every warning made an error (``--strict``)."""
    return tuple(replace(m, level="error") if m.level == "warning" else m for m in mistakes)


def pointers_of(mistakes: Iterable[Mistake]) -> frozenset[str]:
    """The pointers whose places a report may show: those of the findings and of what is around."""
    found: set[str] = set()
    for mistake in mistakes:
        pointer = mistake.pointer
        while pointer not in found:
            found.add(pointer)
            pointer = pointer.rpartition("/")[0]
    return frozenset(found)


def counts_of(reviewed: Iterable[Reviewed]) -> dict[Level, int]:
    """How many findings of each level there are."""
    counts = Counter([mistake.level for each in reviewed for mistake in each.mistakes])
    return {level: counts[level] for level in _LEVELS}


def as_json(reviewed: Sequence[Reviewed]) -> JsonObject:
    """``{"findings": […], "counts": {…}}`` (contract section 13)."""
    return {
        "findings": [
            {
                "rule": mistake.rule,
                "level": mistake.level,
                "file": each.file,
                "tool": mistake.tool,
                "pointer": mistake.pointer,
                "message": mistake.message,
                "mend": mistake.mend,
            }
            for each in reviewed
            for mistake in each.mistakes
        ],
        "counts": {str(level): count for level, count in counts_of(reviewed).items()},
    }


def as_lines(reviewed: Sequence[Reviewed], *, width: int = _WIDTH) -> tuple[Line, ...]:
    """The findings for a person: grouped by tool, then a summary and the next command."""
    lines: list[Line] = []
    columns = _columns(reviewed)
    for each in reviewed:
        group: str | None = None
        for index, mistake in enumerate(each.mistakes):
            if lines and (index == 0 or mistake.tool != group):
                lines.append(())
            group = mistake.tool
            lines.append(_head(each, mistake, columns))
            words = _printable(f"{sentence(mistake.message)} {sentence(mistake.mend)}")
            lines += [(Span(f"  {row}"),) for row in _wrapped(words, width - 2)]
    if lines:
        lines.append(())
    lines.append(_summary(reviewed))
    if command := _next_command(reviewed):
        lines.append((Span("Next: ", "dim"), Span(command, "bold")))
    return tuple(lines)


def plain(lines: Iterable[Line]) -> str:
    """The lines as text without styles, for a pipe or a file."""
    return "\n".join("".join(span.text for span in line).rstrip() for line in lines)


def _head(each: Reviewed, mistake: Mistake, columns: tuple[int, int]) -> Line:
    name, pointer = _name(each, mistake), _printable(mistake.at)
    # Under its tool a finding is placed by the pointer from the tool.
    left = f"{name}  {pointer}" if pointer else name
    place = _place(each, mistake)
    return (
        Span(name, "bold"),
        Span(f"  {pointer}" if pointer else ""),
        Span(" " * (max(columns[0] - len(left), 0) + 2)),
        Span(f"{place:<{columns[1]}}  ", "dim"),
        Span(f"{mistake.level:<7}", _STYLES[mistake.level]),
        Span(f"  {mistake.rule}"),
    )


def _name(each: Reviewed, mistake: Mistake) -> str:
    return _printable(mistake.tool or each.subject)


def _printable(text: str) -> str:
    """What an author wrote must not steer the terminal of who reads about it."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def _place(each: Reviewed, mistake: Mistake) -> str:
    """``file:line:column`` of the finding or of what it stands in; the file alone if unknown."""
    pointer = mistake.pointer
    while pointer not in each.places and pointer:
        pointer = pointer.rpartition("/")[0]
    found = each.places.get(pointer)
    file = _printable(each.file)
    return f"{file}:{found[0]}:{found[1]}" if found else file


def _columns(reviewed: Sequence[Reviewed]) -> tuple[int, int]:
    """The widths of the first two columns: name with pointer, and place."""
    pairs = [(each, mistake) for each in reviewed for mistake in each.mistakes]
    names = [len(_name(each, m)) + (len(m.at) + 2 if m.at else 0) for each, m in pairs]
    first = max((n for n in names if n <= _MAX_NAME_COLUMN), default=0)
    return first, max((len(_place(each, m)) for each, m in pairs), default=0)


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]


def _summary(reviewed: Sequence[Reviewed]) -> Line:
    counts = counts_of(reviewed)
    own = list(dict.fromkeys(each.folder or each.file for each in reviewed if not each.fetched))
    files = _printable(own[0]) if len(own) == 1 else f"{len(own)} files"
    if any(each.fetched for each in reviewed):
        files += " and what toolsUrl serves"
    parts = [_counted(level, counts[level]) for level in _LEVELS if counts[level]]
    if not parts:
        return (Span(f"Nothing to mend in {files}.", "green"),)
    listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    worst: Level = next(level for level in _LEVELS if counts[level])
    return (Span(listed, _STYLES[worst]), Span(f" in {files}."))


def _counted(level: Level, count: int) -> str:
    return f"{count:,} {level}{'' if count == 1 else 's'}"


def _next_command(reviewed: Sequence[Reviewed]) -> str | None:
    """What to type next: the page of the gravest rule, the first found of its level.

    A note asks for nothing, so where there is nothing else there is nothing to type.
    """
    found = [mistake for each in reviewed for mistake in each.mistakes]
    known = {rule.id for rule in every_rule()}
    for level in _LEVELS[:-1]:
        for mistake in found:
            if mistake.level == level and mistake.rule in known:
                return f"remit explain {mistake.rule}"
    return None
