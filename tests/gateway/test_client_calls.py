"""Calls that clients execute, in a conversation: judged, offered, answered (contract section 9)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from remit.errors import CallOver, ClaimRefused, Forbidden, NotFound
from remit.gateway.answering import Answer, answer
from remit.gateway.session_apps import AppAsked
from remit.gateway.sessions import cancel, close
from remit.gateway.suspending import suspend
from tests.catalog.documents import parameters
from tests.gateway.client_stage import OPEN, READ, Tab, asked, error, held, told, tools
from tests.gateway.conversations import Conversation, ask, open_conversation
from tests.gateway.nodes import BACKEND, furnish
from tests.gateway.server import shop

SEVEN = [ask("open_order", raw='{"id": "7"}')]
DANGEROUS = {**OPEN, "dangerLevel": "destructive"}
SHOWN = "\u202e"
PAGE = {
    "name": "open_page",
    "description": "Opens a page of the order for the user.",
    "parameters": parameters("id", id="string", kind="string"),
    "target": {"type": "client", "name": "open_url"},
}


async def waiting(talk: Conversation, *records: dict[str, Any], **more: Any) -> Tab:  # noqa: ANN401 -- of ``say``
    """A tab that announced these tools, in a conversation where a message was sent."""
    tab = Tab(talk, "tab-1", tools(*(records or (OPEN,))))
    await tab.announce()
    await talk.say(**more)
    return tab


async def approve(talk: Conversation, **more: Any) -> None:  # noqa: ANN401 -- of ``Answer``
    """Ana says yes, and the node works."""
    await talk.answer("approve", **more)


@pytest.mark.promise("A-03")
async def test_result_of_a_client_is_the_result_of_the_tool(scratch: Path) -> None:
    """A tab announces, claims and answers; the model reads what the handler gave."""
    async with open_conversation(scratch, SEVEN, "Open.") as talk:
        tab = await waiting(talk)
        assert (await talk.row()).status == "waiting_client"
        call = await asked(talk)
        claimed = await tab.claim(call)
        assert (claimed.tool, claimed.args) == ("open_order", {"id": "7"})
        assert claimed.timeout_ms == 120_000
        await tab.post(call, claimed, {"opened": "7"})
        await talk.work()
        found = await told(talk, call)
        assert (found["outcome"], found["content"]) == ("ok", '{"opened":"7"}')
        assert (await talk.row()).status == "idle"
        assert talk.model.told[1][-1]["results"][0]["content"] == '{"opened":"7"}'
        record = await talk.stage.record(call)
        assert (record["target"], record["app"], record["client"]["id"]) == ("client", "", "tab-1")
        assert record["argOrigins"] == {"id": "model"}


async def test_large_result_reaches_the_model_as_far_as_any_does(scratch: Path) -> None:
    """Not cut at the 4 KiB of the record, but at the 16 KiB of ``content`` (section 5)."""
    async with open_conversation(scratch, SEVEN, "Done.") as talk:
        tab = await waiting(talk)
        call = await asked(talk)
        await tab.post(call, await tab.claim(call), "x" * 10_000)
        await talk.work()
        found = await told(talk, call)
        assert found["content"] == json.dumps("x" * 10_000)
        assert found["display"]["data"] == "x" * 10_000
        assert len((await talk.stage.record(call))["content"]) < 5_000


async def test_nothing_as_a_result_is_null(scratch: Path) -> None:
    """``undefined`` as a whole is null (contract section 9)."""
    async with open_conversation(scratch, SEVEN, "Done.") as talk:
        tab = await waiting(talk)
        call = await asked(talk)
        await tab.post(call, await tab.claim(call))
        await talk.work()
        assert (await told(talk, call))["content"] == "null"


@pytest.mark.promise("A-06")
async def test_title_labels_the_entry(scratch: Path) -> None:
    """The entry has the title, or else the name; nothing hides in it."""
    record = {**OPEN, "title": f"Open{SHOWN} an\norder"}
    async with open_conversation(
        scratch, [*SEVEN, ask("scroll", "c2", raw='{"id": "1"}')], "Done."
    ) as talk:
        await waiting(talk, record, {**OPEN, "name": "scroll"})
        titles = [one["title"] for one in await talk.data("tool_call")]
        assert titles == ["Open⟨U+202E⟩ an order", "scroll"]
        assert [one["origin"] for one in await talk.data("tool_call")] == ["client", "client"]


@pytest.mark.promise("A-07")
async def test_tools_reach_the_agent_on_its_next_run(scratch: Path) -> None:
    """What is announced while a run goes on is offered from the next one on."""
    async with open_conversation(scratch, SEVEN, "Done.", "Again.") as talk:
        tab = await waiting(talk)
        await tab.announce(tools(OPEN, READ))
        call = await asked(talk)
        await tab.post(call, await tab.claim(call), 1)
        await talk.work()
        await talk.say("And now?")
        assert {"open_order", "read_page"} <= {one.name for one in talk.model.tools}


@pytest.mark.promise("A-16")
@pytest.mark.parametrize(
    ("given", "fault"),
    [('{"id": 7.5}', "/id"), ("{}", "required"), ('{"id": "7"', "json"), ("[1]", "a list")],
    ids=["type", "missing", "broken", "list"],
)
async def test_arguments_are_checked_before_any_client_is_asked(
    scratch: Path, given: str, fault: str
) -> None:
    """The server holds the model to the schema; the model is told what to correct."""
    async with open_conversation(scratch, [ask("open_order", raw=given)], "Sorry.") as talk:
        await waiting(talk)
        (found,) = await talk.data("tool_result")
        assert found["outcome"] == "error"
        assert error(found)["code"] == "invalid_arguments"
        assert fault in found["content"]
        assert await talk.data("client_tool_call") == []
        assert await talk.talks.clients.call("acme", talk.id, found["callId"]) is None


async def test_arguments_are_repaired_without_loss(scratch: Path) -> None:
    """A number that came as text is one (contract section 5, step 3)."""
    record = {**OPEN, "parameters": parameters("x", x="integer")}
    async with open_conversation(scratch, [ask("open_order", x="12")], "Done.") as talk:
        tab = await waiting(talk, record)
        assert (await tab.claim(await asked(talk))).args == {"x": 12}


async def test_schema_that_says_nothing_lets_everything_through(scratch: Path) -> None:
    """A validator that exports none is announced as ``{type: object}`` (contract section 16)."""
    record = {**OPEN, "parameters": {"type": "object"}}
    async with open_conversation(scratch, [ask("open_order", a=1, b=[2])], "Done.") as talk:
        tab = await waiting(talk, record)
        assert (await tab.claim(await asked(talk))).args == {"a": 1, "b": [2]}


async def test_secret_arguments_reach_the_handler_alone(scratch: Path) -> None:
    """``writeOnly`` is sent and never stored or shown (contract section 2)."""
    schema = parameters("pin", pin="string")
    schema["properties"]["pin"]["writeOnly"] = True
    canary = "canary-4711-secret"
    async with open_conversation(scratch, [ask("open_order", pin=canary)], "Done.") as talk:
        tab = await waiting(talk, {**OPEN, "parameters": schema})
        call = await asked(talk)
        row = await talk.stage.row(call)
        claimed = await tab.claim(call)
        assert claimed.args == {"pin": canary}
        await tab.post(call, claimed, {"echo": canary})
        await talk.work()
        seen = [one.data_json for one in await talk.events()]
        seen += [row.record_json, row.private or "", str(await held(talk, call))]
        seen += [json.dumps(await talk.stage.record(call)), json.dumps(talk.model.told)]
        assert canary not in "".join(seen)


@pytest.mark.parametrize("record", [DANGEROUS, {**OPEN, "requiresApproval": True}])
async def test_approval_comes_before_any_client(scratch: Path, record: dict[str, Any]) -> None:
    """What asks for a person waits for one; the card says that the user's own client acts."""
    async with open_conversation(scratch, SEVEN, "Opened.") as talk:
        tab = await waiting(talk, record)
        assert (await talk.row()).status == "waiting_human"
        (needed,) = await talk.data("human_input_needed")
        assert (needed["tool"], needed["args"]) == ("open_order", {"id": "7"})
        assert needed["line"]["host"] == "the user's client"
        assert "request" not in needed
        assert await talk.data("client_tool_call") == []
        await approve(talk, digest=needed["digest"])
        assert (await talk.row()).status == "waiting_client"
        call = await asked(talk)
        await tab.post(call, await tab.claim(call), "opened")
        await talk.work()
        assert (await told(talk, call))["content"] == '"opened"'
        assert (await talk.stage.record(call))["answeredBy"].startswith("user:ana")


