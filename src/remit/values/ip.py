"""IP addresses as numbers, read strictly and written in one canonical spelling.

What counts as a public address is not known here; the egress room has that table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv6Address
from typing import Literal

_DECIMAL_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV4 = re.compile(rf"{_DECIMAL_BYTE}(?:\.{_DECIMAL_BYTE}){{3}}")
_IPV6_CHARACTERS = re.compile(r"[0-9A-Fa-f:.]{2,45}")
_MAPPED_PREFIX = 0xFFFF << 32


@dataclass(frozen=True, slots=True, kw_only=True)
class IpAddress:
    """One address.

    Attributes:
        version: 4 or 6.
        value: the 32 or 128 bits as a number.
    """

    version: Literal[4, 6]
    value: int

    def __str__(self) -> str:
        return _ipv4_text(self.value) if self.version == 4 else _ipv6_text(self.value)

    def unmapped(self) -> IpAddress:
        """The IPv4 address inside an IPv4-mapped one (``::ffff:a.b.c.d``), else itself."""
        if self.version == 6 and self.value >> 32 == _MAPPED_PREFIX >> 32:
            return IpAddress(version=4, value=self.value & 0xFFFF_FFFF)
        return self


def parse_ip(text: str) -> IpAddress | None:
    """Read an address, or None where the text is none.

    IPv4 only as four decimal numbers without leading zeros; IPv6 in any spelling of RFC 4291
    without brackets or zone. Octal, hexadecimal, short and single-number forms are none.
    """
    if _IPV4.fullmatch(text):
        value = 0
        for part in text.split("."):
            value = value << 8 | int(part)
        return IpAddress(version=4, value=value)
    if ":" in text and _IPV6_CHARACTERS.fullmatch(text):
        try:
            return IpAddress(version=6, value=int(IPv6Address(text)))
        except AddressValueError:
            return None
    return None


def _ipv4_text(value: int) -> str:
    return ".".join(str(value >> shift & 0xFF) for shift in (24, 16, 8, 0))


def _ipv6_text(value: int) -> str:
    """RFC 5952: lower case, no leading zeros, the longest run of two or more zeros cut."""
    if value >> 32 == _MAPPED_PREFIX >> 32:
        return f"::ffff:{_ipv4_text(value & 0xFFFF_FFFF)}"
    groups = [f"{value >> shift & 0xFFFF:x}" for shift in range(112, -1, -16)]
    start, length = _longest_zero_run(groups)
    if length < 2:
        return ":".join(groups)
    return f"{':'.join(groups[:start])}::{':'.join(groups[start + length :])}"


def _longest_zero_run(groups: list[str]) -> tuple[int, int]:
    best_start, best_length, run = 0, 0, 0
    for index, group in enumerate(groups):
        run = run + 1 if group == "0" else 0
        if run > best_length:
            best_start, best_length = index - run + 1, run
    return best_start, best_length
