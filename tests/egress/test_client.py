"""The guarded client on real sockets: where it connects, and what it sends there."""

from __future__ import annotations

import asyncio
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from remit.egress.allowances import parse_allowances
from remit.egress.client import GuardedClient
from remit.egress.lookup import NameUnresolved
from remit.errors import EgressRefused, UpstreamUnreachable
from remit.gateway.ports import Egress, Limits, WireRequest
from tests.egress.upstream import Upstream, Visit, always, http

TLS = Path(__file__).parent / "tls"


def get(url: str, *headers: tuple[str, str]) -> WireRequest:
    """A plain GET."""
    return WireRequest(method="GET", url=url, headers=headers)


class Names:
    """A name server that gives its answers in turn, the last one for ever, and counts."""

    def __init__(self, *answers: tuple[str, ...]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> tuple[str, ...]:
        """The next answer."""
        self.asked.append(host)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


async def test_the_request_goes_out_byte_for_byte() -> None:
    """Path and query as written, headers in order, nothing of the library's own."""
    async with (
        Upstream(always(http(b"hi", "X-One: 1"))) as upstream,
        GuardedClient(parse_allowances([upstream.host])) as client,
    ):
        sender: Egress = client
        request = WireRequest(
            method="POST",
            url=f"{upstream.url}a/%2e%2e/b//./c;d?x=%20&y[]=1|2&z",
            headers=(("X-B", "2"), ("x-a", "1"), ("Content-Type", "application/json")),
            body=b'{"a":1}',
        )
        response = await sender.send(request, Limits())
    assert upstream.requests == [
        b"POST /a/%2e%2e/b//./c;d?x=%20&y[]=1|2&z HTTP/1.1\r\n"
        + f"Host: 127.0.0.1:{upstream.port}\r\n".encode()
        + b"X-B: 2\r\nx-a: 1\r\nContent-Type: application/json\r\n"
        b"Accept-Encoding: gzip, deflate\r\nContent-Length: 7\r\n\r\n"
        b'{"a":1}'
    ]
    assert (response.status, response.body, response.header("x-ONE")) == (200, b"hi", "1")
    assert response.header("X-Two") is None
    assert response.elapsed_ms >= 0


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
async def test_each_method_goes_out_without_a_body(method: str) -> None:
    """No body is no body; only methods that may bear one say that it is empty."""
    async with (
        Upstream(always(http())) as upstream,
        GuardedClient(parse_allowances([upstream.host])) as client,
    ):
        await client.send(WireRequest(method=method, url=upstream.url))
    (request,) = upstream.requests
    assert request.startswith(f"{method} / HTTP/1.1\r\n".encode())
    assert (b"Content-Length: 0" in request) is (method != "GET")
    assert b"Content-Type" not in request
    assert b"User-Agent" not in request


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_an_answer_and_not_followed(status: int) -> None:
    """The target is never contacted, the credential goes nowhere else (contract section 11)."""
    async with Upstream(always(http())) as target:
        moved = http(b"", f"Location: {target.url}x", status=f"{status} Moved")
        async with (
            Upstream(always(moved), host="127.0.0.2") as upstream,
            GuardedClient(parse_allowances(["127.0.0.0/8"])) as client,
        ):
            response = await client.send(get(upstream.url, ("Authorization", "Bearer t")))
    assert response.status == status
    assert response.header("Location") == f"{target.url}x"
    assert (len(upstream.requests), target.connections) == (1, 0)


async def test_no_cookie_is_kept() -> None:
    """A pooled connection carries nothing from one user to the next (threats 1.4)."""
    answer = http(b"", "Set-Cookie: sid=1; Path=/")
    async with (
        Upstream(always(answer)) as upstream,
        GuardedClient(parse_allowances(["localhost"]), lookup=Names(("127.0.0.1",))) as client,
    ):
        for _ in range(2):
            await client.send(get(f"http://localhost:{upstream.port}/"))
    assert upstream.connections == 1
    assert not any(b"cookie" in request.lower() for request in upstream.requests)


async def test_proxy_variables_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment cannot carry a request elsewhere, nor add a password (threats 1.4)."""
    async with (
        Upstream(always(http(b"proxy"))) as proxy,
        Upstream(always(http(b"app")), host="127.0.0.2") as upstream,
    ):
        for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.setenv("NO_PROXY", "")
        async with GuardedClient(parse_allowances(["127.0.0.2"])) as client:
            response = await client.send(get(upstream.url))
            with pytest.raises(EgressRefused):
                await client.send(get("http://169.254.169.254/latest/"))
    assert response.body == b"app"
    assert proxy.connections == 0


async def test_a_rebinding_name_is_looked_up_once_and_connects_where_it_was_checked() -> None:
    """The one look-up decides; the next answer of the name server changes nothing."""
    async with (
        Upstream(always(http(b"good")), host="127.0.0.2") as good,
        Upstream(always(http(b"bad")), host="127.0.0.1", port=good.port) as bad,
    ):
        names = Names(("127.0.0.2",), ("127.0.0.1",))
        async with GuardedClient(parse_allowances(["127.0.0.2"]), lookup=names) as client:
            url = f"http://rebind.test:{good.port}/"
            first = await client.send(get(url))
            assert names.asked == ["rebind.test"]
            pooled = await client.send(get(url))
            assert names.asked == ["rebind.test"]
        async with GuardedClient(parse_allowances(["127.0.0.2"]), lookup=names) as client:
            with pytest.raises(EgressRefused) as caught:
                await client.send(get(url))
    assert (first.body, pooled.body) == (b"good", b"good")
    assert (good.connections, bad.connections) == (1, 0)
    assert names.asked == ["rebind.test"] * 2
    assert caught.value.sent is False


@pytest.mark.asyncio(loop_factories=["asyncio"])  # uvloop asks the system in C
async def test_the_system_is_asked_once_for_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same through the machine's resolver, whose answers change between two questions."""
    async with (
        Upstream(always(http(b"good")), host="127.0.0.2") as good,
        Upstream(always(http(b"bad")), host="127.0.0.1", port=good.port) as bad,
    ):
        asked: list[str] = []
        real = socket.getaddrinfo

        def changing(host: str, *args: object, **kwargs: object) -> object:
            if host != "rebind.test":
                return real(host, *args, **kwargs)  # type: ignore[arg-type]
            asked.append(host)
            address = "127.0.0.2" if len(asked) == 1 else "127.0.0.1"
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, good.port))]

        monkeypatch.setattr(socket, "getaddrinfo", changing)
        async with GuardedClient(parse_allowances(["127.0.0.2"])) as client:
            response = await client.send(get(f"http://rebind.test:{good.port}/"))
    assert (response.body, asked) == (b"good", ["rebind.test"])
    assert (good.connections, bad.connections) == (1, 0)


