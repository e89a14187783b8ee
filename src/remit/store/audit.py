"""The audit: who did what; it is added to and never changed (contract section 10)."""

from __future__ import annotations

from sqlalchemy import select

from remit.gateway.records import AuditEntry, Page
from remit.store.base import Database, Inserts, owned
from remit.store.pages import DEFAULT_LIMIT, page
from remit.store.schema import audit


class Audit:
    """See ``governance.Audit``."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._inserts = Inserts(database, audit)

    async def append(self, workspace: str, entry: AuditEntry) -> bool:
        """See the port."""
        owned(workspace, entry)
        return await self._inserts.put(entry)

    async def list(
        self,
        workspace: str,
        *,
        kind: str | None = None,
        since: int | None = None,
        until: int | None = None,
        limit: int = DEFAULT_LIMIT,
        cursor: str | None = None,
    ) -> Page[AuditEntry]:
        """See the port."""
        query = select(audit).where(audit.c.workspace == workspace)
        if kind is not None:
            query = query.where(audit.c.kind == kind)
        if since is not None:
            query = query.where(audit.c.at >= since)
        if until is not None:
            query = query.where(audit.c.at < until)
        key = [audit.c.at, audit.c.id]
        return await self._database.read(
            lambda connection: page(connection, AuditEntry, query, key, limit=limit, cursor=cursor)
        )
