"""Conversations whose app answers with action cards, and who answers them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from remit.errors import CallError
from remit.gateway import sessions
from remit.gateway.acting import Actor
from remit.gateway.acting import act as act_of
from remit.gateway.answering import Answer
from remit.gateway.answering import answer as answer_input
from remit.gateway.devices import DeviceRow
from remit.gateway.ports import WireResponse
from tests.catalog.documents import Json, parameters
from tests.gateway.conversations import Conversation, ask, open_conversation
from tests.gateway.fakes import answer
from tests.gateway.nodes import BACKEND, HeldEgress
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


async def press_held(
    talk: Conversation, egress: HeldEgress, *answers: WireResponse | CallError
) -> None:
    """Let the app ask, press its button, and come back once what that sends has left, unanswered.

    Args:
        talk: its app answers through ``egress``.
        egress: holds the answer to the press until ``go`` is set.
        answers: the card first.
    """
    egress.answers = [*answers]
    egress.go.set()
    await talk.say()
    egress.go.clear()
    egress.left.clear()
    (input_id,) = (await talk.row()).state.inputs
    pressed = Answer(decision="press", press="connect", user="ana")
    await answer_input(talk.stage.node, BACKEND, input_id, pressed)
    await egress.left.wait()


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
