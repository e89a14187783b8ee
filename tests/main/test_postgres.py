"""A server on PostgreSQL: nothing is made behind the operator's back (sections 12 and 13)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import LiteralString

import pytest
from psycopg import connect

from tests import postgres
from tests.main.conftest import Remit
from tests.main.processes import WAIT_S, serving
from tests.main.scripted import ScriptedApp
from tests.main.test_serving import ALLOW, Api

KEY = b64encode(bytes((7 * n * n + 3) % 251 for n in range(32))).decode()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """An empty database of this module's own."""
    with postgres.server() as template:
        yield template.format(database="postgres")


def test_schema_and_key_of_a_shared_store_are_the_operators_to_make(
    url: str, remit: Remit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind: all but `db upgrade` refuses with that mend; so does a start without a key."""
    monkeypatch.setenv("REMIT_STORE_URL", url)
    for command in (("serve",), ("keys", "create", "--role", "operator"), ("vault", "rotate")):
        behind = remit(*command)
        assert (behind.code, behind.out) == (2, "")
        assert "has no tables yet" in behind.err
        assert "remit db upgrade" in behind.err
    doctor = remit("doctor", "--format", "json")
    faults = {one["check"] for one in doctor.json["checks"] if not one["ok"]}
    assert (doctor.code, faults) == (1, {"schema", "vault"})

    assert remit("db", "upgrade").code == 0
    without = remit("serve")
    assert (without.code, without.out) == (2, "")
    assert "every node needs the same" in without.err

    # A key of the API is made without the vault's.
    key = remit("keys", "create", "--role", "operator").out.strip()
    monkeypatch.setenv("REMIT_VAULT_KEY", KEY)
    env = {"REMIT_STORE_URL": url, "REMIT_VAULT_KEY": KEY}
    with serving(tmp_path, **env) as one, serving(tmp_path, **env) as other:
        for server in (one, other):
            assert Api(url=server.url, key=key).done("GET", "/v1/keys")["items"]
        jwks = [
            Api(url=server.url, key=key).done("GET", "/.well-known/jwks.json")
            for server in (one, other)
        ]
        assert jwks[0] == jwks[1]
        assert len(jwks[0]["keys"]) == 1
        assert (one.end(), other.end()) == (0, 0)
    assert remit("doctor").code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["serve.err"]


def test_outcome_is_kept_although_the_database_is_away_when_it_comes(
    url: str, remit: Remit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caller is told 503; the end is written when the database is back, without a restart."""
    store = url.replace("/postgres?", "/away?")
    _ask(url, "CREATE DATABASE away")
    monkeypatch.setenv("REMIT_STORE_URL", store)
    assert remit("db", "upgrade").code == 0
    key = remit("keys", "create", "--role", "operator").out.strip()
    slow = {"status": 200, "body": {"paid": True}, "delayMs": 700}
    env = {"REMIT_STORE_URL": store, "REMIT_VAULT_KEY": KEY, **ALLOW}
    with (
        ScriptedApp([slow]) as app,
        ThreadPoolExecutor(1) as pool,
        serving(tmp_path, **env) as server,
    ):
        api = Api(url=server.url, key=key)
        api.approve(app.url)
        calling = pool.submit(api.call, "pay")
        assert app.asked.wait(WAIT_S)
        _ask(url, "ALTER DATABASE away WITH ALLOW_CONNECTIONS false")
        _ask(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'away'")
        answer = calling.result(WAIT_S)
        assert (answer.status, answer.json["code"]) == (503, "store_unavailable")
        _ask(url, "ALTER DATABASE away WITH ALLOW_CONNECTIONS true")

        assert api.ended() == {"pay": "ok"}
        assert app.paths == ["POST /pay"]
        assert server.end() == 0


def _ask(url: str, statement: LiteralString) -> None:
    with connect(url, autocommit=True) as connection:
        connection.execute(statement)
