"""The call ledger: written before the send, moved by compare-and-set (architecture section 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, and_, case, func, or_, select, update

from remit.gateway.ledger import ENDED, MOVES, CallChange, CallFilter, CallRow
from remit.store.base import Database, Inserts, keep, keep_new, one, owned
from remit.store.pages import DEFAULT_LIMIT, page
from remit.store.prepared import update_of
from remit.store.schema import IS_OPEN, calls, inputs

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from sqlalchemy import Connection

    from remit.gateway.ledger import CallStatus, InputRow, Outcome
    from remit.gateway.records import Page

_FINISH_WHERE = {"workspace": "in_workspace", "id": "of_call", "status": "was"}
# What is over and done with needs no place to go on from.
_FINISH_VALUES = {
    "status": "to_status",
    "outcome": "to_outcome",
    "record_json": "to_record",
    "updated_at": "to_time",
    "private": None,
    "next_poll_at": None,
    "deadline": None,
    "node": None,
}


class Calls:
    """See ``recording.Calls``."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._inserts = Inserts(database, calls)
        self._finish = update_of(
            calls,
            where=_FINISH_WHERE,
            values=_FINISH_VALUES,
            dialect=database.engine.dialect,
            # A lost end is an unknown outcome; a lost intent were a call that nobody knows of.
            lasts=False,
        )

    def plan(self, workspace: str, row: CallRow) -> Awaitable[bool]:
        """See the port."""
        owned(workspace, row)
        return self._inserts.put(row)

    async def plan_waiting(self, workspace: str, row: CallRow, input_row: InputRow) -> bool:
        """See the port."""
        owned(workspace, row)
        owned(workspace, input_row)
        if row.status != "await_input" or input_row.call != row.id:
            msg = "a call that is planned as waiting has status await_input and its own input"
            raise ValueError(msg)

        def unit(connection: Connection) -> bool:
            if not keep_new(connection, calls, row):
                return False
            keep(connection, inputs, input_row)
            return True

        return await self._database.write(unit)

    async def move(self, workspace: str, call: str, *, was: CallStatus, change: CallChange) -> bool:
        """See the port."""
        check_move(was, change.status)
        return await self._database.write(
            lambda connection: moved(connection, workspace, call, was, change.values())
        )

    def finish(
        self,
        workspace: str,
        call: str,
        *,
        was: CallStatus,
        status: CallStatus,
        outcome: Outcome,
        record_json: str,
        at: int,
        beyond: str | None = None,
    ) -> Awaitable[bool]:
        """See the port."""
        check_move(was, status)
        if status not in ENDED:
            msg = f"a call does not end as {status}"
            raise ValueError(msg)
        if was == "await_input" or beyond is not None:
            change = CallChange(status=status, outcome=outcome, record_json=record_json, at=at)
            values = {**change.values(), "private": beyond}
            return self._database.write(
                lambda connection: moved(connection, workspace, call, was, values)
            )
        # In the order of ``_FINISH_VALUES``, then of ``_FINISH_WHERE``.
        values = (status, outcome, record_json, at, workspace, call, was)
        return self._database.writer.change(self._finish, values)

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
            return every, int(writes)

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
    """Change a call if it still has that status; False otherwise, and nothing is changed.

    A call does not leave an input that is open: it would run, or end, while a person is asked.
    """
    its = and_(calls.c.workspace == workspace, calls.c.id == call, calls.c.status == was)
    if was == "await_input" and _is_asked(connection, its, workspace, call):
        return False
    return connection.execute(update(calls).where(its).values(**values)).rowcount == 1


def _is_asked(connection: Connection, its: ColumnElement[bool], workspace: str, call: str) -> bool:
    """Whether an input of the call is open, and stays so: the call's row is held first.

    Not one statement: PostgreSQL, once it has waited for a row, looks at that row alone again.
    """
    connection.execute(select(calls.c.id).where(its).with_for_update())
    asked = select(inputs.c.id).where(
        inputs.c.workspace == workspace, inputs.c.call == call, IS_OPEN
    )
    return connection.execute(asked).first() is not None


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