async def test_denied_call_reaches_no_client_and_is_not_asked_again(scratch: Path) -> None:
    """A person's no answers the same call for the rest of the session (contract section 9)."""
    again = [ask("open_order", "c2", raw='{"id": "7"}')]
    async with open_conversation(scratch, SEVEN, again, "I see.") as talk:
        await waiting(talk, DANGEROUS)
        await talk.answer("deny", note="not now")
        first, second = await talk.data("tool_result")
        assert (first["outcome"], second["outcome"]) == ("denied", "denied")
        assert "not now" in first["content"]
        assert await talk.data("client_tool_call") == []
        assert len(await talk.data("human_input_needed")) == 1


async def test_yes_is_remembered_where_only_the_policy_asked(scratch: Path) -> None:
    """``remember: session`` holds for further calls of the tool (contract section 9)."""
    again = [ask("open_order", "c2", raw='{"id": "8"}')]
    async with open_conversation(scratch, SEVEN, again, "Done.") as talk:
        await talk.stage.policy(
            {"match": {"target": "client"}, "then": "ask", "reason": "Pages are asked about"}
        )
        tab = await waiting(talk)
        await approve(talk, remember=True)
        call = await asked(talk)
        await tab.post(call, await tab.claim(call), 1)
        await talk.work()
        assert (await talk.row()).status == "waiting_client"
        assert (await talk.stage.record(await asked(talk)))["remembered"] is True


