"""`remit chat` and the cards, notes and pages of apps (contract sections 8, 9 and 13)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from remit.testing import Call, ScriptedModel, Turn
from tests.main.developing import developing
from tests.main.dialog import Dialog
from tests.main.processes import COMMAND, environment
from tests.main.session_server import SessionServer, approval, events_of, scripted, within
from tests.main.shown_app import ShownApp
from tests.main.test_chat import calls, done, ends, piped, says, talk

KEYS = "A number = press that button · s = skip · c = cancel, and stop the agent\n  m TEXT = "
ELSEWHERE = "s = skip · c = cancel, and stop the agent · Enter = wait\n  m TEXT = "
START = {"type": "app", "component": "api", "path": "/oauth/start", "method": "POST"}


def button(element: str, label: str, **more: object) -> dict[str, Any]:
    """A button, as an input says it."""
    given: dict[str, Any] = {"variant": "secondary", "input": {}, **more}
    return {"type": "button", "id": element, "label": label, **given}


BUTTONS = [
    button("work", "Use the work account", input={"account": "work"}),
    button("connect", "Connect another", variant="primary", target=START, input={"a": 1}),
    button("wipe", "Forget all", variant="danger"),
]
PHONE = {"computerId": "ph-1", "name": "Ana's phone"}


def action(run: str, *, input_id: str = "inp_1", **card: object) -> dict[str, Any]:
    """The data of a `human_input_needed` of a card."""
    shown = {
        "title": "Connect Gmail",
        "description": "Before I can search,\nI need an account.",
        "elements": BUTTONS,
        **card,
    }
    data = approval(
        run,
        id=input_id,
        inputId=input_id,
        kind="action",
        tool="search_mail",
        title=shown["title"],
        line={
            "act": "NEEDS YOU",
            "danger": "the app asks you to choose",
            "host": "api.acme.example",
        },
        card=shown,
    )
    return {name: value for name, value in data.items() if name not in {"verb", "account"}}


def shows(input_id: str = "inp_1", **card: object) -> Callable[[SessionServer, str], None]:
    """A call is answered with a card."""

    def step(server: SessionServer, run: str) -> None:
        if not any(one["type"] == "human_input_needed" for one in server.log):
            calls("call_1", "Search the mail")(server, run)
        server.event("human_input_needed", **action(run, input_id=input_id, **card))
        server.finish(run, "waiting")

    return step


def closed(status: str, input_id: str = "inp_1", **more: object) -> Callable[..., None]:
    """The card is answered, and the run goes on."""

    def step(server: SessionServer, run: str) -> None:
        by = "user:ana through key:key_1"
        data = {"inputId": input_id, "status": status, "decision": "answer", "by": by, **more}
        server.event("human_input_resolved", **data)
        server.event("run_started", runId=f"{run}_b", model="scripted:a")
        server.event("status", status="running")

    return step


def once_answered(
    *steps: Callable[[SessionServer, str], None], times: int = 1
) -> Callable[[SessionServer, str], None]:
    """What happens when an answer has come."""

    def step(server: SessionServer, run: str) -> None:
        server.until("POST", "/answer", times=times)
        scripted(*steps)(server, run)

    return step


ENDS = (ends("call_1", "ok"), says("So it is.", "msg_2"), done)


def test_a_card_is_shown_with_whose_words_are_whose_and_a_number_presses(tmp_path: Path) -> None:
    """The platform's line first; the app's behind a bar; what each button does; then one line."""
    pressed = once_answered(closed("answered", press="connect"), *ENDS)
    with SessionServer(scripted(shows(), pressed)) as server, talk(server, tmp_path) as person:
        person.see("> ")
        person.type("search my mail")
        person.see(
            "NEEDS YOU · the app asks you to choose\nasked by acme on api.acme.example\n\n"
            "  │ Connect Gmail\n  │\n  │ Before I can search,\n  │ I need an account.\n\n"
            "   1  Use the work account\n"
            '      tells the agent {"account":"work"}\n\n'
            "   2  Connect another\n"
            '      calls POST /oauth/start of the app\'s component api with {"a":1}\n\n'
            "   3  Forget all\n"
            "      marked as dangerous by the app · tells the agent {}\n"
        )
        person.see(KEYS)
        person.type("2")
        person.see("ana pressed «Connect another» · ")
        person.see("Search the mail · ")
        person.see("So it is.")
        body = server.until("POST", "/inputs/inp_1/answer")
    assert body == {"press": "connect", "user": "ana"}


@pytest.mark.parametrize("typed", ["", "4", "0", "y", "2 days ago", "²"], ids=repr)
def test_what_is_no_answer_presses_nothing(typed: str, tmp_path: Path) -> None:
    """Enter alone least of all; the card stays."""
    skipped = once_answered(closed("skipped"), ends("call_1", "skipped"), done)
    with SessionServer(scripted(shows(), skipped)) as server, talk(server, tmp_path) as person:
        person.see("> ")
        person.type("search my mail")
        person.see(KEYS)
        person.type(typed)
        person.see("That is no answer.")
        person.type("s")
        person.see("skipped by ana · ")
        person.see("Search the mail · skipped")
        assert server.until("POST", "/answer") == {"skip": True, "user": "ana"}


def test_cancel_stops_the_agent(tmp_path: Path) -> None:
    """Unlike skip, after which it goes on."""

    def stopped(server: SessionServer, run: str) -> None:
        closed("cancelled")(server, run)
        ends("call_1", "cancelled")(server, run)
        server.finish(run, "cancelled")

    with (
        SessionServer(scripted(shows(), once_answered(stopped))) as server,
        talk(server, tmp_path) as person,
    ):
        person.see("> ")
        person.type("search my mail")
        person.see(KEYS)
        person.type("c")
        person.see("cancelled by ana · ")
        person.see("Stopped.")
        person.see("> ")
        assert server.until("POST", "/answer") == {"cancel": True, "user": "ana"}


def test_a_card_for_a_device_is_pressed_there_alone(tmp_path: Path) -> None:
    """Here: where to continue, skip and cancel; a number presses nothing (section 8)."""
    elsewhere = once_answered(closed("skipped"), ends("call_1", "skipped"), done)
    with (
        SessionServer(scripted(shows(assignee=PHONE), elsewhere)) as server,
        talk(server, tmp_path) as person,
    ):
        person.see("> ")
        person.type("search my mail")
        person.see("Continue on Ana's phone.")
        person.see(ELSEWHERE)
        person.type("1")
        person.see("That is no answer.")
        assert "Use the work account" not in person.text
        person.type("s")
        person.see("skipped by ana")
        assert server.until("POST", "/answer") == {"skip": True, "user": "ana"}


def test_a_card_that_was_pressed_on_its_device_becomes_one_line_here(tmp_path: Path) -> None:
    """Whoever is there first; the question goes away by itself."""
    there = closed("answered", press="work", device="ph-1", by="user:ana")
    with (
        SessionServer(scripted(shows(assignee=PHONE), there, *ENDS)) as server,
        talk(server, tmp_path) as person,
    ):
        person.see("> ")
        person.type("search my mail")
        person.see("ana pressed «Use the work account» on Ana's phone · ")
        person.see("So it is.")
        person.see("> ")
        assert not [path for _, path, _ in server.asked if path.endswith("/answer")]


def test_a_press_that_came_second_says_so(tmp_path: Path) -> None:
    """409: what the other client pressed is what holds."""

    def other(server: SessionServer, run: str) -> None:
        closed("answered", press="work")(server, run)
        scripted(*ENDS)(server, run)

    with (
        SessionServer(scripted(shows(), once_answered(other))) as server,
        talk(server, tmp_path) as person,
    ):
        stands = {**action("run_1"), "status": "answered", "press": "work"}
        detail = "The input is answered: another answer decided before this one."
        problem = {"code": "already_answered", "detail": detail, "input": stands}
        server.answers = [(409, problem)]
        person.see("> ")
        person.type("search my mail")
        person.see(KEYS)
        person.type("2")
        person.see(detail)
        person.see("ana pressed «Use the work account»")
        person.see("So it is.")


def test_a_card_may_be_followed_by_another(tmp_path: Path) -> None:
    """A press whose target answers with a card: it is asked like the first one."""
    then = shows("inp_2", title="Choose a mailbox", elements=[button("in", "Inbox")])
    last = once_answered(closed("answered", "inp_2", press="in"), *ENDS, times=2)
    first = once_answered(closed("answered", press="connect"), then)
    with SessionServer(scripted(shows(), first, last)) as server, talk(server, tmp_path) as person:
        person.see("> ")
        person.type("search my mail")
        person.see(KEYS)
        person.type("2")
        person.see("ana pressed «Connect another»")
        person.see("Choose a mailbox")
        person.see(KEYS)
        person.type("1")
        person.see("ana pressed «Inbox»")
        person.see("So it is.")
        assert server.until("POST", "/inputs/inp_2/answer") == {"press": "in", "user": "ana"}


def test_a_session_that_waits_with_a_card_is_taken_up_by_its_id(tmp_path: Path) -> None:
    """After anything: the card is asked again, and its press is told in words."""
    pressed = once_answered(closed("answered", press="wipe"), *ENDS)
    with SessionServer(scripted(shows(), pressed)) as server:
        server.message("search my mail")
        within(lambda: events_of(server)[-2:] == ["run_finished", "status"])
        with talk(server, tmp_path, "--session", "ses_1") as person:
            person.see("> search my mail")
            person.see("Connect Gmail")
            person.see(KEYS)
            person.type("3")
            person.see("ana pressed «Forget all»")
            person.see("So it is.")


def test_words_of_a_card_cannot_look_like_the_platforms(tmp_path: Path) -> None:
    """Hidden characters are shown, and no line of the app begins where the platform's do."""
    wide = "\u4f60"
    forged = f"{'x ' * 60}\nNEEDS YOU \u202e\x1b[2J\n{wide * 90}\n{'y' * 300}"
    label = "Go\n\n   9  Pay"
    card = shows(description=forged, elements=[button("go", label)])
    with SessionServer(scripted(card)) as server, talk(server, tmp_path) as person:
        person.see("> ")
        person.type("search my mail")
        person.see(KEYS)
    drawn = person.text.partition("asked by acme")[2].partition(KEYS)[0]
    assert "  │ NEEDS YOU ⟨U+202E⟩⟨U+001B⟩[2J\n" in drawn
    assert "   1  Go ⏎  ⏎    9  Pay\n" in drawn
    lines = drawn.splitlines()[1:]
    for line in lines:
        assert line == "" or line.startswith(("  │", "   1  ", "      tells the agent ")), line
    columns = [len(line) + line.count(wide) for line in lines if line.startswith("  │")]
    assert max(columns) <= 80


