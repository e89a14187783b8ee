"""Which addresses are public, and which ones never to reach: the guard's own tables.

The standard library's ``is_global`` is not used: it differs between Python versions and passes
multicast, translated forms and cloud control addresses. The IPv4 table is IANA's
special-purpose registry (RFC 6890) with multicast and the reserved block; in IPv6 only
2000::/3, where global unicast lives, can be public. Each row carries the words a person reads.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from remit.values.ip import IpAddress, parse_ip

if TYPE_CHECKING:
    from collections.abc import Iterable

_SPECIAL_IPV4 = (
    ("0.0.0.0/8", "an address of this network"),
    ("10.0.0.0/8", "a private address"),
    ("100.64.0.0/10", "a carrier's shared address"),
    ("127.0.0.0/8", "a loopback address"),
    ("169.254.0.0/16", "a link-local address"),
    ("172.16.0.0/12", "a private address"),
    ("192.0.0.0/24", "an address of protocol assignments"),
    ("192.0.2.0/24", "a documentation address"),
    ("192.31.196.0/24", "an AS112 address"),
    ("192.52.193.0/24", "a multicast tunnel address"),
    ("192.88.99.0/24", "a 6to4 relay address"),
    ("192.168.0.0/16", "a private address"),
    ("192.175.48.0/24", "an AS112 address"),
    ("198.18.0.0/15", "a benchmarking address"),
    ("198.51.100.0/24", "a documentation address"),
    ("203.0.113.0/24", "a documentation address"),
    ("224.0.0.0/4", "a multicast address"),
    ("240.0.0.0/4", "a reserved address"),
)

_EMBEDDING = "an address that embeds an IPv4 address"
_PUBLIC_IPV6 = "2000::/3"
_SPECIAL_IPV6 = (
    ("::/128", "the unspecified address"),
    ("::1/128", "a loopback address"),
    ("::ffff:0:0:0/96", _EMBEDDING),
    ("64:ff9b::/96", _EMBEDDING),
    ("64:ff9b:1::/48", _EMBEDDING),
    ("100::/64", "a discard address"),
    ("100:0:0:1::/64", "a dummy address"),
    ("2001::/23", "an address of protocol assignments"),
    ("2001:db8::/32", "a documentation address"),
    ("2002::/16", _EMBEDDING),
    ("2620:4f:8000::/48", "an AS112 address"),
    ("3fff::/20", "a documentation address"),
    ("5f00::/16", "a segment routing address"),
    ("fc00::/7", "a private address"),
    ("fe80::/10", "a link-local address"),
    ("fec0::/10", "a site-local address"),
    ("ff00::/8", "a multicast address"),
)

_CONTROL_ADDRESSES = (
    "169.254.169.254",  # AWS, Google, Azure, Oracle, DigitalOcean, OpenStack and others
    "169.254.170.2",  # AWS container credentials
    "169.254.170.23",  # AWS pod identity
    "169.254.42.42",  # Scaleway
    "169.254.0.23",  # Tencent
    "168.63.129.16",  # Azure platform, in public space
    "100.100.100.200",  # Alibaba
    "192.0.0.192",  # Oracle
    "fd00:ec2::254",  # AWS
    "fd00:ec2::23",  # AWS pod identity
    "fd20:ce::254",  # Google
    "fd00:c1::a9fe:a9fe",  # Oracle
    "fd00:42::42",  # Scaleway
    "fe80::a9fe:a9fe",  # OpenStack
)
CONTROL_NAMES = frozenset(
    {
        "metadata",
        "metadata.google.internal",
        "metadata.goog",
        "instance-data",
        "instance-data.ec2.internal",
        "metadata.tencentyun.com",
        "metadata.packet.net",
        "metadata.platformequinix.com",
        "rancher-metadata",
    }
)
"""Names under which clouds serve their control addresses."""
CONTROL_REASON = "a cloud metadata address"

_NAT64 = 0x0064_FF9B << 96
_EMBEDS_AT_END = {
    _NAT64 >> 32,  # 64:ff9b::/96
    0,  # ::a.b.c.d, IPv4-compatible
    0xFFFF << 16,  # ::ffff:0:a.b.c.d, IPv4-translated
}
_LOCAL_NAT64 = 0x0064_FF9B_0001  # 64:ff9b:1::/48
_TEREDO = 0x2001_0000
_SIX_TO_FOUR = 0x2002


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressRange:
    """All addresses of one version from ``first`` to ``last``, both included."""

    version: int
    first: int
    last: int

    def __contains__(self, address: IpAddress) -> bool:
        return self.version == address.version and self.first <= address.value <= self.last

    @property
    def single(self) -> bool:
        """Whether it holds one address."""
        return self.first == self.last


def parse_range(text: str) -> AddressRange | None:
    """Read ``address/prefix``; None where it is no such text or has bits beyond its prefix.

    A range of IPv4-mapped addresses is the IPv4 range it maps.
    """
    address_text, slash, prefix_text = text.partition("/")
    address = parse_ip(address_text)
    if not slash or address is None or not prefix_text.isascii() or not prefix_text.isdigit():
        return None
    width = 32 if address.version == 4 else 128
    prefix = int(prefix_text) if len(prefix_text) <= 3 else width + 1
    if prefix > width:
        return None
    size = 1 << (width - prefix)
    if address.value % size:
        return None
    first = address.unmapped() if prefix >= 96 else address
    return AddressRange(version=first.version, first=first.value, last=first.value + size - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """Rows in order of address; they do not overlap."""

    firsts: tuple[int, ...]
    lasts: tuple[int, ...]
    reasons: tuple[str, ...]

    def reason(self, value: int) -> str | None:
        index = bisect_right(self.firsts, value) - 1
        return self.reasons[index] if index >= 0 and value <= self.lasts[index] else None


def _table(rows: Iterable[tuple[str, str]]) -> _Table:
    ranges = sorted((_range(text).first, _range(text).last, reason) for text, reason in rows)
    firsts, lasts, reasons = zip(*ranges, strict=True)
    return _Table(firsts=firsts, lasts=lasts, reasons=reasons)


def _range(text: str) -> AddressRange:
    parsed = parse_range(text)
    if parsed is None:
        msg = f"the address table holds a faulty row: {text}"
        raise AssertionError(msg)
    return parsed


_IPV4 = _table(_SPECIAL_IPV4)
_IPV6 = _table(_SPECIAL_IPV6)
_GLOBAL_UNICAST = _range(_PUBLIC_IPV6)
_CONTROL = frozenset(parse_ip(text) for text in _CONTROL_ADDRESSES)


def special_reason(address: IpAddress) -> str | None:
    """Why an address is not public, in words ("a private address"), or None where it is.

    An IPv4-mapped address is judged as the IPv4 address it maps.
    """
    address = address.unmapped()
    if address.version == 4:
        return _IPV4.reason(address.value)
    reason = _IPV6.reason(address.value)
    if reason is None and address not in _GLOBAL_UNICAST:
        compatible = address.value >> 32 == 0
        return _EMBEDDING if compatible else "an address outside the public range"
    return reason


def control_address(address: IpAddress) -> IpAddress | None:
    """The cloud control address that this address is or embeds, or None.

    Embedded means: IPv4-mapped, -compatible and -translated, NAT64, 6to4 and Teredo forms, so
    that an operator's exception for a host or a range does not open a detour.
    """
    for candidate in (address.unmapped(), *_embedded_ipv4(address)):
        if candidate in _CONTROL:
            return candidate
    return None


def nat64_target(address: IpAddress) -> IpAddress | None:
    """The IPv4 address that a NAT64 address (64:ff9b::/96, RFC 6052) leads to, or None."""
    if address.version == 6 and address.value >> 32 == _NAT64 >> 32:
        return _ipv4(address.value)
    return None


def _embedded_ipv4(address: IpAddress) -> tuple[IpAddress, ...]:
    if address.version == 4:
        return ()
    value = address.value
    if value >> 32 in _EMBEDS_AT_END or value >> 80 == _LOCAL_NAT64:
        return (_ipv4(value),)
    if value >> 112 == _SIX_TO_FOUR:
        return (_ipv4(value >> 80),)
    if value >> 96 == _TEREDO:
        return (_ipv4(value >> 64), _ipv4(~value))
    return ()


def _ipv4(value: int) -> IpAddress:
    return IpAddress(version=4, value=value & 0xFFFF_FFFF)