async def test_policy_denies_a_clients_tool(scratch: Path) -> None:
    """The policy holds for it (contract section 9); the reason reaches model and record."""
    async with open_conversation(scratch, SEVEN, "I may not.") as talk:
        await talk.stage.policy(
            {"match": {"tool": "open_*"}, "then": "deny", "reason": "No pages today"}
        )
        await waiting(talk)
        (found,) = await talk.data("tool_result")
        assert (found["outcome"], error(found)["code"]) == ("denied", "denied")
        assert "No pages today" in found["content"]
        assert (await talk.stage.record(found["callId"]))["policy"][0]["verdict"] == "deny"


async def test_limits_of_the_policy_count_clients_calls(scratch: Path) -> None:
    """One write in a run, and no more (contract section 18)."""
    two = [*SEVEN, ask("open_order", "c2", raw='{"id": "8"}')]
    async with open_conversation(scratch, two, "Done.") as talk:
        await talk.stage.policy(limits={"writesPerRun": 1})
        await waiting(talk)
        assert len(await talk.data("client_tool_call")) == 1
        (refused,) = await talk.data("tool_result")
        assert error(refused)["code"] == "rate_limited"


async def test_policy_is_asked_again_as_a_client_claims(scratch: Path) -> None:
    """A call may have waited for an hour: what runs is permitted now (section 5, step 7)."""
    async with open_conversation(scratch, SEVEN, "Stopped.") as talk:
        tab = await waiting(talk)
        call = await asked(talk)
        await talk.stage.policy({"match": {"tool": "open_*"}, "then": "deny", "reason": "Closed"})
        with pytest.raises(CallOver, match="Closed"):
            await tab.claim(call)
        await talk.work()
        assert (await told(talk, call))["outcome"] == "denied"


@pytest.mark.promise("K-11")
async def test_tool_of_an_app_goes_to_the_handler_it_names(scratch: Path) -> None:
    """Pins win, the client gets the handler's name; a suspension stops what nobody began with."""
    given = '{"id": "7", "kind": "x"}'
    two = [ask("open_page", raw=given), ask("open_page", "c2", raw=given)]
    async with open_conversation(scratch, two, "Done.") as talk:
        await furnish_with_page(talk)
        await talk.open(apps=(AppAsked(id="acme", pins={"kind": "invoice", "other": 1}),))
        tab = await waiting(talk)
        first, second = [one["callId"] for one in await talk.data("client_tool_call")]
        event = (await talk.data("client_tool_call"))[0]
        assert (event["app"], event["tool"], event["handler"]) == ("acme", "open_page", "open_url")
        claimed = await tab.claim(first)
        assert (claimed.app, claimed.handler) == ("acme", "open_url")
        assert claimed.args == {"id": "7", "kind": "invoice"}
        assert claimed.timeout_ms == 120_000
        await tab.post(first, claimed, None)
        server = talk.stage.server
        await suspend(server.books, server.operator, "acme", reason="a test", node="node-1")
        with pytest.raises(CallOver, match="suspended"):
            await tab.claim(second)
        await talk.work()
        assert (await told(talk, first))["outcome"] == "ok"
        assert error(await told(talk, second))["code"] == "app_suspended"
        record = await talk.stage.record(first)
        assert (record["app"], record["version"]) == ("acme", 2)
        assert record["argOrigins"] == {"id": "model", "kind": "pin", "other": "pin"}


