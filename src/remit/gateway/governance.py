"""The ports that keep what governs calls: apps, versions, catalogs, grants, policy, audit.

``store`` implements them; one suite holds it to what is said here, on each database.

What holds for all: when a method returns, what it changed is committed. The workspace comes
first, and an id of another workspace is answered as one that is not there: None. An ``act`` is
written to the audit in the same transaction, and only if something was changed. Lists are newest
first unless said otherwise; ``limit`` is 1 to 500, a ``cursor`` is ``next`` of the page before
(``WrongUse`` for another one), and rows that come in meanwhile neither repeat nor hide others.
Every method raises ``StoreUnavailable`` when the database does not do its part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from remit.catalog.scales import Ceiling
    from remit.gateway.ledger import CallRow, InputRow
    from remit.gateway.records import (
        App,
        AuditEntry,
        CatalogSnapshot,
        CatalogSource,
        Consent,
        Edit,
        Grant,
        Page,
        PolicyVersion,
        Stale,
        Undecidable,
        Version,
    )

Kind: TypeAlias = Literal["apps", "catalogs", "connections", "env", "grants", "keys", "policy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What changed since a number.

    Attributes:
        number: to ask with the next time.
        changed: workspace and kind of thing.
    """

    number: int
    changed: frozenset[tuple[str, Kind]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A reviewer's decision on a version; ``ceiling`` and ``consent`` are of an approval."""

    by: str
    at: int
    reason: str | None = None
    ceiling: Ceiling | None = None
    consent: Consent | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """An app with the version that calls run under; None where none was approved."""

    app: App
    version: Version | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspension:
    """What a suspension stopped; whoever suspended ends these calls (contract section 7).

    Attributes:
        inputs: those that were open, cancelled now.
        polls: calls that were polling; nobody else polls them for 30 s.
    """

    app: App
    inputs: tuple[InputRow, ...]
    polls: tuple[CallRow, ...]


class Revisions(Protocol):
    """Says cheaply whether a snapshot is still what is kept."""

    async def changes(self, since: int) -> Changes:
        """What was changed since ``number`` of the answer before; 0 at first.

        No change is left out: numbers become visible in their order.
        """
        ...


class Apps(Protocol):
    """Apps, and their suspension."""

    async def get(self, workspace: str, app: str) -> App | None:
        """One app."""
        ...

    async def list(
        self, workspace: str, *, limit: int = 50, cursor: str | None = None
    ) -> Page[App]:
        """The apps by id."""
        ...

    async def in_force(self, workspace: str) -> tuple[InForce, ...]:
        """Every app with what is in force, for a snapshot."""
        ...

    async def suspend(
        self, workspace: str, app: str, *, reason: str, node: str, act: AuditEntry
    ) -> Suspension | None:
        """Suspend an app, cancel its open inputs and claim its polls, all at once.

        Again is harmless: the first reason stays, and what came in between is stopped too.
        ``node`` is who ends the calls that were stopped.
        """
        ...

    async def resume(self, workspace: str, app: str, *, act: AuditEntry) -> App | None:
        """Take a suspension back; nothing changes where there is none."""
        ...


class Versions(Protocol):
    """Versions of a definition. Each change counts up ``App.revision``."""

    async def submit(
        self,
        workspace: str,
        draft: Version,
        *,
        installation: str,
        act: AuditEntry,
        if_revision: int | None = None,
    ) -> Version | Stale:
        """Keep a draft as the next version, and its definition as edit 0.

        An older version that still waits for a decision is superseded; the one in force stays.

        Args:
            workspace: of the draft too.
            draft: its number and status are given here.
            installation: the id of the app if this is its first version.
            act: who submits.
            if_revision: only if the app still has this one; 0 only if there is none.
        """
        ...

    async def edit(
        self, workspace: str, edit: Edit, *, act: AuditEntry, if_revision: int
    ) -> Version | Stale | None:
        """Change a version in place and keep the edit, whose number is given here.

        Whether it is an edit at all is decided before, against what ``if_revision`` names.
        """
        ...

    async def approve(
        self, workspace: str, app: str, number: int, decision: Decision, *, act: AuditEntry
    ) -> Version | Undecidable | None:
        """Put a submitted version in force; the one before it is superseded."""
        ...

    async def reject(
        self, workspace: str, app: str, number: int, decision: Decision, *, act: AuditEntry
    ) -> Version | Undecidable | None:
        """Refuse a submitted version."""
        ...

    async def get(self, workspace: str, app: str, number: int) -> Version | None:
        """One version."""
        ...

    async def list(
        self, workspace: str, app: str, *, limit: int = 50, cursor: str | None = None
    ) -> Page[Version]:
        """The versions of an app, the highest number first."""
        ...

    async def edits(self, workspace: str, app: str, number: int) -> tuple[Edit, ...]:
        """The edits of a version in their order, the submitted definition first."""
        ...


class Catalogs(Protocol):
    """Fetched catalogs. The last 20 snapshots of an app are kept, and those in use."""

    async def source(self, workspace: str, app: str) -> CatalogSource | None:
        """What is known of the app's ``toolsUrl``; None where nothing good ever came."""
        ...

    async def snapshot(self, workspace: str, app: str, digest: str) -> CatalogSnapshot | None:
        """One snapshot."""
        ...

    async def history(self, workspace: str, app: str) -> tuple[CatalogSnapshot, ...]:
        """The snapshots that are kept."""
        ...

    async def keep(
        self,
        workspace: str,
        snapshot: CatalogSnapshot,
        *,
        etag: str | None,
        last_modified: str | None,
    ) -> CatalogSource:
        """Keep what was fetched as the last good one; a snapshot of one digest is kept once."""
        ...

    async def confirm(self, workspace: str, app: str, *, at: int) -> bool:
        """The app said "not modified"; False where there is no snapshot."""
        ...

    async def accept(self, workspace: str, app: str, digest: str, *, act: AuditEntry) -> bool:
        """Let a snapshot in, for ``review`` and ``frozen``; False where it is not kept."""
        ...


class Grants(Protocol):
    """Users' consents."""

    async def give(self, workspace: str, grant: Grant, *, act: AuditEntry) -> Grant:
        """Keep a consent; where one to that version is alive, it is returned instead."""
        ...

    async def revoke(self, workspace: str, grant: str, *, act: AuditEntry) -> Grant | None:
        """Take a consent back; the first time stays."""
        ...

    async def alive(self, workspace: str, app: str, user: str) -> Grant | None:
        """The consent of a user that is not revoked, to the highest version."""
        ...

    async def list(
        self,
        workspace: str,
        *,
        app: str | None = None,
        user: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Grant]:
        """Consents, revoked ones among them."""
        ...


class Policies(Protocol):
    """Policies of a workspace."""

    async def current(self, workspace: str) -> PolicyVersion | None:
        """The one in force."""
        ...

    async def put(
        self, workspace: str, document_json: str, *, if_number: int, act: AuditEntry
    ) -> PolicyVersion | Stale:
        """Put a policy in force, if that number still is; 0 where there was none."""
        ...

    async def get(self, workspace: str, number: int) -> PolicyVersion | None:
        """One version."""
        ...

    async def list(
        self, workspace: str, *, limit: int = 50, cursor: str | None = None
    ) -> Page[PolicyVersion]:
        """Every version, the highest number first."""
        ...


class Audit(Protocol):
    """Who did what."""

    async def append(self, workspace: str, entry: AuditEntry) -> bool:
        """Keep an entry; False where one of its id is kept already."""
        ...

    async def list(
        self,
        workspace: str,
        *,
        kind: str | None = None,
        since: int | None = None,
        until: int | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[AuditEntry]:
        """Entries; ``since`` counts in, ``until`` does not."""
        ...
