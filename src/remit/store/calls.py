"""The call ledger: written before the send, moved by compare-and-set (architecture section 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from sqlalchemy import ColumnElement, bindparam, case, func, or_, select, update

from remit.gateway.ledger import ENDED, MOVES, CallFilter, CallRow
from remit.store.base import Database, Inserts, keep_new, one, owned
from remit.store.pages import DEFAULT_LIMIT, page
from remit.store.schema import calls, inputs
from remit.store.writer import prepare

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from remit.gateway.ledger import CallChange, CallStatus, InputRow, Outcome
    from remit.gateway.records import Page

# What is over and done with needs no place to go on from.
_RESTS = {"private": None, "next_poll_at": None, "deadline": None, "node": None}
_FINISH = (
    update(calls)
    .where(
        calls.c.workspace == bindparam("in_workspace"),
        calls.c.id == bindparam("of_call"),
        calls.c.status == bindparam("was"),
    )
    .values(
        status=bindparam("to_status"),
        outcome=bindparam("to_outcome"),
        record_json=bindparam("to_record"),
        updated_at=bindparam("to_time"),
        **_RESTS,
    )
)


class Calls:
    """See ``recording.Calls``."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._inserts = Inserts(database, calls)
        self._finish = prepare(_FINISH, database.engine.dialect)

    async def plan(self, workspace: str, row: CallRow) -> bool:
        """See the port."""
        owned(workspace, row)
        return await self._inserts.put(row)

    async def plan_waiting(self, workspace: str, row: CallRow, input_row: InputRow) -> bool:
        """See the port."""
        owned(workspace, row)
        owned(workspace, input_row)
        if row.status != "await_input" or input_row.call != row.id:
            msg = "a call that is planned as waiting has status await_input and its own input"
            raise ValueError(msg)

        def unit(connection: Connection) -> bool:
            return keep_new(connection, calls, row) and keep_new(connection, inputs, input_row)

        return await self._database.write(unit)

    async def move(self, workspace: str, call: str, *, was: CallStatus, change: CallChange) -> bool:
        """See the port."""
        check_move(was, change.status)
        return await self._database.write(
            lambda connection: moved(connection, workspace, call, was, change.values())
        )

    async def finish(
        self,
        workspace: str,
        call: str,
        *,
        was: CallStatus,
        status: CallStatus,
        outcome: Outcome,
        record_json: str,
        at: int,
    ) -> bool:
        """See the port."""
        check_move(was, status)
        if status not in ENDED:
            msg = f"a call does not end as {status}"
            raise ValueError(msg)
        given = {
            "in_workspace": workspace,
            "of_call": call,
            "was": was,
            "to_status": status,
            "to_outcome": outcome,
            "to_record": record_json,
            "to_time": at,
        }
        # The statement's own values (the nulls) are parameters too.
        values = tuple(given.get(name) for name in self._finish.names)
        return await self._database.writer.change(self._finish, values)

    async def get(self, workspace: str, call: str) -> CallRow | None:
        """See the port."""
        query = select(calls).where(calls.c.workspace == workspace, calls.c.id == call)
        return await self._database.read(
            lambda connection: one(CallRow, connection.execute(query).mappings())
        )

    async def by_model_call(
        self, workspace: str, session: str, response_seq: int, model_call_id: str
    ) -> CallRow | None:
        """See the port."""
        query = select(calls).where(
            calls.c.workspace == workspace,
            calls.c.session == session,
            calls.c.response_seq == response_seq,
            calls.c.model_call_id == model_call_id,
        )
        return await self._database.read(
            lambda connection: one(CallRow, connection.execute(query).mappings())
        )

    async def list(
        self,
        workspace: str,
        which: CallFilter | None = None,
        *,
        limit: int = DEFAULT_LIMIT,
        cursor: str | None = None,
    ) -> Page[CallRow]:
        """See the port."""
        query = select(calls).where(
            calls.c.workspace == workspace, *_conditions(which or CallFilter())
        )
        key = [calls.c.at, calls.c.id]
        return await self._database.read(
            lambda connection: page(connection, CallRow, query, key, limit=limit, cursor=cursor)
        )

    async def of_run(self, workspace: str, run: str) -> tuple[int, int]:
        """See the port."""
        open_ = calls.c.status.not_in(sorted(ENDED))
        query = select(
            func.count(), func.coalesce(func.sum(case((calls.c.category == "read", 0), else_=1)), 0)
        ).where(
            calls.c.workspace == workspace,
            calls.c.run == run,
            or_(open_, calls.c.sent_at.is_not(None)),
        )

        def counted(connection: Connection) -> tuple[int, int]:
            every, writes = connection.execute(query).one()
            return cast("int", every), int(writes)

        return await self._database.read(counted)


def check_move(was: CallStatus, status: CallStatus) -> None:
    """Refuse a move that ``MOVES`` does not have, before anything is written.

    Raises:
        ValueError: that is a mistake of the caller.
    """
    if status not in MOVES[was]:
        msg = f"a call cannot go from {was} to {status}"
        raise ValueError(msg)


def moved(
    connection: Connection,
    workspace: str,
    call: str,
    was: CallStatus,
    values: dict[str, object],
) -> bool:
    """Change a call if it still has that status; False otherwise, and nothing is changed."""
    statement = (
        update(calls)
        .where(calls.c.workspace == workspace, calls.c.id == call, calls.c.status == was)
        .values(**values)
    )
    return connection.execute(statement).rowcount == 1


def _conditions(which: CallFilter) -> list[ColumnElement[bool]]:
    equal = {
        name: getattr(which, name)
        for name in (
            "app", "tool", "user", "session", "status", "outcome", "category", "danger_level",
        )
    }  # fmt: skip
    found = [calls.c[name] == value for name, value in equal.items() if value is not None]
    if which.since is not None:
        found.append(calls.c.at >= which.since)
    if which.until is not None:
        found.append(calls.c.at < which.until)
    return found
