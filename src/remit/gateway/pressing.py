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
from remit.calls.arguments import settle
from remit.calls.results import Display, content_of
from remit.catalog.definitions import surroundings_of
from remit.catalog.model import ClientTarget
from remit.catalog.scales import Renderer
from remit.documents.canonical import compact_json
from remit.errors import CallError, Cancelled, NotConnected, NotFound, ResponseInvalid
from remit.gateway.acting import Actor
from remit.gateway.action_inputs import Asking, ask_by_card, kept_card, kept_hides, label_of
from remit.gateway.asking import detail_of, yes_of
from remit.gateway.awaiting import ended_within
from remit.gateway.buttons import tool_of
from remit.gateway.client_kept import CLIENT, Kept, kept_text
from remit.gateway.client_permitting import require_permitted
from remit.gateway.commands import MAX_WAIT_MS, Command
from remit.gateway.ending import end, failure
from remit.gateway.governed import Refused, dispatched, frozen_case, recorded, within_limits
from remit.gateway.journal import Ended, ruled, succeeded
from remit.gateway.keeping import VaultFault
from remit.gateway.ledger import SYSTEM, CallChange
from remit.gateway.noting import Notes
from remit.gateway.permitting import access, env_of, judged, permitted, standing
from remit.gateway.running import Polling
from remit.gateway.steps import denial
from remit.policy.decisions import Deny

if TYPE_CHECKING:
    from remit.catalog.model import Tool
    from remit.gateway.governed import Called
    from remit.gateway.ledger import CallRow, InputRow
    from remit.gateway.node import AppInForce, Node
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
    if await node.calls.get(row.workspace, _call_id(waits)) is not None:
        # It was pressed already: whatever stands now, that call is what became of it.
        ended = await _its_end(node, row.workspace, _call_id(waits))
        return await _followed(node, row, _pressed(record, waits, _call_id(waits)), ended)
    found = await standing(node, row.workspace, row.app)
    around = surroundings_of(found.definition, brand=node.terms.brand)
    card, hides = await kept_card(node, row, waits, around)
    element = str(detail_of(waits).get("press"))
    button = card.button(element)
    if button is None:
        raise ResponseInvalid(f'{row.tool}: the card has no button "{element}".', sent=True)
    if button.target is None:
        ended = _given(_pressed(record, waits), button.input)
        return await end(node, row.workspace, ended, was="await_input")
    tool, given = tool_of(row.tool, button, found, around), cast("JsonObject", button.input)
    if isinstance(button.target, ClientTarget):
        pressed = _pressed(record, waits, handler=button.target.name)
        return await _on_client(node, row, pressed, waits, tool, given, found, card.assignee)
    ended = await _target_called(node, row, waits, tool, given, found, hides)
    return await _followed(node, row, _pressed(record, waits, _call_id(waits)), ended)


def _pressed(
    record: JsonObject, waits: InputRow, call_id: str | None = None, *, handler: str | None = None
) -> JsonObject:
    """The record with one press more, and the call that it made or the handler that it runs."""
    element = str(detail_of(waits).get("press"))
    press: JsonObject = {
        "inputId": waits.id,
        "press": element,
        "label": label_of(waits, element),
    }
    if call_id is not None:
        press["callId"] = call_id
    if handler is not None:
        press["handler"] = handler
    before = cast("list[JsonValue]", record.get("presses", []))
    return {**record, "presses": [*before, press]}


def _given(record: JsonObject, value: JsonValue) -> Ended:
    """The end of a call whose result is what a button gives."""
    return succeeded(record, value, content_of(value), Display(renderer=Renderer.JSON, data=value))


def _next_input_id(call_id: str) -> str:
    """The id of the input that a button's call leads to; the same for whoever goes on with it."""
    return f"inp_{sha256(call_id.encode()).hexdigest()[:32]}"


def _call_id(waits: InputRow) -> str:
    """The id of the call that a press makes; the same for whoever goes on with it."""
    return f"call_{sha256(f'{waits.workspace}/{waits.id}'.encode()).hexdigest()[:32]}"


async def _on_client(
    node: Node,
    row: CallRow,
    record: JsonObject,
    waits: InputRow,
    tool: Tool,
    given: JsonObject,
    found: AppInForce,
    device: str | None,
) -> None:
    """Let the call go on in the user's client: its handler's result is the result.

    There is one client for a call of a session and its claim; the call itself waits for it.

    Raises:
        CallError: it may not.
    """
    kept = Kept(
        session=row.session or "",
        app=row.app,
        tool=tool,
        arguments=settle(tool, given, {}, source="button"),
        schema_digest="",
        ceiling=found.definition.ceiling,
        wanted=None,
        source="button",
        device=device,
    )
    yes = yes_of(waits, kept.digest)
    judged = await require_permitted(node, row.workspace, row.user, kept, yes)
    change = CallChange(
        status="await_client",
        at=node.wall.unix_ms(),
        rests=True,
        record_json=compact_json(
            {
                **record,
                **ruled(judged.ruling.fired),
                "target": CLIENT,
                "handler": kept.handler,
            }
        ),
        private=await kept_text(node, kept, row),
    )
    await node.calls.move(row.workspace, row.id, was="await_input", change=change)


