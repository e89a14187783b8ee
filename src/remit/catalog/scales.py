"""The two scales that a tool is judged on, and the ceiling over both (contract sections 2, 7)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import total_ordering


@total_ordering
class _Scale(Enum):
    """An enum whose members are ordered as they are written."""

    @property
    def rank(self) -> int:
        """0 for the mildest."""
        return type(self)._member_names_.index(self.name)

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, _Scale) or type(other) is not type(self):
            return NotImplemented
        return self.rank < other.rank


class Category(_Scale):
    """What kind of operation a tool is."""

    READ = "read"
    WRITE = "write"
    ACTION = "action"


class DangerLevel(_Scale):
    """How bad it is if the agent is wrong."""

    SAFE = "safe"
    MODERATE = "moderate"
    DESTRUCTIVE = "destructive"


class Renderer(Enum):
    """How a result may be drawn; there is no sixth."""

    IMAGE = "image"
    DIFF = "diff"
    LINK = "link"
    TABLE = "table"
    JSON = "json"


class Method(Enum):
    """The HTTP methods a tool may use."""

    GET = "GET"
    POST = "POST"
    PUT = "PUT"
    PATCH = "PATCH"
    DELETE = "DELETE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """The highest category and the highest danger level an app may use.

    The two are compared on their own; neither can make up for the other.
    """

    category: Category
    danger_level: DangerLevel

    def admits(self, category: Category, danger_level: DangerLevel) -> bool:
        """Whether a tool of these two values is at or under the ceiling."""
        return category <= self.category and danger_level <= self.danger_level

    def __str__(self) -> str:
        return f"{self.category.value}/{self.danger_level.value}"
