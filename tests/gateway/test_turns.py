"""One node's work on a conversation: what the log says, what was sent, what the model was told."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from remit.errors import ModelRefused, ModelUnavailable, SessionBusy, SessionClosed, SessionWaiting
from remit.gateway import sessions
from remit.gateway.sessions import Said
from tests.gateway.conversations import ask, open_conversation
from tests.gateway.fakes import answer
from tests.gateway.nodes import BACKEND

ADD = {"name": "tea", "amount": 3}


async def test_a_message_is_answered(scratch: Path) -> None:
    """The words of the user and of the model stand in the log, between the run's two ends."""
    async with open_conversation(scratch, "Hello Ana.") as talk:
        await talk.say("Hello?")
        assert await talk.types() == [
            "session_started",
            "message",
            "status running",
            "run_started",
            "catalog",
            "message",
            "run_finished",
            "status idle",
        ]
        user, agent = await talk.data("message")
        assert (user["role"], user["text"]) == ("user", "Hello?")
        assert (agent["role"], agent["text"]) == ("assistant", "Hello Ana.")
        (finished,) = await talk.data("run_finished")
        assert finished["reason"] == "done"
        assert finished["usage"]["inputTokens"] == 10
        assert not talk.stage.faults


@pytest.mark.promise("K-01")
async def test_a_call_is_made_once_and_its_result_told_to_the_model(scratch: Path) -> None:
    """The app gets one request, the model its mapped answer."""
    async with open_conversation(
        scratch, [ask("integration_get_order", raw='{"id": "7"}')], "It costs 5."
    ) as talk:
        await talk.say("What does order 7 cost?")
        assert talk.stage.egress.lines == ["GET /v1/orders/7"]
        (called,) = await talk.data("tool_call")
        assert (called["app"], called["tool"]) == ("acme", "get_order")
        assert called["offeredAs"] == "integration_get_order"
        (result,) = await talk.data("tool_result")
        assert (result["outcome"], result["content"]) == ("ok", '{"total":5}')
        assert talk.model.told[1][-1] == {
            "results": [{"id": "c1", "content": '{"total":5}', "failed": False}]
        }
        record = await talk.stage.record(called["callId"])
        assert (record["source"], record["sessionId"]) == ("session", talk.id)
        assert record["argOrigins"] == {"id": "model"}
        assert not talk.stage.faults


@pytest.mark.promise("T-15", "T-16", "T-17")
async def test_an_approval_holds_the_session_and_a_yes_goes_on(scratch: Path) -> None:
    """Nothing is sent before the yes; then the frozen request goes out, and the model goes on."""
    async with open_conversation(scratch, [ask("integration_refund", **ADD)], "Refunded.") as talk:
        await talk.say("Refund it.")
        row = await talk.row()
        assert row.status == "waiting_human"
        assert [line for line in talk.stage.egress.lines if line.startswith("POST")] == []
        (needed,) = await talk.data("human_input_needed")
        assert (needed["tool"], needed["args"]) == ("refund", ADD)
        assert (await talk.data("run_finished"))[0]["reason"] == "waiting"
        await talk.answer("approve")
        assert [line for line in talk.stage.egress.lines if line.startswith("POST")] == [
            "POST /v1/orders"
        ]
        assert (await talk.types())[-9:] == [
            "status idle",
        ] or (await talk.row()).status == "idle"
        (resolved,) = await talk.data("human_input_resolved")
        assert resolved["decision"] == "approve"
        assert len(await talk.data("run_started")) == 2
        assert (await talk.data("message"))[-1]["text"] == "Refunded."
        assert not talk.stage.faults


async def test_a_denied_call_is_told_and_not_asked_for_again(scratch: Path) -> None:
    """The note reaches the model; the very same call is refused without asking a second time."""
    call = [ask("integration_refund", **ADD)]
    async with open_conversation(scratch, call, call, "I will not.") as talk:
        await talk.say("Refund it.")
        await talk.answer("deny", note="Too much.")
        results = await talk.data("tool_result")
        assert [one["outcome"] for one in results] == ["denied", "denied"]
        assert "Too much." in results[0]["content"]
        assert len(await talk.data("human_input_needed")) == 1
        assert [line for line in talk.stage.egress.lines if line.startswith("POST")] == []


