"""Verifies the identity token that Remit sends with a call (contract section 8).

Rules beyond the signature, after RFC 8725: one algorithm, so that no token chooses; ``typ`` is
exact; a key is only ever one of the JWKS that was given, found by its id; addresses and keys that
a token carries are never looked at; duplicate names, odd base64 and long lives are refused.
"""

from __future__ import annotations

import re
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import ECKey

from remit.kit.headers import values_of
from remit.kit.keys import Keys
from remit.kit.strict_json import strict_object

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.kit.headers import Headers

ALGORITHM: Final = "ES256"
LEEWAY_S: Final = 30
MAX_LIFETIME_S: Final = 300
MAX_TOKEN_CHARS: Final = 8_192

Reason: TypeAlias = Literal[
    "missing",
    "malformed",
    "wrong_algorithm",
    "wrong_type",
    "unsupported_header",
    "unknown_key",
    "bad_signature",
    "bad_claims",
    "wrong_issuer",
    "wrong_audience",
    "expired",
    "not_yet_valid",
    "lives_too_long",
]

# What is wrong with a signature is said when its key is known.
_BEARER = re.compile(r"bearer +(\S.*)", re.IGNORECASE)
_TOKEN = re.compile(r"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]*)")
# What would change how the token is read; none of them is ever in a token of Remit.
_REFUSED_HEADERS: Final = frozenset(
    {"crit", "b64", "zip", "enc", "jwk", "jku", "x5u", "x5c", "x5t", "x5t#S256"}
)
_TEXT_CLAIMS: Final = ("iss", "sub", "tenant", "installation", "jti")
# Unknown header parameters are passed over (RFC 7515 section 4); the known are checked here.
_REGISTRY = jws.JWSRegistry(algorithms=[ALGORITHM], strict_check_header=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Whom a call serves.

    Attributes:
        user: the ``sub``: the back end's own id of the user.
        workspace: the ``tenant``.
        installation: this app in that workspace.
        call_id: the ``jti``; the same in every attempt of one call.
        issued_at_s: Unix seconds.
        expires_at_s: Unix seconds.
    """

    user: str
    workspace: str
    installation: str
    call_id: str
    issued_at_s: float
    expires_at_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a token is not believed; nothing of the token is in it.

    Attributes:
        reason: for programs.
        message: for the log of the app.
    """

    reason: Reason
    message: str


def identity(
    headers: Headers,
    *,
    keys: Keys | Mapping[str, object],
    issuer: str,
    audience: str,
    now_s: float | None = None,
) -> Identity | Refusal:
    """Whom a request serves, from its ``Authorization`` header.

    Args:
        headers: of the request, in any letter case.
        keys: where the keys are fetched; or the key set itself, which you then keep fresh.
        issuer: Remit's public URL, as it is set there.
        audience: ``<app id>/<component>``, or the app's own origin for ``auth: identity``.
        now_s: Unix seconds; the clock of this machine where it is left out.

    Raises:
        KeysUnavailable: the keys could not be fetched, so that nothing can be said.
    """
    given = values_of(headers, "authorization")
    if not given:
        return Refusal(reason="missing", message="The request has no Authorization header.")
    match = _BEARER.fullmatch(given[0])
    if len(given) > 1 or match is None:
        return Refusal(reason="malformed", message="Authorization is not one Bearer token.")
    token, now_s = match[1], time.time() if now_s is None else now_s
    jwks = keys.jwks() if isinstance(keys, Keys) else keys
    found = verify(token, jwks, audience=audience, issuer=issuer, now_s=now_s)
    if not isinstance(keys, Keys) or isinstance(found, Identity) or found.reason != "unknown_key":
        return found
    newer = keys.jwks_beyond(jwks)
    if newer is None:
        return found
    return verify(token, newer, audience=audience, issuer=issuer, now_s=now_s)


def verify(
    token: str,
    jwks: Mapping[str, object],
    *,
    audience: str,
    issuer: str,
    now_s: float,
    max_lifetime_s: int = MAX_LIFETIME_S,
) -> Identity | Refusal:
    """Check a token and say whom the call serves.

    Args:
        token: what stood behind ``Authorization: Bearer``.
        jwks: the document of ``/.well-known/jwks.json``, decoded.
        audience: ``<app id>/<component>``, or the app's own origin for ``auth: identity``.
        issuer: Remit's public URL, as it is set there.
        now_s: Unix seconds; the token's times have 30 s of leeway.
        max_lifetime_s: the longest life to believe in.
    """
    try:
        header, payload = _parts(token)
        _check_header(header)
        _check_signature(token, _key(jwks, header.get("kid")))
        claims = _object(payload, "claims")
        _check_names(claims, audience=audience, issuer=issuer)
        issued, expires = _check_times(claims, now_s=now_s, max_lifetime_s=max_lifetime_s)
    except _Refused as refused:
        return refused.refusal
    return Identity(
        user=str(claims["sub"]),
        workspace=str(claims["tenant"]),
        installation=str(claims["installation"]),
        call_id=str(claims["jti"]),
        issued_at_s=issued,
        expires_at_s=expires,
    )


class _Refused(Exception):
    """Carries a refusal out of the step that found it."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.refusal = Refusal(reason=reason, message=message)


def _parts(token: str) -> tuple[dict[str, object], bytes]:
    if len(token) > MAX_TOKEN_CHARS:
        raise _Refused("malformed", f"The token has more than {MAX_TOKEN_CHARS} characters.")
    match = _TOKEN.fullmatch(token)
    if match is None:
        raise _Refused("malformed", "The token is not three parts in base64url.")
    header, payload, _signature = (_bytes(match[index]) for index in (1, 2, 3))
    return _object(header, "header"), payload


def _bytes(part: str) -> bytes:
    """Base64url without padding; two texts never mean the same bytes."""
    try:
        data = urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except ValueError:
        data = b""
    if urlsafe_b64encode(data).rstrip(b"=").decode() != part:
        raise _Refused("malformed", "A part of the token is no base64url.")
    return data


def _object(data: bytes, what: str) -> dict[str, object]:
    try:
        return strict_object(data)
    except ValueError:
        raise _Refused("malformed", f"The token's {what} is no strict JSON object.") from None


def _check_header(header: Mapping[str, object]) -> None:
    if header.get("alg") != ALGORITHM:
        raise _Refused("wrong_algorithm", f"The token is not signed with {ALGORITHM}.")
    if header.get("typ") != "JWT":
        raise _Refused("wrong_type", "The token's typ is not JWT.")
    if _REFUSED_HEADERS & header.keys():
        raise _Refused("unsupported_header", "The token's header asks for what is not supported.")


def _key(jwks: Mapping[str, object], kid: object) -> ECKey:
    """The one key of that id, if it is one that ES256 verifies with."""
    keys = jwks.get("keys")
    found = [
        cast("dict[str, object]", key)
        for key in (cast("list[object]", keys) if isinstance(keys, list) else [])
        if isinstance(kid, str)
        and isinstance(key, dict)
        and cast("dict[str, object]", key).get("kid") == kid
    ]
    if len(found) != 1:
        raise _Refused("unknown_key", "The token's kid is that of no key, or of several.")
    key = found[0]
    if (
        (key.get("kty"), key.get("crv")) != ("EC", "P-256")
        or key.get("alg", ALGORITHM) != ALGORITHM
        or key.get("use", "sig") != "sig"
    ):
        raise _Refused("unknown_key", f"The token's kid is that of a key of no {ALGORITHM}.")
    try:
        return ECKey.import_key({name: str(key[name]) for name in ("kty", "crv", "x", "y")})
    except (JoseError, ValueError, KeyError, TypeError):
        raise _Refused("unknown_key", "The token's kid is that of a key that is broken.") from None


def _check_signature(token: str, key: ECKey) -> None:
    try:
        jws.deserialize_compact(token, key, registry=_REGISTRY)
    except (JoseError, ValueError, TypeError):
        raise _Refused("bad_signature", "The token's signature does not fit its key.") from None


def _check_names(claims: Mapping[str, object], *, audience: str, issuer: str) -> None:
    for name in _TEXT_CLAIMS:
        if not (isinstance(claims.get(name), str) and claims[name]):
            raise _Refused("bad_claims", f"The token's {name} is missing or no text.")
    if claims["iss"] != issuer:
        raise _Refused("wrong_issuer", "The token was issued by another server.")
    found = claims.get("aud")
    audiences = cast("list[object]", found) if isinstance(found, list) else [found]
    if not audiences or not all(isinstance(one, str) for one in audiences):
        raise _Refused("bad_claims", "The token's aud is missing or no text.")
    if audience not in audiences:
        raise _Refused("wrong_audience", "The token was made for somebody else.")


def _check_times(
    claims: Mapping[str, object], *, now_s: float, max_lifetime_s: int
) -> tuple[float, float]:
    issued, expires = _time(claims, "iat"), _time(claims, "exp")
    if expires - issued > max_lifetime_s:
        raise _Refused("lives_too_long", f"The token lives for more than {max_lifetime_s} s.")
    if expires <= now_s - LEEWAY_S:
        raise _Refused("expired", "The token has expired.")
    starts = max(issued, _time(claims, "nbf")) if "nbf" in claims else issued
    if starts > now_s + LEEWAY_S:
        raise _Refused("not_yet_valid", "The token is not valid yet: it comes from the future.")
    if expires <= issued:
        raise _Refused("bad_claims", "The token expires before it was issued.")
    return issued, expires


def _time(claims: Mapping[str, object], name: str) -> float:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _Refused("bad_claims", f"The token's {name} is missing or no number.")
    return value
