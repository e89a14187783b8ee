"""AES-256-GCM envelopes: text that opens for one key and one binding, and not at all otherwise.

The form is ``v1.<key id>.<nonce>.<ciphertext>``, the last two in base64url without padding; the
nonce has 96 random bits, the ciphertext ends with its 128-bit tag (NIST SP 800-38D). What the
value belongs to is not in it: it is bound as associated data, and must be said again to open it.
"""

from __future__ import annotations

import os
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import TYPE_CHECKING, final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from remit.documents.canonical import compact_json
from remit.gateway.keeping import VaultFault

if TYPE_CHECKING:
    from remit.gateway.keeping import Place

FORM = "v1"
KEY_BYTES = 32
#: Random nonces of 96 bits: after 2^24 encryptions two are equal with a chance of 2^-49. The
#: standard's own bound is 2^32.
MAX_USES = 2**24
MAX_PLAIN_BYTES = 65_536

_NONCE_BYTES = 12
# 65,536 bytes and a tag in base64, with the parts before them.
_MAX_TEXT = 90_000
_TEXT = re.compile(rf"{FORM}\.([a-z0-9]{{1,40}})\.([A-Za-z0-9_-]{{16}})\.([A-Za-z0-9_-]{{22,}})")


@final
class Cipher:
    """One AES-256 key with its id. The key itself cannot be had from it.

    Args:
        key_id: 1 to 40 lower-case letters and digits.
        key: 32 bytes.
    """

    __slots__ = ("_aead", "id")

    def __init__(self, key_id: str, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            msg = f"an AES-256 key has {KEY_BYTES} bytes"
            raise ValueError(msg)
        self.id = key_id
        self._aead = AESGCM(key)

    def __repr__(self) -> str:
        return f"Cipher({self.id})"

    def __reduce__(self) -> str:
        msg = "a key is never serialized"
        raise TypeError(msg)

    def seal(self, plain: bytes, binding: bytes) -> str:
        """Seal under a nonce that was never used before."""
        nonce = os.urandom(_NONCE_BYTES)
        sealed = self._aead.encrypt(nonce, plain, binding)
        return f"{FORM}.{self.id}.{_text(nonce)}.{_text(sealed)}"

    def open(self, text: str, binding: bytes) -> bytes:
        """Open what this key sealed with the same binding.

        Raises:
            VaultFault: one bit of text, binding or key differs.
        """
        key_id, nonce, sealed = _parts(text)
        if key_id != self.id:
            msg = f"The sealed value names the key {key_id}, and was asked to open with {self.id}."
            raise VaultFault(msg)
        try:
            return self._aead.decrypt(nonce, sealed, binding)
        except InvalidTag:
            msg = (
                f"A value sealed under the key {key_id} does not open: it was changed, or it was "
                "sealed for another place. Put it in again, or restore it from a backup."
            )
            raise VaultFault(msg) from None


def key_id_of(text: str) -> str:
    """The id of the key that an envelope names.

    Raises:
        VaultFault: the text is no envelope.
    """
    return _parts(text)[0]


def value_binding(place: Place, key_id: str) -> bytes:
    """What a sealed value is bound to: its place and its data key."""
    return _binding("value", [place.workspace, place.app, place.user, list(place.field), key_id])


def wrap_binding(workspace: str, key_id: str, master: str) -> bytes:
    """What a wrapped data key is bound to: its workspace, its id and its master key."""
    return _binding("data key", [workspace, key_id, master])


def _binding(kind: str, parts: list[object]) -> bytes:
    # Of texts and null alone, so that this is their canonical JSON: no two lists have one text.
    return compact_json(["remit", FORM, kind, *parts]).encode("utf-8", "surrogatepass")


def _parts(text: str) -> tuple[str, bytes, bytes]:
    match = _TEXT.fullmatch(text) if len(text) <= _MAX_TEXT else None
    nonce, sealed = (_bytes(match[2]), _bytes(match[3])) if match else (None, None)
    if match is None or nonce is None or sealed is None:
        msg = (
            f"A stored value is no sealed value of the form {FORM}: it was cut or changed, or a "
            "newer Remit wrote it. Restore it from a backup, or put it in again."
        )
        raise VaultFault(msg)
    return match[1], nonce, sealed


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes(text: str) -> bytes | None:
    """Base64url of its alphabet alone; None unless the bytes have this text and no other."""
    try:
        data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return None
    return data if _text(data) == text else None
