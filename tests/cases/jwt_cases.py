"""Security cases of the class jwt: tokens forged by a recipe, judged by the kit's verification."""

from __future__ import annotations

import asyncio
import hmac
import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from joserfc.jwk import ECKey

from remit.gateway.identity import Identity as Whom
from remit.kit.identity import Identity, identity, verify
from remit.vault.sealing import Vault
from remit.vault.signing import PUBLISH_AHEAD_S, Signer
from tests.cases.verdicts import Json, UnknownShapeError, only
from tests.vault.fakes import MemoryDataKeys, MemorySigningKeys, masters

_NOW_S = 1_790_000_000
_VERIFIER = "allowed_algs iss aud leeway_s keys max_lifetime_s"
_TIME = re.compile(r"now(?:([+-])(\d+))?|(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Keys:
    """The server's key pair and an attacker's."""

    server: ec.EllipticCurvePrivateKey
    attacker: ec.EllipticCurvePrivateKey

    def jwks(self, kids: Mapping[str, Json]) -> dict[str, object]:
        """The server's public key under each of these ids."""
        public = ECKey.import_key(_pem(self.server)).as_dict(private=False)
        extra = {"alg": "ES256", "use": "sig"}
        return {"keys": [{**public, **extra, "kid": kid} for kid in kids]}


@cache
def _keys() -> _Keys:
    curve = ec.SECP256R1()
    return _Keys(server=ec.generate_private_key(curve), attacker=ec.generate_private_key(curve))


def jwt_case(given: Json, expect: Json) -> list[str]:
    """A header, claims and how to sign in; valid or not out."""
    if isinstance(given, dict) and "steps" in given:
        return _told(given["steps"], expect)
    given = only(given, "header claims sign_with verifier mutate note", "input")
    expect = only(expect, "valid", "expect")
    verifier = only(given["verifier"], _VERIFIER, "verifier")
    if verifier.get("allowed_algs") != ["ES256"] or verifier.get("leeway_s", 30) != 30:
        raise UnknownShapeError(f"a verifier of {verifier}")
    faults = _judge(_token(given), verifier, valid=expect["valid"])
    # The very same claims as a good token has them are believed: the case fails for its reason.
    kid = next(iter(verifier["keys"]))
    good = {
        "header": {"alg": "ES256", "kid": kid, "typ": "JWT"},
        "claims": {
            "sub": "user_1", "tenant": "t1", "installation": "inst_1", "jti": "j1",
            "iss": verifier["iss"], "aud": verifier["aud"], "iat": "now", "exp": "now+300",
        },
        "sign_with": "server ES256 private key",
    }  # fmt: skip
    return faults + _judge(_token(good), verifier, valid=True)


def _judge(tokens: list[str], verifier: Mapping[str, Json], *, valid: bool) -> list[str]:
    faults: list[str] = []
    # What is not said is the kit's own bound.
    longest = {k: v for k, v in verifier.items() if k == "max_lifetime_s"}
    for token in tokens:
        found = verify(
            token,
            _keys().jwks(verifier["keys"]),
            audience=verifier["aud"],
            issuer=verifier["iss"],
            now_s=_NOW_S,
            **longest,
        )
        if isinstance(found, Identity) is not valid:
            faults.append(f"expected valid {valid}, seen {found}")
        if longest:
            continue
        found = identity(
            {"Authorization": f"Bearer {token}"},
            keys=_keys().jwks(verifier["keys"]),
            audience=verifier["aud"],
            issuer=verifier["iss"],
            now_s=_NOW_S,
        )
        if isinstance(found, Identity) is not valid:
            faults.append(f"in a header: expected valid {valid}, seen {found}")
    return faults


def _token(given: Mapping[str, Json]) -> list[str]:
    """Every token that the recipe may mean."""
    header, claims = given["header"], given["claims"]
    spellings = [claims]
    timed = {k: _time(v) for k, v in claims.items() if k in ("iat", "exp", "nbf")}
    if timed:
        # A number in a text may be meant as it stands, or as the number.
        spellings = [{**claims, **timed}]
        if any(isinstance(v, str) and v.isdigit() for v in claims.values()):
            spellings.append({**spellings[0], **{k: v for k, v in claims.items() if k in timed
                                                 and str(v).isdigit()}})  # fmt: skip
    found: list[str] = []
    for claimed in spellings:
        signed = f"{_part(_bytes(header))}.{_part(_bytes(claimed))}"
        for signature in _signatures(given["sign_with"], signed):
            found += _mutated(f"{signed}.{_part(signature)}", given.get("mutate"))
    return found


def _time(value: Json) -> Json:
    if not isinstance(value, str) or (match := _TIME.fullmatch(value)) is None:
        return value
    if match[3]:
        return int(match[3])
    return _NOW_S + int(f"{match[1] or '+'}{match[2] or 0}")


def _bytes(record: Json) -> bytes:
    return record.encode() if isinstance(record, str) else json.dumps(record).encode()


def _part(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _signatures(recipe: Json, signed: str) -> list[bytes]:
    words = str(recipe).lower()
    data = signed.encode()
    if "nothing" in words or "empty signature" in words:
        return [b""]
    if "hmac" in words and "pem" in words:
        public = _keys().server.public_key()
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        pem = public.public_bytes(serialization.Encoding.PEM, form)
        # With the line end of a file and without.
        return [hmac.digest(key, data, "sha256") for key in (pem, pem.strip())]
    if "hmac" in words and "empty key" in words:
        return [hmac.digest(b"", data, "sha256")]
    if "attacker" in words and "es256" in words:
        return [_signed(_keys().attacker, data)]
    if "server es256" in words:
        return [_signed(_keys().server, data)]
    if "encrypted" in words or "inflates" in words:
        return [b"\0" * 64]
    raise UnknownShapeError(f"a signature with {recipe!r}")


def _signed(key: ec.EllipticCurvePrivateKey, data: bytes) -> bytes:
    r, s = decode_dss_signature(key.sign(data, ec.ECDSA(hashes.SHA256())))
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _mutated(token: str, mutation: Json) -> list[str]:
    """The token as the case spoils it; every one that its words may mean."""
    if mutation is None:
        return [token]
    words = str(mutation).lower()
    head, payload, signature = token.split(".")
    if "one bit" in words and "signature" in words:
        return [f"{head}.{payload}.{other}" for other in _flipped(signature)]
    if "drop" in words and "last segment" in words:
        return [f"{head}.{payload}", f"{head}.{payload}."]
    if "fourth segment" in words:
        return [f"{token}.{extra}" for extra in ("", "e30", signature)]
    if "padding" in words:
        return [f"{token}=", f"{token}=="]
    if "whitespace" in words or "newline" in words:
        return [f"{token}\n", f" {token}", f"{head}.{payload}\n.{signature}"]
    raise UnknownShapeError(f"a mutation {mutation!r}")


def _flipped(part: str) -> list[str]:
    """Base64url of the bytes with each bit of every eighth byte flipped once."""
    data = urlsafe_b64decode(part + "=" * (-len(part) % 4))
    flips = [(at, bit) for at in range(0, len(data), 8) for bit in range(8)]
    return [_part(data[:at] + bytes([data[at] ^ (1 << bit)]) + data[at + 1 :]) for at, bit in flips]


def _told(steps: list[str], expect: Json) -> list[str]:
    """Cases in words: a token at the wrong app, a token of a key that was rotated away."""
    expect = only(expect, "at_B valid", "expect")
    words = " ".join(steps).lower()
    if "rotates" in words and "signed with k1" in words:
        return asyncio.run(_rotated(valid=expect["valid"]))
    if "app b" in words and expect.get("at_B") == "rejected":
        return asyncio.run(_sent_on())
    raise UnknownShapeError(f"steps {steps}")


def _signer() -> Signer:
    vault = Vault(MemoryDataKeys(), masters("a"))
    return Signer(issuer="https://remit.example", keys=MemorySigningKeys(), keeper=vault)


def _whom(audience: str) -> Whom:
    return Whom(
        audience=audience, user="user_1", workspace="t1", installation="inst_1", call_id="j1"
    )


async def _rotated(*, valid: bool) -> list[str]:
    """Signed just before the new key takes over; looked at until its last second."""
    signer = _signer()
    await signer.prepare(now_s=_NOW_S)
    await signer.rotate(now_s=_NOW_S)
    over_s = _NOW_S + PUBLISH_AHEAD_S
    token = (await signer.mint(_whom("app_acme/api"), now_s=over_s - 1)).reveal()
    after = (await signer.mint(_whom("app_acme/api"), now_s=over_s + 20)).reveal()
    faults = [] if token.split(".")[0] != after.split(".")[0] else ["the key did not change"]
    for now_s in (over_s, over_s + 60, over_s + 298):
        jwks = await signer.jwks(now_s=now_s)
        found = verify(
            token, jwks, audience="app_acme/api", issuer="https://remit.example", now_s=now_s
        )
        if isinstance(found, Identity) is not valid:
            faults.append(f"expected valid {valid} at {now_s - over_s} s, seen {found}")
    return faults


async def _sent_on() -> list[str]:
    signer = _signer()
    await signer.prepare(now_s=_NOW_S)
    token = (await signer.mint(_whom("app_a/tools"), now_s=_NOW_S)).reveal()
    jwks = await signer.jwks(now_s=_NOW_S)
    faults: list[str] = []
    for audience, rejected in (("app_a/tools", False), ("app_b/tools", True), ("app_a/x", True)):
        found = verify(token, jwks, audience=audience, issuer="https://remit.example", now_s=_NOW_S)
        if isinstance(found, Identity) is rejected:
            faults.append(f"at {audience}: expected rejected {rejected}, seen {found}")
    return faults
