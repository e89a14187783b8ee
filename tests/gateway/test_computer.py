"""The platform's tool ``computer``: the agent reads from it which devices the user has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from remit.gateway import sessions
from remit.gateway.acting import Actor
from remit.gateway.admitting import create_client_token
from remit.gateway.computer import list_computers
from remit.gateway.conversing import AskedCall
from remit.gateway.journal import Ended
from remit.gateway.model_calls import computer_command_of
from remit.gateway.platform_tools import Computer
from remit.gateway.registering import forget, register
from remit.gateway.sessions import Said
from remit.main.telling import page_of
from tests.gateway.conversations import Conversation, ask, open_conversation, until
from tests.gateway.nodes import BACKEND, HeldEgress
from tests.gateway.server import START_MS

LIST = [ask("computer", raw='{"list": {}}')]


async def has(talk: Conversation, device: str, name: str, user: str = "ana") -> None:
    """A device is registered."""
    server = talk.stage.server
    await register(server.books, server.operator, device, user=user, name=name)


def offered(talk: Conversation) -> bool:
    """Whether the agent had the tool in its last request."""
    return any(tool.name == "computer" for tool in talk.model.tools)


async def result(talk: Conversation, number: int = -1) -> dict[str, Any]:
    """A result that the log has."""
    return (await talk.data("tool_result"))[number]


async def test_agent_reads_the_users_devices(scratch: Path) -> None:
    """Id, name, which is current, when it was seen; of this user alone, and nothing is sent."""
    async with open_conversation(scratch, LIST, "Two.") as talk:
        await has(talk, "desk-1", "Desktop")
        talk.stage.time.passed_ms += 1
        await has(talk, "ph-1", "Ana's phone")
        await has(talk, "ben-1", "Ben's phone", user="ben")
        await talk.open(device="desk-1")
        await talk.say("Which devices have I?")

        told = await result(talk)
        assert told["outcome"] == "ok"
        assert json.loads(told["content"]) == {
            "devices": [
                {"id": "desk-1", "name": "Desktop", "current": True, "lastSeenAt": None},
                {"id": "ph-1", "name": "Ana's phone", "current": False, "lastSeenAt": None},
            ]
        }
        assert talk.model.told[1][-1]["results"][0]["content"] == told["content"]
        assert talk.stage.egress.sent == []
        assert (await talk.row()).status == "idle"


async def test_call_is_recorded_like_any_other(scratch: Path) -> None:
    """Of no app, of this run; the page about it says what a person asks."""
    async with open_conversation(scratch, LIST, "One.") as talk:
        await has(talk, "ph-1", "Ana's phone")
        await talk.say()

        (called,) = await talk.data("tool_call")
        assert (called["app"], called["tool"], called["origin"]) == (None, "computer", "platform")
        assert called["args"] == {"list": {}}
        row = await talk.stage.node.calls.get("acme", called["callId"])
        assert row is not None
        assert (row.status, row.outcome, row.category, row.danger_level, row.app) == (
            "done", "ok", "read", "safe", "",
        )  # fmt: skip
        record = await talk.stage.record(called["callId"])
        assert (record["source"], record["target"], record["sessionId"]) == (
            "session", "platform", talk.id,
        )  # fmt: skip
        assert record["argOrigins"] == {"list": "model"}
        assert "request" not in record
        page = page_of(record, None)
        assert page.startswith("computer, a tool of the platform\n")
        assert "the model openai:scripted chose it" in page
        assert "no rule of a policy counts for it" in page
        assert "nothing: the platform answered by itself" in page
        assert 'What came back\n  {"devices": [{"id": "ph-1"' in page
        assert "version 0" not in page


async def test_tool_is_offered_where_there_is_something_to_list(scratch: Path) -> None:
    """A user without devices pays no tokens for it; from the next run on it is there, or gone."""
    async with open_conversation(scratch, "Hello.") as talk:
        await has(talk, "ben-1", "Ben's phone", user="ben")
        await talk.say()
        assert not offered(talk)
        await has(talk, "ph-1", "Ana's phone")
        await talk.say()
        assert offered(talk)
        server = talk.stage.server
        await forget(server.books, server.operator, "ph-1")
        await talk.say()
        assert not offered(talk)


async def test_current_device_is_the_one_that_the_user_spoke_from_last(scratch: Path) -> None:
    """The session's own until a client on another one sends a message."""
    async with open_conversation(scratch, LIST, "That.", LIST, "Now this.") as talk:
        for device in ("desk-1", "ph-1"):
            await has(talk, device, device)
        await talk.open(device="desk-1")
        await talk.say()
        phone = Actor(
            key_id="tok_1", role="client", workspace="acme", user="ana", session=talk.id,
            device="ph-1",
        )  # fmt: skip
        await sessions.say(talk.talks, phone, talk.id, Said(text="And now?"))
        await talk.work()

        for number, current in ((0, "desk-1"), (1, "ph-1")):
            devices = json.loads((await result(talk, number))["content"])["devices"]
            assert [one["id"] for one in devices if one["current"]] == [current]


