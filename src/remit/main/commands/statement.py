"""``remit show`` and ``remit lock``: the remit of an app, to read and to keep."""

from __future__ import annotations

import asyncio
import json
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from remit.documents.problems import DocumentError
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


def lock(file: str, settings: Settings, *, check: bool, lock_file: Path | None) -> int:
    """Write ``remit.lock``, or compare with it; 1 when it no longer says what holds."""
    _, definition = read_definition(file, brand=settings.brand)
    path = lock_file or Path(file if file != "-" else ".").parent / "remit.lock"
    if check:
        return _check(path, definition, _again(file, lock_file))
    text = json.dumps(lock_of(definition), ensure_ascii=False, indent=2) + "\n"
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise WrongUse(f"{path}: cannot be written: {error}.") from None
    say(f"Wrote {path}. Keep it in version control; `{_again(file, lock_file)} --check` compares.")
    return 0


def _again(file: str, lock_file: Path | None) -> str:
    """The command that writes this lock, to type again."""
    return f"remit lock {file}" + (f" -o {lock_file}" if lock_file else "")


def _check(path: Path, definition: Definition, again: str) -> int:
    try:
        kept = parse_json(read_bytes(str(path)), max_bytes=MAX_LOCK_BYTES, max_depth=64)
    except DocumentError as error:
        raise InvalidDefinition(
            f"{path}: {error.problems[0].message}. Write it anew with `{again}`."
        ) from None
    sentences = check_lock(kept, definition)  # pyright: ignore[reportArgumentType] -- a decoded JSON value
    if not sentences:
        say(f"{path} holds: nothing changed of what an agent may do.")
        return 0
    print_text("\n".join(sentences))
    say(f"If all of this is wanted: `{again}` writes the new state.")
    return 1