@pytest.mark.parametrize("answer", [("127.0.0.2", "127.0.0.1"), ("127.0.0.1", "127.0.0.2")])
async def test_one_bad_address_refuses_the_whole_answer(answer: tuple[str, ...]) -> None:
    """Not even the good address is contacted, in either order (contract section 11)."""
    async with (
        Upstream(always(http()), host="127.0.0.2") as good,
        Upstream(always(http()), host="127.0.0.1", port=good.port) as bad,
        GuardedClient(parse_allowances(["127.0.0.2"]), lookup=Names(answer)) as client,
    ):
        with pytest.raises(EgressRefused, match=r"127\.0\.0\.1"):
            await client.send(get(f"http://mixed.test:{good.port}/"))
    assert (good.connections, bad.connections) == (0, 0)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/",
        "https://127.0.0.1:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/",
        "https://localhost:{port}/",
        "http://2130706433:{port}/",
        "http://127.1:{port}/",
        "http://maple.test@127.0.0.1:{port}/",
        "http://127.0.0.1.:{port}/",
        "http://0:{port}/",
    ],
)
async def test_a_refused_destination_sees_no_connection(url: str) -> None:
    """A connect without data is a port scan; there is none (threats 4.1)."""
    async with (
        Upstream(always(http())) as upstream,
        GuardedClient(parse_allowances(["127.0.0.9"])) as client,
    ):
        with pytest.raises(EgressRefused) as caught:
            await client.send(get(url.format(port=upstream.port)))
    assert caught.value.sent is False
    assert upstream.connections == 0


async def test_an_address_that_is_down_gives_way_to_the_next() -> None:
    """Every address of the answer was checked, so each may be tried."""
    async with (
        Upstream(always(http())) as upstream,
        GuardedClient(
            parse_allowances(["127.0.0.0/8"]), lookup=Names(("127.0.0.2", "127.0.0.1"))
        ) as client,
    ):
        response = await client.send(get(f"http://two.test:{upstream.port}/"))
    assert (response.status, upstream.connections) == (200, 1)


