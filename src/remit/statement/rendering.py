"""The remit as JSON, as text for a terminal, as markdown, and its short form."""

from __future__ import annotations

import re
from textwrap import TextWrapper
from typing import TYPE_CHECKING

from remit.statement.document import Block, Items, Paragraph, Remit, section_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.values.json import JsonObject

_INTRODUCTION = (
    "Here you are the person for whom an agent works. Curly quotes and a bar at the left hold "
    "the app's own words; everything else is said by Remit."
)
_WIDTH = 80
# Longer lists run on, so that two hundred tools can be read.
_MAX_ONE_BY_ONE = 12
_SEPARATOR = " · "
# Every character that begins markup, or a link that nobody wrote, somewhere in a line.
_MARKUP = re.compile(r"[\\`*_{}\[\]<>#|~&!@^$]|:(?=//)|(?<=www)\.", re.IGNORECASE)
_LINE_START = re.compile(r"^(\s*)([-+=.)]|\d{1,9}(?=[.)]))?")


def as_json(remit: Remit) -> JsonObject:
    """``{digest, sections}`` (contract section 17)."""
    return {
        "digest": remit.digest,
        "sections": [section_json(section) for section in remit.sections],
    }


def short(remit: Remit) -> str:
    """The short form that consent shows: one paragraph."""
    return " ".join(remit.letter)


def as_text(remit: Remit, width: int = _WIDTH) -> str:
    """The whole document for a terminal.

    Args:
        remit: the document.
        width: columns to fill, 40 at least; a word that is longer stands whole.
    """
    width = max(width, 40)
    lines = [f"The remit of {remit.subject}", ""]
    # Headings alone begin in the first column: no wrapped word of an app can stand there.
    lines += _wrapped(_INTRODUCTION, width, "   ")
    lines += ["", *_wrapped(short(remit), width, "   ")]
    for number, section in enumerate(remit.sections, 1):
        lines += ["", f"{number}. {section.title}"]
        for block in section.blocks:
            lines += ["", *_block_lines(block, width)]
    lines += ["", f"Digest {remit.digest}"]
    return "\n".join(lines) + "\n"


def _block_lines(block: Block, width: int) -> Iterator[str]:
    if isinstance(block, Paragraph):
        yield from _wrapped(block.text, width, "   ")
    elif isinstance(block, Items):
        yield from _wrapped(block.lead, width, "   ")
        if len(block.items) > _MAX_ONE_BY_ONE:
            yield from _wrapped(_SEPARATOR.join(block.items), width, "     ")
            return
        for item in block.items:
            yield from _wrapped(item, width, "     - ", "       ")
    else:
        yield from _wrapped(block.lead, width, "   ")
        for line in block.lines:
            yield from _wrapped(line, width, "   | ") or ["   |"]


def _wrapped(text: str, width: int, first: str = "", rest: str | None = None) -> list[str]:
    """A text in lines; words are never broken, so that a host or a digest can be copied."""
    wrapper = TextWrapper(
        width=width,
        initial_indent=first,
        subsequent_indent=first if rest is None else rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return wrapper.wrap(text)


def as_markdown(remit: Remit) -> str:
    """The whole document as markdown without raw HTML and without a link that is live."""
    lines = [f"# The remit of {_escaped(remit.subject)}", "", _escaped(_INTRODUCTION), ""]
    lines += [_escaped(short(remit)), ""]
    for number, section in enumerate(remit.sections, 1):
        lines += [f"## {number}. {section.title}", ""]
        for block in section.blocks:
            lines += [*_block_markdown(block), ""]
    lines.append(f"Digest `{remit.digest}`")
    return "\n".join(lines) + "\n"


def _block_markdown(block: Block) -> Iterator[str]:
    if isinstance(block, Paragraph):
        yield _escaped(block.text)
    elif isinstance(block, Items):
        yield _escaped(block.lead)
        yield ""
        if len(block.items) > _MAX_ONE_BY_ONE:
            yield _escaped(_SEPARATOR.join(block.items))
        else:
            yield from (f"- {_escaped(item)}" for item in block.items)
    else:
        yield _escaped(block.lead)
        yield ""
        # A backslash at the end of a line breaks it and joins nothing.
        last = len(block.lines) - 1
        for index, line in enumerate(block.lines):
            end = "\\" if index < last and line and block.lines[index + 1] else ""
            yield f"> {_escaped(line)}{end}".rstrip()


def _escaped(text: str) -> str:
    """A text of one line in which markdown sees no markup."""
    escaped = _MARKUP.sub(r"\\\g<0>", text)
    return _LINE_START.sub(_escape_start, escaped, count=1) if escaped else escaped


def _escape_start(found: re.Match[str]) -> str:
    # Blanks would indent code, a digit and its dot begin a numbered list.
    blanks, mark = "&nbsp;" * len(found[1]), found[2] or ""
    return f"{blanks}{mark}\\" if mark.isdigit() else f"{blanks}\\{mark}" if mark else blanks
