"""Devices of users, and what dies with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import and_, delete, or_, select, update

from remit.gateway.devices import DeviceRow
from remit.store.base import Database, keep_new, many, one, owned
from remit.store.changes import acted, keep_act
from remit.store.pages import DEFAULT_LIMIT, page
from remit.store.schema import api_keys, devices

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

    from remit.gateway.records import AuditEntry, Page


class Devices:
    """See ``devices.Devices``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, workspace: str, row: DeviceRow, *, act: AuditEntry) -> DeviceRow:
        """See the port."""
        owned(workspace, row)
        renaming = (
            update(devices)
            .where(_of(workspace, row.id), devices.c.user == row.user, devices.c.name != row.name)
            .values(name=row.name)
        )
        reading = select(devices).where(_of(workspace, row.id))

        def unit(connection: Connection) -> DeviceRow:
            if keep_new(connection, devices, row) or connection.execute(renaming).rowcount:
                keep_act(connection, workspace, act)
            found = one(DeviceRow, connection.execute(reading).mappings())
            # Another node has deleted it in between.
            return found or unit(connection)

        return await self._database.write(unit)

    async def get(self, workspace: str, device: str) -> DeviceRow | None:
        """See the port."""
        query = select(devices).where(_of(workspace, device))
        return await self._database.read(
            lambda connection: one(DeviceRow, connection.execute(query).mappings())
        )

    async def of_user(self, workspace: str, user: str) -> tuple[DeviceRow, ...]:
        """See the port."""
        query = (
            select(devices)
            .where(devices.c.workspace == workspace, devices.c.user == user)
            .order_by(devices.c.created_at, devices.c.id)
        )
        return await self._database.read(
            lambda connection: many(DeviceRow, connection.execute(query).mappings())
        )

    async def list(
        self,
        workspace: str,
        *,
        user: str | None = None,
        limit: int = DEFAULT_LIMIT,
        cursor: str | None = None,
    ) -> Page[DeviceRow]:
        """See the port."""
        query = select(devices).where(devices.c.workspace == workspace)
        if user is not None:
            query = query.where(devices.c.user == user)
        key = [devices.c.created_at, devices.c.id]
        return await self._database.read(
            lambda connection: page(connection, DeviceRow, query, key, limit=limit, cursor=cursor)
        )

    async def remove(self, workspace: str, device: str, *, act: AuditEntry) -> bool:
        """See the port."""
        its_tokens = update(api_keys).where(
            api_keys.c.workspace == workspace,
            api_keys.c.device == device,
            api_keys.c.revoked_at.is_(None),
        )

        def unit(connection: Connection) -> bool:
            # First the device: whoever makes a token for it holds its row until that is kept.
            if connection.execute(delete(devices).where(_of(workspace, device))).rowcount == 0:
                return False
            if connection.execute(its_tokens.values(revoked_at=act.at)).rowcount:
                acted(connection, workspace, "keys", act)
            else:
                keep_act(connection, workspace, act)
            return True

        return await self._database.write(unit)


def held(connection: Connection, workspace: str, user: str | None, device: str) -> bool:
    """Whether the user has the device; it stays until the transaction is over."""
    its = select(devices.c.id).where(_of(workspace, device), devices.c.user == user)
    locked = its.with_for_update(read=True, key_share=True)
    return connection.execute(locked).first() is not None


def saw(connection: Connection, workspace: str, user: str | None, device: str, at: int) -> None:
    """Note that a client on the device sent something."""
    later = or_(devices.c.seen_at.is_(None), devices.c.seen_at < at)
    its = update(devices).where(_of(workspace, device), devices.c.user == user, later)
    connection.execute(its.values(seen_at=at))


def _of(workspace: str, device: str) -> ColumnElement[bool]:
    return and_(devices.c.workspace == workspace, devices.c.id == device)
