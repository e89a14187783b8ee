"""Who may know of a session: a key of its workspace, and its user by a token of that session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.gateway.acting import no_such

if TYPE_CHECKING:
    from remit.gateway.acting import Actor
    from remit.gateway.conversing import SessionRow
    from remit.gateway.talks import Talks


async def seen(talks: Talks, actor: Actor, session: str) -> SessionRow:
    """A session, if the actor may know of it.

    Raises:
        NotFound: there is none, or it is somebody else's.
    """
    row = await talks.sessions.get(actor.workspace, session)
    if row is None or not _may_see(actor, row):
        raise no_such("session", session)
    return row


def _may_see(actor: Actor, row: SessionRow) -> bool:
    if actor.role in {"operator", "backend"}:
        return True
    return actor.session == row.id and actor.user == row.user
