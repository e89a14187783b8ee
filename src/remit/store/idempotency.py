"""Answers kept for requests that may be repeated (contract section 10, ``Idempotency-Key``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import and_, delete, select, update

from remit.gateway.ledger import Fresh, InProgress, Mismatch, Replay, StoredAnswer
from remit.store.base import Database, Inserts, keep_new
from remit.store.prepared import update_of
from remit.store.schema import stored_answers
from remit.store.work import alive

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection
    from sqlalchemy.engine import RowMapping

    from remit.gateway.ledger import RequestKey
    from remit.gateway.recording import Beginning

KEPT_MS = 24 * 3_600_000
_FINISH_VALUES = {"status": "to_status", "headers_json": "to_headers", "body": "to_body"}
_FINISH_WHERE = {
    "workspace": "in_workspace",
    "key_id": "of_key_id",
    "route": "of_route",
    "key": "of_key",
    "node": "of_node",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    workspace: str
    key_id: str
    route: str
    key: str
    body_digest: str
    reference: str
    node: str
    started_at: int
    expires_at: int
    status: int | None = None
    headers_json: str | None = None
    body: str | None = None


class Idempotency:
    """See ``recording.Idempotency``."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._inserts = Inserts(database, stored_answers)
        self._finish = update_of(
            stored_answers,
            where=_FINISH_WHERE,
            values=_FINISH_VALUES,
            null=("status",),
            dialect=database.engine.dialect,
        )

    async def begin(
        self,
        workspace: str,
        request: RequestKey,
        *,
        body_digest: str,
        reference: str,
        node: str,
        at: int,
    ) -> Beginning:
        """See the port."""
        mine = _Row(
            workspace=workspace,
            key_id=request.key_id,
            route=request.route,
            key=request.key,
            body_digest=body_digest,
            reference=reference,
            node=node,
            started_at=at,
            expires_at=at + KEPT_MS,
        )
        # Most requests are no repeats.
        if await self._inserts.put(mine):
            return Fresh()
        ours = _of(workspace, request)

        def unit(connection: Connection) -> Beginning:
            connection.execute(
                delete(stored_answers).where(ours, stored_answers.c.expires_at <= at)
            )
            if keep_new(connection, stored_answers, mine):
                return Fresh()
            query = select(stored_answers, alive(stored_answers.c.node, at).label("alive")).where(
                ours
            )
            row = connection.execute(query).mappings().one()
            return _judged(row, body_digest, node)

        return await self._database.write(unit)

    async def finish(
        self, workspace: str, request: RequestKey, answer: StoredAnswer, *, node: str
    ) -> bool:
        """See the port."""
        # In the order of ``_FINISH_VALUES``, then of ``_FINISH_WHERE``.
        kept = (answer.status, answer.headers_json, answer.body)
        its = (workspace, request.key_id, request.route, request.key, node)
        return await self._database.writer.change(self._finish, (*kept, *its))

    async def forget(self, workspace: str, request: RequestKey, *, node: str) -> bool:
        """See the port."""
        statement = delete(stored_answers).where(
            _running(workspace, request), stored_answers.c.node == node
        )
        return await self._database.write(
            lambda connection: connection.execute(statement).rowcount == 1
        )

    async def take_over(self, workspace: str, request: RequestKey, *, node: str, at: int) -> bool:
        """See the port."""
        running = _running(workspace, request)
        query = select(stored_answers.c.node).where(
            running, stored_answers.c.node != node, ~alive(stored_answers.c.node, at)
        )

        def unit(connection: Connection) -> bool:
            dead = connection.scalar(query)
            # Another node may take it at this moment: then it is not the dead one's any more.
            taking = update(stored_answers).where(running, stored_answers.c.node == dead)
            return connection.execute(taking.values(node=node)).rowcount == 1

        return await self._database.write(unit)


def _judged(row: RowMapping, body_digest: str, node: str) -> Beginning:
    if row["body_digest"] != body_digest:
        return Mismatch()
    if row["status"] is None:
        abandoned = row["node"] != node and not row["alive"]
        return InProgress(reference=row["reference"], abandoned=abandoned)
    return Replay(
        answer=StoredAnswer(
            status=row["status"], headers_json=row["headers_json"], body=row["body"]
        )
    )


def _of(workspace: str, request: RequestKey) -> ColumnElement[bool]:
    return and_(
        stored_answers.c.workspace == workspace,
        stored_answers.c.key_id == request.key_id,
        stored_answers.c.route == request.route,
        stored_answers.c.key == request.key,
    )


def _running(workspace: str, request: RequestKey) -> ColumnElement[bool]:
    return and_(_of(workspace, request), stored_answers.c.status.is_(None))
