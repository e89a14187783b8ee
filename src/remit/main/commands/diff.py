"""``remit diff``: what changed, edit or version, and whether users consent again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.catalog.definitions import load_catalog
from remit.catalog.requests import Surroundings
from remit.errors import InvalidDefinition, WrongUse
from remit.main.files import definition_of, read_source
from remit.main.output import print_json, print_text
from remit.policy.versions import VersionDiff, compare, compare_tools

if TYPE_CHECKING:
    from remit.catalog.model import Definition, Tool
    from remit.main.files import Source
    from remit.main.settings import Settings


def run(old: str, new: str, settings: Settings, *, fetch: bool, as_json: bool) -> int:
    """Print the difference of two definitions, or of two bare catalogs."""
    sources = tuple(read_source(name, brand=settings.brand) for name in (old, new))
    if sources[0].is_catalog != sources[1].is_catalog:
        raise WrongUse(
            f"{old} and {new} cannot be compared: one is a bare catalog, one a definition."
        )
    if sources[0].is_catalog:
        found = compare_tools(*(_tools(source, settings) for source in sources))
    else:
        found = compare(*(_definition(source, settings, fetch=fetch) for source in sources))
    if as_json:
        print_json(found.as_json())
    else:
        print_text(_text(found))
    return 0


def _definition(source: Source, settings: Settings, *, fetch: bool) -> Definition:
    definition = definition_of(source, brand=settings.brand)
    if not fetch:
        return definition
    from remit.main.commands.statement import with_effective_tools

    return with_effective_tools(definition, settings)


def _tools(source: Source, settings: Settings) -> tuple[Tool, ...]:
    loaded = load_catalog(source.document, Surroundings(brand=settings.brand))
    if loaded is None or loaded.mistakes:
        listed = "\n".join(str(mistake) for mistake in (loaded.mistakes if loaded else ()))
        raise InvalidDefinition(f"{listed}\n{source.name} cannot be used.".lstrip())
    return loaded.tools


def _text(found: VersionDiff) -> str:
    heads = {
        "none": "Nothing changed.",
        "edit": "An edit: it needs no approval, and nobody consents again.",
        "version": "A new version: a reviewer must approve it, and users consent again.",
    }
    lines = [heads[found.change]]
    if found.reasons:
        lines += ["", "Why"]
        lines += [f"  {reason}" for reason in found.reasons]
    others = [c.words for c in found.changes if c.words not in found.reasons]
    if others:
        lines += ["", "Also changed" if found.reasons else "What changed"]
        lines += [f"  {words}" for words in others]
    return "\n".join(lines)
