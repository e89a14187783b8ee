"""Holds the log of each session against what the driver was told and what the app saw.

Contract: sections 5 (intents, unknown outcomes), 9 (the log, inputs) and 10 (events, messages,
``Idempotency-Key``).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tests.chaos.records import Record
from tests.chaos.shop import ONCE, PUT, REFUND, WRITES
from tests.chaos.talks.deaths import Death
from tests.chaos.talks.driving import Held
from tests.chaos.talks.host import POLL, Ledger, Visit
from tests.chaos.talks.script import ORDERS

# Clocks of two processes and the rounding of events.
_SLACK_S = 0.05

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that is known of a run when it is over."""

    talks: Sequence[Held]
    records: Sequence[Record]
    ledger: Ledger
    deaths: Sequence[Death]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One call of a session with all that is known of it.

    Attributes:
        call, result: the data of its events.
        kills, stops: deaths of servers between the two.
    """

    order: int
    tool: str
    denied: bool
    call: Json
    result: Json
    visits: Sequence[Visit]
    applied: int
    kills: int
    stops: int


def violations(evidence: Evidence) -> Iterator[str]:
    """What does not hold, each as a line that names the session."""
    visits = defaultdict[int, list[Visit]](list)
    records = defaultdict[int, list[Record]](list)
    for visit in evidence.ledger.visits:
        if visit.kind != POLL:
            visits[visit.order].append(visit)
    for record in evidence.records:
        records[record.order].append(record)
    for held in evidence.talks:
        where = f"session {held.plan.number} ({held.id or 'no id'})"
        for fault in (*held.strange, *_of_log(held), *_of_calls(held, evidence, visits, records)):
            yield f"{where}: {fault}"
    numbers = {held.plan.number for held in evidence.talks}
    for order in visits:
        if order // ORDERS not in numbers:
            yield f"order {order}: nobody asked for it, and it came"


def _of_log(held: Held) -> Iterator[str]:
    """What is to hold of the log, whatever is in it."""
    if not held.settled:
        kinds = [event["type"] for event in held.events[-3:]]
        yield f"it came to no end; its last events are {kinds}"
        return
    if held.events != held.log:
        yield f"the stream told {len(held.events)} events, and the log has {len(held.log)}"
    if [event["seq"] for event in held.log] != list(range(1, len(held.log) + 1)):
        yield "the numbers of its log have gaps or repeats"
    read = held.read or {}
    if (read.get("status"), read.get("inputs"), read.get("headSeq")) != ("idle", [], held.last):
        yield f"in the end it reads {read}"
    yield from _of_messages(held)
    yield from _of_runs(held)


def _of_messages(held: Held) -> Iterator[str]:
    users = [one for one in _data(held, "message") if one["role"] == "user"]
    said = [one["text"] for one in _data(held, "message") if one["role"] == "assistant"]
    if [one["text"] for one in users] != list(held.plan.messages):
        yield f"the user said {held.plan.messages}, and the log has {[u['text'] for u in users]}"
    if {one["text"]: one["runId"] for one in users} != held.runs:
        yield f"its messages were accepted with the runs {held.runs}, and the log has others"
    if said != list(held.plan.said):
        yield f"the agent said {said}"


def _of_runs(held: Held) -> Iterator[str]:
    started = [one["runId"] for one in _data(held, "run_started")]
    finished = {one["runId"]: one["reason"] for one in _data(held, "run_finished")}
    if len(set(started)) != len(started) or set(started) != set(finished):
        yield f"runs {started} were started, and {finished} finished"
    reasons = Counter(finished.values())
    if reasons["done"] != len(held.plan.messages) or reasons.keys() - {"done", "waiting"}:
        errors = [one["error"] for one in _data(held, "run_finished") if one.get("error")]
        yield f"its runs finished {dict(reasons)}: {errors}"


def _of_calls(
    held: Held,
    evidence: Evidence,
    visits: Mapping[int, list[Visit]],
    records: Mapping[int, list[Record]],
) -> Iterator[str]:
    asked = Counter(one["args"]["order"] for one in _data(held, "tool_call"))
    if held.settled and asked != Counter([*held.plan.orders]):
        yield f"the model made the calls {dict(asked)}"
    ended: dict[str, list[Json]] = defaultdict(list)
    for event in held.events:
        if event["type"] == "tool_result":
            ended[event["data"]["callId"]].append(event)
    for event in held.events:
        if event["type"] != "tool_call":
            continue
        call = event["data"]
        order: int = call["args"]["order"]
        tool = held.plan.orders.get(order, "")
        where = f"{tool} {order} ({call['callId']})"
        if tool in ONCE and len(visits.get(order, ())) > 1:
            yield f"{where}: a write came {len(visits[order])} times"
        results = ended.pop(call["callId"], [])
        if len(results) != 1:
            yield f"{where}: it has {len(results)} results"
            continue
        case = Case(
            order=order,
            tool=tool,
            denied=tool == REFUND and held.plan.denies,
            call=call,
            result=results[0]["data"],
            visits=visits.get(order, ()),
            applied=evidence.ledger.applied[tool, order],
            kills=_between(evidence.deaths, "kill", event, results[0]),
            stops=_between(evidence.deaths, "stop", event, results[0]),
        )
        for fault in (*_of_call(case), *_of_records(case, records.get(order, ()))):
            yield f"{where}: {fault}"
    for call_id in ended:
        yield f"a result of {call_id}, which is no call of it"


def _of_call(case: Case) -> Iterator[str]:
    outcome, came = case.result["outcome"], len(case.visits)
    if case.tool in WRITES and {one.key for one in case.visits} - {case.call["callId"]}:
        yield f"it came with other keys than its id: {case.visits}"
    if case.applied > 1:
        yield f"it was applied {case.applied} times"
    if case.tool == PUT and came > 1 and not case.kills + case.stops:
        yield f"it came {came} times, and no server died in between"
    if case.denied != (outcome == "denied"):
        yield f"its user {'said no' if case.denied else 'did not say no'}, and it ended {outcome}"
    if outcome == "ok" and not came:
        yield "it ended ok, and the app never saw it"
    elif outcome == "denied" and came:
        yield "it was denied, and it came"
    elif outcome == "outcome_unknown" and (case.tool not in ONCE or not case.kills + case.stops):
        yield f"its outcome is not known; {case.kills} kills and {case.stops} stops in between"
    elif outcome not in {"ok", "denied", "outcome_unknown"} and not _was_stopped(case):
        yield f"nothing explains that it ended {outcome}: {case.result['content']}"


def _was_stopped(case: Case) -> bool:
    """Whether its server was stopped for longer than the app may take."""
    code = case.result["display"].get("error", {}).get("code")
    return case.stops > 0 and code in {"upstream_timeout", "upstream_unreachable"}


def _of_records(case: Case, records: Sequence[Record]) -> Iterator[str]:
    told = (case.call["callId"], case.result["outcome"])
    if [(one.id, one.outcome) for one in records] != [told]:
        yield f"the session was told {told}, and the records say {records}"


def _between(deaths: Sequence[Death], kind: str, first: Json, last: Json) -> int:
    begins, ends = (datetime.fromisoformat(event["at"]).timestamp() for event in (first, last))
    return sum(
        death.kind == kind and death.ended >= begins - _SLACK_S and death.began <= ends + _SLACK_S
        for death in deaths
    )


def _data(held: Held, kind: str) -> list[Json]:
    return [event["data"] for event in held.events if event["type"] == kind]
