"""A server that sends a recorded stream, whatever it is asked, and what a test asks with."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from remit.agent import ModelLimits, ProviderModels
from remit.agent.models import LazyModel
from remit.gateway.models import Entry, ModelResponse, ToolOffer
from remit.testing.loopback import Exchange, HttpRequest, LoopbackServer
from remit.values.secrets import Secret

STREAMS = Path(__file__).parent / "streams"
KEY = "sk-canary-0123456789abcdef"
WEATHER = ToolOffer(
    name="weather__at",
    description="The weather in a city.",
    schema={
        "type": "object",
        "properties": {"city": {"type": "string", "description": "Its name."}},
        "required": ["city"],
    },
)
# Cuts lines, characters and JSON at places that change from piece to piece.
_SIZES = (1, 7, 64, 3, 211)


class Replay(LoopbackServer):
    """Sends one stream, or one error, to every request."""

    def __init__(self, body: bytes, *, status: int = 200, content_type: str | None = None) -> None:
        super().__init__()
        self._body = body
        self._status = status
        self._type = content_type or ("text/event-stream" if status == 200 else "application/json")

    @property
    def asked(self) -> dict[str, Any]:
        """Body of the last request."""
        return json.loads(self.http[-1].body)

    async def respond(self, request: HttpRequest, exchange: Exchange) -> None:
        """Send it."""
        if self._status != 200:
            await exchange.answer(self._status, self._body, self._type)
            return
        await exchange.begin(self._type)
        at = count = 0
        while at < len(self._body):
            size = _SIZES[count % len(_SIZES)]
            await exchange.piece(self._body[at : at + size])
            at, count = at + size, count + 1
        await exchange.end()


def recorded(name: str) -> Replay:
    """A server that sends the stream of that file."""
    return Replay((STREAMS / name).read_bytes())


@asynccontextmanager
async def model_at(
    server: LoopbackServer,
    name: str = "openai:gpt-5.4",
    limits: ModelLimits | None = None,
) -> AsyncIterator[LazyModel]:
    """A model at that server, with a key."""
    base = server.origin if not name.startswith("openai:") else f"{server.origin}/v1"
    models = ProviderModels(name, base_url=base, api_key=Secret(KEY), limits=limits)
    found = models.find(None)
    assert found is not None
    try:
        yield found
    finally:
        await models.close()


async def ask(
    model: LazyModel,
    history: Sequence[Entry] | None = None,
    tools: Sequence[ToolOffer] = (WEATHER,),
) -> tuple[ModelResponse, list[str]]:
    """One answer, and the pieces of text that came of it."""
    pieces: list[str] = []
    response = await model.respond(
        history or [model.user_entry("What is the weather?")],
        instructions="Be brief.",
        tools=tools,
        on_text=pieces.append,
    )
    return response, pieces


async def stops_listening(model: LazyModel, server: LoopbackServer, *, within_s: float) -> None:
    """Stop a request once the model has begun to speak: its connection must go."""
    said = asyncio.Event()
    going = asyncio.create_task(
        model.respond(
            [model.user_entry("Hello.")],
            instructions="",
            tools=[],
            on_text=lambda _: said.set(),
        )
    )
    await asyncio.wait_for(said.wait(), within_s)
    going.cancel()
    with pytest.raises(asyncio.CancelledError):
        await going
    assert await asyncio.to_thread(server.http[0].dropped.wait, 10)
