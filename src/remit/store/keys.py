"""Workspaces, and the keys and tokens that open them; a secret is kept as its hash alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import and_, delete, or_, select, update

from remit.gateway.keeping import pins_place
from remit.gateway.records import ApiKey, Page, Workspace
from remit.store.base import Database, keep, keep_new, many, one, owned
from remit.store.changes import acted, keep_act, mark
from remit.store.devices import held, saw
from remit.store.pages import DEFAULT_LIMIT, page
from remit.store.schema import api_keys, workspaces
from remit.store.sealed_rows import sealing

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

    from remit.gateway.records import AuditEntry, Role


class Workspaces:
    """See ``access.Workspaces``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def make(self, workspace: str, *, at: int) -> bool:
        """See the port."""
        row = Workspace(id=workspace, created_at=at)
        return await self._database.write(lambda connection: keep_new(connection, workspaces, row))

    async def all(self) -> tuple[Workspace, ...]:
        """See the port."""
        query = select(workspaces).order_by(workspaces.c.id)
        return await self._database.read(
            lambda connection: many(Workspace, connection.execute(query).mappings())
        )


class Keys:
    """See ``access.Keys``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, workspace: str, key: ApiKey, *, act: AuditEntry) -> bool:
        """See the port."""
        owned(workspace, key)

        def unit(connection: Connection) -> bool:
            if key.device is not None and not held(connection, workspace, key.user, key.device):
                return False
            keep(connection, api_keys, key, **_sealing(key))
            if key.role == "client":
                # Each session makes some, and nobody remembers that a key was not there.
                keep_act(connection, workspace, act)
            else:
                acted(connection, workspace, "keys", act)
            return True

        return await self._database.write(unit)

    async def find(self, secret_hash: str) -> ApiKey | None:
        """See the port."""
        query = select(api_keys).where(api_keys.c.secret_hash == secret_hash)
        return await self._database.read(
            lambda connection: one(ApiKey, connection.execute(query).mappings())
        )

    async def get(self, workspace: str, key: str) -> ApiKey | None:
        """See the port."""
        query = select(api_keys).where(_of(workspace, key))
        return await self._database.read(
            lambda connection: one(ApiKey, connection.execute(query).mappings())
        )

    async def usable(self, workspace: str, *, at: int) -> tuple[ApiKey, ...]:
        """See the port."""
        query = select(api_keys).where(
            api_keys.c.workspace == workspace,
            api_keys.c.revoked_at.is_(None),
            or_(api_keys.c.expires_at.is_(None), api_keys.c.expires_at > at),
        )
        return await self._database.read(
            lambda connection: many(ApiKey, connection.execute(query).mappings())
        )

    async def list(
        self,
        workspace: str,
        *,
        role: Role | None = None,
        limit: int = DEFAULT_LIMIT,
        cursor: str | None = None,
    ) -> Page[ApiKey]:
        """See the port."""
        query = select(api_keys).where(api_keys.c.workspace == workspace)
        if role is not None:
            query = query.where(api_keys.c.role == role)
        key = [api_keys.c.created_at, api_keys.c.id]
        return await self._database.read(
            lambda connection: page(connection, ApiKey, query, key, limit=limit, cursor=cursor)
        )

    async def revoke(self, workspace: str, key: str, *, act: AuditEntry) -> ApiKey | None:
        """See the port."""

        def unit(connection: Connection) -> ApiKey | None:
            revoked = connection.execute(
                update(api_keys)
                .where(_of(workspace, key), api_keys.c.revoked_at.is_(None))
                .values(revoked_at=act.at)
            )
            if revoked.rowcount:
                acted(connection, workspace, "keys", act)
            query = select(api_keys).where(_of(workspace, key))
            return one(ApiKey, connection.execute(query).mappings())

        return await self._database.write(unit)

    async def forget(self, workspace: str, session: str) -> int:
        """See the port."""
        return await self._database.write(
            lambda connection: forget_tokens(connection, workspace, session)
        )

    async def used(self, workspace: str, key: str, *, at: int) -> None:
        """See the port."""
        later = or_(api_keys.c.last_used_at.is_(None), api_keys.c.last_used_at < at)
        statement = update(api_keys).where(_of(workspace, key), later).values(last_used_at=at)
        used = statement.returning(api_keys.c.user, api_keys.c.device)

        def unit(connection: Connection) -> None:
            row = connection.execute(used).first()
            if row is not None and row.device is not None:
                saw(connection, workspace, row.user, row.device, at)

        await self._database.write(unit)


def forget_tokens(connection: Connection, workspace: str, session: str) -> int:
    """Delete the tokens of a session's clients; says how many."""
    its = delete(api_keys).where(api_keys.c.workspace == workspace, api_keys.c.session == session)
    count = connection.execute(its).rowcount
    if count:
        mark(connection, workspace, "keys")
    return count


def _sealing(key: ApiKey) -> dict[str, str | None]:
    """The columns beside the sealed pins; empty where a key has none."""
    if key.sealed is None:
        return {"sealed_by": None, "row_id": None}
    return {**sealing(pins_place(key.workspace, key.user or "", key.id), key.sealed)}


def _of(workspace: str, key: str) -> ColumnElement[bool]:
    return and_(api_keys.c.workspace == workspace, api_keys.c.id == key)
