"""The section of the token bill (contract sections 15 and 17)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from remit.statement.document import Block, Items, Paragraph, Section
from remit.statement.subject import counted

if TYPE_CHECKING:
    from remit.statement.subject import Subject

_SHOWN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What a catalog costs a model with each turn, in tokens.

    Attributes:
        total: of the catalog as offered.
        tools: catalog name and tokens of each tool, in any order.
    """

    total: int
    tools: tuple[tuple[str, int], ...]


def bill_section(subject: Subject, bill: Bill | None) -> Section:
    """The token bill; without counts the section says where to get them."""
    blocks: list[Block] = []
    if bill is None:
        blocks.append(
            Paragraph("Not counted in this copy; remit lint --bill counts what it costs a model.")
        )
    elif not bill.tools:
        blocks.append(Paragraph("No tool costs the model anything."))
    else:
        blocks.append(
            Paragraph(
                f"With every turn the model reads about {counted(bill.total, 'token')} that "
                f"describe {counted(len(bill.tools), 'tool')} of {subject.name}."
            )
        )
        dearest = sorted(bill.tools, key=lambda entry: (-entry[1], entry[0]))
        rest = len(dearest) - _SHOWN
        more = f"; the other {rest:,} cost less" if rest > 0 else ""
        items = tuple(f"{name}: {tokens:,}" for name, tokens in dearest[:_SHOWN])
        blocks.append(Items(f"By tool, the dearest first{more}:", items))
    return Section(id="bill", title="What it costs the model", blocks=tuple(blocks))
