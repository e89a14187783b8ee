"""`remit dev` as a process, and what its page does with the link that it prints."""

from __future__ import annotations

import re
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.main.processes import COMMAND, WAIT_S, environment
from tests.main.test_serving import Answer, Api

TOKEN = "ana-token"
LINK = re.compile(r"(http://127\.0\.0\.1:\d+)/dev#code=([0-9a-f]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dev:
    """A run of `remit dev`.

    Attributes:
        code: of the link that it printed.
    """

    process: subprocess.Popen[str]
    api: Api
    code: str
    said: Path

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        """Send a request without a key, unless one is given."""
        return Api(url=self.api.url, key="").ask(method, path, body, headers)

    def enter(self) -> Api:
        """What the page does with its link: the API, with the key that it gets."""
        opened = self.ask("POST", "/dev/enter", {"code": self.code})
        assert opened.status == 200, opened
        return Api(url=self.api.url, key=opened.json["key"])

    def said_within(self, words: str) -> None:
        """Wait until it has said something on stderr."""
        within(lambda: words in self.said.read_text("utf-8"))


def within(condition: Callable[[], object]) -> None:
    """Wait for something; fails when it never comes."""
    until = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < until
        threading.Event().wait(0.02)


@contextmanager
def developing(folder: Path, *arguments: str, port: int = 0, **env: str) -> Iterator[Dev]:
    """`remit dev` from when it printed its link; ended in the end."""
    said = folder / "dev.err"
    with (
        said.open("a", encoding="utf-8") as err,
        subprocess.Popen(
            [*COMMAND, "dev", "--no-open", "--port", str(port), *arguments],
            cwd=folder,
            env={**environment(env), "TMPDIR": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=err,
            text=True,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            link = LINK.search(process.stdout.readline())
            assert link, said.read_text("utf-8")
            api = Api(url=link[1], key="")
            yield Dev(process=process, api=api, code=link[2], said=said)
        finally:
            _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    """Ask it first: it ends the components that it started."""
    process.terminate()
    try:
        process.wait(WAIT_S)
    finally:
        process.kill()
