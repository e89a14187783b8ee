"""What is wrong with an app folder: a mistake and the file that it stands in."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from remit.catalog.mistakes import Mistake, sentence
from remit.values.visible import visible

if TYPE_CHECKING:
    from typing import Self

    from remit.catalog.mistakes import Level
    from remit.documents.problems import DocumentError


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing to mend, in one file of a folder.

    Attributes:
        file: from the folder, with ``/`` between its parts; "" is the folder itself.
        mistake: its pointers are into what that file declares: the document of ``app.yaml``, the
            front matter of a ``SKILL.md``, the list of a tools file as ``/tools``.
        line, column: 1-based, or None where they are not known.
    """

    file: str
    mistake: Mistake
    line: int | None = None
    column: int | None = None

    @classmethod
    def at(cls, file: str, mistake: Mistake, place: tuple[int, int] | None) -> Self:
        """A mistake at a place of a file, where that is known."""
        line, column = place or (None, None)
        return cls(file=file, mistake=mistake, line=line, column=column)

    def within(self, folder: str) -> str:
        """The path of its file as a person would write it, for a folder named ``folder``."""
        return f"{folder.rstrip('/') or '/'}/{self.file}" if self.file else folder

    def told(self, folder: str) -> str:
        """Where it is, and under it what it is, as the commands print faults."""
        where = self.within(folder)
        if self.line is not None:
            where += f":{self.line}:{self.column or 1}"
        place = "  ".join(part for part in (where, self.mistake.tool, self.mistake.at) if part)
        return f"{visible(place)}\n  {sentence(self.mistake.message)} {sentence(self.mistake.mend)}"


@dataclass(slots=True)
class Faults:
    """A collector: a folder's faults are told all at once."""

    found: list[Fault] = field(default_factory=list["Fault"])

    def add(
        self,
        file: str,
        rule: str,
        message: str,
        mend: str,
        *,
        pointer: str = "",
        at: str | None = None,
        tool: str | None = None,
        place: tuple[int, int] | None = None,
        level: Level = "error",
    ) -> None:
        """Note a fault; ``at`` is the pointer below the tool, where there is one."""
        mistake = Mistake(
            rule=rule,
            level=level,
            tool=tool,
            pointer=pointer,
            at=pointer if at is None else at,
            message=visible(message).replace("\n", " "),
            mend=visible(mend).replace("\n", " "),
        )
        self.found.append(Fault.at(file, mistake, place))

    def undecoded(self, file: str, error: DocumentError, *, below: int = 0) -> None:
        """Note why a document cannot be decoded; ``below`` lines of its file come before it."""
        for problem in error.problems:
            # Where only a part of the file is a document, that part is a place by itself.
            line = problem.line or (1 if below else None)
            place = None if line is None else (line + below, problem.column or 1)
            self.add(
                file,
                "bad-document",
                problem.message,
                problem.mend,
                pointer=problem.pointer,
                place=place,
            )


def renamed(mistake: Mistake, pointer: str) -> Mistake:
    """A mistake of the built definition as one of the file that its value came from."""
    if mistake.tool is not None:
        return replace(mistake, pointer=pointer)
    return replace(mistake, pointer=pointer, at=pointer)
