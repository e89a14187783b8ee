"""Scalars as text, and text percent-encoded for a URL (contract section 4; RFC 3986)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from remit.values.json import JsonValue

_is_unreserved = re.compile(r"[A-Za-z0-9._~-]*").fullmatch


def encoded(text: str) -> str:
    """A text percent-encoded, but for the unreserved characters of RFC 3986."""
    return text if _is_unreserved(text) else quote(text, safe="")


def encoded_scalar(value: JsonValue) -> str | None:
    """``scalar_text``, percent-encoded."""
    if isinstance(value, str):
        return encoded(value)
    text = scalar_text(value)
    # A sign in the exponent is all that a number may need.
    return None if text is None else text.replace("+", "%2B")


# Of names alone, which are the author's: values are not kept.
encoded_name = lru_cache(maxsize=1_024)(encoded)


def scalar_text(value: JsonValue) -> str | None:
    """A scalar as text: strings as they are, numbers and booleans as JSON; None for the rest."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    # As JSON writes them; its encoder would be made anew for each.
    if isinstance(value, int):
        return int.__repr__(value)
    return float.__repr__(value) if isinstance(value, float) else None
