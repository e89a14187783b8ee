"""Counts the tokens that a text costs a model: the measure of the token bill (contract section 15).

The vocabulary is o200k_base, carried in the package: tiktoken by itself would fetch one at run
time. Models count a little differently from each other; one vocabulary for all makes bills
comparable, and near enough. Loading takes a quarter of a second and some 70 MB, so it happens at
the first count and never at import; a server process asks for no counts.
"""

from __future__ import annotations

import gzip
from binascii import a2b_base64
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tiktoken import Encoding

# One token a line in base64; a token's rank is the number of its line, from 0.
_VOCABULARY = "o200k_base.tokens.gz"

# How o200k_base cuts a text into words before it merges bytes, as its publisher gives it.
_WORDS = "|".join(
    (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)

# The cutting expression backtracks: a run of some 300,000 blanks overflows its stack. Pieces of
# this size stay far below that, and their cost grows with the length of the text alone.
_PIECE_CHARS = 32_768


def count_tokens(text: str) -> int:
    """Count the tokens of a text of any length.

    Special tokens (`<|endoftext|>`) count as the plain text that they are here. The count is
    exact when the text has a blank after a word in every 32,768 characters; in each stretch
    without one, it may be off by a few.

    Args:
        text: Any string, lone surrogates included. A megabyte takes about half a second.

    Returns:
        The number of tokens, 0 for the empty text.
    """
    encoding = _encoding()
    return sum(len(encoding.encode_ordinary(piece)) for piece in pieces(text, _PIECE_CHARS))


@cache
def _encoding() -> Encoding:
    """Build the encoding, once for the process; it never changes afterwards."""
    from tiktoken import Encoding  # noqa: PLC0415 - loaded only when a count is asked for

    packed = (files("remit.offer") / _VOCABULARY).read_bytes()
    tokens = gzip.decompress(packed).splitlines()
    return Encoding(
        "o200k_base",
        pat_str=_WORDS,
        mergeable_ranks={a2b_base64(token): rank for rank, token in enumerate(tokens)},
        special_tokens={},
    )


def pieces(text: str, size: int) -> Iterator[str]:
    """Cut a long text where words end, so that the pieces count as the whole would.

    Args:
        text: Any string; the pieces, joined, are this text.
        size: The most characters of one piece, from 2 on.

    Yields:
        The pieces in order; one, empty, of an empty text.
    """
    start = 0
    while len(text) - start > size:
        end = _cut(text, start, start + size)
        yield text[start:end]
        start = end
    yield text[start:]


def _cut(text: str, start: int, limit: int) -> int:
    """Find the last blank after a word between the two places, or else the limit.

    A word of the vocabulary's expression has a blank only where it begins, or is all white
    space; so a blank after anything but white space begins a word.
    """
    at = text.rfind(" ", start + 1, limit)
    while at != -1 and text[at - 1].isspace():
        at = text.rfind(" ", start + 1, at)
    return limit if at == -1 else at
