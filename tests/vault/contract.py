"""What every implementation of the vault's ports must do; a test class inherits a suite.

An implementation overrides the fixture. The workspaces used are ``acme``, ``other`` and
``SERVER``; a store that wants them made makes them in its fixture, and so with the app ``shop``
and the user ``ann`` of the sealed rows.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Protocol

import pytest

from remit.gateway.identity import SigningKey, SigningKeys
from remit.gateway.keeping import (
    SERVER,
    DataKey,
    DataKeys,
    Place,
    Sealed,
    SealedRows,
    connection_place,
    env_place,
    pins_place,
)


def _key(key_id: str, workspace: str = "acme", master: str = "m1") -> DataKey:
    wrapped = f"v1.{master}.AAAAAAAAAAAAAAAA.{key_id}{'A' * 24}"
    return DataKey(workspace=workspace, id=key_id, master=master, wrapped=wrapped)


class DataKeysContract:
    """The suite of ``DataKeys``."""

    @pytest.fixture
    def keys(self) -> DataKeys:
        """An empty implementation."""
        raise NotImplementedError

    async def test_an_empty_one_has_nothing(self, keys: DataKeys) -> None:
        """Nothing is made up."""
        assert await keys.current("acme") is None
        assert await keys.first("acme") is None
        assert await keys.get("acme", "d1") is None
        assert await keys.under_other("m1", after="", limit=10) == ()
        assert await keys.masters() == frozenset()
        assert await keys.workspaces() == ()

    async def test_the_last_key_added_is_current_and_older_ones_stay(self, keys: DataKeys) -> None:
        """Older keys open what they sealed."""
        assert await keys.add(_key("d2"), after=None)
        assert await keys.add(_key("d1"), after="d2")

        assert await keys.current("acme") == _key("d1")
        assert await keys.first("acme") == _key("d2")
        assert await keys.first("other") is None
        assert await keys.get("acme", "d2") == _key("d2")

    @pytest.mark.parametrize("after", [None, "d0", "d3"])
    async def test_a_key_is_not_added_after_one_that_is_not_current(
        self, keys: DataKeys, after: str | None
    ) -> None:
        """Of two nodes that renew at once, one wins."""
        await keys.add(_key("d0"), after=None)
        await keys.add(_key("d1"), after="d0")

        assert not await keys.add(_key("d9"), after=after)
        assert await keys.current("acme") == _key("d1")
        assert await keys.get("acme", "d9") is None

    async def test_of_keys_added_at_once_one_wins(self, keys: DataKeys) -> None:
        """The first value of a workspace may be sealed by many requests at once."""
        done = await asyncio.gather(*(keys.add(_key(f"d{n}"), after=None) for n in range(8)))

        assert sorted(done) == [False] * 7 + [True]
        assert await keys.current("acme") == _key(f"d{done.index(True)}")

    async def test_workspaces_do_not_see_each_other(self, keys: DataKeys) -> None:
        """The workspace is part of every key (the server's own among them)."""
        for workspace in ("acme", "other", SERVER):
            assert await keys.add(_key(f"d{workspace}", workspace), after=None)

        assert await keys.get("other", "dacme") is None
        assert not await keys.reserve("other", "dacme", uses=1, limit=10)
        assert await keys.workspaces() == (SERVER, "acme", "other")

    async def test_uses_are_counted_up_to_the_limit(self, keys: DataKeys) -> None:
        """Encryptions under one key are bounded (NIST SP 800-38D)."""
        await keys.add(_key("d1"), after=None)

        assert await keys.reserve("acme", "d1", uses=6, limit=10)
        assert not await keys.reserve("acme", "d1", uses=5, limit=10)
        assert await keys.reserve("acme", "d1", uses=4, limit=10)
        assert not await keys.reserve("acme", "d1", uses=1, limit=10)
        assert not await keys.reserve("acme", "d2", uses=1, limit=10)
        assert await keys.current("acme") == replace(_key("d1"), uses=10)

    async def test_uses_counted_at_once_are_all_counted(self, keys: DataKeys) -> None:
        """Two nodes never take the same part of the count."""
        await keys.add(_key("d1"), after=None)

        done = await asyncio.gather(
            *(keys.reserve("acme", "d1", uses=3, limit=10) for _ in range(8))
        )

        assert sum(done) == 3
        assert await keys.current("acme") == replace(_key("d1"), uses=9)

    async def test_a_count_beyond_32_bits_is_kept(self, keys: DataKeys) -> None:
        """No column is too narrow."""
        await keys.add(_key("d1"), after=None)

        assert await keys.reserve("acme", "d1", uses=2**40, limit=2**41)
        assert await keys.current("acme") == replace(_key("d1"), uses=2**40)

    async def test_a_key_is_wrapped_anew_only_where_it_is_as_it_was_read(
        self, keys: DataKeys
    ) -> None:
        """A rotation that runs twice at once harms nothing; counted uses stay."""
        await keys.add(_key("d1"), after=None)
        await keys.reserve("acme", "d1", uses=2, limit=10)
        anew = _key("d1", master="m2")

        assert await keys.rewrap(_key("d1"), master="m2", wrapped=anew.wrapped)
        assert not await keys.rewrap(_key("d1"), master="m3", wrapped="v1.m3.x.y")
        assert not await keys.rewrap(_key("d7"), master="m3", wrapped="v1.m3.x.y")
        assert await keys.get("acme", "d1") == replace(anew, uses=2)

    async def test_keys_under_other_masters_are_listed_in_pages(self, keys: DataKeys) -> None:
        """A rotation goes through all workspaces, and past what it cannot mend."""
        await keys.add(_key("d4"), after=None)
        await keys.add(_key("d2", master="m2"), after="d4")
        await keys.add(_key("d3", "other"), after=None)
        await keys.add(_key("d1", "other", "m0"), after="d3")

        first = await keys.under_other("m2", after="", limit=2)
        assert first == (_key("d1", "other", "m0"), _key("d3", "other"))
        assert await keys.under_other("m2", after="d3", limit=2) == (_key("d4"),)
        assert await keys.under_other("m2", after="d4", limit=2) == ()
        assert await keys.masters() == frozenset({"m0", "m1", "m2"})


class RowsUnderTest(Protocol):
    """Sealed rows, and what a test does around them."""

    @property
    def rows(self) -> SealedRows:
        """The implementation."""
        ...

    async def put(self, place: Place, sealed: Sealed) -> None:
        """Store a value, new or in the place of another."""
        ...

    async def read(self, place: Place) -> Sealed | None:
        """The stored value."""
        ...

    async def delete(self, place: Place) -> None:
        """Delete it."""
        ...


PLACES = (
    connection_place("acme", "shop", "ann", "c1"),
    env_place("acme", "shop", "main", "production", "TOKEN"),
    env_place("acme", "shop", "main", "production", "token"),
    env_place("acme", "shop", "main", "staging", "TOKEN"),
    env_place("acme", "shop", "main/production", "x", "TOKEN"),
    pins_place("acme", "ann", "token_1"),
)
ELSEWHERE = env_place("other", "shop", "main", "production", "TOKEN")


def _sealed(key_id: str, text: str = "A") -> Sealed:
    return Sealed(f"v1.{key_id}.AAAAAAAAAAAAAAAA.{text * 24}")


class SealedRowsContract:
    """The suite of ``SealedRows``."""

    @pytest.fixture
    def stored(self) -> RowsUnderTest:
        """An empty implementation."""
        raise NotImplementedError

    async def test_rows_under_older_keys_are_listed_in_pages_with_their_places(
        self, stored: RowsUnderTest
    ) -> None:
        """A rotation finds every value once, and no other workspace's."""
        for place in (*PLACES, ELSEWHERE):
            await stored.put(place, _sealed("d1"))
        await stored.put(PLACES[0], _sealed("d2"))

        found: list[Place] = []
        after = ""
        while page := await stored.rows.under_other("acme", "d2", after=after, limit=2):
            assert len(page) <= 2
            assert [row.id for row in page] == sorted(row.id for row in page)
            assert {row.sealed for row in page} == {_sealed("d1")}
            found += [row.place for row in page]
            after = page[-1].id

        assert sorted(found, key=repr) == sorted(PLACES[1:], key=repr)

    async def test_a_row_is_replaced_only_where_it_is_as_it_was_read(
        self, stored: RowsUnderTest
    ) -> None:
        """What a user stores while a rotation runs stands."""
        for place in PLACES[:3]:
            await stored.put(place, _sealed("d1"))
        rows = await stored.rows.under_other("acme", "d2", after="", limit=10)
        by_place = {row.place: row for row in rows}
        await stored.put(PLACES[1], _sealed("d2", "B"))
        await stored.delete(PLACES[2])

        done = [await stored.rows.replace(by_place[p], _sealed("d2", "C")) for p in PLACES[:3]]

        assert done == [True, False, False]
        assert await stored.read(PLACES[0]) == _sealed("d2", "C")
        assert await stored.read(PLACES[1]) == _sealed("d2", "B")
        assert await stored.read(PLACES[2]) is None
        assert await stored.rows.under_other("acme", "d2", after="", limit=10) == ()


def _signing(kid: str, at: int = 0) -> SigningKey:
    return SigningKey(kid=kid, public=f'{{"kid":"{kid}"}}', sealed=_sealed("d1"), active_from_s=at)


class SigningKeysContract:
    """The suite of ``SigningKeys``."""

    @pytest.fixture
    def signing(self) -> SigningKeys:
        """An empty implementation."""
        raise NotImplementedError

    async def test_keys_are_kept_in_the_order_in_which_they_were_added(
        self, signing: SigningKeys
    ) -> None:
        """Neither their ids nor their times order them."""
        assert await signing.all() == ()
        assert await signing.add(_signing("b", 2**40), after=None)
        assert await signing.add(_signing("c", 5), after="b")
        assert await signing.add(_signing("a", 5), after="c")

        assert await signing.all() == (_signing("b", 2**40), _signing("c", 5), _signing("a", 5))

    async def test_a_key_is_not_added_after_one_that_is_not_the_last(
        self, signing: SigningKeys
    ) -> None:
        """Of two nodes that rotate at once, one wins."""
        await signing.add(_signing("a"), after=None)
        await signing.add(_signing("b"), after="a")

        for after in (None, "a", "z"):
            assert not await signing.add(_signing("c"), after=after)
        assert await signing.all() == (_signing("a"), _signing("b"))

    async def test_of_keys_added_at_once_one_wins(self, signing: SigningKeys) -> None:
        """Many nodes may start at once."""
        done = await asyncio.gather(*(signing.add(_signing(f"k{n}"), after=None) for n in range(8)))

        assert sorted(done) == [False] * 7 + [True]
        assert await signing.all() == (_signing(f"k{done.index(True)}"),)

    async def test_a_removed_key_is_gone(self, signing: SigningKeys) -> None:
        """Removal is instant, the last one added included."""
        await signing.add(_signing("a"), after=None)
        await signing.add(_signing("b"), after="a")

        assert await signing.remove("b")
        assert not await signing.remove("b")
        assert await signing.all() == (_signing("a"),)
        assert await signing.add(_signing("c"), after="a")
