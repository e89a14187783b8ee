"""Waiting for a call that is on its way, as long as the caller does (contract section 10)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from remit.gateway.acting import no_such
from remit.gateway.journal import Ended, recalled, whole
from remit.gateway.resting import record_of

if TYPE_CHECKING:
    from remit.gateway.ledger import CallRow
    from remit.gateway.node import Node

# How often the row of a call is looked at that another node may end.
_LOOK_S = 1.0


@dataclass(frozen=True, slots=True)
class Waiting:
    """The call waits for a person."""

    call_id: str
    input_id: str


@dataclass(frozen=True, slots=True)
class StillRunning:
    """The call has not ended; ``outcome`` is what a caller is told meanwhile."""

    call_id: str
    outcome: Literal["polling", "sending"]


State: TypeAlias = "Ended | Waiting | StillRunning"


async def ended_within(node: Node, workspace: str, call: str, *, until: float) -> State:
    """How a call ended, or how far it is when the loop's clock is ``until``.

    Raises:
        NotFound: there is no such call.
    """
    loop = asyncio.get_running_loop()
    while True:
        future = node.endings.expect(workspace, call)
        try:
            # Looked at after the future is there: an end in between is not missed.
            state = await as_it_stands(node, workspace, call)
            left = until - loop.time()
            if not isinstance(state, StillRunning) or left <= 0:
                return state
            done, _ = await asyncio.wait({future}, timeout=min(left, _LOOK_S))
            if done:
                return future.result()
        finally:
            future.cancel()


async def as_it_stands(node: Node, workspace: str, call: str) -> State:
    """A call as its row says.

    Raises:
        NotFound: there is none of that id in this workspace.
    """
    row = await node.calls.get(workspace, call)
    if row is None:
        raise no_such("call", call)
    return await state_of(node, row)


async def state_of(node: Node, row: CallRow) -> State:
    """What a row says of its call."""
    if row.outcome is not None:
        return whole(recalled(record_of(row)), row.private)
    if row.status == "await_input":
        inputs = await node.inputs.of_call(row.workspace, row.id)
        opened = [one for one in inputs if one.status == "open"]
        if opened:
            return Waiting(row.id, opened[-1].id)
    return StillRunning(row.id, "polling" if row.status == "polling" else "sending")
