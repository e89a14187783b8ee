"""A user has connected an app: the calls that waited for it go on by themselves (section 9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from remit.errors import NotConnected
from remit.gateway.approving import approval_of
from remit.gateway.connect_inputs import connect_input_of, let_wait
from remit.gateway.permitting import access, judged, permitted, standing
from remit.gateway.resting import as_frozen, restored
from remit.gateway.steps import denial
from remit.policy.decisions import Ask, Deny

if TYPE_CHECKING:
    from remit.gateway.apps import App
    from remit.gateway.asking import Planned
    from remit.gateway.ledger import CallRow
    from remit.gateway.node import AppInForce, Node
    from remit.gateway.permitting import Case, Permit
    from remit.values.json import JsonObject, JsonValue


async def went_on(node: Node, row: CallRow, record: JsonObject) -> tuple[Case, Permit] | None:
    """Judge a call anew, now that its user is connected.

    Args:
        node: where it goes on.
        row: ``await_input``; its connect input is answered.
        record: with that answer.

    Returns:
        The call and its permit to be sent; None where it waits for another input now: an
        approval, which shows the account, or a connection that can be used.

    Raises:
        CallError: it may not be sent any more.
        NotFound, VaultFault: as ``resting.restored`` and ``permitting.standing``.
    """
    found = await standing(node, row.workspace, row.app)
    case = structs.replace(await restored(node, row, found), record=record)
    ruling = judged(case, found)
    if isinstance(ruling.verdict, Deny):
        raise denial(case.tool, ruling.verdict)
    try:
        given = await access(node, case, found)
    except NotConnected as error:
        planned = await connect_input_of(node, case, found.definition.name, error.message)
        await let_wait(node, planned, was="await_input")
        return None
    if given.held is not None:
        case = case.connected(given.held)
    case = structs.replace(case, record=as_frozen(case, given.app))
    if isinstance(ruling.verdict, Ask):
        planned = await _approval(node, case, found, ruling.verdict, given.app)
        await let_wait(node, planned, was="await_input")
        return None
    return case, await permitted(node, case, found=found, ruling=ruling, given=given)


async def _approval(node: Node, case: Case, found: AppInForce, ask: Ask, app: App) -> Planned:
    arguments = case.frozen.arguments
    pins: dict[str, JsonValue] = {
        name: value
        for name, value in arguments.values.items()
        if arguments.origins.get(name) == "pin"
    }
    pins |= arguments.undeclared_pins
    return await approval_of(node, case, found, ask, pins=pins, masker=app.masker())
