"""``remit schema``: the JSON Schemas of an author's documents."""

from __future__ import annotations

from remit.catalog.schemas import schema_of
from remit.main.output import print_json


def run(kind: str) -> int:
    """Print one schema."""
    print_json(schema_of(kind))
    return 0