async def test_a_denied_call_in_other_words_is_the_same_call(scratch: Path) -> None:
    """What the tool does not declare, and what is repaired, changes nothing of the request."""
    calls = [
        [ask("integration_refund", **ADD)],
        [ask("integration_refund", id="c2", junk=1, **ADD)],
        [ask("integration_refund", id="c3", name="tea", amount="3")],
    ]
    async with open_conversation(scratch, *calls, "I give up.") as talk:
        await talk.say("Refund it.")
        await talk.answer("deny")
        assert (await talk.row()).status == "idle"
        assert len(await talk.data("human_input_needed")) == 1
        assert [one["outcome"] for one in await talk.data("tool_result")] == ["denied"] * 3


async def test_a_yes_that_is_remembered_is_not_asked_for_again(scratch: Path) -> None:
    """Only the policy asked: the second call of the session goes out without a person."""
    calls = [ask("integration_add_order", **ADD)]
    async with open_conversation(scratch, calls, calls, "Both done.") as talk:
        await talk.stage.policy({"match": {"tool": "add_order"}, "then": "ask", "reason": "New"})
        await talk.say("Add two.")
        await talk.answer("approve", remember="session")
        assert talk.stage.egress.lines == ["POST /v1/orders", "POST /v1/orders"]
        assert len(await talk.data("human_input_needed")) == 1


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (ask("integration_nothing"), "unknown_tool"),
        (ask("integration_get_order", raw='{"id": '), "invalid_arguments"),
        (ask("integration_get_order", raw="[1]"), "invalid_arguments"),
        (ask("integration_add_order", name=5, amount="x"), "invalid_arguments"),
        (ask("integration_get_order", raw='{"id": "1", "id": "2"}'), "invalid_arguments"),
    ],
    ids=["invented", "broken", "list", "missing", "twice"],
)
@pytest.mark.promise("K-01")
async def test_a_model_that_calls_wrongly_is_told_and_goes_on(
    scratch: Path, call: object, code: str
) -> None:
    """Nothing is sent; the model reads what was wrong and answers."""
    async with open_conversation(scratch, [call], "Sorry.") as talk:  # pyright: ignore
        await talk.say()
        (result,) = await talk.data("tool_result")
        assert json.loads(result["content"])["error"]["code"] == code
        assert talk.stage.egress.sent == []
        assert (await talk.data("message"))[-1]["text"] == "Sorry."
        assert (await talk.row()).status == "idle"
        assert not talk.stage.faults


async def test_equal_call_ids_of_two_responses_are_two_calls(scratch: Path) -> None:
    """Models repeat their ids: both calls are made."""
    call = [ask("integration_add_order", **ADD)]
    async with open_conversation(scratch, call, call, "Two.") as talk:
        await talk.say()
        assert talk.stage.egress.lines == ["POST /v1/orders", "POST /v1/orders"]


async def test_a_failing_model_ends_the_run_and_the_conversation_goes_on(scratch: Path) -> None:
    """The reason is clear, and the next message is answered."""
    broken = ModelRefused("The model declines to answer this.")
    async with open_conversation(scratch, broken, "Now it works.") as talk:
        await talk.say("First.")
        (finished,) = await talk.data("run_finished")
        assert (finished["reason"], finished["error"]["code"]) == ("failed", "model_refused")
        assert (await talk.row()).status == "idle"
        await talk.say("Second.")
        assert [one.get("user") for one in talk.model.told[1]] == ["First.", "Second."]
        assert (await talk.data("message"))[-1]["text"] == "Now it works."


