"""What a press of a card's button sends, and what it may not (contract section 8)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from remit.errors import ClaimRefused
from remit.gateway import sessions
from remit.gateway.ledger import CallFilter
from remit.gateway.sessions import Said
from remit.gateway.suspending import suspend
from tests import databases
from tests.catalog.documents import Json, parameters
from tests.gateway.card_stage import (
    APP,
    CALL,
    LOOK,
    SEARCH,
    START,
    act,
    button,
    card,
    client,
    device,
    open_cards,
    press_held,
    result_of,
    said,
)
from tests.gateway.client_stage import Tab, tools
from tests.gateway.conversations import ask, open_conversation, talk_on
from tests.gateway.fakes import answer
from tests.gateway.nodes import BACKEND, HeldEgress, restarted
from tests.gateway.server import shop


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
        ([button(target={"type": "client", "name": "wipe_disk"})], "no tool of the app runs"),
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
        assert "could not be pressed" in (await result_of(talk))["content"]


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


async def test_button_whose_server_dies_sends_nothing_twice(scratch: Path) -> None:
    """The call of a press is taken up like any other: nobody knows, and it is said."""
    egress = HeldEgress([])
    lines = (CALL, "So it is.")
    async with open_conversation(scratch, *lines, egress=egress, document=APP) as talk:
        await press_held(talk, egress, card(button(target=START)), said("Connected."))
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


OPEN_PAGE: Json = {
    "name": "open_page",
    "description": "Opens a page. Not for searching.",
    "parameters": parameters("url", url="string"),
    "target": {"type": "client", "name": "open_url"},
}
WITH_CLIENT = shop(
    SEARCH,
    OPEN_PAGE,
    components={"api": {"url": "https://api.acme.example"}},
)
OPEN = button(input={"url": "https://acme.example/connect"}, target=OPEN_PAGE["target"])


@pytest.mark.promise("K-07")
async def test_button_may_run_a_handler_in_the_users_client(scratch: Path) -> None:
    """The call goes on in one client, and its result is the tool's; the handler is approved."""
    lines = (CALL, "So it is.")
    answers = [card(OPEN)]
    async with open_conversation(scratch, *lines, answers=answers, document=WITH_CLIENT) as talk:
        tab = Tab(talk, "tab-1", tools())
        await tab.announce()
        await talk.say()
        await act(talk, "press", press="connect")
        assert (await talk.row()).status == "waiting_client"
        (told,) = await talk.data("client_tool_call")
        (called,) = await talk.data("tool_call")
        assert (told["callId"], told["handler"]) == (called["callId"], "open_url")
        claimed = await tab.claim(told["callId"])
        assert claimed.args == {"url": "https://acme.example/connect"}
        await tab.post(told["callId"], claimed, {"opened": True})
        await talk.work()
        result = await result_of(talk)
        assert (result["outcome"], result["content"]) == ("ok", '{"opened":true}')
        record = await talk.stage.record(told["callId"])
        assert (record["target"], record["handler"]) == ("client", "open_url")
        (press,) = record["presses"]
        assert (press["press"], press["handler"]) == ("connect", "open_url")
        assert talk.stage.egress.lines == ["POST /tools/search"]


@pytest.mark.parametrize(("then", "status"), [("ask", "waiting_client"), ("deny", "idle")])
async def test_press_is_the_approval_of_what_a_client_runs(
    scratch: Path, then: str, status: str
) -> None:
    """Where the policy asks for a person, the one who pressed was it; a rule that denies holds."""
    rule = {"match": {"source": "button"}, "then": then, "reason": "By hand"}
    async with open_conversation(
        scratch, CALL, "So.", answers=[card(OPEN)], document=WITH_CLIENT
    ) as talk:
        await talk.stage.policy(rule)
        await talk.say()
        await act(talk, "press", press="connect")
        assert (await talk.row()).status == status
        if then == "ask":
            tab = Tab(talk, "tab-1", tools())
            await tab.announce()
            (told,) = await talk.data("client_tool_call")
            assert (await tab.claim(told["callId"])).handler == "open_url"
        else:
            assert (await result_of(talk))["outcome"] == "denied"


