"""What a request finds that was made before and got no answer (contract section 10).

Its reference is kept with its ``Idempotency-Key``, and what it makes bears an id that follows from
it: whoever makes it again finds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from remit.gateway.acting import no_such
from remit.session.events import Message, data_of

if TYPE_CHECKING:
    from remit.gateway.conversing import SessionRow
    from remit.gateway.talks import Talks

#: Ids of a session's last messages that are kept: a repeat comes soon after the first.
REMEMBERED = 16


class Accepted(Struct, frozen=True):
    """The run that a message begins, and the number of its event."""

    run_id: str
    seq: int


def id_of(talks: Talks, prefix: str, reference: str) -> str:
    """Of what a request makes: with the same reference the same, without one a fresh one."""
    if not reference:
        return talks.node.fresh.fresh_id(prefix)
    return f"{prefix}_{reference.partition('_')[2]}"


async def taken(talks: Talks, row: SessionRow, message_id: str) -> Accepted:
    """What was answered to a message that was taken before.

    Raises:
        NotFound: the session was erased meanwhile.
    """
    after = 0
    while events := await talks.sessions.events(row.workspace, row.id, after=after, limit=500):
        for event in events:
            data = data_of(event)
            if isinstance(data, Message) and data.message_id == message_id:
                return Accepted(data.run_id or "", event.seq)
        after = events[-1].seq
    raise no_such("session", row.id)
