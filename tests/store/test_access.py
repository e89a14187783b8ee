"""Keys, grants, connections, environment values: who may reach what."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from remit.gateway.records import Workspace
from remit.store.store import Store
from tests.store.making import NOW, OTHER, W, act, connection, device, grant, key, sealed


async def test_key_is_found_by_its_secrets_hash_alone(store: Store) -> None:
    """A request brings a secret, and so finds its workspace; the secret itself is nowhere."""
    row = key(apps=("scenes", "notes"), tools=("get_*",), pins=("a",), sealed=sealed(), user="ada")
    await store.keys.create(W, row, act=act())

    assert await store.keys.find(row.secret_hash) == row
    assert await store.keys.find("unknown") is None
    assert await store.keys.get(W, row.id) == row
    assert await store.keys.get(OTHER, row.id) is None


async def test_no_apps_and_all_apps_are_told_apart(store: Store) -> None:
    """A token that may reach nothing must not come back as one that may reach all."""
    none, every = key(apps=()), key(apps=None)
    for row in (none, every):
        await store.keys.create(W, row, act=act())

    assert await store.keys.get(W, none.id) == none
    assert await store.keys.get(W, every.id) == every


async def test_usable_keys_are_neither_revoked_nor_expired(store: Store) -> None:
    """The snapshot that requests are checked against."""
    good, expired, later, revoked, foreign = (
        key(), key(expires_at=NOW), key(expires_at=NOW + 1), key(), key(OTHER),
    )  # fmt: skip
    for row in (good, expired, later, revoked, foreign):
        await store.keys.create(row.workspace, row, act=act(row.workspace))
    await store.keys.revoke(W, revoked.id, act=act())

    usable = await store.keys.usable(W, at=NOW)
    assert {row.id for row in usable} == {good.id, later.id}


async def test_key_is_revoked_once_and_stays_so(store: Store) -> None:
    """The time of the first revocation stands in the record."""
    row = key()
    await store.keys.create(W, row, act=act())

    assert await store.keys.revoke(OTHER, row.id, act=act(OTHER)) is None
    first = await store.keys.revoke(W, row.id, act=act(at=NOW + 5))
    again = await store.keys.revoke(W, row.id, act=act(at=NOW + 9))
    assert first == again == replace(row, revoked_at=NOW + 5)
    assert len((await store.audit.list(W)).items) == 2


async def test_last_use_of_a_key_only_moves_forward(store: Store) -> None:
    """Last-used is shown; two nodes write it in any order."""
    row = key()
    await store.keys.create(W, row, act=act())
    for at in (NOW + 5, NOW + 3):
        await store.keys.used(W, row.id, at=at)
    await store.keys.used(OTHER, row.id, at=NOW + 99)

    kept = await store.keys.get(W, row.id)
    assert kept is not None
    assert kept.last_used_at == NOW + 5


async def test_keys_are_listed_by_role(store: Store) -> None:
    """``remit keys list``, and tokens apart from keys."""
    first, second, token = key(), key(created_at=NOW + 1), key(role="user", user="ada")
    for row in (first, second, token):
        await store.keys.create(W, row, act=act())

    listed = await store.keys.list(W, role="backend")
    assert [row.id for row in listed.items] == [second.id, first.id]
    assert (await store.keys.list(OTHER)).items == ()


async def test_workspace_is_made_once(store: Store, beside: Store) -> None:
    """``remit keys create`` makes the workspace it is given."""
    made = await asyncio.gather(*(one.workspaces.make(W, at=NOW) for one in (store, beside, store)))
    assert sorted(made) == [False, False, True]
    assert await store.workspaces.all() == (Workspace(id=W, created_at=NOW),)


async def test_consent_is_to_one_version_and_given_once(store: Store) -> None:
    """One user's consent to one definition version (contract section 1)."""
    row = grant()
    assert await store.grants.give(W, row, act=act()) == row
    assert await store.grants.give(W, grant(), act=act()) == row
    newer = await store.grants.give(W, grant(version=2), act=act())

    assert await store.grants.alive(W, "scenes", "ada") == newer
    assert await store.grants.alive(W, "scenes", "bob") is None
    assert await store.grants.alive(OTHER, "scenes", "ada") is None
    assert len((await store.audit.list(W)).items) == 2


async def test_revoked_consent_is_dead_and_may_be_given_again(store: Store) -> None:
    """A grant that is revoked lets no call pass, and a new one may."""
    row = await store.grants.give(W, grant(), act=act())
    assert await store.grants.revoke(OTHER, row.id, act=act(OTHER)) is None
    revoked = await store.grants.revoke(W, row.id, act=act(at=NOW + 2))
    again = await store.grants.revoke(W, row.id, act=act(at=NOW + 3))

    assert revoked == again == replace(row, revoked_at=NOW + 2, revoked_by="key:k1")
    assert await store.grants.alive(W, "scenes", "ada") is None
    anew = await store.grants.give(W, grant(), act=act())
    assert anew.id != row.id
    listed = await store.grants.list(W, app="scenes", user="ada")
    assert {one.id for one in listed.items} == {row.id, anew.id}
    assert (await store.grants.list(W, app="notes")).items == ()


