"""Runs `remit` commands: each in a process of its own, forked from one that has imported it all.

The forking process has one thread, so that forking is safe; a run that hangs or dies harms
nobody, and its time and memory are its own. ``real`` starts the installed command instead.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import io
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).parents[2]
REMIT = Path(sys.executable).with_name("remit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How a command ended.

    Attributes:
        exit_code: negative for a signal; -99 where it had to be stopped for its time.
        peak_mb: the largest resident size of the process.
    """

    exit_code: int
    stdout: str
    stderr: str
    seconds: float
    peak_mb: float


class Forks:
    """The forking process, started when it is first needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def run(
        self, argv: Sequence[str], folder: Path, env: Mapping[str, str], timeout_s: float
    ) -> Ran:
        """Run one command in ``folder``; its output goes through files there."""
        job = {
            "argv": list(argv),
            "folder": str(folder),
            "env": dict(env),
            "timeout_s": timeout_s,
        }
        with self._lock:
            process = self._started()
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
        return Ran(
            exit_code=answer["code"],
            stdout=(folder / "stdout").read_bytes().decode("utf-8", "replace"),
            stderr=(folder / "stderr").read_bytes().decode("utf-8", "replace"),
            seconds=answer["seconds"],
            peak_mb=answer["peak_mb"],
        )

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.cases.command"],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            atexit.register(self.close)
        return self._process

    def close(self) -> None:
        """End the forking process."""
        process, self._process = self._process, None
        if process is not None and process.stdin is not None and process.stdout is not None:
            process.stdin.close()
            process.wait(timeout=10)
            process.stdout.close()


@cache
def _built() -> Callable[..., Any]:
    """The commands, built once: typer builds them at every call, which takes most of its time."""
    from typer.main import get_command

    from remit.main.cli import app

    command = get_command(app)
    return lambda arguments, *, standalone_mode: command.main(
        arguments, prog_name="remit", standalone_mode=standalone_mode
    )


def inside(argv: Sequence[str], folder: Path, env: Mapping[str, str], timeout_s: float) -> Ran:
    """Run a command in this very process: for those that wait for nothing."""
    from remit.main import cli

    del timeout_s
    out, err = io.StringIO(), io.StringIO()
    started = time.perf_counter()
    with (
        mock.patch.dict(os.environ, env, clear=True),
        mock.patch.object(cli, "app", _built()),
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = cli.main(argv)
    return Ran(
        exit_code=code,
        stdout=out.getvalue(),
        stderr=err.getvalue(),
        seconds=time.perf_counter() - started,
        peak_mb=0,
    )


def real(argv: Sequence[str], folder: Path, env: Mapping[str, str], timeout_s: float) -> Ran:
    """Run the installed command, as a user does."""
    started = time.monotonic()
    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        process = subprocess.Popen(
            [str(REMIT), *argv], cwd=folder, env=dict(env), stdin=subprocess.DEVNULL,
            stdout=out, stderr=err,
        )  # fmt: skip
        code, peak_mb = _waited(process.pid, timeout_s)
        process.returncode = code
    return Ran(
        exit_code=code,
        stdout=(folder / "stdout").read_bytes().decode("utf-8", "replace"),
        stderr=(folder / "stderr").read_bytes().decode("utf-8", "replace"),
        seconds=time.monotonic() - started,
        peak_mb=peak_mb,
    )


def on_terminal(
    argv: Sequence[str], folder: Path, env: Mapping[str, str], typed: str, timeout_s: float = 30
) -> Ran:
    """Run the installed command on a pseudo-terminal and type a line when it asks.

    ``stderr`` of the answer is what the terminal showed; stdout goes to a file.
    """
    ours, theirs = os.openpty()
    started = time.monotonic()
    with (folder / "stdout").open("wb") as out:
        process = subprocess.Popen(
            [str(REMIT), *argv], cwd=folder, env=dict(env), stdin=theirs, stdout=out,
            stderr=theirs, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        shown = _conversation(ours, typed, started + timeout_s)
        code, peak_mb = _waited(process.pid, max(1.0, started + timeout_s - time.monotonic()))
        process.returncode = code
    os.close(ours)
    return Ran(
        exit_code=code,
        stdout=(folder / "stdout").read_bytes().decode("utf-8", "replace"),
        stderr=shown,
        seconds=time.monotonic() - started,
        peak_mb=peak_mb,
    )


def _conversation(terminal: int, typed: str, deadline: float) -> str:
    """All that the terminal shows; the line is typed once the command asks for it."""
    shown = b""
    asked = False
    while time.monotonic() < deadline:
        ready, _, _ = select.select([terminal], [], [], 0.2)
        if not ready:
            continue
        try:
            data = os.read(terminal, 65_536)
        except OSError:
            break
        if not data:
            break
        shown += data
        if not asked and b"go ahead" in shown:
            asked = True
            os.write(terminal, typed.encode() + b"\n")
    return shown.decode("utf-8", "replace").replace("\r\n", "\n")


def _waited(pid: int, timeout_s: float) -> tuple[int, float]:
    """Exit code and peak memory of a child, which is killed when its time is over."""
    deadline = time.monotonic() + timeout_s
    stopped = False
    while True:
        found, status, usage = os.wait4(pid, os.WNOHANG)
        if found:
            unit = 1024 if sys.platform != "darwin" else 1024 * 1024
            code = os.waitstatus_to_exitcode(status)
            return (-99 if stopped else code), usage.ru_maxrss / unit
        if time.monotonic() > deadline and not stopped:
            stopped = True
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)


def _child(job: dict[str, Any]) -> None:
    """The command itself; never returns."""
    code = 70
    try:
        folder = Path(job["folder"])
        for number, name in ((1, "stdout"), (2, "stderr")):
            file = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(file, number)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(job["env"])
        from remit.main import cli

        cli.app = _built()
        started = time.perf_counter()
        code = cli.main(job["argv"])
        (folder / "seconds").write_text(str(time.perf_counter() - started))
    except BaseException:  # noqa: BLE001 -- whatever it is, it is shown as a traceback
        import traceback

        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


_WARM_UP = {
    "id": "warm", "name": "W", "baseUrl": "http://127.0.0.1:9", "auth": {"type": "none"},
    "tools": [{
        "name": "t", "description": "d", "category": "read", "dangerLevel": "safe",
        "parameters": {"type": "object", "properties": {}},
        "endpoint": {"method": "GET", "path": "/x"},
    }],
}  # fmt: skip


def _warm_up() -> None:
    """Run each command once, so that the children find everything imported."""
    from remit.main.cli import main

    nothing = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(nothing))
        stack.enter_context(contextlib.redirect_stderr(nothing))
        file = Path(folder) / "warm.json"
        file.write_text(json.dumps(_WARM_UP))
        os.environ["REMIT_EGRESS_ALLOW"] = "127.0.0.1"
        for argv in (
            ["lint", str(file), "--format", "json"],
            ["catalog", str(file)],
            ["export", str(file), "--for", "openai"],
            ["egress", "check", "https://a.example/", "--resolve", "a.example=192.0.2.1"],
            ["call", str(file), "t"],
        ):
            main(argv)
        _built()
    gc.collect()
    gc.freeze()


def _serve() -> None:
    """Fork one child for each job that comes in, and say how it ended."""
    _warm_up()
    for line in sys.stdin:
        job = json.loads(line)
        seconds = Path(job["folder"]) / "seconds"
        seconds.unlink(missing_ok=True)
        started = time.perf_counter()
        pid = os.fork()
        if pid == 0:
            _child(job)
        code, peak_mb = _waited(pid, job["timeout_s"])
        took = time.perf_counter() - started
        if seconds.exists():
            took = float(seconds.read_text())
        sys.stdout.write(json.dumps({"code": code, "seconds": took, "peak_mb": peak_mb}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve()
