"""What a card must be for Remit to show it (contract section 8), for those made here and others."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from remit.kit.tools import Record

VARIANTS: Final = ("primary", "secondary", "danger")
MAX_TITLE: Final = 200
MAX_DESCRIPTION: Final = 2_000
MAX_LABEL: Final = 80
MAX_ID: Final = 64
MAX_COMPUTER_ID: Final = 200
MAX_BUTTONS: Final = 10
MAX_INPUT_BYTES: Final = 16 * 1024
_TARGETS: Final = ("app", "url", "client")


def card_faults(card: Record) -> list[str]:
    """Every fault of a card as it is answered; each a sentence."""
    faults = _words(card, "title", MAX_TITLE)
    if card.get("description") is not None:
        faults += _words(card, "description", MAX_DESCRIPTION, blank=True)
    assignee = card.get("assignee")
    if assignee is not None:
        named = cast("Record", assignee) if isinstance(assignee, dict) else {}
        faults += [f"assignee: {fault}" for fault in _id(named, "computerId", MAX_COMPUTER_ID)]
    elements = card.get("elements")
    buttons = cast("list[object]", elements) if isinstance(elements, list) else []
    if not 1 <= len(buttons) <= MAX_BUTTONS:
        faults.append(f"The card has {len(buttons)} buttons; 1 to {MAX_BUTTONS} are allowed.")
    ids: list[str] = []
    for at, element in enumerate(buttons):
        button = cast("Record", element) if isinstance(element, dict) else {}
        faults += [f"elements/{at}: {fault}" for fault in _button_faults(button)]
        if isinstance(button.get("id"), str):
            ids.append(cast("str", button["id"]))
    if len(set(ids)) != len(ids):
        faults.append("Two buttons of the card have one id.")
    return faults


def _button_faults(button: Record) -> list[str]:
    if button.get("type") != "button":
        return ["It is no object of type button."]
    faults = _id(button, "id", MAX_ID) + _words(button, "label", MAX_LABEL)
    if button.get("variant", "secondary") not in VARIANTS:
        faults.append(f"variant is none of {', '.join(VARIANTS)}.")
    given = button.get("input", {})
    try:
        size = len(json.dumps(given, ensure_ascii=False, allow_nan=False).encode())
    except (TypeError, ValueError):
        faults.append("input is no JSON.")
    else:
        if size > MAX_INPUT_BYTES:
            faults.append(f"input is larger than {MAX_INPUT_BYTES:,} bytes. Send an id instead.")
    target = button.get("target")
    if target is not None:
        if not isinstance(target, dict) or cast("Record", target).get("type") not in _TARGETS:
            faults.append("target is no app, url or client target.")
        if not isinstance(given, dict):
            faults.append("input is no object, as that of a target must be.")
    return faults


def _words(record: Record, key: str, most: int, *, blank: bool = False) -> list[str]:
    text = record.get(key)
    if not isinstance(text, str) or not (blank or text.strip()):
        return [f"{key} is missing, empty or no text."]
    return [f"{key} has more than {most:,} characters."] if len(text) > most else []


def _id(record: Record, key: str, most: int) -> list[str]:
    text = record.get(key)
    if isinstance(text, str) and 1 <= len(text) <= most and text.isprintable():
        return []
    return [f"{key} must be a text of 1 to {most} visible characters."]
