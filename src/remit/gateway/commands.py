"""One call that is asked for, whoever asks (contract sections 9, 10 and 14)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

if TYPE_CHECKING:
    from remit.calls.arguments import ArgumentOrigin
    from remit.gateway.acting import Actor
    from remit.gateway.ledger import Source
    from remit.values.json import JsonObject, JsonValue

WAIT_MS = 30_000
MAX_WAIT_MS = 120_000


class Remembered(Struct, frozen=True, kw_only=True):
    """A person's yes that holds for the session (contract section 9, ``remember``).

    Attributes:
        by: who said it; ``is_user``, ``is_operator``: what they were.
    """

    by: str
    is_user: bool
    is_operator: bool


class Command(Struct, frozen=True, kw_only=True):
    """One call that is asked for.

    Attributes:
        actor: who asks; its workspace is the call's.
        args: parsed strictly.
        pins: of the session, the token and the request, merged already.
        wait_ms: how long the caller waits for the app, at most ``MAX_WAIT_MS``; never for a
            person.
        call_id: one that was given out before (a repeated request taken over); None makes one.
        origin: who gave ``args``.
        session, run, response_seq, model_call_id, model: of a call that a model made.
        held: whether the provider held the model to the tool's schema.
        denied: digests of requests that a person said no to in the session.
        remembered: who said that calls of this tool need no second yes in the session.
    """

    actor: Actor
    app: str
    tool: str
    user: str
    args: JsonObject
    pins: JsonObject = field(default_factory=dict["str", "JsonValue"])
    source: Source = "api"
    wait_ms: int = WAIT_MS
    call_id: str | None = None
    origin: ArgumentOrigin = "caller"
    offered_as: str | None = None
    session: str | None = None
    run: str | None = None
    response_seq: int | None = None
    model_call_id: str | None = None
    model: str | None = None
    held: bool = False
    denied: tuple[str, ...] = ()
    remembered: Remembered | None = None

    @property
    def workspace(self) -> str:
        """The workspace that the call belongs to."""
        return self.actor.workspace
