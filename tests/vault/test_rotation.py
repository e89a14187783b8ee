"""Rotation: everything comes under the new key, nothing is lost, wherever it is stopped."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from remit.gateway.keeping import (
    DataKey,
    Place,
    Sealed,
    SealedRow,
    connection_place,
    env_place,
    signing_place,
)
from remit.values.secrets import Secret
from remit.vault.rotation import Renewed, rotate
from remit.vault.sealing import Counting, Vault
from tests.vault.fakes import MemoryDataKeys, MemorySealedRows, masters

PLACES = [
    *(connection_place("acme", "shop", f"user {n}", f"c{n}") for n in range(7)),
    *(env_place("acme", "shop", "main", "production", f"N{n}") for n in range(3)),
    *(connection_place("other", "mail", f"user {n}", f"c{n}") for n in range(4)),
    signing_place("k1"),
]
NEW = masters("new").current.id


class Killed(BaseException):
    """The process ends here."""


@dataclass
class World:
    """A store with values sealed under an old master key."""

    keys: MemoryDataKeys = field(default_factory=MemoryDataKeys)
    rows: MemorySealedRows = field(default_factory=MemorySealedRows)

    async def fill(self) -> None:
        """Seal one value for each place, under several data keys."""
        vault = Vault(self.keys, masters("old"), counting=Counting(max_uses=4, block=2))
        for place in PLACES:
            await self.rows.put(place, await vault.seal(place, Secret(repr(place))))

    async def values(self, *seeds: str) -> list[bool]:
        """Whether each value reads as it was stored, with these master keys."""
        vault = Vault(self.keys, masters(*seeds))
        return [
            (await vault.open(place, sealed)).reveal() == repr(place)
            for place, sealed in self.rows.kept.items()
        ]

    async def run(self, *seeds: str, batch: int = 3) -> list[Renewed]:
        """Rotate to the first master key, as a process of its own."""
        vault = Vault(self.keys, masters(*seeds))
        return [step async for step in rotate(vault, self.keys, self.rows, batch=batch)]

    async def is_done(self) -> bool:
        """All keys under the new master key, all values under a data key made under it."""
        current = {w: await self.keys.current(w) for w in await self.keys.workspaces()}
        return await self.keys.masters() == {NEW} and all(
            sealed.key_id == getattr(current[place.workspace], "id", None)
            for place, sealed in self.rows.kept.items()
        )


@pytest.fixture
async def world() -> World:
    """Fifteen values in three workspaces."""
    made = World()
    await made.fill()
    return made


async def test_everything_comes_under_the_new_key(world: World) -> None:
    """Afterwards the old master key is needed for nothing."""
    old_ids = {key.id for key in world.keys.kept}

    steps = await world.run("new", "old")

    assert await world.is_done()
    assert all(await world.values("new"))
    assert sum(step.values for step in steps) == len(PLACES)
    assert sum(step.data_keys for step in steps) == len(old_ids)
    assert all(step.values <= 3 and step.data_keys <= 3 for step in steps)
    assert not any(step.overtaken or step.unopened for step in steps)
    assert not {sealed.key_id for sealed in world.rows.kept.values()} & old_ids


async def test_a_second_rotation_has_nothing_to_do(world: World) -> None:
    """What is left to do is what the store still has under an older key."""
    await world.run("new", "old")
    before = (list(world.keys.kept), dict(world.rows.kept))

    assert await world.run("new") == []
    assert (world.keys.kept, world.rows.kept) == before


async def test_values_under_used_up_data_keys_are_renewed_under_the_same_master(
    world: World,
) -> None:
    """Rotation without a new master key still brings values to the newest data key."""
    steps = await world.run("old")

    assert sum(step.data_keys for step in steps) == 0
    assert sum(step.values for step in steps) > 0
    assert await world.run("old") == []
    assert all(await world.values("old"))


@dataclass
class Mortal:
    """Ends the process at its n-th change of the store, before or after the commit."""

    left: int
    after: bool

    def step(self, *, committed: bool) -> None:
        """One moment at which it may end."""
        if committed == self.after:
            self.left -= 1
            if self.left < 0:
                raise Killed


@dataclass
class MortalKeys(MemoryDataKeys):
    """Data keys of a process that is killed."""

    life: Mortal = field(default_factory=lambda: Mortal(0, after=False))

    async def add(self, key: DataKey, *, after: str | None) -> bool:
        """May end here."""
        self.life.step(committed=False)
        done = await MemoryDataKeys.add(self, key, after=after)
        self.life.step(committed=True)
        return done

    async def rewrap(self, key: DataKey, *, master: str, wrapped: str) -> bool:
        """May end here."""
        self.life.step(committed=False)
        done = await MemoryDataKeys.rewrap(self, key, master=master, wrapped=wrapped)
        self.life.step(committed=True)
        return done


@dataclass
class MortalRows(MemorySealedRows):
    """Rows of a process that is killed."""

    life: Mortal = field(default_factory=lambda: Mortal(0, after=False))

    async def replace(self, row: SealedRow, sealed: Sealed) -> bool:
        """May end here."""
        self.life.step(committed=False)
        done = await MemorySealedRows.replace(self, row, sealed)
        self.life.step(committed=True)
        return done


@pytest.mark.parametrize("after", [False, True])
async def test_a_rotation_killed_anywhere_loses_nothing_and_goes_on(after: bool) -> None:
    """Re-encryption is killed half-way and started again: no value is lost."""
    kills = 0
    while True:
        world = World()
        await world.fill()
        life = Mortal(kills, after=after)
        keys, rows = MortalKeys(world.keys.kept, life), MortalRows(world.rows.kept, life)
        vault = Vault(keys, masters("new", "old"))
        try:
            _ = [step async for step in rotate(vault, keys, rows, batch=3)]
        except Killed:
            kills += 1
        else:
            break
        assert all(await world.values("new", "old"))
        await world.run("new", "old")
        assert await world.is_done()
        assert all(await world.values("new"))
    assert kills > len(PLACES)


@dataclass
class BusyRows(MemorySealedRows):
    """A user changes and another deletes a value between its reading and its replacing."""

    written: Sealed | None = None

    async def replace(self, row: SealedRow, sealed: Sealed) -> bool:
        """Somebody else is faster, twice."""
        if row.place == PLACES[0] and self.written is not None:
            self.kept[row.place], self.written = self.written, None
        if row.place == PLACES[1]:
            self.kept.pop(row.place, None)
        return await MemorySealedRows.replace(self, row, sealed)


async def test_what_is_written_meanwhile_stands(world: World) -> None:
    """Compare-and-set: a rotation never brings an older value back, nor a deleted one."""
    vault = Vault(world.keys, masters("new", "old"))
    written = await vault.seal(PLACES[0], Secret("newer"))
    rows = BusyRows(world.rows.kept, written)

    steps = [step async for step in rotate(vault, world.keys, rows, batch=3)]

    assert sum(step.overtaken for step in steps) == 2
    assert world.rows.kept[PLACES[0]] == written
    assert PLACES[1] not in world.rows.kept


async def test_two_rotations_at_once_harm_nothing(world: World) -> None:
    """Each goes on where the other is faster."""
    one = rotate(Vault(world.keys, masters("new", "old")), world.keys, world.rows, batch=2)
    two = rotate(Vault(world.keys, masters("new", "old")), world.keys, world.rows, batch=3)

    for _ in range(30):
        await anext(one, None)
        await anext(two, None)

    assert await world.is_done()
    assert all(await world.values("new"))


async def test_a_node_with_the_old_order_of_keys_loses_nothing(world: World) -> None:
    """Nodes are restarted one by one: what the last ones write is opened by all."""
    late = Vault(world.keys, masters("old", "new"))
    await world.run("new", "old")

    place = Place(workspace="acme", app="shop", user="late", field=("connection", "c9"))
    await world.rows.put(place, await late.seal(place, Secret(repr(place))))

    assert all(await world.values("new", "old"))
    await world.run("new", "old")
    assert await world.is_done()
    assert all(await world.values("new"))


async def test_a_damaged_value_is_said_and_does_not_stop_the_others(world: World) -> None:
    """It was unreadable before; it is left as it is, for a backup to mend."""
    damaged = replace(world.rows.kept[PLACES[2]], text=world.rows.kept[PLACES[3]].text)
    world.rows.kept[PLACES[2]] = damaged

    steps = await world.run("new", "old")

    assert [place for step in steps for place in step.unopened] == [PLACES[2]]
    assert sum(step.values for step in steps) == len(PLACES) - 1
    assert world.rows.kept[PLACES[2]] == damaged


async def test_a_data_key_whose_master_is_gone_is_said_and_does_not_stop_the_others(
    world: World,
) -> None:
    """While one is said, the old master key must be kept."""
    lost = world.keys.kept[0]
    world.keys.kept[0] = replace(lost, master="m0")

    steps = await world.run("new", "old")

    unopened = [one for step in steps for one in step.unopened]
    assert (lost.workspace, lost.id) in unopened
    assert {one for one in unopened if isinstance(one, Place)} == {
        place for place, sealed in world.rows.kept.items() if sealed.key_id == lost.id
    }
    assert await world.keys.masters() == {NEW, "m0"}
