"""One request's leave: one look-up, and no connection but to what it gave."""

from __future__ import annotations

import pytest

from remit.egress.admission import Admission
from remit.egress.allowances import parse_allowances
from remit.egress.guard import Guard
from remit.errors import EgressRefused
from remit.values.urls import parse_url

ANSWERS = [("93.184.215.14", "2606:4700:0:0::1111"), ("10.0.0.1",)]


class Names:
    """Answers differently each time, and counts."""

    def __init__(self) -> None:
        self.count = 0

    async def __call__(self, host: str, port: int) -> tuple[str, ...]:
        """The next answer."""
        self.count += 1
        return ANSWERS[self.count - 1]


def admission(url: str, names: Names, *allow: str) -> Admission:
    """The leave for one URL."""
    return Admission(Guard(parse_allowances(allow)), parse_url(url).origin, names)


async def test_a_name_is_looked_up_once_in_the_life_of_a_request() -> None:
    """Also where a dead pooled connection makes a second try: the first answer holds."""
    names = Names()
    leave = admission("https://maple.test/", names)
    first = await leave.addresses()
    assert first == ("93.184.215.14", "2606:4700::1111")
    assert await leave.addresses() == first
    assert names.count == 1


async def test_only_checked_addresses_are_admitted() -> None:
    """The deciding check knows no address before the look-up, and no other one after it."""
    leave = admission("https://maple.test/", Names())
    for address in ("93.184.215.14", "127.0.0.1"):
        with pytest.raises(EgressRefused):
            leave.admit(address)
    await leave.addresses()
    leave.admit("93.184.215.14")
    leave.admit("2606:4700::1111")
    for address in ("93.184.215.15", "10.0.0.1", "::ffff:93.184.215.14", "", "maple.test"):
        with pytest.raises(EgressRefused) as caught:
            leave.admit(address)
        assert caught.value.sent is False


async def test_a_literal_is_admitted_without_a_look_up() -> None:
    """An address names itself."""
    names = Names()
    leave = admission("http://[::1]:8080/", names, "[::1]:8080")
    leave.admit("::1")
    assert await leave.addresses() == ("::1",)
    assert names.count == 0


@pytest.mark.parametrize("url", ["https://[::1]/", "http://maple.test/", "https://metadata.goog/"])
def test_what_the_url_alone_decides_gives_no_leave(url: str) -> None:
    """No admission exists for a refused destination."""
    with pytest.raises(EgressRefused):
        admission(url, Names())


async def test_a_bad_answer_gives_no_address() -> None:
    """The second answer of this name server is private."""
    names = Names()
    names.count = 1
    leave = admission("https://maple.test/", names)
    with pytest.raises(EgressRefused, match=r"10\.0\.0\.1"):
        await leave.addresses()
    assert leave.sent is False
