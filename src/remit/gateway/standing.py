"""What is in force now, as this node knows it: apps, catalogs, policy, keys.

Everything is a dictionary look-up in what the node remembers (``remembering``), which is less
than 2 s old: a suspension, a revocation and a new policy hold everywhere within that time, and at
once on the node that made them (contract section 7, "Suspend").
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeAlias, cast

from msgspec import Struct

from remit.calls.straight import Straights
from remit.errors import StoreUnavailable
from remit.gateway import definitions
from remit.gateway.acting import Actor
from remit.gateway.admitting import actor_of
from remit.gateway.keeping import SERVER
from remit.gateway.key_secrets import digest_of, hash_of
from remit.gateway.node import NotStanding
from remit.gateway.remembering import UNKNOWN
from remit.gateway.ruling import policy_of
from remit.policy.rules import Policy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.catalog.model import Definition
    from remit.gateway import governance
    from remit.gateway.acting import Books
    from remit.gateway.catalogs import Source
    from remit.gateway.records import App, PolicyVersion, Version
    from remit.gateway.refreshing import Refresher
    from remit.gateway.remembering import Memory
    from remit.policy.catalogs import EffectiveCatalog

_MAX_FOUND = 10_000
_Rows: TypeAlias = "Mapping[str, governance.InForce]"


class Approved(Struct, frozen=True, kw_only=True):
    """An app with its version in force, without a look at its catalog.

    Attributes:
        definition: of that version, under the ceiling that was approved.
    """

    app: App
    version: Version
    definition: Definition


class InForce(Struct, frozen=True, kw_only=True):
    """An app as calls run in it now; an ``AppInForce`` of ``node``.

    Attributes:
        id: of the app.
        installation: the id that survives new versions.
        version: number of the version.
        definition: with the ceiling it was approved for.
        approved: app, version and definition in force.
        policy: of the workspace.
        catalog_digest: SHA-256 of the effective tools, in hex.
        straights: the straight ways to the requests of its tools.
        source, age_s, fault: how the catalog came to be (``refreshing.Current``).
    """

    id: str
    installation: str
    version: int
    definition: Definition
    approved: Approved
    approved_version: Version
    policy: Policy
    catalog: EffectiveCatalog
    catalog_digest: str
    straights: Straights
    source: Source
    age_s: int | None
    fault: str | None


class Standing:
    """The node's snapshot of what is in force.

    Args:
        books: what is kept, and the time.
        memory: of this node.
        refresher: of its catalogs.
        brand: the brand setting.
    """

    def __init__(
        self, books: Books, memory: Memory, refresher: Refresher, *, brand: str = "Remit"
    ) -> None:
        self._books = books
        self._memory = memory
        self._refresher = refresher
        self._brand = brand
        self._compiled: dict[tuple[str, str], tuple[Version, Definition | None]] = {}
        self._compiling: dict[tuple[str, str], asyncio.Lock] = {}
        # Of apps whose catalog is all in their definition: found again while nothing changed.
        self._found: dict[tuple[str, str], tuple[_Rows, InForce]] = {}
        self._straights: dict[tuple[str, str], Straights] = {}

    def known(self, workspace: str, app: str) -> InForce | None:
        """See the port."""
        last = self._found.get((workspace, app))
        if (
            last is not None
            and last[0] is self._memory.known(workspace, "apps", "")
            and last[1].policy is self._memory.known(workspace, "policy", "")
        ):
            return last[1]
        return None

    async def app(self, workspace: str, app: str, *, now: bool = False) -> InForce | NotStanding:
        """The app as calls find it, its catalog refreshed where that is due.

        Args:
            workspace: of the app.
            app: its id.
            now: fetch the catalog however young it is (a session is made).

        Raises:
            StoreUnavailable: it cannot be known.
        """
        if (known := self.known(workspace, app)) is not None:
            return known
        found = await self.approved(workspace, app)
        while not isinstance(found, NotStanding):
            policy = await self.policy(workspace)
            current = await self._refresher.current(
                workspace, found.definition, policy.catalog, now=now
            )
            # A catalog takes its time, and a suspension may have come meanwhile.
            again = await self.approved(workspace, app) if current.waited else found
            if isinstance(again, Approved) and again.definition is found.definition:
                return self._kept(
                    workspace,
                    InForce(
                        id=again.app.id,
                        installation=again.app.installation,
                        version=again.version.number,
                        definition=again.definition,
                        approved=again,
                        approved_version=again.version,
                        policy=policy,
                        catalog=current.catalog,
                        catalog_digest=current.digest,
                        straights=self._straights_of(workspace, again),
                        source=current.source,
                        age_s=current.age_s,
                        fault=current.fault,
                    ),
                )
            found = again
        return found

    def _kept(self, workspace: str, found: InForce) -> InForce:
        """Keep what depends on nothing but what the memory holds; a fetched catalog grows old.

        It was waited for meanwhile: only what it was made of, as the memory still has it, counts.
        """
        known = self._memory.known(workspace, "apps", "")
        if found.definition.tools_url is not None or known is UNKNOWN:
            return found
        rows = cast("_Rows", known)
        row, approved = rows.get(found.id), found.approved
        if row is not None and row.app is approved.app and row.version is approved.version:
            if len(self._found) >= _MAX_FOUND:
                self._found.clear()
            self._found[workspace, found.id] = (rows, found)
        return found

    def _straights_of(self, workspace: str, approved: Approved) -> Straights:
        """Those of the version, which a fetched catalog does not outdate."""
        key, number = (workspace, approved.app.id), approved.version.number
        known = self._straights.get(key)
        if known is None or known.definition is not approved.definition or known.version != number:
            if len(self._straights) >= _MAX_FOUND:
                self._straights.clear()
            known = self._straights[key] = Straights(approved.definition, number)
        return known

    async def approved(self, workspace: str, app: str) -> Approved | NotStanding:
        """The app without a look at its catalog, so that no fetch is waited for.

        Raises:
            StoreUnavailable: it cannot be known.
        """
        row = (await self._rows(workspace)).get(app)
        if row is None:
            return NotStanding(
                code="unknown_app",
                reason=f'There is no app "{app[:80]}" in this workspace. Check its id and the key.',
            )
        if row.app.suspended_at is not None:
            return NotStanding(code="app_suspended", reason=_suspended(row.app))
        if row.version is None:
            return NotStanding(
                code="not_approved",
                reason=f"No version of {app} is approved. A reviewer must approve one first.",
            )
        definition = await self._definition(row.version)
        if definition is None:
            return NotStanding(
                code="not_approved",
                reason=f"Version {row.version.number} of {app} was approved, and this release of "
                "Remit cannot load it any more. Submit its definition again to see why.",
            )
        return Approved(app=row.app, version=row.version, definition=definition)

    async def policy(self, workspace: str) -> Policy:
        """The policy in force; where there is none, one that adds nothing.

        Raises:
            StoreUnavailable: it cannot be known, or this release cannot read it: nothing may run
                under less than was asked for.
        """
        policies = self._books.policies

        async def read() -> Policy:
            return _policy(await policies.current(workspace))

        return await self._memory.recall(workspace, "policy", "", read)

    def known_actor(self, secret: str) -> Actor | None:
        """Who holds a key or a token, where that is known and nobody has to be asked."""
        known = self._memory.known(SERVER, "keys", digest_of(secret))
        return self._unexpired(known) if isinstance(known, Actor) else None

    async def actor(self, secret: str) -> Actor | None:
        """Who holds a key or a token; None for one that is wrong, revoked or expired.

        Raises:
            StoreUnavailable: it cannot be known.
            VaultFault: its pins cannot be opened.
        """
        hashed = hash_of(secret)
        if hashed is None:
            return None
        keys, keeper = self._books.keys, self._books.keeper

        async def read() -> Actor | None:
            found = await keys.find(hashed)
            if found is None or found.revoked_at is not None:
                return None
            return await actor_of(keeper, found)

        # Nobody fills the memory with secrets that open nothing.
        actor = await self._memory.recall(SERVER, "keys", hashed, read, absent_too=False)
        return None if actor is None else self._unexpired(actor)

    def _unexpired(self, actor: Actor) -> Actor | None:
        over = actor.expires_at is not None and self._books.wall.unix_ms() >= actor.expires_at
        return None if over else actor

    async def _rows(self, workspace: str) -> _Rows:
        apps = self._books.apps

        async def read() -> _Rows:
            return {row.app.id: row for row in await apps.in_force(workspace)}

        return await self._memory.recall(workspace, "apps", "", read)

    async def _definition(self, version: Version) -> Definition | None:
        """The definition of a version, compiled once for as long as it stays the same."""
        key = (version.workspace, version.app)
        known = self._compiled.get(key)
        if known is not None and known[0] is version:
            return known[1]
        async with self._compiling.setdefault(key, asyncio.Lock()):
            known = self._compiled.get(key)
            if known is None or known[0] != version:
                found = await asyncio.to_thread(definitions.approved, version, brand=self._brand)
                known = (version, found)
            # An equal one that was read anew is found by itself from now on.
            self._compiled[key] = (version, known[1])
            return known[1]


def _suspended(app: App) -> str:
    why = f": {app.suspended_reason.rstrip('.')}" if app.suspended_reason else ""
    return f"{app.id} is suspended{why}. An operator of the workspace can resume it."


def _policy(kept: PolicyVersion | None) -> Policy:
    policy = Policy() if kept is None else policy_of(kept)
    if policy is None:
        number = 0 if kept is None else kept.number
        raise StoreUnavailable(
            f"Policy {number} is in force, and this release of Remit cannot read it. "
            "Put a policy that `remit policy check` accepts; until then no call runs."
        )
    return policy
