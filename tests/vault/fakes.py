"""In-memory keeping of keys and sealed values; each passes the suite of its port."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, field, replace
from hashlib import sha256

from remit.gateway.identity import SigningKey
from remit.gateway.keeping import DataKey, Place, Sealed, SealedRow
from remit.values.secrets import Secret
from remit.vault.masters import Masters, read_masters

CANARY = "canary-vault-5f1d0c7e9a"


def key_text(seed: str) -> str:
    """A master key in base64, the same for the same seed."""
    return b64encode(sha256(seed.encode()).digest()).decode()


def masters(*seeds: str) -> Masters:
    """Master keys of seeds, the current one first."""
    return read_masters(Secret("\n".join(map(key_text, seeds))), "test")


@dataclass
class MemoryDataKeys:
    """Data keys in a list, in the order in which they were added."""

    kept: list[DataKey] = field(default_factory=list[DataKey])

    async def current(self, workspace: str) -> DataKey | None:
        """The last one of the workspace."""
        return next((key for key in reversed(self.kept) if key.workspace == workspace), None)

    async def first(self, workspace: str) -> DataKey | None:
        """The first one of the workspace."""
        return next((key for key in self.kept if key.workspace == workspace), None)

    async def get(self, workspace: str, key_id: str) -> DataKey | None:
        """By workspace and id."""
        return next(
            (key for key in self.kept if (key.workspace, key.id) == (workspace, key_id)), None
        )

    async def add(self, key: DataKey, *, after: str | None) -> bool:
        """Append, if the last one is still ``after``."""
        last = await self.current(key.workspace)
        if (last.id if last else None) != after:
            return False
        self.kept.append(key)
        return True

    async def reserve(self, workspace: str, key_id: str, *, uses: int, limit: int) -> bool:
        """Count, up to the limit."""
        key = await self.get(workspace, key_id)
        if key is None or key.uses + uses > limit:
            return False
        self.kept[self.kept.index(key)] = replace(key, uses=key.uses + uses)
        return True

    async def rewrap(self, key: DataKey, *, master: str, wrapped: str) -> bool:
        """Replace, if the wrapping is still the same."""
        kept = await self.get(key.workspace, key.id)
        if kept is None or kept.wrapped != key.wrapped:
            return False
        self.kept[self.kept.index(kept)] = replace(kept, master=master, wrapped=wrapped)
        return True

    async def under_other(self, master: str, *, after: str, limit: int) -> tuple[DataKey, ...]:
        """By id."""
        found = [key for key in self.kept if key.master != master and key.id > after]
        return tuple(sorted(found, key=lambda key: key.id)[:limit])

    async def masters(self) -> frozenset[str]:
        """Of all keys."""
        return frozenset(key.master for key in self.kept)

    async def workspaces(self) -> tuple[str, ...]:
        """Of all keys."""
        return tuple(sorted({key.workspace for key in self.kept}))


@dataclass
class MemorySealedRows:
    """Sealed values by place."""

    kept: dict[Place, Sealed] = field(default_factory=dict[Place, Sealed])

    async def under_other(
        self, workspace: str, key_id: str, *, after: str, limit: int
    ) -> tuple[SealedRow, ...]:
        """By the text of the place."""
        found = [
            SealedRow(id=repr(place), place=place, sealed=sealed)
            for place, sealed in self.kept.items()
            if place.workspace == workspace and sealed.key_id != key_id and repr(place) > after
        ]
        return tuple(sorted(found, key=lambda row: row.id)[:limit])

    async def replace(self, row: SealedRow, sealed: Sealed) -> bool:
        """Replace, if the row is still the same."""
        if self.kept.get(row.place) != row.sealed:
            return False
        self.kept[row.place] = sealed
        return True

    async def put(self, place: Place, sealed: Sealed) -> None:
        """Store a value."""
        self.kept[place] = sealed

    async def read(self, place: Place) -> Sealed | None:
        """The value of a place."""
        return self.kept.get(place)

    async def delete(self, place: Place) -> None:
        """Forget a value."""
        del self.kept[place]


@dataclass
class MemorySigningKeys:
    """Signing keys in a list."""

    kept: list[SigningKey] = field(default_factory=list[SigningKey])

    async def all(self) -> tuple[SigningKey, ...]:
        """As they were added."""
        return tuple(self.kept)

    async def add(self, key: SigningKey, *, after: str | None) -> bool:
        """Append, if the last one is still ``after``."""
        if (self.kept[-1].kid if self.kept else None) != after:
            return False
        self.kept.append(key)
        return True

    async def remove(self, kid: str) -> bool:
        """By id."""
        found = [key for key in self.kept if key.kid == kid]
        for key in found:
            self.kept.remove(key)
        return bool(found)
