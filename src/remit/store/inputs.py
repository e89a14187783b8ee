"""Inputs: what calls wait for from people; the first answer decides (contract section 9)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, and_, func, select, update

from remit.gateway.ledger import (
    SYSTEM,
    Answered,
    AnsweredOtherwise,
    InputFilter,
    InputRow,
    Repeated,
    StaleDigest,
)
from remit.store.base import Database, keep, many, one, owned
from remit.store.calls import check_move, moved
from remit.store.changes import keep_act
from remit.store.pages import DEFAULT_LIMIT, page
from remit.store.schema import IS_OPEN, inputs
from remit.store.waking import is_over, wake_those_of
from remit.store.work import goes_on, picked

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from remit.gateway.ledger import CallChange, CallStatus, InputAnswer, InputStatus
    from remit.gateway.recording import AnswerResult
    from remit.gateway.records import AuditEntry, Page


class Inputs:
    """See ``recording.Inputs``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open(
        self, workspace: str, row: InputRow, *, was: CallStatus, change: CallChange
    ) -> bool:
        """See the port."""
        owned(workspace, row)
        check_move(was, "await_input")
        values = {**change.values(), "status": "await_input", "node": None}

        def unit(connection: Connection) -> bool:
            if row.session is not None and is_over(connection, workspace, row.session):
                return False
            if not moved(connection, workspace, row.call, was, values):
                return False
            keep(connection, inputs, row)
            return True

        return await self._database.write(unit)

    async def answer(
        self, workspace: str, input_id: str, answer: InputAnswer, *, act: AuditEntry
    ) -> AnswerResult | None:
        """See the port."""

        def unit(connection: Connection) -> AnswerResult | None:
            ours = and_(inputs.c.workspace == workspace, inputs.c.id == input_id)
            query = select(inputs).where(ours).with_for_update()
            row = one(InputRow, connection.execute(query).mappings())
            if row is None:
                return None
            if row.status != "open":
                same = _same(row, answer)
                return Repeated(input=row) if same else AnsweredOtherwise(input=row)
            if row.expires_at <= answer.at:
                closed = _close(connection, ours, "expired", answer.at, answer.node)
                return AnsweredOtherwise(input=closed[0])
            if answer.digest not in {None, row.digest}:
                return StaleDigest(input=row)
            decided = replace(
                row,
                status=answer.status,
                answered_by=answer.by,
                answered_at=answer.at,
                answer_json=answer.detail_json,
            )
            _write_answer(connection, decided)
            goes_on(connection, workspace, row.call, answer.at, answer.node)
            wake_those_of(connection, [row], answer.at)
            keep_act(connection, workspace, act)
            return Answered(input=decided)

        return await self._database.write(unit)

    async def expire(self, node: str, *, at: int, limit: int) -> tuple[InputRow, ...]:
        """See the port."""
        over = and_(IS_OPEN, inputs.c.expires_at <= at)
        due = picked([inputs.c.workspace, inputs.c.id], over, inputs.c.expires_at, limit)
        return await self._database.write(
            lambda connection: _close(connection, due, "expired", at, node)
        )

    async def withdraw(
        self,
        workspace: str,
        *,
        call: str | None = None,
        session: str | None = None,
        at: int,
        node: str,
    ) -> tuple[InputRow, ...]:
        """See the port."""
        if (call is None) == (session is None):
            msg = "the inputs of one call or of one session are withdrawn"
            raise ValueError(msg)
        which = inputs.c.call == call if call is not None else inputs.c.session == session
        return await self._database.write(
            lambda connection: withdraw(connection, workspace, which, at, node)
        )

    async def connected(
        self, workspace: str, *, app: str, user: str, by: str, at: int, node: str
    ) -> tuple[InputRow, ...]:
        """See the port."""
        its = and_(
            inputs.c.workspace == workspace,
            inputs.c.app == app,
            inputs.c.user == user,
            inputs.c.kind == "connect",
        )
        return await self._database.write(
            lambda connection: _close(connection, its, "answered", at, node, by=by)
        )

    async def next_expiry_at(self) -> int | None:
        """See the port."""
        query = select(func.min(inputs.c.expires_at)).where(IS_OPEN)
        return await self._database.read(lambda connection: connection.scalar(query))

    async def get(self, workspace: str, input_id: str) -> InputRow | None:
        """See the port."""
        query = select(inputs).where(inputs.c.workspace == workspace, inputs.c.id == input_id)
        return await self._database.read(
            lambda connection: one(InputRow, connection.execute(query).mappings())
        )

    async def of_call(self, workspace: str, call: str) -> tuple[InputRow, ...]:
        """See the port."""
        query = select(inputs).where(inputs.c.workspace == workspace, inputs.c.call == call)
        query = query.order_by(inputs.c.created_at, inputs.c.id)
        return await self._database.read(
            lambda connection: many(InputRow, connection.execute(query).mappings())
        )

    async def list(
        self,
        workspace: str,
        which: InputFilter | None = None,
        *,
        limit: int = DEFAULT_LIMIT,
        cursor: str | None = None,
    ) -> Page[InputRow]:
        """See the port."""
        wanted = which or InputFilter()
        query = select(inputs).where(inputs.c.workspace == workspace)
        for name in ("status", "user", "app", "session", "call"):
            value = getattr(wanted, name)
            if value is not None:
                query = query.where(inputs.c[name] == value)
        key = [inputs.c.created_at, inputs.c.id]
        return await self._database.read(
            lambda connection: page(connection, InputRow, query, key, limit=limit, cursor=cursor)
        )


def withdraw(
    connection: Connection, workspace: str, which: ColumnElement[bool], at: int, node: str
) -> tuple[InputRow, ...]:
    """Cancel open inputs; their calls go to ``node``, which ends them."""
    ours = and_(inputs.c.workspace == workspace, IS_OPEN, which)
    return _close(connection, ours, "cancelled", at, node)


def _close(
    connection: Connection,
    which: ColumnElement[bool],
    status: InputStatus,
    at: int,
    node: str,
    *,
    by: str = SYSTEM,
) -> tuple[InputRow, ...]:
    statement = update(inputs).where(which, IS_OPEN).returning(inputs)
    statement = statement.values(status=status, answered_at=at, answered_by=by)
    closed = many(InputRow, connection.execute(statement).mappings())
    for row in closed:
        goes_on(connection, row.workspace, row.call, at, node)
    wake_those_of(connection, closed, at)
    return tuple(sorted(closed, key=lambda row: (row.created_at, row.id)))


def _write_answer(connection: Connection, row: InputRow) -> None:
    connection.execute(
        update(inputs)
        .where(inputs.c.workspace == row.workspace, inputs.c.id == row.id)
        .values(
            status=row.status,
            answered_by=row.answered_by,
            answered_at=row.answered_at,
            answer_json=row.answer_json,
        )
    )


def _same(row: InputRow, answer: InputAnswer) -> bool:
    kept = (row.status, row.answered_by, row.answer_json)
    return kept == (answer.status, answer.by, answer.detail_json)
