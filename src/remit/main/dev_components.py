"""Components of apps that ``remit dev`` starts: each a process that is told what Remit tells one.

Where each is to answer is known from the beginning; it is started once it is known whose it is.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING

from remit.errors import WrongUse
from remit.main.free_port import free_port

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import TracebackType
    from typing import Self

    from remit.values.json import JsonValue

_END_S = 5
_STDERR = 2


class Components:
    """The processes of a run; a context manager, which ends them.

    Args:
        commands: by ``component`` or ``app/component``.
        brand: names the variables.

    Attributes:
        urls: where each is to answer.

    Raises:
        WrongUse: a command names no program.
    """

    def __init__(self, commands: Mapping[str, str], *, brand: str) -> None:
        self._commands = {name: _command(name, text) for name, text in commands.items()}
        self._prefix = f"{brand.upper()}_APP_"
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._told: set[str] = set()
        self._tried: set[str] = set()
        self.urls = {name: f"http://127.0.0.1:{free_port()}" for name in commands}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def of(self, app: str, names: Iterable[str]) -> dict[str, str]:
        """Which of an app's components are to run here: their names, and those of the commands."""
        return {
            name: command
            for name in names
            if (command := next((n for n in (f"{app}/{name}", name) if n in self.urls), None))
        }

    def start(self, name: str, *, issuer: str, audience: str) -> None:
        """Start one, unless that was tried before.

        Args:
            name: of its command.
            issuer: the public URL of this server.
            audience: whom its tokens are for, ``<app id>/<component>``.

        Raises:
            WrongUse: it cannot be started.
        """
        if name in self._tried:
            return
        self._tried.add(name)
        url = self.urls[name]
        # The key of a model and the like are none of a component's business.
        kept = {key: value for key, value in os.environ.items() if not key.startswith("REMIT_")}
        told = {"COMPONENT_URL": url, "ISSUER": issuer, "AUDIENCE": audience}
        given = {f"{self._prefix}{key}": value for key, value in told.items()}
        try:
            self._processes[name] = subprocess.Popen(  # noqa: S603 -- the author's own command
                self._commands[name],
                env={**kept, "PORT": url.rpartition(":")[2], **given},
                stdin=subprocess.DEVNULL,
                # What we say on stdout is the link alone.
                stdout=_STDERR,
            )
        except OSError as error:
            raise _cannot_start(name, error.strerror or "it failed") from None

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


def _command(name: str, text: str) -> list[str]:
    """The program and its arguments; found before anything is served."""
    try:
        command = shlex.split(text)
    except ValueError as error:
        raise _cannot_start(name, str(error)) from None
    if not command:
        raise _cannot_start(name, "it is empty")
    if shutil.which(command[0]) is None:
        raise _cannot_start(name, f"{command[0]} is no program that can be found")
    return command


def _cannot_start(name: str, reason: str) -> WrongUse:
    return WrongUse(
        f"--component {name}: the command cannot be started: {reason}. It is run without a shell; "
        "name a program and its arguments."
    )
