"""The chat of the SDK in a real browser, with a real server and a scripted model (section 16)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from remit.main.free_port import free_port
from remit.testing import Call, ScriptedModel, Turn
from tests.main.browser import Browser, Page, browsing
from tests.main.processes import Serving, run, serving
from tests.main.test_serving import Api
from tests.sdk.node import ROOT
from tests.sdk.pages import PageServer, bundled, page_folder

ORDER = {"id": "ord_1"}


def _calls(text: str, *names: str, **args: str) -> Turn:
    return Turn(text=text, calls=tuple(Call(name=one, args={**ORDER, **args}) for one in names))


SCRIPT = {
    "open": [_calls("I open it.", "open_order"), "It is **open**."],
    "save": [_calls("I save it.", "slow_save"), "It is saved."],
    "circle": [Turn(calls=(Call(name="circle"),)), "It cannot be told."],
    "note": [
        Turn(
            calls=(
                Call(name="set_note", args={**ORDER, "note": "fragile"}),
                Call(name="read_note", args=ORDER),
            )
        ),
        "It is written.",
    ],
    "remove": [_calls("", "remove_order"), "It is done."],
    "show": [_calls("", "widget_orderCard"), "Here it is."],
    "look": [
        Turn(text="I look.", calls=(Call(name="open_order", args=ORDER), Call(name="circle"))),
        "# All\n\n> Quoted, [linked](https://acme.example), `coded`.\n\n- one\n\n"
        "```\ncode\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |",
        _calls("", "widget_orderCard"),
        "Here it is.",
        _calls("I remove it.", "remove_order"),
        "It is done.",
    ],
    "*": ["So it is."],
}
# Each fault and where it is; the page around the chat is the test's own.
AXE = """axe.run(document.getElementById('chat')).then(({violations}) =>
  violations.flatMap(({id, nodes}) => nodes.map(({target}) => [id, target])))"""
CHAT = "document.getElementById('chat').shadowRoot"


@dataclass(kw_only=True)
class Shop:
    """An app with a chat in its page, and all that this needs."""

    browser: Browser
    pages: PageServer
    folder: Path
    env: dict[str, str]
    stack: ExitStack = field(default_factory=ExitStack)
    tabs: list[Page] = field(default_factory=list[Page])
    server: Serving | None = None
    key: str = ""

    @property
    def api(self) -> Api:
        """With an operator's key."""
        assert self.server is not None
        return Api(url=self.server.url, key=self.key)

    def start(self) -> None:
        """Start the server, on the same port each time."""
        self.server = self.stack.enter_context(serving(self.folder, **self.env))

    def open(self, **more: Any) -> Page:  # noqa: ANN401 - JSON
        """A page with a new session, and no other: a browser has six connections to a server."""
        while self.tabs:
            self.tabs.pop().close()
        made = self.api.done("POST", "/v1/sessions", {"apps": [], "user": "ana"})
        self.pages.did.clear()
        self.pages.settings = {"server": self.api.url, "session": made["id"], **more}
        path = f"/v1/sessions/{made['id']}/tokens"
        self.pages.token = lambda: self.api.done("POST", path, {})["clientToken"]
        return self.tab()

    def tab(self) -> Page:
        """One more page with the session."""
        page = self.browser.open(self.pages.url)
        self.tabs.append(page)
        page.until("window.mounted?.connection.snapshot().isCaughtUp")
        return page

    def log(self) -> list[dict[str, Any]]:
        """The events of the session."""
        path = f"/v1/sessions/{self.pages.settings['session']}/events"
        return self.api.ask("GET", path, headers={"Accept": "application/json"}).json["events"]

    def results(self) -> list[dict[str, Any]]:
        """What the calls came to."""
        return [one["data"] for one in self.log() if one["type"] == "tool_result"]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """One server, model and browser for the tests of this file."""
    folder = tmp_path_factory.mktemp("sdk")
    with (
        PageServer(bundled("orders.ts")) as pages,
        ScriptedModel(SCRIPT) as model,
        browsing(page_folder(folder)) as browser,
    ):
        env = {
            "REMIT_MODEL_NAME": "openai:scripted",
            "REMIT_MODEL_BASE_URL": model.base_url,
            "REMIT_MODEL_API_KEY": "scripted",
            "REMIT_SERVER_ALLOWED_ORIGINS": pages.url,
            "REMIT_SERVER_PORT": str(free_port()),
        }
        made = Shop(browser=browser, pages=pages, folder=folder, env=env)
        with made.stack:
            made.start()
            done = run(folder, "keys", "create", "--role", "operator", "--name", "tests")
            assert done.code == 0, done
            made.key = done.out.strip()
            yield made


