"""Column types for the values that are no plain text or number."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeVar, cast

import msgspec
from sqlalchemy import Text
from sqlalchemy.types import TypeDecorator

from remit.catalog.scales import Category, Ceiling, DangerLevel
from remit.gateway.keeping import Sealed

if TYPE_CHECKING:
    from sqlalchemy import Dialect

S = TypeVar("S", bound=msgspec.Struct)

_written = msgspec.json.Encoder().encode


class CeilingText(TypeDecorator[Ceiling]):
    """A ceiling as ``write/moderate``."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Ceiling | None, dialect: Dialect) -> str | None:
        """To its text."""
        del dialect
        return None if value is None else str(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Ceiling | None:
        """From its text."""
        del dialect
        if value is None:
            return None
        category, danger_level = value.split("/")
        return Ceiling(category=Category(category), danger_level=DangerLevel(danger_level))


class NamesText(TypeDecorator["tuple[str, ...]"]):
    """Names as a JSON array."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: tuple[str, ...] | None, dialect: Dialect) -> str | None:
        """To its text."""
        del dialect
        return None if value is None else json.dumps(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> tuple[str, ...] | None:
        """From its text."""
        del dialect
        return None if value is None else tuple(cast("list[str]", json.loads(value)))


class SealedText(TypeDecorator[Sealed]):
    """What the vault sealed, as its text."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Sealed | None, dialect: Dialect) -> str | None:
        """To its text."""
        del dialect
        return None if value is None else value.text

    def process_result_value(self, value: str | None, dialect: Dialect) -> Sealed | None:
        """From its text."""
        del dialect
        return None if value is None else Sealed(value)


class StructText(TypeDecorator[S]):
    """A struct as its JSON.

    Args:
        struct: its class.
    """

    impl = Text
    cache_ok = True

    def __init__(self, struct: type[S]) -> None:
        super().__init__()
        self.struct = struct
        self._read = msgspec.json.Decoder(struct).decode

    def process_bind_param(self, value: S | None, dialect: Dialect) -> str | None:
        """To its text."""
        del dialect
        return None if value is None else _written(value).decode()

    def process_result_value(self, value: str | None, dialect: Dialect) -> S | None:
        """From its text."""
        del dialect
        return None if value is None else self._read(value)
