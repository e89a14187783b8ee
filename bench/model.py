"""A language model that answers at once, in OpenAI's wire format. Argument: its port.

A conversation that begins with ``pay`` gets ``CALLS`` turns of one call each and then a text; with
``ask`` one call that a person has to allow; with any other word a text in pieces. What it answers
follows from the request alone. ``GET /count`` says how many turns it gave, and how many texts.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Iterator
from typing import Any, cast

import httptools
import uvloop
from workload import ARGS

#: Turns with a call, of each message; one more ends it.
CALLS = 4
_PIECES = 20
_ANSWERS = re.compile(rb'"role": ?"assistant"')
_FIRST = re.compile(
    rb'"role": ?"user"[^}]*?"content": ?"(\w+)|"content": ?"(\w+)[^}]*?"role": ?"user"'
)
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def _stream(deltas: Iterator[dict[str, Any]], reason: str) -> bytes:
    usage = {"prompt_tokens": 900, "completion_tokens": 30, "total_tokens": 930}
    base = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "bench"}
    choices: list[dict[str, Any]] = [
        {"index": 0, "delta": delta, "finish_reason": None} for delta in deltas
    ]
    choices.append({"index": 0, "delta": {}, "finish_reason": reason})
    pieces = [json.dumps({**base, "choices": [choice]}) for choice in choices]
    pieces.append(json.dumps({**base, "choices": [], "usage": usage}))
    body = "".join(f"data: {piece}\n\n" for piece in (*pieces, "[DONE]")).encode()
    return _HEAD + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)


def _call(tool: str) -> bytes:
    function = {"name": f"integration_{tool}", "arguments": json.dumps(ARGS)}
    call = {"index": 0, "id": "call_1", "type": "function", "function": function}
    return _stream(
        iter([{"role": "assistant", "content": ""}, {"tool_calls": [call]}]), "tool_calls"
    )


_PAY, _ASK = _call("pay_order_0"), _call("pay_order_1")
_TEXT = _stream(({"content": "a few words, "} for _ in range(_PIECES)), "stop")


class _Model(asyncio.Protocol):
    """One connection, kept alive; httptools calls the methods that begin with ``on_``."""

    def __init__(self, counts: dict[str, int]) -> None:
        self._counts = counts

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection."""
        self._transport = cast("asyncio.Transport", transport)
        self._parser = httptools.HttpRequestParser(self)
        self._url = self._body = b""

    def data_received(self, data: bytes) -> None:
        """Read on."""
        self._parser.feed_data(data)

    def on_url(self, url: bytes) -> None:
        """What is asked for."""
        self._url = url

    def on_body(self, body: bytes) -> None:
        """A part of the question."""
        self._body += body

    def on_message_complete(self) -> None:
        """A whole request is there."""
        url, body = self._url, self._body
        self._url = self._body = b""
        if url == b"/count":
            said = json.dumps(self._counts).encode()
            self._transport.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
                % (len(said), said)
            )
        else:
            self._transport.write(self._answer(body))

    def _answer(self, body: bytes) -> bytes:
        found = _FIRST.search(body)
        first = b"" if found is None else found[1] or found[2]
        turn = len(_ANSWERS.findall(body))
        self._counts["turns"] += 1
        if first == b"pay" and turn < CALLS:
            return _PAY
        if first == b"ask" and turn == 0:
            return _ASK
        self._counts["texts"] += 1
        return _TEXT


async def _serve(port: int) -> None:
    counts = {"turns": 0, "texts": 0}
    server = await asyncio.get_running_loop().create_server(
        lambda: _Model(counts), "127.0.0.1", port, backlog=1024
    )
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_serve(int(sys.argv[1])))
