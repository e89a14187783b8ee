"""The guide's page about the kit: every command of it is typed, and shows what it says."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from remit.kit.testing import Issuer
from remit.main.free_port import free_port
from tests.docs.console import assert_holds, blocks, steps

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "app-kit.md"
ISSUER, COMPONENT = "8790", "8000"
WAIT_S = 60


@dataclass(slots=True, kw_only=True)
class Shell:
    """A reader's shell: a folder, variables, and one server in the background."""

    folder: Path
    variables: dict[str, str]
    ports: dict[str, str] = field(
        default_factory=lambda: {ISSUER: str(free_port()), COMPONENT: str(free_port())}
    )
    server: subprocess.Popen[bytes] | None = None

    def type(self, command: str) -> tuple[int, str]:
        """Run a command; its exit code and its stdout."""
        for declared, real in self.ports.items():
            command = re.sub(rf"\b{declared}\b", real, command)
        name, _, value = command.removeprefix("export ").partition("=")
        if command.startswith("export "):
            self.variables[name] = value
        elif command.endswith(" &"):
            self.start(command.removesuffix(" &"))
        elif command == "kill %1":
            self.stop()
        else:
            if command.startswith("python -m remit.kit call"):
                # The page has the default, which somebody may use.
                command += f" --issuer-port {self.ports[ISSUER]}"
            done = subprocess.run(
                ["bash", "-c", command], cwd=self.folder, env=self.variables, text=True,
                capture_output=True, timeout=WAIT_S, check=False,
            )  # fmt: skip
            assert "Traceback" not in done.stderr, done.stderr
            return done.returncode, done.stdout
        return 0, ""

    def start(self, command: str) -> None:
        """Start the server and wait until it listens."""
        said = self.folder / "server.log"
        with said.open("wb") as log:
            self.server = subprocess.Popen(
                ["bash", "-c", f"exec {command}"], cwd=self.folder, env=self.variables,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        ends_s = time.monotonic() + WAIT_S
        while True:
            assert self.server.poll() is None, said.read_text("utf-8")
            assert time.monotonic() < ends_s, said.read_text("utf-8")
            try:
                socket.create_connection(("127.0.0.1", int(self.ports[COMPONENT])), 1).close()
            except OSError:
                time.sleep(0.05)
            else:
                return

    def stop(self) -> None:
        """End the server, if there is one."""
        if self.server is not None:
            self.server.terminate()
            self.server.wait(WAIT_S)
            self.server = None


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """With the commands that the environment has beside its Python."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("REMIT_")}
    beside = str(Path(sys.executable).parent)
    shell = Shell(
        folder=tmp_path,
        variables={**kept, "PATH": f"{beside}:{kept['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    try:
        yield shell
    finally:
        shell.stop()


def test_every_command_of_the_page_does_what_it_shows(shell: Shell) -> None:
    """From nothing to a handler that answers, in each of the frameworks, from top to bottom."""
    typed = 0
    for block in blocks(PAGE):
        if block.title:
            (shell.folder / block.title).write_text(block.text, "utf-8")
        if block.language != "console":
            continue
        for step in steps(block.text):
            code, out = shell.type(step.command)
            typed += 1
            assert code == step.code, f"$ {step.command}\n{out}"
            if step.shown.strip():
                assert_holds(json.loads(step.shown), json.loads(out), f"$ {step.command}\n")
    assert typed == 15


def test_the_test_of_the_page_passes(shell: Shell) -> None:
    """An author who copies it has a test of the first handler."""
    files = [block for block in blocks(PAGE) if block.title]
    # The first file of each name: later ones are those of the other frameworks.
    for block in reversed(files):
        (shell.folder / block.title).write_text(block.text, "utf-8")

    code, out = shell.type("python -m pytest -q -p no:cacheprovider test_bookmarks.py")

    assert code == 0, out


def test_the_function_of_the_page_says_who_calls() -> None:
    """Without a framework."""
    (code,) = [b.text for b in blocks(PAGE) if b.language == "python" and not b.title]
    names: dict[str, Any] = {}
    with Issuer() as issuer:
        exec(code.replace("https://agent.acme.example", issuer.url), names)  # noqa: S102
        who = names["who_calls"]

        assert who(issuer.headers("bookmarks/api", user="ana")) == "ana in thread_1"
        assert who({}) == "refused: missing"
