"""What becomes of a conversation whose node dies, is stopped, or loses its claim."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

from remit.gateway import sessions
from remit.gateway.models import Entry, ModelCall
from remit.gateway.sessions import Said
from tests.databases import on_each_database
from tests.gateway.conversations import (
    Conversation,
    ScriptedPort,
    ask,
    open_conversation,
    talk_on,
    until,
)
from tests.gateway.fakes import answer
from tests.gateway.nodes import BACKEND, DeafEgress, HeldEgress, restarted

ADD = {"name": "tea", "amount": 3}


async def _begin(talk: Conversation, text: str = "Do it.") -> None:
    """Send a message and let the node begin with it."""
    await sessions.say(talk.talks, BACKEND, talk.id, Said(text=text))
    await talk.talker.round()


def _die(talk: Conversation) -> None:
    """Stop everything of the node where it stands, as a kill does."""
    for _, task in talk.talker._turns.values():  # noqa: SLF001 (no use case of ours does that)
        task.cancel()
    for task in tuple(talk.stage.node.tasks._running):  # noqa: SLF001 (likewise)
        task.cancel()


async def _other(talk: Conversation, *lines: object) -> Conversation:
    """The node that comes after it, once the claim has run out."""
    await asyncio.sleep(0.05)
    stage = restarted(talk.stage)
    other = talk_on(stage, ScriptedPort(list(lines)), None)  # pyright: ignore[reportArgumentType]
    other.id = talk.id
    talk.stage.time.passed_ms += 20_000
    talk.stage.faults.clear()
    return other


async def test_an_answer_that_was_not_committed_is_asked_for_again(scratch: Path) -> None:
    """Dead while the model spoke: the next node asks once more, and nothing was sent."""
    async with open_conversation(scratch, "Half of") as talk:
        talk.model.gate = asyncio.Event()
        await _begin(talk)
        await talk.model.asked.wait()
        _die(talk)
        other = await _other(talk, "All of it.")
        await other.work()
        assert [one["text"] for one in await other.data("message")] == ["Do it.", "All of it."]
        assert (await other.row()).status == "idle"
        assert not other.stage.faults


async def test_a_write_that_was_under_way_is_not_sent_again(scratch: Path) -> None:
    """Nobody knows whether it happened: the model is told so, and the run goes on."""
    held = HeldEgress([])
    async with open_conversation(
        scratch, [ask("integration_add_order", **ADD)], egress=held
    ) as talk:
        await _begin(talk)
        await held.left.wait()
        _die(talk)
        held.go.set()
        other = await _other(talk, "I will look.")
        await other.work()
        (result,) = await other.data("tool_result")
        assert result["outcome"] == "outcome_unknown"
        assert [line for line in held.lines if line.startswith("POST")] == ["POST /v1/orders"]
        assert (await other.data("message"))[-1]["text"] == "I will look."
        told = other.model.told[0][-1]["results"][0]
        assert json.loads(told["content"])["error"]["code"] == "outcome_unknown"


async def test_a_read_that_was_under_way_is_sent_again(scratch: Path) -> None:
    """It changes nothing: the same call, answered."""
    deaf = DeafEgress([])
    async with open_conversation(
        scratch, [ask("integration_get_order", raw='{"id": "7"}')], egress=deaf
    ) as talk:
        await _begin(talk)
        await deaf.left.wait()
        _die(talk)
        other = await _other(talk, "It costs 7.")
        await other.work()
        (result,) = await other.data("tool_result")
        assert (result["outcome"], result["content"]) == ("ok", '{"total":7}')
        assert len(await other.data("tool_call")) == 1


async def test_an_approval_outlives_its_node(scratch: Path) -> None:
    """Asked on one node, answered on another: sent once, by the one that was alive."""
    async with open_conversation(scratch, [ask("integration_refund", **ADD)]) as talk:
        await talk.say("Refund it.")
        _die(talk)
        other = await _other(talk, "Refunded.")
        await other.answer("approve")
        assert [line for line in talk.stage.egress.lines if line.startswith("POST")] == [
            "POST /v1/orders"
        ]
        assert (await other.data("message"))[-1]["text"] == "Refunded."


async def test_a_node_that_lost_its_claim_writes_nothing_more(scratch: Path) -> None:
    """Paused beyond its lease: what it wakes up with is dropped."""
    async with open_conversation(scratch, "From the old node.") as talk:
        talk.model.gate = asyncio.Event()
        await _begin(talk)
        await talk.model.asked.wait()
        other = await _other(talk, "From the new node.")
        await other.work()
        talk.model.gate.set()
        await until(lambda: not talk.talker.busy)
        assert [one["text"] for one in await other.data("message")] == [
            "Do it.",
            "From the new node.",
        ]
        assert not talk.stage.faults


async def test_a_turn_that_kills_its_process_is_given_up(scratch: Path) -> None:
    """Claimed again and again without anything written: the run ends, the session lives."""
    async with open_conversation(scratch, "Never said.") as talk:
        talk.model.gate = asyncio.Event()
        await _begin(talk)
        await talk.model.asked.wait()
        _die(talk)
        for _ in range(6):
            other = await _other(talk, "Never said.")
            other.model.gate = asyncio.Event()
            await other.talker.round()
            await asyncio.sleep(0.05)
            _die(other)
        other = await _other(talk, "Fine again.")
        await other.work()
        (finished,) = await other.data("run_finished")
        assert finished["reason"] == "failed"
        await other.say("Once more.")
        assert (await other.data("message"))[-1]["text"] == "Fine again."


async def test_reads_of_one_turn_run_side_by_side_and_writes_in_order(scratch: Path) -> None:
    """All reads are under way at once; a write waits for the one before it."""
    held = HeldEgress([])
    calls = [
        ask("integration_get_order", id="r1", raw='{"id": "1"}'),
        ask("integration_add_order", id="w1", name="first", amount=1),
        ask("integration_get_order", id="r2", raw='{"id": "2"}'),
        ask("integration_add_order", id="w2", name="second", amount=2),
    ]
    async with open_conversation(
        scratch, calls, "Done.", egress=held, answers=[answer({"total": 1})]
    ) as talk:
        await _begin(talk)
        await until(lambda: len(held.sent) >= 3)
        assert sorted(held.lines) == ["GET /v1/orders/1", "GET /v1/orders/2", "POST /v1/orders"]
        held.go.set()
        await talk.work()
        posts = [one.body for one in held.sent if one.method == "POST"]
        assert [json.loads(body or b"")["name"] for body in posts] == ["first", "second"]
        told = talk.model.told[1][-1]["results"]
        assert [one["id"] for one in told] == ["r1", "w1", "r2", "w2"]


async def test_cancel_lets_a_write_end_and_drops_a_read(scratch: Path) -> None:
    """The write is recorded as it ended, the read is not waited for, the rest is not sent."""
    held = HeldEgress([])
    calls = [
        ask("integration_get_order", id="r1", raw='{"id": "1"}'),
        ask("integration_add_order", id="w1", name="first", amount=1),
        ask("integration_add_order", id="w2", name="second", amount=2),
    ]
    async with open_conversation(scratch, calls, "Next.", egress=held) as talk:
        await _begin(talk)
        await until(lambda: len(held.sent) >= 2)
        await sessions.cancel(talk.talks, BACKEND, talk.id)
        await asyncio.sleep(0.1)
        held.go.set()
        await talk.work()
        by_call = {one["callId"]: one["outcome"] for one in await talk.data("tool_result")}
        called = [one["callId"] for one in await talk.data("tool_call")]
        assert [by_call[one] for one in called] == ["cancelled", "ok", "cancelled"]
        assert len([one for one in held.sent if one.method == "POST"]) == 1
        assert (await talk.row()).status == "idle"
        assert (await talk.data("run_finished"))[0]["reason"] == "cancelled"
        await talk.say("Go on.")
        assert (await talk.data("message"))[-1]["text"] == "Next."


async def test_cancel_stops_a_model_in_mid_sentence(scratch: Path) -> None:
    """What it said so far stays, marked as a part."""
    async with open_conversation(scratch, "A long story", "Short.") as talk:
        talk.model.gate = asyncio.Event()
        await _begin(talk)
        await talk.model.asked.wait()
        await sessions.cancel(talk.talks, BACKEND, talk.id)
        await talk.work()
        last = (await talk.data("message"))[-1]
        assert (last["text"], last["partial"]) == ("A long story ", True)
        assert (await talk.row()).status == "idle"


@on_each_database
async def test_a_whole_conversation_on_either_database(store_url: str) -> None:
    """Approval, job and plain answer, on SQLite and on PostgreSQL alike."""
    call = [ask("integration_refund", **ADD)]
    async with open_conversation(store_url, call, "Done.") as talk:
        await talk.say("Refund it.")
        await talk.answer("approve")
        assert (await talk.row()).status == "idle"
        assert (await talk.data("message"))[-1]["text"] == "Done."


async def test_cancel_in_the_instant_of_a_call_never_lies(scratch: Path) -> None:
    """Whatever the log says of a call that was stopped, its record says, and so does the app."""
    calls = [ask("integration_add_order", id=f"w{n}", name=f"n{n}", amount=n) for n in range(4)]
    for delay_ms in range(0, 24, 2):
        copy = scratch.with_name(f"{delay_ms}.db")
        shutil.copy(scratch, copy)
        async with open_conversation(copy, calls, "Done.") as talk:
            await _begin(talk)
            await asyncio.sleep(delay_ms / 1000)
            await sessions.cancel(talk.talks, BACKEND, talk.id)
            await talk.work()
            sent = {dict(one.headers).get("Idempotency-Key") for one in talk.stage.egress.sent}
            for result in await talk.data("tool_result"):
                assert (result["callId"] in sent) == (result["outcome"] == "ok")
                row = await talk.talks.node.calls.get("acme", result["callId"])
                assert row is not None
                assert row.outcome == result["outcome"]


async def test_a_fault_of_ours_ends_the_run_and_not_the_session(scratch: Path) -> None:
    """Met at every try: the run is given up with a reason, and the next message is answered."""
    async with open_conversation(
        scratch, [ask("integration_refund", **ADD)], "Well again."
    ) as talk:
        await talk.say("Refund it.")

        def broken(_entry: Entry) -> tuple[ModelCall, ...]:
            raise ZeroDivisionError

        whole, talk.model.calls_of = talk.model.calls_of, broken  # pyright: ignore[reportAttributeAccessIssue]
        await sessions.cancel(talk.talks, BACKEND, talk.id)
        other = await _other(talk, "Well again.")
        other.model.calls_of = broken  # pyright: ignore[reportAttributeAccessIssue]
        for _ in range(8):
            other.stage.time.passed_ms += 20_000
            await other.talker.round()
            await asyncio.sleep(0.1)
        assert (await other.row()).status == "idle"
        other.model.calls_of = whole  # pyright: ignore[reportAttributeAccessIssue]
        other.stage.faults.clear()
        await other.say("Once more.")
        assert (await other.data("message"))[-1]["text"] == "Well again."
