"""A model that says what a script says, over OpenAI's chat completions on loopback.

In a test: ``with ScriptedModel(["Hello."]) as model:`` and ``REMIT_MODEL_BASE_URL`` is
``model.base_url``. As a program it is ``remit.testing.scripted_model``.

Which turn answers is read from the request: how many answers its conversation has. So any number
of conversations go on at once, and a request that is made again, after a crash, is answered alike.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from remit.testing.loopback import LoopbackServer
from remit.testing.script import BadScript, ModelRequest, text_of, turn_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.testing.loopback import Exchange, HttpRequest
    from remit.testing.script import Script, Turn

_JSON = "application/json"
_STREAM = "text/event-stream; charset=utf-8"
_DONE = b"data: [DONE]\n\n"
_FLOOD = "again and again " * 16

Piece = dict[str, Any]


class ScriptedModel(LoopbackServer):
    """A server that answers ``POST /v1/chat/completions``, streamed or not, by a script.

    Attributes:
        requests: what it was asked, in the order in which it came.
    """

    def __init__(self, script: Script, *, port: int = 0) -> None:
        """Be ready to start.

        Args:
            script: what it says; see ``remit.testing.script``.
            port: on 127.0.0.1; 0 takes a free one.
        """
        super().__init__(port)
        self.requests: list[ModelRequest] = []
        self._script = script
        self._attempts: Counter[tuple[str, int]] = Counter()

    @property
    def base_url(self) -> str:
        """For ``REMIT_MODEL_BASE_URL``."""
        return f"{self.origin}/v1"

    async def respond(self, request: HttpRequest, exchange: Exchange) -> None:
        """Answer one request."""
        if request.path == "/v1/models":
            body = {"object": "list", "data": [{"id": "scripted", "object": "model"}]}
            await exchange.answer(200, json.dumps(body).encode(), _JSON)
            return
        if (request.method, request.path) != ("POST", "/v1/chat/completions"):
            await _refuse(exchange, 404, f"There is no {request.method} {request.path}.", None)
            return
        asked = self._asked(request)
        self.requests.append(asked)
        self.notice()
        try:
            turn = turn_for(self._script, asked)
        except BadScript as error:
            # The provider's words are not shown to whoever talks with the agent.
            sys.stderr.write(f"{error}\n")
            await _refuse(exchange, 400, str(error), "bad_script")
            return
        await asyncio.sleep(turn.delay_ms / 1000)
        await _act(turn, asked, exchange)

    def count(self) -> int:
        """How many requests for an answer have come."""
        return len(self.requests)

    def _asked(self, request: HttpRequest) -> ModelRequest:
        body: dict[str, Any] = json.loads(request.body)
        messages: list[dict[str, Any]] = body["messages"]
        first = next((text_of(one) for one in messages if one["role"] == "user"), "")
        turn = sum(1 for one in messages if one["role"] == "assistant")
        self._attempts[first, turn] += 1
        return ModelRequest(
            body=body,
            conversation=first,
            turn=turn,
            attempt=self._attempts[first, turn],
            authorization=request.headers.get("authorization"),
        )


async def _refuse(exchange: Exchange, status: int, message: str, code: str | None) -> None:
    kind = "invalid_request_error" if status < 500 else "server_error"
    error = {"message": message, "type": kind, "param": None, "code": code}
    await exchange.answer(status, json.dumps({"error": error}).encode(), _JSON)


async def _act(turn: Turn, asked: ModelRequest, exchange: Exchange) -> None:
    if turn.status != 200:
        await _refuse(exchange, turn.status, "The script says so.", turn.code)
    elif turn.fault == "drop":
        exchange.cut()
    elif turn.fault == "hang":
        await exchange.until_gone()
    elif asked.body.get("stream"):
        await _stream(turn, asked, exchange)
    else:
        await exchange.answer(200, json.dumps(_whole(turn, asked)).encode(), _JSON)


async def _stream(turn: Turn, asked: ModelRequest, exchange: Exchange) -> None:
    await exchange.begin(_STREAM)
    deltas = list(_deltas(turn, asked))
    broken = turn.fault in {"early_end", "stall", "broken_json"}
    for delta in deltas[: max(1, len(deltas) // 2)] if broken else deltas:
        await exchange.piece(_event(_chunk(asked, delta)))
        if turn.pause_ms:
            await asyncio.sleep(turn.pause_ms / 1000)
    if turn.fault == "early_end":
        exchange.cut()
        return
    if turn.fault == "stall":
        await exchange.until_gone()
    if turn.fault == "broken_json":
        await exchange.piece(b'data: {"choices": [{"delta": {"con\n\n')
    while turn.fault == "flood":
        await exchange.piece(_event(_chunk(asked, {"content": _FLOOD})))
    await _end(turn, asked, exchange)


async def _end(turn: Turn, asked: ModelRequest, exchange: Exchange) -> None:
    """The reason, the usage, and that it is all."""
    if turn.fault not in {"no_reason", "no_done"}:
        await exchange.piece(_event(_chunk(asked, {}, turn.reason)))
    options: Piece = asked.body.get("stream_options") or {}
    if options.get("include_usage"):
        usage: Piece = {**_chunk(asked, {}), "choices": (), "usage": _usage(turn)}
        await exchange.piece(_event(usage))
    if turn.fault != "no_done":
        await exchange.piece(_DONE)
    if turn.fault == "linger":
        await exchange.until_gone()
    await exchange.end()


def _deltas(turn: Turn, asked: ModelRequest) -> Iterator[Piece]:
    yield {"role": "assistant", "content": ""}
    for part in _cut(turn.thinking, turn.chunk_chars):
        yield {"reasoning_content": part}
    for part in _cut(turn.text, turn.chunk_chars):
        yield {"content": part}
    for part in _cut(turn.refusal, turn.chunk_chars):
        yield {"refusal": part}
    for index, call in enumerate(_calls(turn, asked)):
        head = {**call, "function": {"name": call["function"]["name"], "arguments": ""}}
        yield {"tool_calls": [{"index": index, **head}]}
        for part in _cut(call["function"]["arguments"], turn.chunk_chars):
            yield {"tool_calls": [{"index": index, "function": {"arguments": part}}]}


def _calls(turn: Turn, asked: ModelRequest) -> list[Piece]:
    offered = asked.tools
    return [
        {
            "id": call.id if call.id is not None else f"call_{asked.turn}_{index}",
            "type": "function",
            "function": {"name": _offered(call.name, offered), "arguments": call.args_json},
        }
        for index, call in enumerate(turn.calls)
    ]


def _offered(name: str, offered: list[str]) -> str:
    """The name as it is offered: an app's name, or a word for it, may stand before a tool's."""
    if name in offered:
        return name
    ends = [one for one in offered if one.endswith(f"_{name}")]
    return ends[0] if len(ends) == 1 else name


def _cut(text: str, length: int) -> Iterator[str]:
    for start in range(0, len(text), max(1, length)):
        yield text[start : start + max(1, length)]


def _chunk(asked: ModelRequest, delta: Piece, reason: str | None = None) -> Piece:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
    return {**_base(asked, "chat.completion.chunk"), "choices": [choice]}


def _whole(turn: Turn, asked: ModelRequest) -> Piece:
    message: Piece = {"role": "assistant", "content": turn.text or None, "refusal": None}
    if turn.thinking:
        message["reasoning_content"] = turn.thinking
    if turn.refusal:
        message["refusal"] = turn.refusal
    if turn.calls:
        message["tool_calls"] = _calls(turn, asked)
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": turn.reason}
    return {**_base(asked, "chat.completion"), "choices": [choice], "usage": _usage(turn)}


def _base(asked: ModelRequest, kind: str) -> Piece:
    return {
        "id": f"chatcmpl-{asked.turn}",
        "object": kind,
        "created": int(time.time()),
        "model": asked.body.get("model", "scripted"),
    }


def _usage(turn: Turn) -> Piece:
    read, written, cached = turn.tokens
    return {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def _event(piece: Piece) -> bytes:
    return b"data: " + json.dumps(piece, ensure_ascii=False).encode() + b"\n\n"
