"""The bookmarks of the examples in `remit dev`, in a browser: a card pressed, a chart framed."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from remit.testing import Call, ScriptedModel, Turn
from tests.building.node import lacking
from tests.examples.bookmarks_process import BOOKMARKS, packages
from tests.main.browser import browsing
from tests.main.developing import developing, within
from tests.main.shown_page import CHAT, WORDS

LINES = [
    Turn(calls=(Call(name="import_from_mail", args={"days": 60}),)),
    "They are in.",
    Turn(calls=(Call(name="show_dashboard", args={"weeks": 13}),)),
    "So it grew.",
]
FRAME = f"{CHAT}.querySelector('iframe.embed')"


@pytest.mark.promise("K-37", "K-45", "K-47")
def test_the_example_works_in_the_chat_as_it_stands(tmp_path: Path) -> None:
    """Its folder is served, its mailbox connected by a press, its chart as high as it says."""
    if not packages():
        lacking("there is no Node with npm here")
    folder = tmp_path / "bookmarks"
    shutil.copytree(BOOKMARKS, folder, ignore=shutil.ignore_patterns("node_modules", "*.db*"))
    (folder / "node_modules").symlink_to(BOOKMARKS / "node_modules")
    command = f"api={sys.executable} bookmarks/serve.py"
    with ScriptedModel(LINES) as model:
        env = {
            "REMIT_MODEL_NAME": "openai:scripted",
            "REMIT_MODEL_BASE_URL": model.base_url,
            "REMIT_MODEL_API_KEY": "none",
        }
        with (
            developing(tmp_path, "bookmarks", "--component", command, port=0, **env) as dev,
            browsing(tmp_path / "profile") as browser,
        ):
            # The link of the terminal, as a person opens it.
            page = browser.open(f"{dev.api.url}/dev#code={dev.code}")
            page.until(f"{CHAT} && !{WORDS}.disabled")
            within(lambda: "Acme Bookmarks is listening on " in dev.said.read_text("utf-8"))

            def say(text: str) -> None:
                page.run(
                    f"{{ const chat = {CHAT}; chat.querySelector('textarea').value = '{text}';"
                    "chat.querySelector('form').requestSubmit() }"
                )

            def see(text: str) -> None:
                page.until(f"{CHAT}.textContent.includes('{text}')")

            say("Bring in the links from my mail.")
            see("Connect your mailbox")
            page.run(
                f"[...{CHAT}.querySelectorAll('.card button')]"
                ".find((one) => one.textContent === 'Connect and import').click()"
            )
            see("They are in.")
            see("Rollbacks without tears")
            say("Show me how it grew.")
            see("So it grew.")
            page.until(f"{FRAME} && {FRAME}.getBoundingClientRect().height > 200")
