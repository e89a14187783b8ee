"""``remit show`` and ``remit lock``: the remit of an app, to read and to keep."""

from __future__ import annotations

import asyncio
import json
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from remit.catalog.mistakes import sentence
from remit.catalog.reading import is_object
from remit.documents.problems import DocumentError, quoted
from remit.documents.strict_json import parse_json
from remit.errors import InvalidDefinition, WrongUse
from remit.main.files import read_bytes, read_definition
from remit.main.output import print_json, print_text, say, width
from remit.offer.bill import bill
from remit.policy.catalogs import effective_catalog
from remit.statement.lock import check as check_lock
from remit.statement.lock import lock as lock_of
from remit.statement.remit import build
from remit.statement.rendering import as_json, as_markdown, as_text
from remit.statement.rendering import short as short_form

if TYPE_CHECKING:
    from remit.catalog.model import Definition
    from remit.main.settings import Settings

MAX_WIDTH = 96
MAX_LOCK_BYTES = 16 * 1024 * 1024


def show(file: str, settings: Settings, *, short: bool, fetch: bool, output: str) -> int:
    """Print the remit in one of its forms."""
    _, definition = read_definition(file, brand=settings.brand)
    if fetch:
        definition = with_effective_tools(definition, settings)
    if short and output != "json":
        text = short_form(build(definition))
        print_text(text if output == "md" else textwrap.fill(text, width(MAX_WIDTH)))
        return 0
    remit = build(definition, bill=bill(definition, effective_catalog(definition, None).tools))
    if output == "json":
        print_json(as_json(remit))
    elif output == "md":
        print_text(as_markdown(remit))
    else:
        print_text(as_text(remit, width(MAX_WIDTH)))
    return 0


def with_effective_tools(definition: Definition, settings: Settings) -> Definition:
    """The definition with the catalog that a session would get now."""
    from remit.main.commands.catalog import effective

    found = asyncio.run(effective(definition, settings, fetch=True))
    return replace(definition, tools=found.catalog.tools)


def lock(
    file: str, settings: Settings, *, check: bool, strict: bool, lock_file: Path | None
) -> int:
    """Write ``remit.lock``, or compare with it; 1 where an agent could do more than it says."""
    if strict and not check:
        raise WrongUse("--strict goes with --check: it fails on any difference.")
    _, definition = read_definition(file, brand=settings.brand)
    beside = Path(file if file != "-" else ".")
    path = lock_file or (beside if beside.is_dir() else beside.parent) / "remit.lock"
    again = f"remit lock {file}" + (f" -o {lock_file}" if lock_file else "")
    if check:
        return _check(path, definition, again, strict=strict)
    _refuse_foreign(path, definition)
    text = json.dumps(lock_of(definition), ensure_ascii=False, indent=2) + "\n"
    try:
        path.write_text(text, "utf-8")
    except FileNotFoundError:
        raise WrongUse(
            f"{path}: cannot be written: there is no folder {path.parent}. Make it first."
        ) from None
    except OSError as error:
        raise WrongUse(f"{path}: cannot be written: {error.strerror}.") from None
    say(f"Wrote {path}. Keep it in version control; `{again} --check` compares.")
    return 0


def _refuse_foreign(path: Path, definition: Definition) -> None:
    """Let nothing be overwritten but a lock of this app, or one that cannot be read any more.

    Raises:
        WrongUse: the file is of another app, or is no lock.
    """
    if not path.is_file():
        return
    try:
        kept = parse_json(read_bytes(str(path)), max_bytes=MAX_LOCK_BYTES, max_depth=64)
    except DocumentError:
        kept = None
    owner = kept.get("app") if is_object(kept) else None
    if isinstance(owner, str) and owner != definition.id:
        raise WrongUse(
            f"{path} is the lock of the app {quoted(owner)}, and {quoted(definition.id)} would "
            f"overwrite it. Name another file: -o {definition.id}.lock."
        )
    if owner is None and path.suffix != ".lock":
        raise WrongUse(
            f"{path} is there, and is no lock. Name another file: -o {definition.id}.lock."
        )


def _check(path: Path, definition: Definition, again: str, *, strict: bool) -> int:
    if not path.exists():
        raise InvalidDefinition(f"{path}: there is no such lock. Write it with `{again}`.")
    try:
        kept = parse_json(read_bytes(str(path)), max_bytes=MAX_LOCK_BYTES, max_depth=64)
    except DocumentError as error:
        raise InvalidDefinition(
            f"{path}: {sentence(error.problems[0].message)} Write it anew with `{again}`."
        ) from None
    found = check_lock(kept, definition)  # pyright: ignore[reportArgumentType] -- a decoded JSON value
    if not found:
        say(f"{path} holds: nothing changed of what an agent may do.")
        return 0
    if found.more or strict:
        print_text("\n".join((*found.more, *found.same_or_less)))
        say(f"If all of this is wanted: `{again}` writes the new state.")
        return 1
    say("\n".join(found.same_or_less))
    say(f"An agent can do nothing more than {path} says. `{again}` writes the new state.")
    return 0
