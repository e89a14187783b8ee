"""The ports of the call ledger: calls, inputs, repeated requests, the nodes that work on them.

``store`` implements them. What ``governance`` says for all its ports holds here too. A change of
a call names the status that it must have: where another was faster, nothing is changed and the
answer is False. A move that ``ledger.MOVES`` does not have is a ``ValueError``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from remit.gateway.ledger import (
        Answered,
        AnsweredOtherwise,
        CallChange,
        CallFilter,
        CallRow,
        CallStatus,
        Fresh,
        InProgress,
        InputAnswer,
        InputFilter,
        InputRow,
        Mismatch,
        Outcome,
        Repeated,
        Replay,
        RequestKey,
        StaleDigest,
        StoredAnswer,
    )
    from remit.gateway.records import AuditEntry, Page

AnswerResult: TypeAlias = "Answered | Repeated | AnsweredOtherwise | StaleDigest"
Beginning: TypeAlias = "Fresh | Replay | InProgress | Mismatch"


class Calls(Protocol):
    """The call ledger."""

    def plan(self, workspace: str, row: CallRow) -> Awaitable[bool]:
        """Write a call down, in whatever status it begins.

        A write is planned as ``sending`` before its first byte goes out; a read may be written
        down once it has ended. A task that is cancelled while it waits for this does not know
        whether the row was kept.

        Returns:
            False where the id, or the model's call of that response, is there already; nothing
            is changed then.
        """
        ...

    async def plan_waiting(self, workspace: str, row: CallRow, input_row: InputRow) -> bool:
        """Write down a call that waits for its input from the start, both or neither."""
        ...

    async def move(self, workspace: str, call: str, *, was: CallStatus, change: CallChange) -> bool:
        """Change a call if it is what it was, and no input of it is open."""
        ...

    def finish(
        self,
        workspace: str,
        call: str,
        *,
        was: CallStatus,
        status: CallStatus,
        outcome: Outcome,
        record_json: str,
        at: int,
        beyond: str | None = None,
    ) -> Awaitable[bool]:
        """End a call; what it needed to go on is forgotten, and ``beyond`` is kept in its place."""
        ...

    async def get(self, workspace: str, call: str) -> CallRow | None:
        """One call."""
        ...

    async def by_model_call(
        self, workspace: str, session: str, response_seq: int, model_call_id: str
    ) -> CallRow | None:
        """The call that the model made in that response."""
        ...

    async def list(
        self,
        workspace: str,
        which: CallFilter | None = None,
        *,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[CallRow]:
        """Calls, by when they were made."""
        ...

    async def of_run(self, workspace: str, run: str) -> tuple[int, int]:
        """How many calls of a run were sent or wait to be, and how many of them are no reads."""
        ...


class Inputs(Protocol):
    """What calls wait for; a call has at most one open."""

    async def open(
        self, workspace: str, row: InputRow, *, was: CallStatus, change: CallChange
    ) -> bool:
        """Open an input and let its call wait for it, both or neither.

        Returns:
            False where the call is not what it ``was``, or its session is over.
        """
        ...

    async def answer(
        self, workspace: str, input_id: str, answer: InputAnswer, *, act: AuditEntry
    ) -> AnswerResult | None:
        """Answer an input; the first answer decides, whoever else answers at that moment.

        The call stays as it is and goes to ``answer.node``; should that die, ``Work.abandoned``
        hands it on. An input whose time is over becomes ``expired`` here.
        """
        ...

    async def expire(self, node: str, *, at: int, limit: int) -> tuple[InputRow, ...]:
        """Close inputs whose time is over, in any workspace; ``node`` ends their calls."""
        ...

    async def withdraw(
        self,
        workspace: str,
        *,
        call: str | None = None,
        session: str | None = None,
        at: int,
        node: str,
    ) -> tuple[InputRow, ...]:
        """Cancel the open inputs of a call or of a session; ``node`` ends their calls."""
        ...

    async def connected(
        self, workspace: str, *, app: str, user: str, by: str, at: int, node: str
    ) -> tuple[InputRow, ...]:
        """Close a user's connect inputs as ``answered``; ``node`` goes on with their calls."""
        ...

    async def next_expiry_at(self) -> int | None:
        """When the next open input is over, in any workspace."""
        ...

    async def get(self, workspace: str, input_id: str) -> InputRow | None:
        """One input."""
        ...

    async def of_call(self, workspace: str, call: str) -> tuple[InputRow, ...]:
        """The inputs of a call, in their order."""
        ...

    async def list(
        self,
        workspace: str,
        which: InputFilter | None = None,
        *,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[InputRow]:
        """Inputs, by when they were opened."""
        ...


class Work(Protocol):
    """What a node has to do next. These look over all workspaces, and take no id of one.

    ``at`` is the store's own time (``now_ms``): nodes' clocks differ.
    """

    async def join(self, node: str, *, at: int, lease_ms: int, alone: bool = False) -> None:
        """Say that a node is alive for so long; again and again, each a third of it.

        Polls that a dead node had claimed are due then.

        ``alone``: there can be no other (SQLite), so that what others left is free at once.
        """
        ...

    async def leave(self, node: str) -> None:
        """Say that a node is gone; what it left is free at once."""
        ...

    async def due_polls(
        self, node: str, *, at: int, limit: int, claim_ms: int
    ) -> tuple[CallRow, ...]:
        """Claim polls that are due, the longest due first.

        Each goes to one node. One that is neither rescheduled nor ended is due again when the
        claim is over.
        """
        ...

    async def reschedule_poll(
        self,
        workspace: str,
        call: str,
        *,
        polls_left: int,
        next_poll_at: int,
        at: int,
        record_json: str | None = None,
    ) -> bool:
        """Count one poll and let the call wait for the next; ``polls_left`` is before it."""
        ...

    async def next_poll_at(self) -> int | None:
        """When the next poll is due."""
        ...

    async def abandoned(
        self, node: str, *, at: int, limit: int, quiet_ms: int = 0
    ) -> tuple[CallRow, ...]:
        """Claim calls whose node died while it worked on them, and that nobody touched for so long.

        A node that was but stopped makes calls before it has said again that it is alive.

        ``sending``: it is not known whether they happened (contract section 5). ``planned``:
        nothing went out. ``await_input``: the input is answered, nobody went on.
        """
        ...

    async def forget_answers(self, *, at: int) -> int:
        """Delete stored answers that are over; says how many.

        Calls that have ended since their session was erased are erased with it.
        """
        ...


class Idempotency(Protocol):
    """Requests that may be repeated (contract section 10, ``Idempotency-Key``), for 24 h."""

    async def begin(
        self,
        workspace: str,
        request: RequestKey,
        *,
        body_digest: str,
        reference: str,
        node: str,
        at: int,
    ) -> Beginning:
        """Say that a request begins; of several at once one is ``Fresh``.

        ``reference`` is what it will make (the id of its call), for whoever takes it over.
        """
        ...

    async def finish(
        self, workspace: str, request: RequestKey, answer: StoredAnswer, *, node: str
    ) -> bool:
        """Keep the answer; False where the request is not that node's any more."""
        ...

    async def forget(self, workspace: str, request: RequestKey, *, node: str) -> bool:
        """Nothing was done (a fault of ours): a repeat is ``Fresh``."""
        ...

    async def take_over(self, workspace: str, request: RequestKey, *, node: str, at: int) -> bool:
        """Take a request whose node is gone; of several at once one gets it."""
        ...


class Usage(Protocol):
    """What was used of the limits that go by user and day (UTC)."""

    async def add_tokens(self, workspace: str, user: str, *, tokens: int, at: int) -> None:
        """Count model tokens."""
        ...

    async def tokens_of_day(self, workspace: str, user: str, *, at: int) -> int:
        """Model tokens of the day that ``at`` is in."""
        ...
