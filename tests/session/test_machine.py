"""The session machine: what may follow on what, and the status that it makes (section 9)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.session.events import (
    NAMES,
    Catalog,
    Data,
    Event,
    HumanInputResolved,
    Message,
    RunStarted,
    SessionStarted,
    State,
    Status,
    StatusChanged,
    ToolCall,
)
from remit.session.machine import MOVES, NoSuchMove, advance, fold, rebuilt, status_of
from tests.session.making import EVERYTHING, RUNS, TOLD, may_follow, needed, rule

#: What is said, and changes nothing.
SAID = [
    event
    for event in EVERYTHING
    if isinstance(event, SessionStarted | Catalog)
    or (isinstance(event, Message) and (event.role == "assistant" or event.run_id is None))
]


def key(state: State) -> bytes:
    """The same for equal states."""
    return msgspec.json.encode(state, order="sorted")


def changing(state: State) -> Iterator[Data]:
    """The events that can follow on a state and make another one of it."""
    for event in EVERYTHING:
        if event not in SAID and may_follow(state, event):
            yield event


def told(event: Data) -> bool:
    """Whether a step may hold an event: of changes of status only the last one of a session."""
    return not isinstance(event, StatusChanged) or event.status == "closed"


def of_one_run(event: Data) -> bool:
    """The runs are alike: steps with one of them are enough."""
    return getattr(event, "run_id", None) != RUNS[1]


def steps(state: State, length: int) -> Iterator[tuple[Data, ...]]:
    """Every sequence of events that can follow on a state, up to a length."""
    if length:
        for event in filter(of_one_run, filter(told, changing(state))):
            yield (event,)
            yield from ((event, *rest) for rest in steps(fold(state, event), length - 1))


def reachable(states: Iterable[State]) -> dict[bytes, State]:
    """All states of the small world, in the middle of steps too."""
    found: dict[bytes, State] = {}
    waiting = list(states)
    while waiting:
        state = waiting.pop()
        if key(state) not in found:
            found[key(state)] = state
            waiting += [fold(state, event) for event in changing(state)]
    return found


ALL = list(reachable([State()]).values())
#: Those between two steps.
RESTING = [state for state in ALL if state.status == status_of(state)]


def test_small_world_is_worth_looking_at() -> None:
    """Two runs, and two calls in each way to be open, are enough for every pair of rules."""
    assert {state.status for state in RESTING} == set(get_args(Status))
    assert len(ALL) > 100


def test_fold_takes_what_may_follow_and_refuses_the_rest() -> None:
    """Every event on every state: either it follows, or the state is as it was."""
    for state, event in product(ALL, EVERYTHING):
        before = key(state)
        if may_follow(state, event):
            fold(state, event)
        else:
            with pytest.raises(NoSuchMove):
                fold(state, event)
        assert key(state) == before


def test_every_state_between_two_steps_has_the_status_of_the_rule() -> None:
    """No sequence of events leads to a state that no status names."""
    for state in RESTING:
        assert state.status in ("closed", rule(state))
        for step in steps(state, 1):
            after, events = advance(state, step)
            assert after.status in ("closed", rule(after))
            assert events[: len(step)] == step


def test_change_of_status_is_not_told_but_follows() -> None:
    """Nobody says that a session runs: it does, or it does not."""
    for state in RESTING:
        for status in set(get_args(Status)) - {"closed"}:
            with pytest.raises(NoSuchMove):
                advance(state, [StatusChanged(status=status)])


def wanted(state: State, step: Sequence[Data]) -> Status:
    """The status that a step leads to, were every move allowed."""
    for event in step:
        state = fold(state, event)
    return status_of(state)


def moves_of(length: int) -> tuple[set[tuple[Status, Status]], set[tuple[Status, Status]]]:
    """Changes of status by steps up to a length: those that happen, those that are refused."""
    made: set[tuple[Status, Status]] = set()
    refused: set[tuple[Status, Status]] = set()
    for state in RESTING:
        for step in steps(state, length):
            try:
                after, _ = advance(state, step)
            except NoSuchMove:
                refused.add((state.status, wanted(state, step)))
            else:
                if after.status != state.status:
                    made.add((state.status, after.status))
    return made, refused


def test_moves_are_what_histories_make() -> None:
    """Each move of the table is made by some step, and no step makes another one."""
    made, refused = moves_of(3)
    assert made == {(before, after) for before in MOVES for after in MOVES[before]}
    # A run begins in a step of its own: nobody waits in a session that was idle a moment ago.
    assert refused == {("idle", "waiting_human"), ("idle", "waiting_client")}


def test_no_single_event_needs_a_move_that_is_not_there() -> None:
    """Whoever appends one thing at a time is never refused by the table."""
    _, refused = moves_of(1)
    assert refused == set()


def test_nothing_happens_in_a_closed_session_and_nothing_is_open_in_it() -> None:
    """``closed`` is the end (section 9)."""
    closed = [state for state in ALL if state.status == "closed"]
    assert closed == [State(status="closed")]
    assert MOVES["closed"] == frozenset()
    for event in EVERYTHING:
        with pytest.raises(NoSuchMove):
            advance(closed[0], [event])


def test_one_step_may_end_a_run_and_the_session() -> None:
    """A person closes a session in the middle of its work: one change of status, the last one."""
    started = RunStarted(run_id="run_1", model=None, instructions_digest="d", catalog_digests={})
    running, _ = advance(State(), [started])
    state, events = advance(running, [TOLD, StatusChanged(status="closed")])
    assert state.status == "closed"
    assert [NAMES[type(event)] for event in events] == ["run_finished", "status"]


def test_answered_input_leaves_its_call_open() -> None:
    """A yes is no result: the call is still to be made."""
    call = ToolCall(
        call_id="call_1", app="acme", tool="t", offered_as="t", title="T", args={}, run_id="run_1"
    )
    started = RunStarted(run_id="run_1", model=None, instructions_digest="d", catalog_digests={})
    state, _ = advance(State(), [started])
    state, _ = advance(state, [call])
    state, events = advance(state, [needed("call_1")])
    assert state.status == "waiting_human"
    assert isinstance(events[-1], StatusChanged)
    assert state.inputs == {"input_1": "call_1"}
    state, _ = advance(state, [HumanInputResolved.of("input_1", "approved", by="user:ana")])
    assert (state.status, state.inputs, list(state.calls)) == ("running", {}, ["call_1"])


# -- longer histories --------------------------------------------------------------------------


def numbered(events: Iterable[Data]) -> list[Event]:
    """Events as they are kept."""
    return [
        Event(seq=n, type=NAMES[type(e)], at=n, data_json=msgspec.json.encode(e).decode())
        for n, e in enumerate(events, 1)
    ]


@given(data=st.data())
def test_log_gives_the_state_that_was_kept_step_by_step(data: st.DataObject) -> None:
    """The log is the truth: a session can be rebuilt from it after any crash (section 9)."""
    state, log = State(), list[Data]()
    for _ in range(data.draw(st.integers(1, 15))):
        step: list[Data] = []
        middle = state
        for _ in range(data.draw(st.integers(1, 3))):
            if options := [e for e in EVERYTHING if told(e) and may_follow(middle, e)]:
                step.append(data.draw(st.sampled_from(options)))
                middle = fold(middle, step[-1])
        try:
            state, events = advance(state, step)
        except NoSuchMove:
            continue
        log += events
        assert state.status in ("closed", rule(state))
        changes = [e.status for e in events if isinstance(e, StatusChanged)]
        assert changes in ([], [state.status])
    assert rebuilt(numbered(log)) == state


def test_types_of_a_later_version_change_nothing() -> None:
    """Readers ignore event types that they do not know."""
    later = Event(seq=1, type="something_new", at=1, data_json='{"x": 1}')
    assert rebuilt([later]) == State()
