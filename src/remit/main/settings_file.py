"""Reads ``remit.toml`` and the variables that come before it; every value is checked where it is.

What a fault is said of is what the person wrote: the variable, or the key in its file.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from remit.errors import WrongUse
from remit.values.json import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

_MAX_FILE_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What the file and the environment say.

    Attributes:
        path: of the file.
        table: by section, then by key; every name in it is known.
        env: the environment, which comes first.
    """

    path: Path
    table: Mapping[str, Mapping[str, object]]
    env: Mapping[str, str]

    def place(self, section: str, key: str) -> str:
        """Where the value stands, as a message begins."""
        name = variable(section, key)
        return name if name in self.env else f"{self.path}: [{section}] {key}"

    def text(self, section: str, key: str) -> str | None:
        """A text, or None where nobody gives one.

        Raises:
            WrongUse: it is no text.
        """
        if (given := self.env.get(variable(section, key))) is not None:
            return given
        value = self._value(section, key)
        if value is None or isinstance(value, str):
            return value
        raise WrongUse(
            f'{self.place(section, key)} must be a text. Write {key} = "…" with quotation marks.'
        )

    def texts(self, section: str, key: str) -> tuple[str, ...]:
        """A list of texts, in the variable with commas between them; empty where nobody gives one.

        Raises:
            WrongUse: it is no list of texts.
        """
        if (given := self.env.get(variable(section, key))) is not None:
            return tuple(entry.strip() for entry in given.split(",") if entry.strip())
        value = self._value(section, key)
        items = cast("list[object]", value) if isinstance(value, list) else None
        if value is not None and (items is None or not all(isinstance(i, str) for i in items)):
            raise WrongUse(
                f"{self.place(section, key)} must be a list of texts. "
                f'Write {key} = ["127.0.0.1"], for example.'
            )
        return tuple(str(item) for item in items or ())

    def whole(self, section: str, key: str, *, default: int, most: int) -> int:
        """A whole number from 0 to ``most``.

        Raises:
            WrongUse: it is none.
        """
        given = self.env.get(variable(section, key))
        value = self._value(section, key) if given is None else given.strip()
        if value is None:
            return default
        if isinstance(value, str) and given is not None and value.isascii() and value.isdigit():
            # int() refuses more digits than it can read in bounded time.
            value = int(value[:20])
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most:
            return value
        raise WrongUse(
            f"{self.place(section, key)} must be a whole number from 0 to {most}. "
            f"Write {default}, for example."
        )

    def gives(self, section: str, key: str) -> bool:
        """Whether anybody gives a value."""
        return variable(section, key) in self.env or self._value(section, key) is not None

    def _value(self, section: str, key: str) -> object:
        return self.table.get(section, {}).get(key)


def variable(section: str, key: str) -> str:
    """The variable that comes before a key of the file."""
    return f"REMIT_{section.upper()}_{key.upper()}"


def read_table(
    path: Path, *, required: bool, known: Mapping[str, frozenset[str]], later: Iterable[str]
) -> Mapping[str, Mapping[str, object]]:
    """The file, by section and key; empty where there is none and none is required.

    Args:
        path: of the file.
        required: whether it was named.
        known: the keys of each section.
        later: sections that nothing reads yet; they may stand there.

    Raises:
        WrongUse: a file that cannot be read, or a section or key that is none.
    """
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
    return _checked(path, table, known, frozenset(later))


def _text_of(path: Path) -> str:
    with path.open("rb") as file:
        data = file.read(_MAX_FILE_BYTES + 1)
    if len(data) > _MAX_FILE_BYTES:
        raise WrongUse(f"{path}: is larger than {_MAX_FILE_BYTES:,} bytes. Check --config.")
    return data.decode("utf-8")


def _checked(
    path: Path,
    table: dict[str, object],
    known: Mapping[str, frozenset[str]],
    later: frozenset[str],
) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    for section, values in table.items():
        if section in later:
            continue
        if section not in known:
            raise WrongUse(_unknown(path, f"[{section}]", section, {*known, *later}))
        if not isinstance(values, dict):
            raise WrongUse(f"{path}: {section} is a section: write its keys below [{section}].")
        record = cast("dict[str, object]", values)
        for key in record:
            if key not in known[section]:
                raise WrongUse(_unknown(path, f"[{section}] {key}", key, known[section]))
        found[section] = record
    return found


def _unknown(path: Path, place: str, name: str, known: Iterable[str]) -> str:
    listed = sorted(known)
    near = nearest(name, listed)
    mend = f'Did you mean "{near}"?' if near else f"Known: {', '.join(listed)}."
    return f"{path}: {place} is no setting. {mend}"
