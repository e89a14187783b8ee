"""The names under which tools are offered, and the way back (contract sections 2 and 14).

A tool with an ``endpoint`` is ``integration_<name>``, one with a ``target`` bears its own name.
Where two apps share a name both get the app's id into it. Every name depends on the *set* of
tools alone, never on an order, so that it means the same after a restart or a re-sorted catalog.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING

from remit.catalog.model import Endpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from remit.catalog.model import Tool

MAX_NAME = 64
_HEAD, _DIGEST = 55, 8
_PREFIX = "integration_"
# What an app's id must not make out of a tool's name (contract section 2; promise T-06).
_PLATFORM_NAMES = ("computer", "load_skill", "search_tools")
_PLATFORM_PREFIXES = (_PREFIX, "widget_", "remit_")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class ToolKey:
    """One tool of one app, under its catalog name."""

    app: str
    tool: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The names of one session's, token's or export's tools, both ways."""

    offered: Mapping[ToolKey, str]
    tools: Mapping[str, ToolKey]

    def of(self, app: str, tool: str) -> str:
        """The name under which a tool is offered."""
        return self.offered[ToolKey(app=app, tool=tool)]

    def find(self, offered: str) -> ToolKey | None:
        """The tool that a model or a client means by a name; None where it was offered none."""
        return self.tools.get(offered)


def session_names(apps: Iterable[tuple[str, Iterable[Tool]]]) -> Names:
    """The names that a model sees: of the apps of one session, by app id."""
    return _settled(apps, _session_name)


def mcp_names(apps: Iterable[tuple[str, Iterable[Tool]]]) -> Names:
    """The names on ``/mcp`` (every app of a token) or, given one app, on ``/mcp/{app}``."""
    return _settled(apps, _mcp_name)


def shortened_name(name: str) -> str:
    """A name of at most 64 characters: itself, or its head and a digest of the whole."""
    if len(name) <= MAX_NAME:
        return name
    return f"{name[:_HEAD]}_{sha256(name.encode()).hexdigest()[:_DIGEST]}"


def _session_name(app: str | None, tool: Tool) -> str:
    if isinstance(tool.destination, Endpoint):
        return f"{_PREFIX}{app}_{tool.name}" if app else f"{_PREFIX}{tool.name}"
    return _mcp_name(app, tool)


def _mcp_name(app: str | None, tool: Tool) -> str:
    if app is None:
        return tool.name
    name = f"{app}_{tool.name}"
    # An app called "load" with a tool "skill" must not pass for the platform's load_skill.
    return f"app_{name}" if _is_the_platforms(name) else name


def _is_the_platforms(name: str) -> bool:
    return name in _PLATFORM_NAMES or name.startswith(_PLATFORM_PREFIXES)


def _settled(
    apps: Iterable[tuple[str, Iterable[Tool]]], name_of: Callable[[str | None, Tool], str]
) -> Names:
    """Give each tool the first of its names that it shares with no other.

    The names are: its own; that with its app's id; and, should an app's id and tool together
    spell a third one's name, a digest of both. All that share a name move on together, but for
    those that have moved on already.
    """
    every = {ToolKey(app=app, tool=tool.name): tool for app, tools in apps for tool in tools}
    step = dict.fromkeys(every, 0)
    named: dict[ToolKey, str] = {}
    while True:
        named = {key: _name(key, tool, step[key], name_of) for key, tool in every.items()}
        counts = Counter(named.values())
        shared: defaultdict[str, list[ToolKey]] = defaultdict(list)
        for key, name in named.items():
            if counts[name] > 1:
                shared[name].append(key)
        if not shared:
            break
        for keys in shared.values():
            least = min(step[key] for key in keys)
            step |= {key: least + 1 for key in keys if step[key] == least}
    return Names(
        offered=MappingProxyType(named),
        tools=MappingProxyType({name: key for key, name in named.items()}),
    )


def _name(key: ToolKey, tool: Tool, step: int, name_of: Callable[[str | None, Tool], str]) -> str:
    if step < 2:
        return shortened_name(name_of(key.app if step else None, tool))
    digest = sha256(f"{key.app}/{key.tool}/{step}".encode()).hexdigest()[:_DIGEST]
    return f"{name_of(key.app, tool)[:_HEAD]}_{digest}"
