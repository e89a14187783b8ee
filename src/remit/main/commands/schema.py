"""``remit schema``: the JSON Schemas of what people write, and of the events that they read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.catalog.schemas import schema_of
from remit.main.output import print_json

if TYPE_CHECKING:
    from remit.main.settings import Settings


def run(kind: str, settings: Settings) -> int:
    """Print one schema."""
    if kind == "policy":
        from remit.policy.schemas import policy_schema

        print_json(policy_schema())
    elif kind == "event":
        from remit.session.schemas import event_schema

        print_json(event_schema())
    else:
        print_json(schema_of(kind, brand=settings.brand))
    return 0
