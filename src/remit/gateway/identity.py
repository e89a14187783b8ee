"""Identity tokens: what one says, and the ports that keep keys and sign (contract section 8).

``vault`` implements ``Minter``; ``store`` implements ``SigningKeys``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from remit.gateway.keeping import Sealed
    from remit.values.json import JsonObject
    from remit.values.secrets import Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Whom one call serves, and who may believe it.

    Attributes:
        audience: ``<app id>/<component>``, or the origin of ``baseUrl`` for ``auth: identity``.
        workspace: the ``tenant``.
        call_id: the ``jti``.
    """

    audience: str
    user: str
    workspace: str
    installation: str
    call_id: str


def component_audience(app: str, component: str) -> str:
    """The audience of a token for one of the app's own components."""
    return f"{app}/{component}"


class Minter(Protocol):
    """Signs identity tokens and says which keys verify them."""

    async def mint(self, identity: Identity, *, now_s: int) -> Secret:
        """A token that lives for five minutes.

        Raises:
            VaultFault: there is no signing key, or it cannot be opened.
        """
        ...

    async def jwks(self, *, now_s: int) -> JsonObject:
        """The document of ``/.well-known/jwks.json``; it may be cached for ``JWKS_AGE_S``."""
        ...


#: How long a verifier may keep the document, in its ``Cache-Control``.
JWKS_AGE_S = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningKey:
    """One ES256 key pair.

    Attributes:
        kid: RFC 7638 thumbprint of the public part.
        public: the public JWK as JSON text, ``kid``, ``alg`` and ``use`` included.
        sealed: the private JWK, sealed for ``signing_place(kid)``.
        active_from_s: Unix seconds from which it signs; it is published as soon as it is kept.
    """

    kid: str
    public: str
    sealed: Sealed
    active_from_s: int


class SigningKeys(Protocol):
    """Where signing keys are kept. What a method changed is committed when it returns."""

    async def all(self) -> tuple[SigningKey, ...]:
        """Every key, in the order in which they were added."""
        ...

    async def add(self, key: SigningKey, *, after: str | None) -> bool:
        """Keep a new key, if ``after`` is still the one added last (None: there is none).

        Returns:
            False when another was faster; nothing is changed then.
        """
        ...

    async def remove(self, kid: str) -> bool:
        """Forget a key for good; False when there is none of that id."""
        ...
