"""What answers about sessions carry (contract sections 9 and 10); see ``shapes``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from remit.gateway.asking import input_json
from remit.gateway.journal import moment
from remit.web.shapes import Open

if TYPE_CHECKING:
    from remit.gateway.admitting import Created
    from remit.gateway.conversing import SessionRow
    from remit.gateway.sessions import Reading


class SessionApp(Open, frozen=True, kw_only=True):
    """An app of a session, in the version that stood when the session took it in."""

    id: str
    version: int


class SessionListed(Open, frozen=True, kw_only=True):
    """A session of a list."""

    id: str
    status: str
    apps: list[SessionApp]
    user: str
    head_seq: int
    created_at: str
    updated_at: str
    title: str | None = None
    model: str | None = None

    @classmethod
    def of(cls, row: SessionRow, **more: Any) -> Self:  # noqa: ANN401 (fields of a subclass)
        """What a row of the store says."""
        settings = row.settings
        return cls(
            id=row.id,
            status=row.status,
            apps=[SessionApp(id=app.id, version=app.version) for app in settings.apps],
            user=row.user,
            head_seq=row.head_seq,
            created_at=moment(row.created_at),
            updated_at=moment(row.updated_at),
            title=row.title,
            model=settings.model,
            **more,
        )


class SessionAnswer(SessionListed, frozen=True, kw_only=True):
    """A session with what it waits for.

    Attributes:
        notes: what whoever made or changed it should know: a pin that no tool has, say.
    """

    inputs: list[dict[str, Any]]
    notes: list[str] | None = None

    @classmethod
    def read(cls, reading: Reading) -> Self:
        """A session as it is read."""
        return cls.of(reading.row, inputs=[input_json(row) for row in reading.inputs])


class NewSession(SessionAnswer, frozen=True, kw_only=True):
    """A new session, with a token of its client: the only sight of it that there is."""

    client_token: str
    expires_at: str


class ClientToken(Open, frozen=True, kw_only=True):
    """A token of a session's client, with the only sight of it that there is."""

    client_token: str
    expires_at: str


class Accepted(Open, frozen=True, kw_only=True):
    """A message was taken: the run that it begins, and the number of its event."""

    run_id: str
    seq: int


class EventAnswer(Open, frozen=True, kw_only=True):
    """One event of a session's log."""

    seq: int
    type: str
    at: str
    data: dict[str, Any]


class EventsAnswer(Open, frozen=True, kw_only=True, omit_defaults=False):
    """A part of a session's log."""

    events: list[EventAnswer]
    next: int | None


class LeftOutAnswer(Open, frozen=True, kw_only=True):
    """A tool that a client announced and that this session does not offer."""

    name: str
    reason: str


class LeaseAnswer(Open, frozen=True, kw_only=True):
    """For how long a client is held to be there after it last said so.

    Attributes:
        left_out: what of its announcement is not offered, and why.
    """

    lease_ms: int
    left_out: list[LeftOutAnswer] | None = None


class ClaimAnswer(Open, frozen=True, kw_only=True):
    """A call that a client has now, and alone may end."""

    claim: str
    tool: str
    args: dict[str, Any]
    timeout_ms: int
    app: str | None = None
    handler: str | None = None


def expiry(made: Created) -> str:
    """When a token that was made just now is over."""
    return moment(made.key.expires_at or made.key.created_at)
