"""The page that walks through the server: every command of it is typed into a shell, and holds."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from tests.docs.console import EXIT_CODE, Block, Step, assert_holds, blocks
from tests.examples.scenes_process import SCENES, RunningApp, start_app
from tests.main.processes import environment, serving

PAGE = Path(__file__).parents[2] / "docs" / "start" / "server.md"
DECLARED_APP, DECLARED_SERVER = "127.0.0.1:8801", "127.0.0.1:8700"
SERVE = "remit serve &"
WAIT_S = 30
SETTINGS = ("REMIT_EGRESS_", "REMIT_MODEL_")
# What a reader copies from the answer above, by the name that the page gives it.
COPIED = {
    "DIGEST": r'(?:Digest |"digest":")([0-9a-f]{64})',
    "CALL": r"(call_\w+)",
    "INPUT": r"(inp_\w+)",
    "SESSION": r"(ses_\w+)",
    "TOKEN": r'"clientToken":"([^"]+)"',
}


@dataclass(slots=True, kw_only=True)
class Shell:
    """A shell that a reader types into: its folder, its variables, and what it showed last."""

    folder: Path
    app: RunningApp
    stack: ExitStack
    variables: dict[str, str]
    shown: str = ""
    umask: str = "022"
    replaced: dict[str, str] = field(default_factory=dict[str, str])

    def type(self, command: str) -> int:
        """Run a command; its exit code. `shown` is what it showed, under the page's addresses."""
        if command == SERVE:
            given = {k: v for k, v in self.variables.items() if k.startswith(SETTINGS)}
            server = self.stack.enter_context(serving(self.folder, **given))
            self.replaced[server.url.removeprefix("http://")] = DECLARED_SERVER
            self._show(f"{server.err}Remit is listening on {server.url}\n")
            return 0
        for name, pattern in COPIED.items():
            if f"{name}=" in command:
                found = re.findall(pattern, self.shown)
                assert found, f"{command}: nothing to copy in {self.shown}"
                command = re.sub(rf"{name}=\w*…", f"{name}={found[-1]}", command)
        for real, declared in self.replaced.items():
            command = command.replace(declared, real)
        kept = self.folder.parent / "variables"
        script = f"umask {self.umask}\n{command}\ncode=$?; UMASK=$(umask) env -0 > '{kept}'"
        done = subprocess.run(
            ["bash", "-c", f"{script}; exit $code"],
            cwd=self.folder,
            env=self.variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=WAIT_S,
            check=False,
        )
        pairs = (one.split("=", 1) for one in kept.read_text("utf-8").split("\0") if one)
        self.variables = dict(cast("Iterator[tuple[str, str]]", pairs))
        self.umask = self.variables.pop("UMASK")
        self._show(done.stdout)
        return done.returncode

    def does(self, step: Step) -> None:
        """Run a step, which must answer as the page shows."""
        code = self.type(step.command)
        assert code == step.code, f"$ {step.command}\n{self.shown}"
        if step.shown.startswith("{"):
            assert_holds(json.loads(step.shown), json.loads(self.shown), f"$ {step.command}\n")
        elif step.shown.strip():
            shown = "".join(f"{line.rstrip()}\n" for line in self.shown.splitlines())
            fits = step.pattern().fullmatch(shown)
            assert fits, f"The page shows\n{step.shown}\nbut $ {step.command}\n{shown}"

    def _show(self, text: str) -> None:
        self.shown = text
        for real, declared in self.replaced.items():
            self.shown = self.shown.replace(real, declared)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """A shell in the folder of the first page, with the app running and `remit` as a command."""
    command = tmp_path / "bin" / "remit"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m remit.main "$@"\n', "utf-8")
    command.chmod(0o755)
    folder = tmp_path / "try"
    folder.mkdir()
    with ExitStack() as stack:
        app = start_app(stack, tmp_path)
        for example in SCENES.glob("*.yaml"):
            text = example.read_text("utf-8").replace(DECLARED_APP, app.address)
            (folder / example.name).write_text(text, "utf-8")
        yield Shell(
            folder=folder,
            app=app,
            stack=stack,
            variables=environment({"PATH": f"{command.parent}:{os.environ['PATH']}"}),
            replaced={app.address: DECLARED_APP},
        )


def typed(text: str) -> list[Step]:
    """The commands of a block as they are typed, their line ends in them."""
    found: list[Step] = []
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        # What is indented goes on with the command, up to where it ends.
        ends = next(
            n
            for n in range(len(lines))
            if not lines[n].endswith("\\") and "\n".join(lines[: n + 1]).count("'") % 2 == 0
        )
        command, shown = "\n".join(lines[: ends + 1]), "\n".join(lines[ends + 1 :])
        if command == EXIT_CODE:
            last = found.pop()
            found.append(Step(command=last.command, shown=last.shown, code=int(shown)))
        else:
            found.append(Step(command=command, shown=shown, code=0))
    return found


def steps_of(page: list[Block]) -> list[Step]:
    """The commands of all console blocks of a page, in order."""
    return [step for block in page if block.language == "console" for step in typed(block.text)]


@pytest.mark.skipif(not shutil.which("curl"), reason="the page is typed with curl")
def test_commands_of_the_page_answer_as_it_shows(shell: Shell) -> None:
    """From an empty store to a policy in force, by what stands on the page and nothing else."""
    page = blocks(PAGE)
    for block in page:
        if block.title:
            (shell.folder / block.title).write_text(block.text, "utf-8")
    steps = steps_of(page)
    assert sum(step.command.startswith("curl ") for step in steps) >= 10
    for step in steps:
        shell.does(step)
    # What was approved on the page happened in the app, once; what was refused did not.
    scenes = {row[0] for row in shell.app.rows("select id from scenes")}
    assert "scn_q3_forecast" not in scenes
    assert "scn_lobby" in scenes
    for name in ("operator.key", "backend.key"):
        assert (shell.folder / name).stat().st_mode & 0o077 == 0
