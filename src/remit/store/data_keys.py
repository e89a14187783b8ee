"""Wrapped data keys of the vault (``keeping.DataKeys``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, select, update

from remit.gateway.keeping import DataKey
from remit.store.base import Database, keep_new, many, one
from remit.store.schema import data_keys

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Select


class DataKeys:
    """See ``keeping.DataKeys``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def current(self, workspace: str) -> DataKey | None:
        """See the port."""
        return await self._found(_keys_of(workspace).order_by(data_keys.c.number.desc()).limit(1))

    async def first(self, workspace: str) -> DataKey | None:
        """See the port."""
        return await self._found(_keys_of(workspace).order_by(data_keys.c.number).limit(1))

    async def get(self, workspace: str, key_id: str) -> DataKey | None:
        """See the port."""
        return await self._found(select(data_keys).where(_of(workspace, key_id)))

    async def add(self, key: DataKey, *, after: str | None) -> bool:
        """See the port."""
        newest = (
            select(data_keys.c.id, data_keys.c.number)
            .where(data_keys.c.workspace == key.workspace)
            .order_by(data_keys.c.number.desc())
            .limit(1)
        )

        def unit(connection: Connection) -> bool:
            row = connection.execute(newest).one_or_none()
            if after != (None if row is None else row.id):
                return False
            # Two nodes take the same number, and one of them is faster.
            return keep_new(connection, data_keys, key, number=1 if row is None else row.number + 1)

        return await self._database.write(unit)

    async def reserve(self, workspace: str, key_id: str, *, uses: int, limit: int) -> bool:
        """See the port."""
        statement = (
            update(data_keys)
            .where(_of(workspace, key_id), data_keys.c.uses + uses <= limit)
            .values(uses=data_keys.c.uses + uses)
        )
        return await self._database.write(
            lambda connection: connection.execute(statement).rowcount == 1
        )

    async def rewrap(self, key: DataKey, *, master: str, wrapped: str) -> bool:
        """See the port."""
        statement = (
            update(data_keys)
            .where(_of(key.workspace, key.id), data_keys.c.wrapped == key.wrapped)
            .values(master=master, wrapped=wrapped)
        )
        return await self._database.write(
            lambda connection: connection.execute(statement).rowcount == 1
        )

    async def under_other(self, master: str, *, after: str, limit: int) -> tuple[DataKey, ...]:
        """See the port."""
        query = select(data_keys).where(data_keys.c.master != master, data_keys.c.id > after)
        query = query.order_by(data_keys.c.id).limit(limit)
        return await self._database.read(
            lambda connection: many(DataKey, connection.execute(query).mappings())
        )

    async def masters(self) -> frozenset[str]:
        """See the port."""
        query = select(data_keys.c.master).distinct()
        return await self._database.read(
            lambda connection: frozenset(connection.scalars(query).all())
        )

    async def workspaces(self) -> tuple[str, ...]:
        """See the port."""
        query = select(data_keys.c.workspace).distinct().order_by(data_keys.c.workspace)
        return await self._database.read(lambda connection: tuple(connection.scalars(query).all()))

    async def _found(self, query: Select[Any]) -> DataKey | None:
        return await self._database.read(
            lambda connection: one(DataKey, connection.execute(query).mappings())
        )


def _keys_of(workspace: str) -> Select[Any]:
    return select(data_keys).where(data_keys.c.workspace == workspace)


def _of(workspace: str, key_id: str) -> ColumnElement[bool]:
    return and_(data_keys.c.workspace == workspace, data_keys.c.id == key_id)