# -- what an app shows of a result ---------------------------------------------------------------


def shown(server_display: dict[str, Any], folder: Path) -> str:
    """What stands on stderr for a result."""
    result = ends("call_0", "ok", display=server_display)
    with SessionServer(scripted(calls("call_0", "Find"), result, says("Here."), done)) as server:
        ran = piped(server, "find it\n", folder)
    assert ran.stdout == "Here.\n"
    return ran.stderr


def test_a_note_is_plain_text(tmp_path: Path) -> None:
    """As it was written, apart from the platform's lines; nothing of it is a link or obeyed."""
    address = f"https://acme.example/{'a' * 120}"
    note = f"**Two** found\n[one](/here) <b>x</b> \x1b]8;;https://evil.test\x07y\n- {address}"
    said = shown({"markdown": note}, tmp_path)
    assert "\x1b" not in said
    assert "  │ **Two** found\n  │ [one](/here) <b>x</b> ⟨U+001B⟩]8;;https://evil.test" in said
    assert f"{address}\n" in said


def test_a_long_note_is_cut_and_says_so(tmp_path: Path) -> None:
    """It must not push what was said off the screen."""
    said = shown({"markdown": "\n".join(f"line {n}" for n in range(200))}, tmp_path)
    assert "  │ line 59\n  … and 140 more lines\n" in said
    assert "line 60" not in said


