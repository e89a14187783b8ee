"""`remit vault`, `signing`, `db`, `doctor` against scratch stores (contract sections 12 and 13)."""

from __future__ import annotations

import shutil
import socket
import sqlite3
from base64 import b64encode
from contextlib import closing
from pathlib import Path

import pytest

from remit.main.examining import MAX_DRIFT_MS, OLDEST_MS, judged_clock
from tests.main.conftest import Ran, Remit
from tests.main.processes import run, serving
from tests.main.scripted import ScriptedApp

KEY = b64encode(bytes((7 * n * n + 3) % 251 for n in range(32))).decode()
OTHER = b64encode(bytes((11 * n * n + 5) % 251 for n in range(32))).decode()


@pytest.fixture(scope="module")
def sealed_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store in which something is sealed, a signing key; to be copied."""
    folder = tmp_path_factory.mktemp("sealed")
    assert run(folder, "signing", "rotate").code == 0
    return folder


@pytest.fixture
def sealed(remit: Remit, sealed_store: Path, tmp_path: Path) -> Remit:
    """`remit` in a folder of its own with that store."""
    for name in ("remit.db", "remit.db.key"):
        shutil.copy(sealed_store / name, tmp_path)
    return remit


def rows(query: str) -> list[tuple[object, ...]]:
    """Rows of the scratch store."""
    with closing(sqlite3.connect("remit.db")) as database:
        return database.execute(query).fetchall()


def checks(ran: Ran) -> dict[str, bool]:
    """Each check of the doctor, and whether it is well."""
    return {check["check"]: check["ok"] for check in ran.json["checks"]}


def test_key_file_is_made_private_and_said(tmp_path: Path) -> None:
    """On SQLite without a key one is made, mode 0600, and said (contract section 12)."""
    ran = run(tmp_path, "signing", "rotate")

    assert (ran.code, ran.out) == (0, "")
    assert "Made the key file remit.db.key" in ran.err
    assert (tmp_path / "remit.db.key").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "remit.db.key").read_text().strip() not in ran.err


def test_vault_rotation_seals_under_a_new_key_and_the_old_one_can_go(sealed: Remit) -> None:
    """Afterwards the old key opens nothing that is wanted (contract section 13)."""
    file = Path("remit.db.key")
    old = file.read_text().split()
    ran = sealed("vault", "rotate")
    now = file.read_text().split()

    assert (ran.code, ran.out) == (0, "")
    assert now[1:] == old
    assert "data keys wrapped anew: 1, values sealed anew: 1" in ran.err
    assert file.stat().st_mode & 0o777 == 0o600
    assert not any(key in ran.err for key in now)
    file.write_text(now[0] + "\n")
    doctor = sealed("doctor")
    assert doctor.code == 0, doctor.out
    assert "(1 values opened)" in doctor.out


def test_rotation_that_was_stopped_goes_on_with_its_key(sealed: Remit) -> None:
    """It adds no second key where something is still under the old one: it can be repeated."""
    file = Path("remit.db.key")
    file.write_text(f"{KEY}\n{file.read_text()}")
    ran = sealed("vault", "rotate")

    assert ran.code == 0
    assert "Going on with the key that stands first" in ran.err
    assert file.read_text().split()[0] == KEY
    assert len(file.read_text().split()) == 2


def test_rotation_comes_to_an_end_and_begins_anew_when_the_old_key_is_gone(sealed: Remit) -> None:
    """Repeated while the older key stands there it makes no further one (contract section 13)."""
    file = Path("remit.db.key")
    sealed("vault", "rotate")
    keys = file.read_text()
    again = sealed("vault", "rotate")

    assert again.code == 0
    assert "Nothing is under an older key any more." in again.err
    assert file.read_text() == keys
    file.write_text(keys.split()[0])
    assert "A new master key stands first" in sealed("vault", "rotate").err
    assert file.read_text().split()[1] == keys.split()[0]


def test_rotation_with_a_key_in_the_setting_needs_no_file(
    sealed: Remit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The operator puts the new key before the old one; `rotate` seals anew (section 12)."""
    old = Path("remit.db.key").read_text().strip()
    Path("remit.db.key").unlink()
    monkeypatch.setenv("REMIT_VAULT_KEY", f"{KEY},{old}")
    ran = sealed("vault", "rotate")
    monkeypatch.setenv("REMIT_VAULT_KEY", KEY)

    assert ran.code == 0, ran.err
    assert checks(sealed("doctor", "--format", "json"))["vault"]
    assert not Path("remit.db.key").exists()


