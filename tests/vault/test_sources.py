"""The master key's place: a setting, a file, a command, or a file made for SQLite."""

from __future__ import annotations

import os
import re
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from remit.errors import WrongUse
from remit.values.secrets import Secret
from remit.vault.masters import Masters
from remit.vault.sources import (
    VaultSettings,
    add_new_key,
    find_masters,
    make_default,
    read_key_file,
)
from tests.vault.fakes import key_text, masters

KEY = key_text("a")


def key_file(folder: Path, text: str = KEY + "\n", mode: int = 0o600) -> Path:
    """A key file with a mode."""
    path = folder / "remit.key"
    path.write_text(text, "utf-8")
    path.chmod(mode)
    return path


def names(folder: Path) -> list[str]:
    """What is in a folder."""
    return [path.name for path in folder.iterdir()]


def mode_of(path: Path) -> int:
    """The permission bits."""
    return stat.S_IMODE(path.stat().st_mode)


def only_current(found: Masters | None) -> str:
    """The id of the one key."""
    assert found is not None
    assert found.previous == ()
    return found.current.id


def test_setting_file_and_command_give_the_same_key(tmp_path: Path) -> None:
    """The three places of contract section 12."""
    path = key_file(tmp_path)
    settings = [
        VaultSettings(key=Secret(KEY)),
        VaultSettings(key_file=path),
        VaultSettings(key_command=f"cat '{path}'"),
        VaultSettings(default_file=path),
    ]

    assert {only_current(find_masters(one)) for one in settings} == {masters("a").current.id}


def test_a_set_key_comes_before_the_file_beside_the_store(tmp_path: Path) -> None:
    """The default is used only where nothing is set."""
    path = key_file(tmp_path, key_text("b"))

    found = find_masters(VaultSettings(key=Secret(KEY), default_file=path))

    assert only_current(found) == masters("a").current.id


def test_two_places_at_once_are_refused() -> None:
    """Which of them is the key would be a guess."""
    with pytest.raises(WrongUse, match=r"\[vault\] has key and key_command: only one"):
        find_masters(VaultSettings(key=Secret(KEY), key_command="cat x"))


def test_without_a_key_postgresql_is_refused() -> None:
    """Nodes with keys of their own could not read each other (contract section 12)."""
    with pytest.raises(WrongUse, match=r"on PostgreSQL none is made.*head -c 32") as caught:
        find_masters(VaultSettings())
    assert "Set key, key_file or key_command" in str(caught.value)


def test_a_key_file_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    """On SQLite `remit serve` makes one of mode 0600; the next start reads it."""
    settings = VaultSettings(default_file=tmp_path / "remit.db.key")
    assert find_masters(settings) is None

    before = os.umask(0)
    try:
        made = make_default(settings, in_use=frozenset())
    finally:
        os.umask(before)

    path = tmp_path / "remit.db.key"
    assert mode_of(path) == 0o600
    assert re.fullmatch(r"[A-Za-z0-9+/]{43}=\n", path.read_text())
    assert only_current(find_masters(settings)) == only_current(made)
    assert names(tmp_path) == ["remit.db.key"]


def test_two_starts_at_once_make_one_key(tmp_path: Path) -> None:
    """The file appears whole: the slower one reads the faster one's."""
    settings = VaultSettings(default_file=tmp_path / "remit.db.key")

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: make_default(settings, in_use=frozenset()), range(16)))

    assert len({only_current(one) for one in made}) == 1
    assert names(tmp_path) == ["remit.db.key"]


def test_a_lost_key_file_is_not_replaced(tmp_path: Path) -> None:
    """A new key would hide that everything sealed is unreadable."""
    settings = VaultSettings(default_file=tmp_path / "remit.db.key")

    with pytest.raises(WrongUse, match="Put the file back"):
        make_default(settings, in_use=frozenset({"m1"}))
    assert names(tmp_path) == []


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601, 0o644, 0o777])
def test_a_file_that_others_can_touch_is_refused(tmp_path: Path, mode: int) -> None:
    """Whoever could read it may have the key; the mend is said."""
    path = key_file(tmp_path, mode=mode)

    with pytest.raises(WrongUse, match=rf"\(mode {mode:04o}\).*chmod 600 {path}") as caught:
        find_masters(VaultSettings(key_file=path))
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o700])
def test_a_file_of_its_owner_alone_is_read(tmp_path: Path, mode: int) -> None:
    """Read-only is as good."""
    path = key_file(tmp_path, mode=mode)

    assert only_current(find_masters(VaultSettings(key_file=path))) == masters("a").current.id


def test_the_mode_of_the_file_behind_a_link_counts(tmp_path: Path) -> None:
    """A link has no mode of its own."""
    path = key_file(tmp_path, mode=0o644)
    (tmp_path / "link").symlink_to(path)

    with pytest.raises(WrongUse, match="can be read by others"):
        read_key_file(tmp_path / "link", "[vault] key_file")


def make_pipe(path: Path) -> None:
    """A pipe that nobody writes to."""
    os.mkfifo(path, 0o600)


def make_large(path: Path) -> None:
    """A file that is no key."""
    path.write_bytes(os.urandom(10_000))
    path.chmod(0o600)


def make_binary(path: Path) -> None:
    """32 bytes as they are."""
    path.write_bytes(b"\xff" * 32)
    path.chmod(0o600)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        pytest.param(lambda path: None, "there is no such file", id="missing"),
        pytest.param(Path.mkdir, "is no file", id="a folder"),
        pytest.param(make_pipe, "is no file", id="a pipe"),
        pytest.param(make_large, "larger than 4096 bytes", id="large"),
        pytest.param(make_binary, "is no base64", id="bytes"),
        pytest.param(lambda path: path.touch(0o600), "has no key in it", id="empty"),
    ],
)
def test_what_is_no_key_file_is_refused(tmp_path: Path, make: object, said: str) -> None:
    """Each with the path, at once, and without its content."""
    path = tmp_path / "key"
    make(path)  # type: ignore[operator]

    with pytest.raises(WrongUse, match=said) as caught:
        read_key_file(path, "[vault] key_file")
    assert str(path) in str(caught.value)


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    """Path and mend."""
    settings = VaultSettings(default_file=tmp_path / "no" / "remit.db.key")

    with pytest.raises(WrongUse, match=r"cannot be made: there is no such file.*key_file"):
        make_default(settings, in_use=frozenset())


def test_a_new_key_goes_before_the_old_ones_and_they_stay(tmp_path: Path) -> None:
    """`remit vault rotate`: what is sealed stays readable, what is written is under the new."""
    path = key_file(tmp_path, f"{key_text('b')}\n# the first\n{KEY}\n")

    found = add_new_key(path)

    assert [key.id for key in found.previous] == [masters("b").current.id, masters("a").current.id]
    assert found.current.id not in {key.id for key in found.previous}
    assert mode_of(path) == 0o600
    assert names(tmp_path) == ["remit.key"]


def test_a_file_that_cannot_take_a_new_key_is_left_as_it_is(tmp_path: Path) -> None:
    """Nothing half done: eight keys are the most."""
    text = "\n".join(key_text(str(n)) for n in range(8))
    path = key_file(tmp_path, text)

    with pytest.raises(WrongUse, match="has 8 keys"):
        add_new_key(path)
    assert path.read_text() == text
    assert names(tmp_path) == ["remit.key"]