async def test_requests_side_by_side_keep_their_own_verdicts() -> None:
    """What one request may reach is never lent to another that runs at the same time."""

    async def names(host: str, port: int) -> tuple[str, ...]:
        await asyncio.sleep(0)
        return ("127.0.0.2",) if host == "good.test" else ("127.0.0.1",)

    async with (
        Upstream(always(http()), host="127.0.0.2") as good,
        Upstream(always(http()), host="127.0.0.1", port=good.port) as bad,
        GuardedClient(parse_allowances(["127.0.0.2"]), lookup=names) as client,
    ):
        hosts = ["good.test", "bad.test"] * 10
        results = await asyncio.gather(
            *(client.send(get(f"http://{host}:{good.port}/")) for host in hosts),
            return_exceptions=True,
        )
    refused = [isinstance(result, EgressRefused) for result in results]
    assert refused == [host == "bad.test" for host in hosts]
    assert bad.connections == 0


async def test_a_name_without_address_is_unreachable_and_not_sent() -> None:
    """No address is no refusal: the name may come back."""

    async def nothing(host: str, port: int) -> tuple[str, ...]:
        msg = "the name server says: no such name"
        raise NameUnresolved(msg)

    async with GuardedClient(lookup=nothing) as client:
        with pytest.raises(UpstreamUnreachable, match="no such name") as caught:
            await client.send(get("https://maple.test/"))
    assert caught.value.sent is False


@pytest.mark.asyncio(loop_factories=["asyncio"])  # uvloop asks the system in C
async def test_the_systems_answer_to_an_unknown_name_is_put_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A failed look-up names the host and says that nothing was sent."""

    def unknown(*_: object, **__: object) -> object:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    async with GuardedClient() as client:
        with pytest.raises(UpstreamUnreachable, match=r"maple\.test.*not known.*Nothing was sent"):
            await client.send(get("https://maple.test/"))


def server_tls() -> ssl.SSLContext:
    """The side of ``files.maple.test``, with a certificate that nobody signed."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(TLS / "certificate.pem", TLS / "key.pem")
    return context


def trusting() -> ssl.SSLContext:
    """A client that knows this one certificate."""
    return ssl.create_default_context(cafile=TLS / "certificate.pem")


async def test_https_verifies_and_keeps_the_name() -> None:
    """The certificate is checked against the name although the connection goes to an address."""
    async with (
        Upstream(always(http(b"safe")), tls=server_tls()) as upstream,
        GuardedClient(
            parse_allowances(["files.maple.test"]),
            lookup=Names(("127.0.0.1",)),
            ssl_context=trusting(),
        ) as client,
    ):
        url = f"https://files.maple.test:{upstream.port}/"
        responses = [await client.send(get(url)) for _ in range(2)]
    assert [response.body for response in responses] == [b"safe", b"safe"]
    assert f"Host: files.maple.test:{upstream.port}\r\n".encode() in upstream.requests[0]
    assert upstream.connections == 1


@pytest.mark.parametrize(
    ("host", "context"), [("files.maple.test", None), ("other.maple.test", trusting)]
)
async def test_a_certificate_that_does_not_fit_gets_no_request(
    host: str, context: Callable[[], ssl.SSLContext] | None
) -> None:
    """Unknown signer or wrong name: nothing is sent."""
    async with (
        Upstream(always(http()), tls=server_tls()) as upstream,
        GuardedClient(
            parse_allowances([host]),
            lookup=Names(("127.0.0.1",)),
            ssl_context=context and context(),
        ) as client,
    ):
        with pytest.raises(UpstreamUnreachable, match="certificate") as caught:
            await client.send(get(f"https://{host}:{upstream.port}/"))
    assert caught.value.sent is False
    assert upstream.requests == []


async def test_a_port_that_speaks_no_tls_gets_no_request() -> None:
    """An https URL is never downgraded."""

    async def plain(visit: Visit) -> None:
        await visit.reader.read(1)
        await visit.say(http(b"", status="400 Bad Request"))

    async with (
        Upstream(plain) as upstream,
        GuardedClient(parse_allowances([upstream.host])) as client,
    ):
        with pytest.raises(UpstreamUnreachable, match="TLS") as caught:
            await client.send(get(f"https://127.0.0.1:{upstream.port}/"))
    assert (caught.value.sent, upstream.connections) == (False, 1)


def test_the_http_library_is_not_loaded_until_something_is_sent() -> None:
    """Commands that send nothing do not pay for its import (architecture section 2)."""
    program = (
        "import sys, remit.egress.client, remit.egress.guard; "
        "sys.exit('httptools' in sys.modules or 'idna' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
