"""What happens in a session, as events (contract section 9).

An event is ``{seq, type, at, data}``. The structs here are the ``data`` of each type: the one
source of ``remit schema event``, of the reference and of the types of the SDK, words included.

Rules: within v1 nothing is renamed or removed, and readers ignore keys and types that they do not
know. A key without a default is always there, null included; one with a default is left out where
it has it. Nothing here is a secret: pins are names, arguments are masked.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct, field, json

from remit.session.inputs import HumanInputNeeded, HumanInputResolved
from remit.session.parts import (
    AppCatalog,
    AppRef,
    Display,
    EventData,
    Fault,
    Json,
    Usage,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

Role = Literal["user", "assistant"]
Status = Literal["idle", "running", "waiting_human", "waiting_client", "closed"]
Outcome = Literal["ok", "error", "denied", "skipped", "expired", "cancelled", "outcome_unknown"]
FinishReason = Literal["done", "waiting", "cancelled", "failed", "limit"]
EndReason = Literal["token_expired", "session_closed", "slow_reader", "shutdown"]


class SessionStarted(EventData, frozen=True, kw_only=True):
    """The session was made.

    Attributes:
        apps: those that its agent may use.
        user: id of whom it acts for.
        pins: names of the arguments that are fixed for it, in order; values are kept sealed.
    """

    apps: tuple[AppRef, ...]
    user: str
    pins: tuple[str, ...]
    model: str | None


class Catalog(EventData, frozen=True, kw_only=True):
    """The tools were looked up: at the start, and before a run where something changed.

    Attributes:
        apps: each app of the session.
    """

    apps: tuple[AppCatalog, ...]
    run_id: str | None = None


class Message(EventData, frozen=True, kw_only=True):
    """Somebody said something.

    Attributes:
        role: who: the user, or the agent.
        text: what; the agent's is Markdown, and as little to be trusted as any text.
        partial: whether it was stopped before its end.
    """

    message_id: str
    role: Role
    text: str
    run_id: str | None = None
    partial: bool = False


class RunStarted(EventData, frozen=True, kw_only=True):
    """The agent begins to work.

    Attributes:
        instructions_digest: SHA-256, in hex, of all that the model is told beside the messages.
        catalog_digests: by app, as in the call records.
    """

    run_id: str
    model: str | None
    instructions_digest: str
    catalog_digests: dict[str, str]


class ToolCall(EventData, frozen=True, kw_only=True):
    """The model asks for a call; nothing of it is sent yet.

    Attributes:
        tool: catalog name of the tool; the offered one where there is no such tool.
        offered_as: name under which the model knows the tool.
        title: title of the tool, else its name.
        args: arguments as the model gave them, as text where that is no JSON; secrets are masked.
        origin: whose tool it is; ``app`` where it is left out.
    """

    call_id: str
    app: str | None
    tool: str
    offered_as: str
    title: str
    args: Json
    run_id: str
    origin: Literal["app", "client", "platform"] = "app"


class ClientToolCall(EventData, frozen=True, kw_only=True):
    """A call waits for a client of the session, which has to claim and to execute it.

    Attributes:
        args: final arguments, pins and repairs included; secrets are masked.
        app: id of the app; left out for a tool that a client announced.
        handler: name of the client's own handler that an app's tool goes to.
    """

    call_id: str
    tool: str
    args: Json
    run_id: str
    app: str | None = None
    handler: str | None = None


class Widget(EventData, frozen=True, kw_only=True):
    """A widget is to be drawn by the clients that announced it.

    Attributes:
        widget: name under which it was announced.
        props: what it is drawn with.
    """

    call_id: str
    widget: str
    props: Json
    run_id: str


class ToolProgress(EventData, frozen=True, kw_only=True):
    """The app was asked how far a job is.

    Attributes:
        polls: how often by now.
        status: what the app said, as text.
    """

    call_id: str
    polls: int
    status: str
    run_id: str | None = None


class ToolResult(EventData, frozen=True, kw_only=True):
    """A call is over.

    Attributes:
        outcome: how it ended.
        content: what the model reads.
        display: how it is drawn; ``{error}`` where it came to no result.
    """

    call_id: str
    outcome: Outcome
    content: str
    display: Display = None
    run_id: str | None = None


class StatusChanged(EventData, frozen=True, kw_only=True):
    """The session has another status.

    Attributes:
        status: the new one.
        run_id: id of the run that goes on.
    """

    status: Status
    run_id: str | None = None


class RunFinished(EventData, frozen=True, kw_only=True):
    """The agent rests.

    Attributes:
        reason: why: it is done, it waits, it was cancelled, it failed, or a limit was reached.
        usage: what it used.
        error: what went wrong, where it failed or came to a limit.
    """

    run_id: str
    reason: FinishReason
    usage: Usage
    error: Fault | None = None


class TextDelta(EventData, frozen=True, kw_only=True):
    """A piece of a message that is being written.

    Attributes:
        offset: where it belongs in the message, in Unicode code points.
        text: the piece.
    """

    run_id: str
    message_id: str
    offset: int
    text: str


class Reset(EventData, frozen=True, kw_only=True):
    """The reader knows events that there are not: all of them follow, from the first.

    Attributes:
        head_seq: number of the last event there is.
    """

    head_seq: int


class End(EventData, frozen=True, kw_only=True):
    """The stream ends here.

    Attributes:
        reason: why; after all but ``session_closed`` a reader may come again.
    """

    reason: EndReason


Data: TypeAlias = (
    SessionStarted
    | Catalog
    | Message
    | RunStarted
    | ToolCall
    | HumanInputNeeded
    | HumanInputResolved
    | ClientToolCall
    | Widget
    | ToolProgress
    | ToolResult
    | StatusChanged
    | RunFinished
)

#: Every type of the log, by its name on the wire.
TYPES: Mapping[str, type[Data]] = MappingProxyType(
    {
        "session_started": SessionStarted,
        "catalog": Catalog,
        "message": Message,
        "run_started": RunStarted,
        "tool_call": ToolCall,
        "human_input_needed": HumanInputNeeded,
        "human_input_resolved": HumanInputResolved,
        "client_tool_call": ClientToolCall,
        "widget": Widget,
        "tool_progress": ToolProgress,
        "tool_result": ToolResult,
        "status": StatusChanged,
        "run_finished": RunFinished,
    }
)
NAMES: Mapping[type[Data], str] = MappingProxyType({data: name for name, data in TYPES.items()})
#: What stands on the stream alone: no part of the log, without a number.
STREAM_ONLY: Mapping[str, type[TextDelta | Reset | End]] = MappingProxyType(
    {"text_delta": TextDelta, "reset": Reset, "end": End}
)


class Event(Struct, frozen=True, kw_only=True):
    """One event of a log.

    Attributes:
        seq: 1 for the first, without gaps.
        at: Unix milliseconds; RFC 3339 on every wire.
        data_json: the data as it is kept and sent.
    """

    seq: int
    type: str
    at: int
    data_json: str


def data_of(event: Event) -> Data | None:
    """The data of an event that was kept; None where a later version wrote it."""
    kind = TYPES.get(event.type)
    return None if kind is None else json.decode(event.data_json, type=kind)


class OpenCall(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A call that was announced and is not over.

    Attributes:
        tool, app: under their catalog names; ``app`` is None for the client's and the platform's.
        input_id: the input that it waits for; None where none is open.
        client: whether it waits for a client of the session.
    """

    tool: str
    app: str | None = None
    input_id: str | None = None
    client: bool = False


class State(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a log makes of a session: the fold of its events (``machine.advance``).

    Attributes:
        run: the run that has started and not finished.
        due: runs that a person's message asked for and that have not started, in their order.
        calls: the open ones, in the model's order.
    """

    status: Status = "idle"
    run: str | None = None
    due: tuple[str, ...] = ()
    calls: dict[str, OpenCall] = field(default_factory=dict["str", "OpenCall"])

    @property
    def inputs(self) -> dict[str, str]:
        """The call of each open input."""
        return {call.input_id: id_ for id_, call in self.calls.items() if call.input_id}
