"""Settings: ``remit.toml``, overridden by ``REMIT_<SECTION>_<KEY>`` (contract section 12)."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING

from remit.errors import WrongUse
from remit.main.settings_file import Given, read_table
from remit.values.secrets import Secret
from remit.values.urls import UrlFault, parse_origin

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_FILE = "remit.toml"
DEFAULT_STORE = "sqlite:///remit.db"
DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8700
DEFAULT_DRAIN_S = 30
MAX_DRAIN_S = 3_600
MAX_REQUESTS_PER_S = 1_000_000
_MAX_PORT = 65_535

# Sections of the contract that nothing reads yet; a file may hold them already.
_LATER = frozenset({"policy", "telemetry"})
# One row a setting: section, key, what it is for. The reference page is held to this table.
SETTINGS: tuple[tuple[str, str, str], ...] = (
    ("server", "host", "the address that the server listens on"),
    ("server", "port", "the port that the server listens on; 0 takes a free one"),
    ("server", "public_url", "the origin that links, issuer and audience are made from"),
    ("server", "allowed_origins", "origins whose pages may call the API from a browser"),
    ("server", "trusted_proxies", "proxies whose word on the caller's address is believed"),
    ("server", "drain_s", "how long a stop waits for what is under way, in seconds"),
    ("store", "url", "the database"),
    ("vault", "key", "the key that seals credentials: 32 random bytes in base64"),
    ("vault", "key_file", "a file with that key"),
    ("vault", "key_command", "a command that prints that key"),
    ("egress", "allow", "destinations that may be called although they are not public or use http"),
    ("model", "name", "the language model: openai:NAME, anthropic:NAME or google:NAME"),
    ("model", "base_url", "another server that speaks the provider's API"),
    ("model", "api_key", "the key for the provider"),
    ("limits", "requests_per_s", "requests that one key may send in a second; 0 is no bound"),
    ("brand", "name", "the product name that people, headers and variables show"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """``[server]``.

    Attributes:
        port: 0 takes a free one.
        public_url: an origin, without a slash at its end; None says that it follows from host
            and port.
        allowed_origins: origins, as a browser sends them.
        trusted_proxies: addresses and ranges.
        drain_s: how long a stop waits for what is under way.
    """

    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    public_url: str | None = None
    allowed_origins: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
    drain_s: int = DEFAULT_DRAIN_S


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySource:
    """``[vault]``: where the master key is; nothing set is the store's own key file."""

    key: Secret | None = None
    key_file: Path | None = None
    key_command: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSource:
    """``[model]``: which language model answers in sessions; without a name none does."""

    name: str | None = None
    base_url: str | None = None
    api_key: Secret | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the commands run with.

    Attributes:
        egress_allow: entries of ``[egress] allow``, as written.
        brand: ``[brand] name``.
        cache_dir: where the last good catalogs are kept.
        store_url: ``[store] url``; it may hold a password, so it is printed nowhere.
        requests_per_s: of one key, on one server; None is no bound.
    """

    egress_allow: tuple[str, ...]
    brand: str
    cache_dir: Path
    server: ServerSettings = ServerSettings()
    store_url: str = field(default=DEFAULT_STORE, repr=False)
    vault: KeySource = KeySource()
    model: ModelSource = ModelSource()
    requests_per_s: int | None = None


def load_settings(file: Path | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """Read the settings.

    Args:
        file: given by ``--config``, or None for ``remit.toml`` of the working directory, if any.
        environ: the environment; that of the process by default.

    Raises:
        WrongUse: a file that cannot be read, or a section, key or value that is none.
    """
    env = os.environ if environ is None else environ
    path = Path(DEFAULT_FILE) if file is None else file
    known: dict[str, frozenset[str]] = {}
    for section, key, _ in SETTINGS:
        known[section] = known.get(section, frozenset()) | {key}
    table = read_table(path, required=file is not None, known=known, later=_LATER)
    given = Given(path=path, table=table, env=env)
    name = given.text("brand", "name")
    rate = given.whole("limits", "requests_per_s", default=0, most=MAX_REQUESTS_PER_S)
    return Settings(
        egress_allow=given.texts("egress", "allow"),
        brand=_brand("Remit" if name is None else name),
        cache_dir=_cache_dir(env),
        server=_server(given),
        store_url=given.text("store", "url") or DEFAULT_STORE,
        vault=_key_source(given),
        model=_model_source(given),
        requests_per_s=rate or None,
    )


def store_file(url: str) -> Path | None:
    """The file of a SQLite store; None for a store of another kind."""
    scheme, _, rest = url.partition(":///")
    return Path(rest.partition("?")[0]) if scheme.partition("+")[0] == "sqlite" and rest else None


def _server(given: Given) -> ServerSettings:
    host = given.text("server", "host")
    return ServerSettings(
        host=DEFAULT_HOST if host is None else _host(given, host),
        port=given.whole("server", "port", default=DEFAULT_PORT, most=_MAX_PORT),
        public_url=_public_url(given),
        allowed_origins=_origins(given),
        trusted_proxies=_proxies(given),
        drain_s=given.whole("server", "drain_s", default=DEFAULT_DRAIN_S, most=MAX_DRAIN_S),
    )


def _host(given: Given, text: str) -> str:
    """An address or a name; its brackets, which a URL has, are left out."""
    bare = text.removeprefix("[").removesuffix("]") if text.startswith("[") else text
    if not bare or not bare.isascii() or not bare.isprintable() or set(bare) & set(" /@"):
        raise WrongUse(
            f"{given.place('server', 'host')} is no address. Write 127.0.0.1 for this machine "
            "alone, or 0.0.0.0 for every network it is in."
        )
    return bare


def _origin(place: str, text: str) -> str:
    """An origin as a browser writes it.

    Raises:
        WrongUse: it is none.
    """
    try:
        return str(parse_origin(text))
    except UrlFault as fault:
        raise WrongUse(
            f"{place}: {text[:100]!a} is no origin: {fault.reason}. Write scheme, host and, "
            'if need be, port: "https://remit.acme.example".'
        ) from None


def _public_url(given: Given) -> str | None:
    text = given.text("server", "public_url")
    return None if text is None else _origin(given.place("server", "public_url"), text)


def _origins(given: Given) -> tuple[str, ...]:
    place = given.place("server", "allowed_origins")
    return tuple(_origin(place, entry) for entry in given.texts("server", "allowed_origins"))


def _proxies(given: Given) -> tuple[str, ...]:
    found = given.texts("server", "trusted_proxies")
    for entry in found:
        try:
            ip_network(entry)
        except ValueError:
            raise WrongUse(
                f"{given.place('server', 'trusted_proxies')}: {entry[:100]!a} is no address and "
                'no range. Write "10.0.0.7", or "10.0.0.0/24".'
            ) from None
    return found


def _key_source(given: Given) -> KeySource:
    """``[vault]``; a variable takes the place of whatever the file says there."""
    variables = Given(path=given.path, table={}, env=given.env)
    keys = ("key", "key_file", "key_command")
    source = variables if any(variables.gives("vault", key) for key in keys) else given
    key, key_file, command = (source.text("vault", name) for name in keys)
    if key_file is not None and not key_file.strip():
        raise WrongUse(
            f"{source.place('vault', 'key_file')} is empty. Name a file, or leave it out."
        )
    return KeySource(
        key=None if key is None else Secret(key),
        key_file=None if key_file is None else Path(key_file),
        key_command=command,
    )


def _model_source(given: Given) -> ModelSource:
    key, url = given.text("model", "api_key"), given.text("model", "base_url")
    if url is not None and not url.startswith(("http://", "https://")):
        raise WrongUse(
            f"{given.place('model', 'base_url')} is no http(s) address. Write the address up to "
            'the path before /chat/completions: "http://127.0.0.1:11434/v1".'
        )
    return ModelSource(
        name=given.text("model", "name"),
        base_url=url,
        api_key=None if key is None else Secret(key),
    )


def _cache_dir(env: Mapping[str, str]) -> Path:
    if given := env.get("REMIT_CACHE_DIR"):
        return Path(given)
    base = env.get("XDG_CACHE_HOME") or str(Path(env.get("HOME") or "~").expanduser() / ".cache")
    return Path(base) / "remit"


def _brand(name: str) -> str:
    """A brand names headers and variables, so it is a word of letters and digits."""
    if not (name.isascii() and name.isalnum() and name[:1].isalpha()) or len(name) > 40:
        raise WrongUse(
            f'[brand] name is "{name[:60]}"; use one word of ASCII letters and digits, '
            "because headers and variables are named after it."
        )
    return name
