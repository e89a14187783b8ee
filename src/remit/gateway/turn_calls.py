"""The calls of a model's response: made once each, waited for, settled (contract section 9).

The ledger says how far a call is, the log what the session has been told of it. Reads run side by
side, writes and actions one after another in the model's order; one that waits for a person or a
client holds up nobody.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, final

from msgspec import structs

from remit.catalog.model import ClientTarget
from remit.catalog.scales import Category
from remit.errors import CallError, Cancelled
from remit.gateway import client_calls
from remit.gateway.answering import withdraw
from remit.gateway.awaiting import StillRunning, Waiting, state_of
from remit.gateway.call_log import CallLog
from remit.gateway.client_calls import ClientAsk, Drawn, OnClient
from remit.gateway.commands import MAX_WAIT_MS
from remit.gateway.computer import list_computers
from remit.gateway.governed import call, refuse
from remit.gateway.journal import Ended
from remit.gateway.model_calls import (
    client_command_of,
    command_as_announced,
    command_of,
    computer_command_of,
    parsed,
    was_masked,
)
from remit.gateway.models import CallReturn, ModelCall
from remit.gateway.offering import AppTool, OfferedByClient
from remit.gateway.platform_tools import Computer
from remit.gateway.polls import stop
from remit.gateway.resting import record_of
from remit.gateway.tasks import side_by_side
from remit.gateway.unrecorded import Said, failed, loaded, standing_of, unknown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remit.gateway.call_log import Standing
    from remit.gateway.conversing import AskedCall
    from remit.gateway.governed import Called
    from remit.gateway.offering import Offered
    from remit.gateway.turn import Claimed

_LOOK_S = 1.0
# Reads of one response that are under way at once: each may bring a megabyte.
_MAX_READS = 8


@final
class Calls:
    """The calls of the last response of one session."""

    def __init__(self, turn: Claimed) -> None:
        self._turn = turn
        self._given: dict[str, ModelCall] = {}
        # Announced in this turn and not begun: the ledger need not be asked for them.
        self._fresh: set[str] = set()
        self._log = CallLog(turn)

    def expect(self, pairs: Iterable[tuple[AskedCall, ModelCall]]) -> None:
        """The calls of a new response, with their arguments as the model gave them."""
        self._given = {asked.id: given for asked, given in pairs}
        self._fresh = set(self._given)
        self._log.begin()

    async def returns(self) -> tuple[CallReturn, ...]:
        """What the model is told of every call of the response, in its order."""
        return await self._log.returns()

    async def settle(self) -> bool:
        """Bring every open call as far as it goes without a person or a client; True when done."""
        asked = [one for one in self._turn.row.task.asked if one.id in self._turn.row.state.calls]
        await self._load_given()
        reads = [one for one in asked if self._is_read(one)]
        writes = [one for one in asked if not self._is_read(one)]
        lanes = [reads[at::_MAX_READS] for at in range(min(_MAX_READS, len(reads)))]
        await side_by_side(*map(self._in_order, lanes), self._in_order(writes))
        return True

    async def moved(self) -> bool:
        """Whether any open call is further than the log says."""
        for call_id, known in self._turn.row.state.calls.items():
            state = await self._stands(call_id)
            rests = (
                state.input_id == known.input_id
                if isinstance(state, Waiting)
                else isinstance(state, OnClient) and known.client
            )
            if not rests:
                return True
        return False

    async def due_at(self) -> int | None:
        """When time alone changes something of what is waited for; None where nothing does."""
        turn = self._turn
        dues: list[int] = []
        for call_id, known in turn.row.state.calls.items():
            if not known.client:
                continue
            state = await client_calls.look(turn.talks, turn.row, call_id)
            if isinstance(state, OnClient):
                dues.append(state.until)
        return min(dues, default=None)

    async def cancel(self) -> None:
        """Settle every open call of a run that is stopped.

        What was not sent is not sent, a read in flight is dropped, a write in flight runs to its
        end, a job is asked for no more.
        """
        await side_by_side(
            *(self._cancel(call_id) for call_id in tuple(self._turn.row.state.calls))
        )

    async def take_back(self) -> None:
        """A person goes on with a new message: what no client has begun is not waited for."""
        turn = self._turn
        for call_id, known in tuple(turn.row.state.calls.items()):
            if known.client:
                await client_calls.cancel(turn.talks, turn.row, call_id)

    async def settle_known(self) -> None:
        """Tell how far the calls are by themselves, where nobody can go on with them.

        What was not begun is not; what waits or is on its way stays open.
        """
        for call_id in tuple(self._turn.row.state.calls):
            asked, state = await self._stands_or_never(call_id, "The run ended")
            if isinstance(state, Said):
                await self._log.said(asked, state)
                continue
            await self._log.input(call_id, state)
            if isinstance(state, Ended | Drawn):
                await self._log.end(call_id, state)

    # --- one call ------------------------------------------------------------------------------

    async def _in_order(self, asked: list[AskedCall]) -> None:
        for one in asked:
            await self._bring(one)

    async def _bring(self, asked: AskedCall) -> None:
        """Make one call, or wait for it; it is settled or waits when this is done."""
        is_fresh = asked.id in self._fresh
        self._fresh.discard(asked.id)
        state = None if is_fresh else await self._stands(asked.id)
        if state is None:
            state = await self._begun(asked)
        while True:
            if isinstance(state, Said):
                await self._log.said(asked, state)
                return
            await self._log.input(asked.id, state)
            if isinstance(state, Ended | Drawn):
                await self._log.end(asked.id, state)
                return
            if isinstance(state, Waiting):
                return
            if isinstance(state, OnClient):
                await self._log.client(asked.id, state)
                return
            state = await self._further(asked.id)

    async def _stands(self, call_id: str) -> Standing | None:
        """How a call stands in the ledger; None where it was not begun."""
        turn = self._turn
        row = await turn.talks.node.calls.get(turn.row.workspace, call_id)
        if row is None:
            return None
        if row.status == "await_client" or record_of(row).get("target") == "client":
            return await client_calls.look(turn.talks, turn.row, call_id)
        state = await state_of(turn.talks.node, row)
        if isinstance(state, Ended):
            # Of a record only the first 4 KiB of a result can be read.
            return turn.talks.node.endings.recent(row.workspace, call_id) or state
        return state

    async def _further(self, call_id: str) -> Standing:
        """Wait until a call that is on its way is further."""
        node, workspace = self._turn.talks.node, self._turn.row.workspace
        future = node.endings.expect(workspace, call_id)
        try:
            state = await self._stands(call_id)
            if state is None or isinstance(state, StillRunning):
                await asyncio.wait({future}, timeout=_LOOK_S)
                return future.result() if future.done() else StillRunning(call_id, "sending")
            return state
        finally:
            future.cancel()

    async def _begun(self, asked: AskedCall) -> Standing | Said:
        """Make a call for the first time."""
        turn = self._turn
        given = self._given[asked.id]
        offered = await self._offered(asked)
        if isinstance(offered, AppTool):
            if not isinstance(offered.tool.destination, ClientTarget):
                return standing_of(await self._called(asked, offered, given))
            command = command_of(turn.row, asked, offered, {}, turn.model_name)
            ask = ClientAsk(command=command, tool=offered.tool, args_json=given.args_json)
            return await client_calls.begin(turn.talks, turn.row, ask)
        if isinstance(offered, OfferedByClient):
            command = client_command_of(turn.row, asked, offered, turn.model_name)
            ask = ClientAsk(command=command, tool=offered.what, args_json=given.args_json)
            return await client_calls.begin(turn.talks, turn.row, ask)
        if isinstance(offered, Computer):
            command = computer_command_of(turn.row, asked, offered, turn.model_name)
            called = await list_computers(turn.talks.node, turn.row, command, given.args_json)
            return standing_of(called)
        if offered is None:
            return unknown(given.name)
        return loaded(offered, given)

    async def _called(self, asked: AskedCall, offered: AppTool, given: ModelCall) -> Called:
        turn, node = self._turn, self._turn.talks.node
        args = parsed(offered.tool.name, given.args_json)
        final = {} if isinstance(args, CallError) else args
        command = command_of(turn.row, asked, offered, final, turn.model_name)
        if isinstance(args, CallError):
            return await refuse(node, command, args)
        if was_masked(offered.tool, args):
            error = Cancelled(
                f"{offered.tool.name} was not called: the server stopped before it was sent, and "
                "its secret arguments are not kept. Call again."
            )
            return await refuse(node, command, error)
        return await call(node, structs.replace(command, wait_ms=MAX_WAIT_MS))

    async def _cancel(self, call_id: str) -> None:
        turn = self._turn
        asked, state = await self._stands_or_never(call_id, "The run was stopped")
        if isinstance(state, Said):
            await self._log.said(asked, state)
            return
        if isinstance(state, OnClient):
            await client_calls.cancel(turn.talks, turn.row, call_id)
        elif isinstance(state, Waiting):
            # Its input is withdrawn; should it have been opened since, it is now.
            await withdraw(turn.talks.node, turn.row.workspace, call=call_id)
        elif isinstance(state, StillRunning):
            row = await turn.talks.node.calls.get(turn.row.workspace, call_id)
            if row is not None and row.status == "polling":
                await stop(turn.talks.node, row, "the run was stopped")
            elif row is not None and row.category == "read" and row.status == "sending":
                # What a press of a button sends is a call of its own, and may be no read.
                await self._log.input(call_id, state)
                error = Cancelled("The run was stopped, and the answer was not waited for.")
                await self._log.said(asked, failed(error, "cancelled", row.tool))
                return
        while not isinstance(state, Ended | Drawn):
            await self._log.input(call_id, state)
            state = await self._further(call_id)
            if isinstance(state, Waiting):
                # What was under way came back with a card.
                await withdraw(turn.talks.node, turn.row.workspace, call=call_id)
            if isinstance(state, Waiting | OnClient):
                await asyncio.sleep(_LOOK_S / 20)
        await self._log.input(call_id, state)
        await self._log.end(call_id, state)

    async def _stands_or_never(self, call_id: str, why: str) -> tuple[AskedCall, Standing | Said]:
        """How a call stands; one that was not begun is written down as never made.

        Whoever was just making it has the same id: one of the two is in the ledger, and counts.
        """
        turn = self._turn
        asked = next(one for one in turn.row.task.asked if one.id == call_id)
        state = await self._stands(call_id)
        if state is None:
            error = Cancelled(f"{why} before this was sent. Nothing was sent.")
            state = await self._never(asked, error)
        return asked, state

    async def _never(self, asked: AskedCall, error: Cancelled) -> Standing | Said:
        turn = self._turn
        known = turn.row.state.calls[asked.id]
        offered = None if turn.toolset is None else turn.toolset.tools.get(asked.name)
        if known.app is None and not isinstance(offered, OfferedByClient | Computer):
            return failed(error, "cancelled", asked.name)
        command = command_as_announced(turn.row, asked, known, turn.model_name)
        return standing_of(await refuse(turn.talks.node, command, error))

    # --- what is known -------------------------------------------------------------------------

    def _is_read(self, asked: AskedCall) -> bool:
        toolset = self._turn.toolset
        offered = None if toolset is None else toolset.tools.get(asked.name)
        if isinstance(offered, AppTool):
            return offered.tool.category is Category.READ
        return not isinstance(offered, OfferedByClient)

    async def _offered(self, asked: AskedCall) -> Offered | None:
        await self._turn.opened()
        toolset = self._turn.toolset
        return None if toolset is None else toolset.tools.get(asked.name)

    async def _load_given(self) -> None:
        """The calls of the last response with their arguments, also after a restart."""
        turn = self._turn
        if not turn.row.task.asked or turn.row.task.asked[0].id in self._given:
            return
        model = await turn.opened()
        responses = [one for one in await turn.history() if one.kind == "response"]
        given = {call.id: call for call in model.calls_of(responses[-1])} if responses else {}
        for one in turn.row.task.asked:
            nothing = ModelCall(id=one.model_id, name=one.name, args_json="")
            self._given[one.id] = given.get(one.model_id, nothing)
