"""The master key from a command: run without a shell, under a time limit, and told on by nobody."""

from __future__ import annotations

import os
import selectors
import shlex
import signal
import subprocess
import time
from contextlib import suppress

from remit.errors import WrongUse
from remit.values.secrets import Secret

TIME_LIMIT_S = 10.0

_PLACE = "[vault] key_command"
_MAX_BYTES = 4_096
_BY_HAND = "Run it by hand to see what it says."


def run_key_command(command: str, *, time_limit_s: float = TIME_LIMIT_S) -> Secret:
    """What a command prints.

    Args:
        command: program and arguments, split as a shell splits words; nothing else of a shell.
        time_limit_s: after it the command and all it started are ended.

    Raises:
        WrongUse: it cannot be run, fails, takes too long, or prints too much. Only the name of
            the program is said: its arguments and its output may be secrets.
    """
    try:
        words = shlex.split(command)
    except ValueError:
        raise WrongUse(f"{_PLACE} has a quotation mark that nothing closes.") from None
    if not words:
        raise WrongUse(f"{_PLACE} is empty. Write the program and its arguments.")
    try:
        # The operator's own command, in a session of its own, so that it can be ended as a whole.
        process = subprocess.Popen(  # noqa: S603
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError) as fault:
        reason = getattr(fault, "strerror", None) or "it is no command"
        raise WrongUse(f"{_PLACE}: {words[0]} cannot be run: {reason.lower()}.") from None
    try:
        return _output(process, words[0], time.monotonic() + time_limit_s, time_limit_s)
    finally:
        _end(process)


def _output(
    process: subprocess.Popen[bytes], program: str, until_s: float, time_limit_s: float
) -> Secret:
    out = bytearray()
    while (chunk := _read(process, until_s)) != b"":
        if chunk is None:
            raise WrongUse(f"{_PLACE}: {program} took longer than {time_limit_s:g} s. {_BY_HAND}")
        out += chunk
        if len(out) > _MAX_BYTES:
            raise WrongUse(
                f"{_PLACE}: {program} printed more than {_MAX_BYTES} bytes, and a key is 44. "
                f"{_BY_HAND}"
            )
    try:
        status = process.wait(timeout=max(0.0, until_s - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise WrongUse(
            f"{_PLACE}: {program} took longer than {time_limit_s:g} s. {_BY_HAND}"
        ) from None
    if status != 0:
        how = f"ended with status {status}" if status > 0 else f"was ended by signal {-status}"
        raise WrongUse(f"{_PLACE}: {program} {how}. {_BY_HAND}")
    return Secret(out.decode("utf-8", "replace"))


def _read(process: subprocess.Popen[bytes], until_s: float) -> bytes | None:
    """The next bytes, none at the end, or None when the time is over."""
    if process.stdout is None:
        return b""
    # Not select(): a server may have more files open than it can look at.
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        ready = selector.select(max(0.0, until_s - time.monotonic()))
    return os.read(process.stdout.fileno(), _MAX_BYTES) if ready else None


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.returncode is None:
        # Not waited for yet, so the id is still its own, and that of its group.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    if process.stdout is not None:
        process.stdout.close()
    process.wait()