async def _target_called(
    node: Node,
    row: CallRow,
    waits: InputRow,
    tool: Tool,
    given: JsonObject,
    found: AppInForce,
    hides: tuple[str, ...],
) -> Ended:
    """Call the target of a button and wait for its end, however long it takes.

    Raises:
        RemitError: it could not even be recorded.
    """
    call_id = _call_id(waits)
    command = Command(
        actor=Actor(key_id="", role="user", workspace=row.workspace, user=row.user),
        app=row.app,
        tool=tool.name,
        user=row.user,
        args=given,
        source="button",
        wait_ms=MAX_WAIT_MS,
        call_id=call_id,
        origin="button",
        session=row.session,
        run=row.run,
    )
    called = await _called(node, command, row, waits, tool, found, hides)
    ended = called.ended if isinstance(called, Refused) else called
    return ended if isinstance(ended, Ended) else await _its_end(node, row.workspace, call_id)


async def _its_end(node: Node, workspace: str, call_id: str) -> Ended:
    """The end of a call, however long it takes."""
    state = await ended_within(node, workspace, call_id, until=inf)
    if not isinstance(state, Ended):
        msg = "a call that is waited for without end has ended"
        raise TypeError(msg)
    return state


async def _called(
    node: Node,
    command: Command,
    row: CallRow,
    waits: InputRow,
    tool: Tool,
    found: AppInForce,
    hides: tuple[str, ...],
) -> Called:
    """The steps of a call whose approval is the press (contract sections 5 and 8)."""
    notes = Notes.of(node, command)
    by = waits.answered_by or SYSTEM
    notes.record |= {"actor": by, "answeredBy": by, "inputId": waits.id, "parent": row.id}
    notes.stands(found)
    notes.tool = tool
    try:
        env = await env_of(node, command.workspace, found, tool)
        case = frozen_case(node, command, notes, found, tool, env)
        frozen = structs.replace(case.frozen, hides=hides)
        case = structs.replace(case, frozen=frozen, yes=yes_of(waits, frozen.request.digest))
        ruling = judged(case, found)
        notes.judged(ruling)
        if isinstance(ruling.verdict, Deny):
            raise denial(tool, ruling.verdict)
        await within_limits(node, command, tool, found.policy.limits)
        given = await access(node, case, found)
        permit = await permitted(node, case, found=found, ruling=ruling, given=given)
        return await dispatched(node, command, notes, case, permit)
    except CallError as error:
        return await recorded(node, command, notes, error)


async def _followed(node: Node, row: CallRow, record: JsonObject, ended: Ended) -> Ended | Polling:
    """End the call as its button's did, or let it wait for the next card."""
    answer = ended.record.get("card")
    if isinstance(answer, dict):
        try:
            await _next_card(node, row, record, ended, answer)
        except CallError as error:
            return await end(node, row.workspace, failure(record, error, None), was="await_input")
        return Polling(row.id)
    ended = _as_of_button(ended, record)
    told = {name: ended.record[name] for name in _COPIED if name in ended.record}
    record = {**record, "outcome": ended.outcome, **told}
    mine = structs.replace(ended, call_id=row.id, record=record)
    return await end(node, row.workspace, mine, was="await_input")


def _as_of_button(ended: Ended, record: JsonObject) -> Ended:
    """The end of a button's call as its parent tells it: that one was called and did answer."""
    if ended.error is None:
        return ended
    said, never = str(ended.error["message"]), f"{ended.record.get('tool')} was not called: "
    if not said.startswith(never):
        return ended
    label = cast("JsonObject", cast("list[JsonValue]", record["presses"])[-1])["label"]
    message = f'The button "{label}" was pressed, and nothing was sent: {said[len(never) :]}'
    error: JsonObject = {**ended.error, "message": message}
    content = compact_json({"error": error})
    told = {**ended.record, "error": error, "content": content}
    return structs.replace(ended, error=error, content=content, record=told)


async def _next_card(
    node: Node, row: CallRow, record: JsonObject, ended: Ended, answer: JsonObject
) -> None:
    """Let the call wait for the card that its button was answered with.

    Raises:
        CallError: it cannot be shown any more, or there were too many.
    """
    if len(cast("list[JsonValue]", record["presses"])) >= MAX_IN_A_ROW:
        raise ResponseInvalid(
            f"{row.tool}: the app answered with a card {MAX_IN_A_ROW + 1} times in a row; "
            f"{MAX_IN_A_ROW} are allowed. The app's developers must end the chain.",
            sent=True,
        )
    found = await standing(node, row.workspace, row.app)
    around = surroundings_of(found.definition, brand=node.terms.brand)
    card = read_card(row.tool, answer, around)
    asking = Asking(
        workspace=row.workspace,
        call_id=row.id,
        app=row.app,
        tool=row.tool,
        user=row.user,
        record=record,
        hides=await kept_hides(node, row),
    )
    waits = await ask_by_card(
        node,
        asking,
        card,
        found=found,
        host=_host(ended.record),
        was="await_input",
        input_id=_next_input_id(ended.call_id),
    )
    if not waits:
        raise Cancelled(f"{row.tool}: the app asked once more, and the conversation is over.")


def _host(record: JsonObject) -> str:
    request = record.get("request")
    url = request.get("url") if isinstance(request, dict) else ""
    return str(url).partition("://")[2].partition("/")[0]
