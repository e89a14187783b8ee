"""An action card: what a handler answers that needs a person first (contract section 8).

The card is the app's words and buttons. It is read strictly, so that a card which could not be
pressed is found when it comes and not when somebody presses it; only what is read is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from msgspec import Struct, structs

from remit.catalog.destinations import read_target
from remit.catalog.mistakes import Mistakes
from remit.catalog.reading import Fields, is_object, kind, shown
from remit.documents.canonical import canonical_json
from remit.errors import ResponseInvalid
from remit.values.visible import visible

if TYPE_CHECKING:
    from remit.catalog.model import Destination
    from remit.catalog.requests import Surroundings
    from remit.values.json import JsonObject, JsonValue

Variant = Literal["primary", "secondary", "danger"]

MAX_TITLE, MAX_DESCRIPTION, MAX_LABEL, MAX_ID = 200, 2_000, 80, 64
MAX_BUTTONS = 10
#: Of a button's input, and of its target.
MAX_INPUT_BYTES = 16 * 1024
#: How many cards may follow one another in one call (contract section 8).
MAX_IN_A_ROW = 5


class Button(Struct, frozen=True, kw_only=True):
    """A button of the app.

    Attributes:
        input: what a press gives: the result of the tool, or the input of the target.
        target: where a press goes; None where its input is the result.
        record: of the target, as the app wrote it.
    """

    id: str
    label: str
    variant: Variant
    input: JsonValue
    target: Destination | None = None
    record: JsonObject | None = None


class ActionCard(Struct, frozen=True, kw_only=True):
    """A card.

    Attributes:
        assignee: id of the one device that may press; None for any.
    """

    title: str
    description: str
    assignee: str | None
    buttons: tuple[Button, ...]

    def button(self, element: str) -> Button | None:
        """The button of that id."""
        return next((one for one in self.buttons if one.id == element), None)

    def as_json(self) -> JsonObject:
        """The card as it is kept; ``read_card`` reads it again."""
        said: JsonObject = {"title": self.title}
        if self.description:
            said["description"] = self.description
        if self.assignee is not None:
            said["assignee"] = {"computerId": self.assignee}
        said["elements"] = [_element(one) for one in self.buttons]
        return said

    def shown(self) -> ActionCard:
        """The same as a person reads it: nothing hides in its words."""
        buttons = tuple(structs.replace(one, label=_line(one.label)) for one in self.buttons)
        return structs.replace(
            self,
            title=_line(self.title),
            description=visible(self.description),
            buttons=buttons,
        )


def read_card(tool: str, answer: JsonObject, around: Surroundings) -> ActionCard:
    """Read the card that a handler answered with.

    Args:
        tool: name of the tool that was called.
        answer: masked.
        around: the definition that its targets stand in.

    Raises:
        ResponseInvalid: it cannot be shown or pressed; the message says where and why.
    """
    mistakes = Mistakes()
    fields = Fields(answer, "", mistakes)
    title = _words(fields, "title", MAX_TITLE)
    description = _words(fields, "description", MAX_DESCRIPTION, needed=False)
    assignee = _assignee(fields)
    buttons = _buttons(fields, around)
    if mistakes.found:
        first = mistakes.found[0]
        more = len(mistakes.found) - 1
        also = f" ({more} more)" if more else ""
        raise ResponseInvalid(
            f"{tool}: the app asked for an action with a card that cannot be shown: "
            f"{first.at or '/'}: {first.message}; {first.mend}{also}. The app's developers must "
            "correct the card.",
            sent=True,
        )
    return ActionCard(
        title=title or "", description=description or "", assignee=assignee, buttons=buttons
    )


def _element(button: Button) -> JsonObject:
    said: JsonObject = {
        "type": "button",
        "id": button.id,
        "label": button.label,
        "variant": button.variant,
        "input": button.input,
    }
    if button.record is not None:
        said["target"] = button.record
    return said


def _words(fields: Fields, key: str, most: int, *, needed: bool = True) -> str | None:
    """A text for a person."""
    if fields.values.get(key) is None:
        if needed:
            fields.missing(key, "a card" if not fields.at else "a button", f"write its {key}")
        return None
    text = fields.text(key)
    if text is None:
        return None
    if needed and not text.strip():
        fields.wrong("wrong-type", key, f'"{key}" is empty', f"write its {key}")
    if len(text) > most:
        fields.wrong(
            "too-long",
            key,
            f'"{key}" has {len(text):,} characters; {most:,} are allowed',
            "shorten it; it is never cut for you",
        )
    return text


def _line(text: str) -> str:
    return visible(text).replace("\n", " ")


def _assignee(fields: Fields) -> str | None:
    if fields.values.get("assignee") is None:
        return None
    record = fields.object("assignee")
    if record is None:
        return None
    inner = Fields(record, "/assignee", fields.mistakes)
    return _id(inner, "computerId", "an assignee", 200)


def _buttons(fields: Fields, around: Surroundings) -> tuple[Button, ...]:
    if "elements" not in fields.values:
        fields.missing("elements", "a card", "write at least one button")
        return ()
    records = fields.items("elements")
    if records is None:
        return ()
    if not 1 <= len(records) <= MAX_BUTTONS:
        fields.wrong(
            "out-of-range",
            "elements",
            f"the card has {len(records)} elements; 1 to {MAX_BUTTONS} are allowed",
            "write at least one button, and no more than a person can choose from",
        )
        return ()
    found = [
        button
        for index, record in enumerate(records)
        if (button := _button(record, f"/elements/{index}", fields.mistakes, around)) is not None
    ]
    ids = [one.id for one in found]
    for twice in sorted({one for one in ids if ids.count(one) > 1}):
        fields.wrong(
            "duplicate-name",
            "elements",
            f'two buttons have the id "{shown(twice)}"',
            "give each button an id of its own",
        )
    return tuple(found)


def _button(record: object, at: str, mistakes: Mistakes, around: Surroundings) -> Button | None:
    if not is_object(record):
        mistakes.add("wrong-type", at, f"an element is {kind(record)}", "write {type: button, …}")
        return None
    fields = Fields(record, at, mistakes)
    if record.get("type") != "button":
        fields.wrong("unknown-value", "type", "an element is no button", "write type: button")
        return None
    element = _id(fields, "id", "a button", MAX_ID)
    label = _words(fields, "label", MAX_LABEL)
    variant = record.get("variant", "secondary")
    if variant not in get_args(Variant):
        fields.wrong(
            "unknown-value",
            "variant",
            '"variant" is none of primary, secondary, danger',
            "leave it out for secondary",
        )
    given: JsonValue = record.get("input", {})
    if len(canonical_json(given)) > MAX_INPUT_BYTES:
        fields.wrong(
            "too-long",
            "input",
            f'"input" is larger than {MAX_INPUT_BYTES:,} bytes',
            "keep what is large in the app, and send its id",
        )
    target = written = None
    if record.get("target") is not None:
        written = fields.object("target")
        if written is not None and len(canonical_json(written)) > MAX_INPUT_BYTES:
            fields.wrong(
                "too-long",
                "target",
                f'"target" is larger than {MAX_INPUT_BYTES:,} bytes',
                "keep what is large in the app, and send its id",
            )
        elif written is not None:
            target = read_target(Fields(written, f"{at}/target", mistakes), around)
        if not is_object(given):
            fields.wrong(
                "wrong-type",
                "input",
                f'"input" is {kind(given)}; the input of a target is an object',
                "write {} where the target needs nothing",
            )
    if element is None or label is None:
        return None
    return Button(
        id=element,
        label=label,
        variant=variant,  # pyright: ignore[reportArgumentType] -- one of them, or a mistake is noted
        input=given,
        target=target,
        record=written,
    )


def _id(fields: Fields, key: str, what: str, most: int) -> str | None:
    if key not in fields.values:
        fields.missing(key, what, f"write its {key}")
        return None
    text = fields.text(key)
    if text is not None and not (1 <= len(text) <= most and text.isprintable()):
        fields.wrong(
            "bad-name", key, f'"{key}" must have 1 to {most} visible characters', "shorten it"
        )
    return text
