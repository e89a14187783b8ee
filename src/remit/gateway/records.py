"""What is kept: the values that go into the store and come out of it.

Times are integers, milliseconds since 1970 in UTC. Texts named ``…_json`` hold a JSON document
exactly as it was written. Whatever is secret comes here sealed by the vault; the call record has
its secrets masked before it is kept (contract section 10).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

if TYPE_CHECKING:
    from remit.catalog.scales import Ceiling
    from remit.gateway.keeping import Sealed

T = TypeVar("T")

VersionStatus = Literal["submitted", "approved", "rejected", "superseded"]
Consent = Literal["user", "workspace"]
Role = Literal["operator", "backend", "user", "client"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """A part of a list; ``next`` is the cursor of the part after it, None at the end."""

    items: tuple[T, ...]
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """Who did what, and when. It never holds a secret.

    Attributes:
        id: unique in the workspace.
        actor: who: ``key:<id>``, ``user:<id>``, ``system``.
        kind: what was done, as a word: ``app.approved``.
        subject: what it was done to: ``app/acme-scenes/3``.
        detail_json: further facts, an object.
    """

    workspace: str
    id: str
    at: int
    actor: str
    kind: str
    subject: str
    detail_json: str = "{}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A tenant."""

    id: str
    created_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """An app in a workspace (contract section 7, "Life").

    Attributes:
        installation: the id that survives new versions.
        in_force: number of the approved version that calls run under; None before the first.
        revision: counts every change of the app or of a version of it, for ``ETag``.
        suspended_at: None while it is not suspended; so are the two beside it.
    """

    workspace: str
    id: str
    installation: str
    created_at: int
    revision: int = 1
    in_force: int | None = None
    suspended_at: int | None = None
    suspended_by: str | None = None
    suspended_reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of an app's definition, as it stands after its edits.

    Attributes:
        number: 1 for the first; the store gives it.
        edit: how many edits it has had.
        remit_digest: of the remit that this definition makes.
        ceiling: what it was approved for; None before.
        consent: who consents; None before the approval.
        decided_at: when it was approved or rejected; so are ``decided_by`` and ``reason``.
    """

    workspace: str
    app: str
    number: int = 0
    edit: int = 0
    status: VersionStatus = "submitted"
    definition_json: str
    remit_digest: str
    submitted_at: int
    submitted_by: str
    ceiling: Ceiling | None = None
    consent: Consent | None = None
    decided_at: int | None = None
    decided_by: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One edit of a version, kept with what it changed.

    Attributes:
        number: 1 for the first edit; 0 is the version as it was submitted.
        diff_json: the difference to the edit before it; null for 0.
    """

    workspace: str
    app: str
    version: int
    number: int
    definition_json: str
    remit_digest: str
    diff_json: str
    at: int
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogSnapshot:
    """A fetched catalog that was good, as its text (contract section 7, "Refresh").

    Attributes:
        digest: of the text; a snapshot is kept once.
        diff_json: what changed since the review; ``dropped_json``: every dropped tool and why.
    """

    workspace: str
    app: str
    digest: str
    body: str
    diff_json: str
    dropped_json: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogSource:
    """What is known of an app's ``toolsUrl``.

    Attributes:
        digest: of the last good snapshot.
        accepted: digest of the snapshot that a reviewer let in, for ``catalog: review`` and
            ``frozen``; None where nobody did.
        etag, last_modified: for the next conditional request.
        checked_at: when the app last answered, also with "not modified".
        fetched_at: when the snapshot came.
    """

    workspace: str
    app: str
    digest: str
    accepted: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    checked_at: int
    fetched_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """One user's consent to one version."""

    workspace: str
    id: str
    app: str
    user: str
    version: int
    at: int
    by: str
    revoked_at: int | None = None
    revoked_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """One user's credential for one app.

    Attributes:
        id: a new one whenever another account may stand behind it.
        type: the shape of the credential, as the definition's ``auth.type``.
        sealed: the credential, sealed by the vault.
        revision: counts every change of ``sealed``: two refreshes cannot overwrite each other.
    """

    workspace: str
    app: str
    user: str
    id: str
    type: str
    sealed: Sealed
    created_at: int
    updated_at: int
    account: str | None = None
    expires_at: int | None = None
    revision: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvValue:
    """One environment value of an app, sealed."""

    workspace: str
    app: str
    collection: str
    environment: str
    name: str
    sealed: Sealed
    updated_at: int
    updated_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key or a token; its secret is kept as a hash alone (contract section 10).

    Attributes:
        role: ``user`` is a token of one user, ``client`` one of a session and a device.
        secret_hash: SHA-256 of the secret, hexadecimal.
        prefix: the first characters, by which a person knows it again.
        user: whom a token speaks for; None for a key.
        apps, tools: what a token may reach; None is all; tools are globs.
        pins: names of the arguments that the token fixes; None is none.
        sealed: these arguments as a JSON object, sealed by the vault; None where there are none.
        session, device: of a client token; such a one is forgotten with its session.
    """

    workspace: str
    id: str
    role: Role
    name: str
    secret_hash: str
    prefix: str
    created_at: int
    created_by: str
    user: str | None = None
    apps: tuple[str, ...] | None = None
    tools: tuple[str, ...] | None = None
    pins: tuple[str, ...] | None = None
    sealed: Sealed | None = None
    expires_at: int | None = None
    revoked_at: int | None = None
    last_used_at: int | None = None
    session: str | None = None
    device: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyVersion:
    """One version of a workspace's policy (contract section 18); the newest is in force."""

    workspace: str
    number: int
    document_json: str
    at: int
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """Somebody else changed it since it was read; ``revision`` is the one that stands now."""

    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecidable:
    """The version is not waiting for a decision; ``version`` is how it stands."""

    version: Version
