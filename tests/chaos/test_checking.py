"""The comparison finds every way in which a run could go wrong: else a green run says nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.chaos.checking import Evidence, violations
from tests.chaos.driving import Call, planned
from tests.chaos.lives import Kill
from tests.chaos.records import Input, Record
from tests.chaos.shop import ADD, GET, PUT, REFUND, RENDER
from tests.chaos.upstream import POLL, Visit

ADDED, LOST, PUT_TWICE, READ, JOB, PAID, REFUSED, BROKE = range(1, 9)
TOOLS = {
    ADDED: ADD,
    LOST: ADD,
    PUT_TWICE: PUT,
    READ: GET,
    JOB: RENDER,
    PAID: REFUND,
    REFUSED: REFUND,
    BROKE: ADD,
}
#: The one kill; these calls were under way then.
KILL = Kill(at=10.0, gone_at=10.1, out=True)
KILLED = {LOST, PUT_TWICE}


class Run:
    """A run in which all is well, for a test to spoil."""

    def __init__(self) -> None:
        self.calls = {order: _call(order) for order in TOOLS}
        self.records = {order: [_ok(order)] for order in TOOLS}
        self.visits = [
            Visit(tool, order, "" if tool == GET else f"call_{order}", "answer", 200)
            for order, tool in TOOLS.items()
            if order != REFUSED
        ]
        self.visits.append(Visit(POLL, JOB, "", "answer", 200))
        self.again(PUT_TWICE)
        self.visit(LOST).status = self.visit(BROKE).status = None
        self.visit(BROKE).does = "drop"
        self.change(LOST, outcome="outcome_unknown", happened=True, attempts=(), mapped=None)
        self.change(REFUSED, outcome="denied", attempts=(), mapped=None)
        unread = {"code": "upstream_unreachable", "happened": True}
        self.change(BROKE, outcome="error", attempts=(None,), mapped=None, **unread)
        self.inputs = [
            Input(id=f"inp_{order}", call=f"call_{order}", status=status)
            for order, status in ((PAID, "approved"), (REFUSED, "denied"))
        ]

    def visit(self, order: int) -> Visit:
        """The first request of an order."""
        return next(one for one in self.visits if one.order == order)

    def again(self, order: int) -> None:
        """One more request of an order."""
        self.visits.append(replace(self.visit(order)))

    def change(self, order: int, **fields: object) -> None:
        """Another record."""
        self.records[order] = [replace(self.records[order][0], **fields)]  # type: ignore[arg-type]
        self.calls[order].outcome = self.records[order][0].outcome

    def found(self) -> list[str]:
        """What the comparison says."""
        evidence = Evidence(
            calls=list(self.calls.values()),
            records=[record for own in self.records.values() for record in own],
            inputs=self.inputs,
            visits=self.visits,
            kills=[KILL],
        )
        return list(violations(evidence))


def _call(order: int) -> Call:
    call = planned(1, order)[0]
    call.order, call.tool = order, TOOLS[order]
    call.decision = "deny" if order == REFUSED else "approve"
    call.ids, call.outcome = {f"call_{order}"}, "ok"
    call.inputs = {f"inp_{order}"} if call.tool == REFUND else set()
    call.began, call.settled = (9.0, 11.0) if order in KILLED else (1.0, 2.0)
    return call


def _ok(order: int) -> Record:
    refund = TOOLS[order] == REFUND
    return Record(
        id=f"call_{order}",
        order=order,
        tool=TOOLS[order],
        outcome="ok",
        mapped={"order": order},
        attempts=(200,),
        input_id=f"inp_{order}" if refund else None,
        answered_by="user:ana" if refund else None,
    )


def test_run_in_which_all_is_well_has_no_violation() -> None:
    """A kill, a drop, a refusal and a repeat of what may be repeated are what is promised."""
    assert Run().found() == []


def test_read_that_was_killed_while_it_was_retried_is_as_promised() -> None:
    """Its record tells of what the next process sent: 503, 503 and a kill, then the answer."""
    run = Run()
    run.calls[READ].settled = KILL.gone_at
    run.visits += [Visit(GET, READ, "", "503", 503) for _ in range(2)]

    assert run.found() == []


SPOILT: dict[str, tuple[Callable[[Run], object], str]] = {
    "write twice": (lambda run: run.again(ADDED), "a write was sent 2 times"),
    "lost write sent again": (lambda run: run.again(LOST), "a write was sent 2 times"),
    "job started twice": (lambda run: run.again(JOB), "a write was sent 2 times"),
    "repeat under another key": (
        lambda run: setattr(run.visits[-1], "key", "call_x"),
        "with another key",
    ),
    "sent more often than recorded": (lambda run: run.again(READ), "1 attempts, 0 kills"),
    "write sent more often than killed": (
        lambda run: [run.again(PUT_TWICE) for _ in range(2)],
        "1 attempts, 1 kills",
    ),
    "another tool sent": (lambda run: setattr(run.visit(ADDED), "kind", PUT), "another tool's"),
    "no record": (lambda run: run.records[ADDED].clear(), "there are 0 records"),
    "two records": (
        lambda run: run.records[ADDED].append(replace(_ok(ADDED), id="call_x")),
        "there are 2 records",
    ),
    "record of nobody's call": (
        lambda run: run.records.update({99: [replace(_ok(READ), order=99)]}),
        "order 99: nobody called",
    ),
    "request of nobody's call": (
        lambda run: run.visits.append(Visit(ADD, 99, "call_99", "answer", 200)),
        "order 99: nobody called",
    ),
    "left sending": (lambda run: run.change(ADDED, outcome="sending"), "came to no end: sending"),
    "left polling": (lambda run: run.change(JOB, outcome="polling"), "came to no end: polling"),
    "left waiting": (lambda run: run.change(PAID, outcome="waiting_human"), "came to no end"),
    "end never told": (lambda run: setattr(run.calls[ADDED], "settled", None), "came to no end"),
    "other end told": (
        lambda run: setattr(run.calls[ADDED], "outcome", "error"),
        "was told error, and recorded ok",
    ),
    "two ids told": (lambda run: run.calls[ADDED].ids.add("call_x"), "its record is call_1"),
    "strange answer": (lambda run: run.calls[READ].strange.append("500"), ": 500"),
    "ok and never sent": (lambda run: run.visits.remove(run.visit(ADDED)), "did not say so"),
    "ok and refused by the app": (
        lambda run: setattr(run.visit(READ), "status", 500),
        "that the app did not give",
    ),
    "ok with another's answer": (
        lambda run: run.change(READ, mapped={"order": ADDED}),
        "another's answer",
    ),
    "job never asked for": (
        lambda run: setattr(run, "visits", [one for one in run.visits if one.kind != POLL]),
        "no poll was answered",
    ),
    "unknown without a kill": (
        lambda run: run.change(ADDED, outcome="outcome_unknown", happened=True, attempts=()),
        "no kill fell in between",
    ),
    "unknown and may be repeated": (
        lambda run: run.change(PUT_TWICE, outcome="outcome_unknown", happened=True),
        "put_order may be sent again",
    ),
    "unknown and silent about it": (
        lambda run: run.change(LOST, happened=False),
        "does not say that it may have happened",
    ),
    "sent and recorded as not": (
        lambda run: run.change(BROKE, happened=False),
        "recorded as not sent, and it was",
    ),
    "unread and answered": (
        lambda run: setattr(run.visit(BROKE), "does", "answer"),
        "and the app answered",
    ),
    "error that the app did not give": (
        lambda run: run.change(ADDED, outcome="error", code="upstream_error", status=503),
        "recorded an answer 503",
    ),
    "error without a reason": (
        lambda run: run.change(ADDED, outcome="error", code="egress_refused"),
        "nothing explains the error egress_refused",
    ),
    "end without a reason": (
        lambda run: run.change(ADDED, outcome="cancelled"),
        "nothing explains that it ended cancelled",
    ),
    "asked for too seldom": (
        lambda run: run.change(JOB, outcome="error", code="poll_exhausted"),
        "to the last, after 1 polls",
    ),
    "refused and sent": (
        lambda run: run.visits.append(Visit(REFUND, REFUSED, "call_7", "answer", 200)),
        "it was denied, and it was sent",
    ),
    "denied by nobody": (
        lambda run: run.change(ADDED, outcome="denied"),
        "denied, and nobody refused it",
    ),
    "refused and done": (
        lambda run: run.change(REFUSED, outcome="ok"),
        "a person refused it, and it ended ok",
    ),
    "input lost": (lambda run: run.inputs.pop(), "its inputs are []"),
    "input left open": (
        lambda run: run.inputs.__setitem__(0, replace(run.inputs[0], status="open")),
        "status='open'",
    ),
    "two inputs": (
        lambda run: run.inputs.append(replace(run.inputs[0], id="inp_x")),
        "its inputs are",
    ),
    "input of no call": (
        lambda run: run.inputs.append(replace(run.inputs[0], call="call_x")),
        "call_x, which is no call",
    ),
    "another input shown": (
        lambda run: setattr(run.calls[PAID], "inputs", {"inp_x"}),
        "the person was shown",
    ),
    "nobody answered": (
        lambda run: run.change(PAID, answered_by=None),
        "does not say who answered",
    ),
}


@pytest.mark.parametrize(("spoil", "said"), SPOILT.values(), ids=SPOILT.keys())
def test_run_that_breaks_a_promise_is_found_out(spoil: Callable[[Run], object], said: str) -> None:
    """Each violation is named, with the call (contract sections 5, 6, 9 and 10)."""
    run = Run()
    spoil(run)

    found = run.found()
    assert any(said in line for line in found), found
