"""Settings: ``remit.toml``, overridden by ``REMIT_<SECTION>_<KEY>`` (contract section 12)."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from remit.errors import WrongUse
from remit.values.json import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DEFAULT_FILE = "remit.toml"
_MAX_FILE_BYTES = 1024 * 1024

# Sections of the contract that only a server reads; a file may hold them already.
_SERVER_SECTIONS = frozenset({"server", "store", "model", "vault", "policy", "limits", "telemetry"})
# One row a setting: section, key, what it is for. The reference page is held to this table.
SETTINGS: tuple[tuple[str, str, str], ...] = (
    ("egress", "allow", "destinations that may be called although they are not public or use http"),
    ("brand", "name", "the product name that people, headers and variables show"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the commands run with.

    Attributes:
        egress_allow: entries of ``[egress] allow``, as written.
        brand: ``[brand] name``.
        cache_dir: where the last good catalogs are kept.
    """

    egress_allow: tuple[str, ...]
    brand: str
    cache_dir: Path


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
    table = _read(path, required=file is not None)
    allow = _override(env, "egress", "allow")
    brand = _override(env, "brand", "name")
    egress_allow = (
        _texts(path, table, "egress", "allow")
        if allow is None
        else tuple(entry.strip() for entry in allow.split(",") if entry.strip())
    )
    return Settings(
        egress_allow=egress_allow,
        brand=_brand(_text(path, table, "brand", "name") if brand is None else brand),
        cache_dir=_cache_dir(env),
    )


def _override(env: Mapping[str, str], section: str, key: str) -> str | None:
    return env.get(f"REMIT_{section.upper()}_{key.upper()}")


def _cache_dir(env: Mapping[str, str]) -> Path:
    if given := env.get("REMIT_CACHE_DIR"):
        return Path(given)
    base = env.get("XDG_CACHE_HOME") or str(Path(env.get("HOME") or "~").expanduser() / ".cache")
    return Path(base) / "remit"


def _read(path: Path, *, required: bool) -> dict[str, dict[str, object]]:
    try:
        text = _text_of(path)
    except FileNotFoundError:
        if not required:
            return {}
        raise WrongUse(f"{path}: there is no such file. Check --config.") from None
    except OSError as error:
        raise WrongUse(f"{path}: cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise WrongUse(f"{path}: cannot be read: it is not UTF-8 text. Save it as UTF-8.") from None
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise WrongUse(f"{path}: is not TOML: {error}. Mend it there.") from None
    return _checked(path, table)


def _text_of(path: Path) -> str:
    with path.open("rb") as file:
        data = file.read(_MAX_FILE_BYTES + 1)
    if len(data) > _MAX_FILE_BYTES:
        raise WrongUse(f"{path}: is larger than {_MAX_FILE_BYTES:,} bytes. Check --config.")
    return data.decode("utf-8")


def _checked(path: Path, table: dict[str, object]) -> dict[str, dict[str, object]]:
    known: dict[str, set[str]] = {}
    for section, key, _ in SETTINGS:
        known.setdefault(section, set()).add(key)
    found: dict[str, dict[str, object]] = {}
    for section, values in table.items():
        if section in _SERVER_SECTIONS:
            continue
        if section in known and not isinstance(values, dict):
            raise WrongUse(f"{path}: {section} is a section: write its keys below [{section}].")
        if section not in known:
            raise WrongUse(_unknown(path, f"[{section}]", section, [*known, *_SERVER_SECTIONS]))
        record = cast("dict[str, object]", values)
        for key in record:
            if key not in known[section]:
                raise WrongUse(_unknown(path, f"[{section}] {key}", key, known[section]))
        found[section] = record
    return found


def _unknown(path: Path, place: str, name: str, known: Sequence[str] | set[str]) -> str:
    near = nearest(name, known)
    mend = f'Did you mean "{near}"?' if near else f"Known: {', '.join(sorted(known))}."
    return f"{path}: {place} is no setting. {mend}"


def _texts(
    path: Path, table: dict[str, dict[str, object]], section: str, key: str
) -> tuple[str, ...]:
    value = table.get(section, {}).get(key, [])
    items = cast("list[object]", value) if isinstance(value, list) else None
    if items is None or not all(isinstance(item, str) for item in items):
        raise WrongUse(
            f"{path}: [{section}] {key} must be a list of texts. "
            f'Write {key} = ["127.0.0.1"], for example.'
        )
    return tuple(str(item) for item in items)


def _text(path: Path, table: dict[str, dict[str, object]], section: str, key: str) -> str:
    value = table.get(section, {}).get(key, "Remit")
    if not isinstance(value, str):
        raise WrongUse(f'{path}: [{section}] {key} must be a text. Write {key} = "Remit".')
    return value


def _brand(name: str) -> str:
    """A brand names headers and variables, so it is a word of letters and digits."""
    if not (name.isascii() and name.isalnum() and name[:1].isalpha()) or len(name) > 40:
        raise WrongUse(
            f'[brand] name is "{name[:60]}"; use one word of ASCII letters and digits, '
            "because headers and variables are named after it."
        )
    return name
