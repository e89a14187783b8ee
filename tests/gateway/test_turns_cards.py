"""Action cards in a conversation: shown, pressed, skipped, chained, cancelled (section 8)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from remit.errors import CallError, Forbidden, InvalidRequest
from remit.gateway import sessions
from remit.gateway.acting import Actor
from remit.gateway.acting import act as act_of
from remit.gateway.answering import Answer
from remit.gateway.answering import answer as answer_input
from remit.gateway.devices import DeviceRow
from remit.gateway.ledger import CallFilter
from remit.gateway.ports import WireResponse
from tests import databases
from tests.catalog.documents import Json, parameters
from tests.gateway.conversations import Conversation, ask, open_conversation, talk_on
from tests.gateway.fakes import answer
from tests.gateway.nodes import BACKEND, HeldEgress, furnish, open_stage, restarted
from tests.gateway.server import shop

SEARCH: Json = {
    "name": "search_mail",
    "description": "Search the mail. Not for sending.",
    "parameters": parameters("words", words="string"),
    "target": {
        "type": "app",
        "component": "api",
        "path": "/tools/search",
        "method": "POST",
        "body": "${input}",
    },
}
START: Json = {
    "type": "app",
    "component": "api",
    "path": "/oauth/start",
    "method": "POST",
    "body": "${input}",
}
APP = shop(
    SEARCH,
    components={"api": {"url": "https://api.acme.example"}},
    baseUrl="https://acme.example",
)
LOOK: Json = {"type": "app", "component": "api", "path": "/s", "method": "GET"}
CALL = [ask("search_mail", words="tea")]


def button(element: str = "connect", **more: object) -> Json:
    """A button of the app."""
    return {"type": "button", "id": element, "label": element.title(), **more}


def card(*buttons: Json, **more: object) -> WireResponse:
    """A handler's answer that asks for an action."""
    body = {"type": "action_required", "title": "Connect Gmail", **more}
    return answer({**body, "elements": list(buttons or [button()])})


def said(content: str) -> WireResponse:
    """A handler's answer."""
    return answer({"content": content})


def open_cards(
    place: Path | str,
    *answers: WireResponse | CallError,
    lines: Sequence[Any] = (CALL, "So it is."),
) -> AbstractAsyncContextManager[Conversation]:
    """A conversation in which the model searches the mail, and what the app answers in turn."""
    return open_conversation(place, *lines, answers=answers, document=APP)


async def act(talk: Conversation, decision: str, *, actor: Actor = BACKEND, **more: object) -> None:
    """Answer the open card as the API does, and let the node work."""
    (input_id,) = (await talk.row()).state.inputs
    whose: dict[str, Any] = {"user": "ana"} if actor is BACKEND else {"in_person": True}
    fields: dict[str, Any] = {"decision": decision, **whose, **more}
    given = Answer(**fields)
    result = await answer_input(talk.stage.node, actor, input_id, given)
    await sessions.answered(talk.talks, actor, result)
    await talk.work()


def client(talk: Conversation, device_id: str | None) -> Actor:
    """Whoever holds a client token of the session, made for a device."""
    return Actor(
        key_id="k_client",
        role="client",
        workspace="acme",
        user="ana",
        session=talk.id,
        device=device_id,
    )


async def device(talk: Conversation, device_id: str, user: str, name: str) -> None:
    """Register a device."""
    row = DeviceRow(workspace="acme", id=device_id, user=user, name=name, created_at=0)
    entry = act_of(talk.stage.server.books, BACKEND, "device.put", f"device/{device_id}", {})
    await talk.stage.node.devices.put("acme", row, act=entry)


async def result_of(talk: Conversation) -> dict[str, Any]:
    """The one result that the session was told."""
    (result,) = await talk.data("tool_result")
    return result


