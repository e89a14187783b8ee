"""The page about sessions, typed into a shell after the server's page, with a scripted model."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace

import pytest

from remit.testing import Call, ModelRequest, ScriptedModel, Turn
from tests.docs.console import Step, blocks
from tests.docs.test_first_call import PAGE as SERVER
from tests.docs.test_first_call import Shell, shell, steps_of

__all__ = ["shell"]
PAGE = SERVER.parents[1] / "guide" / "sessions.md"
DELETES = Call(name="integration_delete_scene", args={"sceneId": "scn_lobby"})


# A reader looks a moment later: by then the session has come to rest.
RESTS = {"-m 15": "waiting_human", "/cancel": "idle"}
LOOK = 'curl -s -H "Authorization: Bearer $TOKEN" $REMIT_SERVER_URL/v1/sessions/$SESSION'
WAIT_S = 60


def rests(shell: Shell, status: str) -> None:
    """Wait until the session has a status."""
    until = time.monotonic() + WAIT_S
    while f'"status":"{status}"' not in shell.shown:
        assert time.monotonic() < until, shell.shown
        shell.type(LOOK)


def shorter(step: Step) -> Step:
    """A look at the stream that does not wait as long as a model may take: it has come to rest."""
    return replace(step, command=step.command.replace("-m 15", "-m 3"))


def _said(request: ModelRequest) -> Turn:
    """Asks for what the user wants once, and says how it ended."""
    return Turn(text="I left it.") if request.results else Turn(calls=(DELETES,))


@pytest.mark.skipif(not shutil.which("curl"), reason="the page is typed with curl")
def test_commands_of_the_page_answer_as_it_shows(shell: Shell) -> None:
    """From an approved app to an erased session, by what stands on the page and nothing else."""
    before = [step.command for step in steps_of(blocks(SERVER))]
    connected = next(n for n, command in enumerate(before) if "/v1/connections/" in command)
    with ScriptedModel(_said) as model:
        shell.variables |= {
            "REMIT_MODEL_NAME": "openai:scripted",
            "REMIT_MODEL_BASE_URL": model.base_url,
        }
        for command in before[: connected + 1]:
            shell.type(command)
        steps = steps_of(blocks(PAGE))
        assert sum(step.command.startswith("curl ") for step in steps) >= 8
        for step in steps:
            for part, status in RESTS.items():
                if part in step.command:
                    rests(shell, status)
            shell.does(shorter(step))
        told = " ".join(text for request in model.requests for text in request.results)
    assert "Keep it until Friday" in told
    assert "scn_lobby" in {row[0] for row in shell.app.rows("select id from scenes")}
