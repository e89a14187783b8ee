"""Reading what the app answered (contract section 5, step 9)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.calls.answers import Answer, may_have_happened, read_body, refusal
from remit.errors import (
    CallError,
    NotConnected,
    ResponseInvalid,
    UpstreamError,
    UpstreamTimeout,
)
from remit.values.json import JsonValue
from remit.values.secrets import MASK, Masker, Secret
from tests.catalog.documents import endpoint_tool, load_tool, posting, target_tool, url_target

TOOL, _ = load_tool(endpoint_tool())


def answer(body: bytes | str, media: str | None = "application/json", status: int = 200) -> Answer:
    """An answer with a content type."""
    raw = body.encode() if isinstance(body, str) else body
    headers = () if media is None else (("Content-type", media),)
    return Answer(status=status, headers=headers, body=raw)


@pytest.mark.parametrize(
    ("body", "media", "kind", "value"),
    [
        ('{"a": 1}', "application/json", "json", {"a": 1}),
        ('{"a": 1}', "Application/JSON; charset=utf-8", "json", {"a": 1}),
        ('{"a": 1}', "application/vnd.acme.v2+json", "json", {"a": 1}),
        ('{"a": 1}', "text/json", "json", {"a": 1}),
        ('{"a": 1}', None, "json", {"a": 1}),
        ("5", None, "json", 5),
        ("hello", None, "text", "hello"),
        (b'\xef\xbb\xbf{"a": 1}', "application/json", "json", {"a": 1}),
        ("18446744073709551616", "application/json", "json", 18446744073709551616),
        ("null", "application/json", "json", None),
        ('"x"', "application/json", "json", "x"),
        ("", "application/json", "empty", None),
        ("  \n", "application/json", "empty", None),
        (b"\xef\xbb\xbf", "application/json", "empty", None),
        ("", None, "empty", None),
        ("", "image/png", "empty", None),
        ('{"a": 1}', "text/plain", "text", '{"a": 1}'),
        ("<p>x</p>", "text/html", "text", "<p>x</p>"),
        ("<a/>", "application/xml", "text", "<a/>"),
        ("a,b", "text/csv; charset=utf-8", "text", "a,b"),
        ("grün".encode("latin-1"), "text/plain; charset=iso-8859-1", "text", "grün"),
        ("grün".encode("cp1252"), 'text/plain; charset="windows-1252"', "text", "grün"),
        ("grün".encode("utf-16"), "text/plain; charset=utf-16", "text", "grün"),
    ],
)
def test_body_is_json_text_or_empty(
    body: bytes | str, media: str | None, kind: str, value: JsonValue
) -> None:
    """2xx: the body is read as JSON, text, or empty (contract section 5, step 9)."""
    found = read_body(TOOL, answer(body, media))

    assert (found.kind, found.value) == (kind, value)


@pytest.mark.parametrize(
    ("body", "media"),
    [
        ("{", "application/json"),
        ('{"a": 1, "a": 2}', "application/json"),
        ('{"a": 1, "a": 2}', None),
        ("[1, 2", None),
        ("NaN", "application/json"),
        ('"\\ud800"', "application/json"),
        (b'"\xff"', "application/json"),
        ("[" * 100_000, "application/json"),
        ("hello", "application/json"),
        (b"\x89PNG", "image/png"),
        (b"\xff\xfe\xfd", None),
        (b"\xff", "text/plain"),
        (b"\\ud800", "text/plain; charset=unicode_escape"),
        (b"x", "text/plain; charset=punycode"),
        (b"x", "text/plain; charset=zip"),
        (b"x", "text/plain; charset=nonsense"),
    ],
)
def test_body_that_cannot_be_read_is_response_invalid(body: bytes | str, media: str | None) -> None:
    """Broken JSON, duplicate keys, and bytes that are neither JSON nor text (section 5)."""
    with pytest.raises(ResponseInvalid) as error:
        read_body(TOOL, answer(body, media))

    assert error.value.sent
    assert len(error.value.message) < 400


@pytest.mark.parametrize(
    ("body", "media", "code", "message"),
    [
        ('{"code": "no_space", "message": "No space"}', "application/json", "no_space", "No space"),
        ('{"error": {"code": 42, "message": "Bad"}}', "application/json", 42, "Bad"),
        ('{"error": "invalid_grant", "error_description": "Gone"}', "application/json",
         "invalid_grant", "Gone"),
        ('{"error": "Not found"}', "application/json", None, "Not found"),
        ('{"type": "https://e.example/p", "title": "T", "detail": "D"}',
         "application/problem+json", "https://e.example/p", "D"),
        ('{"type": "about:blank", "title": "Not Found"}', "application/problem+json", None,
         "Not Found"),
        ('{"errors": [{"code": "E1", "detail": "First"}, {"detail": "Second"}]}',
         "application/json", "E1", "First"),
        ('{"errors": ["First"]}', "application/json", None, "First"),
        ('[{"errorCode": "X", "message": "M"}]', "application/json", "X", "M"),
        ('"just words"', "application/json", None, "just words"),
        ('{"message": "m", "code": true}', "application/json", None, "m"),
        ("plain words", "text/plain", None, "plain words"),
        ("plain words", None, None, "plain words"),
        ("<html>x</html>", "text/html", None, None),
        ("{", "application/json", None, None),
        ('{"message": {"a": 1}}', "application/json", None, None),
        ("[]", "application/json", None, None),
        ("", "application/json", None, None),
        (b"\xff\xfe", "image/png", None, None),
    ],
)  # fmt: skip
def test_error_answer_keeps_its_code_and_message(
    body: str | bytes, media: str | None, code: object, message: str | None
) -> None:
    """`details: {status, code?, message?}` from where APIs put them (section 5, step 9)."""
    error = refusal(TOOL, answer(body, media, 422), "api.acme.example", credential=True)

    assert isinstance(error, UpstreamError)
    assert error.details is not None
    assert error.details["status"] == 422
    assert error.details.get("code") == code
    assert error.details.get("message") == message
    assert "422 Unprocessable" in error.message
    assert message is None or message in error.message


@pytest.mark.parametrize("size", [2_047, 2_048, 2_049, 100_000])
@pytest.mark.parametrize("letter", ["x", "ü", "🙂"])
def test_error_text_is_at_most_2_kib(size: int, letter: str) -> None:
    """At most 2 KiB of its text, never inside a character (contract section 5, step 9)."""
    body = letter * (size // len(letter.encode()))
    error = refusal(TOOL, answer(body, "text/plain", 500), "h", credential=False)

    assert error is not None
    assert error.details is not None
    text = error.details["text"]
    assert isinstance(text, str)
    assert len(text.removesuffix("…").encode()) <= 2048
    assert "\ufffd" not in text
    assert len(error.message) < 700


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("7", 7), ("Sun, 06 Nov 1994 08:49:47 GMT", 10), ("soon", None), ("", None)],
    ids=["seconds", "a date", "a word", "nothing"],
)
def test_wait_that_a_busy_app_asks_for_is_told(said: str, seconds: int | None) -> None:
    """`Retry-After` in seconds or as a date, counted from the answer's own (RFC 9110, 10.2.3)."""
    headers = (("Retry-After", said), ("Date", "Sun, 06 Nov 1994 08:49:37 GMT"))
    found = Answer(status=429, headers=headers, body=b"")
    error = refusal(TOOL, found, "a.example", credential=False)

    assert error is not None
    assert (error.details or {}).get("retryAfterS") == seconds


