"""Which connection carries a request, and what becomes of it: kept, left, closed."""

from __future__ import annotations

import asyncio
import gc
import socket
import ssl
import tracemalloc

import pytest

from remit.egress import pool as pool_module
from remit.egress.allowances import parse_allowances
from remit.egress.client import GuardedClient
from remit.egress.connection import Connection
from remit.egress.transport import Answer
from remit.errors import UpstreamTimeout, UpstreamUnreachable
from remit.gateway.ports import Limits, WireRequest
from remit.values.urls import parse_url
from tests.egress.test_client import TLS, Names, server_tls, trusting
from tests.egress.upstream import Script, Upstream, Visit, always, http

LIMITS = Limits(connect_timeout_ms=2_000, total_timeout_ms=5_000, max_body_bytes=100_000)
BRIEF = Limits(connect_timeout_ms=200, total_timeout_ms=400)
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"


def guarded() -> GuardedClient:
    """A client that may reach loopback."""
    return GuardedClient(parse_allowances(["127.0.0.0/8"]))


def post(url: str, body: bytes = b"{}") -> WireRequest:
    """A small request."""
    return WireRequest(method="POST", url=url, body=body)


async def connections(script: Script, count: int = 2) -> int:
    """How many connections so many good exchanges take, one after the other."""
    async with Upstream(script) as upstream, guarded() as client:
        for _ in range(count):
            assert (await client.send(post(upstream.url), LIMITS)).status in {200, 204}
        assert len(upstream.requests) == count
        return upstream.connections


@pytest.mark.parametrize(
    "answer",
    [
        http(),
        CHUNKED + b"0\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + http(),
        b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n",
    ],
)
async def test_a_clean_answer_leaves_its_connection_for_the_next_request(answer: bytes) -> None:
    """Whole to the last byte, and nothing against it."""
    assert await connections(always(answer)) == 1


@pytest.mark.parametrize(
    "answer",
    [
        http(b"ok", "Connection: close"),
        b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        http() + b"\r\n",
        http() + http(b"evil"),
        CHUNKED + b"0\r\n\r\n\r\n",
        CHUNKED + b"0\r\nX-Late: 1\r\n\r\n",
        CHUNKED + b"0\r\nX-Late: 0\r\n\r\n",
        CHUNKED + b"0\r\n\r\n" + CHUNKED + b"0\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\nx",
    ],
)
async def test_an_answer_with_a_doubt_takes_its_connection_with_it(answer: bytes) -> None:
    """Not a byte too many, not a trailer, and only where the server keeps it, too."""
    assert await connections(always(answer)) == 2


async def test_a_connection_serves_one_origin() -> None:
    """Two names at one address share nothing."""
    async with (
        Upstream(always(http())) as upstream,
        GuardedClient(
            parse_allowances(["one.test", "two.test"]), lookup=Names(("127.0.0.1",))
        ) as client,
    ):
        for host in ("one.test", "two.test", "one.test", "two.test"):
            await client.send(post(f"http://{host}:{upstream.port}/"), LIMITS)
    assert (len(upstream.requests), upstream.connections) == (4, 2)


async def test_a_server_that_speaks_first_gets_no_request() -> None:
    """A fresh connection that brings bytes before the request is no HTTP (RFC 9112)."""

    async def banner(visit: Visit) -> None:
        await visit.say(b"220 mail ready\r\n")
        await visit.until_closed()

    loop = asyncio.get_running_loop()
    lost = asyncio.Event()
    async with Upstream(banner) as upstream:
        origin = parse_url(upstream.url).origin
        _, connection = await loop.create_connection(
            lambda: Connection(loop, origin, lambda _: lost.set()), "127.0.0.1", upstream.port
        )
        assert connection.fault_at_start() is None
        async with asyncio.timeout(2):
            await lost.wait()
    fault = connection.fault_at_start()
    assert isinstance(fault, UpstreamUnreachable)
    assert "spoke before it was asked. Nothing was sent." in str(fault)
    assert fault.sent is False


