"""Which tools of one request a provider holds a model to, where it bounds them all together.

Anthropic compiles every strict schema of a request into one grammar. Its documented bounds are
counted here; a grammar that is too large for it all the same is refused, which the agent sees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from remit.catalog.reading import is_object
from remit.catalog.scales import Category, DangerLevel
from remit.catalog.subschemas import children

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from remit.catalog.model import Tool
    from remit.values.json import JsonObject, JsonValue

# Of one request, over all its strict tools (facts of November 2026).
MAX_STRICT_TOOLS = 20
MAX_OPTIONAL = 24
MAX_UNIONS = 16


class Weight(NamedTuple):
    """What a strict schema takes of the bounds: optional and union-typed properties."""

    optional: int
    unions: int


def weight_of(schema: JsonObject) -> Weight:
    """Count a whole fitted schema, its definitions included: rather one too many."""
    optional = unions = 0
    waiting: list[JsonValue] = [schema]
    while waiting:
        here = waiting.pop()
        if not is_object(here):
            continue
        declared, required = here.get("properties"), here.get("required")
        if is_object(declared):
            needed = required if isinstance(required, list) else []
            optional += sum(name not in needed for name in declared)
            unions += sum(_is_union(each) for each in declared.values())
        waiting += [child for _, _, child in children(here)]
    return Weight(optional, unions)


def packed(tools: Sequence[Tool], strict_schema: Callable[[int], JsonObject | None]) -> set[int]:
    """The positions of the tools to hold, those first where a mistake costs most.

    Args:
        tools: of one request.
        strict_schema: the fitted schema of the tool at a position; None where it is not eligible.
    """
    chosen: set[int] = set()
    optional, unions = MAX_OPTIONAL, MAX_UNIONS
    for index in sorted(range(len(tools)), key=lambda index: _rank(tools[index])):
        if len(chosen) == MAX_STRICT_TOOLS:
            break
        schema = strict_schema(index)
        if schema is None:
            continue
        weight = weight_of(schema)
        if weight.optional <= optional and weight.unions <= unions:
            chosen.add(index)
            optional -= weight.optional
            unions -= weight.unions
    return chosen


def _rank(tool: Tool) -> int:
    if tool.requires_approval or tool.danger_level is DangerLevel.DESTRUCTIVE:
        return 0
    return 2 if tool.category is Category.READ else 1


def _is_union(schema: JsonValue) -> bool:
    return is_object(schema) and (
        "anyOf" in schema or "allOf" in schema or isinstance(schema.get("type"), list)
    )
