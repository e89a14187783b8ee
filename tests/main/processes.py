"""Commands as processes of their own, in a folder with a scratch store, as an operator has them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.main.conftest import Ran

COMMAND = (sys.executable, "-m", "remit.main")
READY = "Remit is listening on "
WAIT_S = 30


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """The environment without anybody's settings, and with these."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("REMIT_")}
    return {**kept, "NO_COLOR": "1", "REMIT_SERVER_PORT": "0", **given}


def run(folder: Path, *arguments: str, **env: str) -> Ran:
    """Run a command to its end."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        env=environment(env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )
    return Ran(code=done.returncode, out=done.stdout, err=done.stderr)


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """A server as a process.

    Attributes:
        url: from the line that says that it listens.
    """

    process: subprocess.Popen[str]
    url: str
    said: Path

    @property
    def err(self) -> str:
        """What it has said on stderr so far."""
        return self.said.read_text("utf-8")

    def said_within(self, words: str) -> None:
        """Wait until it has said something; fails when it never does."""
        until = time.monotonic() + WAIT_S
        while words not in self.err:
            assert time.monotonic() < until, self.err
            threading.Event().wait(0.02)

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and wait for the end; the exit code."""
        self.process.send_signal(number)
        return self.process.wait(WAIT_S)


@contextmanager
def serving(folder: Path, **env: str) -> Iterator[Serving]:
    """`remit serve` in a folder, from when it says that it listens; killed in the end."""
    said = folder / "serve.err"
    with (
        said.open("a", encoding="utf-8") as err,
        subprocess.Popen(
            [*COMMAND, "serve"],
            cwd=folder,
            env=environment(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=err,
            text=True,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith(READY), said.read_text("utf-8")
            yield Serving(process=process, url=line.removeprefix(READY).strip(), said=said)
        finally:
            if process.poll() is None:
                process.kill()