@pytest.mark.promise("K-37", "K-42", "K-44")
async def test_button_without_a_target_gives_its_input_as_the_result(scratch: Path) -> None:
    """The thread waits with the card on its call; a press is the result of the tool."""
    asked = card(button(input={"account": "work"}), description="Before I can search.")
    async with open_cards(scratch, asked) as talk:
        await talk.say()
        (needed,) = await talk.data("human_input_needed")
        assert (needed["kind"], needed["title"]) == ("action", "Connect Gmail")
        assert needed["card"]["description"] == "Before I can search."
        (shown,) = needed["card"]["elements"]
        assert shown == {
            "type": "button",
            "id": "connect",
            "label": "Connect",
            "variant": "secondary",
            "input": {"account": "work"},
        }
        assert (await talk.row()).status == "waiting_human"
        record = await talk.stage.record(needed["callId"])
        assert record["card"]["title"] == "Connect Gmail"
        await act(talk, "press", press="connect")
        result = await result_of(talk)
        assert (result["outcome"], json.loads(result["content"])) == ("ok", {"account": "work"})
        (resolved,) = await talk.data("human_input_resolved")
        assert (resolved["status"], resolved["press"]) == ("answered", "connect")
        assert talk.stage.egress.lines == ["POST /tools/search"]
        assert (await talk.data("message"))[-1]["text"] == "So it is."


@pytest.mark.promise("K-07", "K-16", "K-40", "K-45")
async def test_button_with_a_target_calls_it_first(scratch: Path) -> None:
    """Same engine, the button's own input; a call of its own, whose result is the tool's."""
    asked = card(button(input={"scope": "gmail.readonly"}, target=START, variant="primary"))
    async with open_cards(scratch, asked, said("Connected.")) as talk:
        await talk.say()
        await act(talk, "press", press="connect")
        assert talk.stage.egress.lines == ["POST /tools/search", "POST /oauth/start"]
        pressed = talk.stage.egress.sent[1]
        assert json.loads(pressed.body or b"") == {"scope": "gmail.readonly"}
        headers = dict(pressed.headers)
        assert headers["Authorization"].startswith("Bearer ")
        context = json.loads(headers["Remit-Tool-Context"])
        assert context == {"source": "thread", "threadId": talk.id}
        result = await result_of(talk)
        assert (result["outcome"], result["content"]) == ("ok", "Connected.")
        page = await talk.stage.server.store.calls.list("acme", CallFilter(session=talk.id))
        child, parent = sorted(page.items, key=lambda row: row.source)
        assert (child.source, parent.source) == ("button", "session")
        record = await talk.stage.record(child.id)
        assert record["parent"] == parent.id
        assert record["argOrigins"] == {"scope": "button"}
        assert record["answeredBy"] == "user:ana through key:k_back"
        assert len(record["attempts"]) == 1
        (press,) = (await talk.stage.record(parent.id))["presses"]
        assert (press["press"], press["callId"]) == ("connect", child.id)
        assert headers["Idempotency-Key"] == child.id


async def test_target_may_answer_with_another_card(scratch: Path) -> None:
    """Each is an input of its own on the one call; the chain ends with a result."""
    second = card(button("choose", input={"box": 1}), title="Choose a mailbox")
    async with open_cards(scratch, card(button(target=START)), second) as talk:
        await talk.say()
        await act(talk, "press", press="connect")
        first, then = await talk.data("human_input_needed")
        assert first["callId"] == then["callId"]
        assert first["id"] != then["id"]
        assert then["title"] == "Choose a mailbox"
        await act(talk, "press", press="choose")
        assert json.loads((await result_of(talk))["content"]) == {"box": 1}


async def test_chain_of_cards_ends_after_five(scratch: Path) -> None:
    """A card without end is the app's fault, and the agent is told (section 8)."""
    async with open_cards(scratch, card(button(target=START))) as talk:
        await talk.say()
        for _ in range(5):
            await act(talk, "press", press="connect")
        result = await result_of(talk)
        assert result["outcome"] == "error"
        assert "response_invalid" in result["content"]
        assert "6 times in a row" in result["content"]
        assert (await talk.row()).status == "idle"


async def test_error_of_a_target_is_the_error_of_the_call(scratch: Path) -> None:
    """What a handler says goes to the agent intact, from a button too."""
    refused = answer({"code": "no_seat", "error": "No seat is left."}, 409)
    async with open_cards(scratch, card(button(target=START)), refused) as talk:
        await talk.say()
        await act(talk, "press", press="connect")
        error = json.loads((await result_of(talk))["content"])["error"]
        assert error["code"] == "upstream_error"
        assert error["details"]["status"] == 409
        assert error["details"]["code"] == "no_seat"
        assert error["details"]["message"] == "No seat is left."


