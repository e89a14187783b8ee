"""What kind of JSON value something is, said so that the type checker hears it too."""

from __future__ import annotations

from typing import TypeGuard


def is_object(value: object) -> TypeGuard[dict[str, object]]:
    """Whether ``value`` is a JSON object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[object]]:
    """Whether ``value`` is a JSON array."""
    return isinstance(value, list)
