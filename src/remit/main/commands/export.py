"""``remit export``: the functions as a model sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.main.commands.pairs import read_pins, tell_idle_pins
from remit.main.files import read_definition
from remit.main.output import print_json, say
from remit.offer.export import export

if TYPE_CHECKING:
    from remit.main.settings import Settings
    from remit.offer.dialects import Provider
    from remit.offer.export import Export


def run(
    file: str, settings: Settings, *, provider: Provider, pins: tuple[str, ...], fetch: bool
) -> int:
    """Print the functions; what a person should know of them goes to stderr."""
    pinned = read_pins(pins)
    _, definition = read_definition(file, brand=settings.brand)
    if fetch:
        from remit.main.commands.statement import with_effective_tools

        definition = with_effective_tools(definition, settings)
    tell_idle_pins(pinned, definition.tools)
    exported = export(definition, definition.tools, provider, pinned)
    print_json(exported.value)
    for line in _told(exported, provider):
        say(line)
    return 0


def _told(exported: Export, provider: Provider) -> list[str]:
    """What the JSON alone does not say: what can be held to its schema, and what was left out."""
    lines = [f"{name} is not listed: {reason}." for name, reason in exported.left_out]
    if provider != "mcp":
        eligible = sum(tool.eligibility.eligible for tool in exported.tools)
        how = (
            "strict is set on them"
            if provider == "openai"
            else "the request decides on strict mode"
        )
        lines.append(
            f"{eligible} of {len(exported.tools)} functions can be held to their schema; {how}."
        )
        lines += [
            f"  {tool.tool} cannot: {tool.eligibility.reason}"
            for tool in exported.tools
            if not tool.eligibility.eligible
        ]
    for tool in exported.tools:
        lines += [f"  {tool.tool} {removal.pointer}: {removal.reason}" for removal in tool.removals]
    return [*lines, *exported.notes]
