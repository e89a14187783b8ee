"""The data of events: what each carries, and that nothing else is needed to read it (section 9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from remit.gateway.asking import input_json
from remit.gateway.ledger import InputStatus, Outcome
from remit.session import events, inputs
from remit.session.events import NAMES, STREAM_ONLY, TYPES, Event, HumanInputNeeded, data_of
from remit.session.inputs import HumanInputResolved
from remit.session.parts import DISPLAYS, AppCatalog, Usage
from tests.gateway.nodes import furnish, open_stage
from tests.session.making import struct_of

#: What the contract says that each type carries; further keys may stand beside it.
CARRIED: Mapping[str, str] = {
    "session_started": "apps user pins model",
    "catalog": "apps",
    "message": "messageId role text",
    "run_started": "runId model instructionsDigest catalogDigests",
    "tool_call": "callId app tool offeredAs title args",
    "human_input_needed": (
        "id kind status callId user app tool title args digest by createdAt expiresAt"
    ),
    "human_input_resolved": "inputId decision by",
    "client_tool_call": "callId tool args",
    "widget": "callId widget props",
    "tool_progress": "callId polls status",
    "tool_result": "callId outcome content",
    "status": "status",
    "run_finished": "runId reason usage",
    "text_delta": "runId messageId offset text",
    "reset": "",
    "end": "reason",
}
#: What stands only where there is something to say.
IF_THERE = {
    "human_input_needed": "sessionId preview request reason account card",
    "human_input_resolved": "device",
    "tool_result": "display",
    "run_finished": "error",
}
#: What happens in no run: the others carry its id (in the order of the contract's table).
OUTSIDE_RUNS = {"session_started", *STREAM_ONLY} - {"text_delta"}


def keys(kind: type[msgspec.Struct], *, always: bool) -> set[str]:
    """The keys that are always there, or that may be."""
    return {f.encode_name for f in structs.fields(kind) if f.required or not always}


@pytest.mark.parametrize("name", CARRIED)
def test_event_carries_what_the_contract_names(name: str) -> None:
    """The keys that a reader may count on (section 9)."""
    kind = {**TYPES, **STREAM_ONLY}[name]
    assert set(CARRIED[name].split()) <= keys(kind, always=True)
    assert set(IF_THERE.get(name, "").split()) <= keys(kind, always=False)
    assert ("runId" in keys(kind, always=False)) == (name not in OUTSIDE_RUNS)


def test_no_type_is_forgotten() -> None:
    """The contract's types and ours are the same."""
    assert set(CARRIED) == {*TYPES, *STREAM_ONLY}


def test_parts_carry_what_the_contract_names() -> None:
    """Usage, an app's catalog, and the ways to draw a result (section 9)."""
    assert keys(Usage, always=True) == {
        "inputTokens",
        "outputTokens",
        "cachedTokens",
        "calls",
        "ms",
    }
    assert keys(AppCatalog, always=True) >= {"app", "source", "ageSeconds", "dropped"}
    assert [keys(kind, always=True) for kind in DISPLAYS] == [
        {"renderer", "data"},
        {"markdown"},
        {"embedUrl"},
        {"widget", "props"},
        {"error"},
    ]


def test_words_are_those_of_calls_and_inputs() -> None:
    """An outcome and a status are the same word on every surface."""
    assert get_args(events.Outcome) == get_args(Outcome)
    assert ("open", *get_args(inputs.Closed)) == get_args(InputStatus)


@given(data=st.sampled_from(list(TYPES)).flatmap(lambda name: struct_of(TYPES[name])))
def test_data_is_read_as_it_was_written(data: events.Data) -> None:
    """What is kept is what happened, in one line whatever it holds."""
    kept = msgspec.json.encode(data).decode()
    assert not set(kept) & {"\n", "\r"}
    assert data_of(Event(seq=1, type=NAMES[type(data)], at=1, data_json=kept)) == data


def test_keys_of_a_later_version_are_ignored() -> None:
    """Within v1 keys may come, and old readers go on."""
    kept = '{"status": "idle", "somethingNew": [1]}'
    assert data_of(Event(seq=1, type="status", at=1, data_json=kept)) == events.StatusChanged(
        status="idle"
    )


@pytest.mark.promise("T-17")
async def test_event_of_an_input_says_all_that_the_input_says(store_url: str) -> None:
    """A card can be drawn from the event alone: with the tool's name and its arguments."""
    async with open_stage(store_url) as stage:
        await furnish(stage)
        shown = input_json(await stage.waiting("refund", {"name": "o1", "amount": 600}))
    event = HumanInputNeeded.of(shown, run_id="run_1")
    said = msgspec.json.decode(msgspec.json.encode(event))
    assert said == {**shown, "inputId": shown["id"], "runId": "run_1"}
    assert (said["tool"], said["args"]) == ("refund", {"name": "o1", "amount": 600})


@pytest.mark.parametrize(
    ("status", "decision"),
    [
        ("approved", "approve"),
        ("denied", "deny"),
        ("answered", "answer"),
        ("skipped", "skip"),
        ("cancelled", "cancel"),
        ("expired", None),
    ],
)
def test_resolved_input_says_its_status_and_what_was_decided(
    status: inputs.Closed, decision: str | None
) -> None:
    """The words of ``decision`` are those of an answer; nobody decides that time is over."""
    event = HumanInputResolved.of("input_1", status, by=None)
    assert (event.status, event.decision) == (status, decision)
