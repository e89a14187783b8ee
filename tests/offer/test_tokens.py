"""Token counts: the published vocabulary, exact on known texts, bounded on hostile ones."""

from __future__ import annotations

import gzip
import hashlib
import subprocess
import sys
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.offer.tokens import count_tokens, pieces

# The digest that the publisher of o200k_base gives for its file.
PUBLISHED_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"


def test_carried_vocabulary_is_the_published_one() -> None:
    """Written out as its publisher writes it, our file has the published digest."""
    packed = (files("remit.offer") / "o200k_base.tokens.gz").read_bytes()
    lines = gzip.decompress(packed).splitlines()
    published = b"".join(b"%s %d\n" % (line, rank) for rank, line in enumerate(lines))

    assert hashlib.sha256(published).hexdigest() == PUBLISHED_SHA256


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("a", 1),
        ("hello world", 2),
        ("tiktoken is great!", 6),
        ("antidisestablishmentarianism", 6),
        ("2 + 2 = 4", 7),
        ("お誕生日おめでとう", 8),
    ],
)
def test_known_texts_count_as_published(text: str, count: int) -> None:
    """The counts that o200k_base is documented with (contract section 15)."""
    assert count_tokens(text) == count


def test_special_token_counts_as_plain_text() -> None:
    """A description cannot smuggle a one-token control mark into the bill."""
    assert count_tokens("<|endoftext|>") == 7


def test_lone_surrogate_is_counted() -> None:
    """A string that no encoding can carry still has a bill."""
    assert count_tokens("\ud800x") == 2


@pytest.mark.parametrize(
    ("sign", "count"),
    [
        pytest.param("a", 125_000, id="letter"),
        pytest.param(" ", 7_812, id="blank"),
        pytest.param("\t", 62_500, id="tab"),
        pytest.param("\u00a0", 125_000, id="no-break space"),
        pytest.param("\n", 62_500, id="line feed"),
        pytest.param("!", 62_500, id="mark"),
        pytest.param("1", 333_334, id="digit"),
        pytest.param("\u6f22", 1_000_000, id="ideograph"),
    ],
)
def test_megabyte_of_one_sign_is_counted(sign: str, count: int) -> None:
    """A hostile text neither hangs nor overflows; cutting costs a few tokens a piece at most."""
    cuts = 1_000_000 // 32_768

    assert abs(count_tokens(sign * 1_000_000) - count) <= 4 * cuts


def test_long_prose_is_counted_exactly() -> None:
    """Where words end, the pieces add up to the whole: a bill does not depend on its length."""
    sentence = "The agent's tools aren't free:  each costs 1,234 tokens\n\n a turn. "
    once = count_tokens(sentence * 100)

    assert count_tokens(sentence * 4_000) == once + 3_900 * (count_tokens(sentence * 101) - once)


words = st.text(st.sampled_from("aB'sé漢1 \n\t!/\u00a0\u0301"), max_size=80)


@given(words)
def test_cutting_at_words_changes_no_count(text: str) -> None:
    """Every blank after a word begins a new one, whatever stands around it."""
    whole = count_tokens(text)
    for at in range(1, len(text)):
        if text[at] == " " and not text[at - 1].isspace():
            assert count_tokens(text[:at]) + count_tokens(text[at:]) == whole


@given(st.text(st.sampled_from("ab \n"), max_size=200), st.integers(2, 40))
def test_pieces_join_to_the_text(text: str, size: int) -> None:
    """No sign is lost, doubled or moved by cutting, and no piece is too long."""
    found = list(pieces(text, size))

    assert "".join(found) == text
    assert all(len(piece) <= size for piece in found)


def test_import_loads_no_tokenizer() -> None:
    """The module is free until a count is asked for; a server process never asks."""
    code = "import sys, remit.offer.tokens; sys.exit('tiktoken' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