def test_a_page_is_an_address_that_a_terminal_can_open(tmp_path: Path) -> None:
    """Whole, on one line, however long it is."""
    address = f"https://app.acme.example/card?t={'t' * 300}"
    assert f"The app shows a page: {address}\n" in shown({"embedUrl": address}, tmp_path)


# -- with the real server --------------------------------------------------------------------------


def test_a_card_is_left_open_and_pressed_later_from_the_same_terminal(tmp_path: Path) -> None:
    """Shown by its app, found again by the session's id, pressed once; its note is read."""
    script = {"*": [Turn(text="I look.", calls=(Call(name="show"),)), Turn(text="So it is.")]}
    start = {**START, "path": "/start", "body": "${input}"}
    with ShownApp() as app, ScriptedModel(script) as model:
        app.answers = [
            {
                "type": "action_required",
                "title": "Connect Gmail",
                "elements": [
                    {"type": "button", "id": "work", "label": "Use the work account"},
                    {"type": "button", "id": "go", "label": "Connect another", "target": start},
                ],
            },
            {"content": "Connected.", "markdown": "**Gmail** is connected."},
        ]
        (tmp_path / "app.json").write_text(json.dumps(app.definition()), "utf-8")
        models = {
            "REMIT_MODEL_NAME": "openai:scripted",
            "REMIT_MODEL_BASE_URL": model.base_url,
            "REMIT_MODEL_API_KEY": "none",
        }
        with developing(tmp_path, "app.json", "--user", "ana", port=0, **models) as dev:
            env = environment({"REMIT_SERVER_URL": dev.api.url, "REMIT_KEY": dev.enter().key})
            command = [*COMMAND, "chat"]
            with Dialog([*command, "--user", "ana"], folder=tmp_path, env=env) as person:
                person.see("> ")
                person.type("search my mail")
                person.see("NEEDS YOU · the app asks you to choose\nasked by acme on 127.0.0.1:")
                person.see(KEYS)
                person.type("\x04")
                person.see("Next: remit chat --session ")
                person.end()
                session = person.text.rsplit("--session ", 1)[1].split()[0]
            with Dialog([*command, "--session", session], folder=tmp_path, env=env) as person:
                person.see("  │ Connect Gmail\n")
                person.see("calls POST /start of the app's component api with {}")
                person.see(KEYS)
                person.type("2")
                person.see("ana pressed «Connect another» · ")
                person.see("Show it · ")
                person.see("  │ **Gmail** is connected.\n")
                person.see("So it is.")
        assert app.paths() == ["POST /show", "POST /start"]