def say(page: Page, text: str) -> None:
    """Write it and send it, as a person does."""
    page.run(f"{CHAT}.querySelector('textarea').value = {json.dumps(text)}")
    page.run(f"{CHAT}.querySelector('form').requestSubmit()")


def see(page: Page, words: str) -> None:
    """Wait until words are to be seen."""
    page.until(f"{CHAT}.querySelector('.chat').textContent.includes({json.dumps(words)})")


def press(page: Page, label: str) -> None:
    """Press a button."""
    find = f"[...{CHAT}.querySelectorAll('button')].find((one) => one.innerText === "
    page.until(f"{find}{json.dumps(label)})")
    page.run(f"((one) => {{ one.focus(); one.click() }})({find}{json.dumps(label)}))")


def test_the_pages_function_is_a_tool_and_its_title_stands_in_the_transcript(shop: Shop) -> None:
    """A-01, A-03, A-06: the resolved value is what the agent is told."""
    page = shop.open()
    say(page, "open")
    see(page, "It is open.")
    assert shop.pages.did == ["opened ord_1"]
    see(page, "Open an order · ")
    (result,) = shop.results()
    assert result["outcome"] == "ok"
    assert json.loads(result["content"]) == {"opened": "ord_1"}
    assert page.run(f"{CHAT}.querySelector('.assistant strong').innerText") == "open"


def test_several_calls_agree_a_read_after_a_write_sees_the_write(shop: Shop) -> None:
    """A-27: what a handler has done when it returns is there for the next."""
    page = shop.open()
    say(page, "note")
    see(page, "It is written.")
    written, read = (json.loads(one["content"]) for one in shop.results())
    assert written == read == {"id": "ord_1", "note": "fragile"}


def test_a_result_that_cannot_be_sent_names_the_tool_and_says_that_it_may_have_happened(
    shop: Shop,
) -> None:
    """A-05: the effect is there, the result is not; the conversation goes on."""
    page = shop.open()
    say(page, "circle")
    see(page, "It cannot be told.")
    assert shop.pages.did == ["circled"]
    (result,) = shop.results()
    assert result["display"]["error"]["code"] == "unserializable_result"
    assert "circle" in result["content"]
    see(page, "This may have happened. Check before trying again.")


def test_of_two_tabs_one_executes(shop: Shop) -> None:
    """The one in which it was said; the other shows what came of it."""
    first = shop.open()
    second = shop.tab()
    say(second, "open")
    for page in (first, second):
        see(page, "It is open.")
    assert shop.pages.did == ["opened ord_1"]


def test_a_reload_in_the_middle_of_a_call_repeats_nothing_and_leaves_nothing_stuck(
    shop: Shop,
) -> None:
    """What the tab took with it may have happened: the agent is told so, and goes on."""
    page = shop.open()
    say(page, "save")
    shop.pages.until("saving ord_1")
    page.call("Page.reload")
    page.until("window.mounted?.connection.snapshot().isCaughtUp")
    see(page, "It is saved.")
    assert shop.pages.did == ["saving ord_1"]
    (result,) = shop.results()
    assert result["outcome"] == "outcome_unknown"
    see(page, "This may have happened. Check before trying again.")


def test_a_call_that_nobody_took_waits_for_a_tab_that_comes_back(shop: Shop) -> None:
    """The tab goes before it claims: the next one executes."""
    page = shop.open()
    page.run(
        "window.fetch = ((send) => (where, ...more) => String(where).endsWith('/claim')"
        " ? new Promise(() => {}) : send(where, ...more))(window.fetch)"
    )
    say(page, "open")
    see(page, "Waits for a page of the app")
    page.close()
    shop.tabs.remove(page)
    see(shop.tab(), "It is open.")
    assert shop.pages.did == ["opened ord_1"]


def test_a_server_that_was_killed_leaves_no_gap(shop: Shop) -> None:
    """The page says that it tries again; what is said in between is sent once it is back."""
    page = shop.open()
    say(page, "save")
    shop.pages.until("saving ord_1")
    assert shop.server is not None
    shop.server.process.kill()
    shop.server.process.wait()
    see(page, "The connection is lost. Trying again.")
    page.run("window.finish()")
    shop.pages.until("saved ord_1")
    shop.start()
    see(page, "It is saved.")
    assert shop.pages.did == ["saving ord_1", "saved ord_1"]
    assert [one["outcome"] for one in shop.results()] == ["ok"]
    page.until("window.mounted.connection.snapshot().state.status === 'idle'")
    kept = page.run("window.mounted.connection.snapshot().state.headSeq")
    assert kept == shop.log()[-1]["seq"]


