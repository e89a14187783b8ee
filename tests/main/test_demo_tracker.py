"""The demo's fourth part: the tracker in a browser, and what is said where something is missing."""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
import urllib.request
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from remit.main import demo as whole
from remit.main import demo_tracker, example
from remit.main.demo_browser import BrowserGone, Page, browser_command
from remit.main.example import ExampleMissing, RunningExample
from remit.main.walking import Demo
from remit.testing.completions import ScriptedModel
from tests.examples import bookmarks_process
from tests.examples.tracker_process import TRACKER
from tests.main.browser import chromium

EFFECTS = 12
CHAT = "document.querySelector('.assistant .chat')?.shadowRoot"


@pytest.fixture
def demo(tmp_path: Path) -> Demo:
    """A walk that has begun with another app."""
    return Demo(example=RunningExample(tmp_path / "not run"), person=False)


@pytest.fixture(scope="module")
def built() -> None:
    """The tracker's page is there, built where it can be."""
    bookmarks_process.packages()
    if not (TRACKER / "dist/index.html").is_file():
        pytest.skip("the tracker's page is not built")


@pytest.mark.usefixtures("built")
def test_journeys_have_their_effects_and_stay_open_for_a_person(
    tmp_path: Path, demo: Demo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each is found in the page's store, the database or the log; Enter ends what is open."""
    chromium()
    opened: list[str] = []
    answered: list[int] = []

    class Person(io.StringIO):
        def readline(self, size: int | None = -1, /) -> str:
            with urllib.request.urlopen(opened[-1]) as answer:
                answered.append(answer.status)
            return "\n"

    monkeypatch.setattr(demo_tracker, "has_display", lambda: True)
    monkeypatch.setattr(demo_tracker.webbrowser, "open", opened.append)
    monkeypatch.setattr(sys, "stdin", Person())
    demo.person = True
    with demo_tracker.walked(tmp_path, demo, check=True) as stay:
        assert demo.failed == []
        assert demo.checked == EFFECTS
        sessions = demo.example.ask("select session from conversations where user = 'ana'")
        assert len(sessions) == 2, "whoever comes next finds a conversation of their own"
        with Page(browser_command(tmp_path / "theirs")) as page:
            _say_as_ana(page, demo.example.url, "Hello!")
            assert page.until(f"{CHAT}?.textContent.includes('With REMIT_MODEL_NAME set')")
            assert page.run("location.pathname") == "/board"
        assert stay is not None
        stay()
    said = capsys.readouterr().out
    assert "There is no issue APP-1 in Harbor Labs" in said
    assert "! approve by user:ana" in said
    assert f"The tracker is open at {opened[0]}; press Enter to end." in said
    assert answered == [200]
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(opened[0])


def _say_as_ana(page: Page, url: str, words: str) -> None:
    ana = "[...document.querySelectorAll('button')].find((one) => one.innerText.includes('Ana'))"
    page.open(url)
    assert page.until(ana)
    page.run(f"{ana}.click()")
    assert page.until(f"{CHAT}?.querySelector('textarea')")
    page.run(f"{CHAT}.querySelector('textarea').focus()")
    page.type(words)
    page.run(f"{CHAT}.querySelector('form').requestSubmit()")


@pytest.mark.usefixtures("built")
def test_a_model_of_ones_own_is_told_apart_and_fails_nothing(
    tmp_path: Path, demo: Demo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What it does is not known beforehand: what was expected is said, and nothing waits."""
    chromium()
    monkeypatch.setattr("remit.main.demo_browser.WAIT_S", 1)
    with ScriptedModel(lambda _: "I would rather not.") as model:
        monkeypatch.setenv("REMIT_MODEL_NAME", "openai:shy")
        monkeypatch.setenv("REMIT_MODEL_BASE_URL", model.base_url)
        with demo_tracker.walked(tmp_path, demo, check=False):
            pass
    said = capsys.readouterr().out
    assert demo.failed == []
    assert "The model is openai:shy; what it says is its own." in said
    assert "This model did otherwise; expected was: it waits for Ana" in said
    assert "✗" not in said


@pytest.mark.usefixtures("built")
def test_without_a_browser_it_starts_and_says_what_it_leaves_out(
    tmp_path: Path, demo: Demo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A person has a browser of their own, and finds the tracker with its agent."""
    monkeypatch.setenv("PATH", str(tmp_path / "nothing here"))
    with demo_tracker.walked(tmp_path, demo, check=True) as stay:
        assert stay is not None
        with urllib.request.urlopen(f"{demo.example.url}/api/me") as answer:
            assert json.load(answer) == {"user": None, "agent": True}
    assert demo.failed == []
    assert demo.checked == 1
    assert "No Chromium was found" in capsys.readouterr().out


def test_a_page_that_does_not_work_fails_at_its_first_step(
    tmp_path: Path, demo: Demo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is told as a failed effect, and nobody waits for the steps that go on from there."""
    chromium()
    copy = tmp_path / "copy"
    shutil.copytree(TRACKER, copy, ignore=shutil.ignore_patterns("node_modules", "dist"))
    (copy / "dist").mkdir()
    (copy / "dist/index.html").write_text("<!doctype html><title>Blank</title>", "utf-8")
    monkeypatch.setattr(example, "example_folder", lambda _: copy)
    monkeypatch.setattr("remit.main.demo_browser.WAIT_S", 2)
    with demo_tracker.walked(tmp_path, demo, check=True):
        pass
    assert len(demo.failed) == 1
    assert "the page keeps that Ana is there" in demo.failed[0]
    assert "the rest is left out" in capsys.readouterr().out


def test_without_its_page_it_names_the_command_that_builds_it(
    tmp_path: Path, demo: Demo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As where there is no Node: nothing is started, and nothing stays open."""
    monkeypatch.setattr(example, "example_folder", lambda _: tmp_path)
    with demo_tracker.walked(tmp_path, demo, check=True) as stay:
        assert stay is None
    said = capsys.readouterr().out
    assert demo.checked == 0
    assert "Its page is not built (examples/tracker/dist)" in said
    assert "npm --prefix examples/tracker ci && npm --prefix examples/tracker run build" in said


def test_the_command_that_it_names_is_the_readmes() -> None:
    """One truth: somebody who reads either does the same."""
    readme = re.sub(r"\n +", "\n", (TRACKER / "README.md").read_text("utf-8"))
    assert demo_tracker.BUILD in readme


def test_without_a_checkout_it_is_left_out(
    tmp_path: Path, demo: Demo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The wheel has not got it: its page is built with the SDK beside it."""

    def missing(name: str) -> Path:
        raise ExampleMissing(name)

    monkeypatch.setattr(example, "example_folder", missing)
    with demo_tracker.walked(tmp_path, demo, check=True) as stay:
        assert stay is None
    assert "in a checkout of Remit alone" in capsys.readouterr().out


@pytest.mark.parametrize("person", [True, False])
def test_only_a_person_at_a_terminal_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, demo: Demo, *, person: bool
) -> None:
    """In a pipe or in CI the demo ends by itself."""
    stayed: list[bool] = []

    @contextmanager
    def walked(folder: Path, demo: Demo, *, check: bool) -> Generator[Callable[[], None]]:
        yield lambda: stayed.append(True)

    demo.person = person
    monkeypatch.setattr(whole, "_without_server", lambda *_, **__: demo)
    monkeypatch.setattr(whole, "_with_server", lambda *_, **__: None)
    monkeypatch.setattr(whole, "_with_folder", lambda *_, **__: None)
    monkeypatch.setattr(demo_tracker, "walked", walked)
    assert whole.run(check=False) == 0
    assert stayed == [True] * person


def test_a_browser_that_ends_is_one_clear_fault() -> None:
    """No traceback of a pipe (bad input)."""
    with pytest.raises(BrowserGone, match="has ended"), Page([shutil.which("true") or "true"]):
        pass


def test_a_page_tells_what_is_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values come as they are; what fails is None, and waiting for what never comes ends."""
    chromium()
    with Page(browser_command(tmp_path / "profile")) as page:
        assert page.open("data:text/html,<title>Here</title>")
        assert page.run("document.title") == "Here"
        assert page.run("[1, {a: null}]") == [1, {"a": None}]
        assert page.run("nothing.at.all") is None
        monkeypatch.setattr("remit.main.demo_browser.WAIT_S", 0.2)
        assert not page.until("document.title === 'There'")
