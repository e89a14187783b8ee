"""A command on a real pseudo-terminal, typed at once it asks."""

from __future__ import annotations

import os
import pty
import select
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

WAIT_S = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a person saw, and the exit code."""

    code: int
    text: str


def on_terminal(command: Sequence[str], typed: str, folder: Path, *, ahead: str = "") -> Seen:
    """Run a command on a terminal and type an answer when it asks; ``ahead`` before it does."""
    env = {
        **os.environ,
        "NO_COLOR": "1",
        "REMIT_EGRESS_ALLOW": "127.0.0.1",
        "REMIT_CACHE_DIR": str(folder / "cache"),
    }
    master, slave = pty.openpty()
    process = subprocess.Popen(
        command, cwd=folder, env=env, stdin=slave, stdout=slave, stderr=slave
    )
    os.close(slave)
    if ahead:
        os.write(master, ahead.encode())
    said = b""
    answered = False
    try:
        while select.select([master], [], [], WAIT_S)[0]:
            try:
                chunk = os.read(master, 65_536)
            except OSError:
                break
            if not chunk:
                break
            said += chunk
            if not answered and b"Enter = not now" in said:
                os.write(master, typed.encode())
                answered = True
    finally:
        os.close(master)
        if process.poll() is None and not answered:
            process.kill()
    return Seen(code=process.wait(WAIT_S), text=said.decode("utf-8", "replace"))
