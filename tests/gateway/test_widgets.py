"""Widgets: drawn where they were announced, told of in the log (contract section 9)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.catalog.documents import parameters
from tests.gateway.client_stage import CARD, Tab, error, tools
from tests.gateway.conversations import ask, open_conversation

DRAW = [ask("widget_orderCard", raw='{"id": "7"}')]


@pytest.mark.promise("A-37")
async def test_widget_is_drawn_and_counted(scratch: Path) -> None:
    """The event comes before the result; the model is told to read before its next change."""
    async with open_conversation(scratch, DRAW, "Shown.") as talk:
        for name in ("tab-1", "tab-2"):
            await Tab(talk, name, tools(widgets=(CARD,))).announce()
        await talk.say()
        (event,) = await talk.data("widget")
        assert (event["widget"], event["props"]) == ("orderCard", {"id": "7"})
        (found,) = await talk.data("tool_result")
        assert found["display"] == {"widget": "orderCard", "props": {"id": "7"}}
        content = json.loads(found["content"])
        assert content["shown"] == 2
        assert "Read the current state" in content["advice"]
        types = await talk.types()
        assert types.index("widget") == types.index("tool_result") - 1
        record = await talk.stage.record(event["callId"])
        assert (record["tool"], record["outcome"]) == ("widget_orderCard", "ok")
        assert (await talk.row()).status == "idle"


async def test_widget_that_nobody_draws_now_says_so(scratch: Path) -> None:
    """The run began with a tab that has left meanwhile: it is drawn when one comes back."""
    async with open_conversation(scratch, DRAW, "Shown.") as talk:
        tab = Tab(talk, "tab-1", tools(widgets=(CARD,)))
        await tab.announce()
        talk.stage.time.passed_ms += 45_000
        await talk.say()
        (found,) = await talk.data("tool_result")
        content = json.loads(found["content"])
        assert content["shown"] == 0
        assert "when one comes back" in content["advice"]
        assert len(await talk.data("widget")) == 1


async def test_props_are_checked_before_anything_is_drawn(scratch: Path) -> None:
    """The model is told what to correct; no client sees it."""
    async with open_conversation(scratch, [ask("widget_orderCard", raw="{}")], "Sorry.") as talk:
        await Tab(talk, "tab-1", tools(widgets=(CARD,))).announce()
        await talk.say()
        (found,) = await talk.data("tool_result")
        assert error(found)["code"] == "invalid_arguments"
        assert await talk.data("widget") == []


async def test_widget_asks_where_the_policy_asks(scratch: Path) -> None:
    """A rule over everything is a rule over widgets, too; a yes draws it."""
    async with open_conversation(scratch, DRAW, "Shown.") as talk:
        await talk.stage.policy({"then": "ask", "reason": "Everything is asked about"})
        await Tab(talk, "tab-1", tools(widgets=(CARD,))).announce()
        await talk.say()
        assert (await talk.row()).status == "waiting_human"
        assert await talk.data("widget") == []
        await talk.answer("approve")
        (event,) = await talk.data("widget")
        assert event["props"] == {"id": "7"}
        assert (await talk.data("tool_result"))[0]["outcome"] == "ok"


async def test_widget_that_the_policy_denies_is_not_drawn(scratch: Path) -> None:
    """Nor one that a person refuses."""
    async with open_conversation(scratch, DRAW, "I may not.") as talk:
        await talk.stage.policy(
            {"match": {"tool": "widget_*"}, "then": "deny", "reason": "No cards today"}
        )
        await Tab(talk, "tab-1", tools(widgets=(CARD,))).announce()
        await talk.say()
        (found,) = await talk.data("tool_result")
        assert found["outcome"] == "denied"
        assert await talk.data("widget") == []


async def test_large_props_reach_the_clients_whole(scratch: Path) -> None:
    """The record cuts values over 4 KiB; the event does not."""
    schema = parameters("text", text="string")
    line = [ask("widget_orderCard", text="x" * 10_000)]
    async with open_conversation(scratch, line, "Shown.") as talk:
        await Tab(talk, "tab-1", tools(widgets=({**CARD, "parameters": schema},))).announce()
        await talk.say()
        (event,) = await talk.data("widget")
        assert event["props"] == {"text": "x" * 10_000}
