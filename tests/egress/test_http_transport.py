"""The transport against hostile answers and broken connections: what is said, and ``sent``."""

from __future__ import annotations

import asyncio
import gzip
import socket
import tracemalloc
import zlib

import pytest

from remit.egress.admission import Admission
from remit.egress.allowances import parse_allowances
from remit.egress.client import GuardedClient
from remit.errors import (
    CallError,
    EgressRefused,
    ResponseInvalid,
    ResponseTooLarge,
    UpstreamTimeout,
    UpstreamUnreachable,
)
from remit.gateway.ports import Limits, WireRequest, WireResponse
from tests.egress.upstream import Script, Upstream, Visit, always, http, once

METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
LIMITS = Limits(connect_timeout_ms=2_000, total_timeout_ms=5_000, max_body_bytes=100_000)
BRIEF_CONNECT = Limits(connect_timeout_ms=100, total_timeout_ms=20_000)
BRIEF_TOTAL = Limits(connect_timeout_ms=5_000, total_timeout_ms=400)


def call(url: str, method: str = "POST") -> WireRequest:
    """A request with a body where the method may bear one."""
    return WireRequest(method=method, url=url, body=None if method == "GET" else b'{"a":1}')


def guarded() -> GuardedClient:
    """A client that may reach loopback."""
    return GuardedClient(parse_allowances(["127.0.0.0/8", "::1"]))


async def exchange(
    script: Script, *, limits: Limits = LIMITS, method: str = "POST"
) -> WireResponse:
    """One request to a server with this script; it must be sent exactly once."""
    async with Upstream(script) as upstream, guarded() as client:
        try:
            return await client.send(call(upstream.url, method), limits)
        finally:
            assert len(upstream.requests) <= 1
            assert upstream.connections == 1


async def fault(script: Script, *, limits: Limits = LIMITS, method: str = "POST") -> CallError:
    """The error of the same."""
    with pytest.raises(CallError) as caught:
        await exchange(script, limits=limits, method=method)
    assert str(caught.value).isprintable()
    assert "127.0.0.1" in str(caught.value)
    return caught.value


# --- whether it was sent -----------------------------------------------------------------------


