"""Users' consent to the version of an app that is in force (contract section 7, "Life")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from remit.errors import InvalidRequest
from remit.gateway.acting import act, checked_user, known_app, no_such
from remit.gateway.admitting import require
from remit.gateway.records import Grant

if TYPE_CHECKING:
    from remit.gateway.acting import Actor, Books
    from remit.gateway.node import AppInForce
    from remit.gateway.records import Page, Version
    from remit.gateway.remembering import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Consented:
    """The user consented; ``grant`` is None where the reviewer consented for everybody."""

    grant: Grant | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """The user did not consent; ``reason`` is a whole sentence with its mend."""

    reason: str


Consent: TypeAlias = "Consented | Missing"


def consent_to(version: Version, grant: Grant | None) -> Consent:
    """What a user's grant is worth for the version in force.

    Args:
        version: in force.
        grant: the user's, alive, to the highest version; None where there is none.
    """
    if version.consent == "workspace":
        return Consented(grant=None)
    if grant is None:
        return Missing(
            reason=f"the user has not consented to {version.app}. Show them its remit and grant "
            f"version {version.number}."
        )
    if grant.version < version.number:
        return Missing(
            reason=f"the user consented to version {grant.version} of {version.app}, and version "
            f"{version.number} is in force, which may do more. Show them what changed and grant "
            "that version."
        )
    return Consented(grant=grant)


async def consent_of(
    books: Books, memory: Memory, workspace: str, version: Version, user: str
) -> Consent:
    """Whether a user consented to the version in force; a dictionary look-up once it is known.

    Args:
        books: where grants are kept.
        memory: of this node: a grant taken back holds everywhere within 2 s.
        workspace: of the version.
        version: in force.
        user: whom the call is for.

    Raises:
        StoreUnavailable: it cannot be known.
    """
    if version.consent == "workspace":
        return consent_to(version, None)
    grants, app = books.grants, version.app
    grant = await memory.recall(
        workspace, "grants", (app, user), lambda: grants.alive(workspace, app, user)
    )
    return consent_to(version, grant)


class Consents:
    """The consents of all users; the ``Consents`` of ``node``.

    Args:
        books: what is kept.
        memory: of this node.
    """

    def __init__(self, books: Books, memory: Memory) -> None:
        self._books = books
        self._memory = memory

    async def missing(self, workspace: str, app: AppInForce, user: str) -> str | None:
        """See the port."""
        version = app.approved_version
        consent = await consent_of(self._books, self._memory, workspace, version, user)
        return consent.reason if isinstance(consent, Missing) else None


async def grant(books: Books, actor: Actor, app: str, user: str, version: int) -> Grant:
    """Keep a user's consent to a version; again is harmless.

    Raises:
        Forbidden: the actor may not speak for the user.
        InvalidRequest: the user's id is none, or the version was never approved.
        NotFound: there is no such app or version.
    """
    _speaks_for(actor, user)
    checked_user(user)
    await known_app(books, actor.workspace, app)
    found = await books.versions.get(actor.workspace, app, version)
    if found is None:
        raise no_such("version", f"{app}/{version}")
    if found.status not in {"approved", "superseded"} or found.ceiling is None:
        raise InvalidRequest(
            f"Version {version} of {app} is {found.status}: nobody can consent to what was not "
            "approved. Ask a reviewer, then grant it."
        )
    row = Grant(
        workspace=actor.workspace,
        id=books.fresh.fresh_id("grant"),
        app=app,
        user=user,
        version=version,
        at=books.wall.unix_ms(),
        by=actor.label,
    )
    entry = act(
        books, actor, "grant.given", f"grant/{row.id}",
        {"app": app, "user": user, "version": version},
    )  # fmt: skip
    given = await books.grants.give(actor.workspace, row, act=entry)
    books.bell.ring()
    return given


async def revoke(books: Books, actor: Actor, grant_id: str) -> Grant:
    """Take a consent back; calls of the user stop within 2 s. A second time changes nothing.

    Raises:
        Forbidden: the actor may not speak for users.
        NotFound: there is none of that id.
    """
    require(actor, "operator", "backend")
    entry = act(books, actor, "grant.revoked", f"grant/{grant_id}", {})
    found = await books.grants.revoke(actor.workspace, grant_id, act=entry)
    if found is None:
        raise no_such("grant", grant_id)
    books.bell.ring()
    return found


async def list_grants(
    books: Books,
    actor: Actor,
    *,
    app: str | None = None,
    user: str | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> Page[Grant]:
    """The consents, those that were taken back among them; a token sees its own user's.

    Raises:
        Forbidden: a token asks for another user's.
        InvalidRequest: the user's id is none.
    """
    if actor.is_token:
        user = user or actor.user
    if user is not None:
        _speaks_for(actor, checked_user(user))
    return await books.grants.list(actor.workspace, app=app, user=user, limit=limit, cursor=cursor)


def _speaks_for(actor: Actor, user: str) -> None:
    if not actor.speaks_for(user):
        require(actor, "operator", "backend")
