"""A call read off the wire is answered as one that comes through the application."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import cast

import pytest
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from remit.main.protocol import MAX_BODY_BYTES, CallProtocol, protocol_of
from remit.web.app import App
from tests.gateway.fakes import answer
from tests.gateway.nodes import HeldEgress
from tests.web.api import CONSOLE, Api, open_api

_LIMIT_S = 30
ORDER = {"name": "x"}
PATH = "/v1/tools/acme/add_order/call"
HOST = "remit.acme.example"


@pytest.fixture
async def api(store_url: str) -> AsyncIterator[Api]:
    """The API with one app in force, which answers whenever it is asked."""
    async with open_api(store_url) as opened:
        yield opened
        assert opened.faults == []


@dataclass(frozen=True)
class Client:
    """One connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def answer(self) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of the next answer."""
        async with asyncio.timeout(_LIMIT_S):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            lines = [line.partition(": ") for line in head[1:] if line]
            headers = {name: value for name, _, value in lines}
            assert len(headers) == len(lines), "a header twice"
            body = await self.reader.readexactly(int(headers.get("content-length", 0)))
        return int(head[0].split(" ")[1]), headers, body

    async def ended(self) -> bool:
        """Whether the server closes the connection and says nothing more."""
        async with asyncio.timeout(_LIMIT_S):
            return await self.reader.read() == b""


class Server(uvicorn.Server):
    """Says when it listens, and when it stops."""

    def __init__(self, config: uvicorn.Config, port: int) -> None:
        super().__init__(config)
        self.port = port
        self.listening, self.stopping = asyncio.Event(), asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen."""
        await super().startup(sockets)
        self.listening.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop; what is done at once is done before anybody hears of it."""
        asyncio.get_running_loop().call_soon(self.stopping.set)
        await super().shutdown(sockets)


@asynccontextmanager
async def served(api: Api, protocol: type[HttpToolsProtocol]) -> AsyncGenerator[Server]:
    """The API on a port of this machine."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        config = uvicorn.Config(
            api.app, http=protocol, lifespan="off", log_config=None, server_header=False
        )
        server = Server(config, bound.getsockname()[1])
        serving = asyncio.ensure_future(server.serve(sockets=[bound]))
        async with asyncio.timeout(_LIMIT_S):
            await server.listening.wait()
        try:
            yield server
        finally:
            server.should_exit = True
            await serving