async def test_press_counts_for_what_a_client_runs_although_its_call_was_approved_before(
    scratch: Path,
) -> None:
    """The yes to the call that the card came from is of another request (contract section 5)."""
    async with open_conversation(
        scratch, CALL, "So.", answers=[card(OPEN)], document=WITH_CLIENT
    ) as talk:
        await talk.stage.policy({"match": {}, "then": "ask", "reason": "By hand"})
        await talk.say()
        await act(talk, "approve")
        await act(talk, "press", press="connect")
        tab = Tab(talk, "tab-1", tools())
        await tab.announce()
        (told,) = await talk.data("client_tool_call")
        assert (await tab.claim(told["callId"])).handler == "open_url"


async def test_secrets_of_the_first_call_stay_hidden_in_the_answer_of_a_button(
    store_url: str,
) -> None:
    """The app may say again whatever it was sent: to a card, a chain of cards, a result."""
    secret = {
        "type": "object",
        "properties": {"password": {"type": "string", "writeOnly": True}},
    }
    app = shop(
        {**SEARCH, "parameters": secret},
        components={"api": {"url": "https://api.acme.example"}},
    )
    call = [ask("search_mail", password="pass-canary-1")]
    async with open_conversation(store_url, call, "So.", document=app) as talk:
        egress = talk.stage.egress
        egress.answers = [card(button(target=START))]
        await talk.say()
        token = dict(egress.sent[0].headers)["Authorization"].removeprefix("Bearer ")
        echo = f"pass-canary-1 {token}"
        egress.answers = [
            card(button("go", target=START, label="Go", input={"x": echo}), description=echo),
            said(f"You sent {echo}"),
        ]
        await act(talk, "press", press="connect")
        await act(talk, "press", press="go")
        assert (await result_of(talk))["content"] == "You sent *** ***"
        assert "canary" not in json.dumps(talk.model.told[1:])
    kept = b"".join(databases.kept(store_url).values())
    assert b"pass-canary-1" not in kept
    assert token.encode() not in kept


async def test_stopped_run_waits_for_the_write_of_a_button(scratch: Path) -> None:
    """Although the tool itself only reads: what the press sent runs to its end and is told."""
    app = shop(
        {**SEARCH, "target": LOOK},
        {**SEARCH, "name": "start", "target": START},
        components={"api": {"url": "https://api.acme.example"}},
    )
    egress = HeldEgress([])
    async with open_conversation(scratch, CALL, "So.", egress=egress, document=app) as talk:
        await press_held(talk, egress, card(button(target=START)), said("Written."))
        await sessions.cancel(talk.talks, BACKEND, talk.id)
        await talk.talker.round()
        egress.go.set()
        await talk.work()
        result = await result_of(talk)
        assert (result["outcome"], result["content"]) == ("ok", "Written.")
        assert (await talk.row()).status == "idle"


DELETE_ALL: Json = {
    **SEARCH,
    "name": "delete_all",
    "dangerLevel": "destructive",
    "category": "action",
    "target": {"type": "app", "component": "api", "path": "/all", "method": "DELETE"},
}


def with_twin(**changes: object) -> Json:
    """An app whose catalog has a tool that goes where a card's button goes, too."""
    return shop(
        SEARCH, DELETE_ALL, components={"api": {"url": "https://api.acme.example"}}, **changes
    )


@pytest.mark.parametrize(
    "target",
    [
        {**START, "body": {"scope": "${input.scope}"}},
        {**START, "query": {"scope": "${input.scope}"}},
        {**START, "headers": {"X-Scope": "a ${input.scope}"}},
    ],
    ids=["body", "query", "header"],
)
@pytest.mark.promise("K-17")
async def test_target_takes_single_values_of_the_buttons_input(scratch: Path, target: Json) -> None:
    """A dotted reference reads the button's input, wherever it may stand."""
    asked = card(button(input={"scope": "gmail"}, target=target))
    async with open_cards(scratch, asked, said("Connected.")) as talk:
        await talk.say()
        await act(talk, "press", press="connect")
        assert (await result_of(talk))["content"] == "Connected."
        sent = talk.stage.egress.sent[1]
        assert "gmail" in f"{sent.url} {dict(sent.headers)} {(sent.body or b'').decode()}"


