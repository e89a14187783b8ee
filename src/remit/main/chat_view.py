"""What ``remit chat`` shows of a conversation: text as it streams, and what was done in lines.

The agent's words go to stdout, all else to stderr, so that in a pipe the answer stands alone.
"""

from __future__ import annotations

import os
import sys
import time
from datetime import datetime
from typing import TYPE_CHECKING

from remit.main.chat_api import object_of, objects, text
from remit.main.chat_button import buttons_of, continues_on, set_apart
from remit.main.output import is_terminal, paint, say, width
from remit.main.terminal import one_line
from remit.values.visible import visible

if TYPE_CHECKING:
    from remit.main.chat_stream import Happened
    from remit.values.json import JsonObject

UNKNOWN = "This may have happened. Check before trying again."
_DECIDED = {"cancelled": "taken back", "expired": "nobody answered in time"}
# A card is cancelled by a button of its own, which a message in the place of an answer is not.
_OF_CARD = {"cancelled": "cancelled"}
_MAX_LINE = 240
_CALLS = frozenset({"tool_call", "tool_progress", "tool_result", "client_tool_call", "widget"})
_ENDINGS = {
    "denied": "not done: it was refused",
    "skipped": "skipped",
    "expired": "not done: nobody answered in time",
    "cancelled": "stopped",
    "outcome_unknown": UNKNOWN,
}


class _Call:
    """A call that goes on: its title, and since when it has not waited for a person."""

    __slots__ = ("asked_at", "note", "since", "title")

    def __init__(self, title: str, at: float | None) -> None:
        self.title = title
        self.asked_at = at
        self.since = time.monotonic()
        self.note = ""


