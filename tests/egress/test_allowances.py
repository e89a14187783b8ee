"""The operator's exceptions: what an entry may be, and what it covers."""

from __future__ import annotations

import pytest

from remit.egress.allowances import parse_allowances
from remit.errors import WrongUse
from remit.values.ip import IpAddress, parse_ip


def ip(text: str) -> IpAddress:
    """The address that a text surely is."""
    address = parse_ip(text)
    assert address is not None
    return address


@pytest.mark.parametrize(
    ("entry", "host", "port", "found"),
    [
        ("localhost", "localhost", 3000, True),
        ("LocalHost:3000", "localhost", 3000, True),
        ("localhost:3000", "localhost", 3001, False),
        ("localhost", "localhost.test", 80, False),
        ("maple.test", "api.maple.test", 443, False),
        ("b\u00fccher.test", "xn--bcher-kva.test", 443, True),
    ],
)
def test_a_host_entry_names_one_host(entry: str, host: str, port: int, found: bool) -> None:
    """A host is exact, folded as in URLs; without a port every port (contract section 11)."""
    assert (parse_allowances([entry]).for_host(host, port) is not None) is found


@pytest.mark.parametrize(
    ("entry", "address", "port", "found"),
    [
        ("127.0.0.1", "127.0.0.1", 80, True),
        ("127.0.0.1", "::ffff:127.0.0.1", 80, True),
        ("::ffff:127.0.0.1", "127.0.0.1", 80, True),
        ("127.0.0.1:8080", "127.0.0.1", 8080, True),
        ("127.0.0.1:8080", "127.0.0.1", 80, False),
        ("127.0.0.1", "127.0.0.2", 80, False),
        ("::1", "::1", 80, True),
        ("[::1]", "::1", 80, True),
        ("[::1]:8080", "::1", 8080, True),
        ("[::1]:8080", "::1", 80, False),
        ("10.1.0.0/16", "10.1.255.255", 1, True),
        ("10.1.0.0/16", "10.2.0.0", 1, False),
        ("10.1.2.3/32", "10.1.2.3", 1, True),
        ("fd12::/16", "fd12:3456::1", 1, True),
        ("fd12::/16", "fd13::1", 1, False),
        ("0.0.0.0/0", "::1", 1, False),
        ("::/0", "127.0.0.1", 1, False),
    ],
)
def test_an_address_entry_covers_addresses(
    entry: str, address: str, port: int, found: bool
) -> None:
    """Addresses, ranges and ports, in both families (contract section 11)."""
    assert (parse_allowances([entry]).for_address(ip(address), port) is not None) is found


@pytest.mark.parametrize(
    "entry",
    [
        "",
        " ",
        "localhost ",
        "http://localhost:3000",
        "localhost/",
        "*.maple.test",
        "*",
        "localhost:",
        "localhost:0",
        "localhost:65536",
        "localhost:http",
        "a:1:2",
        "10.0.0.1/8",
        "10.0.0.0/33",
        "10.0.0.0/8:80",
        "256.1.1.1",
        "127.1",
        "2130706433",
        "0x7f.1",
        "[::1",
        "[::1]80",
        "[10.0.0.1]",
        "fe80::1%lo",
        "user@localhost",
        "local_host",
        "local\nhost",
    ],
)
def test_a_bad_entry_is_wrong_use_and_named(entry: str) -> None:
    """A setting that cannot be read stops the start and says which one (contract section 12)."""
    with pytest.raises(WrongUse) as caught:
        parse_allowances(["localhost", entry])
    message = str(caught.value)
    assert ascii(entry) in message
    assert "host:port" in message
    assert "\n" not in message.split("\nFor each")[0]


def test_all_bad_entries_are_named_at_once() -> None:
    """Mistakes are collected, not raised one by one."""
    with pytest.raises(WrongUse, match=r"(?s)'a_b'.*'10\.0\.0\.1/8'"):
        parse_allowances(["a_b", "localhost", "10.0.0.1/8"])


def test_an_exact_entry_wins_over_a_range() -> None:
    """Control addresses open by an exact entry alone, wherever it stands in the list."""
    allowances = parse_allowances(["169.254.0.0/16", "169.254.169.254:80"])
    found = allowances.for_address(ip("169.254.169.254"), 80)
    assert found is not None
    assert found.text == "169.254.169.254:80"
    assert allowances.for_address(ip("169.254.169.254"), 443, exactly=True) is None
    assert allowances.for_address(ip("169.254.1.1"), 80, exactly=True) is None
