"""Fetched catalogs: the last good snapshot of each app, and the ones before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import and_, delete, select, update

from remit.gateway.records import CatalogSnapshot, CatalogSource
from remit.store.base import Database, keep_latest, keep_new, many, one, owned
from remit.store.changes import acted, mark
from remit.store.schema import catalog_snapshots as snapshots
from remit.store.schema import catalog_sources as sources

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

    from remit.gateway.records import AuditEntry

# An app whose catalog differs at every fetch must not fill the disk.
KEPT_SNAPSHOTS = 20


class Catalogs:
    """See ``governance.Catalogs``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def source(self, workspace: str, app: str) -> CatalogSource | None:
        """See the port."""
        return await self._database.read(lambda connection: _source(connection, workspace, app))

    async def snapshot(self, workspace: str, app: str, digest: str) -> CatalogSnapshot | None:
        """See the port."""
        query = select(snapshots).where(_of(workspace, app), snapshots.c.digest == digest)
        return await self._database.read(
            lambda connection: one(CatalogSnapshot, connection.execute(query).mappings())
        )

    async def history(self, workspace: str, app: str) -> tuple[CatalogSnapshot, ...]:
        """See the port."""
        query = select(snapshots).where(_of(workspace, app))
        query = query.order_by(snapshots.c.at.desc(), snapshots.c.digest)
        return await self._database.read(
            lambda connection: many(CatalogSnapshot, connection.execute(query).mappings())
        )

    async def keep(
        self, workspace: str, snapshot: CatalogSnapshot, *, etag: str | None,
        last_modified: str | None,
    ) -> CatalogSource:  # fmt: skip
        """See the port."""
        owned(workspace, snapshot)

        def unit(connection: Connection) -> CatalogSource:
            before = _source(connection, workspace, snapshot.app)
            source = CatalogSource(
                workspace=workspace,
                app=snapshot.app,
                digest=snapshot.digest,
                accepted=None if before is None else before.accepted,
                etag=etag,
                last_modified=last_modified,
                checked_at=snapshot.at,
                fetched_at=snapshot.at,
            )
            keep_latest(connection, sources, source)
            if keep_new(connection, snapshots, snapshot):
                _prune(connection, source)
            if before is None or before.digest != source.digest:
                mark(connection, workspace, "catalogs")
            return source

        return await self._database.write(unit)

    async def confirm(self, workspace: str, app: str, *, at: int) -> bool:
        """See the port."""
        statement = (
            update(sources)
            .where(sources.c.workspace == workspace, sources.c.app == app)
            .values(checked_at=at)
        )
        return await self._database.write(
            lambda connection: connection.execute(statement).rowcount == 1
        )

    async def accept(self, workspace: str, app: str, digest: str, *, act: AuditEntry) -> bool:
        """See the port."""

        def unit(connection: Connection) -> bool:
            held = select(snapshots.c.digest).where(
                _of(workspace, app), snapshots.c.digest == digest
            )
            if connection.execute(held).first() is None:
                return False
            connection.execute(
                update(sources)
                .where(sources.c.workspace == workspace, sources.c.app == app)
                .values(accepted=digest)
            )
            acted(connection, workspace, "catalogs", act)
            return True

        return await self._database.write(unit)


def _of(workspace: str, app: str) -> ColumnElement[bool]:
    return and_(snapshots.c.workspace == workspace, snapshots.c.app == app)


def _source(connection: Connection, workspace: str, app: str) -> CatalogSource | None:
    query = select(sources).where(sources.c.workspace == workspace, sources.c.app == app)
    return one(CatalogSource, connection.execute(query).mappings())


def _prune(connection: Connection, source: CatalogSource) -> None:
    newest = (
        select(snapshots.c.digest)
        .where(_of(source.workspace, source.app))
        .order_by(snapshots.c.at.desc(), snapshots.c.digest)
        .limit(KEPT_SNAPSHOTS)
    )
    spared = [source.digest] if source.accepted is None else [source.digest, source.accepted]
    connection.execute(
        delete(snapshots).where(
            _of(source.workspace, source.app),
            snapshots.c.digest.not_in(newest),
            snapshots.c.digest.not_in(spared),
        )
    )
