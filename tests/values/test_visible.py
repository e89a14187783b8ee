"""Third-party text: what cannot be seen is shown, what can is left alone."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from remit.values.visible import hides, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("delete\u202eeteled", "delete⟨U+202E⟩eteled", id="bidirectional override"),
        pytest.param("a\u2066b\u2069c", "a⟨U+2066⟩b⟨U+2069⟩c", id="isolates"),
        pytest.param("a\u061cb", "a⟨U+061C⟩b", id="arabic letter mark"),
        pytest.param("pay\u200bpal", "pay⟨U+200B⟩pal", id="zero-width space"),
        pytest.param("a\u200db", "a⟨U+200D⟩b", id="joiner"),
        pytest.param("a\u2060\u2064b", "a⟨U+2060⟩⟨U+2064⟩b", id="word joiner, invisible plus"),
        pytest.param("\ufeffa", "⟨U+FEFF⟩a", id="byte order mark"),
        pytest.param("\U000e0041\U000e007f", "⟨U+E0041⟩⟨U+E007F⟩", id="tags"),
        pytest.param("a\x00\x1b[2Jb", "a⟨U+0000⟩⟨U+001B⟩[2Jb", id="terminal control"),
        pytest.param("a\x7f\x9bb", "a⟨U+007F⟩⟨U+009B⟩b", id="DEL and C1"),
        pytest.param("a\rb", "a⟨U+000D⟩b", id="overwriting the line"),
        pytest.param("a\u2028b\u2029", "a⟨U+2028⟩b⟨U+2029⟩", id="line separators"),
        pytest.param("so\u00adft\u034f", "so⟨U+00AD⟩ft⟨U+034F⟩", id="soft hyphen, joiner"),
        pytest.param("\u3164\uffa0", "⟨U+3164⟩⟨U+FFA0⟩", id="fillers"),
        pytest.param("a\U000e0100\ufe00", "a⟨U+E0100⟩⟨U+FE00⟩", id="variation selectors"),
        pytest.param("❤\ufe0f\ufe0f\ufe0e", "❤\ufe0f⟨U+FE0F⟩⟨U+FE0E⟩", id="selectors in a row"),
        pytest.param("\ufe0f a \ufe0f", "⟨U+FE0F⟩ a ⟨U+FE0F⟩", id="selector that styles nothing"),
        pytest.param("a\ud800", "a⟨U+D800⟩", id="half a surrogate pair"),
    ],
)
def test_what_cannot_be_seen_is_shown(text: str, shown: str) -> None:
    """Contract section 7: control, bidirectional, zero-width, tag characters made visible."""
    assert visible(text) == shown
    assert hides(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Plain text, with \ttab\nand line feed.",
        "Zoë, naïve, Straße, Ελληνικά, עברית, العربية, 日本語, हिन्दी",
        "❤\ufe0f 1\ufe0f\u20e3 ™\ufe0e 😀 👍🏽",
        "e\u0301 (combining accent), no\u00a0break, ⟨U+202E⟩ as text",
    ],
)
def test_text_that_can_be_seen_is_unchanged(text: str) -> None:
    """Nobody's language is broken: looks unsafe, but is fine."""
    assert visible(text) == text
    assert not hides(text)


def test_windows_line_ends_become_plain_ones() -> None:
    """CR LF is a line end, not a control character to show."""
    assert visible("a\r\nb\r\n") == "a\nb\n"
    assert not hides("a\r\nb")


any_text = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("\r\n\t\ufe0e\ufe0f\u200d\u202e\U000e0041\ud800a ❤"),
    )
)


@given(any_text)
@example("\r\r\n")
@example("\u200b\ufe0f")
def test_nothing_unseen_is_left_and_twice_is_once(text: str) -> None:
    """Whatever the text: no control, format or surrogate character stays, and it is stable."""
    shown = visible(text)

    assert visible(shown) == shown
    assert not hides(shown)
    for sign in shown:
        assert sign in "\n\t" or unicodedata.category(sign) not in ("Cc", "Cs", "Zl", "Zp")
        assert not 0x200B <= ord(sign) <= 0x200F
        assert not 0x202A <= ord(sign) <= 0x202E
        assert not 0x2060 <= ord(sign) <= 0x206F
        assert not 0xE0000 <= ord(sign) <= 0xE0FFF


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)))
def test_ascii_that_can_be_seen_is_unchanged(text: str) -> None:
    """The common case costs nothing and changes nothing."""
    assert visible(text) is text
