"""What the secret of a key looks like, and how it is found again (contract section 10).

It reads ``rk_<role>_``, 43 characters from 32 random bytes, and 6 of a check sum, so that scanners
know one where it leaks, and a mistyped one is refused without a look into the store. It is kept as
its SHA-256 alone: 256 random bits need no slow hash, and looking a hash up tells nothing of the
secret by the time it takes.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    from remit.gateway.records import Role

SECRET_BYTES = 32

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_BODY, _CHECK = 43, 6
_SHOWN = 4
_SECRET = re.compile(
    rf"(rk_(?:operator|backend|user|client)_[0-9A-Za-z]{{{_BODY}}})([0-9A-Za-z]{{{_CHECK}}})"
)


def secret_of(role: Role, random: bytes) -> str:
    """The secret that 32 random bytes make."""
    text = f"rk_{role}_{_base62(int.from_bytes(random), _BODY)}"
    return text + _check_of(text)


def hash_of(secret: str) -> str | None:
    """The hash that a secret is found by; None for a text that is no secret of ours."""
    found = _SECRET.fullmatch(secret)
    if found is None or _check_of(found[1]) != found[2]:
        return None
    return digest_of(secret)


def digest_of(secret: str) -> str:
    """What of a secret is kept."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def prefix_of(role: Role, secret: str) -> str:
    """The first characters of a secret, by which a person knows it again."""
    return secret[: len(f"rk_{role}_") + _SHOWN]


def _check_of(text: str) -> str:
    return _base62(crc32(text.encode()), _CHECK)


def _base62(number: int, length: int) -> str:
    digits: list[str] = []
    for _ in range(length):
        number, digit = divmod(number, len(_ALPHABET))
        digits.append(_ALPHABET[digit])
    return "".join(reversed(digits))
