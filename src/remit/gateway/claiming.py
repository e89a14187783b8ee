"""A client takes a call, executes it, and says what came of it (contract section 9).

A call goes to one client: it claims the call, holds it by its heartbeat, and alone may post the
result. Claiming again gives the same claim, posting again changes nothing: answers get lost.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, cast

from msgspec import Struct

from remit.calls.answers import Body
from remit.calls.results import content_of, display_of
from remit.documents.canonical import compact_json
from remit.errors import (
    CallError,
    CallOver,
    ClaimRefused,
    ClientError,
    InvalidArguments,
    OutcomeUnknown,
    UnserializableResult,
)
from remit.gateway import client_ending
from remit.gateway.acting import no_such
from remit.gateway.announcements import loaded
from remit.gateway.announcing import LEASE_MS, by_preference
from remit.gateway.attending import seen
from remit.gateway.client_kept import ended_of, kept_of
from remit.gateway.client_permitting import opened, require_permitted, yes_among
from remit.gateway.ending import outcome_of
from remit.gateway.journal import failed, succeeded
from remit.gateway.steps import masked, shaped
from remit.values.visible import visible

if TYPE_CHECKING:
    from remit.gateway.acting import Actor
    from remit.gateway.client_kept import Kept
    from remit.gateway.clients import ClientCallRow, ClientRow
    from remit.gateway.conversing import SessionRow
    from remit.gateway.journal import Ended
    from remit.gateway.ledger import CallRow
    from remit.gateway.talks import Talks
    from remit.values.json import JsonObject, JsonValue

#: How long others leave a call to the client that is preferred.
PREFERRED_MS = 2_000
#: Of a result, as compact JSON.
MAX_RESULT_BYTES = 1024 * 1024
MAX_MESSAGE = 2_000
_HELD_MS = 1_000


class Claimed(Struct, frozen=True, kw_only=True):
    """A call that a client has now.

    Attributes:
        claim: what it posts the result with.
        app: None for a tool that it announced; ``handler``: what an app's tool goes to.
        args: whole, secrets included: they are for the handler alone.
        timeout_ms: how long it has.
    """

    claim: str
    tool: str
    args: JsonObject
    timeout_ms: int
    app: str | None = None
    handler: str | None = None


#: Why a client has no result.
FaultCode = Literal["client_error", "unserializable_result", "outcome_unknown", "invalid_arguments"]


class ClientFault(Struct, frozen=True, kw_only=True):
    """Why a client has no result.

    Attributes:
        code: ``client_error``: the handler threw; ``unserializable_result``: it gave back what is
            no plain JSON; ``outcome_unknown``: it began, and its end was not awaited;
            ``invalid_arguments``: the handler's own check refused, and it did not run.
    """

    message: str
    code: FaultCode = "client_error"


class Result(Struct, frozen=True, kw_only=True):
    """What a client posts of a call; without an error ``value`` is the result, null included."""

    claim: str
    value: JsonValue = None
    error: ClientFault | None = None


async def claim(talks: Talks, actor: Actor, session: str, call: str, client: str) -> Claimed:
    """Give a call to a client.

    Raises:
        NotFound: no such session, or no such call of a client's tool in it.
        ClaimRefused: another client has it or is asked first, the client has not announced this
            very tool, or still holds another call.
        CallOver: it has ended, or may not run any more.
    """
    row = await seen(talks, actor, session)
    if row.status == "closed":
        raise CallOver(f"The session {session} is closed, and nothing more is executed in it.")
    called, crow = await _found(talks, row, call)
    clients, now = talks.clients, await talks.now_ms()
    if crow.claim is not None and crow.client == client:
        return _claimed(crow, await opened(talks.node, called))
    _refuse_held(crow, client)
    await _refuse_unfit(talks, row, crow, client, now)
    kept = await _permitted(talks, called, crow, now)
    if kept.device is not None and actor.device != kept.device:
        raise ClaimRefused(
            f"The card that {crow.tool} comes from is for another device, which executes it, too."
        )
    given = talks.node.fresh.fresh_id("clm")
    crow = await clients.claim(row.workspace, session, call, client=client, claim=given, at=now)
    if crow is None:
        raise no_such("call", call)
    _refuse_over(crow)
    _refuse_held(crow, client)
    await clients.seen(row.workspace, session, client, at=now)
    await talks.sessions.wake(row.workspace, session, at=now + min(LEASE_MS, crow.timeout_ms))
    return _claimed(crow, kept)


async def result(talks: Talks, actor: Actor, session: str, call: str, given: Result) -> None:
    """End a call with what its client says; the run goes on. The same again is harmless.

    Raises:
        NotFound: no such session, or no such call of a client's tool in it.
        ClaimRefused: the claim is not the one that the call is held by.
        CallOver: it had ended otherwise: this came too late, and changes nothing.
        StoreUnavailable: it is not known whether it was kept; post it again.
    """
    row = await seen(talks, actor, session)
    workspace = row.workspace
    # In this order: while the client's row is open, what the ledger kept before is there.
    called = await talks.node.calls.get(workspace, call)
    crow = await talks.clients.call(workspace, session, call)
    if crow is None or called is None:
        raise no_such("call", call)
    if crow.ended_json is None and crow.claim == given.claim:
        now = await talks.now_ms()
        record = client_ending.record_with(called, crow, now)
        ended = await _ended(talks, called, record, given)
        if await client_ending.settle(talks, called, crow, ended) is None:
            crow = await talks.clients.call(workspace, session, call) or crow
        else:
            await talks.clients.seen(workspace, session, crow.client or "", at=now)
            await _go_on(talks, row, now)
            return
    if crow.claim != given.claim:
        raise ClaimRefused(
            f"The call {call} is not held by this claim: another client has it by now. "
            "The result was not taken."
        )
    if crow.ended_json is not None and _by_client(call, crow.ended_json):
        # Its answer was lost: whoever settled it may have died before the run was told.
        await client_ending.finish(talks, called, crow)
        await _go_on(talks, row, await talks.now_ms())
        return
    _refuse_over(crow)


async def _go_on(talks: Talks, row: SessionRow, now: int) -> None:
    await talks.sessions.wake(row.workspace, row.id, at=now)
    talks.alarm.set()


async def _found(talks: Talks, row: SessionRow, call: str) -> tuple[CallRow, ClientCallRow]:
    called = await talks.node.calls.get(row.workspace, call)
    crow = await talks.clients.call(row.workspace, row.id, call)
    if crow is None or called is None:
        raise no_such("call", call)
    _refuse_over(crow)
    return called, crow


def _refuse_over(crow: ClientCallRow) -> None:
    if crow.ended_json is None:
        return
    ended = ended_of(crow.call, crow.ended_json)
    error = ended.error or {}
    why = error.get("message", "It has its result.")
    raise CallOver(f"The call {crow.call} is over ({ended.outcome}); nothing was changed. {why}")


def _refuse_held(crow: ClientCallRow, client: str) -> None:
    if crow.claim is not None and crow.client != client:
        raise ClaimRefused(f"Another client executes the call {crow.call}. Leave it to that one.")


async def _refuse_unfit(
    talks: Talks, row: SessionRow, crow: ClientCallRow, client: str, now: int
) -> None:
    """Let one client have one call at a time, and the preferred one have it first."""
    since = now - LEASE_MS
    attached = await talks.clients.attached(row.workspace, row.id, since=since)
    able = by_preference([one for one in attached if _is_able(one, crow)], crow.wanted)
    if not any(one.client == client for one in able):
        raise ClaimRefused(
            f"This client has not announced {crow.tool} with the schema that the call was made "
            "for. Announce it first, or leave the call to another."
        )
    held = await talks.clients.open_calls(row.workspace, row.id)
    if any(one.client == client and one.call != crow.call for one in held):
        raise ClaimRefused(
            "This client still holds another call of the session. Post its result first: a "
            "client executes one call at a time.",
            retry_after_ms=_HELD_MS,
        )
    left = crow.offered_at + PREFERRED_MS - now
    if able[0].client != client and left > 0:
        raise ClaimRefused(
            f"Another client is asked first. Claim the call again in {left} ms.",
            retry_after_ms=left,
        )


def _is_able(one: ClientRow, crow: ClientCallRow) -> bool:
    """Whether a client may have a call: an app's tool goes to whoever has its handler."""
    return not crow.schema_digest or crow.schema_digest in loaded(one.announced_json).digests


