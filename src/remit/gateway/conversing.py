"""Sessions as the use cases see them: their values, and the ports that keep and live them.

A session is a log of events, a row that says how far it is, and the history that its model reads.
Whatever happens in it is one step (``Sessions.act``): a pure function looks at the row as it is
now and says what happens; the store writes the events with their numbers, the row and the history
in one transaction, or nothing of it (architecture, section 3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from msgspec import UNSET, Struct, UnsetType, field

from remit.session.events import State
from remit.session.parts import AppRef

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from remit.gateway.keeping import Sealed
    from remit.gateway.models import Entry
    from remit.gateway.records import AuditEntry, Page
    from remit.session.events import Data, EndReason, Event, Status

R = TypeVar("R")


class SessionApp(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An app of a session. Values of pins are sealed apart; here are their names.

    Attributes:
        version: the one that stood when the session took the app in.
        pins: names that are fixed for all its tools; ``tool_pins``: for single tools.
    """

    id: str
    version: int
    pins: tuple[str, ...] = ()
    tool_pins: dict[str, tuple[str, ...]] = field(default_factory=dict["str", "tuple[str, ...]"])

    @property
    def ref(self) -> AppRef:
        """As events and surfaces name it."""
        return AppRef(id=self.id, version=self.version)


class Ceiling(Struct, frozen=True, kw_only=True):
    """The highest category and danger level of what a client announces, as words."""

    category: str
    danger_level: str


