"""Everything sealed that is stored, for the rotation of data keys (``keeping.SealedRows``)."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from sqlalchemy import and_, select, update

from remit.gateway.keeping import (
    SealedRow,
    connection_place,
    env_place,
    pins_place,
    session_place,
    signing_place,
)
from remit.store.schema import api_keys, connections, env_values, sessions, signing_keys

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import ColumnElement, Connection, Table
    from sqlalchemy.engine import RowMapping

    from remit.gateway.keeping import Place, Sealed
    from remit.store.base import Database


def _connection_place(row: RowMapping) -> Place:
    return connection_place(row["workspace"], row["app"], row["user"], row["id"])


def _env_place(row: RowMapping) -> Place:
    return env_place(
        row["workspace"], row["app"], row["collection"], row["environment"], row["name"]
    )


def _pins_place(row: RowMapping) -> Place:
    return pins_place(row["workspace"], row["user"], row["id"])


def _session_place(row: RowMapping) -> Place:
    return session_place(row["workspace"], row["user"], row["id"])


def _signing_place(row: RowMapping) -> Place:
    return signing_place(row["kid"])


_TABLES: tuple[tuple[Table, Callable[[RowMapping], Place]], ...] = (
    (connections, _connection_place),
    (env_values, _env_place),
    (api_keys, _pins_place),
    (sessions, _session_place),
    (signing_keys, _signing_place),
)


def sealing(place: Place, sealed: Sealed) -> dict[str, str]:
    """The columns that a sealed value has besides itself.

    ``row_id`` orders the rows of all these tables; it stays the same as long as the place does.
    """
    where = [place.workspace, place.app, place.user, *place.field]
    digest = hashlib.sha256(json.dumps(where).encode()).hexdigest()
    return {"sealed_by": sealed.key_id, "row_id": digest}


class SealedRows:
    """See ``keeping.SealedRows``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def under_other(
        self, workspace: str, key_id: str, *, after: str, limit: int
    ) -> tuple[SealedRow, ...]:
        """See the port."""

        def query(connection: Connection) -> tuple[SealedRow, ...]:
            found: list[SealedRow] = []
            for table, place in _TABLES:
                rows = connection.execute(
                    select(table)
                    .where(
                        table.c.workspace == workspace,
                        table.c.sealed_by != key_id,
                        table.c.row_id > after,
                    )
                    .order_by(table.c.row_id)
                    .limit(limit)
                )
                found += [
                    SealedRow(id=row["row_id"], place=place(row), sealed=row["sealed"])
                    for row in rows.mappings()
                ]
            return tuple(sorted(found, key=lambda row: row.id)[:limit])

        return await self._database.read(query)

    async def replace(self, row: SealedRow, sealed: Sealed) -> bool:
        """See the port."""
        table, where = _where(row.place)
        statement = (
            update(table)
            .where(where, table.c.sealed == row.sealed)
            .values(sealed=sealed, sealed_by=sealed.key_id)
        )
        return await self._database.write(
            lambda connection: connection.execute(statement).rowcount == 1
        )


def _where(place: Place) -> tuple[Table, ColumnElement[bool]]:
    """The row that a place stands for.

    Raises:
        ValueError: no row of ours is sealed for such a place.
    """
    match place.field:
        case ("connection", connection_id):
            its = {"app": place.app, "user": place.user, "id": connection_id}
            table = connections
        case ("env", collection, environment, name):
            its = {
                "app": place.app,
                "collection": collection,
                "environment": environment,
                "name": name,
            }
            table = env_values
        case ("pins", token_id):
            its = {"id": token_id, "user": place.user}
            table = api_keys
        case ("session", session):
            its = {"id": session, "user": place.user}
            table = sessions
        case ("signing", kid):
            its = {"kid": kid}
            table = signing_keys
        case _:
            msg = f"nothing is stored for a place of kind {place.field[:1]}"
            raise ValueError(msg)
    ours = [table.c[name] == value for name, value in its.items()]
    return table, and_(table.c.workspace == place.workspace, *ours)
