"""The vault: seals secrets under data keys of their workspace and opens them (contract section 7).

All cryptography is in ``envelopes`` and waits for nothing; what waits here is the store.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from remit.errors import WrongUse
from remit.gateway.keeping import SERVER, DataKey, Place, Sealed, VaultFault
from remit.values.secrets import Secret
from remit.vault.credentials import credential_of, text_of
from remit.vault.envelopes import (
    KEY_BYTES,
    MAX_PLAIN_BYTES,
    MAX_USES,
    Cipher,
    key_id_of,
    value_binding,
    wrap_binding,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from remit.gateway.keeping import Credential, DataKeys
    from remit.vault.masters import Masters

Reload: TypeAlias = "Callable[[], Awaitable[Masters]]"

_CACHED_KEYS = 4_096
# Others may be faster to add a key now and then; not so often.
_ATTEMPTS = 20
_DIGESTS = b"remit keyed digests"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counting:
    """How encryptions are counted.

    Attributes:
        max_uses: encryptions under one data key; then the workspace gets a new one.
        block: so many are counted in the store at once, before the first of them is made; a
            process that ends leaves the rest of its block unused.
    """

    max_uses: int = MAX_USES
    block: int = 256


class Vault:
    """Seals for one place and opens there; a ``Keeper`` of the gateway.

    Args:
        keys: where wrapped data keys are kept.
        masters: the master keys at hand.
        reload: reads the master keys again. It is asked when a data key is wrapped under one
            that is not at hand, or when the newest is under another than the current one, as
            after ``remit vault rotate`` by another process.
        reload_every_s: it is asked so often at most for one master key, in seconds.
        counting: how encryptions are counted.
    """

    def __init__(
        self,
        keys: DataKeys,
        masters: Masters,
        *,
        reload: Reload | None = None,
        reload_every_s: float = 60.0,
        counting: Counting | None = None,
    ) -> None:
        self._keys = keys
        self._masters = masters
        self._reload = reload
        self._reloading = asyncio.Lock()
        self._reload_every_s = reload_every_s
        # When the master keys were read again for one: not by every call.
        self._asked: dict[str, float] = {}
        self._digest_key: bytes | None = None
        self._counting = counting or Counting()
        self._ciphers: dict[tuple[str, str], Cipher] = {}
        self._counted: dict[tuple[str, str], int] = {}

    async def check(self) -> None:
        """Make sure, at start, that every data key can be unwrapped.

        Raises:
            WrongUse: something is sealed under a master key that is not at hand.
        """
        missing = await self._keys.masters() - self._masters.ids
        if missing:
            raise WrongUse(
                f"The store holds values sealed under the master key {', '.join(sorted(missing))}, "
                f"and [vault] gives {', '.join(sorted(self._masters.ids))}. Put the missing key "
                "behind the one that is set. Nothing was changed."
            )

    async def seal(self, place: Place, secret: Secret) -> Sealed:
        """Seal a secret of at most 64 KiB under the current data key of its workspace.

        Raises:
            WrongUse: it is larger.
            VaultFault: the data key cannot be unwrapped.
        """
        plain = _plain(secret)
        cipher = await self._writer(place.workspace)
        return Sealed(cipher.seal(plain, value_binding(place, cipher.id)))

    async def open(self, place: Place, sealed: Sealed) -> Secret:
        """Open what was sealed for this place.

        Raises:
            VaultFault: it was changed, belongs elsewhere, or its key is not there.
        """
        key_id = key_id_of(sealed.text)
        cipher = self._ciphers.get((place.workspace, key_id))
        if cipher is None:
            key = await self._keys.get(place.workspace, key_id)
            if key is None:
                raise VaultFault(
                    f"A value is sealed under the key {key_id}, which its workspace does not have: "
                    "it was sealed for another one. Put it in again, or restore it from a backup."
                )
            cipher = await self._unwrapped(key)
        plain = cipher.open(sealed.text, value_binding(place, key_id))
        return Secret(plain.decode("utf-8", "surrogatepass"))

    async def digest_key(self) -> bytes:
        """The key of keyed digests, made from the server's first data key, which stays.

        Raises:
            VaultFault: that data key cannot be unwrapped.
        """
        if self._digest_key is None:
            first = await self._keys.first(SERVER)
            while first is None:
                await self.current_key(SERVER)
                first = await self._keys.first(SERVER)
            self._digest_key = hmac.digest(await self._raw(first), _DIGESTS, "sha256")
        return self._digest_key

    async def seal_credential(self, place: Place, credential: Credential) -> Sealed:
        """Seal a credential with its type, expiry and account; raises as ``seal`` does."""
        return await self.seal(place, text_of(credential))

    async def open_credential(self, place: Place, sealed: Sealed) -> Credential:
        """Open a credential; raises as ``open`` does."""
        return credential_of(await self.open(place, sealed))

    async def current_key(self, workspace: str) -> DataKey:
        """The data key that new values are sealed under, which the current master key wraps.

        Where the newest is under another master key, a rotation may have made that one the
        current: the master keys are read again first.

        Raises:
            VaultFault: the master keys cannot be read, or others add keys all the time.
        """
        for _ in range(_ATTEMPTS):
            key = await self._keys.current(workspace)
            if key is not None and key.master != self._masters.current.id:
                await self._renew(key.master)
            if key is not None and key.master == self._masters.current.id:
                return key
            await self._add(workspace, after=key)
        raise _crowded(workspace)

    async def rewrap(self, key: DataKey) -> bool:
        """Wrap a data key under the current master key; False when another was faster.

        Raises:
            VaultFault: its master key is not at hand.
        """
        raw = await self._raw(key)
        current = self._masters.current
        wrapped = current.seal(raw, wrap_binding(key.workspace, key.id, current.id))
        return await self._keys.rewrap(key, master=current.id, wrapped=wrapped)

    @property
    def master(self) -> str:
        """The id of the current master key."""
        return self._masters.current.id

    async def _writer(self, workspace: str) -> Cipher:
        """The cipher to seal one value with; the encryption is counted."""
        for _ in range(_ATTEMPTS):
            key = await self.current_key(workspace)
            if await self._count(key):
                return self._ciphers.get((workspace, key.id)) or await self._unwrapped(key)
            await self._add(workspace, after=key)
        raise _crowded(workspace)

    async def _count(self, key: DataKey) -> bool:
        """Count one encryption; False when the key has made all it may."""
        at = (key.workspace, key.id)
        if not self._counted.get(at):
            block = min(self._counting.block, self._counting.max_uses)
            limit = self._counting.max_uses
            if not await self._keys.reserve(*at, uses=block, limit=limit):
                return False
            # Added, not set: another task may have counted a block meanwhile.
            self._counted[at] = self._counted.get(at, 0) + block
        self._counted[at] -= 1
        return True

    async def _add(self, workspace: str, *, after: DataKey | None) -> None:
        key_id = "d" + os.urandom(8).hex()
        raw = os.urandom(KEY_BYTES)
        master = self._masters.current
        wrapped = master.seal(raw, wrap_binding(workspace, key_id, master.id))
        key = DataKey(workspace=workspace, id=key_id, master=master.id, wrapped=wrapped)
        if await self._keys.add(key, after=None if after is None else after.id):
            self._keep(workspace, Cipher(key_id, raw))
        if after is not None:
            self._counted.pop((workspace, after.id), None)

    async def _unwrapped(self, key: DataKey) -> Cipher:
        return self._keep(key.workspace, Cipher(key.id, await self._raw(key)))

    async def _raw(self, key: DataKey) -> bytes:
        master = await self._master(key)
        return master.open(key.wrapped, wrap_binding(key.workspace, key.id, key.master))

    async def _master(self, key: DataKey) -> Cipher:
        found = self._masters.get(key.master)
        if found is None:
            await self._renew(key.master)
            found = self._masters.get(key.master)
        if found is None:
            raise VaultFault(
                f"A value is sealed under the master key {key.master}, which [vault] does not "
                "give. Put that key behind the one that is set, and start again."
            )
        return found

    async def _renew(self, master: str) -> None:
        """Read the master keys again for the sake of one, unless that was just done.

        Raises:
            VaultFault: they cannot be read; the next one who needs it tries again.
        """
        before = self._masters
        if self._reload is None or time.monotonic() < self._asked.get(master, 0.0):
            return
        async with self._reloading:
            # Whoever was first may have brought it meanwhile.
            if self._masters is before:
                self._masters = await self._read_again(self._reload)
                self._asked[master] = time.monotonic() + self._reload_every_s

    async def _read_again(self, reload: Reload) -> Masters:
        try:
            return await reload()
        except WrongUse as fault:
            # Whoever made this call cannot mend it.
            raise VaultFault(fault.message) from None

    def _keep(self, workspace: str, cipher: Cipher) -> Cipher:
        while len(self._ciphers) >= _CACHED_KEYS:
            del self._ciphers[next(iter(self._ciphers))]
        self._ciphers[workspace, cipher.id] = cipher
        return cipher


def _plain(secret: Secret) -> bytes:
    plain = secret.reveal().encode("utf-8", "surrogatepass")
    if len(plain) > MAX_PLAIN_BYTES:
        raise WrongUse(
            f"A secret has {len(plain)} bytes, and {MAX_PLAIN_BYTES} is the most that is kept. "
            "Give the credential alone."
        )
    return plain


def _crowded(workspace: str) -> VaultFault:
    return VaultFault(
        f'No data key of the workspace "{workspace}" stays current: others add keys all the '
        "time. Give every node the same [vault] keys in the same order."
    )
