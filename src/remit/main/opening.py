"""Opens what is kept, for the server and for the commands that work beside one.

A SQLite store is made and brought up to date by whoever opens it. On PostgreSQL that is
`remit db upgrade` alone: several nodes may run, and an operator says when (contract section 13).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from remit.errors import WrongUse
from remit.gateway.acting import Books
from remit.gateway.keeping import VaultFault
from remit.main.settings import store_file
from remit.main.world import RandomIds, SystemClock
from remit.store import migrating
from remit.store.schema import HEAD
from remit.store.store import Store
from remit.vault.sealing import Vault
from remit.vault.sources import VaultSettings, find_masters, make_default

if TYPE_CHECKING:
    from pathlib import Path

    from remit.gateway.keeping import Credential, Keeper, Place, Sealed
    from remit.main.settings import Settings
    from remit.values.secrets import Secret
    from remit.vault.masters import Masters

UPGRADE = "Run `remit db upgrade`, then start again."


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenVault:
    """The vault, ready.

    Attributes:
        made: the key file that was made just now, or None.
    """

    vault: Vault
    made: Path | None


class _Locked:
    """Stands where a command needs no secret: it works without the master key."""

    async def seal(self, place: Place, secret: Secret) -> Sealed:
        """Refuse."""
        del place, secret
        _locked()

    async def open(self, place: Place, sealed: Sealed) -> Secret:
        """Refuse."""
        del place, sealed
        _locked()

    async def digest_key(self) -> bytes:
        """Refuse."""
        _locked()

    async def seal_credential(self, place: Place, credential: Credential) -> Sealed:
        """Refuse."""
        del place, credential
        _locked()

    async def open_credential(self, place: Place, sealed: Sealed) -> Credential:
        """Refuse."""
        del place, sealed
        _locked()


def _locked() -> NoReturn:
    raise VaultFault("This command opens no vault, so that it can seal and open nothing.")


def place_of(settings: Settings) -> str:
    """What the store is called in a message: never its URL, which may hold a password."""
    file = store_file(settings.store_url)
    return "The PostgreSQL store" if file is None else f"The store {file}"


def upgraded(settings: Settings) -> str | None:
    """Bring the schema up to date where whoever opens the store may do that.

    Returns:
        The revision that it had before; None for an empty store.

    Raises:
        StoreUnavailable: the database cannot be reached.
        WrongUse: the schema is behind and only ``remit db upgrade`` may change it, or it is of a
            newer release.
    """
    before = migrating.current(settings.store_url)
    refuse_newer(settings, before)
    if before == HEAD:
        return before
    if store_file(settings.store_url) is None:
        has = "has no tables yet" if before is None else f"is at revision {before}"
        raise WrongUse(
            f"{place_of(settings)} {has}, and this release needs revision {HEAD}. {UPGRADE}"
        )
    migrating.upgrade(settings.store_url)
    return before


def refuse_newer(settings: Settings, revision: str | None) -> None:
    """Say it where the store was made by a newer release: going back would lose what it holds.

    Raises:
        WrongUse: it was.
    """
    if revision is not None and revision > HEAD:
        raise WrongUse(
            f"{place_of(settings)} is at revision {revision}, and this release of Remit knows "
            f"{HEAD} as the newest. Install the newer release again; nothing was changed."
        )


def open_store(settings: Settings) -> Store:
    """The store with its schema up to date; raises as ``upgraded`` does."""
    upgraded(settings)
    return Store(settings.store_url)


def vault_settings(settings: Settings) -> VaultSettings:
    """``[vault]``, with the key file that a SQLite store has beside it."""
    file = store_file(settings.store_url)
    source = settings.vault
    return VaultSettings(
        key=source.key,
        key_file=source.key_file,
        key_command=source.key_command,
        default_file=None if file is None else file.with_name(f"{file.name}.key"),
    )


async def open_vault(store: Store, settings: Settings) -> OpenVault:
    """The vault of a store, its key found or, on SQLite, made.

    Raises:
        WrongUse: there is no usable key, or the store's values are sealed under another one.
        StoreUnavailable: the store cannot be read.
    """
    given = vault_settings(settings)
    masters = await asyncio.to_thread(find_masters, given)
    made = None
    if masters is None:
        in_use = await store.data_keys.masters()
        masters = await asyncio.to_thread(make_default, given, in_use=in_use)
        made = given.default_file

    async def reload() -> Masters:
        found = await asyncio.to_thread(find_masters, given)
        if found is None:
            raise WrongUse(f"{given.default_file} is not there any more. Put the file back.")
        return found

    vault = Vault(store.data_keys, masters, reload=reload)
    await vault.check()
    return OpenVault(vault=vault, made=made)


def books_of(store: Store, keeper: Keeper | None = None) -> Books:
    """What the acts of the gateway are written in.

    Args:
        store: open.
        keeper: of what is sealed; None for acts that seal nothing.
    """
    clock, ids = SystemClock(), RandomIds()
    return Books(
        apps=store.apps,
        versions=store.versions,
        catalogs=store.catalogs,
        grants=store.grants,
        policies=store.policies,
        revisions=store.revisions,
        keys=store.keys,
        workspaces=store.workspaces,
        connections=store.connections,
        env=store.env,
        devices=store.devices,
        keeper=keeper or _Locked(),
        clock=clock,
        wall=clock,
        fresh=ids,
    )
