"""Which node works on which session: claims, their fences, their ends.

A session that is due stands in one of two partial indexes: those that nobody has, by when they
are due, and those that somebody has, which are few. Resting ones stand in neither, however many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import and_, bindparam, case, func, select, tuple_, union_all, update

from remit.gateway.conversing import SessionRow
from remit.store.base import many
from remit.store.schema import sessions
from remit.store.session_schema import IS_FREE, IS_HELD
from remit.store.work import picked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection
    from sqlalchemy.sql.dml import ReturningUpdate

_KEY = [sessions.c.workspace, sessions.c.id]
# SQLite takes 32,766 parameters.
_AT_ONCE = 1_000

_IS_DUE = sessions.c.due_at <= bindparam("at")
_IS_SILENT = and_(IS_HELD, _IS_DUE, sessions.c.lease_until <= bindparam("at"))


def _claim_of(which: ColumnElement[bool]) -> ReturningUpdate[tuple[object, ...]]:
    return (
        update(sessions)
        .where(picked(_KEY, which, sessions.c.due_at, bindparam("most")))
        .values(
            node=bindparam("by"),
            lease_until=bindparam("until"),
            fence=sessions.c.fence + 1,
            attempts=sessions.c.attempts + 1,
        )
        .returning(sessions)
    )


# Made once: they run at every look, however little there is to do.
_CLAIMS = (_claim_of(_IS_SILENT), _claim_of(and_(IS_FREE, _IS_DUE)))
_LATER = case(
    (sessions.c.due_at > sessions.c.lease_until, sessions.c.due_at), else_=sessions.c.lease_until
)
_IS_AHEAD = sessions.c.due_at.is_not(None)
_SOONEST = union_all(
    select(func.min(sessions.c.due_at)).where(IS_FREE, _IS_AHEAD),
    select(func.min(_LATER)).where(IS_HELD, _IS_AHEAD),
)


def claimed(
    connection: Connection, node: str, at: int, lease_until: int, limit: int
) -> tuple[SessionRow, ...]:
    """Claim sessions that are due: first those whose node went silent, then those nobody has."""
    rows: tuple[SessionRow, ...] = ()
    for claim in _CLAIMS:
        values = {"at": at, "by": node, "until": lease_until, "most": limit - len(rows)}
        rows += many(SessionRow, connection.execute(claim, values).mappings())
    return tuple(sorted(rows, key=lambda row: (row.due_at or 0, row.workspace, row.id)))


def renewed(
    connection: Connection,
    node: str,
    claims: Sequence[tuple[str, str, int]],
    lease_until: int,
) -> frozenset[tuple[str, str]]:
    """Prolong claims of a node; says which of them are lost."""
    lost = {(workspace, session) for workspace, session, _ in claims}
    key = tuple_(*_KEY, sessions.c.fence)
    for first in range(0, len(claims), _AT_ONCE):
        some = sorted(claims[first : first + _AT_ONCE])
        statement = (
            update(sessions)
            .where(sessions.c.node == node, IS_HELD, key.in_(some))
            .values(lease_until=lease_until)
            .returning(*_KEY)
        )
        kept = connection.execute(statement).mappings()
        lost -= {(row["workspace"], row["id"]) for row in kept}
    return frozenset(lost)


def soonest(connection: Connection) -> int | None:
    """When a session has to be looked at next: one that nobody has, or whose node may be silent."""
    found = connection.scalars(_SOONEST)
    return min((at for at in found if at is not None), default=None)
