"""Where output goes: data to stdout, words for people to stderr (contract section 13)."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO


def print_json(value: object) -> None:
    """Data for programs: one line in a pipe, indented on a terminal."""
    indent = 2 if sys.stdout.isatty() else None
    separators = None if indent else (",", ":")
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    sys.stdout.write(_writable(text, sys.stdout) + "\n")
    sys.stdout.flush()


def print_text(text: str) -> None:
    """Data for people, to stdout."""
    sys.stdout.write(_writable(text, sys.stdout) + "\n")
    sys.stdout.flush()


def say(text: str) -> None:
    """Words for people, to stderr."""
    sys.stderr.write(_writable(text, sys.stderr) + "\n")
    sys.stderr.flush()


def _writable(text: str, stream: TextIO) -> str:
    """The text without what the stream's encoding cannot carry, shown as an escape."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def colours(stream: TextIO) -> bool:
    """Whether a stream takes colours: a terminal, and ``NO_COLOR`` not set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, style: str, stream: TextIO) -> str:
    """The text in a style (``bold``, ``dim``, ``red``, ``yellow``, ``green``, ``cyan``)."""
    if not colours(stream):
        return text
    codes = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33, "cyan": 36}
    return f"\x1b[{codes[style]}m{text}\x1b[0m"
