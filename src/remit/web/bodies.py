"""What requests carry: bodies and queries, as the handlers decode them (contract section 10).

The OpenAPI document is made from these very types. An unknown key is refused.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec

from remit.gateway.ledger import InputStatus, Outcome  # noqa: TC001 (decoded by them)

Moment = Annotated[datetime, msgspec.Meta(tz=True, description="RFC 3339")]
User = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
#: An id that a client gave itself, or that a device or a model has.
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
#: As far as every database counts.
Number = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]
Limit = Annotated[int, msgspec.Meta(ge=1, le=500)]
Category = Literal["read", "write", "action"]
DangerLevel = Literal["safe", "moderate", "destructive"]
Provider = Literal["openai", "anthropic", "gemini", "mcp"]


class Closed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """An object that takes no other keys."""


# --- bodies --------------------------------------------------------------------------------


class CallBody(Closed, frozen=True, kw_only=True):
    """A call; a token need not say its user."""

    args: dict[str, Any]
    user: User | None = None
    pins: dict[str, Any] = {}


class CeilingBody(Closed, frozen=True, kw_only=True):
    """The highest category and danger level."""

    category: Category
    danger_level: DangerLevel


class ApproveBody(Closed, frozen=True, kw_only=True):
    """A reviewer's yes."""

    ceiling: CeilingBody | None = None
    consent: Literal["user", "workspace"] = "user"
    digest: str | None = None


class ReasonBody(Closed, frozen=True, kw_only=True):
    """Why, in words that people are shown."""

    reason: str


class AcceptBody(Closed, frozen=True, kw_only=True):
    """The digest of the fetched catalog that is let in."""

    snapshot: str


class NoBody(Closed, frozen=True, kw_only=True):
    """An empty object, or no body at all."""


class ClientTokenBody(Closed, frozen=True, kw_only=True):
    """Another token of a session's client; it lives a day at most."""

    device: Name | None = None
    ttl_s: Annotated[int, msgspec.Meta(ge=1, le=24 * 60 * 60)] | None = None


MAY_BE_EMPTY: tuple[type, ...] = (NoBody, ApproveBody, ClientTokenBody)
"""Where a request without a body means an empty object."""


class GrantBody(Closed, frozen=True, kw_only=True):
    """A user's consent to a version."""

    app: str
    user: User
    version: Number


class ConnectionBody(Closed, frozen=True, kw_only=True):
    """A user's credential: what its type takes, and nothing else."""

    type: Literal["bearer", "basic", "apiKey"]
    token: str | None = None
    key: str | None = None
    username: str | None = None
    password: str | None = None
    expires_at: Moment | None = None
    account: str | None = None


class AnswerBody(Closed, frozen=True, kw_only=True):
    """A person's answer: one of decision, press, skip and cancel."""

    decision: Literal["approve", "deny"] | None = None
    press: str | None = None
    skip: Literal[True] | None = None
    cancel: Literal[True] | None = None
    note: str = ""
    digest: str | None = None
    remember: Literal["session"] | None = None
    user: User | None = None


class ResumeBody(AnswerBody, frozen=True, kw_only=True):
    """The same answer, with the session and the input in the body."""

    thread_id: str
    input_id: str


class TokenBody(Closed, frozen=True, kw_only=True):
    """A token of one user."""

    user: User
    apps: list[str]
    ttl_s: Number
    tools: list[str] | None = None
    pins: dict[str, Any] = {}


class KeyBody(Closed, frozen=True, kw_only=True):
    """A key of a back end or an operator."""

    role: Literal["operator", "backend"]
    name: str


# --- queries -------------------------------------------------------------------------------


class NoQuery(Closed, frozen=True, kw_only=True):
    """No parameters."""


class PageQuery(Closed, frozen=True, kw_only=True):
    """A part of a list."""

    limit: Limit = 50
    cursor: str | None = None


class DryRunQuery(Closed, frozen=True, kw_only=True):
    """Whether only to answer what would happen."""

    dry_run: bool = False


class AgainstQuery(Closed, frozen=True, kw_only=True):
    """The version that is compared with; left out, the one before."""

    against: Number | None = None


class ToolsQuery(Closed, frozen=True, kw_only=True):
    """For whom the tools are written."""

    provider: Provider = msgspec.field(name="for")


class RemitQuery(Closed, frozen=True, kw_only=True):
    """How the remit is written."""

    format: Literal["json", "text", "md"] = "json"


class GrantsQuery(PageQuery, frozen=True, kw_only=True):
    """Which consents."""

    user: User | None = None
    app: str | None = None


class ConnectionsQuery(PageQuery, frozen=True, kw_only=True):
    """Whose connections."""

    user: User | None = None


class CallsQuery(PageQuery, frozen=True, kw_only=True):
    """Which calls; ``from`` counts in, ``to`` does not."""

    app: str | None = None
    tool: str | None = None
    user: User | None = None
    session: str | None = None
    outcome: Outcome | None = None
    category: Category | None = None
    danger_level: DangerLevel | None = None
    since: Moment | None = msgspec.field(name="from", default=None)
    until: Moment | None = msgspec.field(name="to", default=None)


class InputsQuery(PageQuery, frozen=True, kw_only=True):
    """Which inputs."""

    status: InputStatus | None = None
    user: User | None = None
    app: str | None = None
    session: str | None = None


class KeysQuery(PageQuery, frozen=True, kw_only=True):
    """Which keys."""

    role: Literal["operator", "backend", "user", "client"] | None = None


class AuditQuery(PageQuery, frozen=True, kw_only=True):
    """Which entries; ``from`` counts in, ``to`` does not."""

    kind: str | None = None
    since: Moment | None = msgspec.field(name="from", default=None)
    until: Moment | None = msgspec.field(name="to", default=None)


def at_ms(moment: datetime | None) -> int | None:
    """A time as Unix milliseconds."""
    return None if moment is None else int(moment.timestamp() * 1000)
