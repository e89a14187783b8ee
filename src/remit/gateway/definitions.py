"""A kept version as a definition again: as it was submitted, and as calls run under it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from remit.catalog.definitions import load_definition
from remit.catalog.scales import Ceiling
from remit.documents.load import MAX_DOCUMENT_BYTES, MAX_DOCUMENT_DEPTH
from remit.documents.problems import DocumentError
from remit.documents.strict_json import parse_json

if TYPE_CHECKING:
    from remit.catalog.model import Definition
    from remit.gateway.records import Version


def submitted(version: Version, *, brand: str) -> Definition | None:
    """The definition as its author wrote it, with the ceiling that it asks for.

    None where this release cannot load it any more. A large one takes long enough for a thread.
    """
    try:
        document = parse_json(
            version.definition_json, max_bytes=MAX_DOCUMENT_BYTES, max_depth=MAX_DOCUMENT_DEPTH
        )
    except DocumentError:
        return None
    loaded = load_definition(document, brand=brand)  # pyright: ignore[reportArgumentType] -- a decoded JSON value
    return loaded.definition if loaded.sound else None


def approved(version: Version, *, brand: str) -> Definition | None:
    """The definition as calls run under it: under the ceiling that was approved."""
    definition = submitted(version, brand=brand)
    return None if definition is None else under(definition, version.ceiling)


def under(definition: Definition, ceiling: Ceiling | None) -> Definition:
    """The definition with the lower of its own ceiling and the approved one, on each scale.

    An edit may lower what its author asks for, and that holds at once.
    """
    if ceiling is None:
        return definition
    asked = definition.ceiling
    lower = Ceiling(
        category=min(asked.category, ceiling.category),
        danger_level=min(asked.danger_level, ceiling.danger_level),
    )
    return replace(definition, ceiling=lower, ceiling_declared=True)
