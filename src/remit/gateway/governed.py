"""The use case of one call under a server, from arguments to outcome (contract section 5).

Settled, frozen, judged, permitted, its intent committed, sent, its outcome committed, told. A call
that a person must answer becomes a row with its input and returns at once. What refuses a call
before anything is sent is recorded, too.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from msgspec import structs

from remit.calls.arguments import settle
from remit.catalog.model import ClientTarget
from remit.catalog.scales import Category
from remit.errors import (
    CallError,
    ClientUnavailable,
    Denied,
    NotConnected,
    NotFound,
    OverCeiling,
    RateLimited,
    UnknownTool,
)
from remit.gateway.acting import no_such
from remit.gateway.approving import approval_of
from remit.gateway.apps import App, find_tool
from remit.gateway.awaiting import StillRunning, Waiting, as_it_stands, ended_within
from remit.gateway.commands import MAX_WAIT_MS, WAIT_MS, Command
from remit.gateway.connect_inputs import connect_input_of, connectable
from remit.gateway.ending import failure, status_of
from remit.gateway.freezing import FrozenCall
from remit.gateway.journal import Ended, Opened
from remit.gateway.noting import Notes
from remit.gateway.permitting import (
    NO_ENV,
    Case,
    access,
    env_of,
    judged,
    permitted,
    standing,
    takes_env,
)
from remit.gateway.resting import private_of
from remit.gateway.running import Polling, resendable, send
from remit.gateway.steps import denial, freeze, masked
from remit.policy.decisions import Ask, Deny
from remit.policy.limits import Counts, Limits, over_limit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.catalog.model import Tool
    from remit.errors import RemitError
    from remit.gateway.asking import Planned
    from remit.gateway.ledger import CallRow
    from remit.gateway.node import AppInForce, Node
    from remit.gateway.permitting import Permit
    from remit.values.secrets import Secret

__all__ = ["MAX_WAIT_MS", "PROBLEMS", "WAIT_MS", "Called", "Command", "Refused", "call", "refuse"]

#: What is refused before anything was sent is a problem document (contract section 10).
PROBLEMS = frozenset(
    {
        "invalid_arguments",
        "missing_reference",
        "invalid_pin",
        "over_ceiling",
        "denied",
        "consent_required",
        "not_approved",
        "app_suspended",
        "not_connected",
        "rate_limited",
    }
)
_UNLIMITED = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A call that was refused before anything was sent.

    Attributes:
        error: its code, status and message.
        call_id: None where there is no record: an app or tool that is not there.
        ended: as the record has it.
    """

    error: RemitError
    call_id: str | None = None
    ended: Ended | None = None

    @property
    def code(self) -> str:
        """The code of the error."""
        return self.error.code


Called: TypeAlias = "Ended | Waiting | StillRunning | Refused"


async def call(node: Node, command: Command) -> Called:
    """Make one call.

    Whoever awaits this may stop at any time: what is not sent is not sent then, and what is sent
    runs to its end in a task of the node.

    Raises:
        StoreUnavailable: what had to be committed could not be. Where that was the intent,
            nothing was sent.
    """
    notes = Notes.of(node, command)
    try:
        return await _made(node, command, notes)
    except (NotFound, UnknownTool) as error:
        return Refused(error=error)
    except CallError as error:
        return await recorded(node, command, notes, error)


async def refuse(node: Node, command: Command, error: CallError) -> Called:
    """Record a call that is refused before it is looked at: what the model gave is no JSON, say.

    Raises:
        StoreUnavailable: it could not be kept.
    """
    notes = Notes.of(node, command)
    with suppress(CallError, NotFound):
        found = await standing(node, command.workspace, command.app)
        notes.stands(found)
        notes.tool = found.catalog.tool(command.tool)
    return await recorded(node, command, notes, error)


