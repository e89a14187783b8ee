"""Going on with a call that rested: its input is closed, or its process died (sections 5 and 9).

Each step names the status that it found, so that of two that try one goes on and the other stops.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec import structs

from remit.documents.canonical import compact_json
from remit.errors import (
    AppSuspended,
    CallError,
    Cancelled,
    Denied,
    Expired,
    NotConnected,
    NotFound,
)
from remit.gateway.action_inputs import unpressed
from remit.gateway.asking import answer_of, kept_as, note_of, yes_of
from remit.gateway.connect_inputs import unconnected
from remit.gateway.ending import end, failure, outlasting
from remit.gateway.endings import Late
from remit.gateway.journal import Ended
from remit.gateway.keeping import VaultFault
from remit.gateway.ledger import CallChange
from remit.gateway.permitting import permitted, standing
from remit.gateway.pressing import press
from remit.gateway.reconnecting import went_on
from remit.gateway.resting import as_frozen, kept_digest, record_of, restored
from remit.gateway.running import begun, lost, resendable, send
from remit.gateway.steps import refused

if TYPE_CHECKING:
    from remit.gateway.ledger import CallRow, InputRow
    from remit.gateway.node import Node
    from remit.gateway.permitting import Case, Permit, Yes
    from remit.gateway.running import Polling
    from remit.values.json import JsonObject


async def go_on(node: Node, waits: InputRow) -> Ended | Polling | None:
    """Do what the end of an input means for its call; None where another did.

    Tried again while the store does not do its part, and later on by a task of the node: a call
    that has left ``await_input`` is not touched again.

    Args:
        node: which the call was given to as the input was closed.
        waits: closed.

    Raises:
        StoreUnavailable: it could not be committed so far.
    """
    chars = len(waits.body_json) + len(waits.answer_json or "")
    late = Late(workspace=waits.workspace, call_id=waits.call, was="await_input", chars=chars)
    act = partial(_gone_on, node, waits)
    return await outlasting(node, late, act, act)


async def _gone_on(node: Node, waits: InputRow) -> Ended | Polling | None:
    row = await node.calls.get(waits.workspace, waits.call)
    if row is None or row.status != "await_input":
        return None
    record = {**record_of(row), **answered(waits)}
    if waits.kind == "connect" and waits.status == "answered":
        return await _connected(node, row, record)
    if waits.kind == "action" and waits.status == "answered":
        return await press(node, row, record, waits)
    if waits.status == "approved":
        if record.get("target") == "client":
            # Whoever works on its session offers it to the clients (``client_calls.look``).
            return None
        return await _approved(node, row, record, waits)
    error = await _why_not(node, waits, record)
    return await end(node, row.workspace, failure(record, error, None), was="await_input")


async def take_up(node: Node, row: CallRow) -> Ended | Polling | None:
    """Go on with a call whose process died while it worked on it.

    A GET of a ``read`` tool and an ``idempotent`` one are sent again, with the same key. Whatever
    else was being sent is not: nobody knows whether it happened (contract section 5).

    Raises:
        StoreUnavailable: as ``go_on``.
    """
    chars = len(row.record_json) + len(row.private or "")
    late = Late(workspace=row.workspace, call_id=row.id, was=row.status, chars=chars)
    if row.status == "sending":
        ready = await outlasting(
            node, late, partial(_ready, node, row), partial(_resent_late, node, row)
        )
        return await _resent(node, row, ready)
    if row.status == "await_input":
        act = partial(_gone_on_last, node, row)
        return await outlasting(node, late, act, act)
    error = Cancelled(
        f"{row.tool} was not called: the server stopped before it was sent. Call again."
    )
    ended = failure(record_of(row), error, None)
    return await end(node, row.workspace, ended, was=row.status)


async def _approved(
    node: Node, row: CallRow, record: JsonObject, waits: InputRow
) -> Ended | Polling | None:
    """Send what was approved, if it still may be sent."""
    try:
        if kept_digest(row.private or "") != kept_as(waits):
            raise Denied(
                f"{row.tool} was not called: what was kept of the call is not what was shown. "
                "Somebody changed it in the store. Call again."
            )
        case, permit = await _permitted(node, row, record, yes_of(waits))
        case = structs.replace(case, record=as_frozen(case, permit.app))
    except CallError as error:
        return await end(node, row.workspace, failure(record, error, None), was="await_input")
    return await _sent_now(node, row, case, permit)


async def _sent_now(node: Node, row: CallRow, case: Case, permit: Permit) -> Ended | Polling | None:
    """Commit the intent of a call that waited, and send it; None where another did."""
    now = node.wall.unix_ms()
    mine = await node.calls.move(
        row.workspace,
        row.id,
        was="await_input",
        change=CallChange(
            status="sending",
            at=now,
            sent_at=now,
            node=node.id,
            record_json=compact_json(case.record),
        ),
    )
    return await send(node, case, permit) if mine else None


async def _connected(node: Node, row: CallRow, record: JsonObject) -> Ended | Polling | None:
    """Send what waited for a connection, if it may go out now; else let it wait for the next."""
    try:
        try:
            ready = await went_on(node, row, record)
        except NotFound as error:
            raise Cancelled(f"{row.tool} was not called: {error.message}") from None
        except VaultFault as error:
            raise NotConnected(f"{row.tool} was not called: {error.message}") from None
    except CallError as error:
        return await end(node, row.workspace, failure(record, error, None), was="await_input")
    if ready is None:
        return None
    return await _sent_now(node, row, *ready)


async def _gone_on_last(node: Node, row: CallRow) -> Ended | Polling | None:
    inputs = await node.inputs.of_call(row.workspace, row.id)
    return await _gone_on(node, inputs[-1]) if inputs else None


async def _resent(
    node: Node, row: CallRow, ready: Ended | tuple[Case, Permit]
) -> Ended | Polling | None:
    """Do what ``_ready`` came to; never twice, since the call may be sent here."""
    if isinstance(ready, Ended):
        return await end(node, row.workspace, ready, was="sending")
    return await send(node, *ready)


async def _resent_late(node: Node, row: CallRow) -> None:
    """The same once the store is back, unless the call was taken for abandoned meanwhile."""
    ready = await _ready(node, row)
    now = await node.calls.get(row.workspace, row.id)
    if now is not None and (now.status, now.node) == ("sending", node.id):
        node.tasks.start(_resent(node, row, ready))


async def _ready(node: Node, row: CallRow) -> Ended | tuple[Case, Permit]:
    """What a call needs to be sent again, or its end; nothing is written or sent."""
    record = begun(record_of(row), row.sent_at)
    unknown = lost(record)
    if row.private is None:
        return unknown
    inputs = await node.inputs.of_call(row.workspace, row.id)
    yes = next((yes_of(one) for one in inputs if one.status == "approved"), None)
    try:
        case, permit = await _permitted(node, row, record, yes)
    except CallError as error:
        # What changed nothing can be said to have failed; the rest may have happened before.
        harmless = row.category == "read" and _method(record) == "GET"
        return failure(record, error, None) if harmless else unknown
    if not resendable(case.tool):
        return unknown
    return structs.replace(case, record=as_frozen(case, permit.app)), permit


async def _permitted(
    node: Node, row: CallRow, record: JsonObject, yes: Yes | None
) -> tuple[Case, Permit]:
    """The call of a row with all that it needs to go out now.

    Raises:
        CallError: it may not.
    """
    try:
        found = await standing(node, row.workspace, row.app)
        case = structs.replace(await restored(node, row, found), record=record, yes=yes)
        return case, await permitted(node, case, found=found)
    except NotFound as error:
        raise Cancelled(f"{row.tool} was not called: {error.message}") from None
    except VaultFault as error:
        raise NotConnected(f"{row.tool} was not called: {error.message}") from None


async def _why_not(node: Node, waits: InputRow, record: JsonObject) -> CallError:
    """Why a call does not run whose input was closed without a yes."""
    tool = waits.tool
    if waits.kind == "action" and waits.status != "cancelled":
        return unpressed(waits)
    if waits.status == "denied":
        note = note_of(waits) or ""
        if waits.kind == "connect":
            return unconnected(waits, note, tried=bool(record.get("attempts")))
        return refused(tool, note)
    if waits.status == "expired":
        return Expired(
            f"{tool} was not called: nobody answered in time. Nothing was sent. Call again if it "
            "is still wanted."
        )
    is_card = waits.kind == "action"
    try:
        await standing(node, waits.workspace, waits.app)
    except AppSuspended as error:
        so_far = "did not go on after its card" if is_card else "was not called"
        return AppSuspended(f"{tool} {so_far}: {error.message}")
    except (CallError, NotFound):
        pass
    if is_card:
        return unpressed(waits)
    return Cancelled(f"{tool} was not called: it was withdrawn. Nothing was sent.")


def answered(waits: InputRow) -> JsonObject:
    """What the record says of the answer."""
    said: JsonObject = {"answer": answer_of(waits)}
    if waits.answered_by is not None:
        said["answeredBy"] = waits.answered_by
    return said


def _method(record: JsonObject) -> object:
    request = record.get("request")
    return request.get("method") if isinstance(request, dict) else None
