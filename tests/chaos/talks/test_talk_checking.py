"""What the comparison of a chaos run sees: each promise that breaks, and none that holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import pytest

from tests.chaos.records import Record
from tests.chaos.shop import ADD, GET, PUT, REFUND, WRITES
from tests.chaos.talks.checking import Evidence, violations
from tests.chaos.talks.deaths import Death
from tests.chaos.talks.driving import Held
from tests.chaos.talks.host import Ledger, Visit
from tests.chaos.talks.script import talk

Json = dict[str, Any]
_DAY_S = 1_764_547_200


@dataclass(slots=True)
class Run:
    """A session that went as it should, and all that is known of it."""

    held: Held
    records: list[Record]
    visits: list[Visit]
    applied: Counter[tuple[str, int]]
    deaths: list[Death]

    def faults(self) -> list[str]:
        """What the comparison says."""
        ledger = Ledger(self.visits, self.applied)
        evidence = Evidence(
            talks=[self.held], records=self.records, ledger=ledger, deaths=self.deaths
        )
        return list(violations(evidence))

    def add(self, kind: str, **data: object) -> Json:
        """One more event, a second after the one before."""
        seq = len(self.held.log) + 1
        at = f"2025-12-01T00:{seq // 60:02}:{seq % 60:02}.000Z"
        event = {"seq": seq, "type": kind, "at": at, "data": data}
        self.held.log.append(event)
        self.held.events.append(event)
        return event

    def of(self, kind: str, **wanted: object) -> Json:
        """The first event of a kind whose data has these."""
        return next(
            event
            for event in self.held.events
            if event["type"] == kind and wanted.items() <= event["data"].items()
        )

    def result(self, order: int) -> Json:
        """The event of a call's result."""
        return self.of("tool_result", callId=f"call_{order}")

    def ends(self, order: int, outcome: str) -> None:
        """Let a call have ended otherwise, in the log and in the records."""
        self.result(order)["data"]["outcome"] = outcome
        self.records = [
            replace(one, outcome=outcome) if one.order == order else one for one in self.records
        ]


def _run(number: int = 1) -> Run:
    plan = talk(number)
    held = Held(plan, id="ses_1", settled=True, runs={})
    run = Run(held, [], [], Counter(), [])
    run.add("session_started")
    left = list(plan.messages)
    running = ""
    for step in plan.steps:
        if not running:
            running = f"run_{len(left)}"
            text = left.pop(0)
            held.runs[text] = running
            run.add("message", role="user", text=text, runId=running)
            run.add("run_started", runId=running)
        if step.text:
            run.add("message", role="assistant", text=step.text, runId=running)
        for _, order in step.calls:
            run.add("tool_call", callId=f"call_{order}", args={"order": order})
        for tool, order in step.calls:
            _end(run, tool, order)
        if not step.calls:
            run.add("run_finished", runId=running, reason="done")
            running = ""
    held.read = {"status": "idle", "inputs": [], "headSeq": len(held.log)}
    return run


def _end(run: Run, tool: str, order: int) -> None:
    outcome = "denied" if tool == REFUND and run.held.plan.denies else "ok"
    run.add("tool_result", callId=f"call_{order}", outcome=outcome, display={}, content="")
    run.records.append(Record(id=f"call_{order}", order=order, tool=tool, outcome=outcome))
    if outcome == "denied":
        return
    run.visits.append(Visit(tool, order, f"call_{order}" if tool in WRITES else ""))
    if tool != GET:
        run.applied[tool, order] += 1


def _dies(run: Run, order: int, kind: Literal["kill", "stop"] = "kill") -> None:
    """Let a server die while a call was made."""
    seq = run.result(order)["seq"] - 1
    run.deaths.append(Death(kind=kind, began=_DAY_S + seq, ended=_DAY_S + seq))


@pytest.mark.parametrize("number", [1, 3, 4], ids=("said yes", "queued", "said no"))
def test_session_that_went_as_it_should_has_no_fault(number: int) -> None:
    """Whatever its user says."""
    assert _run(number).faults() == []


