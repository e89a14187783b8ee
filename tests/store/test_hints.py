"""Hints fit into payloads of ``NOTIFY``, and come out as they went in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from remit.store.hints import (
    Grown,
    Hint,
    Piece,
    Wanted,
    Whole,
    hints_of,
    payloads_of,
    pieces_of,
)

KEY = {"workspace": "acme", "session": "sess_1"}


def piece(offset: int, text: str, message_id: str = "m1") -> Piece:
    """A piece of a message."""
    return Piece(**KEY, run_id="r1", message_id=message_id, offset=offset, text=text)


HINTS = st.one_of(
    st.builds(piece, st.integers(0, 10**6), st.text(max_size=4_000)),
    st.builds(Grown, workspace=st.text(), session=st.text(), head=st.integers(0, 2**53)),
    st.sampled_from([Whole(**KEY), Wanted(**KEY)]),
)


def heard(payloads: list[str]) -> list[Hint]:
    """What another node makes of payloads."""
    found: list[Hint] = []
    for payload in payloads:
        node, hints = hints_of(payload)
        assert node == "node_1"
        found += hints
    return found


@given(st.lists(HINTS, max_size=60))
def test_all_hints_arrive_in_their_order_in_payloads_that_fit(hints: list[Hint]) -> None:
    """PostgreSQL takes less than 8,000 bytes; long texts are cut and follow on each other."""
    payloads = payloads_of("node_1", hints)

    assert all(len(payload.encode()) < 8_000 for payload in payloads)
    assert pieces_of(heard(payloads)) == pieces_of(
        hint for hint in hints if not isinstance(hint, Piece) or hint.text
    )


def test_few_hints_are_one_payload() -> None:
    """A busy node sends as few as can be."""
    assert len(payloads_of("node_1", [Grown(**KEY, head=n) for n in range(100)])) == 1
    assert payloads_of("node_1", []) == []


def test_pieces_that_follow_on_each_other_are_one() -> None:
    """Others stay apart: of another message, or behind a gap."""
    hints = [piece(0, "a"), piece(1, "bc"), piece(4, "d"), piece(5, "e", "m2"), piece(6, "f", "m2")]
    assert pieces_of(hints) == [piece(0, "abc"), piece(4, "d"), piece(5, "ef", "m2")]


def test_half_of_a_pair_is_left_out() -> None:
    """It is no text that PostgreSQL takes; the others get the message when it is whole."""
    payloads = payloads_of("node_1", [piece(0, "\ud83e"), Whole(**KEY)])
    assert heard(payloads) == [Whole(**KEY)]


def test_what_cannot_be_read_is_nothing() -> None:
    """A newer release may tell more."""
    for payload in ("", "{}", '["n",[["new","a","b"]]]', '["n"]'):
        assert hints_of(payload) == ("", [])