def test_a_token_that_expires_in_the_middle_is_asked_for_again(shop: Shop) -> None:
    """The stream goes on with another token, and so does what is typed."""
    page = shop.open()
    path = f"/v1/sessions/{shop.pages.settings['session']}/tokens"
    given: list[str] = []

    def short() -> str:
        given.append(shop.api.done("POST", path, {"ttlS": 2})["clientToken"])
        return given[-1]

    shop.pages.token = short
    page.call("Page.reload")
    page.until("window.mounted?.connection.snapshot().isCaughtUp")
    page.run("new Promise((done) => setTimeout(() => done(true), 2500))")
    say(page, "open")
    see(page, "It is open.")
    assert len(given) > 1
    assert shop.pages.did == ["opened ord_1"]


def test_a_destructive_tool_of_the_page_waits_for_its_user(shop: Shop) -> None:
    """The card has the verb, none of its buttons has the focus, and it becomes one line."""
    page = shop.open()
    say(page, "remove")
    see(page, "cannot be undone")
    assert shop.pages.did == []
    assert page.run(f"{CHAT}.querySelector('.card').matches('.destructive')")
    assert not page.run(f"{CHAT}.querySelector('.card').contains({CHAT}.activeElement)")
    press(page, "remove_order")
    see(page, "It is done.")
    assert page.run(f"{CHAT}.activeElement?.localName") == "textarea", "where one writes"
    assert shop.pages.did == ["removed ord_1"]
    see(page, "ana approved · ")
    assert page.run(f"{CHAT}.querySelectorAll('.card').length") == 0


def test_what_waits_is_answered_on_a_second_screen_and_the_first_shows_it(shop: Shop) -> None:
    """A phone with the same conversation: the card fits its width, and is pressed there once."""
    first = shop.open()
    say(first, "remove")
    see(first, "cannot be undone")
    phone = shop.tab()
    phone.resize(390, 844)
    see(phone, "cannot be undone")
    assert phone.run("document.documentElement.scrollWidth") == 390
    assert phone.run(f"{CHAT}.querySelector('.card').getBoundingClientRect().right") <= 390
    heights = f"[...{CHAT}.querySelectorAll('.card button')].map((one) => one.offsetHeight)"
    assert min(phone.run(heights)) >= 44
    press(phone, "remove_order")
    for page in (phone, first):
        see(page, "It is done.")
        see(page, "ana approved · ")
    assert shop.pages.did == ["removed ord_1"]


def test_a_widget_follows_what_it_shows_and_is_dropped_with_its_definition(shop: Shop) -> None:
    """A-09, A-11, A-13: it draws into a container; its clean-up runs; no message is sent."""
    page = shop.open()
    say(page, "show")
    see(page, "Here it is.")
    page.until("document.querySelector('#chat > div')?.innerText === 'Order ord_1: as new'")
    before = len(shop.log())
    page.run("window.orders.get('ord_1').note = 'torn'")
    page.until("document.querySelector('#chat > div')?.innerText === 'Order ord_1: torn'")
    page.run("window.mounted.update({ tools: {}, widgets: {} })")
    shop.pages.until("dropped ord_1")
    see(page, "orderCard is not on this page.")
    assert page.run("document.querySelectorAll('#chat > div').length") == 0
    assert len(shop.log()) == before


def test_the_chat_speaks_spanish(shop: Shop) -> None:
    """Every text of it."""
    page = shop.open(locale="es-MX")
    see(page, "Di qué quieres que se haga.")
    assert page.run(f"{CHAT}.querySelector('textarea').placeholder") == "Escribe un mensaje"
    say(page, "remove")
    see(page, "no se puede deshacer")


def test_every_part_of_it_can_be_read_and_used_light_and_dark_on_a_phone_too(shop: Shop) -> None:
    """Section 16: axe finds nothing, contrast included, which needs a real browser."""
    page = shop.open()
    for text, seen in (("look", "Quoted"), ("show", "Here it is."), ("remove", "cannot be undone")):
        say(page, text)
        see(page, seen)
    page.run((ROOT / "sdk/node_modules/axe-core/axe.min.js").read_text("utf-8") + "; true")
    for scheme in ("light", "dark"):
        page.prefer(scheme)
        for width in (1280, 390):
            page.resize(width, 844)
            found = page.run(AXE)
            assert found == [], (scheme, width, found)
    page.run("document.getElementById('chat').style.setProperty('--remit-soft', '#222')")
    assert "color-contrast" in {one[0] for one in page.run(AXE)}, "axe does not look into the chat"
