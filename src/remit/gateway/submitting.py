"""Submitting a definition, and changing one: edit or new version (contract section 7, "Life")."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from remit.documents.canonical import canonical_json
from remit.errors import InvalidRequest
from remit.gateway import definitions
from remit.gateway.acting import act, known_app
from remit.gateway.admitting import require
from remit.gateway.drafting import Draft, House, draft_of
from remit.gateway.preconditions import require_match, stale
from remit.gateway.records import Edit, Stale, Version
from remit.policy.versions import VersionDiff, compare

if TYPE_CHECKING:
    from remit.catalog.mistakes import Mistake
    from remit.gateway.acting import Actor, Books
    from remit.values.json import JsonObject, JsonValue

__all__ = ["Changed", "House", "Submission", "change", "submit"]

ChangeKind = Literal["none", "edit", "version"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A version as it was submitted.

    Attributes:
        findings: what a reviewer should see, as ``remit lint`` says it.
    """

    version: Version
    findings: tuple[Mistake, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """What a changed definition makes of an app (contract section 10, ``PUT /v1/apps/{app}``).

    Attributes:
        version: number of the one that was edited or submitted, or would be.
        revision: of the app afterwards; with ``dry_run`` the one that stands.
    """

    change: ChangeKind
    version: int
    diff: VersionDiff
    revision: int

    def as_json(self) -> JsonObject:
        """``{change, version, reasons, needsConsent, diff}``."""
        return {**self.diff.as_json(), "change": self.change, "version": self.version}


async def submit(books: Books, actor: Actor, document: JsonValue, house: House) -> Submission:
    """Submit a definition: version 1 of a new app, or the next version of a known one.

    The version in force goes on until the new one is approved; one that still waited no longer
    does.

    Raises:
        Forbidden: the actor is no operator.
        InvalidDefinition: with every mistake.
    """
    require(actor, "operator")
    draft = await asyncio.to_thread(draft_of, document, house)
    kept = await _submit(books, actor, draft, if_revision=None)
    if isinstance(kept, Stale):  # pragma: no cover -- nothing was asked for
        raise stale(draft.definition.id, kept.revision)
    return Submission(version=kept, findings=draft.findings)


async def change(
    books: Books,
    actor: Actor,
    app: str,
    document: JsonValue,
    house: House,
    *,
    if_match: str | None,
    dry_run: bool = False,
) -> Changed:
    """Change the definition of an app.

    An edit is kept with its diff and in force at once; what is more than an edit becomes a new
    version, and the one in force goes on until a reviewer approves it.

    Args:
        books: where it is kept.
        actor: an operator.
        app: its id, which the document has too.
        document: the whole definition.
        house: what it is loaded in.
        if_match: the header.
        dry_run: only say what would happen.

    Raises:
        Forbidden, InvalidDefinition, NotFound: as they say.
        InvalidRequest: the document is of another app.
        PreconditionRequired, PreconditionFailed: see ``preconditions``.
    """
    require(actor, "operator")
    row = await known_app(books, actor.workspace, app)
    require_match(if_match, row.revision, app)
    draft = await asyncio.to_thread(draft_of, document, house)
    if draft.definition.id != app:
        raise InvalidRequest(
            f'The definition has the id "{draft.definition.id}", and this is {app}. '
            "Submit it as an app of its own, or correct its id."
        )
    newest = (await books.versions.list(actor.workspace, app, limit=1)).items[0]
    number = row.in_force if row.in_force is not None else newest.number
    base = newest if newest.number == number else None
    base = base or await books.versions.get(actor.workspace, app, number) or newest
    diff = await asyncio.to_thread(_difference, base, draft, house.brand)
    waiting = newest if newest.status == "submitted" else None
    found = Changed(change=diff.change, version=base.number, diff=diff, revision=row.revision)
    if diff.change == "none":
        return found
    if row.in_force is not None and diff.change == "edit":
        return found if dry_run else await _edit(books, actor, base, draft, found)
    if waiting is not None and waiting.definition_json == draft.text:
        # Applied again while it waits: nothing new to review.
        return replace(found, change="version", version=waiting.number)
    found = replace(found, change="version", version=newest.number + 1)
    if dry_run:
        return found
    kept = await _submit(books, actor, draft, if_revision=row.revision)
    if isinstance(kept, Stale):
        raise stale(app, kept.revision)
    return replace(found, version=kept.number, revision=row.revision + 1)


async def _submit(
    books: Books, actor: Actor, draft: Draft, *, if_revision: int | None
) -> Version | Stale:
    app = draft.definition.id
    version = Version(
        workspace=actor.workspace,
        app=app,
        definition_json=draft.text,
        remit_digest=draft.remit_digest,
        submitted_at=books.wall.unix_ms(),
        submitted_by=actor.label,
    )
    entry = act(books, actor, "app.submitted", f"app/{app}", {"remit": draft.remit_digest})
    kept = await books.versions.submit(
        actor.workspace,
        version,
        installation=books.fresh.fresh_id("inst"),
        act=entry,
        if_revision=if_revision,
    )
    books.bell.ring()
    return kept


async def _edit(books: Books, actor: Actor, base: Version, draft: Draft, found: Changed) -> Changed:
    edit = Edit(
        workspace=actor.workspace,
        app=base.app,
        version=base.number,
        number=0,
        definition_json=draft.text,
        remit_digest=draft.remit_digest,
        diff_json=canonical_json(found.diff.as_json()["diff"]).decode(),
        at=books.wall.unix_ms(),
        by=actor.label,
    )
    entry = act(
        books, actor, "app.edited", f"app/{base.app}/{base.number}",
        {"remit": draft.remit_digest, "changes": len(found.diff.changes)},
    )  # fmt: skip
    kept = await books.versions.edit(actor.workspace, edit, act=entry, if_revision=found.revision)
    books.bell.ring()
    if kept is None or isinstance(kept, Stale):
        raise stale(base.app, found.revision if kept is None else kept.revision)
    return replace(found, revision=found.revision + 1)


def _difference(base: Version, draft: Draft, brand: str) -> VersionDiff:
    """The difference to the version in force, held to what was approved of it.

    A lower ceiling was approved than the author asks for? Then what only a tool over it named is
    no part of what was reviewed, and the two are compared under the approved ceiling as well.
    """
    old, new = definitions.submitted(base, brand=brand), draft.definition
    if old is None:
        words = "The version before it can no longer be loaded by this release of Remit."
        return VersionDiff(change="version", reasons=(words,), changes=())
    asked = compare(old, new)
    held = compare(definitions.under(old, base.ceiling), definitions.under(new, base.ceiling))
    told = {(found.tool, found.pointer, found.words) for found in asked.changes}
    more = [one for one in held.changes if (one.tool, one.pointer, one.words) not in told]
    changes = tuple(sorted((*asked.changes, *more), key=lambda found: not found.version))
    reasons = tuple(found.words for found in changes if found.version)
    if not reasons and not changes and base.definition_json != draft.text:
        same = canonical_json(old.record) == canonical_json(new.record)
        return VersionDiff(change="none" if same else "edit", reasons=(), changes=())
    return VersionDiff(
        change="version" if reasons else "edit" if changes else "none",
        reasons=reasons,
        changes=changes,
    )
