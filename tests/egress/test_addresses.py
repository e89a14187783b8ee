"""The table of public addresses, at every boundary."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.egress.addresses import (
    control_address,
    nat64_target,
    parse_range,
    special_reason,
)
from remit.values.ip import IpAddress, parse_ip

# First and last address of each range that is not public, and the word that says what it is.
IPV4_RANGES = [
    ("0.0.0.0", "0.255.255.255", "this network"),
    ("10.0.0.0", "10.255.255.255", "private"),
    ("100.64.0.0", "100.127.255.255", "carrier"),
    ("127.0.0.0", "127.255.255.255", "loopback"),
    ("169.254.0.0", "169.254.255.255", "link-local"),
    ("172.16.0.0", "172.31.255.255", "private"),
    ("192.0.0.0", "192.0.0.255", "protocol"),
    ("192.0.2.0", "192.0.2.255", "documentation"),
    ("192.31.196.0", "192.31.196.255", "AS112"),
    ("192.52.193.0", "192.52.193.255", "tunnel"),
    ("192.88.99.0", "192.88.99.255", "6to4"),
    ("192.168.0.0", "192.168.255.255", "private"),
    ("192.175.48.0", "192.175.48.255", "AS112"),
    ("198.18.0.0", "198.19.255.255", "benchmarking"),
    ("198.51.100.0", "198.51.100.255", "documentation"),
    ("203.0.113.0", "203.0.113.255", "documentation"),
    ("224.0.0.0", "239.255.255.255", "multicast"),
    ("240.0.0.0", "255.255.255.255", "reserved"),
]
IPV6_RANGES = [
    ("::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff"),
    ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
]


def ip(text: str) -> IpAddress:
    """The address that a text surely is."""
    address = parse_ip(text)
    assert address is not None
    return address


def beside(text: str, step: int) -> IpAddress | None:
    """The neighbour of an address, where there is one."""
    address = ip(text)
    value = address.value + step
    width = 32 if address.version == 4 else 128
    return IpAddress(version=address.version, value=value) if 0 <= value < 1 << width else None


@pytest.mark.parametrize(("first", "last", "word"), IPV4_RANGES)
def test_every_special_ipv4_range_ends_where_the_registry_says(
    first: str, last: str, word: str
) -> None:
    """Inside is refused with its reason, one address outside is not (RFC 6890)."""
    for inside in (ip(first), ip(last), beside(first, 1), beside(last, -1)):
        assert inside is not None
        assert word in (special_reason(inside) or "")
    specials = [(ip(low).value, ip(high).value) for low, high, _ in IPV4_RANGES]
    for outside in (beside(first, -1), beside(last, 1)):
        if outside is None or any(low <= outside.value <= high for low, high in specials):
            continue
        assert special_reason(outside) is None


@pytest.mark.parametrize(("first", "last"), IPV6_RANGES)
def test_every_special_ipv6_range_ends_where_the_registry_says(first: str, last: str) -> None:
    """Only 2000::/3 is public, less what is carved out of it."""
    assert special_reason(ip(first)) is not None
    assert special_reason(ip(last)) is not None
    specials = [(ip(low).value, ip(high).value) for low, high in IPV6_RANGES]
    for outside in (beside(first, -1), beside(last, 1)):
        if outside is None or any(low <= outside.value <= high for low, high in specials):
            continue
        assert special_reason(outside) is None


@pytest.mark.parametrize(
    "text",
    [
        "1.0.0.0",
        "8.8.8.8",
        "93.184.215.14",
        "168.63.129.15",
        "192.0.1.0",
        "192.0.3.255",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "2000::",
        "2001:200::1",
        "2001:4860:4860::8888",
        "2003::1",
        "2606:4700::1111",
        "2a00:1450::1",
        "3ffe:ffff:ffff::1",
        "::ffff:8.8.8.8",
    ],
)
def test_public_addresses_are_public(text: str) -> None:
    """What looks odd but is routed stays open; the mapped form follows its IPv4 address."""
    assert special_reason(ip(text)) is None
    assert control_address(ip(text)) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("::", "unspecified"),
        ("::1", "loopback"),
        ("::127.0.0.1", "embeds"),
        ("::a9fe:a9fe", "embeds"),
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:7f00:1", "loopback"),
        ("::ffff:100.64.0.1", "carrier"),
        ("::ffff:0:127.0.0.1", "embeds"),
        ("::ffff:0:8.8.8.8", "embeds"),
        ("64:ff9b::8.8.8.8", "embeds"),
        ("64:ff9b:1::10.0.0.1", "embeds"),
        ("100::1", "discard"),
        ("100:0:0:1::1", "dummy"),
        ("2001::7f00:1", "protocol"),
        ("2001:10::1", "protocol"),
        ("2001:20::1", "protocol"),
        ("2002:7f00:1::", "embeds"),
        ("2002:808:808::1", "embeds"),
        ("5f00::1", "segment routing"),
        ("fc00::1", "private"),
        ("fdff:ffff::1", "private"),
        ("fe80::1", "link-local"),
        ("febf::1", "link-local"),
        ("fec0::1", "site-local"),
        ("ff02::1", "multicast"),
        ("4000::1", "outside the public range"),
    ],
)
def test_each_kind_of_address_is_named(text: str, words: str) -> None:
    """A refusal says what kind of address it met, in words."""
    assert words in (special_reason(ip(text)) or "")


@pytest.mark.parametrize(
    ("text", "control"),
    [
        ("169.254.169.254", "169.254.169.254"),
        ("169.254.170.2", "169.254.170.2"),
        ("169.254.170.23", "169.254.170.23"),
        ("168.63.129.16", "168.63.129.16"),
        ("100.100.100.200", "100.100.100.200"),
        ("192.0.0.192", "192.0.0.192"),
        ("fd00:ec2::254", "fd00:ec2::254"),
        ("fd00:ec2::23", "fd00:ec2::23"),
        ("fd20:ce::254", "fd20:ce::254"),
        ("::ffff:169.254.169.254", "169.254.169.254"),
        ("::169.254.169.254", "169.254.169.254"),
        ("::ffff:0:169.254.169.254", "169.254.169.254"),
        ("64:ff9b::169.254.169.254", "169.254.169.254"),
        ("64:ff9b:1::169.254.169.254", "169.254.169.254"),
        ("2002:a9fe:a9fe::1", "169.254.169.254"),
        ("2001:0:a9fe:a9fe::1", "169.254.169.254"),
        ("2001::5601:5601", "169.254.169.254"),
        ("64:ff9b::168.63.129.16", "168.63.129.16"),
    ],
)
def test_control_addresses_are_known_in_every_dress(text: str, control: str) -> None:
    """Metadata stays metadata through mapping, NAT64, 6to4 and Teredo (contract section 11)."""
    assert control_address(ip(text)) == ip(control)


def test_nat64_leads_to_its_ipv4_address() -> None:
    """RFC 6052's own prefix is decoded; others are not."""
    assert nat64_target(ip("64:ff9b::10.0.0.8")) == ip("10.0.0.8")
    assert nat64_target(ip("64:ff9b:0:0:1::10.0.0.8")) is None
    assert nat64_target(ip("10.0.0.8")) is None


