"""The page of a first app folder, typed from nothing: its card comes, and is pressed."""

from __future__ import annotations

import shlex
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.docs.console import Step, blocks, steps
from tests.docs.test_conversation_page import scripted_model
from tests.docs.test_first_call import Shell, shell
from tests.main.developing import Dev, developing, within
from tests.main.test_serving import Api

__all__ = ["shell"]
PAGE = Path(__file__).parents[2] / "docs" / "start" / "folders.md"
SAID = "I need a desk on 1 December 2026."
DEV = "remit dev "


@pytest.mark.promise("K-09", "K-46")
def test_the_page_leads_from_an_empty_folder_to_a_card(shell: Shell) -> None:
    """By what stands on the page and nothing else: built, started, asked, pressed, changed."""
    page = blocks(PAGE)
    shell.variables["COLUMNS"] = "100"
    *files, broken = [block for block in page if block.title]
    for block in files:
        file = shell.folder / block.title
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block.text, "utf-8")
    typed = [step for block in page if block.language == "console" for step in steps(block.text)]
    model, last = (
        next(n for n, one in enumerate(typed) if "scripted_model" in one.command),
        len(typed) - 1,
    )
    for step in typed[:model]:
        shell.does(step)
    with scripted_model(shell, typed[model].command) as shown:
        assert shown.strip() == typed[model].shown.strip()
        for step in typed[model + 1 : last]:
            shell.does(step)
        with serving(shell, typed[last]) as dev:
            told = dev.said.read_text("utf-8")
            assert "Acme Desks  my-app, version 1: 2 tools" in told
            assert "Chat with openai:scripted, and playground:" in told
            pressed(dev)
            (shell.folder / broken.title).write_text(broken.text, "utf-8")
            dev.said_within(said(page[-1].text))


def serving(shell: Shell, step: Step) -> AbstractContextManager[Dev]:
    """`remit dev` as the page starts it, with the Python of the tests."""
    assert step.command.startswith(DEV)
    command = step.command.removeprefix(DEV).replace("api=python ", f"api={sys.executable} ")
    real = {declared: real for real, declared in shell.replaced.items()}
    given = {
        name: value.replace("127.0.0.1:8702", real["127.0.0.1:8702"])
        for name, value in shell.variables.items()
        if name.startswith("REMIT_MODEL_")
    }
    return developing(shell.folder, *shlex.split(command), port=0, **given)


def pressed(dev: Dev) -> None:
    """Say what the page says, see its card, press a button of it, and read what came of it."""
    assert SAID in PAGE.read_text("utf-8")
    api = dev.enter()
    made = api.done("POST", "/v1/sessions", {"apps": [{"id": "acme-desks"}], "user": "ana"})
    path = f"/v1/sessions/{made['id']}"
    assert api.ask("POST", f"{path}/messages", {"text": SAID}).status == 202
    within(lambda: api.done("GET", path)["inputs"])
    (waits,) = api.done("GET", path)["inputs"]
    shown = "".join(f"[{one['label']}] " for one in waits["card"]["elements"]).strip()
    assert f"{waits['card']['title']}\n{shown}   Skip   Cancel" in PAGE.read_text("utf-8")
    answer = {"press": "corner", "user": "ana"}
    api.done("POST", f"{path}/human-input/{waits['id']}", answer)
    within(lambda: api.done("GET", path)["status"] == "idle")
    events = log(api, path)
    result = [one["data"] for one in events if one["type"] == "tool_result"][-1]
    assert result["content"] == "The corner desk is booked for ana on 2026-12-01."
    assert result["display"]["markdown"] == "**Corner** desk · Tuesday, 01 December"
    assert [one["data"]["text"] for one in events if one["type"] == "message"][-1] == "It is yours."


def log(api: Api, path: str) -> list[dict[str, Any]]:
    """What has happened in a session."""
    read = api.ask("GET", f"{path}/events", headers={"Accept": "application/json"})
    return read.json["events"]


def said(text: str) -> str:
    """What a block shows, up to where it leaves off."""
    return text.partition("…")[0].strip()
