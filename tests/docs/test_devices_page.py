"""The page on devices: its commands are typed against a real server, and hold."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from remit.testing.completions import ScriptedModel
from remit.testing.script import Call, Turn
from tests.docs.console import assert_holds, blocks
from tests.docs.test_client_tools_page import WAIT_S, typed_into
from tests.docs.test_first_call import COPIED, steps_of
from tests.main.processes import environment, run, serving
from tests.main.served_clients import settings

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "devices.md"
SCRIPT = [Turn(calls=(Call(name="computer", args={"list": {}}),)), "Your phone."]


@pytest.mark.skipif(not shutil.which("curl"), reason="the page is typed with curl")
def test_commands_of_the_page_answer_as_it_shows(tmp_path: Path) -> None:
    """Registered, proved, told to the agent, deleted, by what stands on the page alone."""
    key = run(tmp_path, "keys", "create", "--role", "backend").out.strip()
    page = blocks(PAGE)
    steps = steps_of(page)
    assert sum(step.command.startswith("curl ") for step in steps) == 7
    with ScriptedModel(SCRIPT) as model, serving(tmp_path, **settings(model.base_url)) as server:
        variables = environment(
            {"PATH": os.environ["PATH"], "REMIT_SERVER_URL": server.url, "BACKEND": key}
        )
        shown = ""
        for step in steps:
            if step.command.startswith("export "):
                for name in re.findall(r"(\w+)=", step.command):
                    variables[name] = re.findall(COPIED[name], shown)[-1]
                continue
            if step.command.endswith("/events"):
                # A reader waits as long as the model takes; the five seconds of the page do not.
                model.wait_for(2, WAIT_S)
            code, shown = typed_into(tmp_path, step.command, variables)
            assert code == step.code, f"$ {step.command}\n{shown}"
            if step.shown.startswith("{"):
                assert_holds(json.loads(step.shown), json.loads(shown), f"$ {step.command}\n")
            else:
                fits = step.pattern().fullmatch(shown) is not None
                assert fits, f"The page shows\n{step.shown}\nbut $ {step.command}\n{shown}"
        told = json.loads(model.requests[1].results[0])
    (answer,) = [block.text for block in page if block.language == "json"]
    seen = {"lastSeenAt": told["devices"][0]["lastSeenAt"]}
    shown_on_page = json.loads(answer)
    assert [{**one, **seen} for one in shown_on_page["devices"]] == told["devices"]
