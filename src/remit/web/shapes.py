"""What answers carry; the OpenAPI document is made from these very types (contract section 10).

Readers ignore keys that they do not know. What is not there is left out.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Self

import msgspec

from remit.gateway.journal import moment

if TYPE_CHECKING:
    from remit.gateway.connecting import Connected
    from remit.gateway.records import ApiKey, App, AuditEntry, Grant, PolicyVersion, Version


class Open(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """An object that may get further keys."""


def when(at_ms: int | None) -> str | None:
    """A time as RFC 3339, or None."""
    return None if at_ms is None else moment(at_ms)


class Problem(Open, frozen=True, kw_only=True):
    """RFC 9457."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    request_id: str
    call_id: str | None = None
    details: dict[str, Any] | None = None
    findings: list[dict[str, Any]] | None = None
    input: dict[str, Any] | None = None


class CallError(Open, frozen=True, kw_only=True):
    """Why a call came to no result."""

    code: str
    message: str
    tool: str
    details: dict[str, Any] | None = None
    may_have_happened: bool = False


class CallAnswer(Open, frozen=True, kw_only=True):
    """A call that has an id: it ended (200) or it has not (202)."""

    call_id: str
    outcome: str
    content: str
    result: Any = None
    display: dict[str, Any] | None = None
    error: CallError | None = None
    input_id: str | None = None
    repaired: list[str] | None = None


class Suspension(Open, frozen=True, kw_only=True):
    """Who suspended an app, when and why."""

    at: str
    by: str
    reason: str


class AppRow(Open, frozen=True, kw_only=True):
    """An app of a list."""

    id: str
    installation: str
    created_at: str
    in_force: int | None = None
    suspended: Suspension | None = None

    @classmethod
    def of(cls, app: App) -> Self:
        """What a row of the store says."""
        return cls(
            id=app.id,
            installation=app.installation,
            created_at=moment(app.created_at),
            in_force=app.in_force,
            suspended=suspension(app),
        )


class AppAnswer(AppRow, frozen=True, kw_only=True):
    """An app with its version in force, else its newest."""

    version: int
    status: str
    remit_digest: str
    definition: dict[str, Any]


class Submitted(Open, frozen=True, kw_only=True):
    """A version as it was submitted, with what a reviewer should see."""

    app: str
    version: int
    status: str
    remit_digest: str
    findings: list[dict[str, Any]]


class ChangeAnswer(Open, frozen=True, kw_only=True):
    """What a changed definition makes: nothing, an edit or a new version."""

    change: str
    version: int
    reasons: list[str]
    needs_consent: bool
    diff: list[dict[str, Any]]


class DiffAnswer(Open, frozen=True, kw_only=True):
    """What a version changes of another one."""

    change: str
    reasons: list[str]
    needs_consent: bool
    diff: list[dict[str, Any]]


class VersionRow(Open, frozen=True, kw_only=True):
    """A version of a list."""

    app: str
    version: int
    edit: int
    status: str
    remit_digest: str
    submitted_at: str
    submitted_by: str
    ceiling: dict[str, str] | None = None
    consent: str | None = None
    decided_at: str | None = None
    decided_by: str | None = None
    reason: str | None = None

    @classmethod
    def of(cls, version: Version, **more: Any) -> Self:  # noqa: ANN401 (fields of a subclass)
        """What a row of the store says."""
        ceiling = version.ceiling
        return cls(
            app=version.app,
            version=version.number,
            edit=version.edit,
            status=version.status,
            remit_digest=version.remit_digest,
            submitted_at=moment(version.submitted_at),
            submitted_by=version.submitted_by,
            ceiling=None
            if ceiling is None
            else {
                "category": ceiling.category.value,
                "dangerLevel": ceiling.danger_level.value,
            },
            consent=version.consent,
            decided_at=when(version.decided_at),
            decided_by=version.decided_by,
            reason=version.reason,
            **more,
        )


class VersionAnswer(VersionRow, frozen=True, kw_only=True):
    """A version with its definition as it stands after its edits."""

    definition: dict[str, Any]


class RemitAnswer(Open, frozen=True, kw_only=True):
    """The remit: all that a version may do, in plain words."""

    digest: str
    sections: list[dict[str, Any]]


