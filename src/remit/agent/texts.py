"""Texts of models as Unicode: some servers send halves of characters, each in a piece."""

from __future__ import annotations


def mended(text: str) -> str:
    """The text with halves of a surrogate pair joined, and U+FFFD for one that stands alone."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def ends_in_half(text: str) -> bool:
    """Whether the next piece may hold the other half of its last character."""
    return "\ud800" <= text[-1:] <= "\udbff"
