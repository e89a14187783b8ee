"""A call of the platform's tool ``computer``: answered from the store, recorded as any call is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from remit.calls.arguments import settle
from remit.calls.results import content_of, display_of
from remit.errors import CallError
from remit.gateway.awaiting import as_it_stands
from remit.gateway.governed import recorded
from remit.gateway.journal import asked, moment, succeeded
from remit.gateway.model_calls import parsed
from remit.gateway.noting import Notes
from remit.gateway.platform_tools import COMPUTER, PLATFORM
from remit.values.secrets import NOTHING_SECRET

if TYPE_CHECKING:
    from remit.gateway.commands import Command
    from remit.gateway.conversing import SessionRow
    from remit.gateway.devices import DeviceRow
    from remit.gateway.governed import Called
    from remit.gateway.node import Node
    from remit.values.json import JsonObject, JsonValue


async def list_computers(node: Node, row: SessionRow, command: Command, args_json: str) -> Called:
    """Answer one call; one that is made already stays as it is.

    Args:
        node: has the devices and the ledger.
        row: the session, of whose user the devices are.
        command: with a call id; its ``args`` are not read.
        args_json: the model's arguments as it gave them, however broken.

    Raises:
        StoreUnavailable: it is not known whether it was kept.
    """
    notes = Notes.of(node, command)
    notes.tool = COMPUTER
    notes.record["target"] = PLATFORM
    try:
        given = parsed(COMPUTER.name, args_json)
        if isinstance(given, CallError):
            raise given
        notes.record |= asked(COMPUTER, settle(COMPUTER, given, {}), NOTHING_SECRET)
    except CallError as error:
        return await recorded(node, command, notes, error)
    known = await node.devices.of_user(row.workspace, row.user)
    current = row.task.device or row.settings.device
    listed: list[JsonValue] = [_told(one, current) for one in known]
    result: JsonObject = {"devices": listed}
    ended = succeeded(notes.record, result, content_of(result), display_of(COMPUTER, result))
    done = notes.row("done", node.wall.unix_ms(), ended.record)
    if not await node.calls.plan(row.workspace, structs.replace(done, outcome="ok")):
        return await as_it_stands(node, row.workspace, notes.call_id)
    return ended


def _told(device: DeviceRow, current: str | None) -> JsonObject:
    return {
        "id": device.id,
        "name": device.name,
        "current": device.id == current,
        "lastSeenAt": None if device.seen_at is None else moment(device.seen_at),
    }
