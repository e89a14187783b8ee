"""One node's work on one session: from what is due to rest (architecture, section 3).

The log is brought up to the ledger, open calls are made or waited for, the model is asked, until
nothing is left to do but wait. Every step is committed under the fence of the claim, so that a
node which lost its lease stops without a trace. Nothing here sends anything: calls run in tasks of
the node (``governed``), and go on whatever becomes of the turn.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar, final

from msgspec import structs

from remit.errors import InvalidRequest, NoModel, RemitError
from remit.gateway.answering import withdraw
from remit.gateway.asking_models import Asking
from remit.gateway.conversing import Acted, LostLease, SessionRow, Step, Task
from remit.gateway.offering import catalog_digest, open_toolset
from remit.gateway.session_rules import left_open
from remit.gateway.talks import act
from remit.gateway.turn_calls import Calls
from remit.session.events import Catalog, RunFinished, RunStarted
from remit.session.parts import Fault, Usage
from remit.session.prompt import message_of

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any

    from remit.gateway.models import Entry, Model
    from remit.gateway.offering import Toolset
    from remit.gateway.talks import Talks, Working
    from remit.session.events import Data, FinishReason

T = TypeVar("T")


@final
class Turn:
    """Works on a session that was claimed.

    Args:
        talks: the node.
        row: as it was claimed.
        working: tells when somebody stops it, or something of it ended.
    """

    def __init__(self, talks: Talks, row: SessionRow, working: Working) -> None:
        self.talks = talks
        self.row = row
        self.working = working
        self.toolset: Toolset | None = None
        self.model: Model | None = None
        self._entries: list[Entry] | None = None
        self.calls = Calls(self)
        self._asking = Asking(self, self.calls)
        self._wakes = row.wakes

    async def work(self) -> None:
        """Go on until the session rests or waits.

        Raises:
            LostLease: another node has it.
            StoreUnavailable: the store does not do its part; the claim runs out.
        """
        if self.row.attempts > self.talks.terms.max_attempts:
            await self._give_up()
        while await self._step():
            pass

    async def _step(self) -> bool:
        """Do the next thing; whether there is another."""
        self._wakes, self.working.news = self.row.wakes, False
        if self.working.stop.is_set():
            # It was somebody else's step that stopped it.
            self.working.stop.clear()
            await self._look()
        row = self.row
        if row.status == "closed":
            return await self._rest()
        if row.task.cancelled:
            await self._stopped()
            return True
        if row.task.asked:
            return await self._settle()
        if row.state.run is None:
            if not row.task.queued:
                return await self._rest()
            await self._begin()
            return True
        return await self._asking.ask()

    # --- runs ----------------------------------------------------------------------------------

    async def _begin(self) -> None:
        """Begin the run of the message that has waited longest."""
        queued = self.row.task.queued[0]
        model = await self.opened()
        context = queued.context if queued.context is not None else self.row.task.context
        entry = model.user_entry(message_of(queued.text, context))

        def decide(now: SessionRow) -> Step:
            task = structs.replace(
                _fresh(now.task, self.now()),
                queued=tuple(one for one in now.task.queued if one.run_id != queued.run_id),
                context=context,
            )
            return self._started(now, queued.run_id, task, (entry,))

        await self.act(decide)
        self.kept(entry)

    async def resume(self) -> None:
        """Begin the run in which an answered call goes on."""
        await self.opened()
        run_id = self.talks.node.fresh.fresh_id("run")
        await self.act(lambda now: self._started(now, run_id, _fresh(now.task, self.now()), ()))

    def _started(
        self, now: SessionRow, run_id: str, task: Task, entries: tuple[Entry, ...]
    ) -> Step:
        toolset = self.known_toolset()
        started = RunStarted(
            run_id=run_id,
            model=self.model_name,
            instructions_digest=toolset.digest,
            catalog_digests=toolset.digests,
        )
        events: list[Data] = [started]
        digest = catalog_digest(toolset.catalogs)
        if toolset.catalogs and digest != now.task.catalog:
            events.append(Catalog(apps=toolset.catalogs, run_id=run_id))
        return Step(
            events=tuple(events), entries=entries, task=structs.replace(task, catalog=digest)
        )

    async def finish(self, reason: FinishReason, error: Fault | None = None) -> None:
        """End the run."""

        def decide(now: SessionRow) -> Step:
            going = now.state.run is not None
            events = (self.finished(now, reason, error),) if going else ()
            return Step(events=events, task=structs.replace(now.task, cancelled=False))

        await self.act(decide)

    def finished(self, now: SessionRow, reason: FinishReason, error: Fault | None) -> RunFinished:
        """The event of the run's end, with what it used."""
        task = now.task
        usage = Usage(
            input_tokens=task.usage[0],
            output_tokens=task.usage[1],
            cached_tokens=task.usage[2],
            calls=task.calls,
            ms=max(0, self.now() - task.started_at) if task.started_at else 0,
        )
        return RunFinished(run_id=now.state.run or "", reason=reason, usage=usage, error=error)

    async def _stopped(self) -> None:
        """Settle every call of a run that a person stopped, and end it."""
        await self.calls.cancel()
        with suppress(RemitError):
            # Without a model the results are told with the next message.
            await self._told()
        await self.finish("cancelled")

    async def _give_up(self) -> None:
        """End what brought its process down again and again."""
        await self.opened()
        await self.calls.cancel()
        await self._told()
        message = (
            "The run was given up: the server stopped in the middle of it "
            f"{self.talks.terms.max_attempts} times. Send the message again, or another one."
        )
        await self.finish("failed", Fault(code="internal", message=message))

    async def _rest(self, due_at: int | None = None) -> bool:
        """Let go of the session, unless something came meanwhile."""
        seen = self._wakes

        def decide(now: SessionRow) -> Step | bool:
            if now.wakes != seen or self.working.news:
                return True
            return Step(due_at=due_at, release=True)

        done = await self._try(decide)
        if done is True:
            await self._look()
            return True
        return False

    async def abandon(self) -> None:
        """End a run whose every try met a fault of ours, by events alone: nothing else is asked."""
        message = "The run was given up after a fault in Remit. Send another message to go on."
        await withdraw(self.talks.node, self.row.workspace, session=self.row.id)

        def decide(now: SessionRow) -> Step:
            events: list[Data] = left_open(now, why="The run was given up before this call ended.")
            if now.state.run is not None:
                events.append(self.finished(now, "failed", Fault(code="internal", message=message)))
            task = structs.replace(now.task, cancelled=False)
            due_at = self.now() if task.queued else None
            return Step(events=tuple(events), task=task, due_at=due_at, release=True)

        await self.act(decide)

    async def fail(self, error: Fault) -> None:
        """End the run, or the one that could not begin, with a reason; and rest.

        Calls that were made are told as the ledger has them: whatever failed, they happened.
        """
        await self.calls.settle_known()
        fresh, seen = self.talks.node.fresh.fresh_id("run"), self._wakes

        def decide(now: SessionRow) -> Step:
            task, events = structs.replace(now.task, cancelled=False), list["Data"]()
            run, is_open = now.state.run, bool(now.state.calls)
            if run is None and now.task.queued and not is_open:
                run = now.task.queued[0].run_id
                task = structs.replace(task, queued=now.task.queued[1:])
            elif run is None and now.task.asked and not is_open:
                run = fresh
                events.append(
                    RunStarted(run_id=run, model=None, instructions_digest="", catalog_digests={})
                )
            if run is not None:
                reason: FinishReason = "waiting" if is_open else "failed"
                end = self.finished(now, reason, error)
                events.append(structs.replace(end, run_id=run))
            is_due = bool(task.queued) or now.wakes != seen
            due_at = self.now() if is_due else None
            return Step(events=tuple(events), task=task, due_at=due_at, release=True)

        await self.act(decide)

    # --- calls ---------------------------------------------------------------------------------

    async def _settle(self) -> bool:
        """Make the calls of the last response, or wait for those that were made."""
        calls = self.calls
        if not self.row.state.calls:
            await self._told()
            return True
        if self.row.task.withdrawn:
            await calls.take_back()
        if self.row.state.run is None:
            if not await calls.moved():
                return await self._rest(await calls.due_at())
            await self.resume()
        if await self.unless_stopped(calls.settle()) is None:
            return True
        row = self.row
        if not row.state.calls:
            return True
        if all(call.input_id is not None for call in row.state.calls.values()):
            if row.wakes != self._wakes or self.working.news:
                return True
            await self.finish("waiting")
            self._wakes = row.wakes
        return await self._rest(await calls.due_at())

    async def _told(self) -> None:
        """Put the results of all calls of the last response into the history."""
        if not self.row.task.asked:
            return
        entry = (await self.opened()).results_entry(await self.calls.returns())

        def decide(now: SessionRow) -> Step:
            return Step(entries=(entry,), task=structs.replace(now.task, asked=(), withdrawn=False))

        await self.act(decide)
        self.kept(entry)

    # --- what the steps share ------------------------------------------------------------------

    async def act(self, decide: Callable[[SessionRow], Step]) -> None:
        """Do one step under the claim; the row is the one after it."""
        await self._try(decide)

    async def _try(self, decide: Callable[[SessionRow], Step | bool]) -> bool | None:
        row = self.row

        def unless_closed(now: SessionRow) -> Step | bool:
            closed = now.status == "closed"
            return Step(due_at=None, release=True) if closed else decide(now)

        done = await act(self.talks, row.workspace, row.id, unless_closed, fence=row.fence)
        if done is None or (isinstance(done, Acted) and done.row.status == "closed"):
            # It was erased, or closed: nothing more happens in it.
            raise LostLease
        if not isinstance(done, Acted):
            return done
        self.row = done.row
        return None

    async def _look(self) -> None:
        """See the row as it is now, with what others did to it."""
        row = await self.talks.sessions.get(self.row.workspace, self.row.id)
        if row is None or row.fence != self.row.fence:
            raise LostLease
        self.row = row

    async def unless_stopped(self, work: Coroutine[Any, Any, T]) -> T | None:
        """What some work comes to; None where the run was stopped before."""
        stop, task = self.working.stop, asyncio.ensure_future(work)
        waits = asyncio.ensure_future(stop.wait())
        try:
            await asyncio.wait({task, waits}, return_when=asyncio.FIRST_COMPLETED)
            return task.result() if task.done() else None
        finally:
            for one in (task, waits):
                if not one.done():
                    one.cancel()
            await asyncio.gather(task, waits, return_exceptions=True)

    async def opened(self) -> Model:
        """The model and the tools of this run, looked up once.

        Raises:
            NoModel: there is none any more.
        """
        if self.model is None:
            try:
                self.model = self.talks.models.find(self.row.settings.model)
            except InvalidRequest as error:
                raise NoModel(error.message) from None
        if self.model is None:
            raise NoModel(
                "No language model is set any more. Set [model] name and send a message again."
            )
        if self.toolset is None:
            await self.model.ready()
            self.toolset = await open_toolset(
                self.talks, self.row, self.model.provider, packs=self.model.packs
            )
        return self.model

    def known_toolset(self) -> Toolset:
        """The tools of a run that has begun."""
        if self.toolset is None:
            msg = "the tools of a run are opened as it begins"
            raise TypeError(msg)
        return self.toolset

    @property
    def model_name(self) -> str | None:
        """Of the model that is asked."""
        return None if self.model is None else self.model.name

    async def history(self) -> tuple[Entry, ...]:
        """All that the model has read and said so far."""
        row = self.row
        if self._entries is None or len(self._entries) != row.entries:
            self._entries = list(await self.talks.sessions.entries(row.workspace, row.id))
        return tuple(self._entries)

    def kept(self, entry: Entry) -> None:
        """The history as this turn knows it has an entry more."""
        if self._entries is not None:
            self._entries.append(entry)

    def now(self) -> int:
        """The time of day, Unix ms."""
        return self.talks.node.wall.unix_ms()


def _fresh(task: Task, now: int) -> Task:
    """The task of a run that begins."""
    return structs.replace(task, turns=0, calls=0, usage=(0, 0, 0), started_at=now)
