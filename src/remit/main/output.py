"""Where output goes: data to stdout, words for people to stderr (contract section 13)."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from itertools import zip_longest
from typing import TYPE_CHECKING

from remit.errors import WrongUse
from remit.values.visible import visible

if TYPE_CHECKING:
    from typing import TextIO

# What a terminal obeys or hides and JSON leaves as it is: DEL, C1, bidirectional marks, tags.
_STYLE = re.compile(r"\x1b\[(?:0|1|2|31|32|33|36)m")
_UNSEEN = re.compile(
    "[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]"
)


def print_json(value: object) -> None:
    """Data for programs: one line in a pipe, indented on a terminal."""
    indent = 2 if is_terminal(sys.stdout) else None
    separators = None if indent else (",", ":")
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    _write(_UNSEEN.sub(_escaped, text), sys.stdout)


def print_text(text: str) -> None:
    """Data for people, to stdout."""
    _write(_harmless(text), sys.stdout)


def say(text: str) -> None:
    """Words for people, to stderr."""
    _write(_harmless(text), sys.stderr)


def _harmless(text: str) -> str:
    """The text with all that could steer a terminal shown, but for the styles of ``paint``.

    Who makes a text has made it visible already; this holds whatever was forgotten.
    """
    styles = _STYLE.findall(text)
    shown = [visible(part) for part in _STYLE.split(text)]
    return "".join(a + b for a, b in zip_longest(shown, styles, fillvalue=""))


def _write(text: str, stream: TextIO | None) -> None:
    """One text and a line end; a stream that is closed or full is wrong use, not a fault of ours.

    Raises:
        BrokenPipeError: the reader went away.
        WrongUse: nothing can be written there.
    """
    if stream is None:
        raise WrongUse("The output is closed; nothing can be said there.")
    try:
        stream.write(_writable(text, stream) + "\n")
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise WrongUse(f"The output cannot be written: {error.strerror}.") from None


def _writable(text: str, stream: TextIO) -> str:
    """The text without what the stream's encoding cannot carry, shown as an escape of JSON."""
    encoding = stream.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(c if _fits(c, encoding) else _u_escape(c) for c in text)
    return text


def _fits(character: str, encoding: str) -> bool:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _escaped(found: re.Match[str]) -> str:
    return _u_escape(found[0])


def _u_escape(character: str) -> str:
    r"""A character as JSON escapes it: ``\u202e``, or two halves beyond the first plane."""
    return json.dumps(character)[1:-1] if ord(character) > 0x7F else f"\\u{ord(character):04x}"


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person is at the other end; a closed stream is None in Python."""
    return stream is not None and stream.isatty()


def has_display() -> bool:
    """Whether a browser has where to open; one of text would take the terminal."""
    if not is_terminal(sys.stdout):
        return False
    elsewhere = sys.platform != "linux"
    return elsewhere or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def width(most: int) -> int:
    """How wide text for people may be: the terminal or ``COLUMNS``, from 40 to ``most``."""
    if not is_terminal(sys.stdout) and not os.environ.get("COLUMNS"):
        return most
    return max(40, min(shutil.get_terminal_size((most, 24)).columns, most))


def colours(stream: TextIO) -> bool:
    """Whether a stream takes colours: a terminal, and ``NO_COLOR`` not set."""
    return (
        is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )


def paint(text: str, style: str, stream: TextIO) -> str:
    """The text in a style (``bold``, ``dim``, ``red``, ``yellow``, ``green``, ``cyan``)."""
    if not colours(stream):
        return text
    codes = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33, "cyan": 36}
    return f"\x1b[{codes[style]}m{text}\x1b[0m"
