"""``remit catalog``: the effective catalog, and what was dropped and why."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from remit.main.commands.refreshing import age, client, refreshed
from remit.main.files import read_definition
from remit.main.output import print_json, print_text
from remit.policy.decisions import asks_by_default

if TYPE_CHECKING:
    from remit.catalog.model import Definition, Tool
    from remit.gateway.catalogs import Refreshed
    from remit.main.settings import Settings
    from remit.values.json import JsonObject


def run(file: str, settings: Settings, *, fetch: bool, as_json: bool) -> int:
    """Print the catalog that a session would get now."""
    _, definition = read_definition(file, brand=settings.brand)
    found = asyncio.run(effective(definition, settings, fetch=fetch))
    if as_json:
        print_json(catalog_json(found))
    else:
        print_text(_text(found))
    return 0


async def effective(definition: Definition, settings: Settings, *, fetch: bool) -> Refreshed:
    """The effective catalog, fetched or not."""
    async with client(settings) as egress:
        return await refreshed(definition, egress, settings, fetch=fetch)


def catalog_json(found: Refreshed) -> JsonObject:
    """``{source, ageSeconds, tools, dropped}``."""
    return {
        "source": found.source,
        "ageSeconds": found.age_s,
        "tools": [tool_record(tool) for tool in found.catalog.tools],
        "dropped": [{"name": d.name, "reason": d.reason} for d in found.catalog.dropped],
    }


def tool_record(tool: Tool) -> JsonObject:
    """The tool as its author wrote it, with the judgement that is in force.

    ``asks`` is whether a person is asked before each call, unless a policy lifts that.
    """
    return {
        **tool.record,
        "category": tool.category.value,
        "dangerLevel": tool.danger_level.value,
        "requiresApproval": tool.requires_approval,
        "asks": asks_by_default(tool),
    }


def _text(found: Refreshed) -> str:
    tools = found.catalog.tools
    old = "" if found.age_s is None else f", {age(found.age_s)} old"
    count = f"{len(tools)} tool{'' if len(tools) == 1 else 's'}"
    lines = [f"{count} ({found.source}{old})", ""]
    width = max((len(tool.name) for tool in tools), default=0)
    for tool in tools:
        asks = "  asks a person" if asks_by_default(tool) else ""
        danger = f"{tool.danger_level.value:<11}" if asks else tool.danger_level.value
        lines.append(f"  {tool.name:<{width}}  {tool.category.value:<6}  {danger}{asks}")
    if found.catalog.dropped:
        lines += ["", f"{len(found.catalog.dropped)} dropped", ""]
        lines += [f"  {dropped.name}: {dropped.reason}" for dropped in found.catalog.dropped]
    return "\n".join(lines)
