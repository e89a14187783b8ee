"""Components of apps that ``remit dev`` starts: each a process that is told where to listen."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
from typing import TYPE_CHECKING

from remit.errors import WrongUse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import TracebackType
    from typing import Self

    from remit.values.json import JsonValue

_END_S = 5


class Components:
    """The processes of a run; a context manager.

    Args:
        commands: by ``component`` or ``app/component``.
        brand: names the variable with the address.

    Attributes:
        urls: where each is to answer.
    """

    def __init__(self, commands: Mapping[str, str], *, brand: str) -> None:
        self._commands = commands
        self._variable = f"{brand.upper()}_APP_COMPONENT_URL"
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._told: set[str] = set()
        self.urls: dict[str, str] = {}

    def __enter__(self) -> Self:
        """Start all of them.

        Raises:
            WrongUse: one cannot be started.
        """
        try:
            for name, command in self._commands.items():
                self._start(name, command)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def _start(self, name: str, command: str) -> None:
        port = _free_port()
        url = f"http://127.0.0.1:{port}"
        # The key of a model and the like are none of a component's business.
        kept = {key: value for key, value in os.environ.items() if not key.startswith("REMIT_")}
        try:
            self._processes[name] = subprocess.Popen(  # noqa: S603 -- the author's own command
                shlex.split(command),
                env={**kept, "PORT": str(port), self._variable: url},
                stdin=subprocess.DEVNULL,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise WrongUse(
                f"--component {name}: the command cannot be started: {reason}. It is run without a "
                "shell; name a program and its arguments."
            ) from None
        self.urls[name] = url

    def stop(self) -> None:
        """End all of them; a second time does nothing."""
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            try:
                process.wait(_END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._processes.clear()

    def ended(self) -> Iterable[tuple[str, int]]:
        """Name and exit code of those that ended by themselves since it was asked last."""
        for name, process in self._processes.items():
            code = process.poll()
            if code is not None and name not in self._told:
                self._told.add(name)
                yield name, code

    def as_json(self) -> list[JsonValue]:
        """What the page shows."""
        return [
            {"name": name, "url": self.urls[name], "running": process.poll() is None}
            for name, process in self._processes.items()
        ]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
