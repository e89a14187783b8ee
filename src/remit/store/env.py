"""Environment values of apps, sealed (contract section 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import and_, delete, select

from remit.gateway.keeping import env_place
from remit.gateway.records import EnvValue
from remit.store.base import Database, keep_latest, many
from remit.store.changes import acted
from remit.store.schema import env_values
from remit.store.sealed_rows import sealing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import ColumnElement, Connection

    from remit.gateway.keeping import Sealed
    from remit.gateway.records import AuditEntry


class EnvValues:
    """See ``access.EnvValues``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(
        self,
        workspace: str,
        app: str,
        collection: str,
        environment: str,
        values: Mapping[str, Sealed | None],
        *,
        act: AuditEntry,
    ) -> None:
        """See the port."""
        gone = [name for name, sealed in values.items() if sealed is None]
        kept = [
            EnvValue(
                workspace=workspace,
                app=app,
                collection=collection,
                environment=environment,
                name=name,
                sealed=sealed,
                updated_at=act.at,
                updated_by=act.actor,
            )
            for name, sealed in values.items()
            if sealed is not None
        ]

        def unit(connection: Connection) -> None:
            for value in kept:
                place = env_place(workspace, app, collection, environment, value.name)
                keep_latest(connection, env_values, value, **sealing(place, value.sealed))
            connection.execute(
                delete(env_values).where(
                    _of(workspace, app, collection, environment), env_values.c.name.in_(gone)
                )
            )
            acted(connection, workspace, "env", act)

        await self._database.write(unit)

    async def get(
        self, workspace: str, app: str, collection: str, environment: str
    ) -> tuple[EnvValue, ...]:
        """See the port."""
        query = select(env_values).where(_of(workspace, app, collection, environment))
        query = query.order_by(env_values.c.name)
        return await self._database.read(
            lambda connection: many(EnvValue, connection.execute(query).mappings())
        )


def _of(workspace: str, app: str, collection: str, environment: str) -> ColumnElement[bool]:
    return and_(
        env_values.c.workspace == workspace,
        env_values.c.app == app,
        env_values.c.collection == collection,
        env_values.c.environment == environment,
    )
