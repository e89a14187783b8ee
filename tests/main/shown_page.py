"""The page of `remit dev` in a browser, with an app, a scripted model, and a person who types."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from remit.testing import Call, ScriptedModel, Turn
from tests.main.browser import Page, browsing
from tests.main.developing import developing
from tests.main.shown_app import ShownApp
from tests.main.test_serving import Api

SCRIPT = {"*": [Turn(text="I look.", calls=(Call(name="show"),)), Turn(text="So it is.")]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What is looked at.

    Attributes:
        api: with the key that the page has.
        folder: where the run keeps its store, among others.
    """

    page: Page
    app: ShownApp
    api: Api
    folder: Path

    def say(self, *answers: object) -> None:
        """Say something in a new conversation; the app answers the agent's call with these."""
        self.app.answers = list(answers)
        self.page.run("document.getElementById('new-chat').click()")
        self.page.until(f"{CHAT}.querySelectorAll('.turn').length === 0")
        self.write("Show it.")

    def write(self, text: str) -> None:
        """Write a message and send it."""
        self.page.run(
            f"{{ const chat = {CHAT}; chat.querySelector('textarea').value = {json.dumps(text)};"
            "chat.querySelector('form').requestSubmit() }"
        )

    def see(self, words: str) -> None:
        """Wait until words stand in the conversation."""
        self.page.until(f"{CHAT}.textContent.includes({json.dumps(words)})")

    def press(self, label: str) -> None:
        """Press the button of a card."""
        self.page.run(
            f"[...{CHAT}.querySelectorAll('.card button')]"
            f".find((one) => one.textContent === {json.dumps(label)}).click()"
        )

    def drawn(self, note: str) -> Any:  # noqa: ANN401 - JSON
        """A note as the page draws it, in the transcript: its HTML, and its text as it is seen."""
        return self.page.run(
            f"""import("/dev/sdk.js").then(({{ markdown }}) => {{
              const words = {{ tooLong: {json.dumps(TOO_LONG)}, table: "Table" }};
              const made = markdown({json.dumps(note)}, words);
              {TRANSCRIPT}.replaceChildren(made);
              return {{ html: made.innerHTML, text: made.innerText }};
            }})"""
        )

    def framed(self, address: str) -> Any:  # noqa: ANN401 - JSON
        """How many frames there are of an address, and what is said."""
        return self.page.run(
            f"""Promise.all([import("/dev/sdk.js"), import("/dev/chat.js")]).then((made) => {{
              const [sdk, chat] = made;
              {TRANSCRIPT}.replaceChildren(sdk.embed({json.dumps(address)}, chat.framing()));
              return {{
                frames: {TRANSCRIPT}.querySelectorAll("iframe").length,
                text: {TRANSCRIPT}.innerText,
              }};
            }})"""
        )

    def session(self) -> str:
        """The id of the conversation that is shown."""
        return str(self.page.run("sessionStorage.getItem('remit.dev.session')"))


CHAT = "document.getElementById('view')?.shadowRoot"
TRANSCRIPT = f"{CHAT}?.querySelector('.transcript')"
WORDS = f"{CHAT}?.querySelector('textarea')"
TOO_LONG = "The rest is left out: it is too long."


@contextmanager
def shown_page(folder: Path, **env: str) -> Generator[Shown]:
    """The page, opened by the link that `remit dev` printed."""
    with ShownApp() as app, ScriptedModel(SCRIPT) as model, browsing(folder / "profile") as browser:
        (folder / "app.json").write_text(json.dumps(app.definition()), "utf-8")
        env = {
            **env,
            "REMIT_MODEL_NAME": "openai:scripted",
            "REMIT_MODEL_BASE_URL": model.base_url,
            "REMIT_MODEL_API_KEY": "none",
        }
        with developing(folder, "app.json", "--user", "ana", port=0, **env) as dev:
            page = browser.open(f"{dev.api.url}/dev#code={dev.code}")
            page.until(f"{CHAT} && !{WORDS}.disabled")
            held = json.loads(page.run("sessionStorage.getItem('remit.dev')"))
            api = Api(url=dev.api.url, key=held["key"])
            yield Shown(page=page, app=app, api=api, folder=folder)
