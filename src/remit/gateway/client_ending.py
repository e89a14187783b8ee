"""How a call that a client executes ends: by its result, by time, by whoever stopped it.

The client's row is settled first: of several that end a call one wins. Then the ledger is told; a
process that dies in between leaves a row that says how the call ended, and whoever looks next
tells the ledger.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.errors import ClientUnavailable, OutcomeUnknown
from remit.gateway.announcing import LEASE_MS
from remit.gateway.client_kept import ended_of, ended_text
from remit.gateway.ending import end, failure
from remit.gateway.journal import moment
from remit.gateway.resting import record_of

if TYPE_CHECKING:
    from remit.errors import CallError
    from remit.gateway.clients import ClientCallRow
    from remit.gateway.journal import Ended
    from remit.gateway.ledger import CallRow
    from remit.gateway.talks import Talks
    from remit.values.json import JsonObject

#: How long a call waits for a client that claims it.
UNCLAIMED_MS = 60 * 60 * 1000


async def settle(talks: Talks, call: CallRow, crow: ClientCallRow, ended: Ended) -> Ended | None:
    """End a call that is still held, or not held, as its row says; None where it is not.

    Raises:
        StoreUnavailable: whether it is settled is not known; or it is, and the ledger was not told.
    """
    mine = await talks.clients.settle(
        crow.workspace, crow.session, crow.call, claim=crow.claim, ended_json=ended_text(ended)
    )
    return await _tell(talks, call, ended) if mine else None


async def finish(talks: Talks, call: CallRow, crow: ClientCallRow) -> Ended:
    """The end of a call that was settled; the ledger is told where it was not yet."""
    ended = ended_of(call.id, crow.ended_json or "")
    return ended if call.outcome is not None else await _tell(talks, call, ended)


async def _tell(talks: Talks, call: CallRow, ended: Ended) -> Ended:
    await end(talks.node, call.workspace, ended, was="await_client")
    return ended


async def due_at(talks: Talks, crow: ClientCallRow) -> int:
    """Until when a call stays as it is by time alone; the store's time."""
    if crow.claimed_at is None:
        return crow.offered_at + UNCLAIMED_MS
    return min(await _silent_at(talks, crow), crow.claimed_at + crow.timeout_ms)


async def end_by_time(talks: Talks, call: CallRow, crow: ClientCallRow, now: int) -> Ended | None:
    """End a call whose time is over, or offer it anew; None where it has to be looked at again.

    An ``idempotent`` one whose client went silent may be executed once more. One that a client
    does not come to an end with is not: it would not the next time either.
    """
    if crow.claimed_at is None:
        error = _unclaimed(crow)
    elif now >= crow.claimed_at + crow.timeout_ms:
        error = OutcomeUnknown(
            f"{crow.tool}: the user's client gave no result within {crow.timeout_ms / 1000:g} s. "
            "It was told nothing more.",
            sent=True,
        )
    elif crow.idempotent and now < crow.offered_at + UNCLAIMED_MS:
        await talks.clients.offer_again(
            crow.workspace, crow.session, crow.call, claim=crow.claim or ""
        )
        return None
    else:
        error = OutcomeUnknown(
            f"{crow.tool}: the user's client began with it and went silent; nobody knows whether "
            "it happened. It was not started again.",
            sent=True,
        )
    return await settle(talks, call, crow, failure(record_with(call, crow, now), error, None))


def failed_now(call: CallRow, crow: ClientCallRow, error: CallError, now: int) -> Ended:
    """The end of a call that is taken back, with the reason.

    Where a client had begun with what is no read, nobody knows whether it happened.
    """
    if crow.claims and call.category != "read" and not isinstance(error, OutcomeUnknown):
        error = OutcomeUnknown(
            f"{call.tool}: a client had begun with it and went silent. It was not started again. "
            f"{error.message}",
            sent=True,
        )
    return failure(record_with(call, crow, now), error, None)


def record_with(call: CallRow, crow: ClientCallRow, now: int) -> JsonObject:
    """The record with who had the call, since when and for how long."""
    record = record_of(call)
    if crow.claimed_at is None:
        return record
    held: JsonObject = {
        "id": crow.client,
        "at": moment(crow.claimed_at),
        "ms": max(0, now - crow.claimed_at),
    }
    return {**record, "client": held}


async def _silent_at(talks: Talks, crow: ClientCallRow) -> int:
    """When whoever holds a call counts as silent."""
    holder = await talks.clients.client(crow.workspace, crow.session, crow.client or "")
    since = crow.claimed_at or 0
    return max(since, since if holder is None else holder.seen_at) + LEASE_MS


def _unclaimed(crow: ClientCallRow) -> CallError:
    if crow.claims:
        return OutcomeUnknown(
            f"{crow.tool}: a client began with it and went silent, and no other came within an "
            "hour. Nobody knows whether it happened.",
            sent=True,
        )
    return ClientUnavailable(
        f"{crow.tool} was not called: no client of the session that has it came within an hour. "
        "Nothing happened. The user has to open the page that has this tool."
    )
