"""A session goes on from what an older or a newer release kept of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from remit.errors import ModelFailed
from remit.gateway.models import Entry
from remit.testing import ScriptedModel
from tests.agent.replaying import ask, model_at

HISTORIES = sorted((Path(__file__).parent / "histories").glob("*.json"))


def _entries(path: Path) -> list[Entry]:
    return [
        Entry(
            kind=one["kind"],
            format=one["format"],
            body_json=json.dumps(one["body"], ensure_ascii=False),
            number=number,
        )
        for number, one in enumerate(json.loads(path.read_text("utf-8")), 1)
    ]


@pytest.mark.parametrize("path", HISTORIES, ids=[path.stem for path in HISTORIES])
async def test_stored_histories_are_read(path: Path) -> None:
    """What was said, asked for and answered reaches a model, whichever model it came from."""
    entries = _entries(path)
    with ScriptedModel(lambda _: "Good.") as server:
        async with model_at(server) as model:
            response, _ = await ask(model, [*entries, model.user_entry("Thanks.")])
    sent = server.requests[0].messages

    assert response.text == "Good."
    assert sent[1]["content"] == "What is the weather in Zürich and Bern?"
    assert sent[-1]["content"] == "Thanks."
    asked = [call["id"] for one in sent for call in one.get("tool_calls") or ()]
    answered = [one["tool_call_id"] for one in sent if one["role"] == "tool"]
    assert asked == answered
    assert len(asked) == (0 if "deepseek" in path.stem else 2)


@pytest.mark.parametrize(
    ("format_", "body"),
    [
        ("pydantic-ai/2.68.0", "[]"),
        ("pydantic-ai/2.68.0", "{"),
        ("pydantic-ai/9.0.0", '[{"kind": "of another kind", "parts": []}]'),
        ("another/1", '[{"kind": "request", "parts": []}]'),
    ],
    ids=["no message", "no JSON", "an unknown message", "another library"],
)
async def test_what_cannot_be_read_is_told(format_: str, body: str) -> None:
    """Nothing is sent, and the sentence names who wrote the entry."""
    entry = Entry(kind="user", format=format_, body_json=body, number=3)
    with ScriptedModel(["Hello."]) as server:
        async with model_at(server) as model:
            with pytest.raises(ModelFailed, match=rf"entry 3 was written by {format_}") as failed:
                await ask(model, [entry])

    assert (failed.value.code, failed.value.passing) == ("model_invalid", False)
    assert server.http == []


async def test_what_was_read_is_kept_up_to_a_size() -> None:
    """A long conversation is not parsed again for each turn; memory has a bound."""
    from remit.agent.history import History, user_entry

    short, long = user_entry("short"), user_entry("long " * 100)
    history = History(most_chars=len(long.body_json) + len(short.body_json) - 1)
    (first,) = history.messages([short])
    (again,) = history.messages([short])
    history.messages([long])
    (anew,) = history.messages([short])

    assert first is again
    assert first is not anew
    assert first == anew
