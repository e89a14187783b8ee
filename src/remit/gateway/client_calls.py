"""A call that a client of the session executes, from the model's arguments to its end (section 9).

Two rows say how it stands. The ledger's is that of any call. While that is ``await_client``, the
client's row (``clients.ClientCallRow``) says who holds the call, and how it ended: whoever settles
that row first has decided, and the ledger follows, however often it is told.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeAlias, cast

from msgspec import Struct, structs

from remit.calls.arguments import settle as settled_arguments
from remit.calls.cards import act_words, danger_words, rows_of, title_of, verb_of
from remit.catalog.model import Tool
from remit.documents.canonical import compact_json
from remit.errors import CallError, Cancelled, Denied, NotConnected
from remit.gateway import client_ending, journal
from remit.gateway.acting import no_such
from remit.gateway.announcements import TIMEOUT_MS, WIDGET
from remit.gateway.announcing import ClientTool, ClientWidget, ceiling_of
from remit.gateway.answering import withdraw
from remit.gateway.asking import asks, listed, titled, yes_of
from remit.gateway.awaiting import Waiting
from remit.gateway.buttons import CLIENT_HOST
from remit.gateway.client_kept import CLIENT, Kept, kept_text
from remit.gateway.client_permitting import judge, offer_approved, opened, require_permitted
from remit.gateway.clients import ClientCallRow
from remit.gateway.ending import end, failure
from remit.gateway.governed import recorded, within_limits
from remit.gateway.journal import Ended, recalled, ruled
from remit.gateway.keeping import VaultFault
from remit.gateway.ledger import InputRow
from remit.gateway.model_calls import parsed, was_masked
from remit.gateway.noting import Notes
from remit.gateway.resting import kept_digest, record_of
from remit.gateway.resuming import answered, go_on
from remit.gateway.steps import denial, hidden_pins
from remit.gateway.widgets import Drawn, draw, drawn_of
from remit.policy.decisions import Ask, Deny, may_answer
from remit.session.events import ClientToolCall

if TYPE_CHECKING:
    from remit.calls.arguments import Arguments
    from remit.gateway.commands import Command
    from remit.gateway.conversing import SessionRow
    from remit.gateway.ledger import CallRow, CallStatus
    from remit.gateway.talks import Talks
    from remit.values.json import JsonObject

__all__ = ["ClientAsk", "Drawn", "OnClient", "begin", "cancel", "look"]

_LOOKS = 4


class ClientAsk(Struct, frozen=True, kw_only=True):
    """A call of a client's tool that a model asks for.

    Attributes:
        command: as ``governed.call`` takes it, with a call id; its ``args`` are not read.
        tool: an app's tool whose target is the client, or what a client announced.
        args_json: the model's arguments as it gave them, however broken.
    """

    command: Command
    tool: Tool | ClientTool | ClientWidget
    args_json: str


class OnClient(Struct, frozen=True, kw_only=True):
    """The call waits for a client, or one holds it.

    Attributes:
        event: what tells clients of it; appended once, and again where ``again`` says so.
        until: nothing changes by time alone before; the store's time, Unix ms.
        again: it waits anew, since the client that had it went silent.
    """

    call_id: str
    event: ClientToolCall
    until: int
    again: bool = False


State: TypeAlias = "Ended | Drawn | Waiting | OnClient"


async def begin(talks: Talks, row: SessionRow, ask: ClientAsk) -> State:
    """Make a call of a client's tool; one that is made already stays as it is.

    Raises:
        StoreUnavailable: it is not known whether it was made; begin again with the same id.
    """
    node, command = talks.node, ask.command
    notes = Notes.of(node, command)
    if await node.calls.get(row.workspace, notes.call_id) is not None:
        return await look(talks, row, notes.call_id)
    try:
        await _Making(talks, row, ask, notes).made()
    except CallError as error:
        await recorded(node, command, notes, error)
    except VaultFault as error:
        why = NotConnected(f"{command.tool} was not called: {error.message}")
        await recorded(node, command, notes, why)
    return await look(talks, row, notes.call_id)


async def look(talks: Talks, row: SessionRow, call_id: str) -> State:
    """How a call of a client's tool stands, brought as far as it goes.

    What time alone ends is ended here, what a person approved is offered to clients, what was
    settled is told to the ledger.

    Raises:
        NotFound: there is no such call.
        StoreUnavailable: it cannot be known, or could not be brought further; look again.
    """
    node = talks.node
    for _ in range(_LOOKS):
        call = await node.calls.get(row.workspace, call_id)
        if call is None:
            raise no_such("call", call_id)
        if call.outcome is not None:
            return drawn_of(row, await _over(talks, row, call))
        if call.status == "await_client":
            return await _on_client(talks, row, call)
        inputs = await node.inputs.of_call(row.workspace, call_id)
        waits = inputs[-1]
        if waits.status == "open":
            return Waiting(call_id, waits.id)
        if waits.status != "approved":
            await go_on(node, waits)
        elif call.tool.startswith(WIDGET):
            await _draw_approved(talks, row, call, waits)
        else:
            record = {**record_of(call), **answered(waits)}
            await offer_approved(node, call, record, waits, yes_of(waits))
    msg = f"call {call_id} comes to no rest"
    raise RuntimeError(msg)


async def cancel(talks: Talks, row: SessionRow, call_id: str) -> None:
    """Stop a call: what no client has begun with does not begin, a read is not waited for.

    Anything else that a client holds runs to its end, or to its limits, and is recorded.

    Raises:
        StoreUnavailable: it could not be stopped.
    """
    node = talks.node
    call = await node.calls.get(row.workspace, call_id)
    if call is None or call.outcome is not None:
        return
    if call.status == "await_input":
        if not await withdraw(node, row.workspace, call=call_id):
            error = Cancelled(f"{call.tool} was not called: the run was stopped.")
            await end(node, row.workspace, failure(record_of(call), error, None), was=call.status)
        return
    state = await _on_client(talks, row, call)
    crow = await talks.clients.call(row.workspace, row.id, call_id)
    if not isinstance(state, OnClient) or crow is None:
        return
    if crow.claim is None or call.category == "read":
        error = Cancelled(
            f"{call.tool} {_so_far(call)}: the run was stopped before a client began with it."
            if crow.claim is None
            else f"{call.tool}: the run was stopped, and the client's answer was not waited for."
        )
        now = await talks.now_ms()
        await client_ending.settle(
            talks, call, crow, client_ending.failed_now(call, crow, error, now)
        )


def _so_far(call: CallRow) -> str:
    """What became of a call that no client began with; a button's comes after a call of its app."""
    return "did not go on after its card" if "presses" in record_of(call) else "was not called"