async def test_skip_lets_the_agent_go_on(scratch: Path) -> None:
    """The call ends as skipped; nothing more is sent."""
    async with open_cards(scratch, card(button(target=START))) as talk:
        await talk.say()
        await act(talk, "skip")
        result = await result_of(talk)
        assert result["outcome"] == "skipped"
        assert "they skipped it" in result["content"]
        assert (await talk.data("message"))[-1]["text"] == "So it is."
        assert talk.stage.egress.lines == ["POST /tools/search"]


async def test_cancel_stops_the_run(scratch: Path) -> None:
    """The call ends as cancelled, and the model is not asked again."""
    async with open_cards(scratch, card()) as talk:
        await talk.say()
        await act(talk, "cancel")
        assert (await result_of(talk))["outcome"] == "cancelled"
        assert (await talk.row()).status == "idle"
        assert len(talk.model.told) == 1
        assert [one["role"] for one in await talk.data("message")] == ["user"]


async def test_card_expires(scratch: Path) -> None:
    """After a day nobody can press; the agent is told."""
    async with open_cards(scratch, card()) as talk:
        await talk.say()
        talk.stage.time.passed_ms += 24 * 3_600_000
        await talk.work()
        result = await result_of(talk)
        assert result["outcome"] == "expired"
        assert "Nothing was sent" not in result["content"]


@pytest.mark.promise("K-38")
async def test_card_over_the_api_is_refused(scratch: Path) -> None:
    """Nobody could press it; the call says what the handler must do."""
    async with open_stage(scratch, card()) as stage:
        await furnish(stage, APP)
        ended = await stage.ended("search_mail", {"words": "tea"})
        assert ended.error is not None
        assert ended.error["code"] == "response_invalid"
        assert '{"source": "api"}' in str(ended.error["message"])
        context = dict(stage.egress.sent[0].headers)["Remit-Tool-Context"]
        assert json.loads(context) == {"source": "api"}


@pytest.mark.promise("K-39")
async def test_own_error_of_a_handler_reaches_the_caller_intact(scratch: Path) -> None:
    """Status, code and message, over the API."""
    body = {"code": "connect_required", "error": "Gmail must be connected first."}
    async with open_stage(scratch, answer(body, 409)) as stage:
        await furnish(stage, APP)
        ended = await stage.ended("search_mail", {"words": "tea"})
        details: Any = (ended.error or {})["details"]
        assert (details["status"], details["code"]) == (409, "connect_required")
        assert details["message"] == "Gmail must be connected first."


@pytest.mark.parametrize(
    ("buttons", "words"),
    [
        ([button(target={**START, "component": "web"})], 'no component "web"'),
        (
            [
                button(
                    target={
                        "type": "url",
                        "url": "https://evil.example/x",
                        "method": "POST",
                        "body": "${input}",
                    }
                )
            ],
            "evil.example",
        ),
        ([button(target={"type": "client", "name": "open_url"})], "client"),
        ([button(target={**START, "headers": {"X-Key": "${env.SECRET}"}})], "SECRET"),
        ([button(target={**START, "path": "//evil.example"})], "/elements/0/target/path"),
        ([button(), button()], 'two buttons have the id "connect"'),
        ([button(variant="huge")], "variant"),
        ([button(label="")], "label"),
        ([{"type": "html", "html": "<b>"}], "no button"),
        ([button(input=3, target=START)], "the input of a target is an object"),
    ],
    ids=[
        "component", "origin", "client", "env", "path", "twice", "variant", "label", "html",
        "input",
    ],
)  # fmt: skip
async def test_card_that_cannot_be_pressed_is_found_when_it_comes(
    scratch: Path, buttons: list[Json], words: str
) -> None:
    """A destination outside of the remit, and whatever else is wrong: nobody is shown it."""
    async with open_cards(scratch, card(*buttons)) as talk:
        await talk.say()
        assert await talk.data("human_input_needed") == []
        error = json.loads((await result_of(talk))["content"])["error"]
        assert error["code"] == "response_invalid"
        assert words in error["message"]
        assert talk.stage.egress.lines == ["POST /tools/search"]


