"""What a person is shown before a call runs (contract section 5, approvals in words).

The first line is the platform's: kind of act, how bad, host and account. The app cannot write
it. Title and preview are the app's words, set apart; inserted values are marked as such.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from remit.calls.encoding import scalar_text
from remit.calls.expansion import Scope, body_value
from remit.calls.lookup import MISSING, Found, find
from remit.calls.planning import reachable
from remit.catalog.overrides import override_of
from remit.catalog.scales import Category, DangerLevel, Method
from remit.documents.canonical import compact_json
from remit.values.visible import visible

if TYPE_CHECKING:
    from remit.calls.arguments import Arguments
    from remit.calls.planning import FrozenRequest
    from remit.catalog.model import Tool
    from remit.values.json import JsonObject, JsonValue

MAX_TITLE_CHARACTERS = 200
_MAX_VALUE_CHARACTERS = 400
_DANGER = {
    DangerLevel.SAFE: "can be put right",
    DangerLevel.MODERATE: "may be hard to put right",
    DangerLevel.DESTRUCTIVE: "cannot be undone",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TitlePart:
    """A piece of the app's title; ``inserted`` for a value, which is set apart."""

    text: str
    inserted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One request for a person's approval.

    Attributes:
        act: the platform's word for the kind of act, such as ``DELETES``.
        danger: how bad it is, in the platform's words.
        host: where the request goes.
        account: whose credential is used, where it is known.
        title: the app's words; the tool's label where it has no ``confirm.title``.
        arguments: each argument under its title, as text; secrets masked.
        preview: the mapped result of the preview, or None.
        preview_failure: why there is none although one was declared.
        reason: why a person is asked.
        verb: the label of the button that goes ahead.
    """

    tool: str
    act: str
    danger: str
    host: str
    account: str | None
    title: tuple[TitlePart, ...]
    arguments: tuple[tuple[str, str], ...]
    preview: JsonValue
    preview_failure: str | None
    reason: str
    verb: str
    request: FrozenRequest


def act_words(tool: Tool) -> str:
    """The kind of act, from category and method: facts, not the app's words."""
    request = tool.request
    override = override_of(request) if request else None
    if request is not None and "DELETE" in (request.method.value, override and override.method):
        return "DELETES"
    if tool.category is Category.ACTION:
        return "SETS SOMETHING OFF"
    if tool.category is Category.WRITE:
        return (
            "ADDS OR CHANGES DATA" if request and request.method is Method.POST else "CHANGES DATA"
        )
    return "CHANGES DATA" if override else "READS"


def approval_card(
    tool: Tool,
    arguments: Arguments,
    request: FrozenRequest,
    *,
    reason: str,
    preview: Found = MISSING,
    preview_failure: str | None = None,
    account: str | None = None,
) -> Card:
    """Make the card for one frozen request."""
    return Card(
        tool=tool.name,
        act=act_words(tool),
        danger=danger_words(tool),
        host=request.origin.authority,
        account=account,
        title=title_of(tool, arguments, preview),
        arguments=rows_of(tool, arguments),
        preview=None if preview is MISSING else preview,
        preview_failure=preview_failure,
        reason=reason,
        verb=verb_of(tool),
        request=request,
    )


def danger_words(tool: Tool) -> str:
    """How bad it is, in the platform's words."""
    return _DANGER[tool.danger_level]


def verb_of(tool: Tool) -> str:
    """The label of the button that goes ahead."""
    return _line(tool.label)


def title_of(tool: Tool, arguments: Arguments, preview: Found = MISSING) -> tuple[TitlePart, ...]:
    """The app's words for the call, inserted values set apart."""
    text = tool.confirm.title if tool.confirm else None
    if text is None:
        return (TitlePart(text=_line(tool.label), inserted=False),)
    values = tool.parameters.masked({**arguments.values, **arguments.undeclared_pins})
    parts: list[TitlePart] = []
    left = MAX_TITLE_CHARACTERS
    for part in text.parts:
        inserted = not isinstance(part, str)
        shown = part if isinstance(part, str) else _inserted(part.root, part.path, values, preview)
        shown = _line(shown)
        if len(shown) > left:
            shown = shown[: max(0, left - 1)] + "…"
        left -= len(shown)
        if shown:
            parts.append(TitlePart(text=shown, inserted=inserted))
        if left <= 0:
            break
    return tuple(parts)


def _line(text: str) -> str:
    """A text as one line in which nothing hides."""
    return visible(text).replace("\n", " ")


def _inserted(root: str, path: tuple[str, ...], values: JsonObject, preview: Found) -> str:
    source: Found = preview if root == "preview" else values
    value = MISSING if source is MISSING else find(source, path)
    if value is MISSING or value is None:
        return "(unknown)"
    text = scalar_text(value)
    return compact_json(value) if text is None else text


def rows_of(tool: Tool, arguments: Arguments) -> tuple[tuple[str, str], ...]:
    """Each argument under its title, as text; secrets masked."""
    masked = tool.parameters.masked(arguments.values)
    rows: list[tuple[str, str]] = []
    for name, value in {**masked, **arguments.undeclared_pins}.items():
        text = scalar_text(value)
        shown = visible(compact_json(value) if text is None else text)
        if len(shown) > _MAX_VALUE_CHARACTERS:
            shown = f"{shown[:_MAX_VALUE_CHARACTERS]}… ({len(shown):,} characters)"
        rows.append((_line(tool.parameters.title(name)), shown))
    return tuple(rows)


def preview_arguments(tool: Tool, arguments: Arguments) -> JsonObject:
    """The arguments of the preview, from those of the call; pins are merged again by the call."""
    preview = tool.confirm.preview if tool.confirm else None
    if preview is None:
        return {}
    scope = Scope(
        tool=tool.name,
        input=arguments.values,
        named=reachable(tool, arguments),
    )
    value = body_value(scope, preview.args)
    return value if isinstance(value, dict) else {}