@pytest.mark.parametrize(
    "text",
    [
        "10.0.0.0",
        "10.0.0.1/8",
        "10.0.0.0/33",
        "10.0.0.0/",
        "10.0.0.0/-1",
        "10/8",
        "::/129",
        "::1/64",
        "10.0.0.0/8:80",
        "10.0.0.0/255.0.0.0",
        "10.0.0.0/\u0668",
        "a/8",
    ],
)
def test_a_faulty_range_is_none(text: str) -> None:
    """A range with stray bits or a mask says something its author may not mean."""
    assert parse_range(text) is None


def test_a_mapped_range_is_the_ipv4_range_it_maps() -> None:
    """Addresses are compared unmapped, so ranges must be, too."""
    assert parse_range("::ffff:10.0.0.0/104") == parse_range("10.0.0.0/8")
    everything = parse_range("0.0.0.0/0")
    assert everything is not None
    assert ip("255.255.255.255") in everything
    assert ip("::1") not in everything


@given(st.integers(min_value=0, max_value=2**32 - 1))
def test_a_mapped_address_is_judged_like_its_ipv4_address(value: int) -> None:
    """No spelling of an address changes its verdict."""
    plain = IpAddress(version=4, value=value)
    mapped = IpAddress(version=6, value=0xFFFF << 32 | value)
    assert special_reason(mapped) == special_reason(plain)
    assert control_address(mapped) == control_address(plain)


@given(st.integers(min_value=0, max_value=2**128 - 1))
def test_no_ipv6_address_outside_global_unicast_is_public(value: int) -> None:
    """Public implies 2000::/3, or a public IPv4 address in mapped form."""
    address = IpAddress(version=6, value=value)
    if special_reason(address) is None:
        assert value >> 125 == 1 or address.unmapped().version == 4
