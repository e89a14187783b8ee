"""The catalog of an app on a server: fetched when it is old, kept, compiled once (section 7).

One fetch of an app is in flight at a time, and those that need it wait for it, 2 s at most. A
fetch that failed is tried again when the next one would be due, so that an app which does not
answer costs one wait in that time.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from remit.gateway.catalogs import Snapshot, Source, fetch_snapshot, no_catalog, tools_of
from remit.gateway.snapshots import Made, compiled, snapshot_digest, snapshot_of

if TYPE_CHECKING:
    from remit.catalog.model import Definition
    from remit.gateway.acting import Books
    from remit.gateway.ports import Egress
    from remit.gateway.records import CatalogSnapshot, CatalogSource
    from remit.gateway.remembering import Memory
    from remit.gateway.snapshots import Compiled
    from remit.policy.catalogs import CatalogMode, EffectiveCatalog

REFRESH_MS = 60_000
_Key: TypeAlias = "tuple[Definition, CatalogMode, str | None, str | None]"


class Current(Struct, frozen=True, kw_only=True):
    """The catalog of an app as it is used now.

    Attributes:
        digest: SHA-256 of the effective tools, in hex: equal catalogs have equal ones.
        source: ``fresh`` or ``unchanged`` after a good fetch, ``stale`` from the last good
            snapshot or a frozen one, ``static`` from the definition alone.
        age_s: since the app last confirmed it, in seconds; None for ``static``.
        fault: why the last fetch failed, in words, or None.
        waited: the app was asked for it, or something else took its time.
    """

    catalog: EffectiveCatalog
    digest: str
    source: Source
    age_s: int | None
    fault: str | None
    waited: bool


class _App:
    """What is remembered of one app between its calls: the last fetch, the last compilation."""

    def __init__(self) -> None:
        self.fetching = asyncio.Lock()
        self.url: str | None = None
        self.tried_ms: int | None = None
        self.digest: str | None = None
        self.checked_at = 0
        self.how: Source = "stale"
        self.fault: str | None = None
        self.compiling = asyncio.Lock()
        self.key: _Key | None = None
        self.compiled: Compiled | None = None

    def forget(self, url: str) -> None:
        """Begin anew with another address."""
        self.url, self.tried_ms, self.digest, self.fault = url, None, None, None

    def made_of(self, key: _Key) -> bool:
        """Whether the last compilation was made from these."""
        return self.key is not None and self.key[0] is key[0] and self.key[1:] == key[1:]


class Refresher:
    """Keeps the catalogs of all apps current.

    Args:
        books: where snapshots are kept, and the time.
        memory: of this node.
        egress: the way out; a fetch carries no credential.
        brand: the brand setting.
        refresh_ms: how old a copy may be before it is fetched again.
    """

    def __init__(
        self,
        books: Books,
        memory: Memory,
        egress: Egress,
        *,
        brand: str = "Remit",
        refresh_ms: int = REFRESH_MS,
    ) -> None:
        self._books = books
        self._memory = memory
        self._egress = egress
        self._brand = brand
        self._refresh_ms = refresh_ms
        self._apps: dict[tuple[str, str], _App] = {}

    async def current(
        self, workspace: str, definition: Definition, mode: CatalogMode, *, now: bool = False
    ) -> Current:
        """The catalog to use now, fetched where the copy is old.

        Args:
            workspace: of the app.
            definition: in force, with its ceiling; the same object as long as it is the same.
            mode: of the workspace's policy; a frozen catalog is not fetched.
            now: fetch however young the copy is (a session is made).
        """
        app = self._apps.get((workspace, definition.id))
        if app is None:
            app = self._apps[workspace, definition.id] = _App()
        url = definition.tools_url
        if url is None:
            return await self._used(app, workspace, (definition, "live", None, None))
        if app.url != url.text:
            app.forget(url.text)
        arrived_ms = self._books.clock.now_ms()
        waited = self._due(app, mode, arrived_ms, now=now)
        if waited:
            async with app.fetching:
                if self._due(app, mode, arrived_ms, now=now):
                    await self._renew(app, workspace, definition, mode, now=now)
        accepted = None if mode == "live" else await self._accepted(workspace, definition.id)
        fetched = app.digest
        if mode == "frozen":
            fetched, accepted = None, accepted or fetched
        key = (definition, mode, fetched, accepted)
        return await self._used(app, workspace, key, waited=waited)

    async def _used(self, app: _App, workspace: str, key: _Key, *, waited: bool = False) -> Current:
        waited = waited or not app.made_of(key)
        found = await self._compiled(app, workspace, key)
        source: Source = "static"
        age_s = None
        if found.at:
            frozen = key[2] is None
            source = "stale" if frozen else app.how
            since = found.at if frozen else app.checked_at
            age_s = max(0, self._books.wall.unix_ms() - since) // 1000
        return Current(
            catalog=found.catalog,
            digest=found.digest,
            source=source,
            age_s=age_s,
            fault=app.fault,
            waited=waited,
        )

    def _due(self, app: _App, mode: CatalogMode, arrived_ms: int, *, now: bool) -> bool:
        if app.tried_ms is None:
            return True
        if mode == "frozen":
            return False
        # Whoever waited for another's fetch, begun after they came, has what they wanted.
        return app.tried_ms < (arrived_ms if now else arrived_ms - self._refresh_ms)

    async def _accepted(self, workspace: str, app: str) -> str | None:
        """What a reviewer let in; remembered, since it may be let in on another node."""
        catalogs = self._books.catalogs
        source = await self._memory.recall(
            workspace, "catalogs", app, lambda: catalogs.source(workspace, app)
        )
        return None if source is None else source.accepted

    async def _renew(
        self, app: _App, workspace: str, definition: Definition, mode: CatalogMode, *, now: bool
    ) -> None:
        """Ask the app, unless another node did just now; note how it went."""
        tried_ms, at = self._books.clock.now_ms(), self._books.wall.unix_ms()
        source = await self._books.catalogs.source(workspace, definition.id)
        kept = await self._kept(app, workspace, definition, source)
        app.fault, app.how, app.digest = None, "stale", None
        if source is not None and kept is not None:
            app.digest, app.checked_at = source.digest, source.checked_at
        if mode != "frozen":
            if not now and kept is not None and at - app.checked_at < self._refresh_ms:
                app.how = "unchanged"
            else:
                await self._fetch(app, workspace, definition, mode, source, kept, at)
        app.tried_ms = tried_ms

    async def _kept(
        self, app: _App, workspace: str, definition: Definition, source: CatalogSource | None
    ) -> Snapshot | None:
        """The last good snapshot, if it came from this very ``toolsUrl``."""
        found = (
            None if source is None else await self._snapshot(workspace, definition, source.digest)
        )
        if source is None or found is None:
            return None
        body = found.body.encode()
        # A spoiled one must not be confirmed by "not modified": it is as good as none.
        spoiled = app.compiled is not None and app.compiled.spoiled and app.digest == source.digest
        if spoiled or snapshot_digest(definition, body) != source.digest:
            return None
        return Snapshot(
            body=body,
            etag=source.etag,
            at_s=source.checked_at // 1000,
            last_modified=source.last_modified,
        )

    async def _fetch(
        self,
        app: _App,
        workspace: str,
        definition: Definition,
        mode: CatalogMode,
        source: CatalogSource | None,
        kept: Snapshot | None,
        at: int,
    ) -> None:
        fetched, app.fault = await fetch_snapshot(definition, self._egress, kept, at // 1000)
        if fetched is None:
            return
        if kept is not None and fetched.body is kept.body:
            await self._books.catalogs.confirm(workspace, definition.id, at=at)
            app.checked_at, app.how = at, "unchanged"
            return
        tools = await asyncio.to_thread(tools_of, definition, fetched.body, self._brand)
        if tools is None:
            app.fault = no_catalog(app.url or "", fetched.body)
            return
        accepted = None if source is None else source.accepted
        made = await self._made(workspace, (definition, mode, None, accepted))
        found = await asyncio.to_thread(snapshot_of, workspace, made, fetched.body, tools, at=at)
        await self._books.catalogs.keep(
            workspace, found, etag=fetched.etag, last_modified=fetched.last_modified
        )
        app.how = "unchanged" if app.digest == found.digest else "fresh"
        app.digest, app.checked_at = found.digest, at

    async def _compiled(self, app: _App, workspace: str, key: _Key) -> Compiled:
        """The compilation of these; the last one, where it is of the same."""
        if app.compiled is not None and app.made_of(key):
            return app.compiled
        async with app.compiling:
            if app.compiled is None or not app.made_of(key):
                made = await self._made(workspace, key)
                found = await asyncio.to_thread(compiled, made)
                app.compiled, app.key = found, key
                return found
            return app.compiled

    async def _made(self, workspace: str, key: _Key) -> Made:
        definition, mode, fetched, accepted = key
        return Made(
            definition=definition,
            mode=mode,
            fetched=await self._snapshot(workspace, definition, fetched),
            accepted=await self._snapshot(workspace, definition, accepted),
            brand=self._brand,
        )

    async def _snapshot(
        self, workspace: str, definition: Definition, digest: str | None
    ) -> CatalogSnapshot | None:
        if digest is None:
            return None
        return await self._books.catalogs.snapshot(workspace, definition.id, digest)