async def _permitted(talks: Talks, called: CallRow, crow: ClientCallRow, now: int) -> Kept:
    """What the call needs, if it may still run: it may have waited for an hour.

    Raises:
        CallOver: it may not; it ends with that.
    """
    node = talks.node
    try:
        kept = await opened(node, called)
        inputs = await node.inputs.of_call(called.workspace, called.id)
        await require_permitted(node, called.workspace, called.user, kept, yes_among(inputs, kept))
    except CallError as error:
        ended = client_ending.failed_now(called, crow, error, now)
        if await client_ending.settle(talks, called, crow, ended) is not None:
            await talks.sessions.wake(called.workspace, crow.session, at=now)
            talks.alarm.set()
        raise CallOver(f"The call {crow.call} may not run any more. {error.message}") from None
    return kept


def _claimed(crow: ClientCallRow, kept: Kept) -> Claimed:
    return Claimed(
        claim=crow.claim or "",
        tool=crow.tool,
        args=kept.arguments.values,
        timeout_ms=crow.timeout_ms,
        app=kept.app or None,
        handler=kept.handler,
    )


async def _ended(talks: Talks, called: CallRow, record: JsonObject, given: Result) -> Ended:
    """The end that a client's word makes.

    Raises:
        VaultFault: what was kept of the call cannot be opened now; it may be posted again.
    """
    kept = await kept_of(talks.node, called)
    tool, masker = kept.tool, kept.masker
    record = {**record, "client": {**cast("JsonObject", record["client"]), "answered": True}}
    try:
        if given.error is not None:
            raise masked(_error_of(called.tool, given.error), masker)
        _refuse_large(called.tool, given.value)
        body = Body(kind="json", value=given.value)
        value, missed = shaped(tool, body, tool.response_mapping, masker)
    except CallError as error:
        happened = isinstance(error, UnserializableResult | OutcomeUnknown)
        return failed(record, error, outcome_of(error), happened=happened)
    return succeeded(record, value, content_of(value), display_of(tool, value), absent=missed)


