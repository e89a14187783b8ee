"""The app a remit is written about, and how its parts are called in a sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from remit.policy.catalogs import effective_catalog
from remit.policy.reach import place_of, tool_reach
from remit.policy.wording import one_line, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from remit.catalog.model import Definition, Tool
    from remit.policy.catalogs import Dropped
    from remit.policy.reach import ToolReach

_PLAIN_NAME = re.compile(r"[A-Za-z0-9]+(?:[ &'+-]{1,3}[A-Za-z0-9]+){0,4}")
_MAX_PLAIN_NAME = 40
_MAX_LETTER_TITLE = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One app, with what of its catalog an agent can get.

    Attributes:
        name: the app's name as it stands in a sentence: quoted unless it is a few plain words.
        tools: those at or under the ceiling, in the order of the catalog.
        dropped: the others, with the reason.
        reach: what an approval fixes of each of the tools, by name.
    """

    definition: Definition
    name: str
    tools: tuple[Tool, ...]
    dropped: tuple[Dropped, ...]
    reach: Mapping[str, ToolReach]

    @classmethod
    def of(cls, definition: Definition) -> Subject:
        """The subject of a definition's remit."""
        catalog = effective_catalog(definition, None)
        return cls(
            definition=definition,
            name=name_in_sentence(definition.name),
            tools=catalog.tools,
            dropped=catalog.dropped,
            reach={
                tool.name: tool_reach(tool, place_of(tool.destination, definition))
                for tool in catalog.tools
            },
        )

    def stops(self, tool: Tool) -> bool:
        """Whether somebody is asked before each call of it, unless a policy says otherwise."""
        return self.reach[tool.name].stops


def name_in_sentence(name: str) -> str:
    """An app's name, in quotes unless it is a few plain words that cannot pass for ours."""
    seen = one_line(name)
    plain = len(seen) <= _MAX_PLAIN_NAME and _PLAIN_NAME.fullmatch(seen) is not None
    return seen if plain else quoted(name)


def called(tool: Tool) -> str:
    """A tool as it stands in a list: its title, quoted, and its name, which can hold no words."""
    return f"{quoted(tool.title)} ({tool.name})" if tool.title else tool.name


def titled(tool: Tool) -> str:
    """A tool as it stands in a letter: its title, or its name where the title is none or long."""
    title = one_line(tool.title or "")
    return quoted(title if 0 < len(title) <= _MAX_LETTER_TITLE else tool.name)


def counted(number: int, noun: str) -> str:
    """``1 tool``, ``1,200 tools``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def listed(parts: Sequence[str]) -> str:
    """``a, b and c``."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
