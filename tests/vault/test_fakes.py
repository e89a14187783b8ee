"""The fakes of the vault's ports pass the suites that the store has to pass."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from remit.gateway.identity import SigningKeys
from remit.gateway.keeping import DataKeys, Place, Sealed
from tests.vault.contract import (
    DataKeysContract,
    RowsUnderTest,
    SealedRowsContract,
    SigningKeysContract,
)
from tests.vault.fakes import MemoryDataKeys, MemorySealedRows, MemorySigningKeys


class TestMemoryDataKeys(DataKeysContract):
    """The fake that the tests of the vault stand on."""

    @pytest.fixture
    def keys(self) -> DataKeys:
        """In memory."""
        return MemoryDataKeys()


@dataclass
class _Stored:
    rows: MemorySealedRows = field(default_factory=MemorySealedRows)

    async def put(self, place: Place, sealed: Sealed) -> None:
        await self.rows.put(place, sealed)

    async def read(self, place: Place) -> Sealed | None:
        return await self.rows.read(place)

    async def delete(self, place: Place) -> None:
        await self.rows.delete(place)


class TestMemorySealedRows(SealedRowsContract):
    """The fake that the tests of rotation stand on."""

    @pytest.fixture
    def stored(self) -> RowsUnderTest:
        """In memory."""
        return _Stored()


class TestMemorySigningKeys(SigningKeysContract):
    """The fake that the tests of signing stand on."""

    @pytest.fixture
    def signing(self) -> SigningKeys:
        """In memory."""
        return MemorySigningKeys()
