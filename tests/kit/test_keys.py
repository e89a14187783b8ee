"""Keys are fetched from a real server, kept, and asked for again when they change."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from remit.kit import Identity, Keys, KeysUnavailable, Refusal
from remit.kit import identity as identity_of
from tests.kit.serving import WAIT_S, wsgi
from tests.kit.tokens import AUDIENCE, CLAIMS, HEADER, NEXT, NOW, SERVER, es256, made, public_jwk

K1, K2 = public_jwk(SERVER, "k1"), public_jwk(NEXT, "k2")


@dataclass(slots=True, kw_only=True)
class Published:
    """A server of keys: what it answers, how often it was asked, and a clock of its own."""

    url: str = ""
    body: bytes = field(default_factory=lambda: json.dumps({"keys": [K1]}).encode())
    status: str = "200 OK"
    asked: list[str] = field(default_factory=list[str])
    now_s: float = 1_000.0
    open: threading.Event = field(default_factory=threading.Event)
    arrived: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        """It answers at once."""
        self.open.set()

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        """Answer."""
        self.asked.append(environ["PATH_INFO"])
        if not self.open.is_set():
            self.arrived.set()
            self.open.wait(WAIT_S)
        start(self.status, [("Content-Type", "application/json"), ("Location", "/elsewhere")])
        return [self.body]

    def keys(self) -> Keys:
        """A fresh set that reads from here."""
        return Keys(self.url, clock=lambda: self.now_s)

    def publish(self, *keys: dict[str, object]) -> None:
        """Other keys from now on."""
        self.body = json.dumps({"keys": keys}).encode()

    def check(self, keys: Keys, kid: str = "k1") -> Identity | Refusal:
        """A token of the server, or of its next key."""
        key = {"k1": SERVER, "k2": NEXT}.get(kid, SERVER)
        claims = {**CLAIMS, "iss": self.url}
        token = made(header={**HEADER, "kid": kid}, claims=claims, sign=es256(key))
        headers = {"Authorization": f"Bearer {token}"}
        return identity_of(headers, keys=keys, issuer=self.url, audience=AUDIENCE, now_s=NOW)


@pytest.fixture
def published() -> Iterator[Published]:
    """A server on loopback."""
    server = Published()
    with wsgi(server) as url:
        server.url = url
        yield server


def test_keys_are_fetched_once_and_kept_for_five_minutes(published: Published) -> None:
    """From the well-known path, however many calls there are."""
    keys = published.keys()

    assert published.asked == []
    assert all(isinstance(published.check(keys), Identity) for _ in range(3))
    assert published.asked == ["/.well-known/jwks.json"]
    published.now_s += 299
    published.check(keys)
    assert len(published.asked) == 1
    published.now_s += 2
    published.check(keys)
    assert len(published.asked) == 2


def test_a_new_key_is_asked_for_at_once(published: Published) -> None:
    """A rotation is not felt; also not two within 30 s, as each ask brought a key."""
    keys = published.keys()
    published.check(keys)

    published.publish(K1, K2)
    assert isinstance(published.check(keys, "k2"), Identity)
    published.publish(K2, public_jwk(SERVER, "k3"))
    assert isinstance(published.check(keys, "k3"), Identity)
    assert len(published.asked) == 3


def test_ids_that_nobody_knows_are_not_felt_by_the_server(published: Published) -> None:
    """Anyone may send them: one ask in 30 s."""
    keys = published.keys()
    published.check(keys)

    for _ in range(5):
        found = published.check(keys, "nobody's")
        assert isinstance(found, Refusal)
        assert found.reason == "unknown_key"
    assert len(published.asked) == 2
    published.now_s += 29
    published.check(keys, "nobody's")
    assert len(published.asked) == 2
    published.now_s += 2
    published.check(keys, "nobody's")
    assert len(published.asked) == 3


def test_many_threads_ask_once(published: Published) -> None:
    """A burst of calls to a fresh process."""
    keys = published.keys()
    found: list[Identity | Refusal] = []
    threads = [
        threading.Thread(target=lambda: found.append(published.check(keys))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 8
    assert all(isinstance(one, Identity) for one in found)
    assert len(published.asked) == 1


@pytest.mark.parametrize(
    ("status", "body"),
    [
        pytest.param("500 Oh", b"{}", id="an error"),
        pytest.param("302 Found", b'{"keys":[]}', id="a redirect"),
        pytest.param("200 OK", b"<html>", id="no JSON"),
        pytest.param("200 OK", b"[]", id="no object"),
        pytest.param("200 OK", b'{"keys":[],"keys":[]}', id="a name twice"),
        pytest.param("200 OK", b'{"x":"' + b"x" * 300_000 + b'"}', id="too much"),
    ],
)
def test_a_server_that_gives_no_keys_is_no_refusal(
    published: Published, status: str, body: bytes
) -> None:
    """It is not the caller's fault; asked again after a second, and no redirect is followed."""
    published.status, published.body = status, body
    keys = published.keys()

    with pytest.raises(KeysUnavailable, match="could not be read"):
        published.check(keys)
    with pytest.raises(KeysUnavailable, match="a moment ago"):
        published.check(keys)
    assert published.asked == ["/.well-known/jwks.json"]
    published.status, published.now_s = "200 OK", published.now_s + 2
    published.publish(K1)
    assert isinstance(published.check(keys), Identity)


def test_kept_keys_stand_for_an_hour_while_the_server_is_away(published: Published) -> None:
    """A restart of the server does not stop its calls."""
    keys = published.keys()
    published.check(keys)
    published.status = "503 Away"

    published.now_s += 3_000
    assert isinstance(published.check(keys), Identity)
    published.now_s += 601
    with pytest.raises(KeysUnavailable):
        published.check(keys)


def test_nobody_waits_for_a_server_that_hangs_who_has_keys(published: Published) -> None:
    """One caller asks again after five minutes; the others go on with what is kept."""
    keys = published.keys()
    published.check(keys)
    published.now_s += 301
    published.open.clear()
    found: list[Identity | Refusal] = []
    asking = threading.Thread(target=lambda: found.append(published.check(keys)))

    asking.start()
    assert published.arrived.wait(WAIT_S)
    try:
        meanwhile = published.check(keys)
    finally:
        published.open.set()
        asking.join()

    assert isinstance(meanwhile, Identity)
    assert isinstance(found[0], Identity)
    assert len(published.asked) == 2


@pytest.mark.parametrize("issuer", ["", "agent.acme.example", "file:///etc", "ftp://a", "https://"])
def test_an_issuer_that_is_no_address_is_an_error(issuer: str) -> None:
    """Nothing but http and https is ever opened."""
    with pytest.raises(ValueError, match="is no http"):
        Keys(issuer)


def test_a_proxy_does_not_stand_before_loopback(
    published: Published, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy of the environment would look for it on its own machine."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")

    assert isinstance(published.check(published.keys()), Identity)


def test_issuer_whose_head_drips_in_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is for the whole answer; a piece a second would hold every handler else."""
    monkeypatch.setattr("remit.kit.keys.TIMEOUT_S", 0.5)
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _ = server.accept()
            with connection, contextlib.suppress(OSError):
                connection.sendall(b"HTTP/1.1 200 OK\r\n")
                while not over.wait(0.05):
                    connection.sendall(b"X-More: y\r\n")

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            with pytest.raises(KeysUnavailable, match=r"took more than 0\.5 s"):
                Keys(f"http://127.0.0.1:{server.getsockname()[1]}").jwks()
        finally:
            over.set()
            thread.join()
