"""What HTTP itself asks for: hosts, origins, methods, health, and words for our own faults."""

from __future__ import annotations

import asyncio
import json
import re

import httpx
import pytest
import uvicorn

from remit.errors import StoreUnavailable
from remit.gateway.endings import Late
from remit.gateway.keeping import VaultFault
from tests.gateway.fakes import CREDENTIAL
from tests.web.api import CONSOLE, Api, open_api, problem


@pytest.mark.parametrize(
    "host",
    ["evil.example", "remit.acme.example.evil.example", "127.0.0.1", "remit.acme.example:8443", ""],
)
async def test_other_host_is_not_answered_for(api: Api, host: str) -> None:
    """A rebound name gets nothing, with a good key either (threats, "inbound host")."""
    for method, path in (("GET", "/v1/apps"), ("POST", "/v1/tools/acme/get_order/call")):
        response = await api.send(method, path, headers={"host": host})
        problem(response, 421, "misdirected_request")


@pytest.mark.parametrize("host", ["remit.acme.example", "REMIT.acme.example:443"])
async def test_public_host_is_answered_for(api: Api, host: str) -> None:
    """With its default port or without, in any letter case."""
    assert (await api.get("/v1/apps", headers={"host": host})).status_code == 200


async def test_forwarded_host_changes_nothing(api: Api) -> None:
    """Every link is made from the public URL, never from what a request says."""
    headers = {"x-forwarded-host": "evil.example", "forwarded": "host=evil.example"}
    plain = await api.get("/v1/openapi.json", who=None)
    steered = await api.get("/v1/openapi.json", who=None, headers=headers)

    assert steered.content == plain.content
    assert steered.json()["servers"] == [{"url": "https://remit.acme.example"}]


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
async def test_probe_may_come_by_address(api: Api, path: str) -> None:
    """A machine's own probe knows no public name."""
    response = await api.get(path, who=None, headers={"host": "10.0.0.7:8700"})

    assert response.status_code == 200


@pytest.mark.parametrize(
    ("public_url", "host", "served"),
    [
        ("http://127.0.0.1:8700", "localhost:8700", True),
        ("http://127.0.0.1:8700", "[::1]:8700", True),
        ("http://127.0.0.1:8700", "127.0.0.1:8701", False),
        ("http://localhost", "127.0.0.1", True),
        ("https://a.example:8443", "a.example:8443", True),
        ("https://a.example:8443", "a.example", False),
    ],
)
async def test_loopback_has_several_names(
    store_url: str, public_url: str, host: str, *, served: bool
) -> None:
    """And every server its port."""
    async with open_api(store_url, furnished=False, public_url=public_url) as api:
        response = await api.get("/v1/apps", headers={"host": host})
        assert (response.status_code == 200) is served


async def test_allowed_origin_reads_answers_without_cookies(api: Api) -> None:
    """CORS: the call and the routes alike, refusals too, and never with credentials."""
    headers = {"origin": CONSOLE}
    for response in (
        await api.call("get_order", {"id": "7"}, headers=headers),
        await api.get("/v1/apps", headers=headers),
        await api.get("/v1/apps", who=None, headers=headers),
    ):
        assert response.headers["access-control-allow-origin"] == CONSOLE
        assert "access-control-allow-credentials" not in response.headers
        assert "set-cookie" not in response.headers


async def test_preflight_needs_no_key(api: Api) -> None:
    """A browser sends none with it."""
    asks = {
        "origin": CONSOLE,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type,idempotency-key",
    }
    path = "/v1/tools/acme/get_order/call"
    allowed = await api.send("OPTIONS", path, who=None, headers=asks)
    other = await api.send(
        "OPTIONS", path, who=None, headers={**asks, "origin": "https://evil.example"}
    )

    assert allowed.status_code == 200
    assert "access-control-allow-origin" not in other.headers


async def test_other_origin_reads_nothing(api: Api) -> None:
    """Nor does it with an origin that only looks like an allowed one."""
    for origin in ("https://evil.example", f"{CONSOLE}.evil.example", "null"):
        response = await api.get("/v1/apps", headers={"origin": origin})
        assert "access-control-allow-origin" not in response.headers