def test_secret_across_a_cut_is_masked() -> None:
    """The credential is masked before anything is cut, so that no half of it stays (5)."""
    secret = "tok_canary_0123456789abcdef"
    masker = Masker((Secret(secret),))
    for before in range(2_000, 2_060):
        body = "x" * before + secret
        error = refusal(TOOL, answer(body, "text/plain", 500), "h", credential=True, masker=masker)
        assert error is not None
        assert "tok_" not in str(error.details) + error.message
    body = json.dumps({"message": "y" * 490 + secret})
    error = refusal(TOOL, answer(body, status=500), "h", credential=True, masker=masker)
    assert error is not None
    assert "tok_" not in str(error.details) + error.message
    assert MASK in str(error.details)


def test_not_modified_is_no_redirect() -> None:
    """A 304 points nowhere; it is an error status like any other (contract section 5, step 9)."""
    found = Answer(status=304, headers=(), body=b"")
    error = refusal(TOOL, found, "a.example", credential=False)

    assert error is not None
    assert "304" in error.message
    assert "redirect" not in error.message.lower()


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    ("location", "named"),
    [
        ("https://login.acme.example/next?token=SECRET#x", "https://login.acme.example."),
        ("https://user:SECRET@evil.example/", "an address that cannot be used"),
        ("//evil.example/SECRET", "https://evil.example."),
        ("/login?token=SECRET", "another path of the same origin"),
        ("login/SECRET", "another path of the same origin"),
        ("http://h.example:99999/SECRET", "an address that cannot be used"),
        ("http://[::1]:80/SECRET", "http://[::1]."),
        ("http://[::1", "an address that cannot be used"),
        ("javascript:SECRET", "an address that cannot be used"),
        ("", "nowhere"),
    ],
)
def test_redirect_names_the_origin_and_no_more(status: int, location: str, named: str) -> None:
    """No redirect is followed: a 3xx is an error that names the origin (section 5)."""
    found = Answer(status=status, headers=(("LOCATION", location),), body=b"")
    error = refusal(TOOL, found, "api.acme.example", credential=True)

    assert isinstance(error, UpstreamError)
    assert named in error.message
    assert "SECRET" not in error.message


