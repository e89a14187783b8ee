"""Canonical JSON: one value, one text (RFC 8785), with integers exact."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.documents.canonical import canonical_decoded, canonical_json, compact_json
from remit.documents.strict_json import parse_json

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    # Beyond 2^53 ECMAScript pads a float's digits with zeros, which read back as an integer.
    | st.floats(min_value=-(2.0**53), max_value=2.0**53)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (5e-324, "5e-324"),
        (-5e-324, "-5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (9007199254740992.0, "9007199254740992"),
        (295147905179352830000.0, "295147905179352830000"),
        (9.999999999999997e22, "9.999999999999997e+22"),
        (1e23, "1e+23"),
        (999999999999999700000.0, "999999999999999700000"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (9.999999999999997e-7, "9.999999999999997e-7"),
        (0.000001, "0.000001"),
        (333333333.33333329, "333333333.3333333"),
        (-0.0000033333333333333333, "-0.0000033333333333333333"),
        (1424953923781206.2, "1424953923781206.2"),
        (1.0, "1"),
        (0.1, "0.1"),
        (100.5, "100.5"),
    ],
)
def test_a_float_is_written_as_ecmascript_writes_it(number: float, text: str) -> None:
    """The table of RFC 8785, appendix B."""
    assert canonical_json(number).decode() == text


def test_keys_are_sorted_by_their_utf_16_code_units() -> None:
    """RFC 8785 section 3.2.3: beyond the basic plane a key sorts before U+FB33."""
    value = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\x80": 6, "\xf6": 7}

    keys = list(parse_json(canonical_json(value)))  # type: ignore[call-overload]

    assert keys == ["\r", "1", "\x80", "\xf6", "\u20ac", "\U0001f600", "\ufb33"]


def test_strings_have_the_fewest_escapes() -> None:
    """RFC 8785 section 3.2.2.2."""
    text = '\u20ac$\x0f\nA\'B"\\\\"/\x7f\u2028\b\t\f\r'

    assert canonical_json(text).decode() == (
        '"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/\x7f\u2028\\b\\t\\f\\r"'
    )


def test_integers_keep_all_their_digits() -> None:
    """Contract section 5, step 5: two amounts that differ must not share a digest."""
    assert canonical_json({"b": 2**64 + 1, "a": -(10**30)}) == (
        b'{"a":-1000000000000000000000000000000,"b":18446744073709551617}'
    )


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        "\ud800",
        {"\udc00": 1},
        {1: 2},
        {None: 1},
        {"a": {1, 2}},
        b"bytes",
        object(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_not_json_has_no_canonical_form(value: object) -> None:
    """A digest over something that cannot be sent would promise nothing."""
    with pytest.raises((ValueError, TypeError)):
        canonical_json(value)


@given(st.dictionaries(TEXT, JSON, max_size=6), st.randoms())
def test_the_order_of_keys_does_not_matter(value: dict[str, object], random: object) -> None:
    """One value has one digest, however its author ordered it."""
    items = list(value.items())
    random.shuffle(items)  # type: ignore[attr-defined]

    assert canonical_json(dict(items)) == canonical_json(value)


@given(JSON)
def test_the_canonical_form_is_the_same_value(value: object) -> None:
    """It is JSON, and reads back equal."""
    assert parse_json(canonical_json(value)) == value


@given(JSON | st.floats(allow_nan=False, allow_infinity=False))
def test_what_was_decoded_has_the_same_canonical_form_the_short_way(value: object) -> None:
    """Floats, keys and texts beyond ASCII included."""
    assert canonical_decoded(value) == canonical_json(value)


def test_compact_json_keeps_order_and_text() -> None:
    """What the model reads is short, and in the author's order."""
    assert compact_json({"b": [1, 2.5, None], "a": "\u00e9\u2028"}) == (
        '{"b":[1,2.5,null],"a":"\u00e9\u2028"}'
    )
    with pytest.raises(ValueError, match="JSON"):
        compact_json(float("inf"))
