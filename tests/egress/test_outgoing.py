"""The last look at a request before it leaves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.egress.outgoing import outgoing
from remit.errors import EgressRefused
from remit.gateway.ports import WireRequest
from remit.values.urls import MAX_URL_BYTES, Origin, UrlFault, parse_url

URL = "https://api.maple.test/v2/a%2Fb?x=1"
SECRET = "tok-canary-7"


def request(**changes: object) -> WireRequest:
    """A plain request with some parts replaced."""
    parts: dict[str, object] = {"method": "POST", "url": URL, "body": b"{}", **changes}
    return WireRequest(**parts)  # type: ignore[arg-type]


def test_a_plain_request_passes_as_it_is() -> None:
    """Nothing is added but what the answer may be compressed with (contract section 3)."""
    message = outgoing(request(headers=(("X-Maple", "a\tb c"),)))
    assert message.target == "/v2/a%2Fb?x=1"
    assert message.headers == (("X-Maple", "a\tb c"), ("Accept-Encoding", "gzip, deflate"))
    assert message.body == b"{}"


def test_an_accept_encoding_of_the_caller_stands() -> None:
    """A caller that wants no compression says so."""
    message = outgoing(request(headers=(("accept-encoding", "identity"),)))
    assert message.headers == (("accept-encoding", "identity"),)


@pytest.mark.parametrize(
    "value",
    [
        f"{SECRET}\r\nX-Evil: 1",
        f"{SECRET}\n",
        f"{SECRET}\r",
        f"{SECRET}\x00",
        f"{SECRET}\x0b",
        f"{SECRET}\x7f",
        f"{SECRET}\u00e4",
        f"{SECRET}\u2028",
        f"{SECRET}\udc80",
        SECRET + "x" * 8192,
    ],
)
def test_a_bad_header_value_is_refused_and_not_repeated(value: str) -> None:
    """A credential with a line break goes nowhere, not into the error either (CWE-113)."""
    with pytest.raises(EgressRefused) as caught:
        outgoing(request(headers=(("Authorization", value),)))
    assert SECRET not in str(caught.value)
    assert "Authorization" in str(caught.value)
    assert caught.value.sent is False
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "name",
    [
        "",
        "X Bad",
        "X-B\u00e4d",
        "X-Bad\r\nX",
        "X:Bad",
        "X-Bad\x00",
        "Host",
        "content-length",
        "Transfer-Encoding",
        "Connection",
        "Keep-Alive",
        "Expect",
        "Upgrade",
        "TE",
        "Trailer",
        "Proxy-Authorization",
        "proxy-connection",
    ],
)
def test_a_bad_header_name_is_refused(name: str) -> None:
    """Names are tokens, and the headers of the connection are the transport's own."""
    with pytest.raises(EgressRefused) as caught:
        outgoing(request(headers=((name, "x"),)))
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "method", ["CONNECT", "TRACE", "get", "GET ", "GET / HTTP/1.1\r\nX: y", ""]
)
def test_other_methods_are_refused(method: str) -> None:
    """Five methods leave (contract section 3)."""
    with pytest.raises(EgressRefused):
        outgoing(request(method=method))


def test_a_get_with_a_body_is_refused() -> None:
    """A body on GET is an error (contract section 3)."""
    with pytest.raises(EgressRefused):
        outgoing(request(method="GET"))


@pytest.mark.parametrize("url", ["https://a.test/" + "x" * 8192, "https://a.test/\r\n", "a.test/"])
def test_a_bad_url_is_refused(url: str) -> None:
    """Over 8 KiB, or no URL at all."""
    with pytest.raises(EgressRefused):
        outgoing(request(url=url))


@given(st.text(max_size=20), st.text(max_size=20))
def test_no_header_passes_that_could_end_its_line(name: str, value: str) -> None:
    """Whatever passes is visible ASCII, blank and tab."""
    try:
        message = outgoing(request(headers=((name, value),)))
    except EgressRefused:
        return
    line = f"{message.headers[0][0]}: {message.headers[0][1]}"
    assert all(character == "\t" or " " <= character <= "~" for character in line)


# "(" stands for a line break here.
PARTS_OF_URLS = [
    *["http", "https", "HTTPS", ":", "//", "/", "?", "#", "@", "\\", "%2e", "%", "x=1", "(", "."],
    *["a.test", "A.test", "user", "[::1]", "127.0.0.1", ":80", ":443", ":0", "b\u00fc.test"],
]
AROUND_URLS = st.lists(st.sampled_from(PARTS_OF_URLS), max_size=9).map(
    lambda parts: "".join(parts).replace("(", "\n")
)


@given(st.one_of(AROUND_URLS, st.text(max_size=30).map("https://a.test".__add__)))
def test_a_url_is_read_as_the_grammar_reads_it(text: str) -> None:
    """An origin that was read before changes nothing: the same URL, or the same refusal."""
    expected, seen = read_url(text), [send_url(text) for _ in range(2)]
    assert seen == [expected, expected]


def read_url(text: str) -> tuple[Origin, str] | str:
    """Origin and target of the URL, or why it is none."""
    try:
        url = parse_url(text)
        return url.origin, url.target
    except UrlFault as fault:
        return f"The request was not sent: the URL cannot be used: {fault.reason}."


def send_url(text: str) -> tuple[Origin, str] | str:
    """The same of what goes out."""
    try:
        message = outgoing(request(url=text))
        return message.origin, message.target
    except EgressRefused as refusal:
        return str(refusal)


def test_a_url_that_grows_over_the_limit_by_its_host_is_refused() -> None:
    """A Unicode name is longer in ASCII; what is sent counts (contract section 3)."""
    head = "https://b\u00fc.test/"
    grown = len("xn--b-xga") - len("b\u00fc")
    fits = head + "x" * (MAX_URL_BYTES - len(head) - grown)
    message = outgoing(request(url=fits))
    assert len(f"{message.origin}{message.target}") == MAX_URL_BYTES
    with pytest.raises(EgressRefused, match="8 KiB"):
        outgoing(request(url=fits + "x"))


def test_a_request_shows_no_secret_when_printed() -> None:
    """Headers, query and body may hold a credential; their text is left out of ``repr``."""
    shown = repr(
        request(
            url=f"https://a.test/x?key={SECRET}", headers=(("A", SECRET),), body=SECRET.encode()
        )
    )
    assert SECRET not in shown
