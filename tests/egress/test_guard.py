"""The guard's decisions, as tables: refused, allowed, and what only looks dangerous."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from remit.egress.allowances import parse_allowances
from remit.egress.guard import Decision, Guard, check, decide
from remit.egress.lookup import NameUnresolved
from remit.errors import EgressRefused, WrongUse
from remit.values.urls import parse_url

PUBLIC = "93.184.215.14"
NAMES: Mapping[str, Sequence[str]] = {
    "maple.test": [PUBLIC],
    "both.test": [PUBLIC, "2606:4700::1111"],
    "localhost": ["127.0.0.1", "::1"],
    "mixed.test": [PUBLIC, "127.0.0.1"],
    "mixed2.test": ["10.0.0.9", PUBLIC],
    "mixed6.test": ["2606:4700::1111", "fd12:3456::1"],
    "v6.test": ["fd12:3456::1"],
    "mapped.test": ["::ffff:127.0.0.1"],
    "cgn.test": ["100.64.9.9"],
    "inside.test": ["10.1.2.3"],
    "meta.test": ["169.254.169.254"],
    "meta6.test": ["fd00:ec2::254"],
    "metanat.test": ["64:ff9b::169.254.169.254"],
    "nat.test": ["64:ff9b::93.184.215.14"],
    "natinside.test": ["64:ff9b::10.1.2.3"],
    "azure.test": ["168.63.129.16"],
    "metadata.google.internal": ["169.254.169.254"],
    "metadata.goog": [PUBLIC],
    "empty.test": [],
}


async def judge(url: str, *allow: str) -> Decision:
    """The decision with the names above and these exceptions."""
    return await check(url, allow=allow, resolve=NAMES)


@pytest.mark.parametrize(
    "url",
    [
        # literals, over https so that the address alone decides
        "https://127.0.0.1/",
        "https://127.127.127.127/",
        "https://0.0.0.0/",
        "https://0.1.2.3/",
        "https://10.0.0.1/",
        "https://172.16.0.1/",
        "https://172.31.255.254/",
        "https://192.168.1.1/",
        "https://100.64.0.1/",
        "https://100.127.255.254/",
        "https://192.0.0.8/",
        "https://192.88.99.1/",
        "https://198.18.0.1/",
        "https://224.0.0.1/",
        "https://239.255.255.250/",
        "https://255.255.255.255/",
        "https://169.254.169.254/latest/meta-data/",
        "https://169.254.170.2/v2/credentials/",
        "https://168.63.129.16/machine?comp=goalstate",
        "https://100.100.100.200/",
        "https://192.0.0.192/",
        "https://[::]/",
        "https://[::1]/",
        "https://[fc00::1]/",
        "https://[fdff:ffff::1]/",
        "https://[fec0::1]/",
        "https://[fe80::1]/",
        "https://[ff02::1]/",
        "https://[fd00:ec2::254]/",
        "https://[100::1]/",
        "https://[2001:db8::1]/",
        "https://[3fff::1]/",
        "https://[5f00::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[::ffff:7f00:1]/",
        "https://[::ffff:a9fe:a9fe]/",
        "https://[::127.0.0.1]/",
        "https://[::a9fe:a9fe]/",
        "https://[::ffff:0:127.0.0.1]/",
        "https://[64:ff9b::127.0.0.1]/",
        "https://[64:ff9b:1::a9fe:a9fe]/",
        "https://[2002:7f00:1::]/",
        "https://[2001:0:7f00:1::]/",
        # spellings and parser tricks
        "https://2852039166/latest/",
        "https://0xA9FEA9FE/",
        "https://017700000001/",
        "https://127.1/",
        "https://%31%32%37.0.0.1/",
        "https://127\u30020\u30020\u30021/",
        "https://\u2460\u2461\u2466.\u24ea.\u24ea.\u2460/",
        "https://[v1.fe80::a+en1]/",
        "https://[maple.test]/",
        "https://[::1%25lo]/",
        "https://maple.test@127.0.0.1/",
        "https://maple.test\\@127.0.0.1/",
        "https://1.1.1.1 &@127.0.0.1# @3.3.3.3/",
        "https://map\nle.test/",
        "https://maple.test\x00.evil.test/",
        "//127.0.0.1/",
        "https://",
        # schemes
        "gopher://127.0.0.1:6379/_INFO",
        "dict://127.0.0.1:11211/stat",
        "ldap://127.0.0.1/",
        "file:///etc/passwd",
        "unix:///run/docker.sock",
        "ws://maple.test/",
        # plain http to what no operator listed
        "http://maple.test/",
        "http://93.184.215.14/",
        "http://[2606:4700::1111]/",
        "http://127.0.0.1/",
        # names
        "https://localhost/",
        "https://mixed.test/",
        "https://mixed2.test/",
        "https://mixed6.test/",
        "https://v6.test/",
        "https://mapped.test/",
        "https://cgn.test/",
        "https://inside.test/",
        "https://meta.test/",
        "https://nat.test/",
        "https://azure.test/",
        "https://metadata.google.internal/",
        "https://METADATA.goog/",
        "https://empty.test/",
        "https://unlisted.test/",
    ],
)
async def test_hostile_destinations_are_refused_by_default(url: str) -> None:
    """Addresses, spellings, schemes and names of the threat page, without any exception."""
    decision = await judge(url)
    assert decision.decision == "refuse"
    assert decision.reason.isprintable()
    assert decision.reason.endswith(".")
    assert isinstance(decision.as_error(), EgressRefused)
    assert decision.as_error().sent is False


@pytest.mark.parametrize(
    "url",
    [
        "https://maple.test/",
        "https://MAPLE.test:8443/x?y",
        "https://both.test/",
        "https://93.184.215.14/",
        "https://[2606:4700::1111]/",
        "https://[::ffff:93.184.215.14]/",
        "https://172.15.255.255/",
        "https://172.32.0.0/",
        "https://100.63.255.255/",
        "https://100.128.0.0/",
        "https://169.253.255.255/",
        "https://169.255.0.0/",
        "https://192.0.1.1/",
        "https://198.20.0.1/",
        "https://223.255.255.255/",
        "https://[2001:200::1]/",
        "https://[2003::1]/",
    ],
)
async def test_public_destinations_are_allowed_over_https(url: str) -> None:
    """What is routed everywhere passes, on any port, up to the very boundary."""
    assert (await judge(url)).decision == "allow"


@pytest.mark.parametrize(
    ("url", "allow"),
    [
        ("http://localhost:3000/", ["localhost"]),
        ("http://localhost:3000/", ["localhost:3000"]),
        ("http://LOCALHOST:3000/", ["127.0.0.1", "::1"]),
        ("http://localhost/", ["127.0.0.0/8", "::1/128"]),
        ("https://localhost/", ["127.0.0.0/8", "[::1]"]),
        ("http://127.0.0.1:8080/", ["127.0.0.1:8080"]),
        ("http://127.0.0.1:8080/", ["127.0.0.0/8"]),
        ("http://[::1]:8080/", ["[::1]:8080"]),
        ("http://[::ffff:10.1.2.3]/", ["10.1.0.0/16"]),
        ("http://10.1.255.255/", ["10.1.0.0/16"]),
        ("http://inside.test/", ["10.1.0.0/16"]),
        ("http://inside.test/", ["inside.test"]),
        ("https://inside.test/", ["inside.test"]),
        ("http://v6.test/", ["fd12::/16"]),
        ("http://[fd12:3456::1]/", ["fd12:3456::/32"]),
        ("https://mixed2.test/", ["10.0.0.9"]),
        ("http://mixed2.test/", ["mixed2.test"]),
        ("http://maple.test/", ["maple.test"]),
        ("http://maple.test/", ["93.184.215.14"]),
        ("http://169.254.169.254/", ["169.254.169.254"]),
        ("http://169.254.169.254/", ["169.254.169.254/32"]),
        ("http://169.254.1.1/", ["169.254.0.0/16"]),
        ("http://meta.test/", ["meta.test", "169.254.169.254"]),
        ("http://metadata.google.internal/", ["metadata.google.internal", "169.254.169.254"]),
        ("https://metadata.goog/", ["metadata.goog"]),
        ("https://nat.test/", ["64:ff9b::/96"]),
        ("http://natinside.test/", ["64:ff9b::/96", "10.1.0.0/16"]),
        ("http://natinside.test/", ["[64:ff9b::10.1.2.3]"]),
    ],
)
async def test_the_operator_can_open_a_destination(url: str, allow: list[str]) -> None:
    """Hosts, addresses, ports and ranges; an allowed destination may be http."""
    decision = await judge(url, *allow)
    assert (decision.decision, decision.mend) == ("allow", None)


@pytest.mark.parametrize(
    ("url", "allow"),
    [
        ("http://localhost:3001/", ["localhost:3000"]),
        ("http://localhost:3000/", ["127.0.0.1"]),  # ::1 is in the answer, too
        ("http://localhost.evil.test/", ["localhost"]),
        ("http://127.0.0.1/", ["localhost"]),
        ("http://127.0.0.1/", ["127.0.0.1:8080"]),
        ("http://10.2.0.1/", ["10.1.0.0/16"]),
        ("http://10.0.255.255/", ["10.1.0.0/16"]),
        ("http://[fd13::1]/", ["fd12::/16"]),
        ("https://mixed.test/", ["maple.test"]),
        ("https://mixed.test/", ["10.0.0.0/8"]),
        ("http://mixed2.test/", ["10.0.0.0/8"]),  # http needs every address allowed
        ("http://maple.test/", ["10.0.0.0/8"]),
        ("http://169.254.169.254/", ["10.0.0.0/8"]),
        ("http://169.254.169.254/", ["169.254.0.0/16"]),
        ("http://169.254.169.254/", ["0.0.0.0/0"]),
        ("http://169.254.169.254:81/", ["169.254.169.254:80"]),
        ("http://168.63.129.16/", ["168.63.129.0/24"]),
        ("http://meta.test/", ["meta.test"]),
        ("http://meta6.test/", ["meta6.test", "fd00::/8"]),
        ("http://metanat.test/", ["metanat.test"]),
        ("http://metanat.test/", ["64:ff9b::/96", "0.0.0.0/0"]),
        ("http://[::ffff:169.254.169.254]/", ["::/0", "0.0.0.0/0"]),
        ("http://[::169.254.169.254]/", ["::/0"]),
        ("http://[2002:a9fe:a9fe::]/", ["::/0"]),
        ("http://metadata.google.internal/", ["169.254.169.254"]),
        ("http://metadata.google.internal/", ["metadata.google.internal"]),
        ("http://nat.test/", ["64:ff9b::/96"]),
        ("https://natinside.test/", ["64:ff9b::/96"]),
        ("ftp://localhost/", ["localhost"]),
        ("http://user@localhost/", ["localhost"]),
        ("http://2130706433/", ["127.0.0.1"]),
    ],
)
async def test_an_exception_opens_no_more_than_it_says(url: str, allow: list[str]) -> None:
    """Ports, ranges and names are exact, and metadata needs its own entry (threats 1.4)."""
    assert (await judge(url, *allow)).decision == "refuse"


async def test_a_refusal_names_the_thing_and_the_mend() -> None:
    """The words a person reads (look and voice)."""
    decision = await check("https://files.maple.test/x", resolve={"files.maple.test": ["10.0.0.8"]})
    assert str(decision.as_error()).splitlines() == [
        "The request was not sent: https://files.maple.test resolves to 10.0.0.8, which is not a"
        " public address (a private address).",
        'If this host is yours, allow it: [egress] allow = ["files.maple.test"], or'
        " REMIT_EGRESS_ALLOW=files.maple.test",
    ]
    assert decision.addresses == ("10.0.0.8",)


async def test_a_mixed_answer_shows_every_address() -> None:
    """One bad address refuses the whole answer, in any order, and all are shown."""
    decision = await judge("https://mixed.test/")
    assert decision.addresses == (PUBLIC, "127.0.0.1")
    assert "127.0.0.1" in decision.reason


async def test_a_literal_with_no_exception_is_named_once() -> None:
    """A literal address is not said to resolve to itself."""
    decision = await judge("https://10.0.0.8/")
    assert decision.reason == "10.0.0.8 is not a public address (a private address)."


async def test_nothing_is_looked_up_where_the_url_alone_decides() -> None:
    """The first step comes before any name is resolved (contract section 11)."""

    async def never(host: str, port: int) -> tuple[str, ...]:
        raise AssertionError(host)

    for url in (
        "http://maple.test/",
        "https://u@maple.test/",
        "https://metadata.goog/",
        "https://10.0.0.1/",
    ):
        assert (await check(url, lookup=never)).decision == "refuse"


async def test_a_given_answer_takes_the_place_of_the_look_up() -> None:
    """With ``--resolve`` no name is looked up for real (contract section 13)."""

    async def never(host: str, port: int) -> tuple[str, ...]:
        raise AssertionError(host)

    decision = await check("https://maple.test/", resolve={"Maple.test": [PUBLIC]}, lookup=never)
    assert decision.decision == "allow"
    missing = await check("https://other.test/", resolve={"maple.test": [PUBLIC]}, lookup=never)
    assert (missing.decision, missing.addresses) == ("refuse", ())
    assert "cannot be resolved" in missing.reason


async def test_a_name_without_address_is_refused_as_unresolved() -> None:
    """The command says so instead of failing."""

    async def nothing(host: str, port: int) -> tuple[str, ...]:
        msg = "the name server says: no such name"
        raise NameUnresolved(msg)

    decision = await check("https://maple.test/", lookup=nothing)
    assert decision.decision == "refuse"
    assert "no such name" in decision.reason


async def test_an_answer_with_a_zone_is_refused() -> None:
    """A resolver may say ``fe80::1%eth0``; that is no plain address."""

    async def zoned(host: str, port: int) -> tuple[str, ...]:
        return ("fe80::1%eth0",)

    assert (await check("https://maple.test/", lookup=zoned)).decision == "refuse"


@pytest.mark.parametrize(
    "resolve", [{"maple.test": ["10.0.0"]}, {"maple.test": ["::1%lo"]}, {"a b": [PUBLIC]}]
)
async def test_a_faulty_answer_is_wrong_use(resolve: Mapping[str, Sequence[str]]) -> None:
    """A flag that cannot be read is named, not guessed at."""
    with pytest.raises(WrongUse, match="--resolve"):
        await check("https://maple.test/", resolve=resolve)


def test_decide_judges_a_url_and_its_answer() -> None:
    """The two steps at once, for a caller that has the answer."""
    none = parse_allowances([])
    assert decide("https://maple.test/", [PUBLIC], none).decision == "allow"
    assert decide("https://maple.test/", ["10.0.0.1"], none).decision == "refuse"
    assert decide("https://maple.test/", [], none).decision == "refuse"
    assert decide("https://10.0.0.1/", [PUBLIC], none).decision == "refuse"
    assert decide("nothing", [PUBLIC], none).decision == "refuse"


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("host", ["maple.test", "10.1.2.3", "[::1]", "metadata.goog", "one.test"])
@pytest.mark.parametrize("port", ["", ":8080"])
def test_an_origin_asked_again_gets_the_decision_of_a_guard_that_never_saw_it(
    scheme: str, host: str, port: str
) -> None:
    """What is remembered is of this very scheme, host and port."""
    allow = parse_allowances(["10.1.2.3:8080", "one.test:8080"])
    seen = Guard(allow)
    for other in ("http", "https"):
        for other_port in ("", ":8080"):
            seen.before(parse_url(f"{other}://{host}{other_port}/").origin)
    origin = parse_url(f"{scheme}://{host}{port}/").origin
    assert seen.before(origin) == Guard(allow).before(origin)
