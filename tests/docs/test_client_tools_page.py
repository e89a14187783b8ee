"""The page on client tools: its commands are typed against a real server, and hold."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import threading
import time
from pathlib import Path

import pytest

from remit.testing.completions import ScriptedModel
from remit.testing.script import Call, Turn
from tests.docs.console import assert_holds, blocks
from tests.docs.test_first_call import typed
from tests.main.processes import environment, run, serving
from tests.main.served_clients import settings
from tests.main.test_serving import Api

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "client-tools.md"
SCRIPT = [Turn(calls=(Call(name="open_order", args={"id": "ord_1"}),)), "It is open."]
COPIED = {"CALL": r"call_\w+", "CLAIM": r"clm_\w+"}
WAIT_S = 60


@pytest.mark.skipif(not shutil.which("curl"), reason="the page is typed with curl")
def test_commands_of_the_page_answer_as_it_shows(tmp_path: Path) -> None:
    """Announced, asked for, claimed, answered, by what stands on the page and nothing else."""
    key = run(tmp_path, "keys", "create", "--role", "backend").out.strip()
    page = blocks(PAGE)
    for block in page:
        if block.title:
            (tmp_path / block.title).write_text(block.text, "utf-8")
    steps = [step for block in page if block.language == "console" for step in typed(block.text)]
    assert sum(step.command.startswith("curl ") for step in steps) == 5
    with ScriptedModel(SCRIPT) as model, serving(tmp_path, **settings(model.base_url)) as server:
        backend = Api(url=server.url, key=key)
        session = backend.done("POST", "/v1/sessions", {"apps": [], "user": "ana"})
        variables = environment(
            {
                "PATH": os.environ["PATH"],
                "REMIT_SERVER_URL": server.url,
                "SESSION": session["id"],
                "TOKEN": session["clientToken"],
            }
        )
        shown = ""
        for step in steps:
            if exported := re.fullmatch(r"export (\w+)=.*…", step.command):
                name = exported[1]
                variables[name] = re.findall(COPIED[name], shown)[-1]
                continue
            if step.command.endswith("/events"):
                # A reader waits as long as the model takes; the five seconds of the page do not.
                until_it_waits(backend, session["id"])
            code, shown = typed_into(tmp_path, step.command, variables)
            assert code == step.code, f"$ {step.command}\n{shown}"
            if step.shown.startswith("{"):
                assert_holds(json.loads(step.shown), json.loads(shown), f"$ {step.command}\n")
            else:
                fits = step.pattern().fullmatch(shown) is not None
                assert fits, f"The page shows\n{step.shown}\nbut $ {step.command}\n{shown}"
        model.wait_for(2)
        assert model.requests[1].results == ['{"opened":"ord_1"}']


def until_it_waits(backend: Api, session: str) -> None:
    """Until a client is asked for."""
    until = time.monotonic() + WAIT_S
    while backend.done("GET", f"/v1/sessions/{session}")["status"] != "waiting_client":
        assert time.monotonic() < until
        threading.Event().wait(0.05)


def typed_into(folder: Path, command: str, variables: dict[str, str]) -> tuple[int, str]:
    """A command as it is typed into a shell: its exit code and what it shows."""
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=WAIT_S,
        check=False,
    )
    return done.returncode, done.stdout
