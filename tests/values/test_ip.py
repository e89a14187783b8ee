"""Addresses: read strictly, written in one spelling."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.values.ip import IpAddress, parse_ip


@given(st.integers(min_value=0, max_value=2**32 - 1))
def test_every_ipv4_address_reads_back_from_its_text(value: int) -> None:
    """Text and number are two forms of one address."""
    address = IpAddress(version=4, value=value)
    assert str(address) == str(ipaddress.IPv4Address(value))
    assert parse_ip(str(address)) == address


@given(st.integers(min_value=0, max_value=2**128 - 1) | st.integers(min_value=0, max_value=2**70))
def test_every_ipv6_address_reads_back_from_its_text(value: int) -> None:
    """RFC 5952 text leads back to the same 128 bits, by ours and by the library's reading."""
    text = str(IpAddress(version=6, value=value))
    assert parse_ip(text) == IpAddress(version=6, value=value)
    assert int(ipaddress.IPv6Address(text)) == value


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("::", "::"),
        ("0:0:0:0:0:0:0:1", "::1"),
        ("FE80::A9FE:A9FE", "fe80::a9fe:a9fe"),
        ("2001:0db8:0000:0000:0001:0000:0000:0001", "2001:db8::1:0:0:1"),
        ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
        ("::ffff:7f00:1", "::ffff:127.0.0.1"),
        ("1::", "1::"),
    ],
)
def test_ipv6_is_written_canonically(written: str, canonical: str) -> None:
    """Equal addresses have equal text, on every Python (RFC 5952)."""
    assert str(parse_ip(written)) == canonical


@pytest.mark.parametrize(
    "text",
    [
        "",
        "127.1",
        "2130706433",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "127.0.0.01",
        "256.0.0.1",
        "1.2.3",
        "1.2.3.4.5",
        "1.2.3.4 ",
        "१.2.3.4",
        "::1%lo",
        "[::1]",
        ":::",
        "::1::",
        "12345::",
        "::ffff:127.0.0.01",
        "fe80::1%25en0",
    ],
)
def test_odd_spellings_are_no_address(text: str) -> None:
    """What other parsers repair is not read at all (the guard's own grammar)."""
    assert parse_ip(text) is None


def test_a_mapped_address_unwraps_to_ipv4() -> None:
    """The IPv4 rule holds for ``::ffff:a.b.c.d`` (threats: v4 inside v6)."""
    mapped, plain = parse_ip("::ffff:10.0.0.8"), parse_ip("10.0.0.8")
    assert mapped is not None
    assert plain is not None
    assert mapped.unmapped() == plain
    assert plain.unmapped() == plain
