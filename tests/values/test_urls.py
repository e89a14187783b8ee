"""One URL grammar: what is read, how it is folded, what is refused."""

from __future__ import annotations

import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from remit.values.urls import (
    MAX_URL_BYTES,
    Origin,
    Url,
    UrlFault,
    parse_host,
    parse_origin,
    parse_port,
    parse_url,
    same_origin,
)

BASE = "https://api.maple.test/v2"


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("https://api.maple.test", "https://api.maple.test/"),
        ("HTTPS://API.Maple.TEST:443/Tools", "https://api.maple.test/Tools"),
        ("http://api.maple.test:80", "http://api.maple.test/"),
        ("http://api.maple.test:443/", "http://api.maple.test:443/"),
        ("https://b\u00fccher.test/x", "https://xn--bcher-kva.test/x"),
        ("https://B\u00dcCHER.test/x", "https://xn--bcher-kva.test/x"),
        ("https://bu\u0308cher.test/x", "https://xn--bcher-kva.test/x"),
        ("https://XN--BCHER-KVA.test/x", "https://xn--bcher-kva.test/x"),
        ("https://fa\u00df.test/", "https://xn--fa-hia.test/"),
        ("https://\u039f\u0394\u039f\u03a3.test/", "https://xn--pxavbq.test/"),
        ("https://[2606:4700:0:0::1111]:8443/a", "https://[2606:4700::1111]:8443/a"),
        ("https://[::FFFF:8.8.8.8]/", "https://[::ffff:8.8.8.8]/"),
        ("https://8.8.8.8:65535/", "https://8.8.8.8:65535/"),
        ("https://r3---sn-a.test/", "https://r3---sn-a.test/"),
        ("https://1.2.3.4.maple.test/", "https://1.2.3.4.maple.test/"),
        ("https://0x7f.test/", "https://0x7f.test/"),
        ("https://localhost:3000/", "https://localhost:3000/"),
        ("https://a.test?x=1", "https://a.test/?x=1"),
        ("https://a.test?", "https://a.test/?"),
        ("https://a.test/?a@b", "https://a.test/?a@b"),
        ("https://a.test/@b:c//d/%2e%2e/../e;f?g[h]=1|2&i=/?", None),
    ],
)
def test_a_plain_url_is_read_and_its_origin_folded(text: str, normal: str | None) -> None:
    """Scheme, host and port fold; path and query stay as written (contract section 7)."""
    assert parse_url(text).text == (normal or text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("//127.0.0.1/", id="no scheme"),
        pytest.param("api.maple.test/x", id="no scheme at all"),
        pytest.param("/x", id="path alone"),
        pytest.param("", id="empty"),
        pytest.param("http://", id="no host"),
        pytest.param("http:///x", id="three slashes"),
        pytest.param("https:/api.maple.test/", id="one slash"),
        pytest.param("https:api.maple.test", id="no slash"),
        pytest.param("https://:443/", id="port alone"),
        pytest.param("https://?x", id="query alone"),
        pytest.param("javascript:alert(1)", id="script"),
        pytest.param("data:text/html,x", id="data"),
        pytest.param("blob:https://api.maple.test/1", id="blob"),
        pytest.param("file:///etc/passwd", id="file"),
        pytest.param("gopher://127.0.0.1:6379/_INFO", id="gopher"),
        pytest.param("dict://127.0.0.1:11211/stat", id="dict"),
        pytest.param("ldap://127.0.0.1/", id="ldap"),
        pytest.param("ftp://api.maple.test/", id="ftp"),
        pytest.param("ws://api.maple.test/", id="websocket"),
        pytest.param("http+unix://%2Ftmp%2Fs/", id="unix socket"),
        pytest.param("https\u017f://api.maple.test/", id="long s in the scheme"),
        pytest.param("https://user@api.maple.test/", id="user"),
        pytest.param("https://user:pass@api.maple.test/", id="user and password"),
        pytest.param("https://@api.maple.test/", id="empty user"),
        pytest.param("https://api.maple.test@evil.test/", id="user like a host"),
        pytest.param("https://api.maple.test:443@evil.test/", id="password like a port"),
        pytest.param("https://evil.test\\@api.maple.test/", id="backslash before @"),
        pytest.param("https:\\\\api.maple.test/", id="backslashes for slashes"),
        pytest.param("https://api.maple.test\\x", id="backslash as path"),
        pytest.param("https://api.maple.test/a\\b", id="backslash in path"),
        pytest.param("http://1.1.1.1 &@127.0.0.1# @3.3.3.3/", id="several candidates"),
        pytest.param(" https://api.maple.test/", id="blank before"),
        pytest.param("https://api.maple.test/ ", id="blank after"),
        pytest.param("https://api.maple.test/\n", id="line break after"),
        pytest.param("https://api.map\nle.test/", id="line break in host"),
        pytest.param("https://api.map\tle.test/", id="tab in host"),
        pytest.param("ht\ntps://api.maple.test/", id="line break in scheme"),
        pytest.param("https://api.maple.test\x00.evil.test/", id="NUL in host"),
        pytest.param("https://api.maple.test/\x7f", id="DEL in path"),
        pytest.param("https://api.maple.test/\u2028", id="line separator"),
        pytest.param("https://api.maple.test/\xa0", id="no-break blank"),
        pytest.param("\ufeffhttps://api.maple.test/", id="byte order mark"),
        pytest.param("https://api.maple.test/\u00fc", id="bare letter in path"),
        pytest.param("https://api.maple.test/?\u00fc", id="bare letter in query"),
        pytest.param("https://api.maple.test/\udc80", id="lone surrogate in path"),
        pytest.param("https://\udc80.test/", id="lone surrogate in host"),
        pytest.param("https://api.maple.test/%zz", id="bad percent"),
        pytest.param("https://api.maple.test/%2", id="short percent"),
        pytest.param("https://api.maple.test/{{args.id}}", id="a reference left in"),
        pytest.param("https://api.maple.test/x#y", id="fragment"),
        pytest.param("https://api.maple.test#@evil.test/", id="fragment like a user"),
        pytest.param("https://api.maple.test:/", id="empty port"),
        pytest.param("https://api.maple.test:0/", id="port 0"),
        pytest.param("https://api.maple.test:0443/", id="leading zero"),
        pytest.param("https://api.maple.test:65536/", id="port out of range"),
        pytest.param("https://api.maple.test:99999999999/", id="port far out of range"),
        pytest.param("https://api.maple.test:-1/", id="negative port"),
        pytest.param("https://api.maple.test:+443/", id="signed port"),
        pytest.param("https://api.maple.test:4 43/", id="blank in port"),
        pytest.param("https://api.maple.test:https/", id="named port"),
        pytest.param("https://api.maple.test:\u0664\u0664\u0663/", id="Arabic digits as port"),
        pytest.param("https://api.maple.test:80:443/", id="two ports"),
        pytest.param("https://2606:4700::1111/", id="IPv6 without brackets"),
        pytest.param("https://%61pi.maple.test/", id="percent in host"),
        pytest.param("http://%31%32%37.0.0.1/", id="percent-encoded address"),
        pytest.param("https://api..maple.test/", id="empty label"),
        pytest.param("https://.maple.test/", id="leading dot"),
        pytest.param("https://api.maple.test./", id="trailing dot"),
        pytest.param("https://127.0.0.1./", id="address with trailing dot"),
        pytest.param("https://api_1.maple.test/", id="underscore"),
        pytest.param("https://-api.maple.test/", id="leading hyphen"),
        pytest.param("https://api-.maple.test/", id="trailing hyphen"),
        pytest.param("https://api!.maple.test/", id="punctuation"),
        pytest.param("https://api,evil.test/", id="comma"),
        pytest.param("https://*.maple.test/", id="wildcard"),
        pytest.param(f"https://{'a' * 64}.test/", id="long label"),
        pytest.param(f"https://{'a.' * 130}test/", id="long host"),
        pytest.param("https://" + "\u00fc" * 60 + ".test/", id="long label once encoded"),
        pytest.param("http://2130706433/", id="decimal"),
        pytest.param("http://017700000001/", id="octal"),
        pytest.param("http://0x7f000001/", id="hexadecimal"),
        pytest.param("http://0xA9FEA9FE/", id="hexadecimal, upper case"),
        pytest.param("http://0x/", id="hexadecimal without digits"),
        pytest.param("http://127.1/", id="short"),
        pytest.param("http://127.0.1/", id="short, three parts"),
        pytest.param("http://0177.0.0.1/", id="octal part"),
        pytest.param("http://0x7f.0.0.1/", id="hexadecimal part"),
        pytest.param("http://127.0.0.0x1/", id="hexadecimal last part"),
        pytest.param("http://127.0.0.1.5/", id="five parts"),
        pytest.param("http://256.256.256.256/", id="parts over 255"),
        pytest.param("http://1.2.3.256/", id="last part over 255"),
        pytest.param("http://00.0.0.0/", id="leading zeros"),
        pytest.param("http://maple.1/", id="numeric last label"),
        pytest.param("http://127.0.0.1:80:80/", id="address and two ports"),
        pytest.param("http://127\u30020\u30020\u30021/", id="ideographic dots"),
        pytest.param("http://127\uff0e0\uff0e0\uff0e1/", id="fullwidth dots"),
        pytest.param("http://127\uff610\uff610\uff611/", id="halfwidth ideographic dots"),
        pytest.param("http://\uff11\uff12\uff17.0.0.1/", id="fullwidth digits"),
        pytest.param("http://\u2460\u2461\u2466.\u24ea.\u24ea.\u2460/", id="circled digits"),
        pytest.param("http://\u0661\u0662\u0667.0.0.1/", id="Arabic digits"),
        pytest.param("http://127.0.0.\u00b9/", id="superscript digit"),
        pytest.param("https://\uff41pi.maple.test/", id="fullwidth letter"),
        pytest.param("https://\u24d4xample.test/", id="circled letter"),
        pytest.param("https://\u212ating.test/", id="Kelvin sign"),
        pytest.param("https://\u0130stanbul.test/", id="dotted capital I"),
        pytest.param("https://\ufb01les.test/", id="ligature"),
        pytest.param("https://api.\u2100.test/", id="symbol that decomposes to a slash"),
        pytest.param("https://ma\u00adple.test/", id="soft hyphen"),
        pytest.param("https://ma\u200bple.test/", id="zero-width blank"),
        pytest.param("https://ma\u200dple.test/", id="joiner without context"),
        pytest.param("https://ma\u202eple.test/", id="bidi override"),
        pytest.param("https://\u2603.test/", id="symbol"),
        pytest.param("https://\U0001f4a9.test/", id="emoji"),
        pytest.param("https://xn--/", id="empty international label"),
        pytest.param("https://xn--a.test/", id="label that does not decode"),
        pytest.param("https://xn--n3h.test/", id="encoded symbol"),
        pytest.param("https://xn--maple-.test/", id="encoded plain label"),
        pytest.param("https://xn--99zzzzzzzzzz.test/", id="overflowing label"),
        pytest.param("https://[::1/", id="open bracket"),
        pytest.param("https://::1]/", id="close bracket"),
        pytest.param("https://[]/", id="empty brackets"),
        pytest.param("https://[::1]x/", id="text after brackets"),
        pytest.param("https://[::1]:/", id="empty port after brackets"),
        pytest.param("https://[::1%25lo]/", id="zone"),
        pytest.param("https://[fe80::1%en0]/", id="bare zone"),
        pytest.param("http://[v1.fe80::a+en1]/", id="IPvFuture"),
        pytest.param("http://[example.com]/", id="name in brackets"),
        pytest.param("http://[127.0.0.1]/", id="IPv4 in brackets"),
        pytest.param("http://[::1::2]/", id="two gaps"),
        pytest.param("http://[1:2:3:4:5:6:7:8:9]/", id="nine groups"),
        pytest.param("http://[::127.0.0.0x1]/", id="hexadecimal inside"),
        pytest.param("http://[[::1]]/", id="double brackets"),
        pytest.param("https://a.test/" + "x" * MAX_URL_BYTES, id="over 8 KiB"),
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(text: str) -> None:
    """The strict grammar stands before every parser; nothing is repaired (threats 1.4)."""
    with pytest.raises(UrlFault) as caught:
        parse_url(text)
    reason = caught.value.reason
    assert reason.isprintable()
    assert len(reason) < 100
    assert "pass" not in reason.replace("password", "")


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ("https://api.maple.test", True),
        ("HTTPS://API.MAPLE.TEST/tools", True),
        ("https://api.maple.test:443/tools", True),
        ("https://api.maple.test/v2/../tools?x=//evil.test", True),
        ("https://api.maple.test?@evil.test/", True),
        ("http://api.maple.test/v2", False),
        ("http://api.maple.test:443/v2", False),
        ("https://api.maple.test:8443/v2", False),
        ("https://x.api.maple.test/v2", False),
        ("https://maple.test/v2", False),
        ("https://api.maple.test.evil.test/v2", False),
        ("https://api-maple.test/v2", False),
        ("https://ap\u0456.maple.test/v2", False),
        ("https://93.184.215.14/v2", False),
    ],
)
def test_origins_are_compared_after_folding(other: str, same: bool) -> None:
    """Scheme, host and effective port, after case and IDNA (contract section 7, RFC 6454)."""
    assert same_origin(parse_url(BASE), parse_url(other)) is same
    assert same_origin(parse_url(other).origin, parse_url(BASE)) is same


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://api.maple.test", "http://api.maple.test:80/tools"),
        ("https://b\u00fccher.test", "https://xn--bcher-kva.test/tools"),
        ("https://xn--bcher-kva.test", "https://B\u00dcCHER.test/tools"),
        ("https://[2606:4700::1]", "https://[2606:4700:0:0:0:0:0:1]:443/"),
        ("https://[::ffff:8.8.8.8]", "https://[::FFFF:808:808]/"),
    ],
)
def test_spellings_of_one_origin_are_equal_values(one: str, other: str) -> None:
    """An origin can be a key: equal origins are equal and hash alike."""
    first, second = parse_url(one).origin, parse_url(other).origin
    assert first == second
    assert len({first, second}) == 1


