"""Makes a session due in the transaction of whatever it has to be looked at for.

An answer, an expiry or a call that ended changes the ledger; the session's log is brought up to
it by whoever looks next (``gateway.conversing``). Both are one commit, so that nothing is missed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import bindparam, case, or_, select, union_all, update

from remit.store.schema import erased_sessions, sessions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from remit.gateway.ledger import CallRow, InputRow

_OVER = union_all(
    select(sessions.c.id).where(
        sessions.c.workspace == bindparam("of_workspace"),
        sessions.c.id == bindparam("of_session"),
        sessions.c.status == "closed",
    ),
    select(erased_sessions.c.session).where(
        erased_sessions.c.workspace == bindparam("of_workspace"),
        erased_sessions.c.session == bindparam("of_session"),
    ),
)
_AT = bindparam("at", type_=sessions.c.due_at.type)
_WAKE = (
    update(sessions)
    .where(
        sessions.c.workspace == bindparam("of_workspace"),
        sessions.c.id == bindparam("of_session"),
        # Nothing happens in it any more.
        sessions.c.status != "closed",
    )
    .values(
        due_at=case(
            (or_(sessions.c.due_at.is_(None), sessions.c.due_at > _AT), _AT),
            else_=sessions.c.due_at,
        ),
        wakes=sessions.c.wakes + 1,
    )
)


def wake(connection: Connection, workspace: str, session: str, at: int) -> bool:
    """Let a session be due by then; False where there is none, or it is closed."""
    values = {"of_workspace": workspace, "of_session": session, "at": at}
    return connection.execute(_WAKE, values).rowcount == 1


def is_over(connection: Connection, workspace: str, session: str) -> bool:
    """Whether a session is closed or erased: nothing is asked in it any more."""
    named = {"of_workspace": workspace, "of_session": session}
    return connection.execute(_OVER, named).first() is not None


def wake_those_of(connection: Connection, rows: Iterable[CallRow | InputRow], at: int) -> None:
    """Let the sessions that these belong to be due, each once, in an order that is always one."""
    found = {(row.workspace, row.session) for row in rows if row.session is not None}
    for workspace, session in sorted(found):
        wake(connection, workspace, session, at)
