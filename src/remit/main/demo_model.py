"""Who speaks in ``remit demo``: the language model that is set, or a script that says so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Self

from remit.main.server_process import end_now

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    from remit.values.json import JsonObject

    _Lines = Sequence[JsonObject | str]
    _Script = _Lines | Mapping[str, _Lines]

_MODEL = "REMIT_MODEL_"
_LAMP: JsonObject = {"sceneId": "scn_lobby", "assetId": "lamp", "x": 3, "y": 1}
#: What the scripted model says, one turn after the other.
LINES: list[JsonObject] = [
    {
        "text": "I look at your scenes first. ",
        "calls": [{"name": "integration_list_scenes", "args": {}}],
    },
    {
        "text": "I place the lamp, and ask to delete the scene. ",
        "calls": [
            {"name": "integration_place_object", "args": _LAMP},
            {"name": "integration_delete_scene", "args": {"sceneId": "scn_q3_forecast"}},
        ],
    },
    {"text": "The lamp stands in the lobby, and Q3 forecast is gone."},
]


class Speaker:
    """A language model for the demo's server.

    Args:
        folder: for the script.
        check: whether the script speaks whatever is set, so that every effect is known.
        lines: of the script, one for each turn; or such a list for each conversation, by what a
            person says first.

    Attributes:
        scripted: whether it is the script.
        settings: variables that the server needs.
    """

    def __init__(self, folder: Path, *, check: bool, lines: _Script = LINES) -> None:
        given = {name: value for name, value in os.environ.items() if name.startswith(_MODEL)}
        self.scripted = check or f"{_MODEL}NAME" not in given
        self.settings = {} if self.scripted else given
        self._folder = folder
        self._lines = lines
        self._process: subprocess.Popen[str] | None = None

    @property
    def words(self) -> str:
        """Who speaks, for the person who reads along."""
        if self.scripted:
            return (
                "No language model is set (REMIT_MODEL_NAME), so a script plays it: it speaks the\n"
                "   real wire format and says the same lines whatever it is asked."
            )
        return f"The model is {self.settings[f'{_MODEL}NAME']}; what it says is its own."

    def __enter__(self) -> Self:
        if not self.scripted:
            return self
        script = self._folder / "model.json"
        script.write_text(json.dumps(self._lines), "utf-8")
        self._process = subprocess.Popen(  # noqa: S603 -- our own command, no shell
            [sys.executable, "-m", "remit.testing.scripted_model", str(script)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        line = self._process.stdout.readline().strip() if self._process.stdout else ""
        self.settings = {f"{_MODEL}NAME": "openai:scripted", f"{_MODEL}BASE_URL": line}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._process is not None:
            end_now(self._process)
