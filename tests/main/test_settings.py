"""Settings: a file, overridden by the environment (contract section 12)."""

from __future__ import annotations

from pathlib import Path

import pytest

from remit.errors import WrongUse
from remit.main.settings import ServerSettings, load_settings, store_file
from remit.values.secrets import Secret


def written(folder: Path, text: str) -> Path:
    """A settings file."""
    path = folder / "remit.toml"
    path.write_text(text, "utf-8")
    return path


def test_settings_come_from_the_file(tmp_path: Path) -> None:
    """`[egress] allow` and `[brand] name`; sections that nothing reads yet may stand there (12)."""
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


def test_requests_per_second_are_bounded_where_it_is_set(tmp_path: Path) -> None:
    """`[limits] requests_per_s`; 0 and nothing are no bound (contract section 12)."""
    path = written(tmp_path, "[limits]\nrequests_per_s = 50\n")

    assert load_settings(path, {}).requests_per_s == 50
    assert load_settings(path, {"REMIT_LIMITS_REQUESTS_PER_S": "0"}).requests_per_s is None
    assert load_settings(written(tmp_path, ""), {}).requests_per_s is None
    for wrong in ("-1", "1.5", "1000001"):
        with pytest.raises(WrongUse, match="REMIT_LIMITS_REQUESTS_PER_S must be a whole number"):
            load_settings(path, {"REMIT_LIMITS_REQUESTS_PER_S": wrong})


SERVER = """
[server]
host = "[::1]"
port = 8080
public_url = "https://remit.acme.example/"
allowed_origins = ["https://app.acme.example", "http://localhost:3000"]
trusted_proxies = ["10.0.0.7", "fd00::/8"]
drain_s = 5
[store]
url = "postgresql://remit:geheim@db/remit"
[vault]
key_file = "/run/secrets/remit.key"
"""


def test_server_settings_come_from_the_file(tmp_path: Path) -> None:
    """`[server]`, `[store]` and `[vault]` (contract section 12)."""
    settings = load_settings(written(tmp_path, SERVER), {})

    assert settings.server == ServerSettings(
        host="::1",
        port=8080,
        public_url="https://remit.acme.example",
        allowed_origins=("https://app.acme.example", "http://localhost:3000"),
        trusted_proxies=("10.0.0.7", "fd00::/8"),
        drain_s=5,
    )
    assert settings.store_url == "postgresql://remit:geheim@db/remit"
    assert settings.vault.key_file == Path("/run/secrets/remit.key")
    assert "geheim" not in repr(settings)


def test_variables_come_before_the_file_for_a_server_too(tmp_path: Path) -> None:
    """`REMIT_SERVER_PORT` and the like; a variable of [vault] replaces the whole section (12)."""
    env = {
        "REMIT_SERVER_PORT": "0",
        "REMIT_SERVER_HOST": "0.0.0.0",
        "REMIT_SERVER_ALLOWED_ORIGINS": "https://a.example, https://b.example:8443",
        "REMIT_SERVER_TRUSTED_PROXIES": "",
        "REMIT_SERVER_DRAIN_S": "3600",
        "REMIT_STORE_URL": "sqlite:///x.db",
        "REMIT_VAULT_KEY": "geheim",
    }
    settings = load_settings(written(tmp_path, SERVER), env)

    assert settings.server == ServerSettings(
        host="0.0.0.0",
        port=0,
        public_url="https://remit.acme.example",
        allowed_origins=("https://a.example", "https://b.example:8443"),
        drain_s=3600,
    )
    assert settings.store_url == "sqlite:///x.db"
    assert settings.vault.key == Secret("geheim")
    assert settings.vault.key_file is None
    assert "geheim" not in repr(settings)


@pytest.mark.parametrize(
    ("url", "file"),
    [
        ("sqlite:///remit.db", "remit.db"),
        ("sqlite:////var/lib/remit/remit.db", "/var/lib/remit/remit.db"),
        ("sqlite:///remit.db?timeout=1", "remit.db"),
        ("sqlite://", None),
        ("postgresql://u:p@host/remit", None),
        ("postgresql:///remit", None),
    ],
)
def test_file_of_a_store_is_that_of_its_url(url: str, file: str | None) -> None:
    """The key file and the lock stand beside it (contract section 12)."""
    assert store_file(url) == (None if file is None else Path(file))


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
        ("[serve]\nport = 1\n", 'Did you mean "server"?'),
        ("[server]\nports = 1\n", 'Did you mean "port"?'),
        ("[server]\nport = 65536\n", "[server] port must be a whole number from 0 to 65535"),
        ("[server]\nport = -1\n", "must be a whole number"),
        ("[server]\nport = true\n", "must be a whole number"),
        ("[server]\nport = '80'\n", "must be a whole number"),
        ("[server]\ndrain_s = 1.5\n", "must be a whole number from 0 to 3600"),
        ("[server]\nhost = ''\n", "[server] host is no address"),
        ("[server]\nhost = 'http://x'\n", "[server] host is no address"),
        ("[server]\npublic_url = 'remit.example'\n", "is no origin"),
        ("[server]\npublic_url = 'https://x.example/api'\n", "more than scheme, host and port"),
        ("[server]\npublic_url = 'https://u:p@x.example'\n", "is no origin"),
        ("[server]\nallowed_origins = ['*']\n", "is no origin"),
        ("[server]\nallowed_origins = 'https://x.example'\n", "must be a list of texts"),
        ("[server]\ntrusted_proxies = ['proxy']\n", "is no address and no range"),
        ("[server]\ntrusted_proxies = ['10.0.0.7/8']\n", "is no address and no range"),
        ("[store]\nurl = 1\n", "[store] url must be a text"),
        ("[vault]\nkey_file = ' '\n", "[vault] key_file is empty"),
        ("[vault]\nkeys = ''\n", 'Did you mean "key"?'),
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


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("REMIT_SERVER_PORT", "65536"),
        ("REMIT_SERVER_PORT", ""),
        ("REMIT_SERVER_PORT", "8e3"),
        ("REMIT_SERVER_PORT", "٨٠"),
        ("REMIT_SERVER_PORT", "1" * 5_000),
        ("REMIT_SERVER_DRAIN_S", "3601"),
        ("REMIT_SERVER_PUBLIC_URL", "x"),
        ("REMIT_SERVER_HOST", "a b"),
        ("REMIT_VAULT_KEY_FILE", ""),
    ],
)
def test_variable_that_is_none_is_named(name: str, value: str, tmp_path: Path) -> None:
    """What the person wrote is what the message begins with: the variable, not the file."""
    with pytest.raises(WrongUse) as error:
        load_settings(written(tmp_path, ""), {name: value})

    assert error.value.message.startswith(name)
    assert len(error.value.message) < 300


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
