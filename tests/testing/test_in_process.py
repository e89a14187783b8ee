"""A whole Remit inside a test: the real server, with a store of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from remit.errors import WrongUse
from remit.testing import AppAnswer, Call, ScriptedModel, ScriptedUpstream, Turn
from remit.testing.in_process import Refused, remit_in_process

Json = dict[str, Any]


def _lamps(base_url: str) -> Json:
    return {
        "id": "lamps",
        "name": "Lamps",
        "baseUrl": base_url,
        "auth": {"type": "bearer"},
        "tools": [
            {
                "name": "list_lamps",
                "description": "Lists the lamps of the user's home.",
                "category": "read",
                "dangerLevel": "safe",
                "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
                "endpoint": {"method": "GET", "path": "/lamps"},
            }
        ],
    }


async def test_a_session_goes_on_in_a_second_remit_on_the_same_folder(tmp_path: Path) -> None:
    """A test can restart the server: what was said and who is connected is there."""
    script = [Turn(calls=(Call(name="list_lamps"),)), "One lamp.", "Still one."]
    with (
        ScriptedUpstream([AppAnswer(body={"lamps": ["hall"]})]) as app,
        ScriptedModel(script) as model,
    ):
        async with remit_in_process(
            definitions=[_lamps(app.origin)], model=model, folder=tmp_path
        ) as remit:
            await remit.connect("lamps", "ana", "ana-token")
            first = await remit.session(["lamps"], user="ana")
            await first.say("Which lamps are there?")
        async with remit_in_process(model=model, folder=tmp_path) as remit:
            first.remit = remit
            events = await first.say("And now?")
            log = await first.events()
            faults = remit.faults

    texts = [one["data"]["text"] for one in log if one["type"] == "message"]
    assert texts == ["Which lamps are there?", "One lamp.", "And now?", "Still one."]
    assert events[-1]["data"] == {"status": "idle"}
    assert [request.headers["authorization"] for request in app.http] == ["Bearer ana-token"]
    assert [one["seq"] for one in log] == list(range(1, len(log) + 1))
    assert faults == []


async def test_what_is_refused_is_told_with_its_reason() -> None:
    """A wrong definition, an unknown app, a session where no model is set."""
    async with remit_in_process() as remit:
        with pytest.raises(Refused, match="A definition needs") as refused:
            await remit.install({"id": "lamps"})
        with pytest.raises(Refused, match="404"):
            await remit.call("gone", "any", user="ana")

    assert refused.value.status == 422
    assert refused.value.problem["code"] == "invalid_definition"


async def test_settings_are_those_that_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of the test says nothing; what is given is checked as it is for a server."""
    monkeypatch.setenv("REMIT_BRAND_NAME", "Elsewhere")
    async with remit_in_process(settings={"REMIT_BRAND_NAME": "Kazzle"}) as remit:
        page = await remit.http.get("/docs")
        assert "Kazzle" in page.text
        assert "Elsewhere" not in page.text

    with pytest.raises(WrongUse, match="name"):
        async with remit_in_process(settings={"REMIT_MODEL_NAME": "gpt"}):
            pass
