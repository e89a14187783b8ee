"""The section of the token bill (contract sections 15 and 17)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.offer.bill import NOTE
from remit.statement.document import Block, Items, Paragraph, Section
from remit.statement.subject import counted

if TYPE_CHECKING:
    from remit.offer.bill import Bill
    from remit.statement.subject import Subject

_SHOWN = 10


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
                f"With every turn the model reads about {counted(bill.total, 'token')} "
                f"that describe {counted(len(bill.tools), 'tool')} of {subject.name}. {NOTE}"
            )
        )
        rest = len(bill.tools) - _SHOWN
        more = f"; the other {rest:,} cost less" if rest > 0 else ""
        items = tuple(f"{cost.tool}: {cost.tokens:,}" for cost in bill.tools[:_SHOWN])
        blocks.append(Items(f"By tool, the dearest first{more}:", items))
    return Section(id="bill", title="What it costs the model", blocks=tuple(blocks))