async def test_a_closed_port_is_unreachable_and_not_sent() -> None:
    """No connection, nothing sent (contract section 5, unknown outcomes)."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
        async with guarded() as client:
            with pytest.raises(UpstreamUnreachable, match="Nothing was sent") as caught:
                await client.send(call(f"http://127.0.0.1:{port}/"), LIMITS)
    assert caught.value.sent is False


async def test_a_look_up_that_hangs_times_out_and_nothing_was_sent() -> None:
    """The connect limit covers the name, too."""

    async def hang(host: str, port: int) -> tuple[str, ...]:
        await asyncio.Event().wait()
        return ()

    async with GuardedClient(lookup=hang) as client:
        with pytest.raises(UpstreamTimeout, match="100 ms") as caught:
            await client.send(call("https://maple.test/"), BRIEF_CONNECT)
    assert caught.value.sent is False


async def test_a_handshake_that_hangs_times_out_and_nothing_was_sent() -> None:
    """Bytes of TLS are no bytes of the request."""

    async def silent(visit: Visit) -> None:
        await visit.until_closed()

    async with Upstream(silent) as upstream, guarded() as client:
        with pytest.raises(UpstreamTimeout, match="connection") as caught:
            await client.send(call(f"https://127.0.0.1:{upstream.port}/"), BRIEF_CONNECT)
    assert (caught.value.sent, upstream.connections) == (False, 1)


async def test_the_total_limit_holds_before_the_connection_as_well() -> None:
    """A total that is shorter than the connect limit ends it, and nothing was sent."""

    async def hang(host: str, port: int) -> tuple[str, ...]:
        await asyncio.Event().wait()
        return ()

    async with GuardedClient(lookup=hang) as client:
        with pytest.raises(UpstreamTimeout) as caught:
            await client.send(
                call("https://maple.test/"), Limits(connect_timeout_ms=5_000, total_timeout_ms=50)
            )
    assert caught.value.sent is False


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_server_that_never_answers_times_out_and_it_was_sent(method: str) -> None:
    """The first byte went out: it may have happened."""

    async def hang(visit: Visit) -> None:
        await visit.request()
        await visit.until_closed()

    error = await fault(hang, limits=BRIEF_TOTAL, method=method)
    assert isinstance(error, UpstreamTimeout)
    assert error.sent is True


@pytest.mark.parametrize("method", METHODS)
async def test_a_reset_after_the_request_is_unreachable_and_it_was_sent(method: str) -> None:
    """Accepted, read, reset: it may have happened, and it is not sent again."""

    async def reset(visit: Visit) -> None:
        await visit.request()
        visit.reset()

    error = await fault(reset, method=method)
    assert isinstance(error, UpstreamUnreachable)
    assert error.sent is True


@pytest.mark.parametrize("method", METHODS)
async def test_a_close_without_answer_is_unreachable_and_it_was_sent(method: str) -> None:
    """A clean end is no answer."""

    async def close(visit: Visit) -> None:
        await visit.request()

    error = await fault(close, method=method)
    assert isinstance(error, UpstreamUnreachable)
    assert error.sent is True


async def test_a_caller_that_goes_away_closes_the_connection() -> None:
    """A cancelled call leaves nothing behind in the pool."""
    asked = asyncio.Event()

    async def hang(visit: Visit) -> None:
        await visit.request()
        asked.set()
        await visit.until_closed()

    async with Upstream(hang) as upstream, guarded() as client:
        task = asyncio.create_task(client.send(call(upstream.url), LIMITS))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(2):
            await upstream.visits_ended.acquire()


# --- nothing is sent twice ---------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
async def test_a_kept_connection_that_breaks_after_the_request_is_not_tried_again(
    method: str,
) -> None:
    """Also where HTTP would allow it (GET, PUT, DELETE); the server counts (contract section 5)."""

    async def second_time_close(visit: Visit) -> None:
        await visit.request()
        await visit.say(http())
        await visit.request()
        visit.reset()

    async with Upstream(second_time_close) as upstream, guarded() as client:
        assert (await client.send(call(upstream.url, method), LIMITS)).status == 200
        with pytest.raises(UpstreamUnreachable) as caught:
            await client.send(call(upstream.url, method), LIMITS)
    assert caught.value.sent is True
    assert (len(upstream.requests), upstream.connections) == (2, 1)


@pytest.mark.parametrize("method", METHODS)
async def test_a_kept_connection_that_is_seen_dead_is_left_before_anything_is_sent(
    method: str,
) -> None:
    """A server may close an idle connection; the next request takes a fresh one, once."""
    async with Upstream(once(http())) as upstream, guarded() as client:
        for count in range(1, 4):
            assert (await client.send(call(upstream.url, method), LIMITS)).status == 200
            async with asyncio.timeout(2):
                await upstream.visits_ended.acquire()
            assert (len(upstream.requests), upstream.connections) == (count, count)


async def test_kept_connections_are_used_again() -> None:
    """The pool is there for speed."""
    async with Upstream(always(http())) as upstream, guarded() as client:
        for _ in range(5):
            await client.send(call(upstream.url), LIMITS)
    assert (len(upstream.requests), upstream.connections) == (5, 1)


@pytest.mark.parametrize("late", [False, True])
async def test_bytes_after_an_answer_are_not_taken_for_the_next_one(late: bool) -> None:
    """An answer nobody asked for must not reach the next caller on that connection."""
    read, smuggled = asyncio.Event(), asyncio.Event()

    async def smuggle(visit: Visit) -> None:
        await visit.request()
        await visit.say(http(b"mine"))
        if late:
            await read.wait()
        await visit.say(http(b"evil"))
        smuggled.set()
        await visit.request()
        await visit.say(http(b"theirs"))

    async with Upstream(smuggle) as upstream, guarded() as client:
        assert (await client.send(call(upstream.url), LIMITS)).body == b"mine"
        read.set()
        await smuggled.wait()
        assert (await client.send(call(upstream.url), LIMITS)).body == b"mine"
    assert (len(upstream.requests), upstream.connections) == (2, 2)


async def test_the_deciding_check_is_the_sockets_and_not_the_look_ups(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Should addresses ever come from elsewhere, no socket is opened for them."""

    async def unchecked(self: Admission) -> tuple[str, ...]:
        return ("127.0.0.1",)

    monkeypatch.setattr(Admission, "addresses", unchecked)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        async with guarded() as client:
            with pytest.raises(EgressRefused) as caught:
                await client.send(call(f"http://localhost:{listener.getsockname()[1]}/"), LIMITS)
        assert caught.value.sent is False
        with pytest.raises(BlockingIOError):
            listener.accept()