class View:
    """Draws events. Where stderr is a terminal, its last line tells what is going on."""

    def __init__(self) -> None:
        drawn = is_terminal(sys.stderr) and is_terminal(sys.stdout)
        self._live = drawn and os.environ.get("TERM") != "dumb"
        self._calls: dict[str, _Call] = {}
        self._said: dict[str, int] = {}
        self._cards: dict[str, JsonObject] = {}
        self._in_text = False
        self._asking = False
        self._status_line = False
        self._thinking: float | None = None

    # -- events --------------------------------------------------------------------------------

    def show(self, event: Happened, *, mine: bool = False) -> None:
        """Draw an event; ``mine`` for a message that was typed here."""
        data = event.data
        if event.type in _CALLS:
            self._of_call(event)
            return
        match event.type:
            case "text_delta":
                self._piece(text(data.get("messageId")), data.get("offset"), text(data.get("text")))
            case "message":
                self._message(data, mine=mine)
            case "catalog":
                self._catalog(data)
            case "run_started":
                self._thinking = time.monotonic()
            case "human_input_needed":
                self.knows(data)
            case "human_input_resolved":
                self._resolved(data, event.at)
            case "run_finished":
                self._finished(data)
            case _:
                pass

    def _of_call(self, event: Happened) -> None:
        """What happens to a call."""
        data = event.data
        call = text(data.get("callId"))
        match event.type:
            case "tool_call":
                title = text(data.get("title")) or text(data.get("tool"))
                self._calls[call] = _Call(_line(title), _moment(event.at))
            case "tool_progress":
                self._progress(call, data)
            case "tool_result":
                self._result(call, data, _moment(event.at))
            case "client_tool_call":
                self.line("It waits for a browser of the app to do it.")
            case _:
                self.line(f"{_line(text(data.get('widget')))} is drawn in the app, not here")

    def knows(self, found: JsonObject) -> None:
        """Keep the card of an open input, so that its answer can be told in words."""
        if found.get("kind") == "action":
            self._cards[text(found.get("id"))] = found

    def restart_clock(self, call_id: str) -> None:
        """A person has answered: what a call takes counts from here."""
        if (call := self._calls.get(call_id)) is not None:
            call.since, call.asked_at = time.monotonic(), None

    # -- lines ---------------------------------------------------------------------------------

    def line(self, words: str, style: str = "dim") -> None:
        """A quiet line of its own."""
        self.clear()
        say(paint(f"  {words}", style, sys.stderr))

    def ask(self, question: str) -> None:
        """Put a question; it stands until something else is drawn, or an answer is typed."""
        self.clear()
        sys.stderr.write(question)
        sys.stderr.flush()
        self._asking = True

    def typed(self) -> None:
        """An answer was typed behind the question."""
        self._asking = False

    @property
    def asks(self) -> bool:
        """Whether the question is the last that was drawn."""
        return self._asking

    def clear(self) -> None:
        """Begin a line: leave a text or a question, take away the line that tells what goes on."""
        if self._in_text:
            self._in_text = False
            _write("\n")
        if self._asking:
            self._asking = False
            say("")
        self._wipe()

    def tick(self) -> None:
        """Tell on the last line what is going on, where there is a last line."""
        if not self._live or self._in_text:
            return
        words = self._going_on()
        if not words:
            self._wipe()
            return
        # One column is left free: some terminals wrap a line that is full.
        shown = _line(words)[: width(100) - 3]
        sys.stderr.write(f"\r\x1b[K{paint('  ' + shown, 'dim', sys.stderr)}")
        sys.stderr.flush()
        self._status_line = True

    def rest(self) -> None:
        """Nothing goes on any more."""
        self._thinking = None
        self.clear()

    def _wipe(self) -> None:
        if self._status_line:
            self._status_line = False
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _going_on(self) -> str:
        now = time.monotonic()
        calls = [
            " · ".join(filter(None, (call.title, call.note, _seconds(now - call.since))))
            for call in self._calls.values()
        ]
        if calls:
            return "   ".join(calls)
        return f"thinking · {_seconds(now - self._thinking)}" if self._thinking else ""

    # -- each kind -----------------------------------------------------------------------------

    def _piece(self, message: str, offset: object, piece: str) -> None:
        """A piece of a text: what of it was not shown yet."""
        shown = self._said.get(message, 0)
        start = offset if isinstance(offset, int) else shown
        new = piece[max(0, shown - start) :]
        if start > shown or not new:
            # A piece is missing before it; the whole message brings it.
            return
        if not self._in_text:
            self.clear()
            self._in_text = True
            if self._live:
                _write("\n")
        _write(visible(new))
        self._said[message] = shown + len(new)

    def _message(self, data: JsonObject, *, mine: bool) -> None:
        words, message = text(data.get("text")), text(data.get("messageId"))
        if data.get("role") == "user":
            if not mine:
                self.clear()
                say(paint(f"\n> {words}", "bold", sys.stderr))
            return
        self._piece(message, self._said.get(message, 0), words[self._said.get(message, 0) :])
        self._said.pop(message, None)
        self.clear()
        if data.get("partial") is True:
            self.line("cut off here")

    def _catalog(self, data: JsonObject) -> None:
        for app in objects(data.get("apps")):
            name = _line(text(app.get("app")))
            if unavailable := text(app.get("unavailable")):
                self.line(f"{name} cannot be used now: {_line(unavailable)}", "yellow")
            for tool in objects(app.get("dropped")):
                self.line(
                    f"{name} offers no {_line(text(tool.get('name')))}: "
                    f"{_line(text(tool.get('reason')))}",
                    "yellow",
                )

    def _resolved(self, data: JsonObject, at: str) -> None:
        """The one line that a card becomes: what was decided, by whom, where, and when."""
        by, note = text(data.get("by")), text(data.get("note"))
        status = text(data.get("status"))
        card = self._cards.pop(text(data.get("inputId")), None)
        # Through which key a person answered is in the record.
        name = _line(by.removeprefix("user:").partition(" through ")[0])
        known = bool(name) and name != "system"
        words = _DECIDED.get(status, status)
        if known and (pressed := text(data.get("press"))):
            words = f"{name} pressed {_label(card, pressed)}{_device(card, data)}"
        elif known:
            words = f"{(card and _OF_CARD.get(status)) or words} by {name}"
        when = f" · {clock}" if (clock := _clock(at)) else ""
        self.line(f"{words}{when}{f': {_line(note)}' if note else ''}")

    def _progress(self, call_id: str, data: JsonObject) -> None:
        call = self._calls.get(call_id)
        if call is None:
            return
        note = _line(text(data.get("status")))
        if not self._live and note != call.note:
            self.line(f"{call.title} · {note}")
        call.note = note

    def _result(self, call_id: str, data: JsonObject, at: float | None) -> None:
        call = self._calls.pop(call_id, None)
        if call is None:
            return
        took = time.monotonic() - call.since
        if at is not None and call.asked_at is not None:
            took = max(0.0, at - call.asked_at)
        outcome = text(data.get("outcome"))
        error = object_of(object_of(data.get("display")).get("error"))
        if outcome == "ok":
            self.line(f"{call.title} · {_seconds(took)}")
            self._display(object_of(data.get("display")))
        elif outcome == "error":
            self.line(f"{call.title} failed: {_line(text(error.get('message')))}", "yellow")
        else:
            self.line(f"{call.title} · {_ENDINGS.get(outcome, _line(outcome))}", "yellow")
        if error.get("mayHaveHappened") is True and outcome != "outcome_unknown":
            self.line(UNKNOWN, "yellow")

    def _display(self, display: JsonObject) -> None:
        """What the app shows of a result: a note as plain text, and addresses."""
        if note := text(display.get("markdown")):
            self.clear()
            for line in set_apart(note):
                say(line)
        if page := text(display.get("embedUrl")):
            # Whole, so that the terminal can open it.
            self.line(f"The app shows a page: {one_line(page)}")
        url = text(object_of(display.get("data")).get("url"))
        if url and display.get("renderer") in {"link", "image"}:
            self.line(one_line(url))

    def _finished(self, data: JsonObject) -> None:
        self._thinking = None
        message = text(object_of(data.get("error")).get("message"))
        match data.get("reason"):
            case "cancelled":
                self.line("Stopped.")
            case "failed" | "limit":
                self.line(_line(message) or "The run has failed.", "red")
            case _:
                pass


