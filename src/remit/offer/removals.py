"""What an offer had to leave out: nothing is taken away without saying so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """One keyword that a provider does not take, and what became of it.

    Attributes:
        pointer: of the keyword, in the author's ``parameters``.
        keyword: as written.
        reason: why it went, for a person.
        lost: whether what it said is gone for the model; False where the description says it
            instead, or where something of the same meaning stands in its place. Remit goes on
            enforcing it in either case.
    """

    pointer: str
    keyword: str
    reason: str
    lost: bool


class Report(Protocol):
    """Takes note of what is taken out of a schema."""

    def __call__(self, at: str, keyword: str, reason: str, *, lost: bool = False) -> None:
        """Note a keyword, the pointer of the schema it was in, and why it went."""
        ...
