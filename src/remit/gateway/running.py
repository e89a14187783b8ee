"""From the intent to the outcome: what a node does with a call that may be sent (section 5, 8-10).

The order is the rule: the intent is committed, then the bytes leave, then the outcome is
committed, then it is told. Everything here runs in tasks of the node.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, cast

import msgspec
from msgspec import Struct, structs

from remit.calls.channels import card_of, embed_origins, read_channels, takes_channels
from remit.calls.results import content_of, display_of
from remit.calls.wire import FROM_API, Sender
from remit.catalog.scales import Category, Method
from remit.documents.canonical import compact_json
from remit.errors import CallError, Cancelled, NotConnected, OutcomeUnknown, StoreUnavailable
from remit.gateway.action_inputs import Asking, ask_by_card, card_of_call, hidden
from remit.gateway.apps import World
from remit.gateway.connect_inputs import connect_input_of, connectable, let_wait
from remit.gateway.ending import end, failure, outlasting
from remit.gateway.endings import Late
from remit.gateway.exchanging import Exchange, poll_wait_ms
from remit.gateway.freezing import encode, secrets_with
from remit.gateway.journal import Attempt, Ended, channelled, handed_on, moment, succeeded
from remit.gateway.ledger import CallChange
from remit.gateway.ports import Unasked
from remit.gateway.resting import sealed_of
from remit.gateway.steps import masked, read_result

if TYPE_CHECKING:
    from remit.calls.action_cards import ActionCard
    from remit.calls.answers import Body
    from remit.calls.cards import Card
    from remit.catalog.mapping import ResponseMapping
    from remit.catalog.model import Tool
    from remit.gateway.acting import WallClock
    from remit.gateway.apps import App
    from remit.gateway.journal import Opened
    from remit.gateway.node import Node
    from remit.gateway.permitting import Case, Permit
    from remit.gateway.ports import Egress, Limits, WireRequest, WireResponse
    from remit.values.json import JsonObject, JsonValue
    from remit.values.urls import Origin


@dataclass(frozen=True, slots=True)
class Polling:
    """The call is on its way: its job is asked for from now on."""

    call_id: str


class Attempts(Struct):
    """An egress that notes what it sent and what became of it."""

    egress: Egress
    wall: WallClock
    made: list[Attempt] = msgspec.field(default_factory=list["Attempt"])

    async def admit(self, origin: Origin) -> None:
        """See the port."""
        await self.egress.admit(origin)

    async def send(self, request: WireRequest, limits: Limits) -> WireResponse:
        """See the port."""
        at = self.wall.unix_ms()
        status, sent = None, True
        try:
            response = await self.egress.send(request, limits)
            status = response.status
            return response
        except CallError as error:
            sent = error.sent
            raise
        finally:
            # What was refused on the way out was no attempt.
            if sent:
                self.made.append(Attempt(at=at, ms=self.wall.unix_ms() - at, status=status))


class _Nobody:
    """Stands where a person is asked: inputs are rows here, and no call waits in memory."""

    async def ask(self, card: Card) -> Unasked:
        """Nobody answers."""
        return Unasked(why=f"{card.tool} runs unattended", mend="Answer its input.")


def reads(tool: Tool) -> bool:
    """Whether a call of it is a GET of a ``read`` tool, which changes nothing."""
    request = tool.request
    return tool.category is Category.READ and request is not None and request.method is Method.GET


def resendable(tool: Tool) -> bool:
    """Whether it may be sent again after a crash, with the same key (contract section 5)."""
    return reads(tool) or tool.idempotent


def exchange_of(
    node: Node,
    case: Case,
    app: App,
    egress: Egress,
    *,
    timeout_ms: int | None = None,
    retry: bool = True,
) -> Exchange:
    """The exchanges of one call with its app."""
    tool = case.frozen.tool
    secrets = secrets_with(case.frozen, app.catalog)
    world = World(
        egress=egress,
        approver=_Nobody(),
        clock=node.clock,
        ids=node.ids,
        watcher=node.watcher,
    )
    return Exchange(
        tool=tool,
        app=app,
        world=world,
        sender=Sender(
            call_id=case.call_id,
            traceparent=case.frozen.traceparent,
            version=node.terms.version,
            brand=node.terms.brand,
            context=_context(case),
        ),
        masker=app.masker(secrets),
        timeout_ms=timeout_ms or tool.timeout_ms,
        retry=retry,
    )


def _context(case: Case) -> str:
    """Where a call comes from, as the app is told (contract section 3).

    A button stands in a conversation, too: what it calls may answer with a card.
    """
    session = case.record.get("sessionId")
    if case.source not in {"session", "button"} or session is None:
        return FROM_API
    return compact_json({"source": "thread", "threadId": session})


async def send(
    node: Node, case: Case, permit: Permit, opened: Opened | None = None
) -> Ended | Polling:
    """Send a call whose intent is committed, and commit what becomes of it.

    Args:
        node: where it is sent.
        case: the call.
        permit: to send it.
        opened: the record of the case as it was committed with the intent, where that is at hand.

    Raises:
        StoreUnavailable: the outcome could not be kept; it is taken up after a restart.
    """
    attempts = Attempts(node.egress, node.wall)
    exchange = exchange_of(node, case, permit.app, attempts)
    try:
        return await _sent(node, case, permit, exchange, attempts, opened)
    except CallError as error:
        record = attempted(case.record, attempts)
        if isinstance(error, NotConnected) and await _asks_to_connect(
            node, structs.replace(case, record=record), permit, error
        ):
            return Polling(case.call_id)
        ended = failure(record, masked(error, exchange.masker), case.tool)
        return await end(node, case.workspace, ended, was="sending", opened=opened)
    except StoreUnavailable:
        raise
    except Exception:
        # A fault of ours after the bytes may have left: the call must not stay open for it.
        await end(node, case.workspace, lost(attempted(case.record, attempts)), was="sending")
        raise


async def _asks_to_connect(node: Node, case: Case, permit: Permit, error: NotConnected) -> bool:
    """Let a call of a session wait whose credential the app refused: nothing happened there."""
    definition = permit.app.definition
    if case.record.get("sessionId") is None or not connectable(definition):
        return False
    planned = await connect_input_of(node, case, definition.name, error.message)
    return await let_wait(node, planned, was="sending")


async def _sent(
    node: Node,
    case: Case,
    permit: Permit,
    exchange: Exchange,
    attempts: Attempts,
    opened: Opened | None,
) -> Ended | Polling:
    tool = case.frozen.tool
    node.watcher.started(tool.name)
    try:
        body, asked_ms = await exchange.first(permit.sendable)
    finally:
        node.watcher.answered(tool.name)
    record = attempted(case.record, attempts)
    if tool.polling is not None:
        return await _awaited(node, structs.replace(case, record=record), exchange, body, asked_ms)
    if takes_channels(tool):
        case = structs.replace(case, record=record)
        return await _handled(node, case, permit, exchange, body, opened)
    ended = result_of(record, tool, body, tool.response_mapping, exchange)
    return await end(node, case.workspace, ended, was="sending", opened=opened)


async def _handled(
    node: Node, case: Case, permit: Permit, exchange: Exchange, body: Body, opened: Opened | None
) -> Ended | Polling:
    """The end of a call that a handler of the app answered; a card lets it wait for a person."""
    definition, masker = permit.app.definition, exchange.masker
    if (answer := card_of(body)) is not None:
        masked_answer = cast("JsonObject", masker.value(answer))
        card = await card_of_call(node, case, permit.standing, masked_answer)
        if case.source == "button":
            # The call whose card was pressed shows it.
            ended = handed_on(case.record, card.as_json())
            return await end(node, case.workspace, ended, was="sending", opened=opened)
        ask = partial(_ask, node, case, permit, card, node.fresh.fresh_id("inp"))
        chars = len(compact_json(case.record))
        late = Late(workspace=case.workspace, call_id=case.call_id, was="sending", chars=chars)
        return await outlasting(node, late, ask, ask)
    secrets = secrets_with(case.frozen, permit.app.catalog)
    said = read_channels(
        case.tool,
        body,
        masker,
        embeds=embed_origins(definition, node.terms.transcripts),
        embed_masker=structs.replace(permit.app, identity=None).masker(secrets),
    )
    content = content_of(said.content, text=said.content)
    ended = channelled(case.record, said, content)
    return await end(node, case.workspace, ended, was="sending", opened=opened)


async def _ask(
    node: Node, case: Case, permit: Permit, card: ActionCard, input_id: str
) -> Ended | Polling:
    """Let a call wait for its card; what came back from the app is known nowhere else."""
    asking = Asking(
        workspace=case.workspace,
        call_id=case.call_id,
        app=case.app,
        tool=case.tool.name,
        user=case.user,
        record=case.record,
        hides=hidden(case, permit.app),
    )
    waits = await ask_by_card(
        node,
        asking,
        card,
        found=permit.standing,
        host=case.frozen.request.origin.authority,
        was="sending",
        input_id=input_id,
    )
    if waits:
        return Polling(case.call_id)
    # Its conversation is over, or somebody ended the call meanwhile: then that end stands.
    gone = Cancelled(
        f"{case.tool.name}: the app asked for an action, and the conversation is over.", sent=True
    )
    ended = failure(case.record, gone, case.tool)
    return await end(node, case.workspace, ended, was="sending")


async def _awaited(
    node: Node, case: Case, exchange: Exchange, body: Body, asked_ms: int
) -> Polling | Ended:
    """Write down that the job is asked for from now on: a row, and nothing else, waits.

    That the job was started is known nowhere else: like an end it is written down late, if the
    store is away.
    """
    polling = case.tool.polling
    if polling is None:
        msg = f"{case.tool.name} is not polled"
        raise TypeError(msg)
    asked = exchange.status_of(case.frozen.arguments, case.frozen.request, body)
    waiting = structs.replace(case, frozen=structs.replace(case.frozen, poll=asked))
    now = node.wall.unix_ms()
    change = CallChange(
        status="polling",
        at=now,
        rests=True,
        record_json=compact_json(case.record),
        private=encode(waiting.frozen),
        next_poll_at=now + poll_wait_ms(polling, asked_ms),
        polls_left=polling.max_polls,
    )
    chars = len(change.record_json or "") + len(change.private or "")
    late = Late(workspace=case.workspace, call_id=case.call_id, was="sending", chars=chars)
    await outlasting(
        node,
        late,
        partial(_rest, node, waiting, change),
        partial(_rest_late, node, waiting, change),
    )
    return Polling(case.call_id)


async def _rest(node: Node, case: Case, change: CallChange) -> None:
    """Let a call wait; what it needs to go on is sealed only here, since that asks the store."""
    private = await sealed_of(node, case, change.private or "")
    change = replace(change, private=private)
    await node.calls.move(case.workspace, case.call_id, was="sending", change=change)
    node.alarm.set()


async def _rest_late(node: Node, case: Case, change: CallChange) -> None:
    """The same; nobody else ends the call where that fails for good."""
    try:
        await _rest(node, case, change)
    except StoreUnavailable:
        raise
    except Exception:
        await end(node, case.workspace, lost(case.record), was="sending")
        raise


def result_of(
    record: JsonObject,
    tool: Tool,
    body: Body,
    mapping: ResponseMapping | None,
    exchange: Exchange,
) -> Ended:
    """The end of a call whose answer was read.

    Raises:
        ResponseInvalid: the answer does not carry the mapping.
    """
    result, content, missed = read_result(tool, body, mapping, exchange.masker)
    return succeeded(record, result, content, display_of(tool, result), absent=missed)


def attempted(record: JsonObject, attempts: Attempts) -> JsonObject:
    """The record with what was sent."""
    if not attempts.made:
        return record
    made: list[JsonValue] = [one.as_json() for one in attempts.made]
    if "attempts" in record:
        made = [*cast("list[JsonValue]", record["attempts"]), *made]
    return {**record, "attempts": made}


def begun(record: JsonObject, sent_at: int | None) -> JsonObject:
    """The record with the attempt of a process that died before it told what became of it."""
    if sent_at is None:
        return record
    before = cast("list[JsonValue]", record.get("attempts", []))
    unanswered: JsonObject = {"at": moment(sent_at), "ms": None, "status": None}
    return {**record, "attempts": [*before, unanswered]}


def lost(record: JsonObject) -> Ended:
    """The end of a call that nobody knows the outcome of (contract section 5)."""
    tool = cast("str", record["tool"])
    error = OutcomeUnknown(
        f"{tool}: the server stopped between sending the request and reading its answer, so that "
        "nobody knows whether it happened. It was not sent again. The action may have happened: "
        "read the current state before you repeat it.",
        sent=True,
    )
    return failure(record, error, None)