async def test_device_says_when_it_was_seen_last(scratch: Path) -> None:
    """When a token that was made for it was used last; null before the first time."""
    async with open_conversation(scratch, LIST, "Seen.") as talk:
        await has(talk, "ph-1", "Ana's phone")
        row = await talk.open(device="ph-1")
        store, books = talk.stage.server.store, talk.stage.server.books
        made = await create_client_token(
            books, talk.stage.server.operator, session=row.id, user="ana", ttl_s=60, device="ph-1"
        )
        await store.keys.used("acme", made.key.id, at=START_MS + 60_000)
        await talk.say()

        (only,) = json.loads((await result(talk))["content"])["devices"]
        assert only["lastSeenAt"] == "2026-09-21T14:14:20.000Z"


async def test_wrong_arguments_are_told_with_their_faults(scratch: Path) -> None:
    """As of any tool: recorded, nothing done, and the agent can do better."""
    calls = [
        ask("computer", id="c1", raw="{}"),
        ask("computer", id="c2", raw='{"list": {"all": true}}'),
        ask("computer", id="c3", raw='{"list"'),
    ]
    async with open_conversation(scratch, calls, "Sorry.") as talk:
        await has(talk, "ph-1", "Ana's phone")
        await talk.say()

        results = await talk.data("tool_result")
        errors = [json.loads(one["content"])["error"] for one in results]
        assert [one["code"] for one in errors] == ["invalid_arguments"] * 3
        assert all(one["tool"] == "computer" for one in errors)
        for one in await talk.data("tool_call"):
            assert (await talk.stage.record(one["callId"]))["outcome"] == "error"


async def test_nobody_is_asked_and_no_policy_counts(scratch: Path) -> None:
    """Where every tool of every app waits for a person, this one does not."""
    async with open_conversation(scratch, LIST, "One.") as talk:
        await talk.stage.policy({"match": {}, "then": "ask", "reason": "Everything"})
        await has(talk, "ph-1", "Ana's phone")
        await talk.say()
        assert await talk.data("human_input_needed") == []
        assert (await result(talk))["outcome"] == "ok"


async def test_call_that_is_made_already_stays_as_it_is(scratch: Path) -> None:
    """Whoever takes up the session of a server that died is told what was answered then."""
    async with open_conversation(scratch, LIST, "One.") as talk:
        await has(talk, "ph-1", "Ana's phone")
        await talk.say()
        await has(talk, "ph-2", "New phone")
        told, node, row = await result(talk), talk.stage.node, await talk.row()
        asked = AskedCall(id=told["callId"], model_id="c1", name="computer")
        command = computer_command_of(row, asked, Computer(), None)

        again = await list_computers(node, row, command, '{"list": {}}')

        assert isinstance(again, Ended)
        assert (again.content, again.display) == (told["content"], told["display"])
        assert len((await node.calls.list("acme")).items) == 1


async def test_call_that_a_stopped_run_never_made_is_recorded_as_that(scratch: Path) -> None:
    """It waited behind eight reads, which run side by side; then somebody stopped the run."""
    reads = [ask("integration_get_order", id=f"r{n}", raw=f'{{"id": "{n}"}}') for n in range(8)]
    held = HeldEgress([])
    async with open_conversation(scratch, [*reads, *LIST], "Next.", egress=held) as talk:
        await has(talk, "ph-1", "Ana's phone")
        await sessions.say(talk.talks, BACKEND, talk.id, Said(text="Look."))
        await talk.talker.round()
        await until(lambda: len(held.sent) == len(reads))
        await sessions.cancel(talk.talks, BACKEND, talk.id)
        held.go.set()
        await talk.work()

        (called,) = [one for one in await talk.data("tool_call") if one["tool"] == "computer"]
        (told,) = [
            one for one in await talk.data("tool_result") if one["callId"] == called["callId"]
        ]
        record = await talk.stage.record(called["callId"])
        assert (told["outcome"], record["outcome"]) == ("cancelled", "cancelled")
        assert "Nothing was sent" in record["error"]["message"]
