"""Settings: a file, overridden by the environment (contract section 12)."""

from __future__ import annotations

from pathlib import Path

import pytest

from remit.errors import WrongUse
from remit.main.settings import load_settings


def written(folder: Path, text: str) -> Path:
    """A settings file."""
    path = folder / "remit.toml"
    path.write_text(text, "utf-8")
    return path


def test_settings_come_from_the_file(tmp_path: Path) -> None:
    """`[egress] allow` and `[brand] name`; sections of the server are left to it (12)."""
    text = '[egress]\nallow = ["10.0.0.0/8", "x.example"]\n[brand]\nname = "Kazzle"\n'
    text += '[server]\nport = 8080\n[model]\nname = "openai:x"\n'
    settings = load_settings(written(tmp_path, text), {})

    assert settings.egress_allow == ("10.0.0.0/8", "x.example")
    assert settings.brand == "Kazzle"


def test_environment_overrides_the_file(tmp_path: Path) -> None:
    """`REMIT_<SECTION>_<KEY>` overrides, an empty one as well (contract section 12)."""
    path = written(tmp_path, '[egress]\nallow = ["a.example"]\n[brand]\nname = "Kazzle"\n')
    env = {"REMIT_EGRESS_ALLOW": "127.0.0.0/8, [::1]:80 ,", "REMIT_BRAND_NAME": "Acme"}

    assert load_settings(path, env).egress_allow == ("127.0.0.0/8", "[::1]:80")
    assert load_settings(path, env).brand == "Acme"
    assert load_settings(path, {"REMIT_EGRESS_ALLOW": ""}).egress_allow == ()


def test_without_a_file_there_are_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`remit.toml` of the working directory is read where there is one (section 12)."""
    monkeypatch.chdir(tmp_path)
    assert load_settings(None, {}).egress_allow == ()
    assert load_settings(None, {}).brand == "Remit"
    written(tmp_path, '[egress]\nallow = ["a.example"]\n')
    assert load_settings(None, {}).egress_allow == ("a.example",)


@pytest.mark.parametrize(
    ("env", "folder"),
    [
        ({"REMIT_CACHE_DIR": "/c"}, "/c"),
        ({"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/x/remit"),
        ({"HOME": "/h"}, "/h/.cache/remit"),
    ],
)
def test_cache_folder_is_the_users(
    env: dict[str, str], folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user's cache folder, or `REMIT_CACHE_DIR` (contract section 13)."""
    monkeypatch.chdir(tmp_path)

    assert load_settings(None, env).cache_dir == Path(folder)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[egress\n", "remit.toml: is not TOML: "),
        ("[egres]\nallow = []\n", 'Did you mean "egress"?'),
        ("[egress]\nallows = []\n", 'Did you mean "allow"?'),
        (
            "[egress]\nallow = 'x.example'\n",
            "remit.toml: [egress] allow must be a list of texts. Write allow = [",
        ),
        ("[egress]\nallow = [1]\n", "must be a list of texts"),
        ("egress = 1\n", "is a section: write its keys below [egress]"),
        ("[brand]\nname = 5\n", "remit.toml: [brand] name must be a text. Write name ="),
        ("[brand]\nname = 'a b'\n", "one word"),
        ("[brand]\nname = ''\n", "one word"),
        ("[brand]\nname = '9x'\n", "one word"),
        ("[brand]\nname = 'Ämter'\n", "one word"),
    ],
)
def test_setting_that_is_none_says_the_mend(text: str, named: str, tmp_path: Path) -> None:
    """One clear error that names the file, the place and the mend (bad input)."""
    with pytest.raises(WrongUse) as error:
        load_settings(written(tmp_path, text), {})

    assert named in error.value.message


def test_file_that_cannot_be_read_is_wrong_use(tmp_path: Path) -> None:
    """A missing file, a folder, or bytes that are no text (bad input)."""
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    for path, named in (
        (tmp_path / "gone.toml", "no such file"),
        (tmp_path, "cannot be read: Is a directory."),
        (tmp_path / "bytes.toml", "cannot be read: it is not UTF-8 text."),
    ):
        with pytest.raises(WrongUse, match=named):
            load_settings(path, {})
