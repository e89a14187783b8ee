"""Whether the components that ``remit dev`` started have the routes of their apps' tools.

They are asked as ``remit build`` asks them, once they listen, and again when a definition changed.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from remit.building import missing_routes
from remit.catalog.mistakes import sentence
from remit.catalog.model import AppTarget

if TYPE_CHECKING:
    from collections.abc import Iterable, Set

    from remit.catalog.mistakes import Mistake
    from remit.catalog.model import Definition
    from remit.gateway.ports import Egress
    from remit.main.files import Source

#: So long a component may take until it listens.
STARTS_WITHIN_S = 30.0
_UNREACHED = "component-not-reached"


class RouteLook:
    """One look at the routes of an app, put off until its components listen.

    Args:
        source: what the definition was read from, to say where a route is named.
        definition: with the addresses of the components as they run.
        started: names of the components that run here; others are not asked.
    """

    def __init__(self, source: Source, definition: Definition, started: Set[str]) -> None:
        self._source = source
        self._definition = replace(
            definition,
            tools=tuple(
                tool
                for tool in definition.tools
                if isinstance(tool.destination, AppTarget) and tool.destination.component in started
            ),
        )
        self._until = time.monotonic() + STARTS_WITHIN_S

    async def warning(self, egress: Egress) -> str | None:
        """What is to be said, empty where every route is there; None where it is too early."""
        found = await missing_routes(self._definition, egress)
        if any(one.rule == _UNREACHED for one in found) and time.monotonic() < self._until:
            return None
        return "\n".join(_told(self._source, found))


def _told(source: Source, found: Iterable[Mistake]) -> list[str]:
    mistakes = tuple(found)
    if source.built is not None:
        return [fault.told(source.name) for fault in source.built.traced(mistakes)]
    places = source.places(one.pointer for one in mistakes)
    lines: list[str] = []
    for one in mistakes:
        where = ":".join(map(str, (source.name, *places.get(one.pointer, ()))))
        head = "  ".join(part for part in (where, one.tool, one.at) if part)
        lines.append(f"{head}\n  {sentence(one.message)} {sentence(one.mend)}")
    return lines
