"""Envelopes open for their key and binding, and for no other bit of either."""

from __future__ import annotations

import json
import pickle
import string
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from remit.gateway.keeping import (
    Place,
    Sealed,
    VaultFault,
    connection_place,
    env_place,
    signing_place,
)
from remit.vault.envelopes import Cipher, key_id_of, value_binding, wrap_binding
from tests.vault.fakes import CANARY

KEY = bytes(range(7, 39))
CIPHER = Cipher("d1", KEY)
BINDING = b"acme/shop/ann"

texts = st.text(max_size=12)
places = st.builds(
    Place,
    workspace=texts,
    app=texts,
    user=st.none() | texts,
    field=st.lists(texts, max_size=4).map(tuple),
)


def parts(text: str) -> tuple[str, bytes, bytes]:
    """Key id, nonce, and ciphertext with tag."""
    _, key_id, *data = text.split(".")
    nonce, sealed = (urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in data)
    return key_id, nonce, sealed


def joined(key_id: str, nonce: bytes, sealed: bytes) -> str:
    """The text of parts."""
    data = [urlsafe_b64encode(part).rstrip(b"=").decode() for part in (nonce, sealed)]
    return ".".join(["v1", key_id, *data])


def flipped(data: bytes, bit: int) -> bytes:
    """With one bit changed."""
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


@given(plain=st.binary(max_size=200), binding=st.binary(max_size=50))
def test_what_is_sealed_opens(plain: bytes, binding: bytes) -> None:
    """Any bytes, the empty ones too, come back as they were."""
    text = CIPHER.seal(plain, binding)

    assert CIPHER.open(text, binding) == plain
    assert key_id_of(text) == Sealed(text).key_id == "d1"
    assert joined(*parts(text)) == text


def test_no_bit_of_nonce_ciphertext_or_tag_can_be_changed() -> None:
    """Authenticated encryption; the error names no key and no plaintext (NIST SP 800-38D)."""
    key_id, nonce, sealed = parts(CIPHER.seal(CANARY.encode(), BINDING))
    changed = [joined(key_id, flipped(nonce, bit), sealed) for bit in range(len(nonce) * 8)]
    changed += [joined(key_id, nonce, flipped(sealed, bit)) for bit in range(len(sealed) * 8)]

    for text in changed:
        with pytest.raises(VaultFault) as caught:
            CIPHER.open(text, BINDING)
        assert CANARY not in str(caught.value)
        assert text not in str(caught.value)
        assert KEY.hex() not in repr(caught.value)


@pytest.mark.parametrize("size", [0, 1, 2])
def test_no_character_of_the_text_can_be_changed(size: int) -> None:
    """Two texts never mean the same bytes: bits to spare in the last character are refused."""
    text = CIPHER.seal(bytes(size), BINDING)

    for at in range(len(text)):
        for other in string.printable + "é" if at == len(text) - 1 else "AZaz09-_.v= \n~é":
            changed = text[:at] + other + text[at + 1 :]
            if changed != text:
                with pytest.raises(VaultFault):
                    CIPHER.open(changed, BINDING)


@given(data=st.data())
def test_no_part_of_the_text_can_be_left_out_or_doubled(data: st.DataObject) -> None:
    """Cut and lengthened texts do not open."""
    text = CIPHER.seal(b"value", BINDING)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))

    for changed in (text[:start] + text[end:], text[:end] + text[start:]):
        assume(changed != text)
        with pytest.raises(VaultFault):
            CIPHER.open(changed, BINDING)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param(CANARY, id="plain text"),
        pytest.param("v2.d1.AAAAAAAAAAAAAAAA." + "A" * 24, id="a newer form"),
        pytest.param("v1.d1.AAAAAAAAAAAAAAAA." + "A" * 20, id="shorter than a tag"),
        pytest.param("v1..AAAAAAAAAAAAAAAA." + "A" * 24, id="no key"),
        pytest.param("v1.D1.AAAAAAAAAAAAAAAA." + "A" * 24, id="a key id in capitals"),
        pytest.param("v1.d1.AAAAAAAAAAAAAAA." + "A" * 24, id="a short nonce"),
        pytest.param("v1.d1.AAAAAAAAAAAAAAAA." + "A" * 24 + "\n", id="a line break after it"),
        pytest.param("v1.d1.AAAAAAAAAAAAAAAA." + "A" * 200_000, id="far too long"),
        pytest.param("gAAAAABh" + "A" * 90, id="a Fernet token"),
    ],
)
def test_what_is_no_envelope_is_said_to_be_none_and_not_shown(text: str) -> None:
    """A row that holds plain text by accident does not leak it into an error."""
    for attempt in (lambda: CIPHER.open(text, BINDING), lambda: key_id_of(text)):
        with pytest.raises(VaultFault, match="no sealed value of the form v1") as caught:
            attempt()
        assert CANARY not in str(caught.value)


