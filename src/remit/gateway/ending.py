"""How a call ends: its outcome committed first, then told (contract section 5, step 10)."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar, cast

from msgspec import Struct

from remit.calls.answers import may_have_happened
from remit.documents.canonical import compact_json
from remit.errors import Cancelled, Denied, Expired, OutcomeUnknown, Skipped, StoreUnavailable
from remit.gateway.endings import Late
from remit.gateway.journal import Ended, beyond, failed, recalled

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from remit.catalog.model import Tool
    from remit.errors import CallError
    from remit.gateway.journal import Opened
    from remit.gateway.ledger import CallStatus, Outcome
    from remit.gateway.node import Node
    from remit.values.json import JsonObject

T = TypeVar("T")

_STATUS_OF: Mapping[Outcome, CallStatus] = {
    "ok": "done",
    "skipped": "done",
    "denied": "denied",
    "error": "failed",
    "expired": "failed",
    "cancelled": "failed",
    "outcome_unknown": "unknown",
}
_OUTCOME_OF: Mapping[type[CallError], Outcome] = {
    Denied: "denied",
    Expired: "expired",
    Cancelled: "cancelled",
    Skipped: "skipped",
    OutcomeUnknown: "outcome_unknown",
}
_AGAIN_MS = (50, 500, 5_000)
_LATE_MS, _MAX_LATE_MS = 1_000, 5_000
#: What may have gone out is never called denied in the ledger (``ledger.MOVES``).
_SENT: frozenset[CallStatus] = frozenset({"sending", "polling"})


class _End(Struct, frozen=True, kw_only=True):
    """The end of a call as the ledger takes it; ``record_json`` is the whole record.

    Attributes:
        beyond: what the record does not hold whole (``journal.beyond``).
    """

    workspace: str
    call_id: str
    was: CallStatus
    status: CallStatus
    outcome: Outcome
    record_json: str
    beyond: str | None = None


def outcome_of(error: CallError) -> Outcome:
    """The outcome of a call that ended with this error."""
    return _OUTCOME_OF.get(type(error), "error")


def failure(record: JsonObject, error: CallError, tool: Tool | None) -> Ended:
    """The end of a call that came to no result.

    Args:
        record: as far as it is written.
        error: masked already.
        tool: tells whether the action may have happened; None where nothing was sent.
    """
    unknown = isinstance(error, OutcomeUnknown)
    happened = unknown or (tool is not None and may_have_happened(tool, error))
    return failed(record, error, outcome_of(error), happened=happened)


def status_of(ended: Ended, was: CallStatus) -> CallStatus:
    """What the ledger calls an end."""
    status = _STATUS_OF[ended.outcome]
    return "failed" if status == "denied" and was in _SENT else status


async def end(
    node: Node, workspace: str, ended: Ended, *, was: CallStatus, opened: Opened | None = None
) -> Ended:
    """Commit the end of a call, then tell it.

    A store that does not do its part is asked again for a while: what came back from the app is
    known nowhere else. That a failed commit was one after all is seen by the status.

    Args:
        node: where it ends.
        workspace: of the call.
        ended: how.
        was: what the call is in the ledger until then.
        opened: what ``ended.record`` begins with, where that was written as text already.

    Returns:
        How the call ended: where another was faster, what that one committed.

    Raises:
        StoreUnavailable: it could not be committed, and nobody was told. A task of the node goes
            on trying until it is, or the process ends.
    """
    record = ended.record
    its_end = _End(
        workspace=workspace,
        call_id=ended.call_id,
        was=was,
        status=status_of(ended, was),
        outcome=ended.outcome,
        record_json=compact_json(record) if opened is None else opened.followed(record),
        beyond=beyond(ended),
    )
    try:
        stands = None if await _finish(node, its_end) else await _standing(node, its_end)
    except StoreUnavailable:
        chars = len(its_end.record_json) + len(its_end.beyond or "")
        late = Late(workspace=workspace, call_id=ended.call_id, was=was, chars=chars)
        now, later = partial(_commit, node, its_end), partial(_commit_late, node, its_end)
        stands = await outlasting(node, late, now, later, failed=True)
    ended = stands or ended
    node.endings.tell(workspace, ended)
    return ended


async def outlasting(
    node: Node,
    late: Late,
    now: Callable[[], Awaitable[T]],
    later: Callable[[], Awaitable[object]],
    *,
    failed: bool = False,
) -> T:
    """Do what a call needs of the store, which is asked again for a while where it is away.

    Args:
        node: where it is done.
        late: which step of which call it is.
        now: does it; only what may be done twice.
        later: does it too, with all that follows from it, and holds no more than that needs:
            where ``now`` came to nothing, a task of the node tries it until the store is back.
        failed: ``now`` was tried just before.

    Raises:
        StoreUnavailable: it is not done yet, or no more where the node does not go on with it
            (``Endings.keep``).
    """
    try:
        return await _insisting(node, now, failed=failed)
    except StoreUnavailable:
        if node.endings.keep(late):
            node.tasks.start(_outlasting(node, late, later))
        raise


async def _outlasting(node: Node, late: Late, later: Callable[[], Awaitable[object]]) -> None:
    wait_ms = _LATE_MS
    try:
        while True:
            await node.clock.sleep(wait_ms)
            wait_ms = min(2 * wait_ms, _MAX_LATE_MS)
            try:
                await later()
                break
            except StoreUnavailable:
                continue
    finally:
        node.endings.let_go(late)


async def _insisting(node: Node, act: Callable[[], Awaitable[T]], *, failed: bool) -> T:
    for delay_ms in _AGAIN_MS:
        if not failed:
            with suppress(StoreUnavailable):
                return await act()
        failed = False
        await node.clock.sleep(delay_ms)
    return await act()


def _finish(node: Node, its_end: _End) -> Awaitable[bool]:
    return node.calls.finish(
        its_end.workspace,
        its_end.call_id,
        was=its_end.was,
        status=its_end.status,
        outcome=its_end.outcome,
        record_json=its_end.record_json,
        at=node.wall.unix_ms(),
        beyond=its_end.beyond,
    )


async def _commit(node: Node, its_end: _End) -> Ended | None:
    """Commit an end; how the call ended where it is no longer what it was: another ended it."""
    return None if await _finish(node, its_end) else await _standing(node, its_end)


async def _standing(node: Node, its_end: _End) -> Ended | None:
    """How the call ended that was no longer what it was."""
    row = await node.calls.get(its_end.workspace, its_end.call_id)
    return None if row is None or row.outcome is None else _recalled(row.record_json)


async def _commit_late(node: Node, its_end: _End) -> None:
    """Commit an end that the store did not take, and tell it from its record."""
    stands = await _commit(node, its_end)
    node.endings.tell(its_end.workspace, stands or _recalled(its_end.record_json))


def _recalled(record_json: str) -> Ended:
    return recalled(cast("JsonObject", json.loads(record_json)))
