"""Master keys are read strictly, and what is wrong is said without showing them."""

from __future__ import annotations

import os
from base64 import b64encode, urlsafe_b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.errors import WrongUse
from remit.values.secrets import Secret
from remit.vault.masters import Masters, read_masters
from tests.vault.fakes import key_text

RAW = bytes.fromhex("fbefbe00112a3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f0718293a4bff")


def encoded(raw: bytes) -> str:
    """Standard base64."""
    return b64encode(raw).decode()


@pytest.mark.parametrize(
    "text",
    [
        encoded(RAW),
        urlsafe_b64encode(RAW).decode(),
        encoded(RAW).rstrip("="),
        f"  {encoded(RAW)}\r\n\n",
        f"# made in November\n{encoded(RAW)}  # the current one\n",
    ],
)
def test_every_spelling_of_a_key_is_the_same_key(text: str) -> None:
    """Base64, standard or URL-safe, as tools write it (contract section 12)."""
    found = read_masters(Secret(text), "[vault] key")

    assert found.current.id == read_masters(Secret(encoded(RAW)), "x").current.id
    assert found.previous == ()


@pytest.mark.parametrize("between", ["\n", " ", ",", ", ", "\n\n# older\n"])
def test_the_first_key_is_current_and_the_others_open(between: str) -> None:
    """A new key is put before the old one, in a file or in a variable."""
    text = between.join([key_text("new"), key_text("old")])

    found = read_masters(Secret(text), "[vault] key")

    (old,) = found.previous
    assert found.get(old.id) is old
    assert found.get(found.current.id) is found.current
    assert found.get("m0") is None
    assert found.ids == {found.current.id, old.id}


def read_or_refuse(text: str) -> Masters | WrongUse:
    """What reading gives, or the refusal."""
    try:
        return read_masters(Secret(text), "x")
    except WrongUse as refused:
        return refused


PATTERNS = [
    pytest.param(bytes(32), id="zeros"),
    pytest.param(b"\xff" * 32, id="ones"),
    pytest.param(bytes(range(32)), id="counting up"),
    pytest.param(bytes(range(255, 223, -1)), id="counting down"),
    pytest.param(bytes(0 if n % 2 else 170 for n in range(32)), id="two values"),
    pytest.param(RAW[:16] * 2, id="16 bytes twice"),
    pytest.param(b"0123456789abcdefghijklmnopqrstuv", id="text"),
    pytest.param(b"change-me-change-me-change-me-32", id="a placeholder"),
    pytest.param(RAW.hex()[:32].encode(), id="hexadecimal digits"),
]


@pytest.mark.parametrize("raw", PATTERNS)
def test_a_key_that_can_be_guessed_is_refused(raw: bytes) -> None:
    """Zeros, examples and passwords are no keys."""
    with pytest.raises(WrongUse, match=r"can be guessed\. Make one: head -c 32") as caught:
        read_masters(Secret(encoded(raw)), "[vault] key")
    assert encoded(raw) not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("", r"\[vault\] key has no key in it", id="empty"),
        pytest.param("# only a comment", "has no key in it", id="a comment"),
        pytest.param(encoded(bytes(16)), "has 16 bytes, and a key has exactly 32", id="16 bytes"),
        pytest.param(encoded(RAW + b"x"), "has 33 bytes", id="33 bytes"),
        pytest.param(encoded(RAW)[:-2], "is no base64|has 31 bytes", id="cut"),
        pytest.param(RAW.hex(), "has 48 bytes", id="hexadecimal"),
        pytest.param("päßword", "is no base64", id="beyond ASCII"),
        pytest.param("correct!horse", "is no base64", id="a password"),
        pytest.param(f"{encoded(RAW)}\n{encoded(RAW)}", "key 2 stands there twice", id="twice"),
        pytest.param(f"{encoded(RAW)}\nxxxxx", "key 2 is no base64", id="a bad second one"),
        pytest.param("\n".join(key_text(str(n)) for n in range(9)), "has 9 keys", id="nine"),
    ],
)
def test_what_is_no_key_is_refused_with_its_place_and_not_shown(text: str, said: str) -> None:
    """A refusal names the place and the mend, never the text."""
    with pytest.raises(WrongUse, match=said) as caught:
        read_masters(Secret(text), "[vault] key")
    assert str(caught.value).startswith("[vault] key")
    assert not any(len(w) > 3 and w in str(caught.value) for w in text.split() if w[0] != "#")


@given(st.binary(min_size=32, max_size=32))
def test_any_32_bytes_are_a_key_or_a_pattern(raw: bytes) -> None:
    """Nothing else can happen, and the bytes are never said."""
    found = read_or_refuse(encoded(raw))

    if isinstance(found, Masters):
        assert found.current.id.startswith("m")
    else:
        assert "can be guessed" in str(found)
    assert encoded(raw) not in repr(found)
    assert raw.hex()[:8] not in repr(found)


def test_random_keys_are_never_taken_for_patterns() -> None:
    """A good key is not refused by chance, and ids differ."""
    found = {read_masters(Secret(encoded(os.urandom(32))), "x").current.id for _ in range(5_000)}

    assert len(found) == 5_000
