"""Renews what older keys sealed (contract section 13, ``remit vault rotate``).

Nothing is unreadable at any time, and nothing is kept of how far it came: what is left to do is
what the store still has under an older key. So it can be stopped anywhere and started again, run
twice at once, and run while the server writes.

Older data keys are kept, wrapped under the new master key: a node that still seals under one
would lose what it writes otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from remit.gateway.keeping import VaultFault

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from remit.gateway.keeping import DataKey, DataKeys, Place, SealedRow, SealedRows
    from remit.vault.sealing import Vault

BATCH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewed:
    """One step of a rotation; everything it counts is committed.

    Attributes:
        workspace: the one whose values were sealed again; None for a step of data keys.
        data_keys: wrapped under the current master key.
        values: sealed again under the current data key.
        overtaken: changed by somebody else meanwhile; what they wrote stands.
        unopened: what does not open, and was left as it is: data keys by workspace and id, values
            by their place. While there is one, the old master key must be kept.
    """

    workspace: str | None = None
    data_keys: int = 0
    values: int = 0
    overtaken: int = 0
    unopened: tuple[tuple[str, str] | Place, ...] = ()


async def rotate(
    vault: Vault, keys: DataKeys, rows: SealedRows, *, batch: int = BATCH
) -> AsyncIterator[Renewed]:
    """Bring every workspace under the current master key and a data key made under it.

    First each workspace gets its new data key, then all older ones are wrapped anew (from then on
    the old master key opens nothing that is still wanted), then the values are sealed again.

    Yields:
        what each step did; at most ``batch`` keys or values a step.
    """
    workspaces = await keys.workspaces()
    for workspace in workspaces:
        await vault.current_key(workspace)
    after = ""
    while found := await keys.under_other(vault.master, after=after, limit=batch):
        after = found[-1].id
        yield await _wrap_again(vault, found)
    for workspace in workspaces:
        current, after = (await vault.current_key(workspace)).id, ""
        while stale := await rows.under_other(workspace, current, after=after, limit=batch):
            after = stale[-1].id
            yield await _seal_again(vault, rows, workspace, stale)


async def _wrap_again(vault: Vault, found: tuple[DataKey, ...]) -> Renewed:
    done: list[bool] = []
    unopened: list[tuple[str, str] | Place] = []
    for key in found:
        try:
            done.append(await vault.rewrap(key))
        except VaultFault:
            unopened.append((key.workspace, key.id))
    return Renewed(data_keys=sum(done), overtaken=len(done) - sum(done), unopened=tuple(unopened))


async def _seal_again(
    vault: Vault, rows: SealedRows, workspace: str, stale: tuple[SealedRow, ...]
) -> Renewed:
    done: list[bool] = []
    unopened: list[tuple[str, str] | Place] = []
    for row in stale:
        try:
            secret = await vault.open(row.place, row.sealed)
        except VaultFault:
            unopened.append(row.place)
            continue
        done.append(await rows.replace(row, await vault.seal(row.place, secret)))
    return Renewed(
        workspace=workspace,
        values=sum(done),
        overtaken=len(done) - sum(done),
        unopened=tuple(unopened),
    )