@pytest.mark.parametrize("command", [("vault", "rotate"), ("signing", "rotate")])
def test_lost_key_stops_every_command_that_needs_it(
    command: tuple[str, ...], sealed: Remit
) -> None:
    """A vault without its key: a clear exit, nothing half done, no new key beside (bad input)."""
    Path("remit.db.key").unlink()
    before = rows("select kid from signing_key")
    ran = sealed(*command)

    assert (ran.code, ran.out) == (2, "")
    assert "Put the file back" in ran.err
    assert not Path("remit.db.key").exists()
    assert rows("select kid from signing_key") == before


def test_value_that_does_not_open_is_named_and_left(sealed: Remit) -> None:
    """Exit 1; what is spoiled is said by its place, the rest is sealed anew (section 13)."""
    sealed("signing", "rotate")
    with closing(sqlite3.connect("remit.db")) as database:
        database.execute(
            "update signing_key set sealed = substr(sealed, 1, length(sealed) - 8) || 'AAAAAAAA' "
            "where rowid = (select min(rowid) from signing_key)"
        )
        database.commit()
    ran = sealed("vault", "rotate")

    assert ran.code == 1
    assert "values sealed anew: 1" in ran.err
    assert "keep the older master keys" in ran.err
    assert "signing / " in ran.err
    doctor = sealed("doctor", "--format", "json")
    assert (doctor.code, checks(doctor)["vault"]) == (1, False)


def test_new_signing_key_is_published_before_it_signs(sealed: Remit) -> None:
    """The first signs at once, the next one later (contract section 8, rotation)."""
    ran = sealed("signing", "rotate")
    times = [int(str(row[0])) for row in rows("select active_from_s from signing_key")]

    assert (ran.code, ran.out) == (0, "")
    assert "is published from now on, and signs from" in ran.err
    assert max(times) - min(times) >= 600


def test_stolen_signing_key_is_forgotten_at_once(sealed: Remit) -> None:
    """`--at-once`: the new one signs now, and no other is published."""
    before = rows("select kid from signing_key")
    ran = sealed("signing", "rotate", "--at-once")
    after = rows("select kid from signing_key")

    assert ran.code == 0
    assert len(before) == len(after) == 1
    assert before != after
    assert "Every other key is forgotten" in ran.err


def test_upgrade_makes_the_schema_and_a_second_one_changes_nothing(remit: Remit) -> None:
    """`remit db upgrade` (contract section 13)."""
    first, second = remit("db", "upgrade"), remit("db", "upgrade")

    assert (first.code, second.code) == (0, 0)
    assert "it was empty" in first.err
    assert "is up to date" in second.err


def test_store_of_a_newer_release_is_left_alone(sealed: Remit) -> None:
    """Code behind the schema: every command says so and changes nothing (bad input)."""
    with closing(sqlite3.connect("remit.db")) as database:
        database.execute("update alembic_version set version_num = '9999'")
        database.commit()
    for command in (("db", "upgrade"), ("keys", "list"), ("vault", "rotate")):
        ran = sealed(*command)
        assert (ran.code, ran.out) == (2, "")
        assert "Install the newer release again" in ran.err
    assert checks(sealed("doctor", "--format", "json"))["schema"] is False


# -- the doctor ----------------------------------------------------------------------------


