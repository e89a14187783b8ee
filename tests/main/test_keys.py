"""`remit keys` as an operator types it: processes against a scratch store (contract section 13)."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.main.conftest import Remit
from tests.main.processes import run

KEY = re.compile(r"rk_(operator|backend)_[0-9A-Za-z]{49}\n")


def test_created_key_is_all_that_stands_on_stdout(tmp_path: Path) -> None:
    """`remit keys create` prints only the key and makes the store (contract section 13)."""
    ran = run(tmp_path, "keys", "create", "--role", "backend", "--name", "shop")

    assert ran.code == 0
    assert KEY.fullmatch(ran.out)
    assert (tmp_path / "remit.db").stat().st_mode & 0o077 == 0


def test_store_and_workspace_that_are_made_are_said(kept: Remit) -> None:
    """A key made in a wrong folder, or for a misspelt workspace, is seen by whoever made it."""

    def said(*arguments: str) -> list[str]:
        return kept("keys", "create", "--role", "operator", *arguments).err.splitlines()

    assert said() == ["Made the workspace default."]
    assert said() == []
    assert said("--workspace", "typo") == ["Made the workspace typo."]
    Path("remit.db").unlink()
    assert said() == ["Made the store remit.db.", "Made the workspace default."]


def test_secret_of_a_key_is_nowhere_in_the_store(tmp_path: Path) -> None:
    """Only the hash is kept (contract section 10): whoever reads the database has no key."""
    secret = run(tmp_path, "keys", "create", "--role", "operator").out.strip()
    everything = b"".join(path.read_bytes() for path in tmp_path.iterdir())

    assert secret.startswith("rk_operator_")
    assert secret.encode() not in everything
    assert secret[:16].encode() in everything


def test_keys_are_listed_without_their_secrets_and_revoked_once(kept: Remit) -> None:
    """Create, list, revoke, list; a second revocation changes nothing (contract section 10)."""
    secret = kept("keys", "create", "--role", "operator", "--name", "Ana").out.strip()
    assert kept("keys", "create", "--role", "backend").code == 0
    listed = kept("keys", "list", "--format", "json")
    keys = {key["name"]: key for key in listed.json["items"]}

    assert keys.keys() == {"Ana", "backend"}
    assert secret not in listed.out
    assert secret.startswith(keys["Ana"]["prefix"])
    assert keys["Ana"]["revokedAt"] is None

    assert kept("keys", "revoke", keys["Ana"]["id"]).code == 0
    table = kept("keys", "list").out.splitlines()
    assert table[0].split() == ["id", "role", "name", "begins", "with", "made", "state"]
    state = {line.split()[2]: line.split()[-2:] for line in table[1:]}
    assert state["Ana"][0] == "revoked"
    assert state["backend"][1] == "usable"
    again = kept("keys", "revoke", keys["Ana"]["id"])
    assert again.code == 0
    assert "was revoked before" in again.err


def test_every_act_on_a_key_is_in_the_audit_of_its_workspace(kept: Remit) -> None:
    """Every act is recorded with who did it, those of the command line too (section 10)."""
    kept("keys", "create", "--role", "operator", "--workspace", "acme")
    key = kept("keys", "list", "--workspace", "acme", "--format", "json").json["items"][0]["id"]
    kept("keys", "revoke", key, "--workspace", "acme")
    with closing(sqlite3.connect("remit.db")) as database:
        rows = database.execute("select workspace, actor, kind, subject from audit").fetchall()

    assert sorted(rows) == [
        ("acme", "system", "key.created", f"key/{key}"),
        ("acme", "system", "key.revoked", f"key/{key}"),
    ]


def test_workspace_keeps_its_keys_to_itself(kept: Remit) -> None:
    """Another workspace's key is as unknown as one that never was (contract section 10)."""
    for workspace in ("acme", "other"):
        kept("keys", "create", "--role", "operator", "--workspace", workspace)
    theirs = kept("keys", "list", "--workspace", "other", "--format", "json").json["items"]
    assert len(theirs) == 1
    refused = kept("keys", "revoke", theirs[0]["id"], "--workspace", "acme")
    unknown = kept("keys", "revoke", "key_none", "--workspace", "acme")

    assert refused.code == unknown.code == 2
    assert refused.err == unknown.err.replace("key_none", theirs[0]["id"])
    after = kept("keys", "list", "--workspace", "other", "--format", "json").json["items"]
    assert after[0]["revokedAt"] is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("create", "--role", "user"), "operator"),
        (("create",), "--role"),
        (("create", "--role", "operator", "--name", " "), "needs a name of 1 to 100"),
        (("create", "--role", "operator", "--workspace", ""), "no name of a workspace"),
        (("create", "--role", "operator", "--workspace", "a/b"), "no name of a workspace"),
        (("create", "--role", "operator", "--workspace", "a" * 65), "no name of a workspace"),
        (("list", "--workspace", "acme"), "There is none yet."),
        (("revoke", "rk_operator_" + "x" * 49), "here stands its id"),
    ],
)
def test_wrong_use_of_keys_says_the_mend(
    arguments: tuple[str, ...], said: str, kept: Remit
) -> None:
    """Exit 2, one clear message, no secret repeated (bad input)."""
    ran = kept("keys", *arguments)

    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert "x" * 49 not in ran.err


def test_misspelt_workspace_is_not_made_by_looking(kept: Remit) -> None:
    """Only `create` makes a workspace; the others name those that there are."""
    kept("keys", "create", "--role", "operator", "--workspace", "acme")
    ran = kept("keys", "list", "--workspace", "acne")
    with closing(sqlite3.connect("remit.db")) as database:
        names = database.execute("select id from workspace").fetchall()

    assert ran.code == 2
    assert "There are: acme." in ran.err
    assert names == [("acme",)]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("sqlite:///no/such/folder/remit.db", "Make it first."),
        ("sqlite://", "The store needs a file"),
        ("mysql://root:geheim@db/x", 'cannot be kept on "mysql"'),
        ("postgresql://u:geheim@127.0.0.1:1/x", "The store cannot be used"),
        ("::geheim", "cannot be read"),
    ],
)
def test_store_that_cannot_be_opened_is_one_clear_message(
    url: str, said: str, remit: Remit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 2 with the mend; a password in the URL is never shown (bad input)."""
    monkeypatch.setenv("REMIT_STORE_URL", url)
    ran = remit("keys", "create", "--role", "operator")

    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert "geheim" not in ran.err
    assert "Traceback" not in ran.err


def test_keys_are_printed_as_json_lists(kept: Remit) -> None:
    """JSON in a pipe is one line with the documented keys (contract section 13)."""
    kept("keys", "create", "--role", "operator")
    out = kept("keys", "list", "--format", "json").out

    assert out.count("\n") == 1
    assert set(json.loads(out)["items"][0]) == {
        "id", "role", "name", "prefix", "user", "createdAt", "expiresAt", "revokedAt", "lastUsedAt",
    }  # fmt: skip
