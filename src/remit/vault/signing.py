"""ES256 signing keys and the identity tokens they sign (contract section 8; RFC 7515, 7517, 7519).

A key is published as soon as it is kept, signs from ``active_from_s`` on until the next one does,
and stays published until the last token it signed has expired. Nothing of this is stored: it
follows from the times of the keys.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from remit.documents.canonical import compact_json
from remit.gateway.identity import JWKS_AGE_S, SigningKey
from remit.gateway.keeping import VaultFault, signing_place
from remit.values.secrets import Secret

if TYPE_CHECKING:
    from collections.abc import Sequence

    from joserfc.jwk import ECKey

    from remit.gateway.identity import Identity, SigningKeys
    from remit.gateway.keeping import Keeper
    from remit.values.json import JsonObject

LIFETIME_S = 300
LEEWAY_S = 30
#: A new key signs only when every verifier has had the time to see it twice over.
PUBLISH_AHEAD_S = 2 * JWKS_AGE_S
#: How old a node's view of the keys may be.
VIEW_AGE_S = 10

KeyState: TypeAlias = Literal["published", "active", "retired", "expired"]

_ALGORITHM = "ES256"
# Keys are added one after another; others may be faster once or twice.
_ATTEMPTS = 5


def states(keys: Sequence[SigningKey], now_s: int) -> tuple[KeyState, ...]:
    """What each key is at a time; the keys as they were added, the last one last.

    One is active whenever there are keys: where the only one is not due yet, it is that one.
    """
    due = [index for index, key in enumerate(keys) if key.active_from_s <= now_s]
    active = due[-1] if due else 0
    found: list[KeyState] = []
    for index in range(len(keys)):
        if index == active:
            found.append("active")
        elif index > active:
            found.append("published")
        else:
            # The last token may have been signed by a node whose view was old.
            stopped_s = keys[index + 1].active_from_s + VIEW_AGE_S
            wanted = now_s <= stopped_s + LIFETIME_S + LEEWAY_S
            found.append("retired" if wanted else "expired")
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class _View:
    """The keys as they were read, and the one that signs, opened."""

    read_s: int
    keys: tuple[SigningKey, ...]


class Signer:
    """Signs identity tokens, publishes keys and rotates them; a ``Minter`` of the gateway.

    Args:
        issuer: the public URL; the ``iss``.
        keys: where the keys are kept.
        keeper: seals their private parts.
    """

    def __init__(self, *, issuer: str, keys: SigningKeys, keeper: Keeper) -> None:
        self._issuer = issuer
        self._keys = keys
        self._keeper = keeper
        self._view: _View | None = None
        self._opened: dict[str, ECKey] = {}

    async def prepare(self, *, now_s: int) -> None:
        """Make the first key, if there is none: at start, before anybody keeps an empty JWKS."""
        if not await self._read(now_s):
            await self.rotate(now_s=now_s)

    async def mint(self, identity: Identity, *, now_s: int) -> Secret:
        """A token for one call, which lives for ``LIFETIME_S``.

        Raises:
            VaultFault: the signing key cannot be opened.
        """
        await self.prepare(now_s=now_s)
        keys = await self._read(now_s)
        active = keys[states(keys, now_s).index("active")]
        claims: dict[str, object] = {
            "iss": self._issuer,
            "aud": identity.audience,
            "sub": identity.user,
            "tenant": identity.workspace,
            "installation": identity.installation,
            "iat": now_s,
            "exp": now_s + LIFETIME_S,
            "jti": identity.call_id,
        }
        # Of some size; most workspaces sign nothing.
        from joserfc import jws  # noqa: PLC0415

        key = self._opened.get(active.kid) or await self._open(active)
        header = {"alg": _ALGORITHM, "typ": "JWT", "kid": active.kid}
        return Secret(jws.serialize_compact(header, compact_json(claims), key, [_ALGORITHM]))

    async def jwks(self, *, now_s: int) -> JsonObject:
        """Every public key that verifies a token now or soon (RFC 7517)."""
        keys = await self._read(now_s)
        return {
            "keys": [
                cast("JsonObject", json.loads(key.public))
                for key, state in zip(keys, states(keys, now_s), strict=True)
                if state != "expired"
            ]
        }

    async def rotate(self, *, now_s: int, at_once: bool = False) -> SigningKey:
        """Add a key, which will sign after ``PUBLISH_AHEAD_S``; the first one signs at once.

        Keys whose last token has expired are forgotten.

        Args:
            now_s: Unix seconds.
            at_once: for a key that was stolen: the new one signs now, and all others are
                forgotten, so that what they signed is refused from the next look at the JWKS on.

        Raises:
            VaultFault: others rotate all the time, or the vault has no usable key.
        """
        for _ in range(_ATTEMPTS):
            kept = await self._keys.all()
            due_s = now_s
            if kept and not at_once:
                # Never before a key that was added earlier: they sign in their order.
                due_s = max(now_s + PUBLISH_AHEAD_S, kept[-1].active_from_s)
            key = await self._new_key(due_s)
            if await self._keys.add(key, after=kept[-1].kid if kept else None):
                gone = kept if at_once else _expired(kept, now_s)
                for old in gone:
                    await self._keys.remove(old.kid)
                    self._opened.pop(old.kid, None)
                self._view = None
                return key
            if not kept:
                # Another made the first one; one is enough.
                return (await self._keys.all())[-1]
        msg = "The signing key could not be rotated: others rotate it all the time. Try again."
        raise VaultFault(msg)

    async def _read(self, now_s: int) -> tuple[SigningKey, ...]:
        view = self._view
        if view is None or not view.read_s <= now_s < view.read_s + VIEW_AGE_S or not view.keys:
            view = self._view = _View(read_s=now_s, keys=await self._keys.all())
            known = {key.kid for key in view.keys}
            for kid in self._opened.keys() - known:
                del self._opened[kid]
        return view.keys

    async def _new_key(self, active_from_s: int) -> SigningKey:
        from joserfc.jwk import ECKey  # noqa: PLC0415

        pair = ECKey.generate_key("P-256", private=True)
        kid = pair.thumbprint()
        public = {**pair.as_dict(private=False), "kid": kid, "alg": _ALGORITHM, "use": "sig"}
        private = {**pair.as_dict(private=True), "kid": kid}
        sealed = await self._keeper.seal(signing_place(kid), Secret(compact_json(private)))
        return SigningKey(
            kid=kid, public=compact_json(public), sealed=sealed, active_from_s=active_from_s
        )

    async def _open(self, key: SigningKey) -> ECKey:
        from joserfc.jwk import ECKey  # noqa: PLC0415

        text = await self._keeper.open(signing_place(key.kid), key.sealed)
        opened = ECKey.import_key(json.loads(text.reveal()))
        self._opened[key.kid] = opened
        return opened


def _expired(keys: tuple[SigningKey, ...], now_s: int) -> tuple[SigningKey, ...]:
    return tuple(
        key for key, state in zip(keys, states(keys, now_s), strict=True) if state == "expired"
    )