async def test_an_idle_connection_grows_old(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not used again after its time, and is closed without another request."""
    monkeypatch.setattr(pool_module, "IDLE_S", 0.05)
    async with Upstream(always(http())) as upstream, guarded() as client:
        await client.send(post(upstream.url), LIMITS)
        async with asyncio.timeout(3):
            await upstream.visits_ended.acquire()
        await client.send(post(upstream.url), LIMITS)
    assert upstream.connections == 2


async def test_a_connection_that_is_too_old_is_not_used_although_it_is_still_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its age counts when it would be used, not only when the timer looks."""
    async with Upstream(always(http())) as upstream, guarded() as client:
        await client.send(post(upstream.url), LIMITS)
        monkeypatch.setattr(pool_module, "IDLE_S", -1.0)
        await client.send(post(upstream.url), LIMITS)
    assert upstream.connections == 2


async def test_room_that_a_request_gave_up_at_the_last_moment_is_not_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was told of the room and cancelled in one step; the next one in the line gets it."""
    monkeypatch.setattr(pool_module, "MAX_CONNECTIONS", 1)
    pool = pool_module.Pool(asyncio.get_running_loop())
    site = pool.site(parse_url("http://127.0.0.1/").origin)
    assert await pool.reserve(site) is None
    first, second = (asyncio.create_task(pool.reserve(site)) for _ in range(2))
    await asyncio.sleep(0)
    pool.give_up(site)
    first.cancel()
    async with asyncio.timeout(2):
        assert await second is None
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_a_request_waits_for_room_and_gets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Never more connections than the bound; those that wait are served in the end."""
    monkeypatch.setattr(pool_module, "MAX_CONNECTIONS", 2)
    open_now = most = 0

    async def count(visit: Visit) -> None:
        nonlocal open_now, most
        open_now += 1
        most = max(most, open_now)
        try:
            while True:
                await visit.request()
                await asyncio.sleep(0.002)
                await visit.say(http())
        finally:
            open_now -= 1

    async with Upstream(count) as upstream, guarded() as client:
        urls = [f"http://127.0.0.1:{upstream.port}/", f"http://127.0.0.1:{upstream.port}/b"] * 6
        answers = await asyncio.gather(*(client.send(post(url), LIMITS) for url in urls))
    assert [answer.status for answer in answers] == [200] * 12
    assert most == 2


async def test_room_is_made_by_closing_what_is_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another origin's idle connection gives way."""
    monkeypatch.setattr(pool_module, "MAX_CONNECTIONS", 1)
    async with (
        Upstream(always(http())) as one,
        Upstream(always(http()), host="127.0.0.2") as two,
        guarded() as client,
    ):
        for upstream in (one, two, one):
            await client.send(post(upstream.url), LIMITS)
    assert (one.connections, two.connections) == (2, 1)


async def test_waiting_for_room_counts_into_the_connect_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing was sent, and the room of one that gave up goes to the next."""
    monkeypatch.setattr(pool_module, "MAX_CONNECTIONS", 1)
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def slow(visit: Visit) -> None:
        while True:
            await visit.request()
            asked.set()
            await go_on.wait()
            await visit.say(http())

    async with Upstream(slow) as upstream, guarded() as client:
        first = asyncio.create_task(client.send(post(upstream.url), LIMITS))
        await asked.wait()
        with pytest.raises(UpstreamTimeout, match=r"200 ms\. Nothing was sent") as caught:
            await client.send(post(upstream.url), BRIEF)
        patient = asyncio.create_task(client.send(post(upstream.url), LIMITS))
        await asyncio.sleep(0)
        go_on.set()
        assert [(await task).status for task in (first, patient)] == [200, 200]
    assert caught.value.sent is False


async def test_closing_the_client_ends_what_is_in_flight() -> None:
    """Also what is in use, and a caller is told that it was sent."""
    asked = asyncio.Event()

    async def hang(visit: Visit) -> None:
        await visit.request()
        asked.set()
        await visit.until_closed()

    async with Upstream(hang) as upstream:
        client = guarded()
        task = asyncio.create_task(client.send(post(upstream.url), LIMITS))
        await asked.wait()
        await client.close()
        with pytest.raises(UpstreamUnreachable) as caught:
            await task
        async with asyncio.timeout(2):
            await upstream.visits_ended.acquire()
    assert caught.value.sent is True


async def test_closing_the_client_ends_what_is_about_to_connect() -> None:
    """A request that still waits for its name connects nowhere any more."""
    asked, answer = asyncio.Event(), asyncio.Event()

    async def slow(host: str, port: int) -> tuple[str, ...]:
        asked.set()
        await answer.wait()
        return ("127.0.0.1",)

    async with Upstream(always(http())) as upstream:
        client = GuardedClient(parse_allowances(["one.test"]), lookup=slow)
        task = asyncio.create_task(client.send(post(f"http://one.test:{upstream.port}/"), LIMITS))
        await asked.wait()
        await client.close()
        answer.set()
        with pytest.raises(UpstreamUnreachable, match="Nothing was sent") as caught:
            await task
    assert (caught.value.sent, upstream.connections) == (False, 0)


async def test_a_closed_client_that_is_used_again_opens_new_connections() -> None:
    """Closing is not for ever."""
    async with Upstream(always(http())) as upstream:
        client = guarded()
        for _ in range(2):
            assert (await client.send(post(upstream.url), LIMITS)).status == 200
            await client.close()
    assert upstream.connections == 2


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
async def test_a_large_body_arrives_whole(tls: bool) -> None:
    """More than the network takes at once, as fast as the server reads it."""
    body = bytes(range(256)) * 40_000
    async with (
        Upstream(always(http()), tls=server_tls() if tls else None) as upstream,
        GuardedClient(
            parse_allowances(["files.maple.test"]),
            lookup=Names(("127.0.0.1",)),
            ssl_context=trusting(),
        ) as client,
    ):
        url = f"{'https' if tls else 'http'}://files.maple.test:{upstream.port}/"
        for _ in range(2):
            assert (await client.send(post(url, body), LIMITS)).status == 200
    assert [request.endswith(b"\r\n\r\n" + body) for request in upstream.requests] == [True] * 2
    assert upstream.connections == 1


async def test_an_answer_before_the_body_was_taken_is_an_answer() -> None:
    """A server may refuse a large body unread; the rest is not sent, the connection not kept."""

    async def early(visit: Visit) -> None:
        await visit.reader.readuntil(b"\r\n\r\n")
        await visit.say(http(b"no", status="413 Too Large"))
        await asyncio.sleep(0.3)  # it reads no more, and the client must not wait for that

    async with Upstream(early) as upstream, guarded() as client:
        response = await client.send(post(upstream.url, bytes(50_000_000)), LIMITS)
        assert (response.status, response.body) == (413, b"no")
        async with asyncio.timeout(2):
            await upstream.visits_ended.acquire()


async def test_an_answer_that_overtakes_its_request_ends_the_connection() -> None:
    """Where the loop still holds a part of the body, no other request may follow it."""
    loop = asyncio.get_running_loop()
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket() as ours:
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)
        ours.connect(listener.getsockname())
        theirs, _ = listener.accept()
        with theirs:
            ours.setblocking(False)
            origin = parse_url(f"http://127.0.0.1:{listener.getsockname()[1]}/").origin
            _, connection = await loop.create_connection(
                lambda: Connection(loop, origin, lambda _: None), sock=ours
            )
            waiter = connection.begin(LIMITS)
            connection.write(bytes(20_000_000))
            theirs.sendall(http(b"early"))
            outcome = await waiter
            assert isinstance(outcome, Answer)
            assert (outcome.body, connection.reusable) == (b"early", False)
            await asyncio.sleep(0)


async def test_a_large_body_that_nobody_reads_meets_the_total_limit() -> None:
    """Writing is under the deadline, too, and waits instead of piling up copies."""

    async def deaf(visit: Visit) -> None:
        await asyncio.sleep(1)

    body = bytes(50_000_000)
    async with Upstream(deaf) as upstream, guarded() as client:
        tracemalloc.start()
        try:
            with pytest.raises(UpstreamTimeout) as caught:
                await client.send(post(upstream.url, body), BRIEF)
            _, peak_bytes = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert caught.value.sent is True
    assert peak_bytes < 20_000_000


async def test_a_handshake_that_was_given_up_leaves_no_connection_open() -> None:
    """The socket is closed with the request."""

    async def silent(visit: Visit) -> None:
        await visit.until_closed()

    async with Upstream(silent) as upstream, guarded() as client:
        with pytest.raises(UpstreamTimeout):
            await client.send(post(f"https://127.0.0.1:{upstream.port}/"), BRIEF)
        async with asyncio.timeout(2):
            await upstream.visits_ended.acquire()


async def test_an_address_that_fails_at_tls_gives_way_to_the_next() -> None:
    """Nothing was sent to the first one."""

    async def rude(visit: Visit) -> None:
        await visit.reader.read(1)
        visit.reset()

    async with (
        Upstream(always(http(b"safe")), tls=server_tls()) as good,
        Upstream(rude, host="127.0.0.2", port=good.port) as bad,
        GuardedClient(
            parse_allowances(["files.maple.test"]),
            lookup=Names(("127.0.0.2", "127.0.0.1")),
            ssl_context=trusting(),
        ) as client,
    ):
        response = await client.send(post(f"https://files.maple.test:{good.port}/"), LIMITS)
    assert (response.body, bad.connections, bad.requests) == (b"safe", 1, [])


async def test_the_default_context_verifies_and_offers_one_protocol(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The system's roots, the origin's host as the name (SNI), http/1.1 alone (ALPN)."""
    monkeypatch.setenv("SSL_CERT_FILE", str(TLS / "certificate.pem"))
    told: list[str | None] = []
    chosen: list[str | None] = []
    tls = server_tls()
    tls.set_alpn_protocols(["h2", "http/1.1"])

    def note(_: object, name: str | None, context: ssl.SSLContext) -> None:
        told.append(name)

    tls.sni_callback = note

    async def script(visit: Visit) -> None:
        await visit.request()
        chosen.append(visit.writer.get_extra_info("ssl_object").selected_alpn_protocol())
        await visit.say(http())

    async with (
        Upstream(script, tls=tls) as upstream,
        GuardedClient(
            parse_allowances(["files.maple.test"]), lookup=Names(("127.0.0.1",))
        ) as client,
    ):
        await client.send(post(f"https://files.maple.test:{upstream.port}/"), LIMITS)
    assert (told, chosen) == (["files.maple.test"], ["http/1.1"])


async def test_nothing_is_left_behind_by_calls_that_end_in_every_way() -> None:
    """No socket stays open once the client is closed (an open one warns, and a warning fails)."""
    before = set(open_sockets())

    async def script(visit: Visit) -> None:
        await visit.request()
        await visit.say(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab")
        await visit.until_closed()

    async with Upstream(script) as upstream:
        async with guarded() as client:
            results = await asyncio.gather(
                *(client.send(post(upstream.url), BRIEF) for _ in range(5)), return_exceptions=True
            )
        assert all(isinstance(result, UpstreamTimeout) for result in results)
        ours = [sock for sock in open_sockets() if sock not in before]
        assert not [sock for sock in ours if is_client_of(sock, upstream.port)]


def open_sockets() -> list[socket.socket]:
    """All socket objects that live."""
    gc.collect()
    # Not by isinstance: some libraries' objects do things when they are asked for their class.
    return [item for item in gc.get_objects() if issubclass(type(item), socket.socket)]


def is_client_of(sock: socket.socket, port: int) -> bool:
    """Whether it leads to this port."""
    try:
        return sock.getpeername()[1] == port
    except OSError:
        return False
