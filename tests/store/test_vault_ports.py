"""The store passes the suite of the vault's ports."""

from __future__ import annotations

from dataclasses import replace

import pytest

from remit.gateway.keeping import Place, Sealed
from remit.store.data_keys import DataKeys
from remit.store.signing import SigningKeys
from remit.store.store import Store
from tests.store.making import act, connection, key
from tests.vault.contract import DataKeysContract, SealedRowsContract, SigningKeysContract


class TestDataKeys(DataKeysContract):
    """On both databases."""

    @pytest.fixture
    def keys(self, store: Store) -> DataKeys:
        """The store's."""
        return store.data_keys


class TestSigningKeys(SigningKeysContract):
    """On both databases."""

    @pytest.fixture
    def signing(self, store: Store) -> SigningKeys:
        """The store's."""
        return store.signing_keys


class _Stored:
    """Sealed rows, written and read through the ports that own them."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.rows = store.sealed_rows

    async def put(self, place: Place, sealed: Sealed) -> None:
        """Store a value."""
        if place.field[0] == "connection":
            row = connection(
                place.workspace, app=place.app, user=place.user, id=place.field[1], sealed=sealed
            )
            await self.store.connections.put(place.workspace, row, act=act(place.workspace))
            return
        if place.field[0] == "pins":
            token = key(
                place.workspace, id=place.field[1], user=place.user, pins=("a",), sealed=sealed
            )
            await self.store.keys.create(place.workspace, token, act=act(place.workspace))
            return
        _, collection, environment, name = place.field
        await self.store.env.put(
            place.workspace, place.app, collection, environment, {name: sealed},
            act=act(place.workspace),
        )  # fmt: skip

    async def read(self, place: Place) -> Sealed | None:
        """The stored value."""
        if place.field[0] == "connection":
            row = await self.store.connections.get(place.workspace, place.app, place.user or "")
            return None if row is None else row.sealed
        if place.field[0] == "pins":
            token = await self.store.keys.get(place.workspace, place.field[1])
            return None if token is None else token.sealed
        _, collection, environment, name = place.field
        rows = await self.store.env.get(place.workspace, place.app, collection, environment)
        return next((row.sealed for row in rows if row.name == name), None)

    async def delete(self, place: Place) -> None:
        """Delete it."""
        if place.field[0] == "connection":
            await self.store.connections.delete(
                place.workspace, place.app, place.user or "", act=act(place.workspace)
            )
            return
        await self.put(place, None)  # pyright: ignore[reportArgumentType]


class TestSealedRows(SealedRowsContract):
    """On both databases."""

    @pytest.fixture
    def stored(self, store: Store) -> _Stored:
        """The store's connections, environment values and tokens."""
        return _Stored(store)


async def test_nothing_is_replaced_at_a_place_of_no_kind(store: Store) -> None:
    """A place that no table holds is a mistake of the caller."""
    place = Place(workspace="acme", app="shop", user=None, field=("unknown", "x"))
    await store.connections.put("acme", connection("acme"), act=act("acme"))
    (row,) = await store.sealed_rows.under_other("acme", "dk2", after="", limit=9)

    with pytest.raises(ValueError, match="unknown"):
        await store.sealed_rows.replace(replace(row, place=place), row.sealed)
