"""The page of a first conversation, typed into a shell from nothing, with the model of the page."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.docs.console import blocks
from tests.docs.test_first_call import PAGE as SERVER
from tests.docs.test_first_call import Shell, shell, steps_of
from tests.docs.test_sessions_page import rests, shorter

__all__ = ["shell"]
PAGE = SERVER.with_name("conversation.md")
MODEL = re.compile(r"python -m (remit\.testing\.scripted_model) (\S+) --port (\d+) &")
WAIT_S = 30


@contextmanager
def scripted_model(shell: Shell, command: str) -> Iterator[str]:
    """The model as the command starts it, but on a free port; what it shows."""
    found = MODEL.fullmatch(command)
    assert found, command
    module, script, port = found.groups()
    with subprocess.Popen(
        [sys.executable, "-m", module, script], cwd=shell.folder, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            shown = process.stdout.readline()
            real = shown.partition("//")[2].partition("/")[0]
            shell.replaced[real] = f"127.0.0.1:{port}"
            yield shown.replace(real, shell.replaced[real])
        finally:
            process.kill()


@pytest.mark.skipif(not shutil.which("curl"), reason="the page is typed with curl")
def test_commands_of_the_page_answer_as_it_shows(shell: Shell) -> None:
    """From an empty store to a deleted scene, by what stands on the page and nothing else."""
    page = blocks(PAGE)
    for block in page:
        if block.title:
            (shell.folder / block.title).write_text(block.text, "utf-8")
    first, *steps = steps_of(page)
    assert sum(step.command.startswith("curl ") for step in steps) >= 8
    # A reader looks a moment later: by then the session has come to rest.
    looks = iter([("waiting_human", True), ("idle", False)])
    with scripted_model(shell, first.command) as shown:
        assert shown.strip() == first.shown
        for step in steps:
            if "/events" in step.command:
                status, is_there = next(looks)
                rests(shell, status)
                scenes = {row[0] for row in shell.app.rows("select id from scenes")}
                assert ("scn_lobby" in scenes) is is_there
            shell.does(shorter(step))
    assert next(looks, None) is None
