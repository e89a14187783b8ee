"""`remit vault rotate` beside a running server: it goes on under the new key, without a restart."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.main.conftest import Remit
from tests.main.processes import serving
from tests.main.scripted import ScriptedApp
from tests.main.test_serving import ALLOW, Answer, Api


def masters() -> set[str]:
    """The master keys that wrap something."""
    with closing(sqlite3.connect("remit.db")) as database:
        return {row[0] for row in database.execute("SELECT master FROM data_key")}


def connect(api: Api, user: str) -> None:
    """Give a credential of a user."""
    body = {"type": "bearer", "token": f"canary-{user}"}
    api.done("PUT", f"/v1/connections/acme/{user}", body)


def repeated(api: Api) -> Answer:
    """A request that is always the same one."""
    once = {"Idempotency-Key": "once"}
    return api.ask("POST", "/v1/keys", {"role": "backend", "name": "ci"}, once)


def test_running_server_goes_on_under_the_new_key_and_the_old_one_can_go(
    kept: Remit, tmp_path: Path
) -> None:
    """Nothing is unreadable at any time, and no repeat is taken for a new request (section 13).

    The steps are those of docs/operate.
    """
    file = tmp_path / "remit.db.key"
    key = kept("keys", "create", "--role", "operator").out.strip()
    with ScriptedApp([{"status": 200, "body": {}}]) as app:
        with serving(tmp_path, **ALLOW) as server:
            api = Api(url=server.url, key=key)
            api.approve(app.url, auth={"type": "bearer"})
            connect(api, "ana")
            # From now on the server has what opens it at hand, and need not read the keys again.
            assert api.call("pay").json["outcome"] == "ok"
            made = repeated(api)
            (old,) = masters()

            assert kept("vault", "rotate").code == 0
            (new,) = masters()
            assert new != old
            assert api.call("pay").json["outcome"] == "ok"
            terms = {"user": "bo", "apps": ["acme"], "pins": {"shop": 7}, "ttlS": 600}
            token = api.done("POST", "/v1/tokens", terms)["token"]
            connect(api, "bo")
            assert masters() == {new}
            assert "Nothing is under an older key any more." in kept("vault", "rotate").err

            file.write_text(file.read_text().split()[0])
            assert repeated(api) == made
            assert server.end() == 0
        with serving(tmp_path, **ALLOW) as server:
            assert repeated(Api(url=server.url, key=key)) == made
            assert Api(url=server.url, key=token).call("pay", user="bo").json["outcome"] == "ok"
            assert server.end() == 0
    doctor = kept("doctor")

    assert doctor.code == 0, doctor.out
    # Two credentials, the pins of a token, the signing key.
    assert "(4 values opened)" in doctor.out
    assert b"canary-" not in b"".join(path.read_bytes() for path in tmp_path.glob("remit.db*"))
