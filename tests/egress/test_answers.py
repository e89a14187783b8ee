"""One answer off the wire: however it is cut, it reads the same, and nothing else comes out."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.egress.answers import AnswerReader
from remit.errors import CallError, ResponseInvalid, ResponseTooLarge, UpstreamUnreachable
from remit.gateway.ports import Limits
from remit.values.urls import parse_url
from tests.egress.upstream import http

ORIGIN = parse_url("https://maple.test/").origin
LIMITS = Limits(max_body_bytes=2_000, max_header_bytes=4_000)
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"

Read = tuple[object, ...]


def read(pieces: Iterable[bytes], *, limits: Limits = LIMITS, broken: bool = False) -> Read:
    """What comes of an answer that arrives in these pieces, and then the connection ends."""
    reader = AnswerReader(ORIGIN, limits)
    left = list(pieces)
    try:
        while left:
            if reader.feed(left.pop(0)):
                break
        else:
            reader.end(broken=broken)
    except CallError as error:
        return type(error), str(error), error.sent
    answer = reader.answer
    assert answer is not None
    assert len(answer.body) <= limits.max_body_bytes
    extra = any(left)
    return answer.status, answer.headers, answer.body, reader.reusable and not extra


def chunks(*parts: bytes, end: bytes = b"0\r\n\r\n", head: bytes = b"") -> bytes:
    """A whole chunked answer."""
    body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)
    return CHUNKED + head + b"\r\n" + body + end


GZIP = gzip.compress(b"hello " * 50, mtime=0)
ANSWERS = [
    http(b"hello", "X-A: 1", "Content-Type: text/plain"),
    http(b"", status="204 No Content"),
    http(b"x" * 2_000),
    http(b"x" * 2_001),
    http(b"short", length=50),
    http(b"long", length=2),
    http(GZIP, "Content-Encoding: gzip"),
    http(GZIP + GZIP, "Content-Encoding: gzip"),
    http(GZIP[:-5], "Content-Encoding: gzip"),
    http(GZIP + b"junk", "Content-Encoding: gzip"),
    http(gzip.compress(bytes(100_000), mtime=0), "Content-Encoding: gzip"),
    http(b"no gzip" + bytes(80_000), "Content-Encoding: gzip"),
    http(zlib.compress(b"hello"), "Content-Encoding: deflate"),
    http(zlib.compress(b"hello")[2:-4], "Content-Encoding: deflate"),
    http(b"x", "Content-Encoding: br"),
    http(b"ok", "Connection: close"),
    http(b"ok") + http(b"evil"),
    http(b"ok") + b"\r\n",
    chunks(b"hello", b" there"),
    chunks(),
    chunks(b"a") + b"\r\n",
    chunks(b"a") + chunks(b"evil"),
    chunks(b"a") + b"garbage",
    chunks(b"a", end=b"0\r\nX-Late: 1\r\nX-Other: 2\r\n\r\n"),
    chunks(b"a", end=b"0\r\nX-Late: 0\r\n\r\n"),
    chunks(b"a", end=b"0\r\n" + b"X-L: 1\r\n" * 200 + b"\r\n"),
    chunks(b"a", end=b"0\r\nX-L: " + b"y" * 100_000 + b"\r\n\r\n"),
    chunks(b"a", end=b"zz\r\n"),
    chunks(b"a", end=b""),
    chunks(*[b"x" * 300] * 7),
    chunks(GZIP[:7], GZIP[7:], head=b"Content-Encoding: gzip\r\n"),
    chunks(b"no gzip", b"zz", head=b"Content-Encoding: gzip\r\n"),
    b"HTTP/1.1 200 OK\r\n\r\nto the end",
    b"HTTP/1.0 200 OK\r\nX: 1\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 2_001,
    b"HTTP/1.1 103 Hints\r\nLink: a\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + http(b"then"),
    b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000,
    b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 128 + b"Content-Length: 0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nX: " + b"y" * 3_980 + b"\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nX: " + b"y" * 30_000 + b"\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 200 " + b"y" * 30_000 + b"\r\nContent-Length: 0\r\n\r\n",
    b"y" * 30_000,
    b"HTTP/1.1 200 OK\r\nContent-Le",
    b"HTTP/1.1 101 Other\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nbytes",
    b"HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n",
    b"\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    b"",
]


@st.composite
def cut(draw: st.DrawFn, data: bytes) -> list[bytes]:
    """The same bytes in pieces, some of them tiny."""
    places = st.integers(0, len(data))
    cuts = sorted(draw(st.lists(places, max_size=12)))
    return [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]


@pytest.mark.parametrize("index", range(len(ANSWERS)))
@settings(max_examples=40)
@given(data=st.data())
def test_an_answer_reads_the_same_however_it_is_cut(index: int, data: st.DataObject) -> None:
    """One outcome for one stream of bytes: answer, error, and whether the connection is kept."""
    whole = ANSWERS[index]
    pieces = data.draw(cut(whole))
    assert b"".join(pieces) == whole
    assert (read(pieces) == read([whole])) is True  # without the diff of 100 kB


@pytest.mark.parametrize("index", [i for i, whole in enumerate(ANSWERS) if len(whole) < 3_000])
def test_an_answer_reads_the_same_byte_by_byte(index: int) -> None:
    """The worst cut of all."""
    whole = ANSWERS[index]
    assert read(whole[at : at + 1] for at in range(len(whole))) == read([whole])


@st.composite
def broken_answers(draw: st.DrawFn) -> bytes:
    """A real answer with some bytes changed, dropped or put in."""
    data = bytearray(draw(st.sampled_from([whole for whole in ANSWERS if len(whole) < 3_000])))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        data[at : at + draw(st.integers(0, 2))] = draw(
            st.one_of(st.binary(max_size=3), st.sampled_from([b"\r\n", b"\n", b"0", b":", b" "]))
        )
    return bytes(data)


@given(data=st.data(), whole=st.one_of(st.binary(max_size=200), broken_answers()))
def test_garbage_is_an_error_of_ours_or_an_answer_and_never_anything_else(
    data: st.DataObject, whole: bytes
) -> None:
    """Nothing hangs, nothing else is raised, and the cut does not matter here either."""
    assert read(data.draw(cut(whole))) == read([whole])


@given(st.binary(max_size=1_500), st.sampled_from(["length", "chunks", "end"]))
def test_a_body_comes_out_as_it_went_in(body: bytes, way: str) -> None:
    """In each of the three ways to say where it ends."""
    whole = {
        "length": http(body),
        "chunks": chunks(*([body] if body else [])),
        "end": b"HTTP/1.1 200 OK\r\n\r\n" + body,
    }[way]
    status, _, came, reusable = read([whole])
    assert (status, came, reusable) == (200, body, way != "end")


@pytest.mark.parametrize(
    ("whole", "error", "words"),
    [
        (b"", UpstreamUnreachable, "broke before its answer was read"),
        (b"HTTP/1.1 200 OK\r\nX", UpstreamUnreachable, "broke before its answer was read"),
        (b"HTTP/1.1 100 C\r\n\r\n", UpstreamUnreachable, "broke before its answer was read"),
        (b"SSH-2.0-x\r\n", ResponseInvalid, "is no valid HTTP"),
        (http(b"ab", length=3), ResponseInvalid, "its body is not whole"),
        (chunks(b"ab", end=b""), ResponseInvalid, "its body is not whole"),
        (chunks(b"ab", end=b"x\r\n"), ResponseInvalid, "its body is not whole"),
        (b"HTTP/1.1 101 X\r\n\r\n", ResponseInvalid, "not asked for"),
        (b"HTTP/1.1 200 X\r\nTransfer-Encoding: br\r\n\r\n", ResponseInvalid, "not asked for"),
        (http(b"x", "Content-Encoding: br"), ResponseInvalid, "a coding that was not asked for"),
        (http(b"x" * 2_001), ResponseTooLarge, "is longer than 2000 bytes"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 2_001, ResponseTooLarge, "longer than 2000 bytes"),
        (http(b"", "X: " + "y" * 4_000), ResponseTooLarge, "headers of more than 4000 bytes"),
        (http(b"", *["X:"] * 128), ResponseTooLarge, "too long or too many"),
        (b"HTTP/1.1 200 " + b"y" * 30_000, ResponseTooLarge, "too long or too many"),
    ],
    ids=range(15),
)
def test_each_fault_has_its_error_and_words(
    whole: bytes, error: type[CallError], words: str
) -> None:
    """They are for a person, name the origin, and say that the request was sent."""
    kind, message, sent = read([whole])
    assert sent is True
    assert kind is error
    assert words in str(message)
    assert "https://maple.test" in str(message)


def test_a_body_to_the_end_of_a_broken_connection_is_not_whole() -> None:
    """A reset is no end."""
    assert read([b"HTTP/1.1 200 OK\r\n\r\nab"], broken=True)[0] is ResponseInvalid


def test_interim_answers_share_the_room_of_the_headers() -> None:
    """They are skipped, but they end."""
    interim = b"HTTP/1.1 103 Hints\r\nLink: </style.css>\r\n\r\n"
    assert read([interim * 20 + http(b"ok")])[2] == b"ok"
    assert read([interim * 2_000])[0] is ResponseTooLarge


def test_chunk_extensions_and_trailers_have_an_end() -> None:
    """What is said around a body is bounded as headers are, however slowly it comes."""
    reader = AnswerReader(ORIGIN, LIMITS)
    reader.feed(CHUNKED + b"\r\n1;x=")
    with pytest.raises(ResponseTooLarge):
        [reader.feed(b"y" * 1_000) for _ in range(100)]


@given(st.binary(max_size=3))
def test_a_trailer_never_becomes_a_header(junk: bytes) -> None:
    """Not of this answer, and not of the next, as its connection is dropped."""
    outcome = read([chunks(b"a", end=b"0\r\nX-Late: 1\r\n\r\n" + junk)])
    assert outcome[1:] == ((("Transfer-Encoding", "chunked"),), b"a", False)