class CatalogAnswer(Open, frozen=True, kw_only=True):
    """The effective catalog, and where it comes from."""

    source: str
    age_seconds: int | None
    tools: list[dict[str, Any]]
    dropped: list[dict[str, Any]]
    digest: str
    fault: str | None = None
    snapshot: str | None = None
    accepted: str | None = None
    since_review: list[dict[str, Any]] | None = None


class GrantAnswer(Open, frozen=True, kw_only=True):
    """A consent."""

    id: str
    app: str
    user: str
    version: int
    at: str
    by: str
    revoked_at: str | None = None
    revoked_by: str | None = None

    @classmethod
    def of(cls, grant: Grant) -> Self:
        """What a row of the store says."""
        return cls(
            id=grant.id,
            app=grant.app,
            user=grant.user,
            version=grant.version,
            at=moment(grant.at),
            by=grant.by,
            revoked_at=when(grant.revoked_at),
            revoked_by=grant.revoked_by,
        )


class ConnectionAnswer(Open, frozen=True, kw_only=True):
    """A connection: everything but the credential."""

    id: str
    app: str
    user: str
    type: str
    created_at: str
    updated_at: str
    account: str | None = None
    expires_at: str | None = None
    expired: bool = False

    @classmethod
    def of(cls, one: Connected) -> Self:
        """What may be told."""
        return cls(
            id=one.id,
            app=one.app,
            user=one.user,
            type=one.type,
            created_at=moment(one.created_at),
            updated_at=moment(one.updated_at),
            account=one.account,
            expires_at=when(one.expires_at),
            expired=one.expired,
        )


class KeyAnswer(Open, frozen=True, kw_only=True):
    """A key or a token, without its secret."""

    id: str
    role: str
    name: str
    prefix: str
    created_at: str
    created_by: str
    user: str | None = None
    apps: list[str] | None = None
    tools: list[str] | None = None
    pins: list[str] | None = None
    session: str | None = None
    device: str | None = None
    expires_at: str | None = None
    revoked_at: str | None = None
    last_used_at: str | None = None

    @classmethod
    def of(cls, row: ApiKey, **more: Any) -> Self:  # noqa: ANN401 (fields of a subclass)
        """What a row of the store says; of pins their names."""
        return cls(
            id=row.id,
            role=row.role,
            name=row.name,
            prefix=row.prefix,
            created_at=moment(row.created_at),
            created_by=row.created_by,
            user=row.user,
            apps=None if row.apps is None else [*row.apps],
            tools=None if row.tools is None else [*row.tools],
            pins=None if row.pins is None else [*row.pins],
            session=row.session,
            device=row.device,
            expires_at=when(row.expires_at),
            revoked_at=when(row.revoked_at),
            last_used_at=when(row.last_used_at),
            **more,
        )


class NewKey(KeyAnswer, frozen=True, kw_only=True):
    """A new key, with the only sight of it that there is."""

    key: str


class NewToken(KeyAnswer, frozen=True, kw_only=True):
    """A new token, with the only sight of it that there is."""

    token: str


class PolicyAnswer(Open, frozen=True, kw_only=True):
    """The policy in force; number 0 where none was ever put."""

    number: int
    policy: dict[str, Any]
    by: str
    at: str | None = None

    @classmethod
    def of(cls, version: PolicyVersion) -> Self:
        """What a row of the store says."""
        return cls(
            number=version.number,
            policy=json.loads(version.document_json),
            by=version.by,
            at=when(version.at or None),
        )


class AuditAnswer(Open, frozen=True, kw_only=True):
    """Who did what, and when."""

    id: str
    at: str
    actor: str
    kind: str
    subject: str
    detail: dict[str, Any]

    @classmethod
    def of(cls, entry: AuditEntry) -> Self:
        """What a row of the store says."""
        return cls(
            id=entry.id,
            at=moment(entry.at),
            actor=entry.actor,
            kind=entry.kind,
            subject=entry.subject,
            detail=json.loads(entry.detail_json),
        )


class State(Open, frozen=True, kw_only=True):
    """How the server is."""

    status: str


class Keys(Open, frozen=True, kw_only=True):
    """A JSON Web Key Set (RFC 7517)."""

    keys: list[dict[str, Any]]


def suspension(app: App) -> Suspension | None:
    """How an app is suspended, or None."""
    if app.suspended_at is None:
        return None
    return Suspension(
        at=moment(app.suspended_at),
        by=app.suspended_by or "",
        reason=app.suspended_reason or "",
    )