def test_a_fragment_can_be_left_out() -> None:
    """Where a person pastes an address its fragment may be ignored; it is never sent."""
    assert parse_url("https://a.test/x?y#z", allow_fragment=True).text == "https://a.test/x?y"
    assert parse_url("https://a.test#/x", allow_fragment=True).text == "https://a.test/"


def test_an_origin_alone_holds_no_path() -> None:
    """``parse_origin`` is for settings that name an origin."""
    assert parse_origin("https://a.test:8443/") == Origin(scheme="https", host="a.test", port=8443)
    for more in ("https://a.test/x", "https://a.test/?", "https://a.test//"):
        with pytest.raises(UrlFault):
            parse_origin(more)


def test_with_path_keeps_the_origin_and_the_grammar() -> None:
    """Paths are joined by part and never by string, so a path cannot change the host."""
    url = parse_url(BASE).with_path("/v2/a%2Fb", "q=1")
    assert url == Url(origin=parse_url(BASE).origin, path="/v2/a%2Fb", query="q=1")
    for path in (".evil.test", "@evil.test", ":80", "/a b", "/a?b", "/a#b", "/\r\n"):
        with pytest.raises(UrlFault):
            parse_url(BASE).with_path(path)
    with pytest.raises(UrlFault):
        parse_url(BASE).with_path("/", "a#b")


