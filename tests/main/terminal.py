"""A command on a real pseudo-terminal, without the settings of who runs the tests."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from remit.main import pseudo_terminal
from remit.main.pseudo_terminal import Seen


def on_terminal(command: Sequence[str], typed: str, folder: Path, *, ahead: str = "") -> Seen:
    """Run a command and type an answer when it asks; ``ahead`` before it does."""
    env = {
        **os.environ,
        "REMIT_EGRESS_ALLOW": "127.0.0.1",
        "REMIT_CACHE_DIR": str(folder / "cache"),
    }
    return pseudo_terminal.on_terminal(command, typed, folder=folder, env=env, ahead=ahead)
