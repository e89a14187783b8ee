"""Catalog snapshots, policies, audit, and the marks by which nodes see that something changed."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from remit.gateway.records import PolicyVersion, Stale
from remit.store.catalogs import KEPT_SNAPSHOTS
from remit.store.store import Store
from tests.store.making import NOW, OTHER, W, act, connection, draft, grant, key, snapshot

FETCHED = {"etag": '"1"', "last_modified": None}


async def test_last_good_snapshot_survives(store: Store, beside: Store) -> None:
    """When a fetch fails the last good snapshot serves (contract section 7)."""
    first = snapshot()
    source = await store.catalogs.keep(W, first, **FETCHED)

    assert await beside.catalogs.source(W, "scenes") == source
    assert await beside.catalogs.snapshot(W, "scenes", source.digest) == first
    assert await store.catalogs.source(OTHER, "scenes") is None
    assert await store.catalogs.snapshot(OTHER, "scenes", "c1") is None


async def test_not_modified_only_moves_the_check(store: Store) -> None:
    """A copy's age counts from the last answer, its content from the fetch."""
    source = await store.catalogs.keep(W, snapshot(), **FETCHED)

    assert await store.catalogs.confirm(W, "scenes", at=NOW + 60)
    assert not await store.catalogs.confirm(OTHER, "scenes", at=NOW + 60)
    assert await store.catalogs.source(W, "scenes") == replace(source, checked_at=NOW + 60)


async def test_accepted_snapshot_stays_whatever_is_fetched_after(store: Store) -> None:
    """``frozen`` and ``review`` serve what a reviewer let in (contract section 7)."""
    await store.catalogs.keep(W, snapshot(), **FETCHED)
    assert await store.catalogs.accept(W, "scenes", "c1", act=act())
    assert not await store.catalogs.accept(W, "scenes", "unknown", act=act())
    assert not await store.catalogs.accept(OTHER, "scenes", "c1", act=act(OTHER))

    for number in range(KEPT_SNAPSHOTS + 5):
        await store.catalogs.keep(W, snapshot(digest=f"d{number}", at=NOW + number), **FETCHED)

    source = await store.catalogs.source(W, "scenes")
    assert source is not None
    assert (source.digest, source.accepted) == (f"d{KEPT_SNAPSHOTS + 4}", "c1")
    history = await store.catalogs.history(W, "scenes")
    assert len(history) == KEPT_SNAPSHOTS + 1
    assert history[-1].digest == "c1"


async def test_policy_is_put_only_over_the_one_that_was_read(store: Store, beside: Store) -> None:
    """PUT /v1/policy needs the ETag (contract section 10); every version is kept."""
    assert await store.policies.current(W) is None
    results = await asyncio.gather(
        *(
            node.policies.put(W, f'{{"n":{number}}}', if_number=0, act=act())
            for number, node in enumerate((store, beside, store, beside))
        )
    )
    kept = [result for result in results if isinstance(result, PolicyVersion)]
    assert len(kept) == 1
    assert [result for result in results if result not in kept] == [Stale(revision=1)] * 3
    second = await store.policies.put(W, "{}", if_number=1, act=act())
    assert isinstance(second, PolicyVersion)

    assert await store.policies.current(W) == second
    assert await store.policies.get(W, 1) == kept[0]
    assert [one.number for one in (await store.policies.list(W)).items] == [2, 1]
    assert await store.policies.current(OTHER) is None
    assert await store.policies.get(OTHER, 1) is None


async def test_audit_lists_by_kind_and_time(store: Store) -> None:
    """GET /v1/audit?kind=&from=&to= (contract section 10)."""
    entries = [act(kind=kind, at=NOW + at) for at, kind in enumerate(("a", "b", "a"))]
    for entry in (*entries, act(OTHER, kind="a")):
        assert await store.audit.append(entry.workspace, entry)
    assert not await store.audit.append(W, replace(entries[0], kind="forged"))

    assert (await store.audit.list(W)).items == tuple(reversed(entries))
    assert (await store.audit.list(W, kind="a", since=NOW + 1)).items == (entries[2],)
    assert (await store.audit.list(W, until=NOW + 1)).items == (entries[0],)
    with pytest.raises(ValueError, match="another workspace"):
        await store.audit.append(OTHER, entries[0])


async def test_every_act_of_governing_is_seen_by_every_node(store: Store, beside: Store) -> None:
    """Suspension and revocation ride on this within 2 s (architecture section 5)."""
    acts = [
        (store.versions.submit(W, draft(), installation="i", act=act()), "apps"),
        (store.apps.suspend(W, "scenes", reason="x", node="n", act=act()), "apps"),
        (store.apps.resume(W, "scenes", act=act()), "apps"),
        (store.keys.create(W, key(), act=act()), "keys"),
        (store.grants.give(W, grant(), act=act()), "grants"),
        (store.connections.put(W, connection(), act=act()), "connections"),
        (store.env.put(W, "scenes", "main", "prod", {}, act=act()), "env"),
        (store.policies.put(W, "{}", if_number=0, act=act()), "policy"),
        (store.catalogs.keep(W, snapshot(), **FETCHED), "catalogs"),
    ]
    seen = await beside.revisions.changes(0)
    for done, kind in acts:
        await done
        seen = await beside.revisions.changes(seen.number)
        assert seen.changed == {(W, kind)}

    assert (await beside.revisions.changes(seen.number)).changed == frozenset()
    await store.policies.put(OTHER, "{}", if_number=0, act=act(OTHER))
    assert (await beside.revisions.changes(seen.number)).changed == {(OTHER, "policy")}


async def test_no_change_is_missed_while_many_are_made(store: Store, beside: Store) -> None:
    """Numbers become visible in their order, also from two nodes at once."""
    names = [f"w{number}" for number in range(30)]
    seen: set[str] = set()
    number = 0

    async def watch() -> None:
        nonlocal number
        while len(seen) < len(names):
            found = await store.revisions.changes(number)
            assert found.number >= number
            number = found.number
            seen.update(workspace for workspace, _ in found.changed)

    puts = [
        node.policies.put(name, "{}", if_number=0, act=act(name))
        for name, node in zip(names, (store, beside) * 15, strict=True)
    ]
    await asyncio.wait_for(asyncio.gather(watch(), *puts), 20)
    assert seen == set(names)


async def test_what_changed_nothing_is_neither_recorded_nor_marked(store: Store) -> None:
    """A refused act leaves no trace that says it happened."""
    await store.policies.put(W, "{}", if_number=7, act=act())
    await store.keys.revoke(W, "unknown", act=act())
    await store.grants.revoke(W, "unknown", act=act())
    await store.connections.delete(W, "scenes", "ada", act=act())
    await store.catalogs.accept(W, "scenes", "c1", act=act())

    assert (await store.audit.list(W)).items == ()
    assert (await store.revisions.changes(0)).changed == frozenset()