@asynccontextmanager
async def connected(server: Server) -> AsyncGenerator[Client]:
    """A connection to a server."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        yield Client(reader, writer)
    finally:
        writer.close()


def own(api: Api) -> type[CallProtocol]:
    """The protocol of ``remit serve``."""
    app = cast("App", api.app)
    return protocol_of(app.calls, app.hosts)


def request(
    key: str, body: bytes | None = None, *more: str, line: str = f"POST {PATH} HTTP/1.1"
) -> bytes:
    """A request for a call; ``more`` are header lines, a name again in the place of its own."""
    if body is None:
        body = json.dumps({"user": "ana", "args": ORDER}).encode()
    lines = {
        "host": f"Host: {HOST}",
        "content-type": "Content-Type: application/json",
        "content-length": f"Content-Length: {len(body)}",
        "authorization": f"Authorization: Bearer {key}",
    }
    lines |= {one.partition(":")[0].lower(): one for one in more}
    head = "\r\n".join([line, *(one for one in lines.values() if not one.endswith(":"))])
    return f"{head}\r\n\r\n".encode() + body


CHUNKED = b'5\r\n{"use\r\n12\r\nr":"ana","args":{"\r\n9\r\nname":"x"\r\n2\r\n}}\r\n0\r\n\r\n'
PADDED = json.dumps({"user": "ana", "args": ORDER}).encode().ljust(MAX_BODY_BYTES + 1)
CASES: dict[str, tuple[bytes | None, tuple[str, ...], str]] = {
    "plain": (None, (), f"POST {PATH} HTTP/1.1"),
    "no-such-tool": (None, (), "POST /v1/tools/acme/none/call HTTP/1.1"),
    "encoded-path": (None, (), "POST /v1/tools/acme/add%5Forder/call HTTP/1.1"),
    "bad-key": (None, ("Authorization: Bearer rk_backend_x",), f"POST {PATH} HTTP/1.1"),
    "no-key": (None, ("Authorization:",), f"POST {PATH} HTTP/1.1"),
    "no-json": (b"{", (), f"POST {PATH} HTTP/1.1"),
    "empty": (b"", (), f"POST {PATH} HTTP/1.1"),
    "invalid": (b'{"user":"ana","args":{"name":1}}', (), f"POST {PATH} HTTP/1.1"),
    "other-media": (None, ("Content-Type: text/plain",), f"POST {PATH} HTTP/1.1"),
    "at-once": (None, ("Prefer: wait=0",), f"POST {PATH} HTTP/1.1"),
    "waiting": (None, ("Prefer: wait=20",), f"POST {PATH} HTTP/1.1"),
    "repeatable": (None, ("Idempotency-Key: k-1",), f"POST {PATH} HTTP/1.1"),
    "chunked": (
        CHUNKED, ("Content-Length:", "Transfer-Encoding: chunked"), f"POST {PATH} HTTP/1.1",
    ),
    "large": (PADDED, (), f"POST {PATH} HTTP/1.1"),
    "no-length": (b"", ("Content-Length:",), f"POST {PATH} HTTP/1.1"),
    "last": (None, ("Connection: close",), f"POST {PATH} HTTP/1.1"),
    "old": (None, (), f"POST {PATH} HTTP/1.0"),
    "page": (None, (f"Origin: {CONSOLE}",), f"POST {PATH} HTTP/1.1"),
    "stranger": (None, ("Origin: https://evil.example",), f"POST {PATH} HTTP/1.1"),
    "other-host": (None, ("Host: evil.example",), f"POST {PATH} HTTP/1.1"),
    "two-hosts": (None, (f"X-A: 1\r\nHost: {HOST}",), f"POST {PATH} HTTP/1.1"),
    "no-host": (None, ("Host:",), f"POST {PATH} HTTP/1.1"),
    "query": (None, (), f"POST {PATH}?x=1 HTTP/1.1"),
    "other-method": (None, (), f"PUT {PATH} HTTP/1.1"),
    "upgrade": (None, ("Connection: Upgrade", "Upgrade: h2c"), f"POST {PATH} HTTP/1.1"),
    "other-path": (b"", (), "GET /healthz HTTP/1.1"),
}  # fmt: skip
# Ids, and what a clock writes.
_FRESH = re.compile(rb"(call|req|inp)_[0-9a-z]{26}")


def plainly(answer: tuple[int, dict[str, str], bytes]) -> tuple[int, dict[str, str], bytes]:
    """An answer without what is another each time."""
    status, headers, body = answer
    kept = {name: value for name, value in headers.items() if name != "date"}
    kept = {name: _FRESH.sub(b"id", value.encode()).decode() for name, value in kept.items()}
    return status, kept, _FRESH.sub(b"id", body)


@pytest.mark.parametrize("case", sorted(CASES))
async def test_answer_is_the_one_of_the_application(api: Api, case: str) -> None:
    """Whatever is asked, and however: the status, every header and the body are the same."""
    body, more, line = CASES[case]
    seen: list[tuple[int, dict[str, str], bytes]] = []
    for protocol in (HttpToolsProtocol, own(api)):
        sent = request(api.keys["backend"], body, *more, line=line)
        async with served(api, protocol) as server, connected(server) as client:
            client.writer.write(sent)
            seen.append(plainly(await client.answer()))
            if case == "repeatable":
                client.writer.write(sent)
                seen[-1] = plainly(await client.answer())
            if case in {"last", "old"}:
                assert await client.ended()

    assert seen[0] == seen[1]
    assert case != "plain" or seen[0][0] == 200


async def test_request_may_come_in_any_pieces(api: Api) -> None:
    """A head or a body that is cut anywhere is the same request."""
    sent = request(api.keys["backend"])
    async with served(api, own(api)) as server, connected(server) as client:
        for cut in range(1, len(sent), 23):
            client.writer.write(sent[:cut])
            await client.writer.drain()
            await asyncio.sleep(0)
            client.writer.write(sent[cut:])
            assert (await client.answer())[0] == 200


async def test_requests_that_come_at_once_are_answered_in_their_order(api: Api) -> None:
    """RFC 9112, 9.3.2, also where plain calls stand beside other requests."""
    key = api.keys["backend"]
    sent = [
        request(key),
        request(key, line="POST /v1/tools/acme/none/call HTTP/1.1"),
        request(key, b"", line="GET /healthz HTTP/1.1"),
        request(key),
        request(key, None, "Connection: close"),
    ]
    async with served(api, own(api)) as server, connected(server) as client:
        client.writer.write(b"".join(sent))
        assert [(await client.answer())[0] for _ in sent] == [200, 404, 200, 200, 200]
        assert await client.ended()


async def test_silent_connection_is_closed_after_a_while(api: Api) -> None:
    """Between two requests, and not before its time; whatever was asked on it."""
    app = cast("App", api.app)
    kept_s = 0.5
    loop = asyncio.get_running_loop()
    async with served(api, protocol_of(app.calls, app.hosts, kept_s)) as server:
        for line in (f"POST {PATH} HTTP/1.1", "GET /healthz HTTP/1.1"):
            async with connected(server) as client:
                client.writer.write(request(api.keys["backend"], line=line))
                await client.answer()
                # The server's clock was read before the answer got here.
                since = loop.time()
                assert await client.ended()
                assert loop.time() - since >= kept_s - 0.05


async def test_no_http_is_refused(api: Api) -> None:
    """What is read off the wire is no less strict."""
    async with served(api, own(api)) as server, connected(server) as client:
        client.writer.write(request(api.keys["backend"]).replace(b"HTTP/1.1\r\n", b"HTTP/9\r\n"))
        assert (await client.answer())[0] == 400


async def test_call_that_takes_long_is_told_and_runs_to_its_end(store_url: str) -> None:
    """The caller has 202 when the wait is over, the connection goes on, the call is sent once."""
    egress = HeldEgress([answer({"total": 5})])
    async with open_api(store_url, egress=egress) as api:
        async with served(api, own(api)) as server, connected(server) as client:
            client.writer.write(request(api.keys["backend"], None, "Prefer: wait=1"))
            status, headers, body = await client.answer()
            call = json.loads(body)["callId"]
            assert (status, json.loads(body)["outcome"]) == (202, "sending")
            assert headers["location"] == f"/v1/calls/{call}"
            assert headers["preference-applied"] == "wait=1"
            client.writer.write(request(api.keys["backend"], b"{"))
            assert (await client.answer())[0] == 400
            egress.go.set()
            await api.stage.settled()
        assert (await api.stage.row(call)).status == "done"
        assert len(egress.sent) == 1
        assert api.faults == []


async def test_call_whose_caller_left_runs_to_its_end(store_url: str) -> None:
    """What is sent is sent: a closed connection stops nothing (section 5)."""
    egress = HeldEgress([answer({"total": 5})])
    async with open_api(store_url, egress=egress) as api:
        async with served(api, own(api)) as server:
            async with connected(server) as client:
                client.writer.write(request(api.keys["backend"]))
                async with asyncio.timeout(_LIMIT_S):
                    await egress.left.wait()
            egress.go.set()
            await api.stage.settled()
        (row,) = (await api.stage.server.store.calls.list("acme")).items
        assert row.status == "done"


async def test_stop_of_the_server_lets_a_call_be_answered(store_url: str) -> None:
    """It takes no new request, answers what is under way, and closes the connection."""
    egress = HeldEgress([answer({"total": 5})])
    async with (
        open_api(store_url, egress=egress) as api,
        served(api, own(api)) as server,
        connected(server) as client,
    ):
        client.writer.write(request(api.keys["backend"]))
        async with asyncio.timeout(_LIMIT_S):
            await egress.left.wait()
            server.should_exit = True
            await server.stopping.wait()
        egress.go.set()
        status, headers, _ = await client.answer()
        assert (status, headers["connection"]) == (200, "close")
        assert await client.ended()


async def test_fault_while_a_call_is_sent_is_told_once_to_the_caller(api: Api) -> None:
    """An internal error is a problem document, and the operator hears of it."""

    async def fail(*_: object, **__: object) -> object:
        raise RuntimeError

    api.stage.node.calls.plan = fail  # type: ignore[method-assign]
    async with served(api, own(api)) as server, connected(server) as client:
        client.writer.write(request(api.keys["backend"]))
        status, headers, _ = await client.answer()

    assert (status, headers["content-type"]) == (500, "application/problem+json")
    assert [type(fault) for _, fault in api.faults] == [RuntimeError]
    api.faults.clear()
    api.stage.faults.clear()
