"""Versions of a definition and their edits (contract section 7, "Life")."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlalchemy import func, select, update

from remit.gateway.records import App, Edit, Page, Stale, Undecidable, Version
from remit.store.apps import app_of, touched
from remit.store.base import Database, keep, keep_new, made, many, one, owned
from remit.store.changes import acted
from remit.store.pages import DEFAULT_LIMIT, page
from remit.store.schema import apps, edits, versions

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from remit.gateway.governance import Decision
    from remit.gateway.records import AuditEntry, VersionStatus


class Versions:
    """See ``governance.Versions``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def submit(
        self,
        workspace: str,
        draft: Version,
        *,
        installation: str,
        act: AuditEntry,
        if_revision: int | None = None,
    ) -> Version | Stale:
        """See the port."""
        owned(workspace, draft)

        def unit(connection: Connection) -> Version | Stale:
            if if_revision in {None, 0}:
                keep_new(connection, apps, _first(draft, installation))
            app = app_of(connection, workspace, draft.app, locked=True)
            if app is None or if_revision not in {None, app.revision}:
                return Stale(revision=0 if app is None else app.revision)
            acted(connection, workspace, "apps", act)
            return _submitted(connection, app, draft)

        return await self._database.write(unit)

    async def edit(
        self, workspace: str, edit: Edit, *, act: AuditEntry, if_revision: int
    ) -> Version | Stale | None:
        """See the port."""
        owned(workspace, edit)

        def unit(connection: Connection) -> Version | Stale | None:
            app = app_of(connection, workspace, edit.app, locked=True)
            version = _version(connection, workspace, edit.app, edit.version)
            if app is None or version is None:
                return None
            if app.revision != if_revision:
                return Stale(revision=app.revision)
            keep(connection, edits, replace(edit, number=version.edit + 1))
            touched(connection, app)
            acted(connection, workspace, "apps", act)
            return _changed(
                connection, version,
                edit=version.edit + 1,
                definition_json=edit.definition_json,
                remit_digest=edit.remit_digest,
            )  # fmt: skip

        return await self._database.write(unit)

    async def approve(
        self, workspace: str, app: str, number: int, decision: Decision, *, act: AuditEntry
    ) -> Version | Undecidable | None:
        """See the port."""

        def unit(connection: Connection) -> Version | Undecidable | None:
            found = app_of(connection, workspace, app, locked=True)
            version = _version(connection, workspace, app, number)
            if found is None or version is None:
                return None
            if version.status != "submitted":
                return Undecidable(version=version)
            _supersede(connection, found, "approved")
            touched(connection, found, in_force=number)
            acted(connection, workspace, "apps", act)
            return _decided(connection, version, "approved", decision)

        return await self._database.write(unit)

    async def reject(
        self, workspace: str, app: str, number: int, decision: Decision, *, act: AuditEntry
    ) -> Version | Undecidable | None:
        """See the port."""

        def unit(connection: Connection) -> Version | Undecidable | None:
            found = app_of(connection, workspace, app, locked=True)
            version = _version(connection, workspace, app, number)
            if found is None or version is None:
                return None
            if version.status != "submitted":
                return Undecidable(version=version)
            touched(connection, found)
            acted(connection, workspace, "apps", act)
            return _decided(connection, version, "rejected", decision)

        return await self._database.write(unit)

    async def get(self, workspace: str, app: str, number: int) -> Version | None:
        """See the port."""
        return await self._database.read(
            lambda connection: _version(connection, workspace, app, number)
        )

    async def list(
        self, workspace: str, app: str, *, limit: int = DEFAULT_LIMIT, cursor: str | None = None
    ) -> Page[Version]:
        """See the port."""
        query = select(versions).where(versions.c.workspace == workspace, versions.c.app == app)
        return await self._database.read(
            lambda connection: page(
                connection, Version, query, [versions.c.number], limit=limit, cursor=cursor
            )
        )

    async def edits(self, workspace: str, app: str, number: int) -> tuple[Edit, ...]:
        """See the port."""
        query = (
            select(edits)
            .where(edits.c.workspace == workspace, edits.c.app == app, edits.c.version == number)
            .order_by(edits.c.number)
        )
        return await self._database.read(
            lambda connection: many(Edit, connection.execute(query).mappings())
        )


def _first(draft: Version, installation: str) -> App:
    return App(
        workspace=draft.workspace,
        id=draft.app,
        installation=installation,
        created_at=draft.submitted_at,
        revision=0,
    )


def _submitted(connection: Connection, app: App, draft: Version) -> Version:
    """The draft as the next version; what waited for a decision until now no longer does."""
    _supersede(connection, app, "submitted")
    highest = connection.scalar(
        select(func.max(versions.c.number)).where(
            versions.c.workspace == app.workspace, versions.c.app == app.id
        )
    )
    version = replace(draft, number=(highest or 0) + 1, edit=0, status="submitted")
    keep(connection, versions, version)
    original = Edit(
        workspace=app.workspace,
        app=app.id,
        version=version.number,
        number=0,
        definition_json=version.definition_json,
        remit_digest=version.remit_digest,
        diff_json="null",
        at=version.submitted_at,
        by=version.submitted_by,
    )
    keep(connection, edits, original)
    touched(connection, app)
    return version


def _supersede(connection: Connection, app: App, status: VersionStatus) -> None:
    connection.execute(
        update(versions)
        .where(
            versions.c.workspace == app.workspace,
            versions.c.app == app.id,
            versions.c.status == status,
        )
        .values(status="superseded")
    )


def _decided(
    connection: Connection, version: Version, status: VersionStatus, decision: Decision
) -> Version:
    return _changed(
        connection, version,
        status=status,
        ceiling=decision.ceiling,
        consent=decision.consent,
        decided_at=decision.at,
        decided_by=decision.by,
        reason=decision.reason,
    )  # fmt: skip


def _version(connection: Connection, workspace: str, app: str, number: int) -> Version | None:
    query = select(versions).where(
        versions.c.workspace == workspace, versions.c.app == app, versions.c.number == number
    )
    return one(Version, connection.execute(query).mappings())


def _changed(connection: Connection, version: Version, **values: object) -> Version:
    rows = connection.execute(
        update(versions)
        .where(
            versions.c.workspace == version.workspace,
            versions.c.app == version.app,
            versions.c.number == version.number,
        )
        .values(**values)
        .returning(versions)
    )
    return made(Version, rows.mappings().one())
