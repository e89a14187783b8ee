"""Action cards of apps on the page of `remit dev`, in a real browser (contract section 8)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.main.shown_page import TRANSCRIPT, WORDS, Shown, shown_page
from tests.main.test_serving import Api

CARD = f"{TRANSCRIPT}?.querySelector('.card')"
START = {
    "type": "app", "component": "api", "path": "/start", "method": "POST", "body": "${input}",
}  # fmt: skip


def button(element: str, label: str, **more: object) -> dict[str, Any]:
    """A button of the app."""
    return {"type": "button", "id": element, "label": label, **more}


def card(*buttons: dict[str, Any], **more: object) -> dict[str, Any]:
    """A handler's answer that asks for an action."""
    found = list(buttons) or [
        button("work", "Use the work account", input={"account": "work"}),
        button("connect", "Connect", variant="primary", target=START, input={"a": 1}),
        button("wipe", "Forget all", variant="danger"),
    ]
    return {"type": "action_required", "title": "Connect Gmail", "elements": found, **more}


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    """The page, for all tests of this file; the user has a phone."""
    with shown_page(tmp_path_factory.mktemp("cards")) as found:
        found.api.done("PUT", "/v1/devices/ph-1", {"user": "ana", "name": "Ana's phone"})
        yield found


def asked(shown: Shown) -> str:
    """The text of the card, when it is there."""
    shown.page.until(CARD)
    return str(shown.page.run(f"{CARD}.innerText"))


def labels(shown: Shown, part: str = "") -> list[str]:
    """The buttons of the card, or of a part of it."""
    return shown.page.run(
        f"[...{CARD}.querySelectorAll('{part} button')].map((one) => one.textContent)"
    )


def line(shown: Shown) -> str:
    """The one line that the card became."""
    shown.page.until(f"!{CARD} && {TRANSCRIPT}.querySelector('.input > .note')")
    return str(shown.page.run(f"{TRANSCRIPT}.querySelector('.input > .note').innerText"))


def test_a_card_says_whose_words_are_whose_and_nothing_is_pressed_by_chance(shown: Shown) -> None:
    """The platform's line, the app's words and buttons, what they do; danger in words, too."""
    words = "Before I can search,\n<b>now</b> \u202e"
    shown.say(card(description=words), {"content": "Connected."})
    text = asked(shown)
    host = shown.app.url.removeprefix("http://")
    assert text.startswith(
        f"NEEDS YOU · the app asks you to choose\n\nasked by acme on {host}\n\nConnect Gmail\n\n"
        "Before I can search,\n<b>now</b> ⟨U+202E⟩\n"
    )
    assert "The app marks “Forget all” as dangerous." in text
    assert labels(shown, ".app") == ["Use the work account", "Connect", "Forget all"]
    assert labels(shown, ".own") == ["Skip", "Cancel"]
    classes = f"[...{CARD}.querySelectorAll('.app button')].map((one) => one.className)"
    assert shown.page.run(classes) == ["", "primary", "danger"]
    assert shown.page.run(f"!{CARD}.contains(document.activeElement)")
    does = f"[...{CARD}.querySelectorAll('dd')].map((one) => one.textContent)"
    assert shown.page.run(does) == [
        'tells the agent {"account":"work"}',
        f"SETS SOMETHING OFF · may be hard to put right · {host} · "
        'calls POST /start of the app\'s component api with {"a":1}',
        "tells the agent {}",
    ]
    assert shown.app.paths()[-1] == "POST /show"

    shown.press("Connect")
    assert line(shown).startswith("ana pressed “Connect” · ")
    shown.see("So it is.")
    assert shown.app.paths()[-1] == "POST /start"


@pytest.mark.parametrize(
    ("label", "said", "goes_on"),
    [("Skip", "ana skipped · ", True), ("Cancel", "ana cancelled · ", False)],
    ids=["skip", "cancel"],
)
def test_skip_goes_on_and_cancel_stops(
    shown: Shown, label: str, said: str, *, goes_on: bool
) -> None:
    """Neither presses a button of the app's."""
    shown.say(card())
    asked(shown)
    shown.press(label)
    assert line(shown).startswith(said)
    shown.see("So it is." if goes_on else "Stopped.")
    assert shown.page.run(f"{TRANSCRIPT}.innerText.includes('So it is.')") is goes_on