def test_another_key_does_not_open() -> None:
    """Neither one with another id nor one that took over the id."""
    text = CIPHER.seal(b"value", BINDING)

    for other in (Cipher("d2", KEY), Cipher("d1", bytes(range(32)))):
        with pytest.raises(VaultFault):
            other.open(text, BINDING)


@given(places, places, st.sampled_from(["d1", "d2"]), st.sampled_from(["d1", "d2"]))
def test_different_places_never_have_the_same_binding(
    one: Place, two: Place, one_key: str, two_key: str
) -> None:
    """The encoding is unambiguous: no separator can be smuggled into a name."""
    same = (one, one_key) == (two, two_key)

    assert (value_binding(one, one_key) == value_binding(two, two_key)) == same


@pytest.mark.parametrize(
    ("one", "two"),
    [
        pytest.param({"workspace": "a", "app": "bc"}, {"workspace": "ab", "app": "c"}, id="split"),
        pytest.param({"user": None}, {"user": ""}, id="nobody and an empty name"),
        pytest.param({"field": ("a", "b")}, {"field": ("a,b",)}, id="a comma"),
        pytest.param({"field": ("a", "b")}, {"field": ('a","b',)}, id="quotes"),
        pytest.param({"user": "ann"}, {"user": "Ann"}, id="letter case"),
        pytest.param({"user": "é"}, {"user": "e\u0301"}, id="no normalization"),
        pytest.param({"app": "a\0"}, {"app": "a"}, id="NUL"),
    ],
)
def test_places_that_look_alike_are_bound_apart(
    one: dict[str, object], two: dict[str, object]
) -> None:
    """The near misses, by hand."""
    place = Place(workspace="w", app="a", user="u", field=("f",))

    assert value_binding(replace(place, **one), "d1") != value_binding(replace(place, **two), "d1")


def test_kinds_of_places_and_wraps_are_bound_apart() -> None:
    """A value is never taken for a data key, nor a credential for an env value."""
    bindings = {
        value_binding(connection_place("w", "a", "u", "c"), "d1"),
        value_binding(env_place("w", "a", "u", "c", "N"), "d1"),
        value_binding(signing_place("k"), "d1"),
        wrap_binding("w", "d1", "m1"),
        wrap_binding("w", "d1", "m2"),
        wrap_binding("w", "d2", "m1"),
        wrap_binding("x", "d1", "m1"),
    }

    assert len(bindings) == 7
    assert all(json.loads(binding)[:2] == ["remit", "v1"] for binding in bindings)


def test_nonces_do_not_repeat() -> None:
    """100,000 encryptions under one key (NIST SP 800-38D, section 8)."""
    nonces = {CIPHER.seal(b"", b"").split(".")[2] for _ in range(100_000)}

    assert len(nonces) == 100_000


def test_a_key_is_neither_shown_nor_serialized() -> None:
    """No log, repr or pickle has it."""
    assert repr(CIPHER) == "Cipher(d1)"
    with pytest.raises(TypeError):
        pickle.dumps(CIPHER)
    with pytest.raises(ValueError, match="32 bytes"):
        Cipher("d1", b"0123456789abcdef")