def test_unauthorized_means_not_connected_where_a_credential_went_out() -> None:
    """A credential that is refused with 401 is `not_connected`; without one it is not (7)."""
    with_one = refusal(TOOL, answer("{}", status=401), "h", credential=True)
    without = refusal(TOOL, answer("{}", status=401), "h", credential=False)

    assert isinstance(with_one, NotConnected)
    assert with_one.details == {"status": 401, "text": "{}"}
    assert isinstance(without, UpstreamError)
    assert isinstance(refusal(TOOL, answer("{}", status=403), "h", credential=True), UpstreamError)


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_success_is_no_error(status: int) -> None:
    """Only 2xx is an answer (contract section 5, step 9)."""
    assert refusal(TOOL, answer("{}", status=status), "h", credential=True) is None


def test_words_of_the_app_cannot_draw_on_a_terminal() -> None:
    """What the app says is one line of a message, with nothing hidden in it (section 7)."""
    error = refusal(TOOL, answer("\x1b[2Jgone\nfake: ok", "text/plain", 500), "h", credential=False)

    assert error is not None
    assert error.message.isprintable()


@given(
    body=st.binary(max_size=60),
    media=st.sampled_from(["application/json", "text/plain", "", "x/y"]),
    status=st.integers(200, 599),
    location=st.text(max_size=20),
)
def test_no_answer_crashes_the_reader(body: bytes, media: str, status: int, location: str) -> None:
    """Hostile answers give a result or an error of the tree, nothing else (bad input)."""
    found = Answer(
        status=status, headers=(("content-type", media), ("location", location)), body=body
    )
    error = refusal(TOOL, found, "h", credential=True, masker=Masker((Secret("abcd"),)))
    assert (error is None) == (status < 300)
    if error is None:
        try:
            read_body(TOOL, found)
        except ResponseInvalid:
            return


READ = load_tool(endpoint_tool())[0]
READ_BY_POST = load_tool({**posting({}, {}), "category": "read"})[0]
WRITE_BY_GET = load_tool(endpoint_tool(category="write"))[0]
WRITE = load_tool(posting({}, {}))[0]
CLIENT = load_tool(target_tool({"type": "client", "name": "x"}))[0]
TARGET_READ = load_tool(target_tool(url_target(method="GET")))[0]
UNKNOWN = {
    "upstream_timeout",
    "upstream_unreachable",
    "response_too_large",
    "response_invalid",
    "cancelled",
    "poll_exhausted",
}


def every_error(kind: type[CallError] = CallError) -> list[type[CallError]]:
    """Every class of call error."""
    return [kind, *(found for sub in kind.__subclasses__() for found in every_error(sub))]


@pytest.mark.parametrize("kind", every_error(), ids=lambda kind: kind.code)
def test_outcome_is_unknown_for_these_codes_alone(kind: type[CallError]) -> None:
    """`mayHaveHappened` after the first byte, without an answer that was read (section 5)."""
    assert may_have_happened(WRITE, kind("x", sent=True)) == (kind.code in UNKNOWN)
    assert not may_have_happened(WRITE, kind("x", sent=False))


def test_only_a_get_of_a_read_tool_is_exempt() -> None:
    """A POST of a read tool may have happened, and so may a GET of a write tool (5)."""
    timeout = UpstreamTimeout("x", sent=True)

    assert not may_have_happened(READ, timeout)
    assert not may_have_happened(TARGET_READ, timeout)
    assert may_have_happened(READ_BY_POST, timeout)
    assert may_have_happened(WRITE_BY_GET, timeout)
    assert may_have_happened(CLIENT, timeout)
