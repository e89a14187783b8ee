"""Opening a database: what is taken, what is refused, how it is set up."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from remit.errors import StoreUnavailable, WrongUse
from remit.store import migrating
from remit.store.engine import open_engine
from remit.store.store import Store

REFUSED = [
    ("", "cannot be read"),
    ("remit.db", "cannot be read"),
    ("mysql://u:hunter22@h/d", '"mysql"'),
    ("sqlite+aiosqlite:///x.db", '"sqlite\\+aiosqlite"'),
    ("postgresql://u:hunter22@h:port/d", "cannot be read"),
    ("sqlite://", "needs a file"),
    ("sqlite:///:memory:", "needs a file"),
    ("sqlite:////nowhere/at/all/remit.db", "is not there"),
]


@pytest.mark.parametrize(("url", "words"), REFUSED)
def test_url_of_no_store_is_refused_in_words(url: str, words: str) -> None:
    """Wrong use is said with the mend; a password in the URL is not repeated."""
    with pytest.raises(WrongUse, match=words) as raised:
        open_engine(url)
    assert "hunter22" not in raised.value.message
    assert raised.value.message.endswith(".")


def test_folder_in_the_place_of_the_file_is_refused(tmp_path: Path) -> None:
    """The message names the path and the setting."""
    with pytest.raises(WrongUse, match="cannot be opened: Is a directory"):
        open_engine(f"sqlite:///{tmp_path}")


def test_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    """It holds arguments, records and sealed secrets."""
    migrating.upgrade(f"sqlite:///{tmp_path / 'remit.db'}")

    for path in tmp_path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path.name


def test_sqlite_keeps_every_commit_through_a_power_cut(tmp_path: Path) -> None:
    """WAL with synchronous=FULL (2), foreign keys, and patience (architecture section 3)."""
    engine = open_engine(f"sqlite:///{tmp_path / 'remit.db'}")
    with engine.connect() as connection:
        found = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    engine.dispose()

    assert found == {
        "journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 10_000,
    }  # fmt: skip


async def test_postgresql_keeps_every_commit(migrated_postgres: str) -> None:
    """Nothing of ours turns synchronous_commit off; the server of the tests does."""
    async with Store(migrated_postgres) as store:
        assert store.shared
        await store.ping()


def test_database_that_does_not_answer_is_unavailable_without_its_password() -> None:
    """StoreUnavailable is 503 with the mend; the password of the URL is nowhere."""
    with pytest.raises(StoreUnavailable, match="cannot be used") as raised:
        migrating.current("postgresql://remit:hunter22@127.0.0.1:1/remit")
    assert "hunter22" not in raised.value.message


def test_file_that_is_no_database_is_said(tmp_path: Path) -> None:
    """Somebody's letter is not overwritten."""
    path = tmp_path / "letter.txt"
    path.write_text("Dear Ada, " * 500, "utf-8")

    with pytest.raises(StoreUnavailable, match="not a database"):
        migrating.upgrade(f"sqlite:///{path}")
    assert path.read_text("utf-8").startswith("Dear Ada")
