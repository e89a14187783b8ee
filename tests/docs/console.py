"""The documentation as it is read: its fenced blocks, its commands, and what a terminal shows."""

from __future__ import annotations

import io
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from remit.main.cli import main

_FENCE = re.compile(r"^```(\w*)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What is typed stands behind the question, as on a terminal.
_ANSWER = re.compile(r"say why: ?(.*)$", re.MULTILINE)
EXIT_CODE = "echo $?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block: its language, the file it is to be saved as, if any, and its text."""

    language: str
    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A command of a console block, the output shown, and the exit code shown or meant."""

    command: str
    shown: str
    code: int

    @property
    def typed(self) -> str:
        """What the reader answers to the questions in the output."""
        return "".join(f"{answer}\n" for answer in _ANSWER.findall(self.shown))

    def pattern(self) -> re.Pattern[str]:
        """What the output must be: `…` stands for anything, alone on a line for any lines."""
        parts = [
            r"(?:.*\n)*" if line.strip() == "…" else _line(line) + r"[ ]*\n"
            for line in self.shown.splitlines()
        ]
        return re.compile("".join(parts))


def _line(text: str) -> str:
    return ".*".join(re.escape(part) for part in text.rstrip().split("…"))


def blocks(page: Path) -> list[Block]:
    """Every fenced block of a page, in order."""
    return [
        Block(language=language, title=title, text=text)
        for language, title, text in _FENCE.findall(page.read_text("utf-8"))
    ]


def steps(text: str) -> list[Step]:
    """The commands of a console block; `$ echo $?` says the exit code of the one before."""
    found: list[Step] = []
    for part in re.split(r"^\$ ", text.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        if command == EXIT_CODE:
            last = found.pop()
            found.append(Step(command=last.command, shown=last.shown, code=int(shown)))
        else:
            found.append(Step(command=command, shown=shown, code=0))
    return found


def assert_holds(shown: Any, real: Any, place: str = "") -> None:  # noqa: ANN401 - JSON
    """Every member of `shown` is in `real`; `…` in a text stands for anything."""
    if isinstance(shown, dict):
        assert isinstance(real, Mapping), place
        answer = cast("Mapping[str, Any]", real)
        for key, value in cast("dict[str, Any]", shown).items():
            assert key in answer, f"{place}/{key}: not in {answer}"
            assert_holds(value, answer[key], f"{place}/{key}")
    elif isinstance(shown, str):
        pattern = ".*".join(re.escape(part) for part in shown.split("…"))
        assert re.fullmatch(pattern, str(real), re.DOTALL), f"{place}: {real}"
    elif isinstance(shown, list):
        assert isinstance(real, list), place
        pairs = zip(cast("list[Any]", shown), cast("list[Any]", real), strict=True)
        for n, (one, other) in enumerate(pairs):
            assert_holds(one, other, f"{place}/{n}")
    else:
        assert shown == real, place


class _Screen(io.StringIO):
    """Where a command writes, stdout and stderr together, as a terminal shows them."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


class _Keyboard(io.TextIOWrapper):
    """Where a command reads; what is typed is shown on the screen."""

    screen: _Screen

    def isatty(self) -> bool:
        return True

    def readline(self, size: int = -1, /) -> str:
        line = super().readline(size)
        self.screen.write(line)
        return line


@contextmanager
def _terminal(typed: str, output: io.StringIO | None) -> Iterator[_Screen]:
    """A terminal of our own in place of the process's streams; stdout may go to a file."""
    screen = _Screen()
    read, write = os.pipe()
    os.write(write, typed.encode())
    os.close(write)
    with open(read, "rb") as pipe, _Keyboard(pipe, "utf-8") as keyboard:  # noqa: PTH123 - a pipe
        keyboard.screen = screen
        kept = sys.stdin, sys.stdout, sys.stderr
        sys.stdin, sys.stdout, sys.stderr = keyboard, screen if output is None else output, screen
        try:
            yield screen
        finally:
            sys.stdin, sys.stdout, sys.stderr = kept


def run(step: Step) -> tuple[int, str]:
    """Run a `remit` command in this process; its exit code and what the terminal shows."""
    name, *arguments = shlex.split(step.command)
    assert name == "remit", step.command
    file = None
    if ">" in arguments:
        file = Path(arguments[arguments.index(">") + 1])
        arguments = arguments[: arguments.index(">")]
    output = io.StringIO() if file is not None else None
    with _terminal(step.typed, output) as screen:
        code = main(arguments)
        shown = screen.getvalue()
    if file is not None and output is not None:
        file.write_text(output.getvalue(), "utf-8")
    return code, shown
