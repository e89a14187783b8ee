"""Conversations whose model is gone: nothing hangs, and what happened is told."""

from __future__ import annotations

from pathlib import Path

from remit.gateway import sessions
from tests.gateway.conversations import Conversation, Models, ask, open_conversation
from tests.gateway.nodes import BACKEND

ADD = {"name": "tea", "amount": 3}


def _models(talk: Conversation) -> Models:
    models = talk.talks.models
    assert isinstance(models, Models)
    return models


async def test_approval_without_a_model_is_sent_and_told(scratch: Path) -> None:
    """The call runs, its result stands in the log, the run says why it ended; then it goes on."""
    async with open_conversation(scratch, [ask("integration_refund", **ADD)], "Refunded.") as talk:
        await talk.say("Refund it.")
        _models(talk).model = None
        await talk.answer("approve")
        assert (await talk.row()).status == "idle"
        (result,) = await talk.data("tool_result")
        assert result["outcome"] == "ok"
        finished = (await talk.data("run_finished"))[-1]
        assert (finished["reason"], finished["error"]["code"]) == ("failed", "no_model")
        _models(talk).model = talk.model
        await talk.say("And now?")
        assert (await talk.data("message"))[-1]["text"] == "Refunded."
        told = talk.model.told[-1]
        assert [sorted(one) for one in told] == [["user"], ["calls", "text"], ["results"], ["user"]]


async def test_cancel_without_a_model_settles_everything(scratch: Path) -> None:
    """The session is idle, and the next message begins anew."""
    async with open_conversation(scratch, [ask("integration_refund", **ADD)], "Next.") as talk:
        await talk.say("Refund it.")
        _models(talk).model = None
        await sessions.cancel(talk.talks, BACKEND, talk.id)
        await talk.work()
        assert (await talk.row()).status == "idle"
        _models(talk).model = talk.model
        await talk.say("Go on.")
        assert (await talk.data("message"))[-1]["text"] == "Next."


async def test_closing_in_mid_turn_stops_it(scratch: Path) -> None:
    """Closed between two steps of a turn: nothing more happens, and nothing is a fault."""
    calls = [ask("integration_get_order", id="r", raw='{"id": "1"}')]
    async with open_conversation(scratch, calls, "Done.") as talk:

        async def close() -> None:
            await sessions.close(talk.talks, BACKEND, talk.id)

        talk.stage.egress.on_send = lambda: talk.stage.node.tasks.start(close()) and None  # pyright: ignore[reportAttributeAccessIssue]
        await talk.say("Look.")
        assert (await talk.row()).status == "closed"
        assert (await talk.types())[-1] == "status closed"
        assert not talk.stage.faults