async def test_the_address_at_the_other_end_is_checked_once_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Should a socket ever end elsewhere than it was sent, it carries no request."""
    loop = asyncio.get_running_loop()
    connect = loop.sock_connect

    async def elsewhere(sock: socket.socket, to: tuple[str, int]) -> None:
        await connect(sock, ("127.0.0.1", to[1]))

    monkeypatch.setattr(loop, "sock_connect", elsewhere)
    async with (
        Upstream(always(http())) as upstream,
        GuardedClient(parse_allowances(["127.0.0.2"])) as client,
    ):
        with pytest.raises(EgressRefused) as caught:
            await client.send(call(f"http://127.0.0.2:{upstream.port}/"), LIMITS)
    assert caught.value.sent is False
    assert upstream.requests == []


# --- hostile answers ---------------------------------------------------------------------------


def saying(data: bytes) -> Script:
    """Reads a request, says this and closes."""
    return once(data)


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.9\r\n",
        b"garbage garbage\r\n\r\n",
        b"HTTP/9.9 200 OK\r\n\r\n",
        b"HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"HTTP/1.1 050 Low\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 999 High\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\nContent-Length: 0\n\n",
        b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n",
        b"\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nBad Header: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: a\x00b\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n0\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nx",
        http(b"short", length=50),
    ],
)
async def test_an_answer_that_is_no_http_is_invalid(answer: bytes) -> None:
    """Half an answer is no answer, and a parser's doubt is not passed on."""
    error = await fault(saying(answer))
    assert isinstance(error, ResponseInvalid)
    assert error.sent is True


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (
            ["Content-Encoding: gzip, gzip, gzip"],
            gzip.compress(gzip.compress(gzip.compress(b"x", mtime=0), mtime=0), mtime=0),
        ),
        (["Content-Encoding: gzip", "Content-Encoding: deflate"], b"x"),
        (["Content-Encoding: br"], b"x"),
        (["Content-Encoding: gzip"], b"plain"),
        (["Content-Encoding: gzip"], gzip.compress(b"x" * 1000, mtime=0)[:-9]),
        (["Content-Encoding: deflate"], b"\xff\xff"),
    ],
)
async def test_a_body_that_cannot_be_decoded_is_invalid(headers: list[str], body: bytes) -> None:
    """Stacked, unknown, false and cut codings (threats: response bombs)."""
    error = await fault(saying(http(body, *headers)))
    assert isinstance(error, ResponseInvalid)
    assert error.sent is True


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(b"hello", mtime=0)),
        ("deflate", zlib.compress(b"hello")),
        ("identity", b"hello"),
    ],
)
async def test_a_body_in_a_coding_that_was_asked_for_is_decoded(coding: str, body: bytes) -> None:
    """Both gzip and deflate are what Remit asks for."""
    assert (await exchange(saying(http(body, f"Content-Encoding: {coding}")))).body == b"hello"


async def test_a_gzip_bomb_is_too_large_and_costs_little_memory() -> None:
    """1 GB from 1 MB: the peak stays under 100 MB (threats: response bombs)."""
    bomb = gzip.compress(bytes(10_000_000)) * 100
    tracemalloc.start()
    try:
        error = await fault(saying(http(bomb, "Content-Encoding: gzip")), limits=Limits())
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert isinstance(error, ResponseTooLarge)
    assert error.sent is True
    assert peak_bytes < 20_000_000


