"""The model as a process: ``python -m tests.chaos.talks.model`` prints its port and serves.

What it says follows from the request alone, so that a request which is made again after a crash is
answered alike.
"""

from __future__ import annotations

import threading

from remit.testing import Call, ModelRequest, ScriptedModel, Turn
from tests.chaos.talks.script import number_in, talk


def answer(request: ModelRequest) -> Turn:
    """The step of the session's script that the request has come to."""
    number = number_in(request.conversation)
    steps = talk(number).steps
    if request.turn >= len(steps):
        return Turn(text="The script has no more turns.")
    step = steps[request.turn]
    return Turn(
        text=step.text,
        calls=tuple(
            Call(name=f"integration_{tool}", args={"order": order}) for tool, order in step.calls
        ),
        # Kills are to fall into requests and into the middle of texts too.
        delay_ms=(number * 31 + request.turn * 17) % 60,
        pause_ms=5,
    )


if __name__ == "__main__":
    with ScriptedModel(answer) as server:
        print(server.port, flush=True)  # noqa: T201 - a program of its own
        threading.Event().wait()
