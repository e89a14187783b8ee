"""The fourth part of ``remit demo``: an app in a browser, whose pages lend the agent what they can.

The tracker is started beside a server, and walked through where there is a browser; afterwards it
stays open for whoever sits at the terminal.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import webbrowser
from typing import TYPE_CHECKING

from remit.main.demo_browser import Page, browser_command
from remit.main.demo_model import Speaker
from remit.main.demo_pages import CONVERSATIONS, LINES, Story
from remit.main.example import ExampleMissing, RunningTracker
from remit.main.output import has_display, paint, print_text
from remit.main.server_process import RunningServer
from remit.main.server_walk import Walk, key_shown
from remit.main.walking import indented

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from remit.main.walking import Demo

BUILD = (
    "npm --prefix sdk ci && npm --prefix sdk run dist\n"
    "npm --prefix examples/tracker ci && npm --prefix examples/tracker run build"
)


@contextlib.contextmanager
def walked(folder: Path, demo: Demo, *, check: bool) -> Generator[Callable[[], None] | None]:
    """Walk through the steps with an app and a server of their own; ``demo`` keeps the score.

    Args:
        folder: for the database, the store and what they say.
        demo: the walk so far.
        check: whether every effect has to be known: then a script plays the model.

    Yields:
        What shows the tracker to a person until they have enough; None where it is not there.

    Raises:
        ExampleMissing, ServerGone, BrowserGone: a process does not start, or does not answer.
    """
    tracker = _found(folder)
    if tracker is None:
        yield None
        return
    demo.example, demo.settings = tracker, {}
    with (
        tracker,
        Speaker(folder, check=check, lines=LINES) as speaker,
        RunningServer(
            folder,
            {
                **demo.environment(),
                **speaker.settings,
                "REMIT_SERVER_ALLOWED_ORIGINS": tracker.origin,
            },
        ) as server,
    ):
        walk = Walk(demo=demo, server=server, speaker=speaker.words, scripted=speaker.scripted)
        _start(walk, tracker)
        _in_a_browser(walk, tracker)
        yield lambda: _stay(walk, tracker)


def _found(folder: Path) -> RunningTracker | None:
    """The tracker, or a word on why it is left out."""
    try:
        tracker = RunningTracker(folder)
    except ExampleMissing:
        print_text("   It is in a checkout of Remit alone, so that it is left out here.")
        return None
    if not tracker.built:
        print_text(
            "   Its page is not built (examples/tracker/dist), so that it is left out. With Node "
            f"20.19,\n   in the checkout:\n\n{indented(BUILD)}"
        )
        return None
    return tracker


def _start(walk: Walk, tracker: RunningTracker) -> None:
    demo = walk.demo
    demo.step(
        "Start a server, and the tracker",
        "The tracker's back end has a key, which no page gets. Its pages speak to the server "
        "themselves:\n   their origin is allowed.",
    )
    keys = ("keys", "create", "--role", "backend", "--name", "tracker")
    walk.keys["tracker"] = walk.keys["backend"] = demo.remit(*keys, shown=key_shown).out.strip()
    allowed = f"$ REMIT_SERVER_ALLOWED_ORIGINS={tracker.origin} remit serve"
    print_text(f"   {paint(allowed, 'cyan', sys.stdout)}")
    print_text(f"{indented(walk.server.start())}\n")
    started = f"$ REMIT_SERVER_URL={walk.server.url} REMIT_BACKEND_KEY=… python tracker/server.py"
    print_text(f"   {paint(started, 'cyan', sys.stdout)}")
    tracker.start(demo.environment(), server=walk.server.url, key=walk.keys["tracker"])
    print_text(indented(f"Tracker is listening on {tracker.url}") + "\n")
    demo.holds(
        "both listen, and nobody has a conversation yet",
        true=walk.server.ask("GET", "/readyz").status == 200
        and tracker.url == tracker.origin
        and tracker.ask(CONVERSATIONS) == [],
    )


def _in_a_browser(walk: Walk, tracker: RunningTracker) -> None:
    """The story, where there is a browser."""
    with tempfile.TemporaryDirectory(prefix="remit-demo-", ignore_cleanup_errors=True) as profile:
        try:
            command = browser_command(profile)
        except LookupError:
            print_text(
                "   No Chromium was found, so that nobody works in its pages here. Left out: a page"
                "\n   opened, a card, a change, a refusal, an approval and an estimate."
            )
            return
        with Page(command) as page:
            Story(walk, tracker, page).walk()


def _stay(walk: Walk, tracker: RunningTracker) -> None:
    """Leave the tracker open for a person until they press Enter."""
    print_text(f"\n   {walk.speaker}\n   Pick who you are, and talk with the agent in the page.")
    words = f"The tracker is open at {tracker.url}; press Enter to end."
    print_text(paint(words, "bold", sys.stdout))
    if has_display():
        webbrowser.open(tracker.url)
    with contextlib.suppress(KeyboardInterrupt):
        sys.stdin.readline()
