"""What must hold of a conversation that was walked: always, and as a case says it in words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

from remit.session.events import Event
from remit.session.machine import NoSuchMove, rebuilt
from remit.testing import Call, ModelRequest
from tests.cases.command import Ran
from tests.cases.judges import judge_never, judge_requests, sound
from tests.cases.stage import Observed
from tests.cases.talk import Given, Talk
from tests.cases.verdicts import Json, only

_EXPECT_KEYS = "requests requestCount oneOf modelSees also never note"
_STATUS_OF = {"approve": "approved", "deny": "denied"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """All that was seen of a conversation when it had come to rest.

    Attributes:
        calls: what the model asked for, under its own ids, with the event of each.
        inputs: those that were answered, as the API gives them in the end.
        sent_early: how many writes had reached the app before the first answer.
    """

    session: dict[str, Json]
    events: list[dict[str, Json]]
    streamed: list[dict[str, Json]]
    calls: dict[str, dict[str, Json]]
    inputs: dict[str, dict[str, Json]]
    given: list[Given]
    sent_early: int
    asked: list[ModelRequest]
    observed: Observed

    @classmethod
    def of(cls, talk: Talk, calls: Sequence[Call]) -> Self:
        """Look at everything once more."""
        streamed = talk.reload()
        events = talk.events()
        announced = [event["data"] for event in events if event["type"] == "tool_call"]
        early = len([r for r in talk.requests[: talk.sent_before_answers] if r.method != "GET"])
        ran = Ran(exit_code=0, stdout=json.dumps(events), stderr=talk.said, seconds=0, peak_mb=0)
        return cls(
            session=talk.read(),
            events=events,
            streamed=[one["data"] for one in streamed],
            calls=dict(zip([str(call.id) for call in calls], announced, strict=False)),
            inputs={g.input_id: talk.ok("GET", f"/v1/inputs/{g.input_id}") for g in talk.given},
            given=talk.given,
            sent_early=early,
            asked=talk.asked,
            observed=Observed(requests=tuple(talk.requests), strays=tuple(talk.strays), ran=ran),
        )

    def data_of(self, kind: str) -> list[dict[str, Json]]:
        """The data of every event of a type."""
        return [event["data"] for event in self.events if event["type"] == kind]

    def result_of(self, name: str) -> dict[str, Json]:
        """The result of a call by the model's id; empty where there is none."""
        call = self.calls.get(name, {}).get("callId")
        found = [one for one in self.data_of("tool_result") if one["callId"] == call]
        return found[0] if found else {}

    def told_of(self, name: str) -> str:
        """What the model was told of a call."""
        if not self.asked:
            return ""
        messages = self.asked[-1].messages
        return "".join(str(m["content"]) for m in messages if m.get("tool_call_id") == name)

    @property
    def writes(self) -> int:
        """How many requests may have changed the app."""
        return sum(request.method != "GET" for request in self.observed.requests)


def judge(seen: Seen, expect: Json, *, again: Callable[[], Seen]) -> tuple[list[str], list[str]]:
    """The faults, and the conditions in prose; ``again`` walks the case without its reasons."""
    expect = only(expect, _EXPECT_KEYS, "expect")
    faults = [*_always(seen), *_counted(seen, expect)]
    prose: list[str] = []
    options = [_option(seen, one, again) for one in expect.get("oneOf", [])]
    if options and all(found for found, _ in options):
        faults.append(f"none of {len(options)} alternatives: {[f[0] for f, _ in options]}")
    prose += [phrase for _, more in options for phrase in more]
    for words in (expect.get("modelSees"), expect.get("also")):
        found, more = _judge_words(seen, words or "", again)
        faults += found
        prose += more
    for phrase in expect.get("never", []):
        found, more = _judge_never(seen, phrase)
        faults += found
        prose += more
    return faults, prose


def _option(seen: Seen, option: Json, again: Callable[[], Seen]) -> tuple[list[str], list[str]]:
    option = only(option, "requests requestCount also", "oneOf")
    faults, prose = _judge_words(seen, option.get("also", ""), again)
    return _counted(seen, option) + faults, prose