async def test_of_consents_at_once_one_is_kept(store: Store, beside: Store) -> None:
    """A double click on two nodes makes one grant."""
    given = await asyncio.gather(
        *(node.grants.give(W, grant(), act=act()) for _ in range(4) for node in (store, beside))
    )
    assert len({one.id for one in given}) == 1


async def test_credential_is_kept_sealed_one_for_each_app_and_user(store: Store) -> None:
    """PUT replaces (contract section 10); nobody else's is touched."""
    first = await store.connections.put(W, connection(), act=act())
    foreign = await store.connections.put(OTHER, connection(OTHER), act=act(OTHER))
    second = await store.connections.put(W, connection(id="conn-new"), act=act())

    assert (first.revision, second.revision) == (1, 2)
    assert await store.connections.get(W, "scenes", "ada") == second
    assert await store.connections.get(OTHER, "scenes", "ada") == foreign
    assert [row.id for row in (await store.connections.list(W, user="ada")).items] == ["conn-new"]
    assert (await store.connections.list(W, user="bob")).items == ()


async def test_of_two_refreshes_one_is_kept(store: Store, beside: Store) -> None:
    """One refresh, shared by all calls of that connection (contract section 5, step 9)."""
    row = await store.connections.put(W, connection(), act=act())
    done = await asyncio.gather(
        *(
            node.connections.refresh(
                W, "scenes", "ada", revision=row.revision, sealed=sealed(text), expires_at=None,
                at=NOW + 7,
            )
            for text, node in (("Zmlyc3Q", store), ("c2Vjb25k", beside))
        )
    )  # fmt: skip

    assert sorted(done) == [False, True]
    kept = await store.connections.get(W, "scenes", "ada")
    assert kept is not None
    assert kept.sealed == sealed("Zmlyc3Q" if done[0] else "c2Vjb25k")
    assert (kept.revision, kept.id, kept.expires_at) == (2, row.id, None)


async def test_forgotten_credential_is_gone(store: Store) -> None:
    """DELETE forgets it, in its own workspace alone."""
    await store.connections.put(W, connection(), act=act())

    assert not await store.connections.delete(OTHER, "scenes", "ada", act=act(OTHER))
    assert await store.connections.delete(W, "scenes", "ada", act=act())
    assert not await store.connections.delete(W, "scenes", "ada", act=act())
    assert await store.connections.get(W, "scenes", "ada") is None


async def test_environment_values_are_set_and_removed_together(store: Store) -> None:
    """PUT {NAME: value|null}; other collections and environments keep theirs (section 8)."""
    place = (W, "scenes", "main", "production")
    await store.env.put(*place, {"A": sealed("YQ"), "B": sealed("Yg")}, act=act())
    await store.env.put(W, "scenes", "main", "staging", {"A": sealed("c3RhZ2luZw")}, act=act())
    await store.env.put(*place, {"A": None, "B": sealed("YjI"), "C": sealed("Yw")}, act=act())

    kept = await store.env.get(*place)
    assert [(one.name, one.sealed) for one in kept] == [("B", sealed("YjI")), ("C", sealed("Yw"))]
    assert [one.name for one in await store.env.get(W, "scenes", "main", "staging")] == ["A"]
    assert await store.env.get(OTHER, "scenes", "main", "production") == ()


async def test_client_token_is_kept_with_its_session_and_device(store: Store) -> None:
    """One session, user and device (contract section 10)."""
    await store.devices.put(W, device(id="tablet"), act=act())
    row = key(role="client", user="ada", session="s1", device="tablet", expires_at=NOW + 9)
    await store.keys.create(W, row, act=act())

    assert await store.keys.find(row.secret_hash) == row
    assert (await store.keys.list(W, role="client")).items == (row,)


async def test_tokens_of_a_session_are_forgotten_and_no_others(store: Store) -> None:
    """Every node hears of it, since it may remember them."""
    mine = [key(role="client", user="ada", session="s1") for _ in range(3)]
    others = [key(role="client", session="s2"), key(), key(OTHER, role="client", session="s1")]
    for row in mine + others:
        await store.keys.create(row.workspace, row, act=act(row.workspace))
    before = (await store.revisions.changes(0)).number

    assert await store.keys.forget(W, "s1") == 3
    assert await store.keys.forget(W, "s1") == 0
    assert [await store.keys.find(row.secret_hash) for row in mine] == [None] * 3
    assert [await store.keys.find(row.secret_hash) for row in others] == others
    assert (await store.revisions.changes(before)).changed == {(W, "keys")}


async def test_new_client_token_makes_no_node_forget_its_keys(store: Store) -> None:
    """Every session makes some: that must not cost all others their memory; it is recorded."""
    before = (await store.revisions.changes(0)).number
    await store.keys.create(W, key(role="client", session="s1"), act=act(kind="token.created"))

    assert (await store.revisions.changes(before)).changed == frozenset()
    assert [entry.kind for entry in (await store.audit.list(W)).items] == ["token.created"]
