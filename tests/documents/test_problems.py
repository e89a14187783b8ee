"""Problems and pointers: how a place is named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.documents.problems import (
    DocumentError,
    Problem,
    parts_of,
    pointer,
    quoted,
    shortened,
)


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((), ""),
        (("",), "/"),
        (("a", 0, "b"), "/a/0/b"),
        (("a/b", "m~n", "~1"), "/a~1b/m~0n/~01"),
    ],
)
def test_a_pointer_escapes_its_parts(parts: tuple[str | int, ...], text: str) -> None:
    """RFC 6901 section 3."""
    assert pointer(*parts) == text


@given(st.lists(st.text(max_size=6), max_size=5))
def test_a_pointer_is_taken_apart_again(parts: list[str]) -> None:
    """RFC 6901 section 4."""
    assert list(parts_of(pointer(*parts))) == parts


def test_an_error_reads_thing_place_mend() -> None:
    """The look and voice of errors: where, what, what to do."""
    problem = Problem(pointer="/a", message="it is 1", mend="write 2", line=3, column=4)

    assert str(DocumentError([problem])) == "/a  line 3, column 4: it is 1. write 2"
    assert str(Problem(pointer="", message="it is 1", mend="write 2")) == "it is 1. write 2"


def test_a_cut_text_says_that_it_was_cut() -> None:
    """Nothing is cut without saying so (issue 2)."""
    assert shortened("x" * 80) == "x" * 80
    assert shortened("x" * 81) == "x" * 80 + "\u2026 (cut, 81 characters in all)"
    assert quoted("x" * 81, 3) == '"xxx\u2026" (cut, 81 characters in all)'


def test_unprintable_text_is_shown_escaped() -> None:
    """A key cannot drive the terminal that an error is printed on."""
    assert quoted("\x1b[2J\u202e") == '"\\u001b[2J\\u202e"'
    assert quoted("caf\u00e9") == '"caf\u00e9"'
