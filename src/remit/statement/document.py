"""What the remit is made of: sections of sentences, lists and quoted texts (contract section 17).

Two rules hold in every text here, so that an app can forge nothing. Words that are not ours
stand between curly quotes (``remit.policy.wording.quoted``) or in a ``Quote``; nothing else uses
curly quotes. And a text is one line: only a renderer makes line breaks.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Literal, TypeAlias

from remit.documents.canonical import canonical_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.values.json import JsonObject

SectionId = Literal["abilities", "worst", "stops", "hosts", "changes", "texts", "bill"]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Whole sentences."""

    text: str


@dataclass(frozen=True, slots=True)
class Items:
    """A line that leads a list, and the list; every item is one line."""

    lead: str
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Quote:
    """A text of the app itself, whole; ``lead`` is ours, the lines are not."""

    lead: str
    lines: tuple[str, ...]


Block: TypeAlias = "Paragraph | Items | Quote"


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of the remit.

    Attributes:
        title: for a person.
        blocks: in the order they are read.
    """

    id: SectionId
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remit:
    """The remit of one app.

    Attributes:
        digest: SHA-256 in hex over the canonical form of the sections but for the token bill.
        subject: whose remit it is, as it stands in a sentence.
        letter: the short form, three to six sentences (``remit.statement.letter``).
        sections: in the order of contract section 17.
    """

    digest: str
    subject: str
    letter: tuple[str, ...]
    sections: tuple[Section, ...]


def digest_of(sections: Sequence[Section]) -> str:
    """The digest that an approval approves.

    The token bill is left out: it is counted with the vocabulary of one tokenizer, and a better
    vocabulary must not make an approved document another one. What it is counted from, the
    texts and schemas, is approved in the other sections.
    """
    document = {"sections": [section_json(s) for s in sections if s.id != "bill"]}
    return sha256(canonical_json(document)).hexdigest()


def section_json(section: Section) -> JsonObject:
    """``{id, title, blocks}``; a block is ``{text}``, ``{lead, items}`` or ``{lead, quote}``."""
    return {
        "id": section.id,
        "title": section.title,
        "blocks": [_block_json(block) for block in section.blocks],
    }


def _block_json(block: Block) -> JsonObject:
    if isinstance(block, Paragraph):
        return {"text": block.text}
    if isinstance(block, Items):
        return {"lead": block.lead, "items": [*block.items]}
    return {"lead": block.lead, "quote": [*block.lines]}
