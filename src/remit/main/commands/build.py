"""``remit build``: an app folder as one definition (contract sections 8 and 13)."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from remit.building import APP_FILE, missing_routes, mistakes_of
from remit.catalog.definitions import load_definition
from remit.catalog.model import AppTarget
from remit.errors import WrongUse
from remit.lint.run import lint_definition
from remit.main.commands.lint import print_reviewed
from remit.main.commands.refreshing import client
from remit.main.folders import build_folder, reviewed_folder
from remit.main.output import print_json, say

if TYPE_CHECKING:
    from remit.building import Built
    from remit.catalog.mistakes import Mistake
    from remit.catalog.model import Definition
    from remit.main.settings import Settings


def run(
    folder: str, settings: Settings, *, output: Path | None, limit_s: float, routes: bool
) -> int:
    """Build a folder and write its definition; 1 where it cannot be used, and then nothing is.

    Raises:
        WrongUse: there is no such folder, or nothing can be written at ``output``.
    """
    _check_folder(folder)
    if output is not None:
        _check_output(output, Path(folder))
    built = build_folder(folder, brand=settings.brand, limit_s=limit_s)
    found = _errors(built, settings)
    if not built.sound or found:
        print_reviewed(reviewed_folder(built, found, folder), aside=True)
        return 1
    definition = load_definition(built.document, brand=settings.brand).definition
    told: tuple[Mistake, ...] = ()
    if routes and definition is not None and _has_routes(definition):
        told = asyncio.run(_missing(definition, settings))
    if told or built.faults:
        print_reviewed(reviewed_folder(built, told, folder), aside=True)
    if output is None:
        print_json(built.document)
        return 0
    _write(output, json.dumps(built.document, ensure_ascii=False, indent=2) + "\n")
    say(f"Wrote {output}: {_counted(built)}. `remit lint {folder}` says what a reviewer would ask.")
    return 0


def _errors(built: Built, settings: Settings) -> tuple[Mistake, ...]:
    """The errors of the definition: what cannot load, and what lint finds in what can."""
    if not built.sound:
        return mistakes_of(built, brand=settings.brand)
    found = lint_definition(built.document, brand=settings.brand)
    return tuple(mistake for mistake in found if mistake.level == "error")


def _has_routes(definition: Definition) -> bool:
    return any(isinstance(tool.destination, AppTarget) for tool in definition.tools)


async def _missing(definition: Definition, settings: Settings) -> tuple[Mistake, ...]:
    async with client(settings) as egress:
        return await missing_routes(definition, egress)


def _counted(built: Built) -> str:
    skills, tools = len(built.skills), len(built.tools)
    return f"{skills} skill{'s' if skills != 1 else ''}, {tools} tool{'s' if tools != 1 else ''}"


def _check_folder(folder: str) -> None:
    path = Path(folder)
    try:
        if path.is_dir():
            return
        exists = path.exists()
    except (OSError, ValueError):
        raise WrongUse(f"{folder[:80]!a}: is no name of a folder.") from None
    if not exists:
        raise WrongUse(f"{folder}: there is no such folder. Name the one with {APP_FILE}.")
    raise WrongUse(f"{folder}: is a file. Name the folder with {APP_FILE}.")


def _check_output(output: Path, folder: Path) -> None:
    """Refuse what could not be written, and the folder's own sources, before any code runs."""
    if output.resolve().is_relative_to(folder.resolve() / "skills"):
        raise WrongUse(
            f"{output}: is among the skills, which the folder is built from. Name a file elsewhere."
        )
    if output.suffix.lower() in (".yaml", ".yml"):
        raise WrongUse(f"{output}: a definition is written as JSON. Name a file.json.")
    try:
        mode = output.stat().st_mode
    except FileNotFoundError:
        if not output.parent.is_dir():
            raise WrongUse(
                f"{output}: cannot be written: there is no folder {output.parent}. Make it first."
            ) from None
        return
    except (OSError, ValueError):
        raise WrongUse(f"{output}: cannot be written. Name another file.") from None
    if stat.S_ISDIR(mode):
        raise WrongUse(f"{output}: is a folder. Name a file in it.")
    if not stat.S_ISREG(mode):
        raise WrongUse(f"{output}: is no file. Leave -o out to write to stdout.")


def _write(output: Path, text: str) -> None:
    """Put the file there whole, or leave the one that is there as it is.

    Raises:
        WrongUse: it cannot be written.
    """
    # Through a link, to the file that it names.
    target = output.resolve()
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(_mode(target))
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise WrongUse(f"{output}: cannot be written: {error.strerror}.") from None


def _mode(target: Path) -> int:
    """The permissions of the file that is there, or those that a new one gets."""
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