def _counted(seen: Seen, expect: dict[str, Json]) -> list[str]:
    requests = seen.observed.requests
    faults: list[str] = []
    if "requests" in expect:
        faults += judge_requests(expect["requests"], requests)
    if "requestCount" in expect and expect["requestCount"] != len(requests):
        faults.append(f"expected {expect['requestCount']} requests, seen {seen.observed.brief()}")
    return faults


# -- what holds of every conversation ----------------------------------------------------------


def _always(seen: Seen) -> list[str]:
    """The log is whole and folds, every call has one result, the model's history is well formed."""
    faults = sound(seen.observed)
    if [event["seq"] for event in seen.events] != list(range(1, len(seen.events) + 1)):
        faults.append(f"gaps in the log: {[event['seq'] for event in seen.events]}")
    if seen.streamed != seen.events:
        faults.append("the stream and the pages of the log are not the same")
    try:
        state = rebuilt(
            Event(seq=e["seq"], type=e["type"], at=0, data_json=json.dumps(e["data"]))
            for e in seen.events
        )
        if state.status != seen.session["status"]:
            faults.append(f"the log makes it {state.status}, it is {seen.session['status']}")
    except NoSuchMove as error:
        faults.append(f"the log cannot have come about: {error}")
    for call in seen.data_of("tool_call"):
        results = [r for r in seen.data_of("tool_result") if r["callId"] == call["callId"]]
        if len(results) != 1 and seen.session["status"] in ("idle", "closed"):
            faults.append(f"{len(results)} results of {call['tool']}")
    return faults + _answers(seen) + [f for one in seen.asked for f in _history(one)]


def _answers(seen: Seen) -> list[str]:
    """The first answer decides; equal ones are 200 or 409, others 409."""
    faults: list[str] = []
    for input_id, shown in seen.inputs.items():
        given = [one for one in seen.given if one.input_id == input_id]
        for one in given:
            same = _STATUS_OF[one.decision] == shown["status"]
            if one.status not in ((200, 409) if same else (409,)):
                faults.append(f"{one.decision}: {one.status}, the input is {shown['status']}")
        if not any(one.status == 200 for one in given):
            faults.append(f"no answer decided: {given}")
    return faults


def _history(asked: ModelRequest) -> list[str]:
    """Directly after an answer with calls stand their results, all of them, in its order."""
    faults: list[str] = []
    messages = asked.messages
    for place, message in enumerate(messages):
        ids = [call["id"] for call in message.get("tool_calls") or ()]
        after = [one.get("tool_call_id") for one in messages[place + 1 : place + 1 + len(ids)]]
        if ids != after:
            faults.append(f"calls {ids}, and after them results of {after}")
    return faults


# -- what a case says in words -----------------------------------------------------------------

_Holds = Callable[[re.Match[str], Seen, Callable[[], Seen]], bool]


def _denied_in_words(text: str) -> bool:
    return bool(re.search(r"person|human|user", text) and re.search(r"denied|refused", text))


def _not_to_repeat(text: str) -> bool:
    return bool(re.search(r"(?:not|never) (?:to )?(?:repeat|call|try)", text))


def _judged_always(_: re.Match[str], __: Seen, ___: Callable[[], Seen]) -> bool:
    return True


def _winner(seen: Seen) -> set[str]:
    return {shown["status"] for shown in seen.inputs.values()}


def _decided(_: re.Match[str], seen: Seen, __: Callable[[], Seen]) -> bool:
    closed = {one["inputId"] for one in seen.data_of("human_input_resolved")}
    return not seen.session["inputs"] and set(seen.inputs) <= closed


def _unreasoned(_: re.Match[str], __: Seen, again: Callable[[], Seen]) -> bool:
    text = " ".join(
        r["content"] for r in again().data_of("tool_result") if r["outcome"] == "denied"
    )
    return _denied_in_words(text) and _not_to_repeat(text)


def _ran_again(_: re.Match[str], seen: Seen, __: Callable[[], Seen]) -> bool:
    kinds = [(e["type"], e["data"].get("status")) for e in seen.events]
    place = max(
        (n for n, (kind, _) in enumerate(kinds) if kind == "human_input_resolved"), default=-1
    )
    return ("status", "running") in kinds[place:] and len(seen.asked) > 1


