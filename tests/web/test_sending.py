"""Headers as they are written: one line each, whatever is in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.web.answers import Answer
from remit.web.sending import header_lines, headers_of, lines_of

BREAKING = bytes({*range(32), 127} - {9})


@given(st.lists(st.tuples(st.binary(max_size=8), st.binary(max_size=12)), max_size=4))
def test_header_is_one_line_or_refused(headers: list[tuple[bytes, bytes]]) -> None:
    """No value ends its line, nor the head: a control character but a tab is refused."""
    if any(byte in BREAKING for name, value in headers for byte in name + value):
        with pytest.raises(ValueError, match="line break or a control character"):
            header_lines(headers)
    else:
        lines = header_lines(headers).split(b"\r\n")
        assert lines == [*(name + b": " + value for name, value in headers), b""]


@pytest.mark.parametrize(
    "answer",
    [
        Answer(body=b"{}"),
        Answer(body=b"{}", status=404, media="application/problem+json"),
        Answer(body=b"{}", headers={"retry-after": "1"}),
        Answer(body=b"{}", headers={"cache-control": "public"}),
        Answer(status=204),
    ],
)
def test_answer_has_the_same_headers_by_the_short_way(answer: Answer) -> None:
    """What is written at once for the usual answer says what is written for any other."""
    assert lines_of(answer) == header_lines(headers_of(answer))
