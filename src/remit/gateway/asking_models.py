"""Asking the model for its next answer, and committing what it said (architecture, section 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from msgspec import structs

from remit.errors import ModelFailed
from remit.gateway.conversing import AskedCall, SessionRow, Step
from remit.gateway.model_calls import announced_call, masked_entry
from remit.session.events import Message
from remit.session.parts import Fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.gateway.models import Model, ModelResponse
    from remit.gateway.turn import Claimed
    from remit.gateway.turn_calls import Calls
    from remit.session.events import Data

_AGAIN_MS = (1_000, 4_000)


@final
class Asking:
    """Asks the model of one turn."""

    def __init__(self, turn: Claimed, calls: Calls) -> None:
        self._turn = turn
        self._calls = calls

    async def ask(self) -> bool:
        """Ask the model, and commit what it said before anything of it is done."""
        model = await self._turn.opened()
        if (why := await self._over_limit()) is not None:
            await self._turn.finish("limit", Fault(code="rate_limited", message=why))
            return True
        message_id = self._turn.talks.node.fresh.fresh_id("msg")
        said: list[str] = []
        try:
            response = await self._responded(model, message_id, said)
        except ModelFailed as failed:
            self._turn.talks.on_fault(failed)
            await self._broken_off(message_id, said)
            await self._turn.finish("failed", Fault(code=failed.code, message=failed.message))
            return True
        if response is None:
            await self._broken_off(message_id, said)
        else:
            await self._answered(model, message_id, response)
        return True

    async def _responded(
        self, model: Model, message_id: str, said: list[str]
    ) -> ModelResponse | None:
        """What the model answers; None where the run was stopped meanwhile."""
        row, live, run_id = self._turn.row, self._turn.talks.live, self._turn.row.state.run or ""
        length = 0

        def on_text(text: str) -> None:
            nonlocal length
            where = {"run_id": run_id, "message_id": message_id}
            live.said(row.workspace, row.id, **where, offset=length, text=text)
            length += len(text)
            said.append(text)

        for delay_ms in (*_AGAIN_MS, None):
            try:
                return await self._turn.unless_stopped(self._response(model, on_text))
            except ModelFailed as failed:
                if delay_ms is None or said or not failed.passing:
                    raise
            if await self._turn.unless_stopped(self._pause(delay_ms)) is None:
                return None
        return None

    async def _response(self, model: Model, on_text: Callable[[str], None]) -> ModelResponse:
        toolset = self._turn.known_toolset()
        return await model.respond(
            await self._turn.history(),
            instructions=toolset.instructions,
            tools=toolset.offers,
            on_text=on_text,
        )

    async def _pause(self, delay_ms: int) -> bool:
        await self._turn.talks.node.clock.sleep(delay_ms)
        return True

    async def _answered(self, model: Model, message_id: str, response: ModelResponse) -> None:
        """Commit an answer: from here on its calls may run."""
        node, row, run_id = self._turn.talks.node, self._turn.row, self._turn.row.state.run or ""
        toolset = self._turn.known_toolset()
        asked = tuple(
            AskedCall(id=node.ids.call_id(), model_id=call.id, name=call.name, loose=response.loose)
            for call in response.calls
        )
        events: list[Data] = []
        if response.text:
            events.append(
                Message(message_id=message_id, role="assistant", text=response.text, run_id=run_id)
            )
        pairs = tuple(zip(asked, response.calls, strict=True))
        events += [announced_call(toolset, mine, call, run_id) for mine, call in pairs]
        entry = masked_entry(model, toolset, response)
        tokens = response.tokens

        def decide(now: SessionRow) -> Step:
            task = now.task
            usage = (
                task.usage[0] + tokens[0],
                task.usage[1] + tokens[1],
                task.usage[2] + tokens[2],
            )
            task = structs.replace(
                task,
                number=task.number + 1,
                asked=asked,
                since=now.head_seq,
                turns=task.turns + 1,
                calls=task.calls + len(asked),
                usage=usage,
            )
            happened = list(events)
            if not asked:
                done = structs.replace(now, task=task)
                happened.append(self._turn.finished(done, "done", None))
            return Step(events=tuple(happened), entries=(entry,), task=task)

        self._calls.expect(pairs)
        await self._turn.act(decide)
        self._turn.kept(entry)
        self._turn.talks.live.unsaid(row.workspace, row.id)
        await node.usage.add_tokens(
            row.workspace, row.user, tokens=tokens[0] + tokens[1], at=self._turn.now()
        )

    async def _broken_off(self, message_id: str, said: list[str]) -> None:
        """What was said of a message that will never be whole stays, marked as a part."""
        row = self._turn.row
        self._turn.talks.live.unsaid(row.workspace, row.id)
        if not said:
            return
        event = Message(
            message_id=message_id,
            role="assistant",
            text="".join(said),
            run_id=row.state.run,
            partial=True,
        )
        await self._turn.act(lambda _now: Step(events=(event,)))

    async def _over_limit(self) -> str | None:
        """Why the model is not asked once more, or None."""
        row, terms = self._turn.row, self._turn.talks.terms
        if row.task.turns >= terms.max_turns:
            return (
                f"The run was stopped after {terms.max_turns} answers of the model. "
                "Send a message to go on."
            )
        limit = self._turn.known_toolset().tokens_per_user_day
        if limit is None:
            return None
        used = await self._turn.talks.node.usage.tokens_of_day(
            row.workspace, row.user, at=self._turn.now()
        )
        if used < limit:
            return None
        return (
            f"The policy allows {limit:,} tokens for one user in one day, and they are used up. "
            "Try again tomorrow (UTC)."
        )