def _refused_said(found: re.Match[str], seen: Seen, _: Callable[[], Seen]) -> bool:
    text = seen.told_of(found[1])
    return _denied_in_words(text) and bool(
        re.search(r"not (?:sent|executed)|[Nn]othing was sent", text)
    )


def _reason_said(found: re.Match[str], seen: Seen, _: Callable[[], Seen]) -> bool:
    notes = [one.note for one in seen.given if one.note]
    return bool(notes) and all(note in seen.told_of(found[1]) for note in notes)


def _real_data(found: re.Match[str], seen: Seen, _: Callable[[], Seen]) -> bool:
    return seen.result_of(found[1]).get("outcome") == "ok" and bool(seen.told_of(found[1]))


def _told_of_all(found: re.Match[str], seen: Seen, _: Callable[[], Seen]) -> bool:
    return all(seen.told_of(name) for name in re.findall(r"\bc\d+\b", found[0]))


_CLAUSES: tuple[tuple[str, _Holds], ...] = (
    (r"an approve was first", lambda _, s, __: _winner(s) == {"approved"}),
    (r"the deny was first", lambda _, s, __: _winner(s) == {"denied"}),
    # ``_always`` judges these two of every conversation.
    (r"the first answer decides", _judged_always),
    (r"later equal answers get .*|a contradicting one gets 409", _judged_always),
    (r"the transcript has exactly one result for (c\d+)", lambda f, s, _: bool(s.result_of(f[1]))),
    (r"after the decision, another reload shows the card as decided.*", _decided),
    (r"without a reason the text still says .*", _unreasoned),
    (r"session returns to running by itself", _ran_again),
    (r"a result for c\d+.*directly after the assistant message.*", _told_of_all),
    (r"(c\d+) says that a human denied it and that it was not executed", _refused_said),
    (r"(?:(c\d+) )?carries the reason", _reason_said),
    (r"(c\d+) carries the real data", _real_data),
)


def _judge_words(seen: Seen, words: str, again: Callable[[], Seen]) -> tuple[list[str], list[str]]:
    """Judge conditions that are joined by semicolons."""
    faults: list[str] = []
    prose: list[str] = []
    for clause in filter(None, map(str.strip, _apart(words))):
        for pattern, holds in _CLAUSES:
            if found := re.fullmatch(pattern, clause):
                if not holds(found, seen, again):
                    faults.append(f"expected {clause!r}, seen {seen.observed.brief()[:200]}")
                break
        else:
            prose.append(f"also {clause}")
    return faults, prose


def _apart(words: str) -> list[str]:
    """Clauses, each with its subject: ``c1 says … , and carries …`` is two of them."""
    apart: list[str] = []
    for clause in words.split(";"):
        first, comma, rest = clause.partition(", and carries ")
        apart.append(first)
        if comma:
            name = re.search(r"\bc\d+\b", first)
            apart.append(f"{name[0] if name else ''} carries {rest}")
    return apart


_Broken = Callable[[re.Match[str], Seen], bool]
_NEVERS: tuple[tuple[str, _Broken], ...] = (
    (
        r"executed AND reported as denied",
        lambda _, s: (
            bool(s.writes) and any(r["outcome"] == "denied" for r in s.data_of("tool_result"))
        ),
    ),
    (r"a request before the decision", lambda _, s: s.sent_early > 0),
    (r"approval answered 404.*", lambda _, s: any(one.status == 404 for one in s.given)),
    (r"session stuck in (\w+)", lambda f, s: s.session["status"] == f[1]),
    (r"(c\d+) skipped.*", lambda f, s: s.result_of(f[1]).get("outcome") != "ok"),
    (r"(c\d+) missing.*", lambda f, s: not s.told_of(f[1])),
    (
        r"(c\d+) reported as success or as a tool crash",
        lambda f, s: s.result_of(f[1]).get("outcome") in ("ok", "error"),
    ),
)


def _judge_never(seen: Seen, phrase: str) -> tuple[list[str], list[str]]:
    for pattern, broken in _NEVERS:
        if found := re.fullmatch(pattern, phrase):
            fault = f"never {phrase!r}, and yet: {seen.observed.brief()[:300]}"
            return ([fault] if broken(found, seen) else []), []
    return judge_never([phrase], [seen.observed])
