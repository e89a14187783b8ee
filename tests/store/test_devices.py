"""Devices as they are kept: one user's each, and their tokens die with them."""

from __future__ import annotations

import asyncio

from msgspec import structs

from remit.store.store import Store
from tests.store.making import NOW, OTHER, W, act, device, key


async def test_device_is_registered_once_and_renamed(store: Store) -> None:
    """PUT again changes the name alone; nothing changed leaves no act."""
    row = device(id="phone")
    first = await store.devices.put(W, row, act=act(kind="device.registered"))
    same = await store.devices.put(W, device(id="phone", created_at=NOW + 9), act=act())
    renamed = await store.devices.put(
        W, device(id="phone", name="Old phone", created_at=NOW + 9), act=act(kind="device.renamed")
    )

    assert first == same == row
    assert renamed == structs.replace(row, name="Old phone")
    assert await store.devices.get(W, "phone") == renamed
    kinds = {entry.kind for entry in (await store.audit.list(W)).items}
    assert kinds == {"device.registered", "device.renamed"}


async def test_device_of_another_user_is_not_taken(store: Store) -> None:
    """It answers with whose it is, and leaves no act; another workspace has ids of its own."""
    mine = await store.devices.put(W, device(id="phone"), act=act())
    theirs = device(id="phone", user="bob", name="Bob's")
    assert await store.devices.put(W, theirs, act=act()) == mine
    foreign = device(OTHER, id="phone", user="bob")
    assert await store.devices.put(OTHER, foreign, act=act(OTHER)) == foreign

    assert await store.devices.get(W, "phone") == mine
    assert len((await store.audit.list(W)).items) == 1


async def test_of_users_at_once_one_gets_the_device(store: Store, beside: Store) -> None:
    """Two nodes register one id for two users; all see the same owner."""
    rows = [device(id="phone", user=f"user-{n}") for n in range(6)]
    found = await asyncio.gather(
        *((store, beside)[n % 2].devices.put(W, row, act=act()) for n, row in enumerate(rows))
    )

    assert len({one.user for one in found}) == 1
    assert found[0] in rows
    assert len((await store.audit.list(W)).items) == 1


async def test_devices_are_listed_by_user_and_workspace(store: Store) -> None:
    """The agent is given the first registered first; lists run the other way, in parts."""
    mine = [device(created_at=NOW + n) for n in range(3)]
    others = [device(user="bob"), device(OTHER)]
    for row in mine + others:
        await store.devices.put(row.workspace, row, act=act(row.workspace))

    assert await store.devices.of_user(W, "ada") == tuple(mine)
    assert await store.devices.of_user(W, "eve") == ()
    part = await store.devices.list(W, user="ada", limit=2)
    rest = await store.devices.list(W, user="ada", limit=2, cursor=part.next)
    assert (*part.items, *rest.items) == tuple(reversed(mine))
    assert rest.next is None
    assert {row.id for row in (await store.devices.list(OTHER)).items} == {others[1].id}


async def test_tokens_of_a_device_die_with_it(store: Store) -> None:
    """Every node hears of it; those of other devices, sessions and workspaces go on."""
    for workspace, id_ in ((W, "phone"), (W, "tablet"), (OTHER, "phone")):
        await store.devices.put(workspace, device(workspace, id=id_), act=act(workspace))
    dead = [key(role="client", user="ada", session=s, device="phone") for s in ("s1", "s2")]
    alive = [
        key(role="client", user="ada", session="s1", device="tablet"),
        key(role="client", user="ada", session="s1"),
        key(OTHER, role="client", user="ada", session="s1", device="phone"),
    ]
    for row in dead + alive:
        assert await store.keys.create(row.workspace, row, act=act(row.workspace))
    before = (await store.revisions.changes(0)).number

    assert await store.devices.remove(W, "phone", act=act(at=NOW + 5))
    assert not await store.devices.remove(W, "phone", act=act(at=NOW + 6))

    assert await store.devices.get(W, "phone") is None
    kept = [await store.keys.get(row.workspace, row.id) for row in dead + alive]
    assert [row and row.revoked_at for row in kept] == [NOW + 5, NOW + 5, None, None, None]
    assert (await store.revisions.changes(before)).changed == {(W, "keys")}
    usable = {row.id for row in await store.keys.usable(W, at=NOW)}
    assert usable == {alive[0].id, alive[1].id}


async def test_device_without_tokens_goes_without_a_mark(store: Store) -> None:
    """No node remembers anything of it: none has to read its keys anew."""
    await store.devices.put(W, device(id="phone"), act=act())
    before = (await store.revisions.changes(0)).number

    assert await store.devices.remove(W, "phone", act=act(kind="device.deleted"))
    assert (await store.revisions.changes(before)).changed == frozenset()
    assert "device.deleted" in {entry.kind for entry in (await store.audit.list(W)).items}


async def test_token_is_made_for_a_device_of_its_user_alone(store: Store) -> None:
    """None for one that is not there, or is somebody else's; then nothing is kept."""
    await store.devices.put(W, device(id="phone"), act=act())
    await store.devices.put(OTHER, device(OTHER, id="tablet"), act=act(OTHER))
    before = len((await store.audit.list(W)).items)
    for user, id_ in (("bob", "phone"), ("ada", "tablet"), ("ada", "Phone")):
        row = key(role="client", user=user, session="s1", device=id_)
        assert not await store.keys.create(W, row, act=act())
        assert await store.keys.find(row.secret_hash) is None
    assert len((await store.audit.list(W)).items) == before


async def test_no_token_outlives_its_device(store: Store, beside: Store) -> None:
    """Tokens are made while the device is deleted on another node: each is refused or revoked."""
    for turn in range(5):
        await store.devices.put(W, device(id=f"d{turn}"), act=act())
        rows = [key(role="client", user="ada", session="s", device=f"d{turn}") for _ in range(4)]
        await asyncio.gather(
            *(store.keys.create(W, row, act=act()) for row in rows[:2]),
            beside.devices.remove(W, f"d{turn}", act=act()),
            *(store.keys.create(W, row, act=act()) for row in rows[2:]),
        )
        for row in rows:
            kept = await store.keys.get(W, row.id)
            assert kept is None or kept.revoked_at is not None
    assert await store.keys.usable(W, at=NOW) == ()


async def test_device_was_seen_when_its_token_was_used_last(store: Store) -> None:
    """Only forward, whichever token it was; a key without a device touches none."""
    phone, tablet = device(id="phone"), device(id="tablet")
    for row in (phone, tablet):
        await store.devices.put(W, row, act=act())
    token, other, plain = (
        key(role="client", user="ada", session="s1", device="phone"),
        key(role="client", user="ada", session="s2", device="phone"),
        key(),
    )
    for row in (token, other, plain):
        await store.keys.create(W, row, act=act())
    for row, at in ((token, NOW + 5), (token, NOW + 3), (other, NOW + 4)):
        await store.keys.used(W, row.id, at=at)
    await store.keys.used(W, plain.id, at=NOW + 50)

    assert await store.devices.get(W, "phone") == structs.replace(phone, seen_at=NOW + 5)
    assert await store.devices.get(W, "tablet") == tablet
