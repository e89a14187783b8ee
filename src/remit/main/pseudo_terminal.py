"""A command on a terminal of its own, with somebody who types: for the demo and for tests."""

from __future__ import annotations

import os
import pty
import select
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

WAIT_S = 60
# What stands on the screen when an approval is asked for.
_QUESTION = b"Enter = not now"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a person saw, and the exit code."""

    code: int
    text: str


def on_terminal(
    command: Sequence[str],
    typed: str,
    *,
    folder: Path,
    env: Mapping[str, str],
    ahead: str = "",
) -> Seen:
    """Run a command on a pseudo-terminal.

    Args:
        command: program and arguments.
        typed: the answer, typed once the question stands on the screen.
        folder: where it runs.
        env: its environment; it is told to write no colours.
        ahead: typed at once, before anything is asked.
    """
    master, slave = pty.openpty()
    try:
        process = subprocess.Popen(  # noqa: S603 -- the caller's own command, no shell
            command,
            cwd=folder,
            env={**env, "NO_COLOR": "1"},
            stdin=slave,
            stdout=slave,
            stderr=slave,
        )
    finally:
        os.close(slave)
    said = b""
    answered = False
    try:
        os.write(master, ahead.encode())
        while select.select([master], [], [], WAIT_S)[0]:
            try:
                chunk = os.read(master, 65_536)
            except OSError:
                break
            if not chunk:
                break
            said += chunk
            if not answered and _QUESTION in said:
                os.write(master, typed.encode())
                answered = True
        else:
            process.kill()
    finally:
        os.close(master)
    text = said.decode("utf-8", "replace").replace("\r\n", "\n")
    return Seen(code=process.wait(WAIT_S), text=text)
