"""What requests about sessions carry (contract sections 9 and 10); see ``bodies``."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType, field

from remit.gateway.claiming import FaultCode  # noqa: TC001 (decoded by it)
from remit.session.events import Status  # noqa: TC001 (decoded by it)
from remit.web.bodies import CeilingBody, Closed, Limit, Moment, Name, PageQuery, User

Seq = Annotated[int, Meta(ge=0, le=2**53)]


class PinnedTool(Closed, frozen=True, kw_only=True):
    """What is pinned for one tool of an app."""

    pins: dict[str, Any] = field(default_factory=dict[str, Any])


class SessionAppBody(Closed, frozen=True, kw_only=True):
    """An app of a session, with what is pinned in it."""

    id: str
    pins: dict[str, Any] = field(default_factory=dict[str, Any])
    tools: dict[str, PinnedTool] = field(default_factory=dict[str, PinnedTool])


class SessionBody(Closed, frozen=True, kw_only=True):
    """A new session of one user."""

    apps: list[SessionAppBody | str]
    user: User
    tools: list[str] | None = None
    pins: dict[str, Any] = field(default_factory=dict[str, Any])
    device: Name | None = None
    model: Name | None = None
    instructions: str | None = None
    client_ceiling: CeilingBody | None = None
    client_tools: list[str] | None = None


class SessionPatchBody(Closed, frozen=True, kw_only=True):
    """What changes from the next run on; what is left out stays."""

    apps: list[SessionAppBody | str] | UnsetType = UNSET
    pins: dict[str, Any] | UnsetType = UNSET
    instructions: str | UnsetType | None = UNSET


class MessageBody(Closed, frozen=True, kw_only=True):
    """What the user says."""

    text: str
    context: dict[str, Any] | None = None
    queue: bool = False
    withdraw: bool = False
    client_id: Name | None = None


class AnnounceBody(Closed, frozen=True, kw_only=True):
    """What a client can do: its tools and its widgets, as their authors wrote them."""

    tools: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    widgets: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    context: dict[str, Any] | None = None


class ClaimBody(Closed, frozen=True, kw_only=True):
    """Which client takes the call."""

    client_id: Name


class ClientErrorBody(Closed, frozen=True, kw_only=True):
    """Why a client's tool came to no result."""

    message: str
    code: FaultCode = "client_error"


class ResultBody(Closed, frozen=True, kw_only=True):
    """What became of a call that a client had claimed: one of result and error."""

    claim: str
    result: Any | UnsetType = UNSET
    error: ClientErrorBody | UnsetType = UNSET


class SessionsQuery(PageQuery, frozen=True, kw_only=True):
    """Which sessions; ``from`` counts in, ``to`` does not."""

    user: User | None = None
    status: Status | None = None
    app: str | None = None
    since: Moment | None = field(name="from", default=None)
    until: Moment | None = field(name="to", default=None)


class EventsQuery(Closed, frozen=True, kw_only=True):
    """Which events of a log."""

    after: Seq = 0
    limit: Limit = 500