def test_unknown_outcome_of_a_write_is_explained_by_a_death() -> None:
    """And by nothing else; and a put that came again with its key is as it should be."""
    run = _run()
    run.ends(103, "outcome_unknown")
    _dies(run, 103)
    run.visits.append(Visit(PUT, 106, "call_106"))
    _dies(run, 106)

    assert run.faults() == []


def _came_twice(run: Run) -> None:
    run.visits.append(Visit(ADD, 103, "call_103"))


def _was_applied_twice(run: Run) -> None:
    run.applied[PUT, 106] += 1


def _came_again_without_a_death(run: Run) -> None:
    run.visits.append(Visit(PUT, 106, "call_106"))


def _other_key(run: Run) -> None:
    run.visits[:] = [Visit(ADD, one.order, "x") if one.kind == ADD else one for one in run.visits]


def _no_result(run: Run) -> None:
    event = run.result(104)
    event["type"] = "other"


def _second_result(run: Run) -> None:
    run.result(104)["data"]["callId"] = "call_103"


def _unknown_without_a_death(run: Run) -> None:
    run.ends(103, "outcome_unknown")


def _unknown_read(run: Run) -> None:
    run.ends(101, "outcome_unknown")
    _dies(run, 101)


def _error(run: Run) -> None:
    run.ends(103, "error")
    _dies(run, 103)


def _never_came(run: Run) -> None:
    run.visits[:] = [one for one in run.visits if one.order != 103]


def _other_record(run: Run) -> None:
    run.records[0] = replace(run.records[0], outcome="error")


def _no_record(run: Run) -> None:
    del run.records[0]


def _gap(run: Run) -> None:
    del run.held.log[5]
    del run.held.events[5]


def _not_told(run: Run) -> None:
    run.held.events = run.held.events[:-1]


def _lost_message(run: Run) -> None:
    event = run.of("message", role="user", text=run.held.plan.messages[1])
    event["type"] = "other"


def _said_twice(run: Run) -> None:
    event = run.of("message", role="assistant")
    event["data"]["role"] = "user"


def _failed(run: Run) -> None:
    run.of("run_finished")["data"]["reason"] = "failed"


def _never_ended(run: Run) -> None:
    run.held.settled = False


def _still_runs(run: Run) -> None:
    run.held.read = {"status": "running", "inputs": [], "headSeq": len(run.held.log)}


def _asked_twice(run: Run) -> None:
    run.add("tool_call", callId="call_x", args={"order": 103})


@pytest.mark.parametrize(
    ("breaks", "says"),
    [
        (_came_twice, "a write came 2 times"),
        (_was_applied_twice, "it was applied 2 times"),
        (_came_again_without_a_death, "no server died in between"),
        (_other_key, "other keys than its id"),
        (_no_result, "it has 0 results"),
        (_second_result, "it has 2 results"),
        (_unknown_without_a_death, "its outcome is not known; 0 kills"),
        (_unknown_read, "its outcome is not known; 1 kills"),
        (_error, "nothing explains that it ended error"),
        (_never_came, "the app never saw it"),
        (_other_record, "the records say"),
        (_no_record, "the records say ()"),
        (_gap, "gaps or repeats"),
        (_not_told, "the stream told"),
        (_lost_message, "the user said"),
        (_said_twice, "the agent said"),
        (_failed, "its runs finished"),
        (_never_ended, "it came to no end"),
        (_still_runs, "in the end it reads"),
        (_asked_twice, "the model made the calls"),
    ],
    ids=lambda value: value.__name__.strip("_") if callable(value) else "",
)
def test_promise_that_breaks_is_named(breaks: Callable[[Run], None], says: str) -> None:
    """Each by a line that says what was seen."""
    run = _run()
    breaks(run)

    assert any(says in fault for fault in run.faults()), run.faults()


def test_denied_call_that_came_is_named() -> None:
    """Nothing is sent of what a person refused."""
    run = _run(4)
    run.visits.append(Visit(REFUND, 407, "call_407"))

    assert any("it was denied, and it came" in fault for fault in run.faults())