class _Making:
    """One call while it is made."""

    def __init__(self, talks: Talks, row: SessionRow, ask: ClientAsk, notes: Notes) -> None:
        self.talks = talks
        self.row = row
        self.ask = ask
        self.notes = notes
        self.command = ask.command
        self.tool = ask.tool if isinstance(ask.tool, Tool) else ask.tool.tool
        notes.tool = self.tool
        notes.record["target"] = CLIENT

    async def made(self) -> None:
        """Judge the call and write it down, to wait for a person or a client, or drawn.

        Raises:
            CallError: it may not run; nothing was written.
        """
        node, notes, tool = self.talks.node, self.notes, self.tool
        kept = self._kept(self._arguments())
        judged = await judge(node, self.row.workspace, self.row.user, kept)
        if judged.found is not None:
            notes.stands(judged.found)
        notes.record |= journal.asked(tool, kept.arguments, kept.masker)
        if (handler := kept.handler) is not None:
            notes.record["handler"] = handler
        notes.judged(judged.ruling)
        if kept.digest in self.row.task.denied:
            raise Denied(
                f"{self.tool.name} was not called: a person has refused this very call in this "
                "session. Nothing was sent. Do not repeat it unchanged."
            )
        verdict = judged.ruling.verdict
        if isinstance(verdict, Deny):
            raise denial(tool, verdict)
        await within_limits(node, self.command, tool, judged.limits)
        if isinstance(verdict, Ask) and not self._is_remembered(verdict):
            await self._waits_for_person(kept, verdict)
        elif isinstance(self.ask.tool, ClientWidget):
            ended = await draw(self.talks, self.row, kept, notes.record)
            done = notes.row("done", node.wall.unix_ms(), ended.record)
            await node.calls.plan(self.row.workspace, structs.replace(done, outcome="ok"))
        else:
            await node.calls.plan(self.row.workspace, await self._resting("await_client", kept))

    def _arguments(self) -> Arguments:
        """The model's arguments, settled (contract section 5, steps 1 to 4)."""
        name = self.tool.name
        given = parsed(name, self.ask.args_json)
        if isinstance(given, CallError):
            raise given
        if was_masked(self.tool, given):
            raise Cancelled(
                f"{name} was not called: the server stopped before it was offered to a client, "
                "and its secret arguments are not kept. Call again."
            )
        return settled_arguments(self.tool, given, self.command.pins, source="model")

    def _kept(self, arguments: Arguments) -> Kept:
        return Kept(
            session=self.row.id,
            app=self.command.app,
            tool=self.tool,
            arguments=arguments,
            schema_digest="" if isinstance(self.ask.tool, Tool) else self.ask.tool.schema_digest,
            ceiling=ceiling_of(self.row.settings),
            wanted=self.row.task.client,
        )

    def _is_remembered(self, ask: Ask) -> bool:
        """Whether a person's yes of before holds for this call, too."""
        given = self.command.remembered
        if given is None or not ask.rememberable:
            return False
        if not may_answer(ask, is_user=given.is_user, is_operator=given.is_operator):
            return False
        self.notes.record |= {"answeredBy": given.by, "remembered": True}
        return True

    async def _waits_for_person(self, kept: Kept, ask: Ask) -> None:
        node, notes = self.talks.node, self.notes
        input_id, now = node.fresh.fresh_id("inp"), node.wall.unix_ms()
        notes.record["inputId"] = input_id
        resting = await self._resting("await_input", kept)
        await node.calls.plan_waiting(
            self.row.workspace, resting, self._input(kept, ask, resting, input_id, now)
        )

    async def _resting(self, status: CallStatus, kept: Kept) -> CallRow:
        node, notes = self.talks.node, self.notes
        resting = notes.row(status, node.wall.unix_ms(), notes.record)
        return structs.replace(resting, private=await kept_text(node, kept, resting))

    def _input(self, kept: Kept, ask: Ask, resting: CallRow, input_id: str, now: int) -> InputRow:
        tool, shown = self.tool, hidden_pins(kept.arguments)
        body: JsonObject = {
            **titled(title_of(tool, shown)),
            "line": {"act": act_words(tool), "danger": danger_words(tool), "host": CLIENT_HOST},
            "verb": verb_of(tool),
            "args": self.notes.record["args"],
            "arguments": listed(rows_of(tool, shown)),
            **asks(ask, kept_digest(resting.private or "")),
        }
        if tool.confirm is not None and tool.confirm.preview is not None:
            body["previewFailure"] = "A tool that runs in the user's client has no preview."
        return InputRow(
            workspace=resting.workspace,
            id=input_id,
            call=resting.id,
            kind="approval",
            app=resting.app,
            tool=tool.name,
            user=resting.user,
            by=ask.by,
            digest=kept.digest,
            body_json=compact_json(body),
            created_at=now,
            expires_at=now + self.talks.node.terms.input_ttl_ms,
            session=self.row.id,
        )