def test_doctor_finds_nothing_in_an_empty_folder_and_leaves_it_empty(tmp_path: Path) -> None:
    """It looks and changes nothing: exit 0, a line for each check (contract section 13)."""
    ran = run(tmp_path, "doctor")

    assert ran.code == 0, ran.out
    assert [line.split()[:2] for line in ran.out.splitlines()] == [
        ["ok", name]
        for name in ("settings", "store", "schema", "vault", "clock", "egress", "model", "port")
    ]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("variable", "value", "check", "said"),
    [
        ("REMIT_SERVER_PORT", "65536", "settings", "REMIT_SERVER_PORT must be a whole number"),
        ("REMIT_STORE_URL", "sqlite:///none/x.db", "store", "no folder that can be written"),
        ("REMIT_STORE_URL", "postgresql://u:geheim@127.0.0.1:1/x", "store", "cannot be used"),
        ("REMIT_STORE_URL", "oracle://x", "store", "cannot be kept on"),
        ("REMIT_VAULT_KEY", "geheim", "vault", "[vault] key"),
        ("REMIT_VAULT_KEY", OTHER, "vault", "sealed under the master key"),
        ("REMIT_VAULT_KEY_FILE", "nowhere.key", "vault", "no such file"),
        ("REMIT_EGRESS_ALLOW", "*.acme.example", "egress", "no wildcards"),
        ("REMIT_MODEL_NAME", "gpt-5", "model", "openai:"),
        ("REMIT_MODEL_NAME", "openai:gpt-5", "model", "There is no key for openai"),
        ("REMIT_SERVER_HOST", "203.0.113.9", "port", "nothing can listen there"),
    ],
)
def test_doctor_names_the_fault_and_the_mend(
    variable: str,
    value: str,
    check: str,
    said: str,
    sealed: Remit,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each kind of fault, where it is: exit 1, and no secret in a line (contract section 13)."""
    monkeypatch.setenv(variable, value)
    ran = sealed("doctor", "--format", "json")
    found = {one["check"]: one for one in ran.json["checks"]}

    assert ran.code == 1
    assert found[check]["ok"] is False
    assert said in found[check]["words"]
    assert "geheim" not in ran.out + ran.err
    assert OTHER not in ran.out + ran.err


def test_doctor_sees_a_port_that_is_taken(remit: Remit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody listens there: said before `serve` would (contract section 13)."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("REMIT_SERVER_PORT", str(taken.getsockname()[1]))
        ran = remit("doctor", "--format", "json")

    assert (ran.code, checks(ran)["port"]) == (1, False)
    assert "Is a server running there already?" in ran.out


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_doctor_finds_nothing_while_a_server_runs(
    host: str, kept: Remit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A port that a Remit server has is no fault (contract section 13)."""
    with serving(tmp_path, REMIT_SERVER_HOST=host) as server:
        port = server.url.rpartition(":")[2]
        monkeypatch.setenv("REMIT_SERVER_HOST", host)
        monkeypatch.setenv("REMIT_SERVER_PORT", port)
        ran = kept("doctor")

    assert ran.code == 0, ran.out
    line = ran.out.splitlines()[-1]
    assert line.split(maxsplit=2) == [
        "ok", "port", f"{host} port {port}: a Remit server listens there",
    ]  # fmt: skip


def test_doctor_takes_no_other_server_for_ours(
    remit: Remit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program that says it is well in the same words still has the port (bad input)."""
    with ScriptedApp([{"status": 200, "text": '{"status":"ok"}'}]) as other:
        monkeypatch.setenv("REMIT_SERVER_PORT", other.url.rpartition(":")[2])
        ran = remit("doctor", "--format", "json")

    assert (ran.code, checks(ran)["port"]) == (1, False)


def test_doctor_sees_that_the_key_file_is_gone(sealed: Remit) -> None:
    """The store holds what only that key opens; a new one would be no mend (bad input)."""
    Path("remit.db.key").unlink()
    ran = sealed("doctor", "--format", "json")

    assert (ran.code, checks(ran)["vault"]) == (1, False)
    assert "Put the file back" in ran.out


def test_doctor_sees_a_key_file_that_others_can_read(sealed: Remit) -> None:
    """Whoever read it may have the key (contract section 12)."""
    Path("remit.db.key").chmod(0o644)
    ran = sealed("doctor", "--format", "json")

    assert (ran.code, checks(ran)["vault"]) == (1, False)
    assert "chmod 600" in ran.out


@pytest.mark.parametrize(
    ("ours", "theirs", "fault"),
    [
        (OLDEST_MS, OLDEST_MS, False),
        (OLDEST_MS - 1, OLDEST_MS - 1, True),
        (OLDEST_MS, OLDEST_MS + MAX_DRIFT_MS, False),
        (OLDEST_MS, OLDEST_MS + MAX_DRIFT_MS + 1, True),
        (OLDEST_MS + MAX_DRIFT_MS + 1, OLDEST_MS, True),
    ],
)
def test_clock_is_judged_by_its_age_and_by_the_databases(
    ours: int, theirs: int, fault: bool
) -> None:
    """A clock that is behind makes tokens that nobody accepts; two that differ break leases."""
    assert judged_clock(ours, theirs).fault is fault