async def furnish_with_page(talk: Conversation) -> None:
    """The app in a version with a tool whose target is the client."""
    await furnish(talk.stage, shop(PAGE))


async def test_stopped_run_takes_back_what_no_client_began_with(scratch: Path) -> None:
    """What was not sent is not sent; the session rests (contract section 9, "Order")."""
    async with open_conversation(scratch, SEVEN, "Never.") as talk:
        tab = await waiting(talk)
        call = await asked(talk)
        await stop(talk)
        assert (await told(talk, call))["outcome"] == "cancelled"
        assert (await talk.row()).status == "idle"
        with pytest.raises(CallOver, match="stopped"):
            await tab.claim(call)


async def stop(talk: Conversation) -> None:
    """Stop the run, and let the node work."""
    await cancel(talk.talks, BACKEND, talk.id)
    await talk.work()


async def test_stopped_run_drops_a_read_that_a_client_has(scratch: Path) -> None:
    """A read in flight is dropped: what the client says of it comes too late."""
    async with open_conversation(scratch, [ask("read_page", raw='{"id": "7"}')], "Never.") as talk:
        tab = await waiting(talk, READ)
        call = await asked(talk)
        claimed = await tab.claim(call)
        await stop(talk)
        assert (await told(talk, call))["outcome"] == "cancelled"
        with pytest.raises(CallOver):
            await tab.post(call, claimed, 1)


async def test_stopped_run_waits_for_a_write_that_a_client_has(scratch: Path) -> None:
    """It runs to its end and is recorded; then the session rests."""
    async with open_conversation(scratch, SEVEN, "Never.") as talk:
        tab = await waiting(talk)
        call = await asked(talk)
        claimed = await tab.claim(call)
        stopping = asyncio.create_task(stop(talk))
        await talk.model.asked.wait()
        await tab.post(call, claimed, "done after all")
        await stopping
        assert (await told(talk, call))["content"] == '"done after all"'
        assert (await talk.data("run_finished"))[-1]["reason"] == "cancelled"
        assert (await talk.row()).status == "idle"


async def test_closed_session_leaves_no_call_open(scratch: Path) -> None:
    """Nobody looks after its calls any more: each is over, and nothing more is executed."""
    two = [*SEVEN, ask("open_order", "c2", raw='{"id": "8"}')]
    async with open_conversation(scratch, two, "Never.") as talk:
        tab = await waiting(talk)
        begun, waits = [one["callId"] for one in await talk.data("client_tool_call")]
        claimed = await tab.claim(begun)
        await close(talk.talks, BACKEND, talk.id)
        assert (await talk.stage.row(begun)).outcome == "outcome_unknown"
        assert (await talk.stage.row(waits)).outcome == "cancelled"
        with pytest.raises(CallOver):
            await tab.claim(waits)
        with pytest.raises(CallOver):
            await tab.post(begun, claimed, 1)


async def test_call_waits_for_its_person_before_it_can_be_claimed(scratch: Path) -> None:
    """A client that guesses the id gets nothing."""
    async with open_conversation(scratch, SEVEN, "Opened.") as talk:
        tab = await waiting(talk, DANGEROUS)
        (called,) = await talk.data("tool_call")
        with pytest.raises(NotFound):
            await tab.claim(called["callId"])


async def test_second_person_answers_where_the_policy_says_so(scratch: Path) -> None:
    """``by: other`` holds for a client's tool, too; the user's own yes is refused."""
    async with open_conversation(scratch, SEVEN, "Opened.") as talk:
        await talk.stage.policy(
            {"match": {"tool": "open_*"}, "then": "ask", "by": "other", "reason": "Two people"}
        )
        await waiting(talk)
        (input_id,) = (await talk.row()).state.inputs
        yes = Answer(decision="approve", user="ana")
        with pytest.raises(Forbidden):
            await answer(talk.stage.node, BACKEND, input_id, yes)
        await talk.answer("approve", user="ben")
        assert (await talk.row()).status == "waiting_client"


async def test_call_goes_to_no_client_with_another_schema(scratch: Path) -> None:
    """Only a client that announced that very schema may have it (contract section 9)."""
    async with open_conversation(scratch, SEVEN, "Opened.") as talk:
        tab = await waiting(talk)
        call = await asked(talk)
        other = {**OPEN, "parameters": parameters("id", id="integer")}
        await tab.announce(tools(other))
        with pytest.raises(ClaimRefused, match="schema"):
            await tab.claim(call)
        await tab.announce(tools({**OPEN, "description": "Other words."}))
        assert (await tab.claim(call)).args == {"id": "7"}