def _by_client(call: str, ended_json: str) -> bool:
    """Whether it was a client's word that ended a call."""
    had = ended_of(call, ended_json).record.get("client")
    return isinstance(had, dict) and had.get("answered") is True


def _error_of(tool: str, given: ClientFault) -> CallError:
    said = visible(given.message.strip())
    said = said if len(said) <= MAX_MESSAGE else f"{said[:MAX_MESSAGE]}…"
    # The SDK names the tool by itself.
    named = re.search(rf"(?<!\w){re.escape(tool)}(?!\w)", said)
    if given.code == "unserializable_result":
        return UnserializableResult(said, sent=True) if named else _unserializable(tool, said)
    if given.code == "outcome_unknown":
        return OutcomeUnknown(said if named else f"{tool}: {said}", sent=True)
    if given.code == "invalid_arguments":
        return InvalidArguments(
            f"{tool} was not executed: the user's client refused its arguments: {said} "
            "Correct the arguments and call again."
        )
    return ClientError(f"{tool} failed: {said}", sent=True)


def _unserializable(tool: str, why: str) -> UnserializableResult:
    return UnserializableResult(
        f"{tool} was executed in the user's client, and its result cannot be sent: {why}",
        sent=True,
    )


def _refuse_large(tool: str, value: JsonValue) -> None:
    size = len(compact_json(value).encode())
    if size > MAX_RESULT_BYTES:
        raise _unserializable(
            tool, f"it has {size:,} bytes of JSON, and {MAX_RESULT_BYTES:,} are allowed."
        )
