"""Master keys: 32 random bytes in base64, the first one seals, all of them open.

A text of keys has one a line (blanks and commas separate them too; ``#`` begins a comment), so
that a new key can be put before the old one and nothing is unreadable meanwhile.
"""

from __future__ import annotations

import hmac
import re
from base64 import b64decode
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from remit.errors import WrongUse
from remit.vault.envelopes import KEY_BYTES, Cipher

if TYPE_CHECKING:
    from remit.values.secrets import Secret

#: How a person makes a key; shown wherever one is asked for.
MAKE_ONE = "head -c 32 /dev/urandom | base64"
MAX_KEYS = 8

_COMMENT = re.compile(r"#.*")
_SEPARATOR = re.compile(r"[\s,]+")
# Of 32 random bytes about 30 differ; that 16 or fewer do never happens.
_FEWEST_DIFFERENT = 17
_PRINTABLE = range(0x20, 0x7F)


@dataclass(frozen=True, slots=True, kw_only=True)
class Masters:
    """The master keys at hand.

    Attributes:
        current: wraps every new data key.
        previous: open what is still wrapped under them.
    """

    current: Cipher
    previous: tuple[Cipher, ...] = ()

    def get(self, master: str) -> Cipher | None:
        """The key of that id, or None."""
        return next((key for key in (self.current, *self.previous) if key.id == master), None)

    @property
    def ids(self) -> frozenset[str]:
        """The ids of all of them."""
        return frozenset(key.id for key in (self.current, *self.previous))


def read_masters(text: Secret, place: str) -> Masters:
    """Read the keys of a text.

    Args:
        text: what the setting, the file or the command gave.
        place: where it came from, as a message begins: ``[vault] key``.

    Raises:
        WrongUse: no key, too many, or one that is none; it names the place, never the text.
    """
    bare = _COMMENT.sub("", text.reveal())
    words = [word for word in _SEPARATOR.split(bare) if word]
    if not words:
        raise WrongUse(f"{place} has no key in it. Make one: {MAKE_ONE}")
    if len(words) > MAX_KEYS:
        raise WrongUse(
            f"{place} has {len(words)} keys in it, and {MAX_KEYS} is the most. Remove the oldest, "
            "which stand last, after `remit vault rotate`."
        )
    keys: dict[str, Cipher] = {}
    for index, word in enumerate(words):
        which = f"{place}: key {index + 1}" if len(words) > 1 else f"{place}: the key"
        key = _master(word, which)
        if key.id in keys:
            raise WrongUse(f"{which} stands there twice. Remove one of the two.")
        keys[key.id] = key
    current, *previous = keys.values()
    return Masters(current=current, previous=tuple(previous))


def _master(word: str, which: str) -> Cipher:
    raw = _decoded(word)
    if raw is None:
        raise WrongUse(f"{which} is no base64. Make one: {MAKE_ONE}")
    if len(raw) != KEY_BYTES:
        raise WrongUse(
            f"{which} has {len(raw)} bytes, and a key has exactly {KEY_BYTES}. Make one: {MAKE_ONE}"
        )
    weakness = _weakness(raw)
    if weakness is not None:
        raise WrongUse(f"{which} {weakness}, so it can be guessed. Make one: {MAKE_ONE}")
    return Cipher(_id(raw), raw)


def _decoded(word: str) -> bytes | None:
    """Base64, standard or URL-safe, with or without its padding."""
    plain = word.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except ValueError:
        return None


def _weakness(raw: bytes) -> str | None:
    """What shows that the bytes are not random, or None."""
    if all(byte in _PRINTABLE for byte in raw):
        return "is readable text and not random bytes"
    steps = {(right - left) % 256 for left, right in pairwise(raw)}
    half = KEY_BYTES // 2
    if len(set(raw)) < _FEWEST_DIFFERENT or len(steps) == 1 or raw[:half] == raw[half:]:
        return "is a pattern and not random bytes"
    return None


def _id(raw: bytes) -> str:
    """The key's own name: everybody who has the key computes the same, nobody computes back."""
    return "m" + hmac.digest(raw, b"remit master key id", "sha256").hex()[:16]
