"""Runs a program that reads an author's code, and takes what it says on a pipe of its own.

What the code prints goes to standard error, never into the answer. The program has a process group
of its own, which is killed as a whole: when its time is up, and when it is done. What leaves that
group on purpose (a daemon) is the author's own, as if they had started it: the code runs as them.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

MAX_ANSWER_BYTES = 16 * 1024 * 1024
_CHUNK = 64 * 1024
_STDERR = 2
_LOOK_S = 0.1
# Remit's own settings and keys are nothing to an app's declarations; what a component is told is.
_OURS, _APPS = "REMIT_", "REMIT_APP_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a program ended.

    Attributes:
        answer: what it wrote on its pipe.
        code: its exit code; negative for a signal; None where it was killed by us.
        late: whether its time was up.
        too_large: whether it wrote more than ``MAX_ANSWER_BYTES``.
    """

    answer: bytes
    code: int | None
    late: bool = False
    too_large: bool = False


def run(command: Callable[[int], Sequence[str]], *, folder: Path, limit_s: float) -> Ended:
    """Run a program to its end, or for at most ``limit_s`` seconds.

    Args:
        command: its arguments, given the descriptor of the pipe that it writes its answer on.
        folder: where it runs.
        limit_s: how long it may take.

    Raises:
        OSError: it cannot be started.
    """
    said = _standard_error()
    reader, writer = os.pipe()
    until = time.monotonic() + limit_s
    try:
        try:
            process = subprocess.Popen(  # noqa: S603 -- our own programs, which read the author's code
                list(command(writer)),
                cwd=folder,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                pass_fds=(writer,),
                start_new_session=True,
            )
        finally:
            os.close(writer)
        try:
            return _ended(process, reader, until)
        finally:
            _kill(process)
    finally:
        os.close(reader)


def _ended(process: subprocess.Popen[bytes], reader: int, until: float) -> Ended:
    found = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(reader, selectors.EVENT_READ)
        while len(found) <= MAX_ANSWER_BYTES:
            left = until - time.monotonic()
            if left <= 0:
                return Ended(answer=b"", code=None, late=True)
            if not selector.select(min(left, _LOOK_S)):
                # What the code left running may hold the pipe open for ever.
                if process.poll() is not None:
                    break
                continue
            chunk = os.read(reader, _CHUNK)
            if not chunk:
                break
            found += chunk
        else:
            return Ended(answer=b"", code=None, too_large=True)
    try:
        # It closed its pipe: all that is left is to end.
        code = process.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        code = None
    return Ended(answer=bytes(found), code=code, late=code is None and not found)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the whole group; some of it may live on after the first has ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _environment() -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_OURS) or name.startswith(_APPS)
    }
    # The same folder gives the same bytes, and a build leaves nothing behind in it.
    return {**kept, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}


def _standard_error() -> int:
    """Where the code's prints go: our own standard error, where there is one."""
    try:
        os.fstat(_STDERR)
    except OSError:
        return subprocess.DEVNULL
    return _STDERR
