"""What whoever makes a session should know of it: fences that stand open, globs that match nothing.

None of it is a fault: a pin may be meant for a tool that the app serves tomorrow.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from remit.gateway.node import NotStanding
from remit.lint.uses import idle_pins

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from remit.catalog.model import Tool
    from remit.gateway.conversing import SessionRow
    from remit.gateway.talks import Talks


async def notes_of(talks: Talks, row: SessionRow) -> tuple[str, ...]:
    """The notes on a session as it is made now, as sentences."""
    settings, tools = row.settings, dict[str, tuple["Tool", ...]]()
    for app in settings.apps:
        found = await talks.node.standing.app(row.workspace, app.id)
        if isinstance(found, NotStanding):
            # What it offers is not known, so that nothing can be said of pins.
            return ()
        tools[app.id] = tuple(found.catalog.tools)
    every = tuple(tool for listed in tools.values() for tool in listed)
    notes = list(_idle(settings.pins, every, "the apps of this session"))
    for app in settings.apps:
        notes += _idle(app.pins, tools[app.id], app.id)
        for name, pins in app.tool_pins.items():
            named = [tool for tool in tools[app.id] if tool.name == name]
            if not named:
                notes.append(f'{app.id} has no tool "{name[:80]}", so that its pins hold nothing.')
            notes += _idle(pins, named, name) if named else ()
    for glob in settings.tools or ():
        if not any(fnmatchcase(tool.name, glob) for tool in every):
            notes.append(f'"{glob[:80]}" in tools matches no tool of the apps of this session.')
    return tuple(notes)


def _idle(pins: Iterable[str], tools: Iterable[Tool], whose: str) -> Iterator[str]:
    for name, hint in idle_pins(pins, tools):
        yield f'The pin "{name[:80]}" holds nothing: no tool of {whose} has it.{hint}'
