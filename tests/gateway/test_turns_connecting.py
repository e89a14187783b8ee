"""Calls of a conversation whose user has to connect the app first (contract sections 7 and 9)."""

from __future__ import annotations

from pathlib import Path

import pytest

from remit.errors import InvalidRequest
from remit.gateway.answering import connected
from remit.gateway.connecting import disconnect
from tests.gateway.conversations import Conversation, ask, open_conversation
from tests.gateway.fakes import answer
from tests.gateway.nodes import BACKEND

ADD = {"name": "tea", "amount": 3}
READ = [ask("integration_get_order", raw='{"id": "7"}')]


async def _disconnected(talk: Conversation) -> None:
    server = talk.stage.server
    await disconnect(server.books, server.operator, "acme", "ana")


async def _connect(talk: Conversation) -> None:
    await talk.stage.connect("tok_new_0123456789", "ana@new")
    await connected(talk.stage.node, BACKEND, "acme", "ana")
    await talk.work()


async def test_call_waits_for_the_connection_and_goes_on_by_itself(scratch: Path) -> None:
    """Nothing is sent before; connecting is the answer, and the model gets its result."""
    async with open_conversation(scratch, READ, "It costs 5.") as talk:
        await _disconnected(talk)
        await talk.say()
        (needed,) = await talk.data("human_input_needed")
        assert (needed["kind"], needed["title"]) == ("connect", "Connect Acme")
        assert (await talk.row()).status == "waiting_human"
        assert talk.stage.egress.sent == []
        with pytest.raises(InvalidRequest, match="PUT /v1/connections/acme/ana"):
            await talk.answer("approve")
        await _connect(talk)
        assert talk.stage.egress.lines == ["GET /v1/orders/7"]
        headers = dict(talk.stage.egress.sent[0].headers)
        assert headers["Authorization"] == "Bearer tok_new_0123456789"
        (resolved,) = await talk.data("human_input_resolved")
        assert resolved["status"] == "answered"
        assert (await talk.data("message"))[-1]["text"] == "It costs 5."
        assert not talk.stage.faults


async def test_refused_credential_asks_to_connect_anew(scratch: Path) -> None:
    """401: the app did nothing; the same call goes out once more with the new credential."""
    async with open_conversation(
        scratch,
        [ask("integration_add_order", **ADD)],
        "Added.",
        answers=[answer({"message": "expired"}, 401), answer({"id": 1})],
    ) as talk:
        await talk.say()
        (needed,) = await talk.data("human_input_needed")
        assert needed["kind"] == "connect"
        assert "401" in needed["reason"]
        await _connect(talk)
        assert talk.stage.egress.lines == ["POST /v1/orders", "POST /v1/orders"]
        (result,) = await talk.data("tool_result")
        assert result["outcome"] == "ok"
        (called,) = await talk.data("tool_call")
        record = await talk.stage.record(called["callId"])
        assert [one["status"] for one in record["attempts"]] == [401, 200]


async def test_connection_comes_before_the_approval_that_shows_it(scratch: Path) -> None:
    """The card names the account, so that the person is asked once there is one."""
    async with open_conversation(scratch, [ask("integration_refund", **ADD)], "Done.") as talk:
        await _disconnected(talk)
        await talk.say()
        assert [one["kind"] for one in await talk.data("human_input_needed")] == ["connect"]
        await _connect(talk)
        connect, approval = await talk.data("human_input_needed")
        assert (connect["kind"], approval["kind"]) == ("connect", "approval")
        assert approval["account"] == "ana@new"
        assert [one for one in talk.stage.egress.lines if one.startswith("POST")] == []
        await talk.answer("approve")
        assert [one for one in talk.stage.egress.lines if one.startswith("POST")] == [
            "POST /v1/orders"
        ]
        assert (await talk.row()).status == "idle"


async def test_no_after_a_refused_credential_does_not_say_that_nothing_was_sent(
    scratch: Path,
) -> None:
    """The call went out once, and the app refused it."""
    refused = [answer({"message": "expired"}, 401)]
    async with open_conversation(scratch, READ, "Then not.", answers=refused) as talk:
        await talk.say()
        await talk.answer("deny")
        (result,) = await talk.data("tool_result")
        assert result["outcome"] == "denied"
        said = "the user did not connect acme. The app refused the credential and did nothing."
        assert said in result["content"]
        assert "Nothing was sent" not in result["content"]
        assert len(talk.stage.egress.sent) == 1


async def test_connection_can_be_declined(scratch: Path) -> None:
    """The call ends, the model is told, the conversation goes on."""
    async with open_conversation(scratch, READ, "Then not.") as talk:
        await _disconnected(talk)
        await talk.say()
        await talk.answer("deny")
        (result,) = await talk.data("tool_result")
        assert result["outcome"] == "denied"
        said = "get_order was not called: the user did not connect acme. Nothing was sent."
        assert said in result["content"]
        assert talk.stage.egress.sent == []
        assert (await talk.data("message"))[-1]["text"] == "Then not."
