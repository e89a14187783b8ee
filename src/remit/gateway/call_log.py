"""What the log of a session is told of its calls, and the model after it (contract section 9).

The ledger may be further than the log: a step here brings one call up to it, and is nothing where
somebody else was faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, final

from remit.documents.canonical import compact_json
from remit.gateway.asking import input_json
from remit.gateway.awaiting import Waiting
from remit.gateway.client_calls import Drawn
from remit.gateway.conversing import SessionRow, Step
from remit.gateway.journal import MAX_DISPLAY_CHARS
from remit.gateway.model_calls import Marks, marks_of
from remit.gateway.models import CallReturn
from remit.gateway.session_rules import resolved
from remit.session.events import HumanInputNeeded, ToolResult, data_of

if TYPE_CHECKING:
    from remit.gateway.awaiting import StillRunning
    from remit.gateway.client_calls import OnClient
    from remit.gateway.conversing import AskedCall
    from remit.gateway.journal import Ended
    from remit.gateway.turn import Claimed
    from remit.gateway.unrecorded import Said
    from remit.session.events import Data
    from remit.values.json import JsonValue


#: How a call stands: over, or what it waits for.
Standing: TypeAlias = "Ended | Drawn | Waiting | OnClient | StillRunning"


@final
class CallLog:
    """Tells the log of one session what becomes of the calls of a response.

    Args:
        turn: the session under its claim.
    """

    def __init__(self, turn: Claimed) -> None:
        self._turn = turn
        self._contents: dict[str, CallReturn] = {}

    def begin(self) -> None:
        """A new response: nothing of it is told."""
        self._contents = {}

    async def input(self, call_id: str, state: Standing) -> None:
        """Bring the log up to the inputs of a call."""
        turn = self._turn
        known = turn.row.state.calls[call_id].input_id
        wanted = state.input_id if isinstance(state, Waiting) else None
        if known == wanted:
            return
        node, workspace = turn.talks.node, turn.row.workspace
        closed = None if known is None else await node.inputs.get(workspace, known)
        opened = None if wanted is None else await node.inputs.get(workspace, wanted)
        if closed is not None and closed.status == "open":
            return

        def decide(now: SessionRow) -> Step:
            # Whoever answered may have told the log meanwhile (``sessions.hear``).
            stands, events = now.state.calls[call_id].input_id, list["Data"]()
            if closed is not None and stands == closed.id:
                events.append(resolved(closed, now.state.run))
                stands = None
            if opened is not None and stands is None:
                shown = {**input_json(opened), "status": "open"}
                events.append(HumanInputNeeded.of(shown, run_id=now.state.run or ""))
                if opened.status != "open":
                    # Somebody was faster than the log.
                    events.append(resolved(opened, now.state.run))
            return Step(events=tuple(events))

        await turn.act(decide)

    async def end(self, call_id: str, state: Ended | Drawn) -> None:
        """A call is over; what a person's answer leaves in the session goes with it."""
        ended = state.ended if isinstance(state, Drawn) else state
        before = (state.event,) if isinstance(state, Drawn) else ()
        display: JsonValue = ended.display if ended.error is None else {"error": ended.error}
        if (size := len(compact_json(display))) > MAX_DISPLAY_CHARS:
            shown = f"too large to be shown: {size:,} characters; at most {MAX_DISPLAY_CHARS:,}"
            display = {"renderer": "json", "data": shown}
        marks = await self._marks(call_id, ended)
        await self._tell(call_id, ended.outcome, ended.content, display, before, marks)

    async def said(self, asked: AskedCall, said: Said) -> None:
        """A call without a record is over."""
        await self._tell(asked.id, said.outcome, said.content, said.display)

    async def client(self, call_id: str, state: OnClient) -> None:
        """A call waits for a client."""
        # Who went silent does not come back: the others are asked once more.
        if self._turn.row.state.calls[call_id].client and not state.again:
            return
        await self._turn.act(lambda _now: Step(events=(state.event,)))

    async def returns(self) -> tuple[CallReturn, ...]:
        """What the model is told of every call of the response, in its order."""
        await self._load_contents()
        missing = compact_json({"error": {"code": "cancelled", "message": "It was not sent."}})
        return tuple(
            self._contents.get(one.id)
            or CallReturn(id=one.model_id, name=one.name, content=missing, failed=True)
            for one in self._turn.row.task.asked
        )

    async def _marks(self, call_id: str, ended: Ended) -> Marks:
        """What a person's answer to this call leaves in the session."""
        if ended.record.get("inputId") is None:
            return Marks()
        turn = self._turn
        inputs = await turn.talks.node.inputs.of_call(turn.row.workspace, call_id)
        answered = [one for one in inputs if one.kind == "approval"]
        return marks_of(answered[-1] if answered else None)

    async def _tell(
        self,
        call_id: str,
        outcome: str,
        content: str,
        display: JsonValue,
        before: tuple[Data, ...] = (),
        marks: Marks | None = None,
    ) -> None:
        def decide(now: SessionRow) -> Step:
            if call_id not in now.state.calls:
                return Step()
            result = ToolResult(
                call_id=call_id,
                outcome=outcome,  # pyright: ignore[reportArgumentType] -- an outcome of the ledger
                content=content,
                display=display,
                run_id=now.state.run,
            )
            if marks is None:
                return Step(events=(*before, result))
            return Step(events=(*before, result), task=marks.on(now.task))

        await self._turn.act(decide)
        self._keep(call_id, outcome, content)

    async def _load_contents(self) -> None:
        """What settled calls were told to be, also after a restart: the log has it."""
        turn, task = self._turn, self._turn.row.task
        after = task.since
        while any(one.id not in self._contents for one in task.asked):
            events = await turn.talks.sessions.events(
                turn.row.workspace, turn.row.id, after=after, limit=500
            )
            if not events:
                return
            after = events[-1].seq
            for event in events:
                data = data_of(event)
                if isinstance(data, ToolResult):
                    self._keep(data.call_id, data.outcome, data.content)

    def _keep(self, call_id: str, outcome: str, content: str) -> None:
        for one in self._turn.row.task.asked:
            if one.id == call_id:
                self._contents[call_id] = CallReturn(
                    id=one.model_id, name=one.name, content=content, failed=outcome != "ok"
                )
