"""The token bill: what a catalog costs a model in every turn (contract section 15)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from remit.documents.canonical import compact_json
from remit.offer.export import export
from remit.offer.tokens import count_tokens

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from remit.catalog.model import Definition, Tool
    from remit.offer.dialects import Provider
    from remit.values.json import JsonObject

NOTE = "Counted with o200k_base; other models count some percent more or less."


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCost:
    """What one tool costs: its catalog name, the name it is offered under, its tokens."""

    tool: str
    name: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What the tools of one app cost in every turn that they are offered in.

    Attributes:
        tools: the dearest first; of equals, by name.
    """

    provider: Provider
    tools: tuple[ToolCost, ...]

    @property
    def total(self) -> int:
        """Tokens of all of them."""
        return sum(cost.tokens for cost in self.tools)

    def lines(self) -> tuple[str, ...]:
        """The bill as text: a line per tool, the sum, and how it was counted."""
        rows = [(cost.tool, f"{cost.tokens:,}") for cost in self.tools]
        rows.append(
            (f"{len(self.tools):,} tools" if len(rows) != 1 else "1 tool", f"{self.total:,}")
        )
        left = max(len(name) for name, _ in rows)
        right = max(len(tokens) for _, tokens in rows)
        return (*(f"{name:<{left}}  {tokens:>{right}} tokens" for name, tokens in rows), NOTE)

    def as_json(self) -> JsonObject:
        """The bill as data."""
        return {
            "provider": self.provider,
            "tokens": self.total,
            "tools": [
                {"tool": cost.tool, "offeredAs": cost.name, "tokens": cost.tokens}
                for cost in self.tools
            ],
            "note": NOTE,
        }


def bill(
    definition: Definition,
    tools: Sequence[Tool],
    provider: Provider = "openai",
    pins: Collection[str] = (),
) -> Bill:
    """Count the tokens of each tool as it is offered, as compact JSON."""
    costs = [
        ToolCost(
            tool=entry.tool, name=entry.name, tokens=count_tokens(compact_json(entry.function))
        )
        for entry in export(definition, tools, provider, pins).tools
    ]
    costs.sort(key=lambda cost: (-cost.tokens, cost.tool))
    return Bill(provider=provider, tools=tuple(costs))
