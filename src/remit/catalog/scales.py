"""The two scales that a tool is judged on, and the ceiling over both (contract sections 2, 7)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Self


class _Scale(Enum):
    """An enum whose members are ordered as they are written.

    Attributes:
        rank: 0 for the mildest.
        word: as it is written.
    """

    rank: int
    word: str

    def __init__(self, word: str) -> None:
        self.rank = len(type(self).__members__)
        # ``value`` is looked up by Python code at each use.
        self.word = word

    def __lt__(self, other: Self) -> bool:
        return self._compared(other) < 0

    def __le__(self, other: Self) -> bool:
        return self._compared(other) <= 0

    def __gt__(self, other: Self) -> bool:
        return self._compared(other) > 0

    def __ge__(self, other: Self) -> bool:
        return self._compared(other) >= 0

    def _compared(self, other: Self) -> int:
        if type(other) is not type(self):
            msg = f"{self} and {other} are of different scales"
            raise TypeError(msg)
        return self.rank - other.rank


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
