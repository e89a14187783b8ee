"""The tracker in a real browser, with a real Remit server and a model that says what it is told.

It is built for the test from the packages that are there: `npm --prefix sdk run dist` and
`npm --prefix examples/tracker ci` come first, and without them this is skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from remit.main.free_port import free_port
from remit.testing.completions import ScriptedModel
from remit.testing.script import Call, Turn
from tests.examples.tracker_process import TRACKER, tracker
from tests.main.browser import Page, browsing, chromium
from tests.main.processes import run, serving
from tests.main.served_clients import settings

BUILD_S = 120
CHAT = "document.querySelector('.assistant .chat')?.shadowRoot"
PAGE = "document.querySelector('main').innerText"


def turn(text: str, **calls: dict[str, Any]) -> Turn:
    """What the model says, and the tools that it calls."""
    return Turn(text=text, calls=tuple(Call(name=name, args=args) for name, args in calls.items()))


SCRIPT = [
    # What is urgent?
    turn("", list_issues={"priority": "urgent"}),
    turn(
        "I open it.",
        navigate={"url": "/issues/WEB-1"},
        widget_issueCard={"id": "WEB-1"},
        save_estimate={"id": "WEB-1", "points": "5"},
    ),
    "It is saved.",
    # Who could take WEB-3?
    turn("", widget_assigneePicker={"id": "WEB-3"}),
    "Please pick.",
    # Go on.
    turn("", get_issue={"id": "WEB-3"}),
    turn("", update_issue={"id": "WEB-3", "status": "in_progress"}),
    turn("", list_issues={"status": "in_progress", "projectId": "WEB"}),
    "It is begun.",
    # Open the others.
    turn("", navigate={"url": "https://evil.example/"}),
    turn("", navigate={"url": "/issues/APP-1"}),
    "Those I cannot open.",
    # Delete WEB-5.
    turn("", delete_issue={"id": "WEB-5"}),
    "It is deleted.",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The page of somebody who is signed in, and what the model was asked."""

    page: Page
    model: ScriptedModel
    url: str

    def press(self, words: str, within: str = "document") -> None:
        """Press the button with these words."""
        found = (
            f"[...({within}?.querySelectorAll('button') ?? [])]"
            f".find((one) => one.innerText.includes({words!r}))"
        )
        self.page.until(found)
        self.page.run(f"void {found}.click()")

    def say(self, words: str, until: str) -> None:
        """Say something in the chat, and wait for what is answered in the end."""
        self.page.until(f"{CHAT}?.querySelector('textarea')")
        self.page.run(f"{CHAT}.querySelector('textarea').focus()")
        self.page.call("Input.insertText", text=words)
        self.page.run(f"{CHAT}.querySelector('form').requestSubmit()")
        self.page.until(f"{CHAT}?.textContent.includes({until!r})")

    def results(self) -> list[str]:
        """What the tools have answered the model so far, the newest last."""
        messages = self.model.requests[-1].messages
        return [str(one["content"]) for one in messages if one["role"] == "tool"]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """The tracker, built, with an agent; Ana is in it."""
    chromium()
    if not (shutil.which("node") and (TRACKER / "node_modules/vite").is_dir()):
        pytest.skip("the tracker's npm packages are not installed: its page is not built")
    if not (TRACKER / "node_modules/@remit/sdk/dist/react/index.js").is_file():
        pytest.skip("the npm package of the SDK is not built: neither is the tracker's page")
    dist = tmp_path / "built"
    subprocess.run(
        ["node", "node_modules/vite/bin/vite.js", "build", "--outDir", str(dist)],
        cwd=TRACKER,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        timeout=BUILD_S,
        check=True,
    )
    port = str(free_port())
    key = run(tmp_path, "keys", "create", "--role", "backend").out.strip()
    with ExitStack() as stack:
        model = stack.enter_context(ScriptedModel(SCRIPT))
        allowed = {"REMIT_SERVER_ALLOWED_ORIGINS": f"http://127.0.0.1:{port}"}
        remit = stack.enter_context(serving(tmp_path, **allowed, **settings(model.base_url)))
        env = {"REMIT_SERVER_URL": remit.url, "REMIT_BACKEND_KEY": key}
        here = stack.enter_context(tracker(tmp_path, dist=dist, port=port, **env))
        browser = stack.enter_context(browsing(tmp_path / "profile"))
        page = browser.open(here.url, width=1440)
        found = Stage(page=page, model=model, url=here.url)
        found.press("Ana Ortiz")
        yield found


def test_an_agent_works_in_the_page_by_the_pages_own_functions(stage: Stage) -> None:
    """It reads, opens, shows, saves and deletes as the form does, and no more than Ana may."""
    page = stage.page

    # It opens a page, and the conversation stays.
    stage.say("What is urgent?", "It is saved.")
    assert page.run("location.pathname") == "/issues/WEB-1"
    assert "Receipts show the net price twice" in page.run(PAGE)
    page.until("document.querySelector('.card')?.innerText.includes('5 points')")
    assert '"total":2' in stage.results()[0]
    assert any('"points":5' in one and '"version":1' in one for one in stage.results())

    # A person changes something in a widget, and the agent's next read has it.
    stage.say("Who could take WEB-3?", "Please pick.")
    stage.press("Eva Sato", "document.querySelector('.picker')")
    stage.say("Go on.", "It is begun.")
    read, changed, listed = stage.results()[-3:]
    assert '"assignee":{"id":"eva","name":"Eva Sato"}' in read
    assert '"status":"in_progress"' in changed
    assert '"WEB-3"' in listed

    # Another site and another tenant's issue are refused.
    stage.say("Open the others.", "Those I cannot open.")
    foreign, other = stage.results()[-2:]
    assert "This is no address of the tracker." in foreign
    assert "There is no issue APP-1 in Harbor Labs" in other
    assert page.run("location.href") == f"{stage.url}/issues/WEB-1"

    # Deleting waits for Ana.
    stage.say("Delete WEB-5.", "cannot be undone")
    assert page.run("localStorage.tracker.includes('\"WEB-5\"')")
    stage.press("Delete an issue", CHAT)
    page.until(f"{CHAT}?.textContent.includes('It is deleted.')")
    assert not page.run("localStorage.tracker.includes('\"WEB-5\"')")

    # A reload finds everything again.
    page.call("Page.reload")
    page.until(f"{CHAT}?.textContent.includes('It is deleted.')")
    page.until("document.querySelector('.picker [aria-pressed=true]')?.innerText.includes('Eva')")
