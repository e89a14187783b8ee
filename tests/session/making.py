"""Events of any content, and everything that could happen in a small world of runs and calls."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

from hypothesis import strategies as st
from msgspec import NODEFAULT, Struct, structs, to_builtins

from remit.session.events import (
    Catalog,
    ClientToolCall,
    Data,
    FinishReason,
    HumanInputNeeded,
    HumanInputResolved,
    Message,
    RunFinished,
    RunStarted,
    SessionStarted,
    State,
    Status,
    StatusChanged,
    ToolCall,
    ToolProgress,
    ToolResult,
    Usage,
    Widget,
)
from remit.session.machine import MOVES
from remit.session.parts import DISPLAYS, Display, Object

SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text()
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)


def anything_of(annotation: Any) -> st.SearchStrategy[Any]:  # noqa: ANN401 -- a type
    """Values of a field's type."""
    if annotation == Display:
        # Kept and sent as JSON, it is read as JSON.
        return st.one_of([anything_of(kind) for kind in DISPLAYS]).map(to_builtins)
    if annotation == Object:
        return st.dictionaries(st.text(), JSON)
    if annotation is Any:
        return JSON
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        return struct_of(annotation)
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return st.sampled_from(parts)
    if origin is tuple:
        return st.lists(anything_of(parts[0]), max_size=3).map(tuple)
    if origin is dict:
        return st.dictionaries(st.text(), anything_of(parts[1]), max_size=3)
    if parts:
        return st.one_of([anything_of(part) for part in parts])
    simple: dict[Any, st.SearchStrategy[Any]] = {
        str: st.text(),
        int: st.integers(0, 2**53),
        bool: st.booleans(),
        type(None): st.none(),
    }
    return simple[annotation]


def struct_of(kind: type[Struct]) -> st.SearchStrategy[Any]:
    """Instances of a struct, keys with a default there or not."""
    fields = structs.fields(kind)
    needed = {f.name: anything_of(f.type) for f in fields if _needed(f)}
    further = {f.name: anything_of(f.type) for f in fields if not _needed(f)}
    return st.fixed_dictionaries(needed, optional=further).map(lambda given: kind(**given))


def _needed(field: structs.FieldInfo) -> bool:
    return field.default is NODEFAULT and field.default_factory is NODEFAULT


# -- a small world: two runs, two calls, an input for each ------------------------------------

RUNS = ("run_1", "run_2")
CALLS = ("call_1", "call_2")
USAGE = Usage(input_tokens=0, output_tokens=0, cached_tokens=0, calls=0, ms=0)
TOLD = RunFinished(run_id="run_1", reason="done", usage=USAGE)


def input_of(call: str) -> str:
    """The id of the one input that a call of this world may have."""
    return call.replace("call", "input")


def needed(call: str) -> HumanInputNeeded:
    """A person is to approve a call."""
    return HumanInputNeeded.of(
        {
            "id": input_of(call),
            "kind": "approval",
            "status": "open",
            "callId": call,
            "user": "ana",
            "app": "acme",
            "tool": "refund",
            "title": "Refund",
            "args": {},
            "digest": "d",
            "by": "user",
            "createdAt": "2026-01-01T00:00:00.000Z",
            "expiresAt": "2026-01-02T00:00:00.000Z",
        },
        run_id="run_1",
    )


def _everything() -> tuple[Data, ...]:
    events: list[Data] = [
        SessionStarted(apps=(), user="ana", pins=(), model=None),
        Catalog(apps=()),
        Message(message_id="m", role="user", text="Hello"),
    ]
    events += [StatusChanged(status=status) for status in get_args(Status)]
    for run in RUNS:
        events += [
            Message(message_id="m", role="user", text="Do it", run_id=run),
            Message(message_id="m", role="assistant", text="Done", run_id=run),
            RunStarted(run_id=run, model=None, instructions_digest="d", catalog_digests={}),
        ]
        events += [
            RunFinished(run_id=run, reason=reason, usage=USAGE) for reason in get_args(FinishReason)
        ]
        events += [
            ToolCall(
                call_id=call,
                app="acme",
                tool="refund",
                offered_as="integration_refund",
                title="Refund",
                args={},
                run_id=run,
            )
            for call in CALLS
        ]
    for call in CALLS:
        events += [
            needed(call),
            HumanInputResolved.of(input_of(call), "approved", by="user:ana"),
            ClientToolCall(call_id=call, tool="open_order", args={}, run_id="run_1"),
            Widget(call_id=call, widget="card", props={}, run_id="run_1"),
            ToolProgress(call_id=call, polls=1, status="running"),
            ToolResult(call_id=call, outcome="ok", content="{}"),
        ]
    return tuple(events)


#: All that anybody could try to append, right or wrong.
EVERYTHING = _everything()


def rule(state: State) -> Status:
    """Which status a state has, as the contract says it (section 9, "Status")."""
    waits = ["human" if c.input_id else "client" if c.client else "" for c in state.calls.values()]
    if "human" in waits:
        return "waiting_human"
    if waits and set(waits) == {"client"}:
        return "waiting_client"
    return "running" if state.run or state.due or waits else "idle"


def may_follow(state: State, event: Data) -> bool:  # noqa: C901, PLR0911, PLR0912 -- one case a line
    """Whether an event can follow on a state: the rules once more, one after another."""
    if state.status == "closed":
        return False
    match event:
        case Message(role="user", run_id=str(run)):
            return run != state.run and run not in state.due
        case SessionStarted() | Catalog() | Message():
            return True
        case RunStarted():
            return state.run is None
        case RunFinished(run_id=run, reason="cancelled" | "failed") if run in state.due:
            return True
        case RunFinished(run_id=run, reason="waiting"):
            return state.run == run and bool(state.calls)
        case RunFinished(run_id=run):
            return state.run == run and not state.calls
        case StatusChanged(status="closed"):
            return not state.calls and not state.due and state.run is None
        case StatusChanged(status=status):
            return status == rule(state) and status in MOVES[state.status]
        case ToolCall(run_id=run, call_id=call):
            return state.run == run and call not in state.calls
        case HumanInputResolved(input_id=one):
            return one in [call.input_id for call in state.calls.values()]
        case Widget(call_id=call) | ToolProgress(call_id=call):
            return call in state.calls
        case _:
            return event.call_id in state.calls and state.calls[event.call_id].input_id is None
