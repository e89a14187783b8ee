"""Secret arguments that a model gives: sent, and kept nowhere (contract section 2, writeOnly)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from remit.gateway.models import ModelCall
from tests.catalog.documents import endpoint_tool
from tests.gateway.conversations import ask, open_conversation
from tests.gateway.server import shop

SECRET = "pw_canary_0123456789"
LOGIN = endpoint_tool(
    "login",
    category="write",
    dangerLevel="moderate",
    parameters={
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "who"},
            "password": {"type": "string", "description": "secret", "writeOnly": True},
        },
        "required": ["id", "password"],
    },
    endpoint={
        "method": "POST",
        "path": "/login",
        "bodyTemplate": {"id": "{{args.id}}", "password": "{{args.password}}"},
    },
)
GIVEN = {"id": "ana", "password": SECRET}


@pytest.mark.parametrize(
    ("raw", "sent"),
    [
        (json.dumps(GIVEN), True),
        (json.dumps(json.dumps(GIVEN)), False),
        (json.dumps([GIVEN]), False),
        (json.dumps(SECRET), False),
        (json.dumps(GIVEN)[:-1], False),
        (json.dumps({"id": "ana", "Password": SECRET}), False),
        (json.dumps({"id": SECRET, "password": SECRET}), True),
        (json.dumps({"id": {"x": SECRET}, "password": SECRET}), False),
    ],
    ids=["plain", "twice", "list", "text", "broken", "misspelt", "again", "nested"],
)
async def test_secret_argument_reaches_the_app_alone(scratch: Path, raw: str, sent: bool) -> None:
    """However the model writes it, it stands in no event, no record and no kept history."""
    call = ModelCall(id="c1", name="integration_login", args_json=raw)
    async with open_conversation(scratch, [call], "Done.", document=shop(LOGIN)) as talk:
        await talk.say()
        assert len(talk.stage.egress.sent) == sent
        if sent:
            assert SECRET in (talk.stage.egress.sent[0].body or b"").decode()
        assert SECRET not in json.dumps([json.loads(e.data_json) for e in await talk.events()])
        kept = b"".join(file.read_bytes() for file in scratch.parent.glob("remit.db*"))
        assert b"integration_login" in kept
        assert SECRET.encode() not in kept
        assert not talk.stage.faults


async def test_broken_arguments_are_told_in_whole_sentences(scratch: Path) -> None:
    """What, where, and what to do."""
    call = ask("integration_login", raw='{"id": ')
    async with open_conversation(scratch, [call], "Sorry.", document=shop(LOGIN)) as talk:
        await talk.say()
        (result,) = await talk.data("tool_result")
        message = json.loads(result["content"])["error"]["message"]
        assert message.startswith("login was not called: its arguments are no JSON")
        assert message.endswith(". Send one JSON object.")
