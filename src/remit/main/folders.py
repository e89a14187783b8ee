"""App folders where a command takes a file: built in memory, and told file by file."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from remit.building import LIMIT_S, build
from remit.errors import InvalidDefinition
from remit.lint.report import Reviewed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remit.building import Built, Fault
    from remit.catalog.mistakes import Mistake

    Subject = Literal["definition", "catalog", "skill", "folder", "file"]


def build_folder(name: str, *, brand: str, limit_s: float = LIMIT_S) -> Built:
    """Build a folder, whatever is wrong with it."""
    return build(Path(name), brand=brand, limit_s=limit_s)


def unusable(built: Built, mistakes: Iterable[Mistake], name: str) -> InvalidDefinition:
    """The error of a folder with faults, of its own or of its definition."""
    faults = [f for f in built.all_faults(mistakes) if f.mistake.level == "error"]
    count = f"{len(faults)} error{'s' if len(faults) != 1 else ''}"
    lines = [*(fault.told(name) for fault in faults), f"{name} cannot be used: {count}."]
    return InvalidDefinition("\n".join(lines), mistakes=faults)


def reviewed_folder(built: Built, mistakes: Iterable[Mistake], name: str) -> tuple[Reviewed, ...]:
    """What is found in a folder, one entry for each of its files that has a finding."""
    by_file: defaultdict[str, list[Fault]] = defaultdict(list)
    for fault in built.all_faults(mistakes):
        by_file[fault.within(name)].append(fault)
    if not by_file:
        return (Reviewed(file=name, mistakes=(), folder=name),)
    return tuple(
        Reviewed(
            file=file,
            mistakes=tuple(fault.mistake for fault in faults),
            subject=_subject(faults[0].file),
            places={
                fault.mistake.pointer: (fault.line, fault.column or 1)
                for fault in faults
                if fault.line is not None
            },
            folder=name,
        )
        for file, faults in by_file.items()
    )


def _subject(file: str) -> Subject:
    if file.endswith("SKILL.md"):
        return "skill"
    if file == "app.yaml":
        return "definition"
    return "file" if "." in file else "folder"
