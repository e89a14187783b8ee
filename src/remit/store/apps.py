"""Apps: what is in force, and suspension (contract section 7, "Life")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import and_, select, update

from remit.gateway.governance import InForce, Suspension
from remit.gateway.records import App, Page, Version
from remit.store.base import Database, made, one
from remit.store.changes import acted
from remit.store.inputs import withdraw
from remit.store.pages import DEFAULT_LIMIT, page
from remit.store.schema import apps, inputs, versions
from remit.store.work import claim_polls_of

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

    from remit.gateway.records import AuditEntry


class Apps:
    """See ``governance.Apps``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, workspace: str, app: str) -> App | None:
        """See the port."""
        return await self._database.read(lambda connection: app_of(connection, workspace, app))

    async def list(
        self, workspace: str, *, limit: int = DEFAULT_LIMIT, cursor: str | None = None
    ) -> Page[App]:
        """See the port."""
        query = select(apps).where(apps.c.workspace == workspace)
        return await self._database.read(
            lambda connection: page(
                connection, App, query, [apps.c.id],
                limit=limit, cursor=cursor, newest_first=False,
            )
        )  # fmt: skip

    async def in_force(self, workspace: str) -> tuple[InForce, ...]:
        """See the port."""

        def query(connection: Connection) -> tuple[InForce, ...]:
            found = connection.execute(select(apps).where(apps.c.workspace == workspace))
            approved = connection.execute(
                select(versions).join(apps, _in_force()).where(versions.c.workspace == workspace)
            )
            by_app = {row["app"]: made(Version, row) for row in approved.mappings()}
            return tuple(
                InForce(app=made(App, row), version=by_app.get(row["id"]))
                for row in found.mappings()
            )

        return await self._database.read(query)

    async def suspend(
        self, workspace: str, app: str, *, reason: str, node: str, act: AuditEntry
    ) -> Suspension | None:
        """See the port."""

        def unit(connection: Connection) -> Suspension | None:
            found = app_of(connection, workspace, app, locked=True)
            if found is None:
                return None
            if found.suspended_at is None:
                found = touched(
                    connection, found,
                    suspended_at=act.at, suspended_by=act.actor, suspended_reason=reason,
                )  # fmt: skip
                acted(connection, workspace, "apps", act)
            return Suspension(
                app=found,
                inputs=withdraw(connection, workspace, inputs.c.app == app, act.at, node),
                polls=claim_polls_of(connection, workspace, app, act.at, node),
            )

        return await self._database.write(unit)

    async def resume(self, workspace: str, app: str, *, act: AuditEntry) -> App | None:
        """See the port."""

        def unit(connection: Connection) -> App | None:
            found = app_of(connection, workspace, app, locked=True)
            if found is None or found.suspended_at is None:
                return found
            acted(connection, workspace, "apps", act)
            return touched(
                connection, found, suspended_at=None, suspended_by=None, suspended_reason=None
            )

        return await self._database.write(unit)


def app_of(connection: Connection, workspace: str, app: str, *, locked: bool = False) -> App | None:
    """One app; ``locked`` holds its row until the commit, so that nothing comes between."""
    query = select(apps).where(apps.c.workspace == workspace, apps.c.id == app)
    if locked:
        query = query.with_for_update()
    return one(App, connection.execute(query).mappings())


def touched(connection: Connection, app: App, **values: object) -> App:
    """The app with its revision counted up, and these columns changed."""
    changed = connection.execute(
        update(apps)
        .where(apps.c.workspace == app.workspace, apps.c.id == app.id)
        .values(revision=apps.c.revision + 1, **values)
        .returning(apps)
    )
    return made(App, changed.mappings().one())


def _in_force() -> ColumnElement[bool]:
    return and_(
        versions.c.workspace == apps.c.workspace,
        versions.c.app == apps.c.id,
        versions.c.number == apps.c.in_force,
    )
