"""What a node has to do next, over all workspaces: polls that are due, calls of a dead node.

A claim is an update that returns its rows: on PostgreSQL it skips rows that another node is
claiming, on SQLite the writer holds the only write lock. No function here takes an id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, and_, delete, exists, func, not_, select, tuple_, update

from remit.gateway.ledger import CallRow
from remit.store.base import Database, insert_or, many
from remit.store.calls import moved
from remit.store.erasing import sweep
from remit.store.schema import IS_POLLING, calls, nodes, sessions, stored_answers
from remit.store.session_schema import IS_HELD
from remit.store.waking import wake_those_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import BindParameter, Column, Connection

_AT_WORK = calls.c.status.in_(["planned", "await_input", "sending"])


class Work:
    """See ``recording.Work``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def join(self, node: str, *, at: int, lease_ms: int, alone: bool = False) -> None:
        """See the port."""

        def unit(connection: Connection) -> None:
            if alone:
                connection.execute(delete(nodes).where(nodes.c.id != node))
            connection.execute(delete(nodes).where(nodes.c.lease_until <= at))
            row = {"id": node, "lease_until": at + lease_ms}
            connection.execute(
                insert_or(nodes, connection)
                .values(row)
                .on_conflict_do_update(index_elements=["id"], set_={"lease_until": at + lease_ms})
            )
            _free_polls(connection, node, at)
            _free_sessions(connection, node, at)

        await self._database.write(unit)

    async def leave(self, node: str) -> None:
        """See the port."""

        def unit(connection: Connection) -> None:
            connection.execute(delete(nodes).where(nodes.c.id == node))
            _give_back(connection, [node])

        await self._database.write(unit)

    async def due_polls(
        self, node: str, *, at: int, limit: int, claim_ms: int
    ) -> tuple[CallRow, ...]:
        """See the port."""
        due = and_(IS_POLLING, calls.c.next_poll_at <= at)
        values: dict[str, object] = {"next_poll_at": at + claim_ms, "node": node}
        return await self._database.write(lambda connection: _claim(connection, due, values, limit))

    async def reschedule_poll(
        self,
        workspace: str,
        call: str,
        *,
        polls_left: int,
        next_poll_at: int,
        at: int,
        record_json: str | None = None,
    ) -> bool:
        """See the port."""
        values: dict[str, object] = {
            "polls_left": polls_left - 1,
            "next_poll_at": next_poll_at,
            "updated_at": at,
            "node": None,
        }
        if record_json is not None:
            values["record_json"] = record_json
        statement = (
            update(calls)
            .where(
                calls.c.workspace == workspace,
                calls.c.id == call,
                IS_POLLING,
                calls.c.polls_left == polls_left,
            )
            .values(**values)
        )
        return await self._database.write(
            lambda connection: connection.execute(statement).rowcount == 1
        )

    async def next_poll_at(self) -> int | None:
        """See the port."""
        query = select(func.min(calls.c.next_poll_at)).where(IS_POLLING)
        return await self._database.read(lambda connection: connection.scalar(query))

    async def abandoned(
        self, node: str, *, at: int, limit: int, quiet_ms: int = 0
    ) -> tuple[CallRow, ...]:
        """See the port."""
        at_work = and_(calls.c.node.is_not(None), calls.c.node != node, _AT_WORK)
        if quiet_ms:
            at_work = and_(at_work, calls.c.updated_at <= at - quiet_ms)
        dead_nodes = select(calls.c.node).where(at_work, not_(alive(calls.c.node, at))).distinct()

        def unit(connection: Connection) -> tuple[CallRow, ...]:
            # Two statements: a row that another node takes at this moment has that node then,
            # which PostgreSQL sees when it looks at the row again, but not whether it is alive.
            dead = list(connection.scalars(dead_nodes))
            return _claim(connection, and_(at_work, calls.c.node.in_(dead)), {"node": node}, limit)

        return await self._database.write(unit)

    async def forget_answers(self, *, at: int) -> int:
        """See the port."""
        statement = delete(stored_answers).where(stored_answers.c.expires_at <= at)

        def unit(connection: Connection) -> int:
            sweep(connection)
            return connection.execute(statement).rowcount

        return await self._database.write(unit)


def alive(node: ColumnElement[str | None], at: int) -> ColumnElement[bool]:
    """Whether a node's lease has not run out."""
    return exists().where(nodes.c.id == node, nodes.c.lease_until > at)


def claim_polls_of(
    connection: Connection, workspace: str, app: str, at: int, node: str
) -> tuple[CallRow, ...]:
    """Every polling call of a suspended app, so that nobody polls it again meanwhile."""
    its = and_(calls.c.workspace == workspace, calls.c.app == app, IS_POLLING)
    values: dict[str, object] = {"next_poll_at": at + _STOPPED_MS, "node": node}
    stopped = _claim(connection, its, values, None)
    wake_those_of(connection, stopped, at)
    return stopped


def goes_on(connection: Connection, workspace: str, call: str, at: int, node: str) -> None:
    """Give a waiting call to the node that goes on with it, so that it is not forgotten."""
    moved(connection, workspace, call, "await_input", {"node": node, "updated_at": at})


def _free_polls(connection: Connection, node: str, at: int) -> None:
    """Let polls that died with their node be due now, and not only when their claims are over."""
    claimed = and_(IS_POLLING, calls.c.node.is_not(None), calls.c.node != node)
    dead_nodes = select(calls.c.node).where(claimed, not_(alive(calls.c.node, at))).distinct()
    # Two statements, as in ``abandoned``.
    if dead := list(connection.scalars(dead_nodes)):
        freed = update(calls).where(claimed, calls.c.node.in_(dead))
        connection.execute(freed.values(next_poll_at=at, node=None))


def _free_sessions(connection: Connection, node: str, at: int) -> None:
    """Let sessions that died with their node be free now; see ``leases``."""
    held = and_(IS_HELD, sessions.c.node != node)
    dead_nodes = select(sessions.c.node).where(held, not_(alive(sessions.c.node, at))).distinct()
    # Two statements, as in ``abandoned``.
    _give_back(connection, list(connection.scalars(dead_nodes)))


def _give_back(connection: Connection, gone: Sequence[str | None]) -> None:
    if gone:
        freed = update(sessions).where(IS_HELD, sessions.c.node.in_(gone))
        connection.execute(freed.values(node=None, lease_until=None))


# Long enough for the node that stops polls to end their calls; they are due again after it died.
_STOPPED_MS = 30_000


def _claim(
    connection: Connection,
    condition: ColumnElement[bool],
    values: dict[str, object],
    limit: int | None,
) -> tuple[CallRow, ...]:
    key = [calls.c.workspace, calls.c.id]
    free = picked(key, condition, calls.c.next_poll_at, limit)
    statement = update(calls).where(free).values(**values).returning(calls)
    claimed = many(CallRow, connection.execute(statement).mappings())
    return tuple(sorted(claimed, key=lambda row: (row.next_poll_at or 0, row.at, row.id)))


def picked(
    key: Sequence[Column[str]],
    condition: ColumnElement[bool],
    order: ColumnElement[int],
    limit: int | BindParameter[int] | None,
) -> ColumnElement[bool]:
    """A condition that takes some free rows, the first in that order.

    A table expression is evaluated once. As a plain subquery PostgreSQL may run it for each row,
    and so take more than the limit.
    """
    free = select(*key).where(condition).order_by(order, *key)
    free = free.limit(limit).with_for_update(skip_locked=True)
    return tuple_(*key).in_(select(free.cte("free")))
