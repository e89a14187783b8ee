"""Connections: users' credentials, sealed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlalchemy import and_, delete, select, update

from remit.gateway.keeping import connection_place
from remit.gateway.records import Connection as Row
from remit.gateway.records import Page
from remit.store.base import Database, keep_latest, one, owned
from remit.store.changes import acted, mark
from remit.store.pages import DEFAULT_LIMIT, page
from remit.store.schema import connections
from remit.store.sealed_rows import sealing

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

    from remit.gateway.keeping import Sealed
    from remit.gateway.records import AuditEntry


class Connections:
    """See ``access.Connections``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, workspace: str, row: Row, *, act: AuditEntry) -> Row:
        """See the port."""
        owned(workspace, row)

        def unit(connection: Connection) -> Row:
            before = _find(connection, workspace, row.app, row.user, locked=True)
            kept = row if before is None else replace(row, revision=before.revision + 1)
            place = connection_place(workspace, row.app, row.user, row.id)
            keep_latest(connection, connections, kept, **sealing(place, kept.sealed))
            acted(connection, workspace, "connections", act)
            return kept

        return await self._database.write(unit)

    async def refresh(
        self,
        workspace: str,
        app: str,
        user: str,
        *,
        revision: int,
        sealed: Sealed,
        expires_at: int | None,
        at: int,
    ) -> bool:
        """See the port."""
        statement = (
            update(connections)
            .where(_of(workspace, app, user), connections.c.revision == revision)
            .values(
                sealed=sealed,
                sealed_by=sealed.key_id,
                expires_at=expires_at,
                updated_at=at,
                revision=revision + 1,
            )
        )

        def unit(connection: Connection) -> bool:
            if connection.execute(statement).rowcount == 0:
                return False
            mark(connection, workspace, "connections")
            return True

        return await self._database.write(unit)

    async def delete(self, workspace: str, app: str, user: str, *, act: AuditEntry) -> bool:
        """See the port."""
        statement = delete(connections).where(_of(workspace, app, user))

        def unit(connection: Connection) -> bool:
            if connection.execute(statement).rowcount == 0:
                return False
            acted(connection, workspace, "connections", act)
            return True

        return await self._database.write(unit)

    async def get(self, workspace: str, app: str, user: str) -> Row | None:
        """See the port."""
        return await self._database.read(lambda connection: _find(connection, workspace, app, user))

    async def list(
        self,
        workspace: str,
        *,
        user: str | None = None,
        limit: int = DEFAULT_LIMIT,
        cursor: str | None = None,
    ) -> Page[Row]:
        """See the port."""
        query = select(connections).where(connections.c.workspace == workspace)
        if user is not None:
            query = query.where(connections.c.user == user)
        key = [connections.c.app, connections.c.user]
        return await self._database.read(
            lambda connection: page(
                connection, Row, query, key, limit=limit, cursor=cursor, newest_first=False
            )
        )


def _of(workspace: str, app: str, user: str) -> ColumnElement[bool]:
    return and_(
        connections.c.workspace == workspace, connections.c.app == app, connections.c.user == user
    )


def _find(
    connection: Connection, workspace: str, app: str, user: str, *, locked: bool = False
) -> Row | None:
    query = select(connections).where(_of(workspace, app, user))
    if locked:
        query = query.with_for_update()
    return one(Row, connection.execute(query).mappings())