async def _made(node: Node, command: Command, notes: Notes) -> Called:
    actor = command.actor
    if not (actor.speaks_for(command.user) and actor.reaches(command.app, command.tool)):
        raise no_such("tool", f"{command.app}/{command.tool}")
    found = node.standing.known(command.workspace, command.app)
    if found is None:
        found = await standing(node, command.workspace, command.app)
    notes.stands(found)
    tool = _found(node, command, notes, found)
    env = await env_of(node, command.workspace, found, tool) if takes_env(tool) else NO_ENV
    case = frozen_case(node, command, notes, found, tool, env)
    _not_denied(command, case)
    ruling = judged(case, found)
    notes.judged(ruling)
    if isinstance(ruling.verdict, Deny):
        raise denial(tool, ruling.verdict)
    if found.policy.limits != _UNLIMITED:
        await within_limits(node, command, tool, found.policy.limits)
    try:
        given = await access(node, case, found)
    except NotConnected as error:
        if command.session is None or not connectable(found.definition):
            raise
        return await _to_connect(node, command, notes, case, found, error.message)
    if (held := given.held) is not None:
        notes.connected(held, given.app)
        case = case.connected(held)
    if isinstance(ruling.verdict, Ask):
        if command.remembered is None or not ruling.verdict.rememberable:
            return await _asked(node, command, notes, case, found, ruling.verdict)
        case = notes.remembered(case, command.remembered)
    permit = await permitted(node, case, found=found, ruling=ruling, given=given)
    return await dispatched(node, command, notes, case, permit)


def _found(node: Node, command: Command, notes: Notes, found: AppInForce) -> Tool:
    """The tool in the catalog in force, noted; one over the ceiling is noted as what it is.

    Raises:
        UnknownTool, OverCeiling: it cannot be called.
        ClientUnavailable: not from here.
    """
    tool = notes.tool = found.catalog.tool(command.tool)
    if tool is not None:
        if isinstance(tool.destination, ClientTarget):
            raise ClientUnavailable(
                f"{tool.name} runs in the user's client ({tool.destination.name}), and this call "
                "has none. Use it in a session."
            )
        return tool
    try:
        where = f"GET /v1/apps/{command.app}/catalog"
        return find_tool(_app(node, found), command.tool, where=where)
    except OverCeiling:
        notes.tool = found.definition.tool(command.tool)
        raise


def _not_denied(command: Command, case: Case) -> None:
    """Hold a call to what a person has said in its session.

    Raises:
        Denied: they refused this very call.
    """
    if case.frozen.request.digest in command.denied:
        raise Denied(
            f"{case.tool.name} was not called: a person has refused this very call in this "
            "session. Nothing was sent. Do not repeat it unchanged."
        )


def frozen_case(
    node: Node,
    command: Command,
    notes: Notes,
    found: AppInForce,
    tool: Tool,
    env: Mapping[str, Secret],
) -> Case:
    """The call with its arguments settled and its request frozen (steps 1 to 5).

    Raises:
        CallError: it cannot be made of these arguments.
    """
    arguments = settle(tool, command.args, command.pins, source=command.origin)
    app = _app(node, found, env)
    notes.settled(tool, arguments, app)
    # The straight ways are those of the catalog's tools; a button's target is none of them.
    known = command.source != "button"
    request = found.straights.request(tool, arguments) if known else None
    if request is None:
        request = freeze(tool, app, arguments, version=found.version)
    notes.frozen(request)
    return Case(
        workspace=command.workspace,
        call_id=notes.call_id,
        app=command.app,
        user=command.user,
        source=command.source,
        record=notes.record,
        frozen=FrozenCall(
            request=request, tool=tool, arguments=arguments, traceparent=notes.traceparent
        ),
    )


async def within_limits(node: Node, command: Command, tool: Tool, limits: Limits) -> None:
    """Count what there has been against the limits of the policy (contract section 18).

    Raises:
        RateLimited: one of them is used up.
    """
    if limits == _UNLIMITED:
        return
    if command.run is None:
        limits = replace(limits, calls_per_run=None, writes_per_run=None)
    calls = writes = tokens = 0
    if command.run is not None:
        calls, writes = await node.calls.of_run(command.workspace, command.run)
    if limits.tokens_per_user_day is not None:
        tokens = await node.usage.tokens_of_day(
            command.workspace, command.user, at=node.wall.unix_ms()
        )
    counts = Counts(calls=calls, writes=writes, tokens=tokens)
    reason = over_limit(limits, counts, writes=tool.category is not Category.READ)
    if reason is not None:
        raise RateLimited(f"{tool.name} was not called: {reason}.")


