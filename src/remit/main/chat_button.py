"""An action card of an app in the terminal: the platform's line, the app's words, the buttons.

What the app wrote stands behind a bar that it cannot draw itself, so that nothing of it looks like
a line of the platform.
"""

from __future__ import annotations

import re
import sys
import textwrap
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

from remit.documents.canonical import compact_json
from remit.main.chat_api import object_of, objects, text
from remit.main.output import paint, width
from remit.main.terminal import one_line
from remit.values.visible import visible

if TYPE_CHECKING:
    from remit.values.json import JsonObject

_BAR = "  │ "
_MOST_COLUMNS = 78
_MOST_LINES = 60
_MAX_GIVEN = 200
_ADDRESS = re.compile(r"[!-~]*https?://[!-~]+")


def drawn_card(found: JsonObject) -> str:
    """The card of an input of kind ``action``; its buttons only where they can be pressed here."""
    err = sys.stderr
    line, card = object_of(found.get("line")), object_of(found.get("card"))
    title = one_line(text(card.get("title")) or text(found.get("title")))
    app, host = one_line(text(found.get("app"))), one_line(text(line.get("host")))
    lines = [
        "",
        paint(one_line(f"{text(line.get('act'))} · {text(line.get('danger'))}"), "bold", err),
        paint(f"asked by {app} on {host}", "dim", err),
        "",
        *set_apart(title),
    ]
    if words := text(card.get("description")):
        lines += [_BAR.rstrip(), *set_apart(words)]
    if continues_on(found) is None:
        for number, button in enumerate(buttons_of(found), 1):
            lines += ["", f"  {number:>2}  {one_line(text(button.get('label')))}"]
            lines.append(paint(f"      {_what_it_does(button)}", "dim", err))
    return "\n".join(lines)


def set_apart(words: str) -> list[str]:
    """An app's words as lines behind a bar, wrapped; of very many the first.

    An address stays whole, so that a terminal can open it.
    """
    columns = width(_MOST_COLUMNS) - len(_BAR)
    lines = [
        wrapped
        for line in visible(words).expandtabs(4).split("\n")
        for wrapped in _wrapped(line, columns)
    ]
    left = len(lines) - _MOST_LINES
    shown = [f"{_BAR}{line}".rstrip() for line in lines[:_MOST_LINES]]
    return [*shown, f"  … and {left:,} more lines"] if left > 0 else shown


def _wrapped(line: str, columns: int) -> list[str]:
    """A line in pieces that a terminal does not break once more: that would leave the bar."""
    wide = sum(east_asian_width(character) in "WF" for character in line)
    columns = max(columns - wide, columns // 2)
    found: list[str] = []
    for piece in textwrap.wrap(line, columns, break_long_words=False, break_on_hyphens=False):
        whole = len(piece) <= columns or _ADDRESS.fullmatch(piece)
        found += [piece] if whole else textwrap.wrap(piece, columns)
    return found or [""]


def buttons_of(found: JsonObject) -> list[JsonObject]:
    """The buttons of a card, in the app's order."""
    elements = objects(object_of(found.get("card")).get("elements"))
    return [one for one in elements if one.get("type") == "button"]


def continues_on(found: JsonObject) -> str | None:
    """The name of the one device that may press; None where the card is for any.

    This client runs on no device that the server knows: it has a key, and no token of a device.
    """
    assignee = object_of(object_of(found.get("card")).get("assignee"))
    return one_line(text(assignee.get("name")) or text(assignee.get("computerId"))) or None


def _what_it_does(button: JsonObject) -> str:
    """What a press does, in the platform's words; what is sent is part of it."""
    given = one_line(compact_json(button.get("input")))
    if len(given) > _MAX_GIVEN:
        given = f"{given[:_MAX_GIVEN]}… ({len(given):,} characters)"
    marked = "marked as dangerous by the app · " if button.get("variant") == "danger" else ""
    target = object_of(button.get("target"))
    if not target:
        return f"{marked}tells the agent {given}"
    if does := object_of(button.get("does")):
        words = [one_line(text(does.get(key))) for key in ("act", "danger", "host")]
        marked = f"{' · '.join(words)} · {marked}"
    method = one_line(text(target.get("method")))
    if handler := text(target.get("name")):
        return f"{marked}runs {one_line(handler)} with {given}"
    if url := text(target.get("url")):
        return f"{marked}calls {method} {one_line(url)} with {given}"
    path, component = (one_line(text(target.get(name))) for name in ("path", "component"))
    return f"{marked}calls {method} {path} of the app's component {component} with {given}"
