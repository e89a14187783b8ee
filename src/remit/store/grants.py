"""Grants: a user's consent to one version of an app."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select, update

from remit.gateway.records import Grant, Page
from remit.store.base import Database, keep_new, made, one, owned
from remit.store.changes import acted
from remit.store.pages import DEFAULT_LIMIT, page
from remit.store.schema import grants

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select

    from remit.gateway.records import AuditEntry


class Grants:
    """See ``governance.Grants``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def give(self, workspace: str, grant: Grant, *, act: AuditEntry) -> Grant:
        """See the port."""
        owned(workspace, grant)

        def unit(connection: Connection) -> Grant:
            if keep_new(connection, grants, grant):
                acted(connection, workspace, "grants", act)
                return grant
            query = _alive(workspace, grant.app, grant.user)
            query = query.where(grants.c.version == grant.version)
            return made(Grant, connection.execute(query).mappings().one())

        return await self._database.write(unit)

    async def revoke(self, workspace: str, grant: str, *, act: AuditEntry) -> Grant | None:
        """See the port."""

        def unit(connection: Connection) -> Grant | None:
            ours = (grants.c.workspace == workspace, grants.c.id == grant)
            revoked = connection.execute(
                update(grants)
                .where(*ours, grants.c.revoked_at.is_(None))
                .values(revoked_at=act.at, revoked_by=act.actor)
                .returning(grants)
            )
            found = one(Grant, revoked.mappings())
            if found is not None:
                acted(connection, workspace, "grants", act)
                return found
            return one(Grant, connection.execute(select(grants).where(*ours)).mappings())

        return await self._database.write(unit)

    async def alive(self, workspace: str, app: str, user: str) -> Grant | None:
        """See the port."""
        query = _alive(workspace, app, user).order_by(grants.c.version.desc()).limit(1)
        return await self._database.read(
            lambda connection: one(Grant, connection.execute(query).mappings())
        )

    async def list(
        self,
        workspace: str,
        *,
        app: str | None = None,
        user: str | None = None,
        limit: int = DEFAULT_LIMIT,
        cursor: str | None = None,
    ) -> Page[Grant]:
        """See the port."""
        query = select(grants).where(grants.c.workspace == workspace)
        if app is not None:
            query = query.where(grants.c.app == app)
        if user is not None:
            query = query.where(grants.c.user == user)
        key = [grants.c.at, grants.c.id]
        return await self._database.read(
            lambda connection: page(connection, Grant, query, key, limit=limit, cursor=cursor)
        )


def _alive(workspace: str, app: str, user: str) -> Select[tuple[object, ...]]:
    return select(grants).where(
        grants.c.workspace == workspace,
        grants.c.app == app,
        grants.c.user == user,
        grants.c.revoked_at.is_(None),
    )
