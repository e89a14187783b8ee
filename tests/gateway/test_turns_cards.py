"""Action cards in a conversation: shown, pressed, skipped, chained, cancelled (section 8)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from remit.errors import Forbidden, InvalidRequest, StoreUnavailable
from remit.gateway import sessions
from remit.gateway.answering import Answer
from remit.gateway.answering import answer as answer_input
from remit.gateway.sessions import Said
from tests import databases
from tests.gateway.card_stage import (
    APP,
    CALL,
    START,
    act,
    button,
    card,
    client,
    device,
    open_cards,
    result_of,
    said,
)
from tests.gateway.conversations import open_conversation, talk_on
from tests.gateway.fakes import answer
from tests.gateway.nodes import BACKEND, HeldEgress, furnish, open_stage, restarted


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


async def test_what_was_kept_of_a_card_is_what_was_shown(store_url: str) -> None:
    """Somebody who changes it in the store gets nothing sent."""
    async with open_cards(store_url, card(button(target=START))) as talk:
        await talk.say()
        (needed,) = await talk.data("human_input_needed")
        row = await talk.stage.row(needed["callId"])
        changed = f"{(row.private or '')[:-4]}AAAA"
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


async def test_words_that_grow_when_they_are_made_visible_can_be_pressed(scratch: Path) -> None:
    """The bounds are of what the app wrote; what a person sees has every hidden mark named."""
    title = "\u200d" * 60
    async with open_cards(scratch, card(button(label="\u202ego"), title=title)) as talk:
        await talk.say()
        (needed,) = await talk.data("human_input_needed")
        assert "\u200d" not in json.dumps(needed, ensure_ascii=False)
        assert "\u202e" not in json.dumps(needed, ensure_ascii=False)
        await act(talk, "press", press="connect")
        assert (await result_of(talk))["outcome"] == "ok"


async def test_card_that_comes_after_the_run_was_stopped_is_taken_back(scratch: Path) -> None:
    """The write ran to its end; nobody is asked any more, and the session rests."""
    egress = HeldEgress([card()])
    async with open_conversation(scratch, CALL, "So.", egress=egress, document=APP) as talk:
        egress.answers = [card()]
        await sessions.say(talk.talks, BACKEND, talk.id, Said(text="Do it."))
        await talk.talker.round()
        await egress.left.wait()
        await sessions.cancel(talk.talks, BACKEND, talk.id)
        egress.go.set()
        await talk.work()
        assert (await result_of(talk))["outcome"] == "cancelled"
        assert (await talk.row()).status == "idle"


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


async def test_card_is_kept_although_the_store_fails_for_a_while(scratch: Path) -> None:
    """What came back from the app is known nowhere else; nothing is lost, nothing asked twice."""
    async with open_cards(scratch, card()) as talk:
        inputs: Any = talk.stage.node.inputs
        opening, failures = inputs.open, [StoreUnavailable("locked.")] * 3

        async def failing(*args: object, **named: object) -> bool:
            if failures:
                raise failures.pop()
            return await opening(*args, **named)

        inputs.open = failing
        try:
            await talk.say()
        finally:
            inputs.open = opening
        assert len(await talk.data("human_input_needed")) == 1
        await act(talk, "press", press="connect")
        assert (await result_of(talk))["outcome"] == "ok"


async def test_long_answer_of_a_press_is_whole_on_another_node(scratch: Path) -> None:
    """The model reads 16 KiB wherever the press landed; only the record is cut at 4."""
    long = "x" * 10_000
    async with open_cards(scratch, card(button(target=START)), said(long)) as talk:
        await talk.say()
        (input_id,) = (await talk.row()).state.inputs
        other = talk_on(restarted(talk.stage), talk.model)
        other.id = talk.id
        pressed = Answer(decision="press", press="connect", user="ana")
        await answer_input(other.stage.node, BACKEND, input_id, pressed)
        await other.stage.settled()
        await talk.work()
        result = await result_of(talk)
        assert result["content"] == long
        assert result["display"]["data"] == long
        record = await talk.stage.record(result["callId"])
        assert len(record["content"]) < 5_000
        await sessions.erase(talk.talks, BACKEND, talk.id)
        row = await talk.stage.row(result["callId"])
        assert "xxx" not in f"{row.record_json}{row.private}"
