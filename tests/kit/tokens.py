"""Tokens by recipe, well signed and otherwise, made without the code under test."""

from __future__ import annotations

import hashlib
import hmac
import json
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from typing import Any

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

NOW = 1_800_000_000
ISSUER = "https://remit.example"
AUDIENCE = "app_acme/api"

Sign = Callable[[bytes], bytes]


def b64(data: bytes) -> str:
    """Base64url without padding."""
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _private(scalar: int) -> ec.EllipticCurvePrivateKey:
    # The same keys in every run.
    return ec.derive_private_key(scalar, ec.SECP256R1())


SERVER = _private(0x1D2C3B4A59687786959483726150)
NEXT = _private(0x2D2C3B4A59687786959483726150)
ATTACKER = _private(0x3D2C3B4A59687786959483726150)


def public_jwk(key: ec.EllipticCurvePrivateKey, kid: str, **more: object) -> dict[str, object]:
    """The public JWK."""
    numbers = key.public_key().public_numbers()
    x, y = (b64(n.to_bytes(32, "big")) for n in (numbers.x, numbers.y))
    return {"kty": "EC", "crv": "P-256", "x": x, "y": y, "kid": kid, **more}


JWKS: dict[str, object] = {"keys": [public_jwk(SERVER, "k1", alg="ES256", use="sig")]}


def es256(key: ec.EllipticCurvePrivateKey) -> Sign:
    """Sign as RFC 7518 section 3.4 says."""

    def sign(data: bytes) -> bytes:
        r, s = decode_dss_signature(key.sign(data, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")

    return sign


def es256_der(key: ec.EllipticCurvePrivateKey) -> Sign:
    """The signature in the other encoding."""
    return lambda data: key.sign(data, ec.ECDSA(hashes.SHA256()))


def hs256(secret: bytes) -> Sign:
    """Sign with a shared secret."""
    return lambda data: hmac.digest(secret, data, hashlib.sha256)


def fixed(signature: bytes) -> Sign:
    """The same signature for everything."""
    return lambda _data: signature


PEM = SERVER.public_key().public_bytes(
    serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
)
DER = SERVER.public_key().public_bytes(
    serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
)
JWK_TEXT = json.dumps(public_jwk(SERVER, "k1")).encode()

HEADER: dict[str, Any] = {"alg": "ES256", "kid": "k1", "typ": "JWT"}
CLAIMS: dict[str, Any] = {
    "iss": ISSUER,
    "aud": AUDIENCE,
    "sub": "user_1",
    "tenant": "t1",
    "installation": "inst_1",
    "iat": NOW,
    "exp": NOW + 300,
    "jti": "j1",
}


def without(record: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """All but some names."""
    return {name: value for name, value in record.items() if name not in names}


def made(
    *,
    header: Mapping[str, Any] | bytes = HEADER,
    claims: Mapping[str, Any] | bytes = CLAIMS,
    sign: Sign | None = None,
) -> str:
    """A token; bytes are taken as they are."""
    head, payload = (
        b64(part if isinstance(part, bytes) else json.dumps(part).encode())
        for part in (header, claims)
    )
    signature = (sign or es256(SERVER))(f"{head}.{payload}".encode())
    return f"{head}.{payload}.{b64(signature)}"


def claims(**changed: object) -> str:
    """A well signed token with other claims."""
    return made(claims={**CLAIMS, **changed})


def header(**changed: object) -> str:
    """A well signed token with another header."""
    return made(header={**HEADER, **changed})
