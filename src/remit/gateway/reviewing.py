"""Reviewing: what a version may do, approving and rejecting it (contract section 7, "Life")."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from remit.errors import AlreadyDecided, InvalidRequest, StaleDigest
from remit.gateway import definitions
from remit.gateway.acting import act, known_app, no_such
from remit.gateway.admitting import require
from remit.gateway.governance import Decision
from remit.gateway.records import Undecidable
from remit.gateway.suspending import checked_reason, resume, suspend
from remit.policy.versions import VersionDiff, compare
from remit.statement.remit import build

if TYPE_CHECKING:
    from remit.catalog.model import Definition
    from remit.catalog.scales import Ceiling
    from remit.gateway.acting import Actor, Books
    from remit.gateway.records import App, Consent, Page, Version
    from remit.statement.document import Remit

__all__ = [
    "accept_catalog",
    "approve",
    "difference",
    "list_apps",
    "list_versions",
    "read_app",
    "read_version",
    "reject",
    "remit_of",
    "resume",
    "suspend",
]


async def read_app(books: Books, actor: Actor, app: str) -> tuple[App, Version]:
    """An app with the version that a change is compared with: in force, else the newest.

    Raises:
        NotFound: there is none of that id.
    """
    row = await known_app(books, actor.workspace, app)
    newest = (await books.versions.list(actor.workspace, app, limit=1)).items[0]
    if row.in_force is None or row.in_force == newest.number:
        return row, newest
    return row, await read_version(books, actor, app, row.in_force)


async def list_apps(
    books: Books, actor: Actor, *, limit: int = 50, cursor: str | None = None
) -> Page[App]:
    """The apps of the actor's workspace."""
    return await books.apps.list(actor.workspace, limit=limit, cursor=cursor)


async def list_versions(
    books: Books, actor: Actor, app: str, *, limit: int = 50, cursor: str | None = None
) -> Page[Version]:
    """The versions of an app, the newest first.

    Raises:
        NotFound: there is no such app.
    """
    await known_app(books, actor.workspace, app)
    return await books.versions.list(actor.workspace, app, limit=limit, cursor=cursor)


async def read_version(books: Books, actor: Actor, app: str, number: int) -> Version:
    """One version.

    Raises:
        NotFound: there is no such app or version.
    """
    found = await books.versions.get(actor.workspace, app, number)
    if found is None:
        raise no_such("version", f"{app}/{number}")
    return found


async def remit_of(
    books: Books, actor: Actor, app: str, number: int, *, brand: str = "Remit"
) -> Remit:
    """The remit of a version: as it asks, or as far as it was approved (contract section 17).

    Raises:
        NotFound: there is no such app or version.
        InvalidRequest: this release cannot load it any more.
    """
    version = await read_version(books, actor, app, number)
    definition = await _definition(version, brand)
    return await asyncio.to_thread(build, definitions.under(definition, version.ceiling))


async def difference(
    books: Books, actor: Actor, app: str, number: int, *, against: int, brand: str = "Remit"
) -> VersionDiff:
    """What a version changes of another one, each as its author wrote it.

    Raises:
        NotFound: there is no such app or version.
        InvalidRequest: this release cannot load one of them any more.
    """
    new = await _definition(await read_version(books, actor, app, number), brand)
    old = await _definition(await read_version(books, actor, app, against), brand)
    return await asyncio.to_thread(compare, old, new)


async def approve(
    books: Books,
    actor: Actor,
    app: str,
    number: int,
    *,
    ceiling: Ceiling | None = None,
    consent: Consent = "user",
    digest: str | None = None,
    brand: str = "Remit",
) -> Version:
    """Put a submitted version in force; the one before it is superseded.

    Args:
        books: where it is kept.
        actor: a reviewer: an operator of the workspace.
        app: its id.
        number: of the version.
        ceiling: at or under the one that the version asks for; None is that one.
        consent: ``workspace`` consents for everybody.
        digest: of the remit that the reviewer read; None approves whatever stands there.
        brand: the brand setting.

    Raises:
        Forbidden: the actor is no operator.
        NotFound: there is no such app or version.
        AlreadyDecided: it is not waiting for a decision.
        InvalidRequest: the ceiling is above what the version asks for.
        StaleDigest: the digest is not of its remit.
    """
    require(actor, "operator")
    version = await read_version(books, actor, app, number)
    if version.status != "submitted":
        raise _decided(version)
    definition = await _definition(version, brand)
    asked = definition.ceiling
    given = ceiling or asked
    if not asked.admits(given.category, given.danger_level):
        raise InvalidRequest(
            f"Version {number} of {app} asks for the ceiling {asked}, and {given} is above it. "
            "Approve it at or under what it asks for."
        )
    # As this release words it: that is what the reviewer was shown.
    standing = await asyncio.to_thread(lambda: build(definition).digest)
    if digest is not None and digest not in {standing, version.remit_digest}:
        raise StaleDigest(
            f"The remit of version {number} of {app} is not the one that was shown. Read it "
            "again, then approve it."
        )
    entry = act(
        books, actor, "app.approved", f"app/{app}/{number}",
        {"remit": standing, "ceiling": str(given), "asked": str(asked), "consent": consent},
    )  # fmt: skip
    decision = Decision(by=actor.label, at=entry.at, ceiling=given, consent=consent)
    found = await books.versions.approve(actor.workspace, app, number, decision, act=entry)
    books.bell.ring()
    return _made(found, app, number)


async def reject(books: Books, actor: Actor, app: str, number: int, *, reason: str) -> Version:
    """Refuse a submitted version; the one in force goes on.

    Raises:
        Forbidden, NotFound, AlreadyDecided: as they say.
        InvalidRequest: there is no reason, or it is too long.
    """
    require(actor, "operator")
    said = checked_reason(reason)
    entry = act(books, actor, "app.rejected", f"app/{app}/{number}", {"reason": said})
    decision = Decision(by=actor.label, at=entry.at, reason=said)
    found = await books.versions.reject(actor.workspace, app, number, decision, act=entry)
    books.bell.ring()
    return _made(found, app, number)


async def accept_catalog(books: Books, actor: Actor, app: str, digest: str) -> None:
    """Let a fetched catalog in, where the policy says ``review`` or ``frozen``.

    Raises:
        Forbidden: the actor is no operator.
        NotFound: there is no such app, or no such snapshot of it.
    """
    require(actor, "operator")
    await known_app(books, actor.workspace, app)
    entry = act(books, actor, "catalog.accepted", f"app/{app}", {"snapshot": digest})
    if not await books.catalogs.accept(actor.workspace, app, digest, act=entry):
        raise no_such("catalog snapshot", digest)
    books.bell.ring()


async def _definition(version: Version, brand: str) -> Definition:
    found = await asyncio.to_thread(definitions.submitted, version, brand=brand)
    if found is None:
        raise InvalidRequest(
            f"Version {version.number} of {version.app} cannot be loaded by this release of Remit "
            "any more. Submit its definition again to see why."
        )
    return found


def _made(found: Version | Undecidable | None, app: str, number: int) -> Version:
    if found is None:
        raise no_such("version", f"{app}/{number}")
    if isinstance(found, Undecidable):
        raise _decided(found.version)
    return found


def _decided(version: Version) -> AlreadyDecided:
    by = f" by {version.decided_by}" if version.decided_by else ""
    return AlreadyDecided(
        f"Version {version.number} of {version.app} is {version.status}{by}, so that it waits for "
        "no decision. Submit the definition again for a new version."
    )
