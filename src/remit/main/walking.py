"""Walking through the demo: a command is printed, run as its own process, and its effect looked up.

What a step did is read from the app's database, not from what Remit says.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from remit.main.output import paint, print_text
from remit.main.pseudo_terminal import on_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from remit.main.example import Running

STEP_TIMEOUT_S = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How a command ended: exit code and what it wrote, stdout and stderr apart where possible."""

    code: int
    out: str
    err: str

    @property
    def answer(self) -> dict[str, object]:
        """The JSON object on stdout; empty where there is none."""
        for line in reversed(self.out.splitlines()):
            try:
                found = json.loads(line)
            except ValueError:
                continue
            if isinstance(found, dict):
                return found  # pyright: ignore[reportUnknownVariableType] -- JSON
        return {}

    @property
    def error_code(self) -> object:
        """The code of the error on stdout, or None."""
        error = self.answer.get("error")
        return error.get("code") if isinstance(error, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] -- JSON


@dataclass(slots=True)
class Demo:
    """One walk through the steps.

    Attributes:
        example: the running app.
        person: whether a person at the terminal answers the approvals.
        failed: what had not its expected effect.
        checked: how many effects were looked at.
        settings: further variables of the environment that commands run in.
    """

    example: Running
    person: bool
    failed: list[str] = field(default_factory=list[str])
    checked: int = 0
    number: int = 0
    settings: dict[str, str] = field(default_factory=dict[str, str])

    # -- telling ---------------------------------------------------------------------------

    def step(self, title: str, words: str) -> None:
        """Open a step."""
        self.number += 1
        print_text(f"\n{paint(f'{self.number}. {title}', 'bold', sys.stdout)}\n   {words}\n")

    def holds(self, words: str, *, true: bool) -> None:
        """Say one effect, as it was found in the app's database, and whether it is as expected."""
        self.checked += 1
        mark = paint("✓", "green", sys.stdout) if true else paint("✗", "red", sys.stdout)
        print_text(f"   {mark} {words}")
        if not true:
            self.failed.append(f"step {self.number}: {words}")

    # -- running ---------------------------------------------------------------------------

    def remit(self, *arguments: str, shown: Callable[[Ran], str] | None = None) -> Ran:
        """Run a command as a user would, print it and what it says."""
        self._print_command(arguments)
        done = subprocess.run(  # noqa: S603 -- our own command, no shell
            [sys.executable, "-m", "remit.main", *arguments],
            cwd=self.example.folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=STEP_TIMEOUT_S,
            check=False,
        )
        ran = Ran(code=done.returncode, out=done.stdout, err=done.stderr)
        self._print_said(ran, shown)
        return ran

    def remit_asked(self, answer: str, *arguments: str) -> Ran:
        """Run a command on a terminal, where it asks; answered by the person or by the demo."""
        self._print_command(arguments)
        command = [sys.executable, "-m", "remit.main", *arguments]
        if self.person:
            print_text("   Your turn: this is the real question of `remit call`.")
            done = subprocess.run(  # noqa: S603 -- our own command, no shell
                command, cwd=self.example.folder, env=self.environment(), check=False
            )
            return Ran(code=done.returncode, out="", err="")
        print_text(f"   (the demo answers by itself: it types “{answer}”)")
        seen = on_terminal(
            command, f"{answer}\n", folder=self.example.folder, env=self.environment()
        )
        print_text(indented(seen.text))
        return Ran(code=seen.code, out=seen.text, err="")

    def environment(self) -> dict[str, str]:
        """The environment of a command: nobody's settings but those of this walk."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith("REMIT_")}
        return {
            **kept,
            "REMIT_EGRESS_ALLOW": "127.0.0.1",
            "REMIT_CACHE_DIR": str(self.example.folder / "cache"),
            "PYTHONIOENCODING": "utf-8",
            **self.settings,
        }

    def _print_command(self, arguments: Sequence[str]) -> None:
        words = " ".join(f"'{a}'" if any(c in a for c in ' {"*') else a for a in arguments)
        print_text(f"   {paint(f'$ remit {words}', 'cyan', sys.stdout)}")

    def _print_said(self, ran: Ran, shown: Callable[[Ran], str] | None) -> None:
        text = (
            shown(ran) if shown else "\n".join(filter(None, (ran.err.rstrip(), ran.out.rstrip())))
        )
        print_text(indented(text) + "\n")


def indented(text: str) -> str:
    """What a command or a server said, set off from the demo's own words."""
    return "\n".join(f"     {line}".rstrip() for line in text.splitlines())