async def test_button_above_the_ceiling_is_found_when_it_comes(scratch: Path) -> None:
    """A target that no tool has counts as action and moderate, whatever its card says."""
    app = shop(
        {**SEARCH, "target": LOOK},
        components={"api": {"url": "https://api.acme.example"}},
    )
    asked = card(button(target=START))
    async with open_conversation(scratch, CALL, "So it is.", answers=[asked], document=app) as talk:
        await talk.say()
        assert await talk.data("human_input_needed") == []
        assert "goes beyond what was approved" in (await result_of(talk))["content"]


async def test_card_without_buttons_is_none(scratch: Path) -> None:
    """It could only be skipped."""
    empty = answer({"type": "action_required", "title": "Wait", "elements": []})
    async with open_cards(scratch, empty) as talk:
        await talk.say()
        assert "0 elements" in (await result_of(talk))["content"]


async def test_only_what_a_card_takes_answers_it(scratch: Path) -> None:
    """An unknown button, a yes, and a press on what is no card are refused; the card stays."""
    async with open_cards(scratch, card()) as talk:
        await talk.say()
        with pytest.raises(InvalidRequest, match=r'no button "pay".*connect'):
            await act(talk, "press", press="pay")
        with pytest.raises(InvalidRequest, match='"press"'):
            await act(talk, "approve")
        with pytest.raises(InvalidRequest, match='"skip"'):
            await act(talk, "deny")
        assert (await talk.row()).status == "waiting_human"
        await act(talk, "press", press="connect")
        assert (await talk.row()).status == "idle"


async def test_policy_holds_for_a_button(scratch: Path) -> None:
    """A press is the approval of its request, and lifts no rule that denies."""
    async with open_cards(scratch, card(button(target=START))) as talk:
        await talk.say()
        await talk.stage.policy(
            {"match": {"source": "button"}, "then": "deny", "reason": "No buttons here"}
        )
        await act(talk, "press", press="connect")
        result = await result_of(talk)
        assert result["outcome"] == "denied"
        assert "No buttons here" in result["content"]
        assert talk.stage.egress.lines == ["POST /tools/search"]


async def test_what_was_kept_of_a_card_is_what_was_shown(store_url: str) -> None:
    """Somebody who changes it in the store gets nothing sent."""
    async with open_cards(store_url, card(button(target=START))) as talk:
        await talk.say()
        (needed,) = await talk.data("human_input_needed")
        row = await talk.stage.row(needed["callId"])
        changed = (row.private or "").replace("/oauth/start", "/oauth/other")
        databases.change(store_url, "UPDATE call SET private = :changed", changed=changed)
        await act(talk, "press", press="connect")
        assert "not what was shown" in (await result_of(talk))["content"]
        assert talk.stage.egress.lines == ["POST /tools/search"]


@pytest.mark.promise("K-41", "K-43")
async def test_only_the_assignee_presses(scratch: Path) -> None:
    """A client token made for the device is its proof; every other client may skip or cancel."""
    phone = card(assignee={"computerId": "dev_phone"})
    async with open_cards(scratch, phone) as talk:
        await device(talk, "dev_phone", "ana", "Ana's phone")
        await device(talk, "dev_desk", "ana", "Ana's desk")
        await talk.say()
        (needed,) = await talk.data("human_input_needed")
        assert needed["card"]["assignee"] == {"computerId": "dev_phone", "name": "Ana's phone"}
        for actor in (BACKEND, client(talk, "dev_desk"), client(talk, None)):
            with pytest.raises(Forbidden, match="for Ana's phone alone"):
                await act(talk, "press", press="connect", actor=actor)
        await act(talk, "press", press="connect", actor=client(talk, "dev_phone"))
        (resolved,) = await talk.data("human_input_resolved")
        assert (resolved["device"], resolved["by"]) == ("dev_phone", "user:ana")


async def test_others_than_the_assignee_may_skip(scratch: Path) -> None:
    """Else a lost phone would hold the conversation for a day."""
    async with open_cards(scratch, card(assignee={"computerId": "dev_phone"})) as talk:
        await device(talk, "dev_phone", "ana", "Ana's phone")
        await talk.say()
        await act(talk, "skip", actor=client(talk, "dev_desk"))
        assert (await result_of(talk))["outcome"] == "skipped"


