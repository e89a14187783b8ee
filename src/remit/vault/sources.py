"""Where the master key comes from: a setting, a file, a command, or a file made for SQLite.

Contract section 12: ``[vault] key | key_file | key_command``. Messages name the place and the
mend, never what was read; what a command says on stderr is not shown, since it may be the key.
"""

from __future__ import annotations

import errno
import os
import stat
from base64 import b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING

from remit.errors import WrongUse
from remit.values.secrets import Secret
from remit.vault.commands import run_key_command
from remit.vault.envelopes import KEY_BYTES
from remit.vault.masters import MAKE_ONE, MAX_KEYS, Masters, read_masters

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet
    from pathlib import Path

_MAX_FILE_BYTES = 4_096
_PRIVATE = 0o600
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultSettings:
    """``[vault]``, as set; one of the three at most.

    Attributes:
        default_file: used when none is set: ``<store file>.key`` on SQLite, None elsewhere.
    """

    key: Secret | None = None
    key_file: Path | None = None
    key_command: str | None = None
    default_file: Path | None = None


def find_masters(settings: VaultSettings) -> Masters | None:
    """The master keys, or None where the default file is to be made.

    Raises:
        WrongUse: two places are set, or none on PostgreSQL, or what is set has no usable key.
    """
    named = [
        name
        for name, value in (
            ("key", settings.key),
            ("key_file", settings.key_file),
            ("key_command", settings.key_command),
        )
        if value is not None
    ]
    if len(named) > 1:
        raise WrongUse(f"[vault] has {' and '.join(named)}: only one can be the key. Keep one.")
    if settings.key is not None:
        return read_masters(settings.key, "[vault] key")
    if settings.key_command is not None:
        return read_masters(run_key_command(settings.key_command), "[vault] key_command")
    if settings.key_file is not None:
        return read_key_file(settings.key_file, "[vault] key_file")
    if settings.default_file is None:
        raise WrongUse(
            "[vault] has no key, and on PostgreSQL none is made, because every node needs the "
            f"same. Set key, key_file or key_command to 32 random bytes in base64: {MAKE_ONE}"
        )
    if settings.default_file.exists():
        return read_key_file(settings.default_file, "[vault]")
    return None


def make_default(settings: VaultSettings, *, in_use: AbstractSet[str]) -> Masters:
    """Make the key file of a SQLite store (mode 0600) and read it.

    Args:
        settings: those that ``find_masters`` found no key in.
        in_use: ids of the master keys that the store's values are sealed under.

    Raises:
        WrongUse: the store has sealed values, whose key is gone, or the file cannot be made.
    """
    path = settings.default_file
    if path is None:
        raise WrongUse("[vault] has no key, and there is no place to make one. Set key_file.")
    if in_use:
        raise WrongUse(
            f"{path} is not there, and the store holds values that were sealed under its key. Put "
            "the file back, or set [vault] key_file to where it is. Nothing was changed."
        )
    _create(path, _new_line())
    return read_key_file(path, "[vault]")


def add_new_key(path: Path, place: str = "[vault] key_file") -> Masters:
    """Put a new key before those of a key file; the old ones stay, and go on opening.

    Raises:
        WrongUse: the file cannot be read or written.
    """
    old = _read(path, place)
    if len(read_masters(old, f"{place} {path}").ids) == MAX_KEYS:
        raise WrongUse(
            f"{place} {path} has {MAX_KEYS} keys, which is the most. Remove the last one, if "
            "nothing is sealed under it any more."
        )
    temporary = _beside(path)
    try:
        _write(temporary, _new_line() + old.reveal())
        temporary.replace(path)
        _sync_folder(path.parent)
    except OSError as fault:
        temporary.unlink(missing_ok=True)
        raise WrongUse(_unwritable(path, fault)) from None
    return read_key_file(path, place)


def read_key_file(path: Path, place: str) -> Masters:
    """The master keys of a file that nobody but its owner can read.

    Raises:
        WrongUse: no such file, one that others can read, or no usable key in it.
    """
    return read_masters(_read(path, place), f"{place} {path}")


def _read(path: Path, place: str) -> Secret:
    try:
        # Not blocking: the path might be a pipe that nobody writes to.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as fault:
        raise WrongUse(f"{place} {path} cannot be read: {_reason(fault)}.") from None
    try:
        # Of the open file, not of the path: what is checked is what is read.
        _check_file(os.fstat(handle), f"{place} {path}", path)
        text = os.read(handle, _MAX_FILE_BYTES + 1)
    except OSError as fault:
        raise WrongUse(f"{place} {path} cannot be read: {_reason(fault)}.") from None
    finally:
        os.close(handle)
    if len(text) > _MAX_FILE_BYTES:
        raise WrongUse(f"{place} {path} is larger than {_MAX_FILE_BYTES} bytes, so it is no key.")
    return Secret(text.decode("utf-8", "replace"))


def _check_file(status: os.stat_result, which: str, path: Path) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise WrongUse(f"{which} is no file. Name a file with the key in it.")
    if status.st_mode & _OTHERS:
        raise WrongUse(
            f"{which} can be read by others (mode {stat.S_IMODE(status.st_mode):04o}). Whoever "
            f"read it may have the key. Close it: chmod 600 {path}"
        )


def _create(path: Path, text: str) -> None:
    """Make the file whole or not at all; one that another process just made is left as it is."""
    temporary = _beside(path)
    try:
        try:
            _write(temporary, text)
            os.link(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
        _sync_folder(path.parent)
    except FileExistsError:
        return
    except OSError as fault:
        raise WrongUse(_unwritable(path, fault)) from None


def _write(path: Path, text: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _PRIVATE)
    with os.fdopen(handle, "w") as file:
        os.fchmod(handle, _PRIVATE)
        file.write(text)
        file.flush()
        os.fsync(handle)


def _beside(path: Path) -> Path:
    """A name in the same folder that nobody else takes."""
    return path.with_name(f".{path.name}.{os.urandom(8).hex()}")


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _new_line() -> str:
    return b64encode(os.urandom(KEY_BYTES)).decode() + "\n"


def _unwritable(path: Path, fault: OSError) -> str:
    return (
        f"The key file {path} cannot be made: {_reason(fault)}. Make the folder writable, or set "
        "[vault] key_file to a place that is."
    )


def _reason(fault: OSError) -> str:
    if fault.errno == errno.ENOENT:
        return "there is no such file"
    return (fault.strerror or "it failed").lower()
