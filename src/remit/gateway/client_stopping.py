"""What becomes of a session's client calls when it closes (contract section 9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.errors import OutcomeUnknown
from remit.gateway import client_ending
from remit.gateway.client_calls import cancel

if TYPE_CHECKING:
    from remit.gateway.conversing import SessionRow
    from remit.gateway.talks import Talks


async def stop_all(talks: Talks, row: SessionRow) -> None:
    """End every client call of a session that closes: nobody looks after them any more.

    What no client has begun with does not begin; of what one has begun with nobody will know.

    Raises:
        StoreUnavailable: some may not have ended; again is harmless.
    """
    for crow in await talks.clients.open_calls(row.workspace, row.id):
        await cancel(talks, row, crow.call)
        now = await talks.now_ms()
        held = await talks.clients.call(row.workspace, row.id, crow.call)
        call = await talks.node.calls.get(row.workspace, crow.call)
        if held is None or call is None or held.ended_json is not None:
            continue
        error = OutcomeUnknown(
            f"{call.tool}: the session was closed while the user's client executed it.", sent=True
        )
        await client_ending.settle(
            talks, call, held, client_ending.failed_now(call, held, error, now)
        )
