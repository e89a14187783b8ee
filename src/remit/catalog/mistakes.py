"""Mistakes of an author's document: collected all at once, each located (contract section 2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from remit.values.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

Level = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """One thing that is wrong with a document, or that a reviewer should see.

    Attributes:
        rule: a stable id with a page in ``remit explain``.
        tool: the tool's name, or None for the definition itself.
        pointer: RFC 6901 JSON Pointer from the root of the document.
        at: the same, from the tool where there is one: what a person reads.
        message: what is wrong.
        mend: what to do about it.
    """

    rule: str
    level: Level
    tool: str | None
    pointer: str
    at: str
    message: str
    mend: str

    def __str__(self) -> str:
        # A key may hold anything; the pointer has it as it is, a terminal may not.
        place = f"{self.tool or 'definition'}  {_line(self.at)}".rstrip()
        return f"{place}\n  {sentence(self.message)} {sentence(self.mend)}"


def sentence(text: str) -> str:
    """A message or mend as a sentence; a first word in quotes or of code stays as it is."""
    first = text.partition(" ")[0]
    begun = text if not first.isalpha() or not first.islower() else text[:1].upper() + text[1:]
    return begun + ("" if begun.endswith((".", "?", "!")) else ".")


def _line(text: str) -> str:
    """A text as one line in which nothing hides: it may quote what an author wrote."""
    return visible(text).replace("\n", "⟨U+000A⟩")


@dataclass(slots=True, kw_only=True)
class Mistakes:
    """A collector for the mistakes under one place of a document.

    Attributes:
        root: pointer of the place from the root of the document.
        tool: the tool that the place belongs to, if any.
    """

    root: str = ""
    tool: str | None = None
    found: list[Mistake] = field(default_factory=list["Mistake"])

    def add(self, rule: str, at: str, message: str, mend: str, *, level: Level = "error") -> None:
        """Note a mistake at ``at``, a pointer below the root of this collector."""
        self.found.append(
            Mistake(
                rule=rule,
                level=level,
                tool=self.tool,
                pointer=self.root + at,
                at=at,
                message=_line(message),
                mend=_line(mend),
            )
        )

    @property
    def broken(self) -> bool:
        """Whether an error is among them."""
        return any(mistake.level == "error" for mistake in self.found)


def errors_of(mistakes: Iterable[Mistake]) -> tuple[Mistake, ...]:
    """Those that keep the document, or its tool, from loading."""
    return tuple(mistake for mistake in mistakes if mistake.level == "error")
