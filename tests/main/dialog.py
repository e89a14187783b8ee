"""A program on a pseudo-terminal, and a person who reads what stands there and types."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

WAIT_S = 60


class Dialog:
    """A running program; killed in the end.

    Attributes:
        text: all that stood on the screen so far.
    """

    def __init__(self, command: Sequence[str], *, folder: Path, env: Mapping[str, str]) -> None:
        self._master, slave = pty.openpty()
        try:
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                env={**env, "TERM": "dumb"},
                stdin=slave,
                stdout=slave,
                stderr=slave,
                start_new_session=True,
            )
        finally:
            os.close(slave)
        self._said = b""
        self._seen = 0

    def __enter__(self) -> Dialog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    @property
    def text(self) -> str:
        """What was said, with plain line ends."""
        return self._said.decode("utf-8", "replace").replace("\r\n", "\n")

    def see(self, words: str) -> None:
        """Wait until these words stand on the screen, after those that were waited for before."""
        until = time.monotonic() + WAIT_S
        while (found := self.text.find(words, self._seen)) < 0:
            assert time.monotonic() < until, self.text
            assert self._read(), self.text
        self._seen = found + len(words)

    def type(self, words: str) -> None:
        """Type a line."""
        os.write(self._master, words.encode() + b"\n")

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self._process.send_signal(signal.SIGINT)

    def end(self) -> int:
        """Read to the end; the exit code."""
        while self._read():
            continue
        return self._process.wait(WAIT_S)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], WAIT_S)
        assert ready, self.text
        try:
            chunk = os.read(self._master, 65_536)
        except OSError:
            return False
        self._said += chunk
        return bool(chunk)
