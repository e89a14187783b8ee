"""`remit serve` as a process: it says when it listens, drains, is killed, and goes on."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from remit.gateway.keeping import VaultFault
from remit.main.settings import store_file
from tests.catalog.documents import definition, endpoint_tool, parameters
from tests.main.conftest import Remit
from tests.main.processes import READY, WAIT_S, serving
from tests.main.scripted import ScriptedApp

ALLOW = {"REMIT_EGRESS_ALLOW": "127.0.0.1"}
# Longer than any test takes: what ends earlier does so for another reason.
NEVER_MS = 60_000
OPEN = {None, "sending", "polling"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer of the API."""

    status: int
    json: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """The API of a server, with an operator's key."""

    url: str
    key: str

    def ask(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send a request."""
        parts = urlsplit(self.url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=WAIT_S)
        sent = {"Authorization": f"Bearer {self.key}", **(headers or {})}
        if body is not None:
            sent["Content-Type"] = "application/json"
        try:
            raw = None if body is None else json.dumps(body).encode()
            connection.request(method, path, raw, sent)
            response = connection.getresponse()
            return Answer(status=response.status, json=json.loads(response.read() or b"null"))
        finally:
            connection.close()

    def done(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
        """Send a request that must go well."""
        answer = self.ask(method, path, body)
        assert answer.status in {200, 201}, answer
        return answer.json

    def approve(self, app_url: str, **changes: object) -> None:
        """An app of the scripted kind, in force for everybody."""
        self.done("POST", "/v1/apps", {**shop(app_url), **changes})
        self.done("POST", "/v1/apps/acme/versions/1/approve", {"consent": "workspace"})

    def call(self, tool: str, user: str = "ana") -> Answer:
        """Call a tool of it."""
        return self.ask("POST", f"/v1/tools/acme/{tool}/call", {"user": user, "args": {}})

    def ended(self) -> dict[str, str]:
        """How each call ended, by tool, once all have."""
        until = time.monotonic() + WAIT_S
        while time.monotonic() < until:
            calls = self.done("GET", "/v1/calls")["items"]
            if calls and all(one.get("outcome") not in OPEN for one in calls):
                return {one["tool"]: one["outcome"] for one in calls}
            threading.Event().wait(0.02)
        pytest.fail("a call did not end")


def shop(url: str) -> dict[str, Any]:
    """An app with a tool that changes something and one that does not."""
    tools = [
        endpoint_tool(
            "pay",
            category="action",
            dangerLevel="safe",
            parameters=parameters(),
            endpoint={"method": "POST", "path": "/pay"},
        ),
        endpoint_tool("look", parameters=parameters(), endpoint={"method": "GET", "path": "/l"}),
    ]
    document: dict[str, Any] = definition(*tools, baseUrl=url, auth={"type": "none"})
    return {**document, "ceiling": {"category": "action", "dangerLevel": "safe"}}


@pytest.fixture
def key(kept: Remit) -> str:
    """An operator's key of the scratch store."""
    return kept("keys", "create", "--role", "operator").out.strip()


def test_server_says_one_line_when_it_answers_and_goes_on_until_it_is_stopped(
    key: str, tmp_path: Path, remit: Remit
) -> None:
    """The life of a server beside the commands that open its store (sections 12 and 13)."""
    with serving(tmp_path, **ALLOW) as server:
        api = Api(url=server.url, key=key)
        assert api.done("GET", "/readyz")
        keys = api.done("GET", "/v1/keys")["items"]
        assert [one["role"] for one in keys] == ["operator"]
        assert (tmp_path / "remit.db.key").stat().st_mode & 0o777 == 0o600
        assert server.err.startswith("Made the key file remit.db.key")

        # On SQLite there is one: two would take each other's calls for abandoned.
        second = remit("serve")
        assert (second.code, second.out) == (2, "")
        assert "served by another process already" in second.err

        # A key revoked beside the server is refused within two seconds (section 10).
        assert remit("keys", "revoke", keys[0]["id"]).code == 0
        revoked = time.monotonic()
        while api.ask("GET", "/v1/keys").status != 401:
            assert time.monotonic() - revoked < 2

        assert server.end() == 0
        assert server.process.stdout is not None
        assert server.process.stdout.read() == ""
    assert key not in server.err
    assert "Traceback" not in server.err
    assert server.err.count("\n") == 1


def test_port_that_is_taken_is_one_clear_message(
    remit: Remit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is made before it is known that the server can listen (bad input)."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("REMIT_SERVER_PORT", str(taken.getsockname()[1]))
        ran = remit("serve")

    assert (ran.code, ran.out) == (2, "")
    assert "Is a server running there already?" in ran.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ({"REMIT_STORE_URL": "postgresql://u:geheim@127.0.0.1:1/x"}, "The store cannot be used"),
        ({"REMIT_STORE_URL": "sqlite:///none/x.db"}, "Make it first."),
        ({"REMIT_VAULT_KEY": "geheim"}, "[vault] key"),
        ({"REMIT_EGRESS_ALLOW": "*.acme.example"}, "no wildcards"),
        ({"REMIT_SERVER_PORT": "-1"}, "REMIT_SERVER_PORT must be a whole number"),
    ],
)
def test_server_that_cannot_start_says_why_and_listens_nowhere(
    env: dict[str, str], said: str, remit: Remit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 2, one message with the mend, no secret, no line that it listens (bad input)."""
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    ran = remit("serve")

    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert "geheim" not in ran.err
    assert "Traceback" not in ran.err


def test_stop_lets_what_was_sent_come_home(key: str, tmp_path: Path) -> None:
    """SIGTERM while an app works on a write: its answer is read and told, exit 0 (section 13)."""
    with (
        ScriptedApp([{"status": 200, "body": {"paid": True}, "delayMs": 700}]) as app,
        ThreadPoolExecutor(1) as pool,
        serving(tmp_path, **ALLOW) as server,
    ):
        api = Api(url=server.url, key=key)
        api.approve(app.url)
        calling = pool.submit(api.call, "pay")
        assert app.asked.wait(WAIT_S)
        assert server.end() == 0
        answer = calling.result(WAIT_S)

    assert answer.json["outcome"] == "ok"
    assert app.paths == ["POST /pay"]


@pytest.mark.parametrize(("drain_s", "signals"), [("0", 1), ("600", 2)])
def test_stop_does_not_wait_longer_than_it_is_told(
    drain_s: str, signals: int, tmp_path: Path, key: str
) -> None:
    """`drain_s` or a second signal ends a stop; exit 1: something was cut off (section 13)."""
    with (
        ScriptedApp([{"status": 200, "body": {}, "delayMs": NEVER_MS}]) as app,
        ThreadPoolExecutor(1) as pool,
        serving(tmp_path, REMIT_SERVER_DRAIN_S=drain_s, **ALLOW) as server,
    ):
        api = Api(url=server.url, key=key)
        api.approve(app.url)
        calling = pool.submit(api.call, "pay")
        assert app.asked.wait(WAIT_S)
        for _ in range(signals - 1):
            server.process.send_signal(signal.SIGTERM)
            server.said_within("Stopping: calls under way: 1.")
        assert server.end() == 1
        assert calling.exception(WAIT_S) is not None or calling.result().status >= 200
        app.over.set()

    assert "it is not known whether it happened" in server.err
    assert "Traceback" not in server.err


def test_write_that_was_out_at_a_kill_is_not_sent_again_and_a_read_is(
    key: str, tmp_path: Path
) -> None:
    """A kill -9 between the bytes and the answers, and what the next start does (section 5)."""
    slow = {"status": 200, "body": {}, "delayMs": NEVER_MS}
    with (
        ScriptedApp([slow, slow, {"status": 200, "body": {"seen": True}}]) as app,
        ThreadPoolExecutor(2) as pool,
    ):
        with serving(tmp_path, **ALLOW) as first:
            api = Api(url=first.url, key=key)
            api.approve(app.url)
            calls = [pool.submit(api.call, tool) for tool in ("pay", "look")]
            until = time.monotonic() + WAIT_S
            while len(app.paths) < 2:
                assert time.monotonic() < until
                threading.Event().wait(0.02)
            first.end(signal.SIGKILL)
            assert all(one.exception(WAIT_S) is not None for one in calls)
        with serving(tmp_path, **ALLOW) as second:
            ended = Api(url=second.url, key=key).ended()
            assert second.end() == 0
        app.over.set()

    assert ended == {"pay": "outcome_unknown", "look": "ok"}
    assert sorted(app.paths) == ["GET /l", "GET /l", "POST /pay"]


@pytest.mark.skipif(not Path("/proc/self/limits").exists(), reason="needs Linux's /proc")
def test_server_leaves_no_core_dump(key: str, tmp_path: Path) -> None:
    """A dump would hold its keys, and credentials that are on their way."""
    del key
    with serving(tmp_path) as server:
        limits = Path(f"/proc/{server.process.pid}/limits").read_text("utf-8")
        assert re.search(r"^Max core file size +0 +0 ", limits, flags=re.MULTILINE)


def test_requests_of_a_key_are_bounded_as_set(key: str, tmp_path: Path) -> None:
    """`[limits] requests_per_s` (contract section 12): 429, and the key is served again later."""
    with serving(tmp_path, REMIT_LIMITS_REQUESTS_PER_S="1") as server:
        api = Api(url=server.url, key=key)
        statuses = [api.ask("GET", "/v1/apps").status for _ in range(20)]
        assert set(statuses) == {200, 429}
        until = time.monotonic() + WAIT_S
        while api.ask("GET", "/v1/apps").status != 200:
            assert time.monotonic() < until
            threading.Event().wait(0.1)


def test_fault_is_told_by_kind_and_place_and_never_by_value(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What an error of Python says may hold a secret; our own are written without (section 5)."""
    from remit.main.serving import tell_fault

    try:
        store_file({"geheim": 1})  # type: ignore[arg-type]
    except AttributeError as error:
        tell_fault(error, "req_1")
    tell_fault(ValueError("geheim"))
    tell_fault(VaultFault("A value does not open."))
    out, err = capsys.readouterr()

    assert out == ""
    lines = err.splitlines()
    assert re.fullmatch(
        r"Remit met a fault: AttributeError at main/settings\.py:\d+ \(request req_1\)", lines[0]
    )
    assert lines[1:] == [
        "Remit met a fault: ValueError",
        "Remit met a fault: A value does not open.",
    ]


def test_line_that_it_listens_is_as_documented() -> None:
    """Scripts wait for it."""
    page = (Path(__file__).parents[2] / "docs" / "reference" / "command-line.md").read_text("utf-8")
    assert f"`{READY}http://127.0.0.1:8700`" in page