def _label(card: JsonObject | None, pressed: str) -> str:
    """The label of a button, between marks of its own; its id where the card is not known."""
    for button in buttons_of(card or {}):
        if text(button.get("id")) == pressed:
            return f"«{_line(text(button.get('label')))}»"
    return _line(pressed)


def _device(card: JsonObject | None, data: JsonObject) -> str:
    """Where it was pressed, if that was on a device; its name where the card says it."""
    device = text(data.get("device"))
    if not device:
        return ""
    assignee = object_of(object_of((card or {}).get("card")).get("assignee"))
    named = continues_on(card or {}) if text(assignee.get("computerId")) == device else None
    return f" on {named or _line(device)}"


def _line(words: str) -> str:
    """A text of an app or a model as one line, and not a long one."""
    one = one_line(words)
    return one if len(one) <= _MAX_LINE else f"{one[:_MAX_LINE]}…"


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"


def _moment(at: str) -> float | None:
    """An RFC 3339 time in seconds."""
    try:
        return datetime.fromisoformat(at).timestamp()
    except ValueError:
        return None


def _clock(at: str) -> str:
    """An RFC 3339 time as a clock shows it here; empty for what is none."""
    moment = _moment(at)
    return "" if moment is None else time.strftime("%H:%M", time.localtime(moment))


def _write(words: str) -> None:
    """A piece of text that has no line end of its own."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(words.encode(encoding, "backslashreplace").decode(encoding))
    sys.stdout.flush()
