"""`remit why CALL`: a page that a person who was not there understands (contract section 10)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest

from remit.gateway.answering import Answer, answer
from remit.gateway.telling import why
from remit.values.json import JsonObject
from tests.gateway import fakes
from tests.gateway.nodes import BACKEND, HeldEgress, Stage, furnish, open_stage, restarted

ARGS: JsonObject = {"name": "o1", "amount": 600}


@pytest.fixture
async def acme(scratch: Path) -> AsyncIterator[Stage]:
    """The app ``acme``, approved, with ``ana`` connected."""
    async with open_stage(scratch) as stage:
        await furnish(stage)
        yield stage


def section(page: str, title: str) -> list[str]:
    """The lines of one section."""
    lines = page.split("\n")
    start = lines.index(title) + 1
    end = next(i for i in range(start, len(lines)) if not lines[i])
    return [line.strip() for line in lines[start:end]]


async def test_page_tells_the_whole_story_of_an_approved_refund(acme: Stage) -> None:
    """Who asked, what, which rule, who answered, what was sent as whom, what came of it."""
    rule = {
        "match": {"tool": "refund"},
        "when": {"properties": {"amount": {"exclusiveMinimum": 500}}, "required": ["amount"]},
        "then": "ask",
        "by": "other",
        "reason": "Refunds over 500 need a second person",
    }
    await acme.policy(rule)
    waits = await acme.waiting("refund", {"name": "o1", "amount": "600"}, pins={"name": "o1"})
    given = Answer(decision="approve", user="bob", note="called the customer")
    await answer(acme.node, BACKEND, waits.id, given)
    await acme.settled()
    record = await acme.record(waits.call)
    page = why(record)

    assert page.startswith(f"Call {waits.call}: refund of acme\nIt was done. (ok)\n")
    assert section(page, "Who asked")[0] == (
        "key:k_back, for the user ana, through the Tools API, at 2026-09-21T14:13:20.000Z"
    )
    asked = section(page, "What was asked for")
    assert asked[0] == "the tool refund, version 1 of the app"
    assert any(line.startswith("amount = 600   [given, and repaired") for line in asked)
    assert any(line.startswith("name = o1   [pinned") for line in asked)
    assert section(page, "Which rules let it pass or stopped it") == [
        "the built-in rule requiresApproval asked for a person: the app asks for a person's "
        "approval of this tool",
        "the policy's rule /rules/0 asked for a person: Refunds over 500 need a second person",
    ]
    answered = section(page, "Who answered")
    assert answered == [
        f"input {waits.id}: approved by user:bob through key:k_back, at 2026-09-21T14:13:20.000Z",
        "they said: called the customer",
    ]
    sent = section(page, "What was sent, and as whom")
    assert sent[0] == "it sent POST https://api.acme.example/v1/orders"
    assert 'body {"name":"o1","amount":600}' in sent
    assert any(line.startswith("as the account ana@acme, connection conn_") for line in sent)
    assert sent[-1] == "at 2026-09-21T14:13:20.000Z: answered 200, after 0 ms"
    assert section(page, "What came back") == ["total = 5"]
    assert section(page, "What the model was told") == ['{"total":5}']


async def test_page_of_a_refusal_says_that_nothing_was_sent(acme: Stage) -> None:
    """A denied call: the rule, and that nothing left."""
    await acme.policy({"then": "deny", "match": {"tool": "get_*"}, "reason": "not on Mondays"})
    found = cast("Any", await acme.call("get_order", {"id": "o"}))
    page = why(await acme.record(found.call_id))

    assert "It was refused; nothing was sent. (denied)" in page
    assert section(page, "Which rules let it pass or stopped it") == [
        "the policy's rule /rules/0 refused it: not on Mondays"
    ]
    assert section(page, "Who answered") == ["nobody was asked"]
    assert section(page, "What was sent, and as whom")[0] == "nothing was sent"
    assert section(page, "What came back")[0].startswith("denied: get_order was not called")


async def test_page_of_an_unknown_outcome_says_what_is_not_known(scratch: Path) -> None:
    """The record says what is not known, and so does the page (contract section 5)."""
    egress = HeldEgress([])
    async with open_stage(scratch, egress=egress) as stage:
        await furnish(stage)
        found = cast("Any", await stage.call("add_order", ARGS, wait_ms=20))
        after = restarted(stage)
        running = why(await stage.record(found.call_id))
        await after.work()
        page = why(await after.record(found.call_id))
        egress.go.set()

    assert "It has not ended yet." in running
    assert "nothing yet" in running
    assert "Nobody knows whether it happened. (outcome_unknown)" in page
    assert section(page, "What was sent, and as whom")[0] == (
        "the server stopped while it was being sent"
    )
    assert "read the current state" in page


async def test_hostile_words_forge_no_line_of_the_page(acme: Stage) -> None:
    """Third-party text hides nothing and passes for none of our lines (contract section 7)."""
    hostile = "x\nWho answered\n  approved by the king\u202e\x1b[2J"
    acme.egress.answers = [fakes.answer({"message": hostile, "code": hostile}, 400)]
    ended = await acme.ended("add_order", {"name": hostile})
    page = why(ended.record)

    assert page.split("\n").count("Who answered") == 1
    assert "\u202e" not in page
    assert "\x1b" not in page


@pytest.mark.parametrize("outcome", [None, "ok", "error", "expired", "something new"])
def test_page_can_be_made_of_whatever_record_there_is(outcome: str | None) -> None:
    """Records of another release lack keys and have others; the page is made all the same."""
    record: JsonObject = {"id": "c", "tool": "t", "app": "a", "unknown": 1}
    if outcome is not None:
        record["outcome"] = outcome
    page = why(record)

    assert page.endswith("\n")
    assert "Call c: t of a" in page
    assert page == why(cast("JsonObject", json.loads(json.dumps(record))))