async def _over(talks: Talks, row: SessionRow, call: CallRow) -> Ended:
    """How a call ended, whole where its client's row still has it."""
    crow = await talks.clients.call(row.workspace, row.id, call.id)
    if crow is None or crow.ended_json is None:
        return recalled(record_of(call))
    return await client_ending.finish(talks, call, crow)


async def _on_client(talks: Talks, row: SessionRow, call: CallRow) -> Ended | OnClient:
    """How a call stands that waits for a client or is held by one."""
    now = await talks.now_ms()
    for _ in range(_LOOKS):
        crow = await talks.clients.call(row.workspace, row.id, call.id)
        if crow is None:
            if (ended := await _offer(talks, row, call, now)) is not None:
                return ended
            continue
        if crow.ended_json is not None:
            return await client_ending.finish(talks, call, crow)
        until = await client_ending.due_at(talks, crow)
        if now < until:
            again = crow.claim is None and crow.claims > 0
            return OnClient(
                call_id=call.id, event=_event(row, call, crow), until=until, again=again
            )
        if (ended := await client_ending.end_by_time(talks, call, crow, now)) is not None:
            return ended
    # Nothing is offered in a session that was erased.
    raise no_such("session", row.id)


async def _offer(talks: Talks, row: SessionRow, call: CallRow, now: int) -> Ended | None:
    """Let a call wait for a client; its end where it cannot be read any more."""
    try:
        kept = await opened(talks.node, call)
    except CallError as error:
        ended = failure(record_of(call), error, None)
        return await end(talks.node, row.workspace, ended, was="await_client")
    tool = kept.tool
    declared = not kept.app or "timeoutMs" in tool.record
    offered = ClientCallRow(
        workspace=row.workspace,
        session=row.id,
        call=call.id,
        tool=call.tool,
        schema_digest=kept.schema_digest,
        args_json=compact_json(kept.shown),
        offered_at=now,
        timeout_ms=tool.timeout_ms if declared else TIMEOUT_MS,
        idempotent=tool.idempotent,
        wanted=kept.wanted,
    )
    await talks.clients.offer(row.workspace, offered)
    return None


async def _draw_approved(talks: Talks, row: SessionRow, call: CallRow, waits: InputRow) -> None:
    """Draw a widget that a person approved."""
    record = {**record_of(call), **answered(waits)}
    try:
        kept = await opened(talks.node, call)
        judged = await require_permitted(talks.node, row.workspace, row.user, kept, yes_of(waits))
        ended = await draw(talks, row, kept, {**record, **ruled(judged.ruling.fired)})
    except CallError as error:
        ended = failure(record, error, None)
    await end(talks.node, row.workspace, ended, was="await_input")


def _event(row: SessionRow, call: CallRow, crow: ClientCallRow) -> ClientToolCall:
    record = record_of(call)
    return ClientToolCall(
        call_id=call.id,
        tool=call.tool,
        args=json.loads(crow.args_json),
        run_id=row.state.run or call.run or "",
        app=call.app or None,
        handler=cast("str | None", record.get("handler")),
    )
