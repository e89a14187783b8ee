"""Calls that wait for a person's action: the app answered with a card (contract section 8)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from remit.calls.action_cards import ActionCard, read_card
from remit.catalog.definitions import surroundings_of
from remit.documents.canonical import compact_json
from remit.errors import (
    Cancelled,
    Denied,
    Expired,
    Forbidden,
    InvalidRequest,
    NotApproved,
    ResponseInvalid,
    Skipped,
)
from remit.gateway.asking import asks, kept_as
from remit.gateway.buttons import shown_with_words, why_not_pressed
from remit.gateway.devices import is_registered
from remit.gateway.freezing import secrets_with
from remit.gateway.ledger import CallChange, InputRow
from remit.gateway.resting import kept_digest, opened_text, sealed_text
from remit.policy.decisions import Ask
from remit.values.visible import visible

if TYPE_CHECKING:
    from remit.catalog.requests import Surroundings
    from remit.errors import CallError
    from remit.gateway.apps import App
    from remit.gateway.ledger import CallRow, CallStatus
    from remit.gateway.node import AppInForce, Node
    from remit.gateway.permitting import Case
    from remit.values.json import JsonObject, JsonValue

_REASON = "the app needs a person before it can go on"


async def card_of_call(node: Node, case: Case, found: AppInForce, answer: JsonObject) -> ActionCard:
    """The card that an app answered with, if it may be shown.

    Args:
        node: knows the user's devices.
        case: the call that was answered.
        found: the app in force.
        answer: masked.

    Raises:
        ResponseInvalid: the call belongs to no conversation, or the card is broken, goes where
            the remit does not, or is for a device that the user does not have.
        StoreUnavailable: the devices cannot be looked up.
    """
    tool = case.tool
    if case.record.get("sessionId") is None:
        raise ResponseInvalid(
            f"{tool.name}: the app asked for an action with a card, and there is no conversation "
            "to show it in. Over the API its handler must answer with an error of its own: it is "
            'told by the tool context, {"source": "api"}.',
            sent=True,
        )
    around = surroundings_of(found.definition, brand=node.terms.brand)
    card = read_card(tool.name, answer, around)
    for button in card.buttons:
        why = await why_not_pressed(node, case.workspace, tool.name, button, found)
        if why is not None:
            raise ResponseInvalid(
                f'{tool.name}: the app asked for an action with a card whose button "{button.id}" '
                f"could not be pressed: {why}.",
                sent=True,
            )
    assignee = card.assignee
    if assignee is not None and not await is_registered(
        node.devices, case.workspace, case.user, assignee
    ):
        raise ResponseInvalid(
            f"{tool.name}: the app asked for an action on a device that the user does not "
            "have. The assignee of a card is one of the devices that the computer tool lists.",
            sent=True,
        )
    return card


class Asking(Struct, frozen=True, kw_only=True):
    """The call that a card is shown for.

    Attributes:
        record: as far as it is written.
        hides: secrets that it was sent with; a later answer may have them, too.
    """

    workspace: str
    call_id: str
    app: str
    tool: str
    user: str
    record: JsonObject
    hides: tuple[str, ...]


async def ask_by_card(
    node: Node,
    asking: Asking,
    card: ActionCard,
    *,
    found: AppInForce,
    host: str,
    was: CallStatus,
    input_id: str,
) -> bool:
    """Let a call wait for a card of its app; False where it is not what it was any more.

    Args:
        node: where the input is made.
        asking: the call.
        card: may be shown.
        found: the app in force.
        host: where the card came from, for the platform's own line.
        was: what the call is in the ledger until then.
        input_id: a fresh one; the same where it is tried again.

    Raises:
        VaultFault, StoreUnavailable: as ``resting.private_of``.
    """
    now = node.wall.unix_ms()
    workspace, app, user = asking.workspace, asking.app, asking.user
    kept: JsonObject = {"card": card.as_json(), "hides": list(asking.hides)}
    private = await sealed_text(
        node, compact_json(kept), workspace=workspace, app=app, user=user, call=asking.call_id
    )
    around = surroundings_of(found.definition, brand=node.terms.brand)
    shown = shown_with_words(asking.tool, card, found, around)
    title = cast("str", shown["title"])
    record = {**asking.record, "inputId": input_id, "card": shown}
    body: JsonObject = {
        "title": title,
        "titleParts": [{"text": title, "inserted": False}],
        "line": {"act": "NEEDS YOU", "danger": "the app asks you to choose", "host": host},
        "args": record.get("args", {}),
        "request": record["request"],
        "card": await _named(node, workspace, shown),
        **asks(Ask(reason=_REASON), kept_digest(private)),
    }
    waits = InputRow(
        workspace=workspace,
        id=input_id,
        call=asking.call_id,
        kind="action",
        app=app,
        tool=asking.tool,
        user=user,
        by="user",
        digest=kept_digest(compact_json(shown)),
        body_json=compact_json(body),
        created_at=now,
        expires_at=now + node.terms.input_ttl_ms,
        session=cast("str | None", record.get("sessionId")),
    )
    change = CallChange(
        status="await_input",
        at=now,
        rests=True,
        record_json=compact_json(record),
        private=private,
    )
    if await node.inputs.open(workspace, waits, was=was, change=change):
        return True
    # A commit that was reported as failed may have been one.
    return await node.inputs.get(workspace, input_id) is not None


def hidden(case: Case, app: App) -> tuple[str, ...]:
    """The secrets that a call was sent with, which its app may say again in a later answer."""
    known = [*secrets_with(case.frozen, app.catalog), *app.env.values()]
    known += [one for one in (app.identity, app.credential) if one is not None]
    return tuple(dict.fromkeys(one.reveal() for one in known))


def refuse_press(waits: InputRow, element: str, device: str | None) -> None:
    """Refuse a press that the card does not take.

    Args:
        waits: of kind ``action``.
        element: id of the button.
        device: that the client which presses was given its token for.

    Raises:
        InvalidRequest: the card has no such button.
        Forbidden: the card is for another device (contract section 8).
    """
    card = _shown_card(waits)
    known = _elements(card)
    if all(one["id"] != element for one in known):
        listed = ", ".join(str(one["id"]) for one in known)
        raise InvalidRequest(
            f'The card has no button "{visible(element[:80])}". Its buttons are: {listed}.'
        )
    assignee = card.get("assignee")
    if isinstance(assignee, dict) and assignee["computerId"] != device:
        name = visible(str(assignee.get("name") or assignee["computerId"]))
        raise Forbidden(
            f"The buttons of this card are for {name} alone, and are pressed with a client token "
            "that was made for it. Continue there, or skip or cancel."
        )


def label_of(waits: InputRow, element: str) -> str:
    """The words on a button of a card, as they were shown; its id where it has none."""
    labels = {str(one["id"]): str(one["label"]) for one in _elements(_shown_card(waits))}
    return labels.get(element, element)


def _shown_card(waits: InputRow) -> JsonObject:
    return cast("JsonObject", cast("JsonObject", json.loads(waits.body_json))["card"])


def _elements(card: JsonObject) -> list[JsonObject]:
    return [cast("JsonObject", one) for one in cast("list[JsonValue]", card["elements"])]


async def kept_hides(node: Node, row: CallRow) -> tuple[str, ...]:
    """The secrets that a call was sent with which waits for a card.

    Raises:
        VaultFault: they cannot be opened.
    """
    return _hides(await _kept(node, row))


async def kept_card(
    node: Node, row: CallRow, waits: InputRow, around: Surroundings
) -> tuple[ActionCard, tuple[str, ...]]:
    """The card of a call that waits, as it was shown, and the secrets that the call was sent with.

    Raises:
        Denied: it is not what was shown.
        NotApproved: it does not fit the version of the app that is in force.
        VaultFault: it cannot be opened.
    """
    if kept_digest(row.private or "") != kept_as(waits):
        raise Denied(
            f"{row.tool} did not go on: what was kept of the card is not what was shown. Somebody "
            "changed it in the store. Call again."
        )
    kept = await _kept(node, row)
    try:
        card = read_card(row.tool, cast("JsonObject", kept["card"]), around)
    except ResponseInvalid:
        raise NotApproved(
            f"{row.tool} did not go on: the app has changed since its card was shown, and the card "
            "does not fit the version in force. Call again."
        ) from None
    return card, _hides(kept)


async def _kept(node: Node, row: CallRow) -> JsonObject:
    """What ``ask_by_card`` kept with the call."""
    return cast("JsonObject", json.loads(await opened_text(node, row)))


def _hides(kept: JsonObject) -> tuple[str, ...]:
    return tuple(cast("list[str]", kept["hides"]))


def unpressed(waits: InputRow) -> CallError:
    """What the agent is told of a card that was closed without a press."""
    tool = waits.tool
    asked = f"{tool}: the app asked for an action of the user"
    if waits.status == "skipped":
        return Skipped(
            f"{asked}, and they skipped it. Go on without it, and do not call the tool again "
            "unless they ask for it."
        )
    if waits.status == "expired":
        return Expired(f"{asked}, and nobody answered in time. Call again if it is still wanted.")
    return Cancelled(f"{asked}, and it was cancelled.")


async def _named(node: Node, workspace: str, shown: JsonObject) -> JsonObject:
    """The card with the name of its assignee, for those who cannot press."""
    assignee = shown.get("assignee")
    if not isinstance(assignee, dict):
        return shown
    device = await node.devices.get(workspace, cast("str", assignee["computerId"]))
    name: JsonValue = None if device is None else device.name
    return {**shown, "assignee": {**assignee, "name": name or assignee["computerId"]}}
