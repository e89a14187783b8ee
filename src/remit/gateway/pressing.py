"""A button of a card was pressed: its input, or what its target answers, is the result (section 8).

A target is a call of its own, with an id that follows from the input: however often a press is
gone on with, by whichever node, there is one. The call that waits ends as that one does, or waits
for the next card that it answers with.
"""

from __future__ import annotations

from hashlib import sha256
from math import inf
from typing import TYPE_CHECKING, cast

from msgspec import structs

from remit.calls.action_cards import MAX_IN_A_ROW, read_card
from remit.calls.results import Display, content_of
from remit.catalog.scales import Renderer
from remit.errors import CallError, Cancelled, NotConnected, NotFound, ResponseInvalid
from remit.gateway.acting import Actor
from remit.gateway.action_inputs import Asking, around_of, ask_by_card, kept_card, tool_of
from remit.gateway.asking import detail_of
from remit.gateway.awaiting import ended_within
from remit.gateway.commands import MAX_WAIT_MS, Command
from remit.gateway.ending import end, failure
from remit.gateway.governed import Refused, dispatched, frozen_case, recorded
from remit.gateway.journal import Ended, succeeded
from remit.gateway.keeping import VaultFault
from remit.gateway.noting import Notes
from remit.gateway.permitting import Yes, access, judged, permitted, standing
from remit.gateway.resting import is_sealed
from remit.gateway.running import Polling
from remit.gateway.steps import denial
from remit.policy.decisions import Approval, Deny

if TYPE_CHECKING:
    from remit.calls.action_cards import Button
    from remit.catalog.requests import Surroundings
    from remit.gateway.governed import Called
    from remit.gateway.ledger import CallRow, InputRow
    from remit.gateway.node import Node
    from remit.values.json import JsonObject, JsonValue


#: What the record of a call says as that of its button's does.
_COPIED = ("mapped", "content", "display", "cut", "embedRefused", "error")


async def press(
    node: Node, row: CallRow, record: JsonObject, waits: InputRow
) -> Ended | Polling | None:
    """Do what the pressed button says; None where another node did.

    Args:
        node: which the call was given to.
        row: the call that waits.
        record: its record, with the answer.
        waits: the input, answered by a press.

    Raises:
        StoreUnavailable: it could not be done so far; it is tried again.
    """
    try:
        return await _gone_on(node, row, record, waits)
    except CallError as caught:
        error = caught
    except NotFound as gone:
        error = Cancelled(f"{row.tool} did not go on: {gone.message}")
    except VaultFault as shut:
        error = NotConnected(f"{row.tool} did not go on: {shut.message}")
    return await end(node, row.workspace, failure(record, error, None), was="await_input")


async def _gone_on(
    node: Node, row: CallRow, record: JsonObject, waits: InputRow
) -> Ended | Polling | None:
    found = await standing(node, row.workspace, row.app)
    around = around_of(node, found.definition)
    card = await kept_card(node, row, waits, around)
    element = str(detail_of(waits).get("press"))
    button = card.button(element)
    if button is None:
        raise ResponseInvalid(f'{row.tool}: the card has no button "{element}".', sent=True)
    if button.target is None:
        ended = _given(_pressed(record, waits, button), button.input)
        return await end(node, row.workspace, ended, was="await_input")
    call_id = _call_id(waits)
    ended = await _target_called(node, row, waits, button, call_id)
    return await _followed(node, row, _pressed(record, waits, button, call_id), ended, around)


def _pressed(
    record: JsonObject, waits: InputRow, button: Button, call_id: str | None = None
) -> JsonObject:
    """The record with one press more."""
    press: JsonObject = {"inputId": waits.id, "press": button.id, "label": button.label}
    if call_id is not None:
        press["callId"] = call_id
    before = cast("list[JsonValue]", record.get("presses", []))
    return {**record, "presses": [*before, press]}


def _given(record: JsonObject, value: JsonValue) -> Ended:
    """The end of a call whose result is what a button gives."""
    return succeeded(record, value, content_of(value), Display(renderer=Renderer.JSON, data=value))


