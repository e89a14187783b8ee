"""Processes that are measured: each on one core, with the CPU time and memory of its whole tree."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

_STARTS_WITHIN_S = 60
_ENDS_WITHIN_S = 20
_LOOK_AGAIN_S = 0.002


class NotStarted(Exception):
    """A process ended, or did not listen, before it could be asked anything."""


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Process:
    """A process that listens on a port of 127.0.0.1, on one core.

    Attributes:
        began: `time.perf_counter` just before it was started.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        port: int,
        core: int,
        log: Path,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """Start it in the folder of its log, and wait until it listens.

        Raises:
            NotStarted: it does not.
        """
        self._log = log
        self.began = time.perf_counter()
        with log.open("wb") as out:
            self._process = subprocess.Popen(
                command, cwd=log.parent, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out
            )
        os.sched_setaffinity(self._process.pid, {core})
        try:
            self._wait(port)
        except BaseException:
            self.stop()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def cpu_s(self) -> float:
        """Seconds of CPU, user and system, of all threads of the tree that still run."""
        return (
            sum(
                int(task.joinpath("schedstat").read_text().split()[0])
                for pid in self._tree()
                for task in Path(f"/proc/{pid}/task").iterdir()
            )
            / 1e9
        )

    def rss_mb(self) -> float:
        """Megabytes of memory that the tree has resident."""
        pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in self._tree())
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def stop(self) -> None:
        """End it: SIGTERM, and SIGKILL if that takes too long."""
        self._process.terminate()
        try:
            self._process.wait(_ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _tree(self) -> Iterator[int]:
        waiting = [self._process.pid]
        while waiting:
            pid = waiting.pop()
            yield pid
            for task in Path(f"/proc/{pid}/task").iterdir():
                waiting += map(int, task.joinpath("children").read_text().split())

    def _wait(self, port: int) -> None:
        until = self.began + _STARTS_WITHIN_S
        while self._process.poll() is None and time.perf_counter() < until:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
            except OSError:
                time.sleep(_LOOK_AGAIN_S)
            else:
                return
        said = self._log.read_text("utf-8", "replace").strip()
        raise NotStarted(f"it does not listen. It said: {said[-500:] or 'nothing'}")