async def test_unknown_path_and_method_are_problems(api: Api) -> None:
    """With the methods that there are."""
    for path in ("/v2/apps", "/v1/apps/", "/v1/apps/acme/versions/1/", "/", "/v1//apps"):
        problem(await api.get(path), 404, "not_found")
    response = await api.send("DELETE", "/v1/apps")
    problem(response, 405, "method_not_allowed")
    assert response.headers["allow"] == "POST, GET"
    problem(await api.get("/v1/tools/acme/get_order/call"), 405, "method_not_allowed")


async def test_head_is_get_without_its_body(api: Api) -> None:
    """RFC 9110, 9.3.2."""
    read = await api.get("/v1/policy")
    head = await api.send("HEAD", "/v1/policy")

    assert head.content == b""
    assert head.headers["content-length"] == read.headers["content-length"]


async def test_body_where_none_is_taken_is_refused(api: Api) -> None:
    """It would mean something to whoever sent it."""
    problem(await api.send("DELETE", "/v1/grants/g", {"a": 1}), 422, "invalid_request")
    problem(await api.post("/v1/apps/acme/resume", {"a": 1}), 422, "invalid_request")


async def test_key_set_verifies_what_the_node_signs(api: Api) -> None:
    """`/.well-known/jwks.json` may be cached; it holds public parts alone."""
    signer = api.stage.node.minter
    await signer.prepare(now_s=api.stage.time.unix_ms() // 1000)  # type: ignore[attr-defined]
    response = await api.get("/.well-known/jwks.json", who=None)

    keys = response.json()["keys"]
    assert [(key["kty"], key["alg"], "d" in key) for key in keys] == [("EC", "ES256", False)]
    assert response.headers["cache-control"] == "public, max-age=300"


async def test_store_that_is_gone_is_not_ready(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process is alive all the same."""

    async def fails(*_: object) -> None:
        raise StoreUnavailable("The database does not answer.")

    monkeypatch.setattr(api.stage.server.store._database, "ping", fails)  # noqa: SLF001
    problem(await api.get("/readyz", who=None), 503, "store_unavailable")
    assert (await api.get("/healthz", who=None)).json() == {"status": "ok"}


async def test_metrics_name_no_tenant(api: Api) -> None:
    """Routes are told by their template: no user, app or workspace is in a label."""
    await api.call("get_order", {"id": "7"})
    await api.get("/v1/apps/acme")
    await api.get("/nowhere/acme")
    late = Late(workspace="acme", call_id="call_1", was="sending", chars=2)
    api.stage.node.endings.keep(late)
    text = (await api.get("/metrics", who=None)).text

    assert 'remit_calls_total{outcome="ok"} 1.0' in text
    assert 'route="GET /v1/apps/{app}",status="200"' in text
    assert 'route="elsewhere",status="404"' in text
    assert "remit_ends_waiting 1.0" in text
    assert "acme" not in text
    assert "ana" not in re.sub(r"\w*analy\w*", "", text)


async def test_docs_load_nothing_from_anywhere(api: Api) -> None:
    """No script, no asset, and a policy that forbids them."""
    response = await api.get("/docs", who=None)

    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert "<script" not in response.text
    assert re.findall(r"(?:src|href)=[\"'](?!#|/v1/openapi.json)", response.text) == []
    assert "/v1/tools/{app}/{tool}/call" in response.text


async def test_fault_of_ours_has_an_id_and_no_traceback(store_url: str) -> None:
    """The caller gets words; the operator the fault under the same id."""

    async def breaks(*_: object, **__: object) -> object:
        raise RuntimeError(f"secret {CREDENTIAL} in a fault")

    async with open_api(store_url) as api:
        api.stage.server.store.apps.get = breaks  # type: ignore[method-assign]
        response = await api.get("/v1/apps/acme")

        found = problem(response, 500, "internal")
        assert CREDENTIAL not in response.text
        assert "Traceback" not in response.text
        assert [request_id for request_id, _ in api.faults] == [found["requestId"]]


async def test_answers_to_a_key_are_not_kept_by_caches(api: Api) -> None:
    """They are for that key alone."""
    for response in (await api.get("/v1/apps"), await api.call("get_order", {"id": "7"})):
        assert response.headers["cache-control"] == "no-store"


async def test_use_of_a_key_is_noted(api: Api) -> None:
    """A stolen key shows (threats, "Stolen API key")."""
    await api.get("/v1/apps", who="backend")
    await api.stage.settled()
    rows = (await api.get("/v1/keys?role=backend")).json()["items"]

    assert rows[0]["lastUsedAt"] == "2026-09-21T14:13:20.000Z"


async def test_key_that_sends_too_many_is_429_and_others_are_not(store_url: str) -> None:
    """One tenant cannot starve another: by key, with the time to come back."""
    async with open_api(store_url, max_per_s=3) as api:
        statuses = [(await api.call("get_order", {"id": "7"})).status_code for _ in range(5)]
        assert statuses == [200, 200, 200, 429, 429]
        response = await api.get("/v1/apps", who="backend")
        assert "3 requests in a second" in problem(response, 429, "rate_limited")["detail"]
        assert response.headers["retry-after"] == "1"
        assert (await api.get("/v1/apps", who="other")).status_code == 200
        api.stage.time.passed_ms += 1_000
        assert (await api.get("/v1/apps", who="backend")).status_code == 200


async def test_real_server_carries_all_of_it(store_url: str) -> None:
    """uvicorn: chunked bodies, encoded paths, a bound on what is read, a stream."""
    async with open_api(store_url, public_url="http://127.0.0.1") as api:
        server = uvicorn.Server(
            uvicorn.Config(api.app, host="127.0.0.1", port=0, log_level="error", ws="none")
        )
        serving = asyncio.ensure_future(server.serve())
        async with asyncio.timeout(10):
            while not server.started:  # noqa: ASYNC110 (uvicorn has no event for it)
                await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        host = {"host": "127.0.0.1", "authorization": f"Bearer {api.keys['operator']}"}

        async def parts() -> object:
            yield b'{"user": "ana", '
            yield b'"args": {"id": "7"}}'

        async def endless() -> object:
            for _ in range(400):
                yield b" " * 1024

        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=host) as client:
            path = "/v1/tools/acme/get_order/call"
            ended = await client.post(path, content=parts())  # type: ignore[arg-type]
            assert (ended.status_code, ended.json()["outcome"]) == (200, "ok")
            large = await client.post(path, content=endless())  # type: ignore[arg-type]
            assert (large.status_code, large.json()["code"]) == (413, "body_too_large")
            kept = await client.put(
                "/v1/connections/acme/a%2Fb%20c", json={"type": "bearer", "token": "t"}
            )
            assert kept.status_code == 422
            kept = await client.put(
                "/v1/connections/acme/a%2Fb", json={"type": "bearer", "token": "t"}
            )
            assert kept.json()["user"] == "a/b"
            exported = await client.get("/v1/audit", headers={"accept": "application/x-ndjson"})
            assert all(json.loads(line)["id"] for line in exported.text.splitlines())
        server.should_exit = True
        await serving


async def test_vault_without_its_key_says_so(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """503 in words for the operator, and nothing is kept (issue: a vault without its key)."""

    async def fails(*_: object, **__: object) -> object:
        raise VaultFault("The vault has no master key that opens this. Give it the old key too.")

    keeper = api.stage.server.books.keeper
    monkeypatch.setattr(keeper, "seal_credential", fails)
    body = {"type": "bearer", "token": "canary"}
    found = problem(await api.put("/v1/connections/acme/bob", body), 503, "vault_unavailable")

    assert "master key" in found["detail"]
    assert (await api.get("/v1/connections?user=bob")).json()["items"] == []
    assert [request_id for request_id, _ in api.faults] == [found["requestId"]]
    api.faults.clear()
