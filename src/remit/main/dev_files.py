"""Files and app folders of ``remit dev``: which may be named, and whether one was written since."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from remit.building import APP_FILE
from remit.errors import WrongUse
from remit.main.files import is_app_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: What is not looked at in a folder: packages, caches, and what a running component writes.
_PASSED_OVER = frozenset({"node_modules", "__pycache__"})
_WRITTEN = (".db", ".db-wal", ".db-shm", ".db-journal", ".sqlite", ".sqlite3", ".log", ".pyc")
#: What makes a folder one of Python packages.
_VENV = "pyvenv.cfg"
MAX_FILES = 10_000

Stamp: TypeAlias = frozenset[tuple[str, int, int]]


def checked_files(names: Iterable[str]) -> tuple[str, ...]:
    """The definitions and app folders, all of them there.

    Raises:
        WrongUse: one is not there, or is a folder without an ``app.yaml``.
    """
    found = tuple(dict.fromkeys(names))
    for name in found:
        path = Path(name)
        if path.is_dir() and not is_app_folder(name):
            raise WrongUse(
                f"{name}: the folder has no {APP_FILE}. Name an app folder, or a definition in it."
            )
        if not path.exists():
            raise WrongUse(
                f"{name}: there is no such file. Name a definition, YAML or JSON, or an app folder."
            )
        if not path.is_dir() and not path.is_file():
            raise WrongUse(
                f"{name}: is no file. Name a definition, YAML or JSON, or an app folder."
            )
    return found


def stamp(name: str) -> Stamp | None:
    """What changes when the file, or any file of the folder, is written.

    None where it cannot be seen. Of a folder, files that a running component writes (databases,
    logs), packages and hidden files are passed over, and ``MAX_FILES`` are looked at.
    """
    path = Path(name)
    try:
        if not path.is_dir():
            return frozenset({_of(path, "")})
    except OSError:
        # A file that an editor is writing anew is gone for a moment.
        return None
    found: set[tuple[str, int, int]] = set()
    for file, at in _files(path):
        try:
            found.add(_of(file, at))
        except OSError:
            continue
        if len(found) == MAX_FILES:
            break
    return frozenset(found)


def _of(path: Path, at: str) -> tuple[str, int, int]:
    stat = path.stat()
    return at, stat.st_mtime_ns, stat.st_size


def _files(root: Path) -> Iterator[tuple[Path, str]]:
    for folder, folders, names in os.walk(root):
        if folder != str(root) and _VENV in names:
            folders.clear()
            continue
        folders[:] = [one for one in folders if one not in _PASSED_OVER and not one.startswith(".")]
        for name in names:
            if not name.startswith(".") and not name.endswith(_WRITTEN):
                file = Path(folder) / name
                yield file, str(file.relative_to(root))