class Settings(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a session was made with; ``PATCH`` changes some of it from the next run on.

    Attributes:
        pins: names fixed for all tools of all apps.
        tools: globs of what of the apps is offered; None is all.
        client_tools: the only names that clients may announce; None is any.
        device: of the user, for whose client it was made.
    """

    apps: tuple[SessionApp, ...] = ()
    pins: tuple[str, ...] = ()
    tools: tuple[str, ...] | None = None
    model: str | None = None
    instructions: str | None = None
    client_ceiling: Ceiling | None = None
    client_tools: tuple[str, ...] | None = None
    device: str | None = None


class Queued(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message that waits for the run to end (``queue: true``)."""

    message_id: str
    text: str
    run_id: str
    context: str | None = None


class AskedCall(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A call of the model's last response: our id, the model's, and the name it was offered as.

    ``loose`` where the request that brought it was made without strict mode.
    """

    id: str
    model_id: str
    name: str
    loose: bool = False


class RememberedTool(Struct, frozen=True, kw_only=True):
    """A tool that a person said yes to for the whole session."""

    app: str
    tool: str
    by: str
    is_user: bool
    is_operator: bool


class Task(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is to be done with a session, beside its public log; kept as JSON in the row.

    Attributes:
        number: of the model's response whose calls are open, or were settled last (the
            ``response_seq`` of the ledger); 0 before the first.
        asked: the calls of that response, in its order; () once their results are in the history.
        since: number of the last event before that response: results are found after it.
        turns: model requests of this run so far.
        cancelled: a person stopped it; nothing more is sent.
        withdrawn: a person went on with a new message: what waits for a client is taken back.
        context: the newest of what the user is looking at, as JSON text.
        client: the client that sent the last message, if it said so.
        device: the last one that a message was sent from, by a client that proves it.
        queued: messages that begin the next runs.
        said: ids of the last messages of the user, so that none is taken twice.
        denied: digests of the requests that a person said no to.
        remembered: tools whose calls need no second yes in this session.
        usage: of the run so far: input, output, cached tokens.
        started_at: of the run, Unix ms; 0 where none was started.
        catalog: digest of the last ``catalog`` event, which is told again when it is another.
    """

    number: int = 0
    asked: tuple[AskedCall, ...] = ()
    since: int = 0
    turns: int = 0
    cancelled: bool = False
    withdrawn: bool = False
    context: str | None = None
    client: str | None = None
    device: str | None = None
    queued: tuple[Queued, ...] = ()
    said: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    remembered: tuple[RememberedTool, ...] = ()
    usage: tuple[int, int, int] = (0, 0, 0)
    calls: int = 0
    started_at: int = 0
    catalog: str | None = None


class SessionRow(Struct, frozen=True, kw_only=True):
    """A session as it is kept.

    Attributes:
        head_seq: number of its last event.
        entries: how many entries its history has.
        sealed: values of its pins, sealed; None where there are none.
        due_at: when a node has something to do for it; None while it rests.
        node: who works on it now; ``lease_until`` says until when it is believed to live.
        fence: counts claims: a node that lost its lease cannot write.
        wakes: counts what made it due (``Sessions.wake``, an input's end): whoever lets it rest
            sees by it whether something came meanwhile.
        attempts: claims since something was written under one; a turn that kills its process
            again and again is given up.
    """

    workspace: str
    id: str
    user: str
    created_at: int
    updated_at: int
    settings: Settings
    state: State = State()
    task: Task = Task()
    title: str | None = None
    head_seq: int = 0
    entries: int = 0
    sealed: Sealed | None = None
    due_at: int | None = None
    node: str | None = None
    lease_until: int | None = None
    fence: int = 0
    wakes: int = 0
    attempts: int = 0

    @property
    def status(self) -> Status:
        """As of now."""
        return self.state.status


class Step(Struct, frozen=True, kw_only=True):
    """What happens to a session, all of it or nothing.

    Attributes:
        events: in their order; a change of status is added by the store (``machine.advance``).
        entries: appended to the history.
        task, settings, sealed, title: what they become; ``UNSET`` leaves them.
        due_at: when somebody has to look at it; ``UNSET`` leaves it, None lets it rest.
        wakes: whether ``SessionRow.wakes`` counts it: whoever works on it looks again.
        release: whether the lease is given back.
        act: the audit entry of who did it, where somebody did.
    """

    events: tuple[Data, ...] = ()
    entries: tuple[Entry, ...] = ()
    task: Task | UnsetType = UNSET
    settings: Settings | UnsetType = UNSET
    sealed: Sealed | UnsetType | None = UNSET
    title: str | UnsetType | None = UNSET
    due_at: int | UnsetType | None = UNSET
    wakes: bool = False
    release: bool = False
    act: AuditEntry | None = None


class Acted(Struct, frozen=True, kw_only=True):
    """A step that was committed: the row after it, and its events with their numbers."""

    row: SessionRow
    events: tuple[Event, ...]


class LostLease(Exception):
    """Another node has the session by now: whoever worked on it stops and writes nothing."""


#: Looks at the row as it is at that moment, and says what happens or why nothing does. It runs in
#: the transaction, perhaps twice, and must be pure.
Decide: TypeAlias = "Callable[[SessionRow], Step | R]"


class SessionFilter(Struct, frozen=True, kw_only=True):
    """Which sessions a list holds; None is no condition."""

    user: str | None = None
    status: Status | None = None
    app: str | None = None
    since: int | None = None
    until: int | None = None


class Sessions(Protocol):
    """Sessions, their logs and their histories.

    ``at`` of what happens is the time of day of whoever acts; that of ``claim``, ``renew`` and
    ``next_due_at`` is the store's own (``now_ms``), by which leases run.
    """

    async def make(
        self,
        workspace: str,
        row: SessionRow,
        first: Sequence[Data],
        *,
        act: AuditEntry | None = None,
    ) -> Acted:
        """Keep a new session with its first events, and the audit entry of who made it."""
        ...

    async def act(
        self,
        workspace: str,
        session: str,
        decide: Decide[R],
        *,
        at: int,
        fence: int | None = None,
    ) -> Acted | R | None:
        """Do one step; None where there is no such session.

        ``decide`` sees the row under a lock: two steps never pass each other. With ``fence`` the
        step is of whoever has that claim, and it renews nothing. A step that it lets through sets
        ``attempts`` to 0.

        Raises:
            LostLease: the session's fence is another one by now.
        """
        ...

    async def get(self, workspace: str, session: str) -> SessionRow | None:
        """One session."""
        ...

    async def list(
        self,
        workspace: str,
        which: SessionFilter | None = None,
        *,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[SessionRow]:
        """Sessions, by when they were made."""
        ...

    async def events(
        self, workspace: str, session: str, *, after: int, limit: int
    ) -> tuple[Event, ...]:
        """Events of a log whose number is greater, in their order."""
        ...

    async def entries(self, workspace: str, session: str) -> tuple[Entry, ...]:
        """The history, in its order."""
        ...

    async def heads(self, which: Iterable[tuple[str, str]]) -> dict[tuple[str, str], int]:
        """``head_seq`` of sessions, by workspace and id: for readers of another node's events."""
        ...

    async def wake(self, workspace: str, session: str, *, at: int) -> bool:
        """Let somebody look at a session by then at the latest; counts one of ``wakes``."""
        ...

    async def claim(
        self, node: str, *, at: int, lease_ms: int, limit: int
    ) -> tuple[SessionRow, ...]:
        """Take sessions that are due and that no living node has, the longest due first.

        Each gets ``fence + 1``, ``attempts + 1``, this node and a lease; ``due_at`` stays, so
        that it is found again should the node die.
        """
        ...

    async def renew(
        self, node: str, claims: Sequence[tuple[str, str, int]], *, at: int, lease_ms: int
    ) -> frozenset[tuple[str, str]]:
        """Prolong claims (workspace, session, fence); says which of them are lost."""
        ...

    async def next_due_at(self) -> int | None:
        """When the next session is due that no living node has; cheap, over any number."""
        ...

    async def erase(
        self, workspace: str, session: str, *, at: int, act: AuditEntry | None = None
    ) -> bool:
        """Forget a session: its text, arguments and results.

        Its events, entries, clients and tokens go; of its calls ids, times, digests and outcomes
        stay, in the audit likewise (contract section 10, ``DELETE``). A call that is not over is
        erased once it is. ``act`` is written with it. False where there is no such session.
        """
        ...


class Live(Protocol):
    """Tells readers of this node what happens, at once; readers of other nodes soon."""

    def happened(self, workspace: str, session: str, events: Sequence[Event]) -> None:
        """Events were committed."""
        ...

    def said(
        self, workspace: str, session: str, *, run_id: str, message_id: str, offset: int, text: str
    ) -> None:
        """A piece of a message was written."""
        ...

    def unsaid(self, workspace: str, session: str) -> None:
        """The message that was being written is whole, or will never be."""
        ...

    def end(self, workspace: str, session: str, reason: EndReason) -> None:
        """Nothing more is told: readers are sent away with the reason."""
        ...
