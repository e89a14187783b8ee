"""``remit chat``: a conversation in the terminal, or line by line in a pipe.

One thread reads the events and puts them in a queue; this one types, shows and answers. Nothing
is decided here: the server says what waits, what runs, and what became of it.
"""

from __future__ import annotations

import contextlib
import os
import queue
import select
import sys
import termios
from typing import TYPE_CHECKING

from remit.errors import RemitError
from remit.main import chat_card
from remit.main.asking import ServerRefused
from remit.main.chat_api import object_of, objects, text
from remit.main.chat_card import Answered, Instead, Later, Stop
from remit.main.chat_stream import Happened, Interrupted, Over, Resumed
from remit.main.output import paint, say

if TYPE_CHECKING:
    from remit.main.chat_api import SessionApi
    from remit.main.chat_stream import Item
    from remit.main.chat_view import View
    from remit.values.json import JsonObject

_PROMPT = "\n> "
_TICK_S = 0.5
_LAST = frozenset({"done", "cancelled", "failed", "limit"})
_LINE_BYTES = 65_536


class SessionOver(Exception):
    """Nothing more will happen in the session; the text says why."""


class _Left(Exception):
    """The user goes, and nothing is decided."""


class Conversation:
    """One session at one terminal, or at the two ends of a pipe.

    Args:
        api: of the session.
        view: draws what happens.
        head: number of the last event that was shown.
        waiting: the inputs that are open by then.

    Attributes:
        failed: whether a run failed, or something waits that nobody here can answer.
    """

    def __init__(
        self, api: SessionApi, view: View, *, head: int, waiting: list[JsonObject]
    ) -> None:
        self._api = api
        self._view = view
        self._items: queue.SimpleQueue[Item] = queue.SimpleQueue()
        # A byte for each item, so that a question can wait for either a line or an event.
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_write, False)
        self._stream = api.stream(head, self._told)
        self._mine: set[str] = set()
        self._inputs = {text(one.get("id")): one for one in waiting}
        for one in waiting:
            view.knows(one)
        # Those that the user leaves open for now.
        self._later: set[str] = set()
        # What ended before the agent took the last message up says nothing of it.
        self._since, self._begun = head, True
        self._resting = True
        self._stopping = False
        self._with_client = False
        self.failed = False

    def start(self) -> None:
        """Read events from here on."""
        self._stream.start()

    def close(self) -> None:
        """Stop reading them."""
        self._stream.close()
        os.close(self._wake_read)
        os.close(self._wake_write)

    # -- at a terminal -------------------------------------------------------------------------

    def at_terminal(self, *, running: bool) -> int:
        """Talk until the user leaves; the exit code.

        Args:
            running: whether the agent works, or waits, as this begins.
        """
        self._resting = not running
        while True:
            try:
                self._follow()
                words = _typed_message()
                if words is None:
                    return 0
                if words:
                    self._send(words)
            except _Left:
                return 0
            except KeyboardInterrupt:
                if self._resting or self._stopping:
                    say("")
                    return 0 if self._resting else 130
                self._stop()
            except SessionOver as over:
                self._view.line(f"{over}.", "yellow")
                return 1
            except RemitError as error:
                # What one message or answer met: the conversation goes on.
                self._view.line(error.message, "red")
                self._look_again()

    def _follow(self) -> None:
        """Show what happens until the agent rests; ask what it asks."""
        while not self._resting:
            asking = [one for key, one in self._inputs.items() if key not in self._later]
            if asking and not self._stopping:
                self._ask(asking[0])
                continue
            self._view.tick()
            self._next(_TICK_S)
        self._drain()
        self._stopping = False
        self._later.clear()
        self._view.rest()

    def _stop(self) -> None:
        """Ctrl-C while the agent works: stop it; the next one leaves."""
        self._stopping = True
        self._view.line("Stopping. Ctrl-C again leaves.")
        try:
            self._api.cancel()
        except RemitError as error:
            self._stopping = False
            self._view.line(error.message, "red")
            self._look_again()

    def _ask(self, found: JsonObject) -> None:
        """Put an input to the person until it is answered, here or elsewhere."""
        key = text(found.get("id"))
        asked = chat_card.asked_of(found, self._api.user)
        self._view.clear()
        say(asked.card)
        question = asked.question
        while key in self._inputs:
            line = self._line(question, key)
            if line is None:
                return
            meant = chat_card.typed(found, line)
            if isinstance(meant, Later):
                self._later.add(key)
                self._view.line("It waits. Ctrl-C stops the agent.")
                return
            if isinstance(meant, Answered):
                self._answer(key, meant.body)
                return
            if isinstance(meant, Instead):
                self._send(meant.words, withdraw=True)
                return
            if isinstance(meant, Stop):
                self._stop()
                return
            question = f"That is no answer. {question.removeprefix('That is no answer. ')}"

    def _answer(self, key: str, body: JsonObject) -> None:
        found = self._inputs.pop(key, {})
        try:
            self._api.answer(key, body)
        except ServerRefused as refused:
            self._view.line(str(refused.problem.get("detail", "")), "yellow")
            stands = object_of(refused.problem.get("input")) or self._api.input(key)
            if stands.get("status") == "open":
                # It is another request than was shown, say: it is shown as it stands now.
                self._inputs[key] = stands
            return
        self._view.restart_clock(text(found.get("callId")))

    def _line(self, question: str, key: str) -> str | None:
        """One line typed behind a question; None where its input is closed meanwhile.

        What was typed before the question stood on the screen is no answer to it.
        """
        with contextlib.suppress(termios.error):
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        self._view.ask(question)
        while True:
            ready, _, _ = select.select([sys.stdin, self._wake_read], [], [])
            if sys.stdin in ready:
                read = os.read(sys.stdin.fileno(), _LINE_BYTES)
                if not read:
                    raise _Left
                self._view.typed()
                return read.decode(sys.stdin.encoding or "utf-8", "replace")
            self._drain()
            if key not in self._inputs:
                return None
            if not self._view.asks:
                self._view.ask(question)

    # -- in a pipe -----------------------------------------------------------------------------

    def in_pipe(self) -> int:
        """Send each line of stdin as a message; the exit code: 1 where one came to no end."""
        for line in sys.stdin:
            words = line.strip()
            if not words:
                continue
            try:
                self._send(words)
                while not self._resting and not self._inputs and not self._with_client:
                    self._next(None)
                self._drain()
            except SessionOver as over:
                say(f"{over}.")
                return 1
            if not self._resting:
                self._view.clear()
                for found in self._inputs.values():
                    say(chat_card.left_open(found, self._api.user))
                if not self._inputs:
                    say("The agent waits for a browser of the app, and there is none here.")
                return 1
        return 1 if self.failed else 0

    # -- what happens --------------------------------------------------------------------------

    def _send(self, words: str, *, withdraw: bool = False) -> None:
        self._resting = False
        try:
            run, self._since = self._api.say(words, withdraw=withdraw)
            self._begun = False
            self._mine.add(run)
        except RemitError:
            self._look_again()
            raise
        if withdraw:
            self._inputs.clear()

    def _look_again(self) -> None:
        """Ask the server how the session stands: what was believed here may be wrong."""
        found = self._api.read()
        self._resting = found.get("status") in {"idle", "closed"}
        self._inputs = {text(one.get("id")): one for one in objects(found.get("inputs"))}

    def _told(self, item: Item) -> None:
        """From the reader's thread."""
        self._items.put(item)
        with contextlib.suppress(BlockingIOError, OSError):
            os.write(self._wake_write, b".")

    def _next(self, timeout_s: float | None) -> None:
        """Take the next thing that happens, if one comes in time."""
        try:
            item = self._items.get(timeout=timeout_s)
        except queue.Empty:
            return
        self._take(item)

    def _drain(self) -> None:
        """Take all that has happened so far."""
        while select.select([self._wake_read], [], [], 0)[0]:
            os.read(self._wake_read, _LINE_BYTES)
        with contextlib.suppress(queue.Empty):
            while True:
                self._take(self._items.get_nowait())

    def _take(self, item: Item) -> None:
        if isinstance(item, Over):
            raise SessionOver(item.why)
        if isinstance(item, Interrupted):
            self._view.line(f"The connection is lost ({item.why}); trying again.", "yellow")
        elif isinstance(item, Resumed):
            self._view.line("Connected again.")
        else:
            self._happened(item)

    def _happened(self, event: Happened) -> None:
        data = event.data
        self._view.show(event, mine=text(data.get("runId")) in self._mine)
        if event.type == "human_input_needed":
            self._inputs[text(data.get("id"))] = data
        elif event.type == "human_input_resolved":
            self._inputs.pop(text(data.get("inputId")), None)
        elif (event.seq or 0) <= self._since:
            return
        elif event.type == "run_started":
            self._resting, self._begun = False, True
        elif not self._begun and text(data.get("runId")) not in self._mine:
            return
        elif event.type == "run_finished" and data.get("reason") in _LAST:
            self._resting = True
            self.failed = self.failed or data.get("reason") in {"failed", "limit"}
        elif event.type == "status":
            self._status(text(data.get("status")))

    def _status(self, status: str) -> None:
        if status == "idle":
            self._resting, self._inputs = True, {}
        elif status == "closed":
            raise SessionOver("The session is closed")
        else:
            self._resting = False
        self._with_client = status == "waiting_client"


def _typed_message() -> str | None:
    """A message from the prompt, with the line editing of the terminal; None for the end."""
    # GNU readline edits and remembers the lines of `input` once it is imported.
    with contextlib.suppress(ImportError):
        import readline

        del readline
    prompt = paint(_PROMPT, "bold", sys.stdout)
    if prompt != _PROMPT:
        # What does not move the cursor is marked, or a long line is drawn wrongly.
        prompt = prompt.replace("\x1b[1m", "\x01\x1b[1m\x02").replace("\x1b[0m", "\x01\x1b[0m\x02")
    try:
        return input(prompt).strip()
    except EOFError:
        say("")
        return None