@pytest.mark.parametrize(
    "target",
    [
        {**START, "body": {"scope": "${input.scope}"}},
        {**START, "headers": {"X-Key": "${env.NONE}"}},
        {**START, "query": {"q": "x" * 9_000}},
        {**START, "body": {"x": "x" * 20_000}},
    ],
    ids=["input", "env", "url", "size"],
)
async def test_target_that_could_never_be_sent_is_found_when_the_card_comes(
    scratch: Path, target: Json
) -> None:
    """A reference to nothing, and what is too large: nobody is shown the card."""
    async with open_cards(scratch, card(button(target=target))) as talk:
        await talk.say()
        assert await talk.data("human_input_needed") == []
        assert (await result_of(talk))["outcome"] == "error"
        assert "response_invalid" in (await result_of(talk))["content"]


@pytest.mark.parametrize(
    "changes",
    [
        None,
        {"query": {"x": "1"}},
        {"path": "/%61ll"},
        {"path": "/all/"},
        {"method": "POST", "headers": {"X-HTTP-Method-Override": "DELETE"}},
        {"method": "POST", "query": {"_method": "DELETE"}},
        {"method": "POST", "body": {"_method": "DELETE"}},
        {"method": "POST", "body": {"_method": "${input.x}"}},
        {"method": "POST", "body": "${input}"},
    ],
    ids=[
        "same",
        "query",
        "encoded",
        "slash",
        "override",
        "override query",
        "override body",
        "input names it",
        "input is it",
    ],
)
async def test_card_does_not_lift_the_ceiling_of_a_tool(
    scratch: Path, changes: Json | None
) -> None:
    """A tool that was dropped is not reached by a button that goes to its place."""
    ceiling = {"category": "action", "dangerLevel": "moderate"}
    whole = (changes or {}).get("body") == "${input}"
    given = {"_method": "DELETE"} if whole else {"x": "DELETE"}
    target = {**DELETE_ALL["target"], **(changes or {})}
    async with open_conversation(
        scratch, CALL, "So.", answers=[card(button(input=given, target=target))],
        document=with_twin(ceiling=ceiling),
    ) as talk:  # fmt: skip
        await talk.say()
        assert await talk.data("human_input_needed") == []
        assert "over the ceiling" in (await result_of(talk))["content"]


@pytest.mark.parametrize(
    ("rule", "outcome"),
    [
        ({"then": "deny"}, "denied"),
        ({"then": "ask", "by": "operator"}, "denied"),
        ({"then": "ask"}, "ok"),
    ],
    ids=["deny", "operator", "user"],
)
async def test_rules_that_name_a_tool_hold_for_a_button_to_its_place(
    scratch: Path, rule: Json, outcome: str
) -> None:
    """Else an app would pass every rule of a workspace with a card (contract section 18)."""
    target = DELETE_ALL["target"]
    async with open_conversation(
        scratch, CALL, "So.", answers=[card(button(target=target)), said("Gone.")],
        document=with_twin(),
    ) as talk:  # fmt: skip
        await talk.stage.policy({"match": {"tool": "delete_all"}, "reason": "Ours", **rule})
        await talk.say()
        await act(talk, "press", press="connect")
        result = await result_of(talk)
        assert result["outcome"] == outcome
        assert len(talk.stage.egress.sent) == (2 if outcome == "ok" else 1)
        if outcome == "denied":
            assert 'The button \\"Connect\\" was pressed, and nothing was sent' in result["content"]
            assert "search_mail was not called" not in result["content"]
        page = await talk.stage.server.store.calls.list("acme", CallFilter(session=talk.id))
        assert {row.tool for row in page.items} == {"search_mail", "delete_all"}


async def test_input_of_a_client_button_is_held_to_the_tools_schema(scratch: Path) -> None:
    """The handler relies on what its tool declares; a button is no way around it."""
    wrong = button(input={"url": 5, "more": 1}, target=OPEN_PAGE["target"])
    async with open_conversation(
        scratch, CALL, "So.", answers=[card(wrong)], document=WITH_CLIENT
    ) as talk:
        await talk.say()
        assert await talk.data("human_input_needed") == []
        assert "could not be pressed" in (await result_of(talk))["content"]


async def test_client_of_another_device_does_not_execute_what_the_assignee_pressed(
    scratch: Path,
) -> None:
    """A card for one device is that device's to carry out, too."""
    asked = card(OPEN, assignee={"computerId": "dev_phone"})
    async with open_conversation(
        scratch, CALL, "So.", answers=[asked], document=WITH_CLIENT
    ) as talk:
        await device(talk, "dev_phone", "ana", "Phone")
        tab = Tab(talk, "tab-1", tools())
        await tab.announce()
        await talk.say()
        await act(talk, "press", press="connect", actor=client(talk, "dev_phone"))
        (told,) = await talk.data("client_tool_call")
        with pytest.raises(ClaimRefused, match="for another device"):
            await tab.claim(told["callId"])


