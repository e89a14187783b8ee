"""What the reader says of one case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tests.cases.differences import difference

Json = Any
Status = Literal["passed", "later", "differs", "FAILED"]


class UnknownShapeError(Exception):
    """The case has a surface, key or value that no reader knows; that fails it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How one case ended.

    Attributes:
        words: the reason, or what was expected and what was seen.
        unjudged: conditions in prose that no machine judged, as written.
        faults: what was expected and seen, one by one.
    """

    id: str
    status: Status
    words: str = ""
    unjudged: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    def line(self) -> str:
        """One line for the list."""
        start = f"{self.id}: {self.status}"
        if self.status == "later":
            return f"{start} ({self.words})"
        words = f": {self.words}" if self.words else ""
        prose = f"  [not judged: {'; '.join(self.unjudged)}]" if self.unjudged else ""
        return f"{start}{words}{prose}"


def verdict(
    name: str, faults: Sequence[str], words: str = "", prose: Sequence[str] = ()
) -> Verdict:
    """Passed, failed, or different from the contract where every fault is one that it asks for."""
    if not faults:
        return Verdict(id=name, status="passed", words=words, unjudged=tuple(prose))
    if (reason := difference(faults)) is not None:
        return Verdict(id=name, status="differs", words=reason, faults=tuple(faults))
    return Verdict(id=name, status="FAILED", words="; ".join(faults), faults=tuple(faults))


def only(record: Json, known: str, what: str) -> dict[str, Json]:
    """The record, when it is an object with keys of ``known`` (blank-separated) alone.

    Raises:
        UnknownShapeError: it is something else.
    """
    if not isinstance(record, dict):
        raise UnknownShapeError(f"{what} is no object: {record!r:.80}")
    unknown = sorted(set(record) - set(known.split()))
    if unknown:
        raise UnknownShapeError(f"{what} has unknown keys: {', '.join(unknown)}")
    return record
