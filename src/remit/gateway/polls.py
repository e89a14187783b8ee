"""One poll of a job, from its row and back into it (contract section 6).

Nothing waits in memory between two polls: the row says when the next one is due.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from remit.errors import AppSuspended, CallError, NotFound, OutcomeUnknown
from remit.gateway.ending import end, failure
from remit.gateway.exchanging import unread
from remit.gateway.keeping import VaultFault
from remit.gateway.permitting import access, signed, standing
from remit.gateway.resting import as_frozen, record_of, restored
from remit.gateway.running import exchange_of, result_of
from remit.gateway.steps import masked

if TYPE_CHECKING:
    from remit.gateway.apps import App
    from remit.gateway.journal import Ended
    from remit.gateway.ledger import CallRow
    from remit.gateway.node import Node
    from remit.gateway.permitting import Case
    from remit.values.json import JsonObject

#: A claim outlives its poll, and a poll that died with its node is due again soon after.
POLL_TIMEOUT_MS = 20_000
CLAIM_MS = 30_000


async def poll(node: Node, row: CallRow) -> Ended | None:
    """Ask once how the job of a claimed row is; None where it is asked again later.

    Raises:
        StoreUnavailable: what became of it could not be kept; it is due again.
    """
    try:
        case, app = await _taken(node, row)
    except CallError as error:
        return await end(node, row.workspace, failure(record_of(row), error, None), was="polling")
    polling, asked = case.tool.polling, case.frozen.poll
    if polling is None or asked is None or row.polls_left is None:
        return await stop(node, row, "its job cannot be asked for any more")
    number = polling.max_polls - row.polls_left + 1
    case = structs.replace(case, record={**as_frozen(case, app), "polls": number})
    exchange = exchange_of(
        node, case, app, node.egress, timeout_ms=min(POLL_TIMEOUT_MS, case.tool.timeout_ms)
    )
    try:
        polled = await exchange.poll(asked, polling, number)
        if polled.done is not None:
            mapping = polling.result_mapping
            ended = result_of(case.record, case.tool, polled.done, mapping, exchange)
            return await end(node, row.workspace, ended, was="polling")
        if row.polls_left <= 1:
            raise exchange.exhausted(polling, polled.progress)
    except CallError as error:
        ended = failure(case.record, masked(error, exchange.masker), case.tool)
        return await end(node, row.workspace, ended, was="polling")
    await _again(node, row, row.polls_left, polled.wait_ms)
    words = "no answer" if polled.progress is None else exchange.said(polled.progress.words)
    node.endings.progressed(row.workspace, row, polls=number, status=words)
    return None


async def stop(node: Node, row: CallRow, why: str) -> Ended:
    """End a call whose job was started and is asked for no more (contract section 7, "Suspend").

    Args:
        node: which holds the row.
        row: ``polling``.
        why: as a clause.
    """
    return await end(node, row.workspace, _stopped(record_of(row), row.tool, why), was="polling")


async def _taken(node: Node, row: CallRow) -> tuple[Case, App]:
    """The call of a row and what it is polled with.

    Raises:
        CallError: it may not be polled any more; whether its job ends well is not known.
    """
    try:
        found = await standing(node, row.workspace, row.app)
        case = await restored(node, row, found)
    except AppSuspended as error:
        raise _unknown(row.tool, f"polling was stopped: {error.message}") from None
    except (CallError, NotFound, VaultFault) as error:
        raise _unknown(row.tool, f"its job cannot be asked for: {error.message}") from None
    try:
        given = await access(node, case, found)
        return case, await signed(node, case, found, given.app)
    except VaultFault as error:
        raise _unknown(row.tool, f"its job cannot be asked for: {error.message}") from None
    except CallError as error:
        failed = unread(case.tool, error)
        raise _unknown(row.tool, failed.message) from None


async def _again(node: Node, row: CallRow, polls_left: int, wait_ms: int) -> None:
    now = node.wall.unix_ms()
    await node.work.reschedule_poll(
        row.workspace, row.id, polls_left=polls_left, next_poll_at=now + wait_ms, at=now
    )
    node.alarm.set()


def _stopped(record: JsonObject, tool: str, why: str) -> Ended:
    return failure(record, _unknown(tool, why), None)


def _unknown(tool: str, why: str) -> OutcomeUnknown:
    return OutcomeUnknown(
        f"{tool}: {why.rstrip('.')}. The job was started and may still finish. The action may "
        "have happened: read the current state before you repeat it.",
        sent=True,
    )
