"""Trouble with Anthropic and Google is told as with OpenAI, and they are asked once."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from msgspec import structs

from remit.agent import ModelLimits
from remit.errors import ModelFailed
from remit.gateway.models import ToolOffer
from remit.testing.loopback import Exchange, HttpRequest, LoopbackServer
from tests.agent.replaying import STREAMS, WEATHER, Replay, ask, model_at, stops_listening
from tests.agent.test_streams import CLAUDE, GEMINI, with_claude, with_gemini

Json = dict[str, Any]


def _claude(status: int, kind: str, message: str) -> Replay:
    error = {"type": kind, "message": message}
    body = {"type": "error", "error": error, "request_id": "req_1"}
    return Replay(json.dumps(body).encode(), status=status)


def _gemini(status: int, kind: str, message: str, **details: Json) -> Replay:
    error = {"code": status, "status": kind, "message": message, "details": [*details.values()]}
    return Replay(json.dumps({"error": error}).encode(), status=status)


INVALID_KEY = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
TROUBLES = {
    "claude key": (
        CLAUDE, _claude(401, "authentication_error", "invalid x-api-key secret"),
        "model_unavailable", False, "REMIT_MODEL_API_KEY",
    ),
    "claude model": (
        CLAUDE, _claude(404, "not_found_error", "model: secret"),
        "model_unavailable", False, "no such model",
    ),
    "claude too often": (
        CLAUDE, _claude(429, "rate_limit_error", "secret"), "model_unavailable", True, "more often",
    ),
    "claude overloaded": (
        CLAUDE, _claude(529, "overloaded_error", "secret"), "model_unavailable", True, "no room",
    ),
    "claude too long": (
        CLAUDE, _claude(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"),
        "model_refused", False, "too long for the model",
    ),
    "gemini key": (
        GEMINI, _gemini(400, "INVALID_ARGUMENT", "secret", info=INVALID_KEY),
        "model_unavailable", False, "REMIT_MODEL_API_KEY",
    ),
    "gemini model": (
        GEMINI, _gemini(404, "NOT_FOUND", "models/secret is not found"),
        "model_unavailable", False, "no such model",
    ),
    "gemini too often": (
        GEMINI, _gemini(429, "RESOURCE_EXHAUSTED", "secret"),
        "model_unavailable", True, "more often",
    ),
    "gemini overloaded": (
        GEMINI, _gemini(503, "UNAVAILABLE", "The model is overloaded."),
        "model_unavailable", True, "no room",
    ),
    "gemini too long": (
        GEMINI, _gemini(400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum"),
        "model_refused", False, "too long for the model",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, id=name, marks=with_claude if "claude" in name else with_gemini)
        for name in TROUBLES
    ],
)
async def test_trouble_is_told_plainly(name: str) -> None:
    """One request, one sentence, and none of the provider's own words."""
    model_name, server, code, passing, word = TROUBLES[name]
    with server:
        async with model_at(server, model_name) as model:
            with pytest.raises(ModelFailed) as failed:
                await ask(model)

    assert word in failed.value.message
    assert (failed.value.code, failed.value.passing) == (code, passing)
    assert "secret" not in failed.value.message
    assert len(server.http) == 1


class _Compiling(LoopbackServer):
    """Refuses strict tools as Anthropic does where their grammar is too large for it."""

    def __init__(self, message: str) -> None:
        super().__init__()
        self._message = message

    def strict(self) -> list[bool]:
        """Whether each request had a strict tool."""
        return [
            any(tool.get("strict") for tool in json.loads(one.body)["tools"]) for one in self.http
        ]

    async def respond(self, request: HttpRequest, exchange: Exchange) -> None:
        """Look for strict tools first."""
        if any(tool.get("strict") for tool in json.loads(request.body)["tools"]):
            error = {"type": "invalid_request_error", "message": self._message}
            body = json.dumps({"type": "error", "error": error}).encode()
            await exchange.answer(400, body, "application/json")
            return
        await exchange.begin("text/event-stream")
        await exchange.piece((STREAMS / "anthropic.sse").read_bytes())
        await exchange.end()


