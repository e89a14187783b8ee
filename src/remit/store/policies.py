"""Policies: every version is kept, the newest is in force (contract section 18)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from remit.gateway.records import Page, PolicyVersion, Stale
from remit.store.base import Database, keep_new, one
from remit.store.changes import acted
from remit.store.pages import DEFAULT_LIMIT, page
from remit.store.schema import policies

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from remit.gateway.records import AuditEntry


class Policies:
    """See ``governance.Policies``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def current(self, workspace: str) -> PolicyVersion | None:
        """See the port."""
        return await self._database.read(lambda connection: _newest(connection, workspace))

    async def put(
        self, workspace: str, document_json: str, *, if_number: int, act: AuditEntry
    ) -> PolicyVersion | Stale:
        """See the port."""

        def unit(connection: Connection) -> PolicyVersion | Stale:
            before = _newest(connection, workspace)
            number = 0 if before is None else before.number
            version = PolicyVersion(
                workspace=workspace,
                number=number + 1,
                document_json=document_json,
                at=act.at,
                by=act.actor,
            )
            if number != if_number:
                return Stale(revision=number)
            if not keep_new(connection, policies, version):
                # Another node put the same number in meanwhile.
                return Stale(revision=number + 1)
            acted(connection, workspace, "policy", act)
            return version

        return await self._database.write(unit)

    async def get(self, workspace: str, number: int) -> PolicyVersion | None:
        """See the port."""
        query = select(policies).where(
            policies.c.workspace == workspace, policies.c.number == number
        )
        return await self._database.read(
            lambda connection: one(PolicyVersion, connection.execute(query).mappings())
        )

    async def list(
        self, workspace: str, *, limit: int = DEFAULT_LIMIT, cursor: str | None = None
    ) -> Page[PolicyVersion]:
        """See the port."""
        query = select(policies).where(policies.c.workspace == workspace)
        key = [policies.c.number]
        return await self._database.read(
            lambda connection: page(
                connection, PolicyVersion, query, key, limit=limit, cursor=cursor
            )
        )


def _newest(connection: Connection, workspace: str) -> PolicyVersion | None:
    query = select(policies).where(policies.c.workspace == workspace)
    query = query.order_by(policies.c.number.desc()).limit(1)
    return one(PolicyVersion, connection.execute(query).mappings())
