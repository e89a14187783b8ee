"""The remit of an app: all it may do, in plain words, always the same for the same input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.statement.abilities import abilities, stops, worst
from remit.statement.bill import bill_section
from remit.statement.document import Remit, digest_of
from remit.statement.hosts import hosts
from remit.statement.letter import letter
from remit.statement.subject import Subject
from remit.statement.texts import changes, texts

if TYPE_CHECKING:
    from remit.catalog.model import Definition
    from remit.offer.bill import Bill


def build(definition: Definition, *, bill: Bill | None = None) -> Remit:
    """Write the remit of a definition (contract section 17).

    Args:
        definition: loaded; tools over its ceiling are named as such and described no further.
        bill: the token counts (``remit.offer.bill``), for who wants them shown. They are no part
            of the digest, so that a server, which counts no tokens, and a terminal, which does,
            approve the same.
    """
    subject = Subject.of(definition)
    sections = (
        abilities(subject),
        worst(subject),
        stops(subject),
        hosts(subject),
        changes(subject),
        texts(subject),
        bill_section(subject, bill),
    )
    return Remit(
        digest=digest_of(sections),
        subject=subject.name,
        letter=letter(subject),
        sections=sections,
    )