def test_what_is_typed_in_the_place_of_an_answer_takes_the_card_back(shown: Shown) -> None:
    """People correct by typing (section 9)."""
    shown.say(card(), {"content": "Here."})
    asked(shown)
    shown.write("Leave it.")
    assert line(shown).lower().startswith("taken back · ")


def test_a_card_for_a_device_is_pressed_there_alone(shown: Shown) -> None:
    """Here stands where to continue, with skip and cancel; the press there is one line here."""
    shown.say(card(assignee={"computerId": "ph-1"}), {"content": "Connected."})
    assert "Continue on Ana's phone." in asked(shown)
    assert labels(shown) == ["Skip", "Cancel"]

    path = f"/v1/sessions/{shown.session()}"
    made = shown.api.done("POST", f"{path}/tokens", {"device": "ph-1"})
    phone = Api(url=shown.api.url, key=made["clientToken"])
    (waits,) = phone.done("GET", path)["inputs"]
    phone.done("POST", f"{path}/human-input/{waits['id']}", {"press": "connect"})
    assert line(shown).startswith("ana pressed “Connect” on Ana's phone · ")
    shown.see("So it is.")


def test_a_card_that_another_client_answered_first_says_what_it_pressed(shown: Shown) -> None:
    """The first answer decides; a button that is pressed here right after it changes nothing."""
    shown.say(card(), {"content": "Connected."})
    asked(shown)
    (waits,) = shown.api.done("GET", f"/v1/sessions/{shown.session()}")["inputs"]
    init = {
        "method": "POST",
        "headers": {
            "Authorization": f"Bearer {shown.api.key}",
            "Content-Type": "application/json",
        },
        "body": json.dumps({"press": "work", "user": "ana"}),
    }
    shown.page.run(
        f"""(async () => {{
          const there = [...{CARD}.querySelectorAll("button")];
          const before = await fetch("/v1/inputs/{waits["id"]}/answer", {json.dumps(init)});
          there.find((one) => one.textContent === "Connect").click();
          return before.status;
        }})()"""
    )
    assert line(shown).startswith("ana pressed “Use the work account” · ")
    shown.see("So it is.")
    assert shown.app.paths()[-1] == "POST /show"


def test_cards_follow_one_another_and_a_page_that_is_loaded_again_shows_them(shown: Shown) -> None:
    """What was pressed stays as a line, from the log alone; the open card can be pressed."""
    then = card(button("in", "Inbox", input={"box": 1}), title="Choose a mailbox")
    shown.say(card(), then)
    asked(shown)
    shown.press("Connect")
    assert line(shown).startswith("ana pressed “Connect” · ")
    shown.see("Choose a mailbox")

    shown.page.call("Page.reload")
    shown.page.until(f"document.readyState === 'complete' && {CARD}")
    assert labels(shown, ".app") == ["Inbox"]
    assert "ana pressed “Connect”" in shown.page.run(f"{TRANSCRIPT}.innerText")
    shown.press("Inbox")
    shown.see("ana pressed “Inbox” · ")
    shown.see("So it is.")


def test_a_page_of_an_earlier_run_begins_anew(shown: Shown) -> None:
    """`remit dev` was started again, with a store of its own: the page is no dead end."""
    shown.app.answers = [card(), {"content": "Connected."}]
    shown.page.run("sessionStorage.setItem('remit.dev.session', 'ses_none'); location.reload()")
    shown.page.until("performance.getEntriesByType('navigation')[0].type === 'reload'")
    shown.page.until("document.getElementById('about')?.textContent.includes('as ana')")
    shown.page.until(f"{WORDS}?.disabled === false")
    shown.write("Show it.")
    assert "Connect Gmail" in asked(shown)


def test_what_is_said_in_a_new_conversation_waits_for_no_other(shown: Shown) -> None:
    """A message that is still on its way, in the conversation before, holds nothing up."""
    shown.say(card(), {"content": "Here."}, {"content": "There."})
    asked(shown)
    shown.page.run(
        "window.plain = window.fetch;"
        "window.fetch = async (...sent) => {"
        "  window.fetch = window.plain;"
        "  const got = await window.plain(...sent);"
        "  await new Promise((done) => { window.arrive = done; });"
        "  return got;"
        "};"
    )
    shown.write("Leave it.")
    assert line(shown).lower().startswith("taken back · ")
    before = shown.session()
    shown.say({"content": "There."})
    shown.see("So it is.")
    now = shown.session()
    assert now != before
    shown.page.run("window.arrive()")
    assert shown.session() == now
    assert not shown.page.run(f"{WORDS}.disabled")
