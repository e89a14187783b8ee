"""The walker of conversations finds what is wrong with one."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from remit.testing import ModelRequest
from tests.cases.session_cases import walked
from tests.cases.session_judges import Seen, judge
from tests.cases.talk import Reader
from tests.cases.verdicts import Json

SHIP: Json = {
    "type": "object",
    "properties": {"ship": {"type": "string"}},
    "required": ["ship"],
}
SCRAP: Json = {
    "name": "scrap_ship",
    "description": "Scraps a ship for good. Use only in tests.",
    "category": "action",
    "dangerLevel": "destructive",
    "parameters": SHIP,
    "endpoint": {"method": "POST", "path": "/ships/{{args.ship}}/scrap"},
}
READ: Json = {
    "name": "read_ship",
    "description": "Reads a ship. Use only in tests.",
    "category": "read",
    "dangerLevel": "safe",
    "parameters": SHIP,
    "endpoint": {"method": "GET", "path": "/ships/{{args.ship}}"},
}
#: A denied call beside one that runs.
GIVEN: Json = {
    "surface": "session",
    "app": {"name": "Harbour", "baseUrl": "https://api.harbour.test/v2"},
    "tools": [SCRAP, READ],
    "script": [
        {
            "model": [
                {"call": "scrap_ship", "id": "c1", "args": {"ship": "s7"}},
                {"call": "read_ship", "id": "c2", "args": {"ship": "s7"}},
            ]
        },
        {"human": "deny c1, with reason 'wait for Monday'"},
        {"model": "I left it."},
    ],
    "upstream": [{"status": 200, "body": {"name": "Aurora"}}],
}
EXPECT: Json = {
    "requests": [{"method": "GET", "path": "/v2/ships/s7"}],
    "modelSees": (
        "a result for c1 AND a result for c2 directly after the assistant message; c1 says that "
        "a human denied it and that it was not executed, and carries the reason; c2 carries the "
        "real data"
    ),
    "also": "session returns to running by itself",
    "never": [
        "c2 skipped because c1 was denied",
        "c1 missing",
        "c1 reported as success or as a tool crash",
    ],
}


@pytest.fixture(scope="module")
def denied() -> Seen:
    """A conversation in which one call was denied and one ran."""
    return walked(GIVEN).seen


def faults(seen: Seen, **expect: Any) -> list[str]:  # noqa: ANN401 -- of a case
    """What the judge says."""
    return judge(seen, {**EXPECT, **expect}, again=lambda: seen)[0]


def without(seen: Seen, kind: str) -> Seen:
    """The log without the last event of a type."""
    place = max(n for n, event in enumerate(seen.events) if event["type"] == kind)
    events = seen.events[:place] + seen.events[place + 1 :]
    return replace(seen, events=events, streamed=events)


def history(seen: Seen, change: Callable[[list[dict[str, Any]]], None]) -> Seen:
    """Another last question to the model."""
    body = deepcopy(dict(seen.asked[-1].body))
    change(body["messages"])
    asked = ModelRequest(body=body, conversation="", turn=1, attempt=1, authorization=None)
    return replace(seen, asked=[*seen.asked[:-1], asked])


def result_changed(seen: Seen, name: str, **change: str) -> Seen:
    """Another result of a call."""
    events = deepcopy(seen.events)
    for event in events:
        if event["type"] == "tool_result" and event["data"]["callId"] == seen.calls[name]["callId"]:
            event["data"] |= change
    return replace(seen, events=events, streamed=events)


def test_what_was_seen_pleases_the_judge(denied: Seen) -> None:
    """Or the rest would show nothing."""
    assert faults(denied) == []


BROKEN: dict[str, Callable[[Seen], Seen]] = {
    "a call without a result": lambda s: without(s, "tool_result"),
    "a status that nobody told": lambda s: without(s, "status"),
    "a stream that is not the log": lambda s: replace(s, streamed=s.streamed[:-1]),
    "another answer is 200 too": lambda s: replace(
        s, given=[*s.given, replace(s.given[0], decision="approve", status=200)]
    ),
    "an answer that was not found": lambda s: replace(
        s, given=[replace(one, status=404) for one in s.given]
    ),
    "a hole in the history": lambda s: history(s, lambda m: m.remove(m[-1])),
    "results in another order": lambda s: history(s, lambda m: m.reverse()),
    "a reason that is not passed on": lambda s: replace(
        s, given=[replace(one, note="another one") for one in s.given]
    ),
    "a denied call that looks done": lambda s: result_changed(s, "c1", outcome="ok"),
    "a call that was skipped with another": lambda s: result_changed(s, "c2", outcome="denied"),
    "a request too many": lambda s: replace(
        s, observed=replace(s.observed, requests=s.observed.requests * 2)
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_judge_finds(what: str, denied: Seen) -> None:
    """A judge that lets everything pass shows nothing."""
    assert faults(BROKEN[what](denied)), what


def test_conditions_in_words_are_judged_or_said_to_be_not(denied: Seen) -> None:
    """What no machine judges must not look as if it had been."""
    _, prose = judge(denied, {"also": "the moon is full"}, again=lambda: denied)
    assert prose == ["also the moon is full"]
    assert faults(denied, also="an approve was first")
    assert faults(denied, never=["session stuck in idle"])


def test_reader_reads_events_as_a_browser_does() -> None:
    """Every line end of the standard, in any cut; comments; data of several lines."""
    text = ':\n\nid: 1\r\nevent: a\r\ndata: {"x":\rdata: 1}\n\ndata: 2\r\r: more\n\nid: 3\n\n'
    wanted = [{"id": "1", "event": "a", "data": {"x": 1}}, {"data": 2}]
    for cut in range(len(text)):
        reader = Reader()
        assert reader.read(text[:cut]) + reader.read(text[cut:]) == wanted, cut