def _call_id(waits: InputRow) -> str:
    """The id of the call that a press makes; the same for whoever goes on with it."""
    return f"call_{sha256(f'{waits.workspace}/{waits.id}'.encode()).hexdigest()[:32]}"


async def _target_called(
    node: Node, row: CallRow, waits: InputRow, button: Button, call_id: str
) -> Ended:
    """Call the target of a button and wait for its end, however long it takes.

    Raises:
        RemitError: it could not even be recorded.
    """
    command = Command(
        actor=Actor(key_id="", role="user", workspace=row.workspace, user=row.user),
        app=row.app,
        tool=row.tool,
        user=row.user,
        args=cast("JsonObject", button.input),
        source="button",
        wait_ms=MAX_WAIT_MS,
        call_id=call_id,
        origin="button",
        session=row.session,
        run=row.run,
    )
    called = await _called(node, command, row, waits, button)
    if isinstance(called, Refused):
        if called.ended is None:
            raise called.error
        return called.ended
    if isinstance(called, Ended):
        return called
    state = await ended_within(node, row.workspace, call_id, until=inf)
    if not isinstance(state, Ended):
        msg = "a call that is waited for without end has ended"
        raise TypeError(msg)
    return state


async def _called(
    node: Node, command: Command, row: CallRow, waits: InputRow, button: Button
) -> Called:
    """The steps of a call whose approval is the press (contract sections 5 and 8)."""
    notes = Notes.of(node, command)
    by = waits.answered_by or "system"
    notes.record |= {"actor": by, "answeredBy": by, "inputId": waits.id, "parent": row.id}
    try:
        found = await standing(node, command.workspace, command.app)
        notes.stands(found)
        around = around_of(node, found.definition)
        tool = notes.tool = tool_of(row.tool, button, found.catalog, around)
        case = await frozen_case(node, command, notes, found, tool)
        detail = detail_of(waits)
        yes = Yes(
            approval=Approval(digest=case.frozen.request.digest, by=by),
            is_user=detail.get("isUser") is True,
            is_operator=detail.get("isOperator") is True,
        )
        case = structs.replace(case, yes=yes)
        ruling = judged(case, found)
        notes.judged(ruling)
        if isinstance(ruling.verdict, Deny):
            raise denial(tool, ruling.verdict)
        given = await access(node, case, found)
        permit = await permitted(node, case, found=found, ruling=ruling, given=given)
        return await dispatched(node, command, notes, case, permit)
    except NotFound as error:
        return Refused(error=error)
    except CallError as error:
        return await recorded(node, command, notes, error)


async def _followed(
    node: Node, row: CallRow, record: JsonObject, ended: Ended, around: Surroundings
) -> Ended | Polling:
    """End the call as its button's did, or let it wait for the next card.

    Raises:
        ResponseInvalid: there were too many cards.
    """
    answer = ended.record.get("card")
    if isinstance(answer, dict):
        if len(cast("list[JsonValue]", record["presses"])) >= MAX_IN_A_ROW:
            raise ResponseInvalid(
                f"{row.tool}: the app answered with a card {MAX_IN_A_ROW + 1} times in a row; "
                f"{MAX_IN_A_ROW} are allowed. The app's developers must end the chain.",
                sent=True,
            )
        asking = Asking(
            workspace=row.workspace,
            call_id=row.id,
            app=row.app,
            tool=row.tool,
            user=row.user,
            record=record,
            seals=is_sealed(row),
        )
        card = read_card(row.tool, answer, around)
        await ask_by_card(node, asking, card, host=_host(ended.record), was="await_input")
        return Polling(row.id)
    told = {name: ended.record[name] for name in _COPIED if name in ended.record}
    record = {**record, "outcome": ended.outcome, **told}
    mine = structs.replace(ended, call_id=row.id, record=record)
    return await end(node, row.workspace, mine, was="await_input")


def _host(record: JsonObject) -> str:
    request = record.get("request")
    url = request.get("url") if isinstance(request, dict) else ""
    return str(url).partition("://")[2].partition("/")[0]
