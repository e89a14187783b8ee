"""The state that events make (contract section 9, "Status").

``MOVES`` is the one table: which status may follow on which. Code, tests and the diagram of the
documentation are made from it. ``fold`` says what an event makes of a state, ``advance`` what a
step does; what they are given must have happened, and what cannot have happened is a mistake of
ours, not a state. The rules that they hold:

- nothing happens in a closed session, and nothing is open in one;
- one run goes on at a time, and the model asks for calls only while one does;
- a run is due from the user's message that asks for it until it starts or is dropped;
- a run that ends leaves no call open, unless it ends because it waits;
- a call has one input at most, and is not over before that is closed.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from msgspec import structs

from remit.session.events import (
    ClientToolCall,
    HumanInputNeeded,
    HumanInputResolved,
    Message,
    OpenCall,
    RunFinished,
    RunStarted,
    State,
    StatusChanged,
    ToolCall,
    ToolProgress,
    ToolResult,
    Widget,
    data_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from remit.session.events import Data, Event, Status

MOVES: Mapping[Status, frozenset[Status]] = MappingProxyType(
    {
        "idle": frozenset({"running", "closed"}),
        "running": frozenset({"idle", "waiting_human", "waiting_client", "closed"}),
        "waiting_human": frozenset({"running", "waiting_client", "idle", "closed"}),
        "waiting_client": frozenset({"running", "waiting_human", "idle", "closed"}),
        "closed": frozenset(),
    }
)


class NoSuchMove(Exception):
    """An event that cannot follow on what there is: a mistake of whoever appends it."""


def status_of(state: State) -> Status:
    """The status that a state has, by the rule of the contract.

    ``waiting_human`` as soon as one input is open; else ``waiting_client`` where only client
    calls are open; else ``running`` while a run goes on or is due or a call is open; else
    ``idle``.
    """
    if state.status == "closed":
        return "closed"
    calls = state.calls.values()
    if any(call.input_id is not None for call in calls):
        return "waiting_human"
    if calls and all(call.client for call in calls):
        return "waiting_client"
    return "running" if state.run is not None or state.due or calls else "idle"


def advance(state: State, happened: Iterable[Data]) -> tuple[State, tuple[Data, ...]]:
    """Fold the events of one step into a state.

    Args:
        state: before them; its status is the one that its rule gives.
        happened: in their order; a session is closed by ``StatusChanged`` at their end, every
            other change of status is made here.

    Returns:
        The state after them, and the events with the ``StatusChanged`` that they make at the end
        (none where the status is the same).

    Raises:
        NoSuchMove: one of them cannot follow.
    """
    events = tuple(happened)
    for event in events:
        if isinstance(event, StatusChanged) and event.status != "closed":
            msg = f"that a session is {event.status} follows from what happens, and is not told"
            raise NoSuchMove(msg)
        state = fold(state, event)
    status = status_of(state)
    if status == state.status:
        return state, events
    changed = StatusChanged(status=status, run_id=state.run)
    return fold(state, changed), (*events, changed)


def fold(state: State, event: Data) -> State:
    """The state after one event of a log; the status changes only by ``StatusChanged``.

    Raises:
        NoSuchMove: it cannot follow.
    """
    if state.status == "closed":
        msg = "nothing happens in a session that is closed"
        raise NoSuchMove(msg)
    folding = _FOLDS.get(type(event))
    return state if folding is None else folding(state, event)


def rebuilt(log: Iterable[Event]) -> State:
    """The state of a whole log; types that a later version wrote change nothing.

    Raises:
        NoSuchMove: the log cannot have come about.
    """
    state = State()
    for event in log:
        if (data := data_of(event)) is not None:
            state = fold(state, data)
    return state


def _run_started(state: State, event: RunStarted) -> State:
    if state.run is not None:
        msg = f"run {state.run} has not finished"
        raise NoSuchMove(msg)
    due = tuple(run for run in state.due if run != event.run_id)
    return structs.replace(state, run=event.run_id, due=due)


def _said(state: State, event: Message) -> State:
    if event.role != "user" or event.run_id is None:
        return state
    if event.run_id in (state.run, *state.due):
        msg = f"run {event.run_id} was asked for before"
        raise NoSuchMove(msg)
    return structs.replace(state, due=(*state.due, event.run_id))


def _run_finished(state: State, event: RunFinished) -> State:
    if event.run_id in state.due and event.reason in ("cancelled", "failed"):
        # It was dropped before it started.
        return structs.replace(state, due=tuple(run for run in state.due if run != event.run_id))
    _going_on(state, event.run_id)
    if bool(state.calls) != (event.reason == "waiting"):
        open_calls = ", ".join(state.calls) or "no call"
        msg = f"run {event.run_id} cannot be over as {event.reason}: {open_calls} is open"
        raise NoSuchMove(msg)
    return structs.replace(state, run=None)


def _status(state: State, event: StatusChanged) -> State:
    fitting = (
        not (state.run or state.due or state.calls)
        if event.status == "closed"
        else event.status == status_of(state)
    )
    if not fitting or event.status not in MOVES[state.status]:
        msg = f"a session that is {state.status} cannot become {event.status} here"
        raise NoSuchMove(msg)
    return structs.replace(state, status=event.status)


def _called(state: State, event: ToolCall) -> State:
    _going_on(state, event.run_id)
    if event.call_id in state.calls:
        msg = f"call {event.call_id} was announced before"
        raise NoSuchMove(msg)
    return _with(state, event.call_id, OpenCall(tool=event.tool, app=event.app))


def _needed(state: State, event: HumanInputNeeded) -> State:
    call = _free(state, event.call_id)
    # A call that a client has executed may have come back with a card.
    return _with(state, event.call_id, structs.replace(call, input_id=event.id, client=False))


def _resolved(state: State, event: HumanInputResolved) -> State:
    call_id = state.inputs.get(event.input_id)
    if call_id is None:
        msg = f"input {event.input_id} is not open"
        raise NoSuchMove(msg)
    return _with(state, call_id, structs.replace(state.calls[call_id], input_id=None))


def _for_client(state: State, event: ClientToolCall) -> State:
    call = _free(state, event.call_id)
    return _with(state, event.call_id, structs.replace(call, client=True))


def _ended(state: State, event: ToolResult) -> State:
    _free(state, event.call_id)
    rest = {id_: call for id_, call in state.calls.items() if id_ != event.call_id}
    return structs.replace(state, calls=rest)


def _goes_on(state: State, event: Widget | ToolProgress) -> State:
    _open(state, event.call_id)
    return state


def _going_on(state: State, run_id: str) -> None:
    if state.run != run_id:
        msg = f"run {run_id} does not go on"
        raise NoSuchMove(msg)


def _open(state: State, call_id: str) -> OpenCall:
    call = state.calls.get(call_id)
    if call is None:
        msg = f"call {call_id} is not open"
        raise NoSuchMove(msg)
    return call


def _free(state: State, call_id: str) -> OpenCall:
    """An open call that waits for no person."""
    call = _open(state, call_id)
    if call.input_id is not None:
        msg = f"input {call.input_id} of call {call_id} is still open"
        raise NoSuchMove(msg)
    return call


def _with(state: State, call_id: str, call: OpenCall) -> State:
    return structs.replace(state, calls={**state.calls, call_id: call})


#: What changes a state; the others only say something.
_FOLDS: Mapping[type[Data], Callable[[State, Any], State]] = MappingProxyType(
    {
        Message: _said,
        RunStarted: _run_started,
        RunFinished: _run_finished,
        StatusChanged: _status,
        ToolCall: _called,
        HumanInputNeeded: _needed,
        HumanInputResolved: _resolved,
        ClientToolCall: _for_client,
        ToolResult: _ended,
        Widget: _goes_on,
        ToolProgress: _goes_on,
    }
)