@pytest.mark.parametrize(
    ("text", "host", "is_ip"),
    [("A.Test", "a.test", False), ("[::1]", "::1", True), ("10.0.0.8", "10.0.0.8", True)],
)
def test_a_host_alone_is_folded_like_that_of_a_url(text: str, host: str, is_ip: bool) -> None:
    """Settings name hosts; they compare with those of URLs."""
    assert parse_host(text) == host
    assert Origin(scheme="https", host=host, port=443).is_ip is is_ip


@pytest.mark.parametrize("text", ["", "::1", "[::1]:80", "a:80", "a/b", "a b"])
def test_what_is_more_than_a_host_is_none(text: str) -> None:
    """A host alone has no port and no path; IPv6 stands in brackets."""
    with pytest.raises(UrlFault):
        parse_host(text)


@pytest.mark.parametrize(
    "text", ["", "0", "00", "080", "65536", "1e3", " 80", "-1", "\u0668\u0660"]
)
def test_an_odd_port_is_none(text: str) -> None:
    """Ports are 1 to 65535 in plain digits."""
    with pytest.raises(UrlFault):
        parse_port(text)


def url_or_reason(text: str) -> Url | str:
    """What the parser makes of a text: a URL, or the reason why not."""
    try:
        return parse_url(text)
    except UrlFault as fault:
        return fault.reason


@given(st.text(max_size=60) | st.text(alphabet=string.printable + "\u00fc\u3002", max_size=60))
@example("https://[")
@example("http://xn--0")
def test_any_text_is_a_url_or_a_fault(text: str) -> None:
    """No input breaks the parser, and what it reads it reads again to the same value."""
    for candidate in (text, f"https://{text}", f"https://a.test/{text}"):
        url = url_or_reason(candidate)
        if isinstance(url, str):
            assert url.isprintable()
        else:
            assert url.text.isascii()
            assert parse_url(url.text).text == url.text
            assert same_origin(url, parse_url(url.text))