STRICT = ToolOffer(
    name="book",
    description="Books a room.",
    schema={
        "type": "object",
        "properties": {"room": {"type": "string"}},
        "required": ["room"],
        "additionalProperties": False,
    },
    strict=True,
)


@with_claude
async def test_strict_tools_are_asked_of_claude_as_they_are_offered() -> None:
    """The schema goes out as it was fitted, and the answer says that they were strict."""
    with Replay((STREAMS / "anthropic.sse").read_bytes()) as server:
        async with model_at(server, CLAUDE) as model:
            response, _ = await ask(model, tools=[WEATHER, STRICT])
            assert model.packs
        tools = {tool["name"]: tool for tool in server.asked["tools"]}

    assert tools["book"]["strict"] is True
    assert tools["book"]["input_schema"] == STRICT.schema
    assert "strict" not in tools["weather__at"]
    assert not response.loose


@with_claude
@pytest.mark.parametrize(
    "message",
    [
        "tools.0: The compiled grammar is too large, which would cause performance issues.",
        "Schema is too complex for compilation.",
    ],
)
async def test_strict_tools_that_are_too_much_together_are_asked_without(message: str) -> None:
    """The person gets the answer, the record the truth, and the next request loses no time."""
    with _Compiling(message) as server:
        async with model_at(server, CLAUDE) as model:
            first, pieces = await ask(model, tools=[WEATHER, STRICT])
            second, _ = await ask(model, tools=[WEATHER, STRICT])
            assert server.strict() == [True, False, False]
            # Another set of tools may well be taken.
            other = structs.replace(STRICT, name="other")
            await ask(model, tools=[other])
            assert server.strict()[3:] == [True, False]

    assert first.loose
    assert second.loose
    assert "".join(pieces) == first.text == "I look at both."


@with_claude
async def test_another_refusal_is_told_and_not_tried_without_strict_tools() -> None:
    """A request is made twice for one reason alone."""
    with _Compiling("messages: text content blocks must be non-empty") as server:
        async with model_at(server, CLAUDE) as model:
            with pytest.raises(ModelFailed):
                await ask(model, tools=[STRICT])

    assert server.strict() == [True]


@with_claude
async def test_a_model_without_strict_mode_packs_nothing() -> None:
    """What is not asked of it is not said to be held."""
    with Replay((STREAMS / "anthropic.sse").read_bytes()) as server:
        async with model_at(server, "anthropic:claude-3-haiku-20240307") as model:
            await ask(model, tools=[STRICT])
            assert not model.packs

    assert "strict" not in server.asked["tools"][0]


class _Stalled(LoopbackServer):
    """Sends the first half of a stream, and nothing more."""

    def __init__(self, body: bytes) -> None:
        super().__init__()
        self._body = body

    async def respond(self, request: HttpRequest, exchange: Exchange) -> None:
        """Send it, and wait until the client is gone."""
        await exchange.begin("text/event-stream")
        await exchange.piece(self._body)
        await exchange.until_gone()


STALLED = [
    pytest.param(CLAUDE, "anthropic-early-end.sse", id="claude", marks=with_claude),
    pytest.param(GEMINI, "gemini-early-end.sse", id="gemini", marks=with_gemini),
]


@pytest.mark.parametrize(("name", "file"), STALLED)
async def test_silence_ends_the_request(name: str, file: str) -> None:
    """The limits are the same for every SDK."""
    with _Stalled((STREAMS / file).read_bytes()) as server:
        async with model_at(server, name, ModelLimits(silence_s=0.5)) as model:
            with pytest.raises(ModelFailed, match="says nothing") as failed:
                await ask(model)
        assert await asyncio.to_thread(server.http[0].dropped.wait, 10)

    assert failed.value.passing


@pytest.mark.parametrize(("name", "file"), STALLED)
async def test_cancelling_drops_the_connection(name: str, file: str) -> None:
    """Whichever SDK holds it."""
    with _Stalled((STREAMS / file).read_bytes()) as server:
        async with model_at(server, name) as model:
            await stops_listening(model, server, within_s=20)