async def test_a_passing_fault_of_the_model_is_tried_again(scratch: Path) -> None:
    """Nothing was said yet: the same request is made once more."""
    busy = ModelUnavailable("Busy.", passing=True)
    async with open_conversation(scratch, busy, "Here.") as talk:
        await talk.say()
        assert (await talk.data("run_finished"))[0]["reason"] == "done"


async def test_a_second_message_is_refused_queued_or_takes_back(scratch: Path) -> None:
    """409 while it waits; ``withdraw`` cancels the open input and goes on with the message."""
    async with open_conversation(
        scratch, [ask("integration_refund", **ADD)], "As you say."
    ) as talk:
        await talk.say("Refund it.")
        with pytest.raises(SessionWaiting):
            await talk.say("Stop!")
        await talk.say("Rather not.", withdraw=True)
        (result,) = await talk.data("tool_result")
        assert result["outcome"] == "cancelled"
        assert [line for line in talk.stage.egress.lines if line.startswith("POST")] == []
        assert (await talk.data("message"))[-1]["text"] == "As you say."
        assert (await talk.row()).status == "idle"


async def test_cancel_closes_inputs_and_leaves_the_session_idle(scratch: Path) -> None:
    """What was not sent is not sent."""
    async with open_conversation(scratch, [ask("integration_refund", **ADD)], "Next.") as talk:
        await talk.say("Refund it.")
        await sessions.cancel(talk.talks, BACKEND, talk.id)
        await talk.work()
        assert (await talk.row()).status == "idle"
        assert (await talk.data("tool_result"))[0]["outcome"] == "cancelled"
        await talk.say("Go on.")
        assert (await talk.data("message"))[-1]["text"] == "Next."
        assert [line for line in talk.stage.egress.lines if line.startswith("POST")] == []


async def test_nothing_happens_in_a_closed_session(scratch: Path) -> None:
    """It says so, and its log can be read."""
    async with open_conversation(scratch, [ask("integration_refund", **ADD)]) as talk:
        await talk.say("Refund it.")
        await sessions.close(talk.talks, BACKEND, talk.id)
        await talk.work()
        assert (await talk.row()).status == "closed"
        with pytest.raises(SessionClosed):
            await talk.say("Hello?")
        assert (await talk.types())[-1] == "status closed"
        assert [line for line in talk.stage.egress.lines if line.startswith("POST")] == []


async def test_a_queued_message_is_answered_after_the_run(scratch: Path) -> None:
    """It begins a run of its own."""
    async with open_conversation(scratch, "One.", "Two.") as talk:
        said = Said(text="First.")
        await sessions.say(talk.talks, BACKEND, talk.id, said)
        with pytest.raises(SessionBusy):
            await sessions.say(talk.talks, BACKEND, talk.id, Said(text="Second."))
        await sessions.say(talk.talks, BACKEND, talk.id, Said(text="Second.", queue=True))
        await talk.work()
        assert [one["text"] for one in await talk.data("message")] == [
            "First.",
            "Second.",
            "One.",
            "Two.",
        ]
        assert len(await talk.data("run_finished")) == 2


async def test_a_job_is_waited_for(scratch: Path) -> None:
    """Polls are told as progress, and the result is the finished job's."""
    async with open_conversation(
        scratch,
        [ask("integration_render", **ADD)],
        "Rendered.",
        answers=[
            answer({"id": "j1"}),
            answer({"status": "busy"}),
            answer({"status": "done", "url": "https://x.example/1"}),
        ],
    ) as talk:
        await sessions.say(talk.talks, BACKEND, talk.id, Said(text="Render it."))
        for _ in range(8):
            await talk.talker.round()
            await talk.stage.worker.round()
            await asyncio.sleep(0.1)
            talk.stage.time.passed_ms += 1_000
        await talk.work()
        (result,) = await talk.data("tool_result")
        assert json.loads(result["content"]) == {"url": "https://x.example/1"}
        assert [one["status"] for one in await talk.data("tool_progress")] == ["busy"]
        assert not talk.stage.faults