async def test_platforms_own_words_stand_beside_each_target(scratch: Path) -> None:
    """What a press does is not for the app to word: act, danger and host (section 5)."""
    buttons = [
        button("keep", label="Keep", input={}),
        button("go", label="Continue", target=DELETE_ALL["target"]),
    ]
    async with open_conversation(
        scratch, CALL, "So.", answers=[card(*buttons)], document=with_twin()
    ) as talk:
        await talk.say()
        (needed,) = await talk.data("human_input_needed")
        keep, go = needed["card"]["elements"]
        assert "does" not in keep
        assert go["does"] == {
            "act": "DELETES",
            "danger": "cannot be undone",
            "host": "api.acme.example",
        }


async def test_limits_count_presses(scratch: Path) -> None:
    """Same engine and rules (contract section 8)."""
    async with open_cards(scratch, card(button(target=START))) as talk:
        await talk.say()
        await talk.stage.policy(limits={"writesPerRun": 0})
        await act(talk, "press", press="connect")
        assert "rate_limited" in (await result_of(talk))["content"]
        assert len(talk.stage.egress.sent) == 1


async def test_card_of_a_conversation_that_is_over_asks_nobody(scratch: Path) -> None:
    """Closed or erased while the handler was on its way: no input is open afterwards."""
    egress = HeldEgress([card()])
    async with open_conversation(scratch, CALL, "So.", egress=egress, document=APP) as talk:
        egress.answers = [card(button(target=START))]
        await sessions.say(talk.talks, BACKEND, talk.id, Said(text="Do it."))
        await talk.talker.round()
        await egress.left.wait()
        await sessions.erase(talk.talks, BACKEND, talk.id)
        egress.go.set()
        await talk.stage.settled()
        page = await talk.stage.server.store.inputs.list("acme")
        assert [one.status for one in page.items] == []


async def test_card_outlives_a_version_that_it_does_not_fit_only_as_a_refusal(
    scratch: Path,
) -> None:
    """The component was renamed: the app changed, and the words say so."""
    async with open_cards(scratch, card(button(target=START))) as talk:
        await talk.say()
        renamed = {**SEARCH, "target": {**SEARCH["target"], "component": "web"}}
        await talk.stage.server.approved(
            shop(renamed, components={"web": {"url": "https://api.acme.example"}}),
            consent="workspace",
        )
        await act(talk, "press", press="connect")
        content = (await result_of(talk))["content"]
        assert "the app has changed since its card was shown" in content
        assert len(talk.stage.egress.sent) == 1


async def test_what_a_press_sent_is_told_although_the_app_was_suspended_since(
    scratch: Path,
) -> None:
    """The call of the press is there: whatever stands now, it may have happened."""
    egress = HeldEgress([])
    async with open_conversation(scratch, CALL, "So.", egress=egress, document=APP) as talk:
        await press_held(talk, egress, card(button(target=START)), said("Connected."))
        after = talk_on(restarted(talk.stage), talk.model)
        after.id = talk.id
        server = talk.stage.server
        done = await suspend(server.books, server.operator, "acme", reason="a test", node="node-2")
        after.stage.worker.stopped(done)
        after.stage.time.passed_ms += 60_000
        await after.work()
        result = await result_of(after)
        assert result["outcome"] == "outcome_unknown"
        record = await after.stage.record(result["callId"])
        assert [one["press"] for one in record["presses"]] == ["connect"]
        assert "callId" in record["presses"][0]
        egress.go.set()


async def test_words_of_a_suspended_app_do_not_say_that_it_was_not_called(scratch: Path) -> None:
    """It was, and answered with the card."""
    async with open_cards(scratch, card(button(target=START))) as talk:
        await talk.say()
        server = talk.stage.server
        done = await suspend(server.books, server.operator, "acme", reason="a test", node="node-1")
        talk.stage.worker.stopped(done)
        await talk.work()
        content = (await result_of(talk))["content"]
        assert "search_mail did not go on after its card" in content
