"""The operator's exceptions: ``[egress] allow`` (contract section 11).

An entry is ``host``, ``host:port``, ``address``, ``address:port``, ``[v6]:port`` or a CIDR range;
without a port it stands for every port. A host entry allows that name and whatever it resolves
to; an address or a range allows connections to it, by literal or by name. Cloud control
addresses are allowed by an entry of exactly that address alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from remit.egress.addresses import AddressRange, parse_range
from remit.errors import WrongUse
from remit.values.ip import IpAddress, parse_ip
from remit.values.urls import UrlFault, parse_host, parse_port

if TYPE_CHECKING:
    from collections.abc import Iterable

_BRACKETED = re.compile(r"(\[[^\[\]]*\])(?::(.*))?", re.DOTALL)
_FORMS = "write a host, host:port, an address, address:port or a range such as 10.1.0.0/16"


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """One entry: of a host, or of a range of addresses (an address is a range of one).

    Attributes:
        text: the entry as the operator wrote it.
        host: folded as ``Origin.host``; None in an entry of addresses.
        addresses: None in an entry of a host.
        port: None stands for every port.
    """

    text: str
    host: str | None = None
    addresses: AddressRange | None = None
    port: int | None = None

    def reaches_port(self, port: int) -> bool:
        """Whether the entry stands for this port."""
        return self.port is None or self.port == port


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowances:
    """All entries, compiled for look-up."""

    hosts: tuple[Allowance, ...] = ()
    ranges: tuple[Allowance, ...] = ()

    def for_host(self, host: str, port: int) -> Allowance | None:
        """The entry that names this host, or None."""
        for entry in self.hosts:
            if entry.host == host and entry.reaches_port(port):
                return entry
        return None

    def for_address(
        self, address: IpAddress, port: int, *, exactly: bool = False
    ) -> Allowance | None:
        """The entry that covers this address, an exact one first, or None.

        Args:
            address: an IPv4-mapped one counts as the IPv4 address it maps.
            port: of the connection.
            exactly: look only at entries of one address.
        """
        address = address.unmapped()
        covering = [
            entry
            for entry in self.ranges
            if entry.addresses is not None
            and address in entry.addresses
            and entry.reaches_port(port)
        ]
        for entry in covering:
            if entry.addresses is not None and entry.addresses.single:
                return entry
        return covering[0] if covering and not exactly else None

    def may_reach_by_address(self, port: int) -> bool:
        """Whether any entry of addresses stands for this port."""
        return any(entry.reaches_port(port) for entry in self.ranges)


def parse_allowances(entries: Iterable[str]) -> Allowances:
    """Read all entries.

    Raises:
        WrongUse: some cannot be read; the message names each one and the mend.
    """
    parsed: list[Allowance] = []
    faults: list[str] = []
    for text in entries:
        try:
            parsed.append(_parse_entry(text))
        except UrlFault as fault:
            faults.append(f"[egress] allow: {text!a} cannot be used: {fault.reason}.")
    if faults:
        raise WrongUse("\n".join([*faults, f"For each entry, {_FORMS}."]))
    return Allowances(
        hosts=tuple(entry for entry in parsed if entry.host is not None),
        ranges=tuple(entry for entry in parsed if entry.addresses is not None),
    )


def _parse_entry(text: str) -> Allowance:
    if "://" in text:
        raise UrlFault("it is a URL; leave out the scheme and the path")
    if "*" in text:
        raise UrlFault("there are no wildcards; list each host")
    if "/" in text:
        return _parse_range_entry(text)
    address = parse_ip(text)
    if address is not None:
        return _address_entry(text, address, None)
    host, port_text = _split_port(text)
    port = None if port_text is None else parse_port(port_text)
    name = parse_host(host)
    address = parse_ip(name)
    if address is not None:
        return _address_entry(text, address, port)
    return Allowance(text=text, host=name, port=port)


def _split_port(text: str) -> tuple[str, str | None]:
    bracketed = _BRACKETED.fullmatch(text)
    if bracketed is not None:
        return bracketed[1], bracketed[2]
    host, colon, port = text.partition(":")
    return host, port if colon else None


def _parse_range_entry(text: str) -> Allowance:
    addresses = parse_range(text)
    if addresses is not None:
        return Allowance(text=text, addresses=addresses)
    raise UrlFault(
        "it is no range: the address must be a plain one, its bits beyond the prefix zero,"
        " and a range takes no port"
    )


def _address_entry(text: str, address: IpAddress, port: int | None) -> Allowance:
    plain = address.unmapped()
    addresses = AddressRange(version=plain.version, first=plain.value, last=plain.value)
    return Allowance(text=text, addresses=addresses, port=port)
