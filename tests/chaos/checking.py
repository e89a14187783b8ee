"""Holds against each other what the driver was told, what the records say, what the app saw.

Contract: sections 5 (outcomes, intents, unknown outcomes), 6 (polls), 9 (inputs) and 10
(``Idempotency-Key``).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.chaos.driving import OPEN, Call
from tests.chaos.lives import Kill
from tests.chaos.records import Input, Record
from tests.chaos.shop import GET, MAX_POLLS, ONCE, PUT, REFUND, RENDER, WRITES
from tests.chaos.upstream import POLL, UNANSWERED, Visit

# A read that meets a busy app is retried twice before its attempts are written down.
_TRIES_OF_A_READ = 3
#: No whole answer was read.
_UNREAD = frozenset({"upstream_unreachable", "response_invalid", "upstream_timeout"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that is known of a run when it is over."""

    calls: Sequence[Call]
    records: Sequence[Record]
    inputs: Sequence[Input]
    visits: Sequence[Visit]
    kills: Sequence[Kill]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One call with all that is known of it.

    Attributes:
        visits: the requests that made it to the app; ``polls`` those for its job.
        kills: how many kills fell between its begin and its end.
    """

    call: Call
    record: Record
    visits: Sequence[Visit]
    polls: Sequence[Visit]
    kills: int

    @property
    def statuses(self) -> Counter[int]:
        """What the app answered, and how often."""
        return Counter(one.status for one in self.visits if one.status is not None)


def violations(evidence: Evidence) -> Iterator[str]:
    """What does not hold, each as a line that names the call."""
    records = defaultdict[int, list[Record]](list)
    visits = defaultdict[int, list[Visit]](list)
    for record in evidence.records:
        records[record.order].append(record)
    for visit in evidence.visits:
        visits[visit.order].append(visit)
    orders = {call.order for call in evidence.calls}
    for order in (records.keys() | visits.keys()) - orders:
        yield f"order {order}: nobody called for it, and there is a record or a request of it"
    for call in evidence.calls:
        where = f"order {call.order} ({call.tool}, {' '.join(sorted(call.ids)) or 'no id'})"
        for fault in _of_call(call, records[call.order], visits[call.order], evidence.kills):
            yield f"{where}: {fault}"
    yield from _of_inputs(evidence)


def _of_call(
    call: Call, records: Sequence[Record], visits: Sequence[Visit], kills: Sequence[Kill]
) -> Iterator[str]:
    yield from call.strange
    sent = [one for one in visits if one.kind != POLL]
    if any(one.kind != call.tool for one in sent):
        yield f"another tool's request was sent: {sent}"
    if call.tool in ONCE and len(sent) > 1:
        yield f"a write was sent {len(sent)} times: {sent}"
    if len(records) != 1:
        yield f"there are {len(records)} records of it, and {len(sent)} requests"
        return
    record = records[0]
    if record.outcome in OPEN or call.settled is None:
        yield f"it came to no end: {record.outcome}, told {call.outcome}"
        return
    if call.ids != {record.id}:
        yield f"its record is {record.id}"
    if call.outcome != record.outcome:
        yield f"it was told {call.outcome}, and recorded {record.outcome}"
    if call.tool in WRITES and any(one.key != record.id for one in sent):
        yield f"a write was sent with another key than its id: {sent}"
    began, settled = call.began or 0.0, call.settled
    between = sum(began <= kill.gone_at and settled >= kill.at for kill in kills)
    case = Case(
        call=call,
        record=record,
        visits=sent,
        polls=[one for one in visits if one.kind == POLL],
        kills=between,
    )
    yield from _of_attempts(case)
    yield from _of_outcome(case)


def _of_attempts(case: Case) -> Iterator[str]:
    """Whether the record tells of what reached the app; a kill takes with it what is not kept."""
    attempts = case.record.attempts
    taken = case.kills * (_TRIES_OF_A_READ if case.call.tool == GET else 1)
    told = Counter(status for status in attempts if status is not None)
    if told - case.statuses:
        yield f"its record tells of answers {attempts} that the app did not give: {case.visits}"
    if len(case.visits) > len(attempts) + taken:
        yield (
            f"its record tells of {len(attempts)} attempts, {case.kills} kills fell in between, "
            f"and {len(case.visits)} requests came"
        )


def _of_outcome(case: Case) -> Iterator[str]:
    call, record = case.call, case.record
    rule = _RULES.get(record.outcome)
    if rule is None:
        yield f"nothing explains that it ended {record.outcome} {record.code}"
    else:
        yield from rule(case)
    if call.tool == REFUND and call.decision == "deny" and record.outcome != "denied":
        yield f"a person refused it, and it ended {record.outcome}"


def _of_ok(case: Case) -> Iterator[str]:
    call, record = case.call, case.record
    if 200 not in case.statuses:
        yield f"recorded ok, and the app did not say so: {case.visits}"
    if record.mapped != {"order": call.order}:
        yield f"recorded another's answer: {record.mapped}"
    if call.tool == RENDER and 200 not in {one.status for one in case.polls}:
        yield "recorded ok, and no poll was answered"


def _of_unknown(case: Case) -> Iterator[str]:
    if case.kills == 0:
        yield "its outcome is not known, and no kill fell in between"
    if case.call.tool not in ONCE:
        yield f"its outcome is not known, and {case.call.tool} may be sent again"
    if not case.record.happened:
        yield "its outcome is not known, and it does not say that it may have happened"


def _of_denied(case: Case) -> Iterator[str]:
    if case.call.tool != REFUND or case.call.decision != "deny":
        yield "it was denied, and nobody refused it"
    if case.visits:
        yield f"it was denied, and it was sent: {case.visits}"


def _of_error(case: Case) -> Iterator[str]:
    record, call = case.record, case.call
    if record.code == "upstream_error":
        if record.status not in case.statuses or record.status == 200:
            yield f"recorded an answer {record.status} that the app did not give: {case.visits}"
    elif record.code in _UNREAD:
        yield from _of_unread(case)
    elif record.code in {"poll_failed", "poll_exhausted"} and call.tool == RENDER:
        if 200 not in case.statuses:
            yield f"recorded a job that was not started: {case.visits}"
        if record.code == "poll_exhausted" and len(case.polls) < MAX_POLLS:
            yield f"recorded that it was asked for to the last, after {len(case.polls)} polls"
    else:
        yield f"nothing explains the error {record.code}"


def _of_unread(case: Case) -> Iterator[str]:
    """No answer was read: then the app gave none, or the call says that nothing was sent."""
    record, visits = case.record, case.visits
    # An idempotent one may have been sent before a kill, and then not have been sent again.
    repeated = case.call.tool == PUT and case.kills > 0
    if case.call.tool in WRITES and not record.happened and visits and not repeated:
        yield f"recorded as not sent, and it was: {visits}"
    if record.code == "upstream_timeout" or not visits:
        return
    if not any(one.does in UNANSWERED for one in visits):
        yield f"recorded {record.code}, and the app answered: {visits}"


_RULES: Mapping[str, Callable[[Case], Iterator[str]]] = {
    "ok": _of_ok,
    "error": _of_error,
    "outcome_unknown": _of_unknown,
    "denied": _of_denied,
}


def _of_inputs(evidence: Evidence) -> Iterator[str]:
    """One input for each call that needs a person, answered as the person did."""
    inputs = defaultdict[str, list[Input]](list)
    for one in evidence.inputs:
        inputs[one.call].append(one)
    wanted = {call.order: call for call in evidence.calls if call.tool == REFUND}
    status_of = {"approve": "approved", "deny": "denied"}
    for record in evidence.records:
        own = inputs.pop(record.id, [])
        call = wanted.get(record.order)
        expected = [] if call is None else [(record.input_id, status_of[call.decision])]
        if [(one.id, one.status) for one in own] != expected:
            yield f"order {record.order} ({record.tool}, {record.id}): its inputs are {own}"
        elif call is not None and call.inputs != {record.input_id}:
            yield f"order {record.order}: the person was shown {call.inputs}, not {own[0].id}"
        elif call is not None and not record.answered_by:
            yield f"order {record.order}: its record does not say who answered"
    for call_id in inputs:
        yield f"an input of {call_id}, which is no call"


def sent_again(visits: Sequence[Visit]) -> Counter[str]:
    """How many calls of a tool reached the app more than once."""
    came = Counter((one.kind, one.order) for one in visits if one.kind in {PUT, GET})
    return Counter(kind for (kind, _), times in came.items() if times > 1)