@pytest.mark.parametrize("owner", ["ben", None], ids=["another-user", "unknown"])
async def test_assignee_is_a_device_of_the_user(scratch: Path, owner: str | None) -> None:
    """Else nobody could ever press."""
    async with open_cards(scratch, card(assignee={"computerId": "dev_phone"})) as talk:
        if owner is not None:
            await device(talk, "dev_phone", owner, "Phone")
        await talk.say()
        assert await talk.data("human_input_needed") == []
        assert "a device that the user does not have" in (await result_of(talk))["content"]


async def test_card_is_pressed_after_a_restart(scratch: Path) -> None:
    """A card is a row: whichever process there is goes on with it."""
    asked = card(button(target=START))
    async with open_cards(scratch, asked, said("Connected.")) as talk:
        await talk.say()
        other = talk_on(restarted(talk.stage), talk.model)
        other.id = talk.id
        await act(other, "press", press="connect")
        assert (await result_of(other))["content"] == "Connected."
        assert talk.stage.egress.lines == ["POST /tools/search", "POST /oauth/start"]


async def test_button_whose_server_dies_sends_nothing_twice(scratch: Path) -> None:
    """The call of a press is taken up like any other: nobody knows, and it is said."""
    egress = HeldEgress([card(button(target=START)), said("Connected.")])
    lines = (CALL, "So it is.")
    async with open_conversation(scratch, *lines, egress=egress, document=APP) as talk:
        egress.answers = [card(button(target=START)), said("Connected.")]
        egress.go.set()
        await talk.say()
        egress.go.clear()
        egress.left.clear()
        (input_id,) = (await talk.row()).state.inputs
        pressed = Answer(decision="press", press="connect", user="ana")
        await answer_input(talk.stage.node, BACKEND, input_id, pressed)
        await egress.left.wait()
        after = talk_on(restarted(talk.stage), talk.model)
        after.id = talk.id
        after.stage.time.passed_ms += 60_000
        await after.work()
        result = await result_of(after)
        assert result["outcome"] == "outcome_unknown"
        assert "may have happened" in result["content"]
        assert [one.split()[1] for one in egress.lines].count("/oauth/start") == 1
        assert (await after.row()).status == "idle"
        egress.go.set()


async def test_embedded_page_is_shown_whole_and_recorded_without_its_query(scratch: Path) -> None:
    """The session's reader draws it; the record has its query masked (K-33, K-35)."""
    page = "https://api.acme.example/connect?token=abc"
    channels = answer({"content": "Not connected.", "embedUrl": page, "markdown": "m"})
    async with open_cards(scratch, channels) as talk:
        await talk.say()
        result = await result_of(talk)
        assert result["display"] == {"embedUrl": page}
        assert result["content"] == "Not connected."
        assert "abc" not in json.dumps(talk.model.told)
        shown = (await talk.stage.record(result["callId"]))["mapped"]
        assert shown["embedUrl"] == "https://api.acme.example/connect?***"


async def test_refused_embed_is_recorded_and_the_rest_stands(scratch: Path) -> None:
    """The developer is told why; the person gets the note (section 8)."""
    channels = answer({"content": "c", "embedUrl": "/relative", "markdown": "**m**"})
    async with open_cards(scratch, channels) as talk:
        await talk.say()
        result = await result_of(talk)
        assert result["display"] == {"markdown": "**m**"}
        record = await talk.stage.record(result["callId"])
        assert record["embedRefused"]["code"] == "embed_refused"
        assert "absolute" in record["embedRefused"]["message"]


async def test_no_credential_of_a_session_is_needed_for_a_card(scratch: Path) -> None:
    """What was pressed on one device is known on all: one answer decides."""
    async with open_cards(scratch, card()) as talk:
        await talk.say()
        (input_id,) = (await talk.row()).state.inputs
        await act(talk, "press", press="connect")
        again = Answer(decision="skip", user="ana")
        result = await answer_input(talk.stage.node, BACKEND, input_id, again)
        assert result.input.status == "answered"
        assert replace(result.input).answered_by == "user:ana through key:k_back"
