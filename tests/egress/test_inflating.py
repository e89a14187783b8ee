"""Decompression under a budget."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.egress.inflating import BodyReader, CodingFault, OverBudget, content_coding


def raw_deflate(data: bytes) -> bytes:
    """Deflate without the zlib wrapper."""
    deflater = zlib.compressobj(wbits=-15)
    return deflater.compress(data) + deflater.flush()


ENCODERS = {"gzip": gzip.compress, "deflate": zlib.compress, "raw": raw_deflate, None: bytes}


@given(
    st.sampled_from(list(ENCODERS)),
    st.binary(max_size=2000),
    st.integers(min_value=1, max_value=700),
)
def test_a_body_comes_out_as_it_went_in(encoder: str | None, body: bytes, step: int) -> None:
    """Every coding that was asked for, cut into pieces anywhere."""
    wire = ENCODERS[encoder](body)
    reader = BodyReader("deflate" if encoder == "raw" else encoder, len(body))
    for start in range(0, len(wire), step):
        reader.feed(wire[start : start + step])
    assert reader.finish() == body


@given(st.sampled_from(list(ENCODERS)), st.binary(min_size=1, max_size=2000))
def test_one_byte_too_many_is_over_budget(encoder: str | None, body: bytes) -> None:
    """The budget counts decompressed bytes, to the byte."""
    reader = BodyReader("deflate" if encoder == "raw" else encoder, len(body) - 1)
    with pytest.raises(OverBudget):
        reader.feed(ENCODERS[encoder](body))


def test_a_bomb_stops_at_its_budget() -> None:
    """1 GB in 1 MB: no more than the budget is ever held (CWE-409)."""
    bomb = gzip.compress(bytes(10_000_000)) * 100
    assert len(bomb) < 1_100_000
    tracemalloc.start()
    try:
        reader = BodyReader("gzip", 1_048_576)
        with pytest.raises(OverBudget):
            reader.feed(bomb)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 10_000_000


def test_endless_emptiness_is_over_budget() -> None:
    """Empty members inflate to nothing but cost time; wire bytes count, too."""
    reader = BodyReader("gzip", 1000)
    members = gzip.compress(b"") * 100
    for _ in range(30):
        reader.feed(members)
    with pytest.raises(OverBudget):
        reader.feed(members * 10)


def test_gzip_members_in_a_row_are_one_body() -> None:
    """RFC 1952 section 2.2."""
    reader = BodyReader("gzip", 100)
    reader.feed(gzip.compress(b"one ", mtime=0) + gzip.compress(b"two", mtime=0))
    assert reader.finish() == b"one two"


@pytest.mark.parametrize(
    ("coding", "wire"),
    [
        ("gzip", b"plain text"),
        ("gzip", gzip.compress(b"x", mtime=0) + b"junk"),
        ("gzip", gzip.compress(b"x", mtime=0)[:-1]),
        ("gzip", gzip.compress(b"x", mtime=0)[:-8] + bytes(8)),
        ("gzip", b"\x1f"),
        ("gzip", zlib.compress(b"x")),
        ("deflate", zlib.compress(b"x")[:-1]),
        ("deflate", zlib.compress(b"x") + b"x"),
        ("deflate", b"\xff\xff\xff"),
        ("deflate", b"x"),
    ],
)
def test_a_broken_stream_is_a_fault(coding: str, wire: bytes) -> None:
    """Cut short, followed by more, or no stream of its coding: never half a body."""
    reader = BodyReader(coding, 1000)
    with pytest.raises(CodingFault):  # noqa: PT012 -- either step may see it
        reader.feed(wire)
        reader.finish()


@pytest.mark.parametrize("coding", [None, "gzip", "deflate"])
def test_an_empty_body_needs_no_stream(coding: str | None) -> None:
    """A 204 may bear the header of a coding and no body."""
    assert BodyReader(coding, 10).finish() == b""


@pytest.mark.parametrize(
    ("values", "coding"),
    [
        ([], None),
        (["identity"], None),
        ([""], None),
        (["gzip"], "gzip"),
        (["GZip "], "gzip"),
        (["x-gzip"], "gzip"),
        (["identity, deflate"], "deflate"),
    ],
)
def test_one_coding_is_recognised(values: list[str], coding: str | None) -> None:
    """Names in any case, ``identity`` counts for nothing (RFC 9110 section 8.4)."""
    assert content_coding(values) == coding


@pytest.mark.parametrize(
    "values", [["gzip, gzip, gzip"], ["gzip", "deflate"], ["br"], ["zstd"], ["compress"], ["a\x00"]]
)
def test_other_codings_are_refused(values: list[str]) -> None:
    """Stacked codings multiply a bomb; others were not asked for."""
    with pytest.raises(CodingFault):
        content_coding(values)