@pytest.mark.parametrize(
    "head", [b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 2000000000\r\n\r\n"]
)
async def test_an_endless_body_is_cut_off_early(head: bytes) -> None:
    """Reading stops near the limit, whatever length was announced."""
    said: list[Upstream] = []

    async def endless(visit: Visit) -> None:
        said.append(visit.upstream)
        await visit.request()
        await visit.say(head)
        while True:
            await visit.say(b"x" * 65_536)

    error = await fault(endless)
    assert isinstance(error, ResponseTooLarge)
    assert said[0].bytes_said < 20_000_000


async def test_an_endless_chunked_body_is_cut_off_early() -> None:
    """The same without an announced length, in chunks."""

    async def endless(visit: Visit) -> None:
        await visit.request()
        await visit.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            await visit.say(b"1000\r\n" + b"x" * 4096 + b"\r\n")

    assert isinstance(await fault(endless), ResponseTooLarge)


@pytest.mark.parametrize("place", ["status", "headers", "body"])
async def test_a_slow_drip_meets_the_total_limit(place: str) -> None:
    """Each byte in time, the whole too late: the total counts, not the pause."""
    starts = {
        "status": b"HTTP/1.1",
        "headers": b"HTTP/1.1 200 OK\r\nX: ",
        "body": b"HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n",
    }

    async def drip(visit: Visit) -> None:
        await visit.request()
        await visit.say(starts[place])
        while True:
            await visit.say(b" " if place == "status" else b"x")
            await asyncio.sleep(0.02)

    error = await fault(drip, limits=BRIEF_TOTAL)
    assert error.sent is True
    assert isinstance(
        error, UpstreamTimeout | ResponseInvalid if place == "status" else UpstreamTimeout
    )


@pytest.mark.parametrize(
    "flood",
    [
        b"".join(b"X-%d: y\r\n" % number for number in range(5000)),
        b"X: " + b"y" * 1_000_000 + b"\r\n",
        b"".join(b"X-%d: %s\r\n" % (number, b"y" * 8000) for number in range(20)),
        b"y" * 1_000_000,
    ],
)
async def test_a_flood_of_headers_is_too_large(flood: bytes) -> None:
    """Too many, one too long, too much together."""
    error = await fault(saying(b"HTTP/1.1 200 OK\r\n" + flood + b"\r\n"))
    assert isinstance(error, ResponseTooLarge)
    assert error.sent is True


async def test_endless_interim_answers_meet_the_total_limit() -> None:
    """1xx answers are skipped, but not for ever."""

    async def interim(visit: Visit) -> None:
        await visit.request()
        while True:
            await visit.say(b"HTTP/1.1 103 Early Hints\r\n\r\n")
            await asyncio.sleep(0.005)

    assert isinstance(await fault(interim, limits=BRIEF_TOTAL), UpstreamTimeout)


@pytest.mark.parametrize(
    ("answer", "status", "body"),
    [
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b""),
        (b"HTTP/1.1 204 No Content\r\nContent-Encoding: gzip\r\n\r\n", 204, b""),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", 304, b""),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + http(b"x"), 200, b"x"),
        (b"HTTP/1.0 200 OK\r\n\r\nto the end", 200, b"to the end"),
        (b"HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops", 500, b"oops"),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            200,
            b"abc",
        ),
        (http(b"x" * 100_000), 200, b"x" * 100_000),
    ],
)
async def test_ordinary_answers_are_read_to_their_end(
    answer: bytes, status: int, body: bytes
) -> None:
    """Empty, interim, old, chunked, and exactly at the limit."""
    response = await exchange(saying(answer))
    assert (response.status, response.body) == (status, body)


async def test_header_bytes_that_are_no_text_are_replaced() -> None:
    """Stored and shown text is valid Unicode."""
    response = await exchange(saying(http(b"", "X-Raw: caf\u00e9") + b""))
    assert response.header("X-Raw") == "caf\u00e9"
    raw = b"HTTP/1.1 200 OK\r\nX-Raw: caf\xe9\r\nContent-Length: 0\r\n\r\n"
    assert (await exchange(saying(raw))).header("x-raw") == "caf\ufffd"
