"""Looks for secrets in whatever was captured, in every spelling in which one could get out.

It knows nothing of how Remit masks: what both get wrong alike would be found nowhere.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256

CORE = 24
_ONE_ALPHABET = bytes.maketrans(b"-_", b"+/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Canary:
    """A secret that is looked for.

    Attributes:
        name: what it is, for a message; the value is in none.
        core: the part that is looked for, halves of it too, so that a cut or an escape of the
            characters around it hides nothing. Nothing but the secret has it by chance.
        own: where it may stand: beginnings of the names of places.
    """

    name: str
    core: bytes
    own: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A secret made for a test: what an app is given, and the part to look for."""

    value: str
    core: bytes


def make(name: str, before: str, after: str) -> Made:
    """A value of letters and digits of its own between characters that encoders write otherwise."""
    core = sha256(name.encode()).hexdigest()[:CORE]
    return Made(value=f"{before}{core}{after}", core=core.encode())


def find_leaks(canaries: Sequence[Canary], places: Mapping[str, bytes]) -> list[str]:
    """Every place where a secret stands and may not: name, spelling, place, offset; no value."""
    found: list[str] = []
    for place, data in places.items():
        views = _views(data)
        for canary in canaries:
            if not place.startswith(canary.own):
                found += [f"{canary.name} {words} in {place}" for words in _hits(canary, views)]
    return sorted(set(found))


def is_seen(canary: Canary, places: Mapping[str, bytes]) -> bool:
    """Whether it stands where it may: it was really sent there."""
    own = [data for place, data in places.items() if place.startswith(canary.own)]
    return any(hit for data in own for hit in _hits(canary, _views(data)))


def _views(data: bytes) -> tuple[bytes, bytes]:
    """What is searched, so that few spellings are: in small letters; with one base64 alphabet."""
    return data.lower(), data.translate(_ONE_ALPHABET)


def _hits(canary: Canary, views: tuple[bytes, bytes]) -> Iterator[str]:
    for spelling, view, text in _spellings(canary.core):
        if text in views[view]:
            yield f"{spelling}, byte {views[view].index(text):,},"


@cache
def _spellings(core: bytes) -> tuple[tuple[str, int, bytes], ...]:
    """Name of a spelling, which view it is looked for in, and the bytes to look for."""
    parts = (core[: len(core) // 2], core[len(core) // 2 :])
    return ("as a number", 0, str(int.from_bytes(core)).encode()), *(
        one for part in parts for one in _spelt(part)
    )


def _spelt(raw: bytes) -> Iterator[tuple[str, int, bytes]]:
    yield "as it is", 0, raw.lower()
    yield "in hex", 0, raw.hex().encode()
    yield "percent-encoded", 0, "".join(f"%{byte:02x}" for byte in raw).encode()
    yield "escaped as in JSON", 0, "".join(f"\\u{byte:04x}" for byte in raw).encode()
    yield "escaped as in Python", 0, "".join(f"\\x{byte:02x}" for byte in raw).encode()
    yield "in UTF-16", 0, b"\0".join(bytes([byte]) for byte in raw).lower()
    for before in range(3):
        after = -(before + len(raw)) % 3
        whole = b64encode(bytes(before) + raw + bytes(after))
        # The characters that bits of the neighbours go into are left out.
        inside = whole[(before * 8 + 5) // 6 : len(whole) - (after * 8 + 5) // 6]
        yield "in base64", 1, inside.translate(_ONE_ALPHABET)
