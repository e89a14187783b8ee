"""`remit chat` with the real server, its run loop and a scripted model (sections 9 and 13)."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from remit.main.free_port import free_port
from remit.testing import Call, ScriptedModel, Turn
from tests.examples.scenes_process import RunningApp
from tests.main.developing import TOKEN, Dev, developing
from tests.main.dialog import Dialog
from tests.main.processes import COMMAND, WAIT_S, environment
from tests.main.scripted import ScriptedApp
from tests.main.test_serving import NEVER_MS, shop

SCRIPT = {
    "delete": [
        Turn(text="I look.", calls=(Call(name="list_scenes"),)),
        Turn(
            text="I delete it.", calls=(Call(name="delete_scene", args={"sceneId": "scn_lobby"}),)
        ),
        Turn(text="So it is."),
    ],
    "render": [
        Turn(
            text="I render it.",
            calls=(Call(name="render_scene", args={"sceneId": "scn_q3_forecast"}),),
        ),
        Turn(text="Here it is."),
    ],
    "pay": [Turn(text="I pay.", calls=(Call(name="pay"),)), Turn(text="I cannot tell.")],
}


class Place:
    """A server that can be killed and started again, with all that it needs."""

    def __init__(self, folder: Path, model: ScriptedModel, *given: str) -> None:
        self.folder = folder
        self._given = (*given, "--user", "ana")
        self._env = {
            "REMIT_MODEL_NAME": "openai:scripted",
            "REMIT_MODEL_BASE_URL": model.base_url,
            "REMIT_MODEL_API_KEY": "none",
        }
        self._port = free_port()
        self._stack = ExitStack()
        self.dev: Dev
        self.key = ""

    def start(self) -> None:
        """Start it, with what was kept."""
        run = developing(self.folder, *self._given, "--keep", "kept", port=self._port, **self._env)
        self.dev = self._stack.enter_context(run)
        self.key = self.key or self.dev.enter().key

    def kill(self) -> None:
        """Kill it as a power cut would."""
        self.dev.process.send_signal(signal.SIGKILL)
        self.dev.process.wait(WAIT_S)

    def close(self) -> None:
        """End what runs."""
        self._stack.close()

    def talk(self, *more: str) -> Dialog:
        """`remit chat` with it."""
        env = environment({"REMIT_SERVER_URL": self.dev.api.url, "REMIT_KEY": self.key})
        command = [*COMMAND, "chat", *(more or ("--user", "ana"))]
        return Dialog(command, folder=self.folder, env=env)


@pytest.fixture
def place(definition: str, tmp_path: Path) -> Iterator[Place]:
    """A running server."""
    with ScriptedModel(SCRIPT) as model:
        made = Place(tmp_path, model, definition, "--token", f"acme-scenes={TOKEN}")
        with closing(made):
            made.start()
            yield made


def test_a_conversation_survives_the_server_in_the_middle_of_an_approval(
    place: Place, scenes: RunningApp
) -> None:
    """Killed while it asks, started again: the chat goes on by itself, and it is done once."""
    with place.talk() as person:
        person.see("> ")
        person.type("delete the lobby")
        person.see("I look.")
        person.see("List scenes · ")
        person.see("I delete it.")
        person.see("DELETES · cannot be undone")
        person.see('Delete scene "«Lobby»"')
        person.see("take it back and say TEXT: ")
        place.kill()
        person.see("The connection is lost")
        place.start()
        person.see("Connected again.")
        person.type("y")
        person.see("Delete a scene · ")
        person.see("So it is.")
        person.see("> ")
        person.type("\x04")
        assert person.end() == 0
    assert scenes.ask("GET", "/v1/scenes/scn_lobby").status == 404


def test_a_write_that_the_server_died_in_is_not_sent_again_and_said_so(tmp_path: Path) -> None:
    """Nobody knows whether it happened: agent and person are told, and the app has it once."""
    never = {"status": 200, "body": {}, "delayMs": NEVER_MS}
    with ScriptedApp([never]) as app, ScriptedModel(SCRIPT) as model:
        (tmp_path / "shop.json").write_text(json.dumps(shop(app.url)), "utf-8")
        with closing(Place(tmp_path, model, "shop.json")) as place:
            place.start()
            with place.talk() as person:
                person.see("> ")
                person.type("pay for it")
                person.see("I pay.")
                assert app.asked.wait(WAIT_S)
                place.kill()
                person.see("The connection is lost")
                place.start()
                person.see("Connected again.")
                person.see("This may have happened. Check before trying again.")
                person.see("I cannot tell.")
                person.see("> ")
        assert app.paths == ["POST /pay"]


def test_a_job_and_the_way_back(place: Place) -> None:
    """A job is seen to its end; the session is found again by its id."""
    with place.talk() as person:
        person.see("> ")
        person.type("render it")
        person.see("I render it.")
        person.see("Render a scene · ")
        person.see("Here it is.")
        person.see("> ")
        person.type("\x04")
        person.see("Next: remit chat --session ")
        person.end()
        session = person.text.rsplit("--session ", 1)[1].split()[0]
    with place.talk("--session", session) as person:
        person.see("> render it")
        person.see("Here it is.")
        person.see("> ")
        person.type("and again")
        person.see("The script has no more turns.")