async def _asked(
    node: Node, command: Command, notes: Notes, case: Case, found: AppInForce, ask: Ask
) -> Called:
    """Write the call down with the input that it waits for, both or neither."""
    planned = await approval_of(node, case, found, ask, pins=command.pins, masker=notes.masker)
    return await _waiting(node, command, notes, planned)


async def _to_connect(
    node: Node, command: Command, notes: Notes, case: Case, found: AppInForce, why: str
) -> Called:
    """Write the call down with the input that asks the user to connect the app."""
    planned = await connect_input_of(node, case, found.definition.name, why)
    return await _waiting(node, command, notes, planned)


async def _waiting(node: Node, command: Command, notes: Notes, planned: Planned) -> Called:
    case, waits = planned.case, planned.input
    now = node.wall.unix_ms()
    row = notes.row("await_input", now, case.record, private=planned.private)
    if not await node.calls.plan_waiting(command.workspace, row, waits):
        return await as_it_stands(node, command.workspace, case.call_id)
    return Waiting(call_id=case.call_id, input_id=waits.id)


async def dispatched(
    node: Node, command: Command, notes: Notes, case: Case, permit: Permit
) -> Called:
    """Hand the call to a task of the node, and wait for it as long as the caller does.

    Raises:
        StoreUnavailable: the intent could not be committed, and nothing was sent.
    """
    # What a button sends is no tool of the catalog: it has to be kept with it.
    whole = command.source == "button"
    private = await private_of(node, case, whole=whole) if resendable(case.tool) else None
    now = node.wall.unix_ms()
    row = notes.row("sending", now, case.record, private=private, sent_at=now, node=node.id)
    wait_s = min(command.wait_ms, MAX_WAIT_MS) / 1000
    until = asyncio.get_running_loop().time() + wait_s
    kept = _Kept()
    task = node.tasks.start(_committed(node, case, permit, row, kept))
    if not await node.tasks.within(task, wait_s):
        # However short somebody waits: an id is told of a call that is on record.
        await kept.or_ended(task)
        if not task.done():
            return StillRunning(case.call_id, "sending")
    outcome = task.result()
    if isinstance(outcome, Ended):
        return outcome
    return await ended_within(node, command.workspace, case.call_id, until=until)


class _Kept:
    """Whether a call is on record; most callers never ask."""

    __slots__ = ("_woken", "done")

    def __init__(self) -> None:
        self.done = False
        self._woken: asyncio.Future[None] | None = None

    def set(self) -> None:
        """It is now."""
        self.done = True
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)

    async def or_ended(self, task: asyncio.Task[object]) -> None:
        """Wait until it is, or the task ended without it."""
        if not self.done:
            self._woken = asyncio.get_running_loop().create_future()
            await asyncio.wait((task, self._woken), return_when=asyncio.FIRST_COMPLETED)


async def _committed(
    node: Node, case: Case, permit: Permit, row: CallRow, kept: _Kept
) -> Ended | Polling | None:
    """Commit the intent, then send; None where the call of that id was made before.

    ``kept`` is set once it is on record.
    """
    if not await node.calls.plan(case.workspace, row):
        return None
    kept.set()
    return await send(node, case, permit, Opened(case.record, row.record_json))


async def recorded(node: Node, command: Command, notes: Notes, error: CallError) -> Called:
    """Keep the record of a call that was refused before anything was sent."""
    ended = failure(notes.record, masked(error, notes.masker), None)
    now = node.wall.unix_ms()
    row = structs.replace(
        notes.row(status_of(ended, "planned"), now, ended.record), outcome=ended.outcome
    )
    if not await node.calls.plan(command.workspace, row):
        return await as_it_stands(node, command.workspace, notes.call_id)
    if error.code in PROBLEMS:
        return Refused(error=error, call_id=notes.call_id, ended=ended)
    return ended


def _app(node: Node, found: AppInForce, env: Mapping[str, Secret] | None = None) -> App:
    return App(
        env=env or {},
        definition=found.definition,
        catalog=found.catalog,
        version=node.terms.version,
        brand=node.terms.brand,
    )
