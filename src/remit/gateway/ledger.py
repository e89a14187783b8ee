"""The values of the call ledger: a call, what it waits for, how far it got.

A call is written before it is sent (contract section 5, step 8), so that whatever happens to the
process, the row says how far it got. ``MOVES`` is the one table of what may follow on what.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping

CallStatus = Literal[
    "planned", "await_input", "await_client", "sending", "polling",
    "done", "failed", "denied", "unknown",
]  # fmt: skip
Outcome = Literal["ok", "error", "denied", "skipped", "expired", "cancelled", "outcome_unknown"]
Source = Literal["session", "api", "mcp", "button", "cli"]
InputKind = Literal["approval", "action", "connect"]
InputStatus = Literal[
    "open", "approved", "denied", "answered", "skipped", "cancelled", "expired"
]  # fmt: skip

#: Who closed an input that no person answered, as the store writes it.
SYSTEM = "system"

ENDED: frozenset[CallStatus] = frozenset({"done", "failed", "denied", "unknown"})

# After ``sending`` nothing is denied: it may have happened.
MOVES: Mapping[CallStatus, frozenset[CallStatus]] = {
    "planned": frozenset({"await_input", "await_client", "sending", "done", "failed", "denied"}),
    "await_input": frozenset(
        {"await_input", "await_client", "sending", "done", "failed", "denied", "unknown"}
    ),
    "await_client": frozenset({"done", "failed", "denied", "unknown"}),
    "sending": frozenset({"await_input", "polling", "done", "failed", "unknown"}),
    "polling": frozenset({"await_input", "done", "failed", "unknown"}),
    "done": frozenset(),
    "failed": frozenset(),
    "denied": frozenset(),
    "unknown": frozenset(),
}


class CallRow(Struct, frozen=True, kw_only=True):
    """One call, with the columns that it is looked up by.

    Attributes:
        id: our own; it is the ``Idempotency-Key`` of the request.
        outcome: None until it ended, and never None after.
        category, danger_level: the words of the contract.
        session, response_seq, model_call_id: the model's call; unique together, since models
            repeat their call ids. All None outside a session.
        run: the run it belongs to; None outside a session.
        sent_at: when the intent to send was committed; None while nothing can have gone out.
        next_poll_at, polls_left: of a ``polling`` call.
        deadline: when whoever works on it gives up; None is never.
        node: who works on it now; None while it rests. A row whose node is dead is taken over.
        record_json: the call record, secrets masked.
        private: what is needed to go on after a restart; when the call has ended what of its end
            the record does not hold whole (``journal.beyond``), else None.
    """

    workspace: str
    id: str
    app: str
    version: int
    tool: str
    user: str
    status: CallStatus
    category: str
    danger_level: str
    source: Source
    at: int
    updated_at: int
    record_json: str
    outcome: Outcome | None = None
    session: str | None = None
    response_seq: int | None = None
    model_call_id: str | None = None
    run: str | None = None
    sent_at: int | None = None
    next_poll_at: int | None = None
    polls_left: int | None = None
    deadline: int | None = None
    node: str | None = None
    private: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallChange:
    """What a move changes of a call besides its status; a field left out stays as it is.

    Attributes:
        status: what it becomes; one that ends a call has an ``outcome``.
        at: now.
        rests: nobody works on it from here on: it waits for a person, a client or its next poll.
        sent_at: set as the call becomes ``sending``.
    """

    status: CallStatus
    at: int
    rests: bool = False
    node: str | None = None
    sent_at: int | None = None
    outcome: Outcome | None = None
    record_json: str | None = None
    private: str | None = None
    next_poll_at: int | None = None
    polls_left: int | None = None
    deadline: int | None = None

    def values(self) -> dict[str, object]:
        """The fields of ``CallRow`` that change."""
        named = {
            "node": self.node,
            "sent_at": self.sent_at,
            "outcome": self.outcome,
            "record_json": self.record_json,
            "private": self.private,
            "next_poll_at": self.next_poll_at,
            "polls_left": self.polls_left,
            "deadline": self.deadline,
        }
        changed: dict[str, object] = {
            name: value for name, value in named.items() if value is not None
        }
        if self.rests:
            changed["node"] = None
        if self.status in ENDED:
            changed |= {"private": None, "next_poll_at": None, "deadline": None, "node": None}
        return {**changed, "status": self.status, "updated_at": self.at}


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFilter:
    """Which calls a list holds; None is no condition. ``since`` counts in, ``until`` does not."""

    app: str | None = None
    tool: str | None = None
    user: str | None = None
    session: str | None = None
    status: CallStatus | None = None
    outcome: str | None = None
    category: str | None = None
    danger_level: str | None = None
    since: int | None = None
    until: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InputRow:
    """What a call waits for from a person (contract section 9, "Inputs").

    Attributes:
        by: who may answer: ``user``, ``operator``, ``other``.
        digest: of the request that is shown.
        body_json: what is shown: title, args, preview, request, reason, account, card.
        answer_json: the answer as it was given, besides the columns; None while open.
    """

    workspace: str
    id: str
    call: str
    kind: InputKind
    app: str
    tool: str
    user: str
    by: str
    digest: str
    body_json: str
    created_at: int
    expires_at: int
    status: InputStatus = "open"
    session: str | None = None
    answered_by: str | None = None
    answered_at: int | None = None
    answer_json: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFilter:
    """Which inputs a list holds; None is no condition."""

    status: InputStatus | None = None
    user: str | None = None
    app: str | None = None
    session: str | None = None
    call: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InputAnswer:
    """A person's answer to an input.

    Attributes:
        status: what the input becomes.
        by: the actor, as in ``AuditEntry.actor``.
        detail_json: note, pressed element, remember; compared as text, so write it canonically.
        digest: what the person saw; None is whatever the input holds.
        node: who goes on with the call.
    """

    status: InputStatus
    by: str
    at: int
    node: str
    detail_json: str = "{}"
    digest: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """This answer decided."""

    input: InputRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """The same answer of the same actor had decided before."""

    input: InputRow


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredOtherwise:
    """Another answer had decided before."""

    input: InputRow


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleDigest:
    """The request is not the one that was shown; the input is still open."""

    input: InputRow


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswer:
    """An HTTP answer that a repeat with the same ``Idempotency-Key`` gets again."""

    status: int
    headers_json: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestKey:
    """What makes two requests the same one (contract section 10): per key and route.

    Attributes:
        key_id: of the API key; ``route``: method and path; ``key``: the header's value.
    """

    key_id: str
    route: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fresh:
    """The first of its kind: do the work, then ``finish`` or ``forget``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """It was done before; this was the answer."""

    answer: StoredAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class InProgress:
    """The first one still runs.

    Attributes:
        reference: what the first one set out to make: the id of its call.
        abandoned: the node that ran it is gone; whoever takes it over must look ``reference`` up.
    """

    reference: str
    abandoned: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """The key was used before with another body."""
