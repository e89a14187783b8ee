"""Clients of sessions: each call goes to one of them, and ends once."""

from __future__ import annotations

import asyncio

import pytest
from msgspec import structs

from remit.store.store import Store
from tests.store.making import NOW, OTHER, STARTED, W, client, client_call, fresh, session


async def made(store: Store, workspace: str = W) -> str:
    """The id of a session."""
    done = await store.sessions.make(workspace, session(workspace), [STARTED])
    return done.row.id


async def test_client_is_there_as_it_announced_itself_last(store: Store, beside: Store) -> None:
    """A repeat takes the place of what was announced; since when it is there stays."""
    mine = await made(store)
    row = client(mine, device="tablet")
    await store.clients.announce(W, row)
    assert await beside.clients.attached(W, mine, since=NOW) == (row,)

    again = structs.replace(row, announced_json="{}", first_at=NOW + 5, seen_at=NOW + 5)
    await beside.clients.announce(W, again)
    kept = structs.replace(again, first_at=NOW)
    assert await store.clients.attached(W, mine, since=NOW) == (kept,)
    assert await store.clients.client(W, mine, row.client) == kept


async def test_attached_are_those_seen_since_the_last_seen_first(store: Store) -> None:
    """A client gone for 60 s takes its announcement with it (contract section 9)."""
    mine = await made(store)
    rows = [client(mine, seen_at=NOW + number) for number in range(3)]
    for row in rows:
        await store.clients.announce(W, row)

    attached = await store.clients.attached(W, mine, since=NOW + 1)
    assert [row.client for row in attached] == [rows[2].client, rows[1].client]
    assert await store.clients.seen(W, mine, rows[0].client, at=NOW + 9)
    attached = await store.clients.attached(W, mine, since=NOW + 1)
    assert attached[0].client == rows[0].client
    assert await store.clients.detach(W, mine, rows[0].client)
    assert not await store.clients.detach(W, mine, rows[0].client)
    assert not await store.clients.seen(W, mine, rows[0].client, at=NOW)
    assert await store.clients.client(W, mine, rows[0].client) is None


async def test_nothing_is_kept_of_a_session_that_is_not_there(store: Store) -> None:
    """A tab that has not heard of the end leaves nothing behind."""
    await store.clients.announce(W, client("gone"))
    assert await store.clients.attached(W, "gone", since=0) == ()
    assert not await store.clients.offer(W, client_call("gone"))
    assert await store.clients.open_calls(W, "gone") == ()


async def test_call_is_offered_once_even_when_it_is_over(store: Store) -> None:
    """Nothing runs twice (contract section 9): not after a crash either."""
    mine = await made(store)
    row = client_call(mine, wanted="tab", idempotent=True)
    assert await store.clients.offer(W, row)
    assert not await store.clients.offer(W, structs.replace(row, tool="other"))
    assert await store.clients.call(W, mine, row.call) == row

    assert await store.clients.settle(W, mine, row.call, claim=None, ended_json='{"ok":1}')
    over = structs.replace(row, ended_json='{"ok":1}')
    assert await store.clients.call(W, mine, row.call) == over
    assert not await store.clients.offer(W, row)
    assert await store.clients.open_calls(W, mine) == ()


async def test_of_many_claims_at_once_one_wins(store: Store, beside: Store) -> None:
    """Exactly one client executes a call, whichever node it speaks to."""
    mine = await made(store)
    row = client_call(mine)
    await store.clients.offer(W, row)
    tries = [
        (one, f"client_{number}", fresh("claim")) for number in range(8) for one in (store, beside)
    ]
    found = await asyncio.gather(
        *(
            one.clients.claim(W, mine, row.call, client=name, claim=claim, at=NOW + 1)
            for one, name, claim in tries
        )
    )

    kept = await store.clients.call(W, mine, row.call)
    assert kept is not None
    assert (kept.claims, kept.claimed_at) == (1, NOW + 1)
    assert set(found) == {kept}
    assert (kept.client, kept.claim) in {(name, claim) for _, name, claim in tries}


async def test_call_ends_once_and_by_whoever_holds_it(store: Store, beside: Store) -> None:
    """Posting a result twice is harmless; another's claim ends nothing."""
    mine = await made(store)
    row = client_call(mine)
    await store.clients.offer(W, row)
    await store.clients.claim(W, mine, row.call, client="tab", claim="c1", at=NOW)

    assert not await store.clients.settle(W, mine, row.call, claim=None, ended_json="{}")
    assert not await store.clients.settle(W, mine, row.call, claim="c2", ended_json="{}")
    ends = [
        one.clients.settle(W, mine, row.call, claim="c1", ended_json=f'"{name}"')
        for name, one in (("a", store), ("b", beside))
    ]
    assert sorted(await asyncio.gather(*ends)) == [False, True]
    kept = await store.clients.call(W, mine, row.call)
    assert kept is not None
    assert kept.ended_json in {'"a"', '"b"'}
    assert (kept.client, kept.claim) == ("tab", "c1")
    assert await store.clients.claim(W, mine, row.call, client="x", claim="c", at=NOW) == kept


async def test_call_of_a_silent_client_waits_again(store: Store) -> None:
    """An idempotent one may be claimed by another; the first one's result comes too late."""
    mine = await made(store)
    row = client_call(mine, wanted="tab")
    await store.clients.offer(W, row)
    await store.clients.claim(W, mine, row.call, client="tab", claim="c1", at=NOW)

    assert not await store.clients.offer_again(W, mine, row.call, claim="c2")
    assert await store.clients.offer_again(W, mine, row.call, claim="c1")
    waits = structs.replace(row, wanted=None, claims=1)
    assert await store.clients.call(W, mine, row.call) == waits
    assert not await store.clients.settle(W, mine, row.call, claim="c1", ended_json="{}")
    taken = await store.clients.claim(W, mine, row.call, client="two", claim="c3", at=NOW)
    assert taken is not None
    assert (taken.client, taken.claims) == ("two", 2)
    assert await store.clients.settle(W, mine, row.call, claim="c3", ended_json="{}")
    assert not await store.clients.offer_again(W, mine, row.call, claim="c3")


async def test_open_calls_come_in_the_order_they_were_offered(store: Store) -> None:
    """Calls to one client run one after another (contract section 9, "Order")."""
    mine, other = await made(store), await made(store)
    rows = [client_call(mine, offered_at=NOW + due) for due in (3, 1, 2)]
    for row in (*rows, client_call(other)):
        await store.clients.offer(W, row)

    assert await store.clients.open_calls(W, mine) == (rows[1], rows[2], rows[0])


async def test_clients_of_another_workspace_are_not_there(store: Store) -> None:
    """Wrong workspace and unknown id answer the same (contract section 10)."""
    mine = await made(store)
    row, call = client(mine), client_call(mine)
    await store.clients.announce(W, row)
    await store.clients.offer(W, call)
    claim = {"client": "tab", "claim": "c"}

    assert await store.clients.client(OTHER, mine, row.client) is None
    assert await store.clients.attached(OTHER, mine, since=0) == ()
    assert not await store.clients.seen(OTHER, mine, row.client, at=NOW)
    assert not await store.clients.detach(OTHER, mine, row.client)
    assert await store.clients.call(OTHER, mine, call.call) is None
    assert await store.clients.open_calls(OTHER, mine) == ()
    assert await store.clients.claim(OTHER, mine, call.call, **claim, at=NOW) is None
    assert not await store.clients.settle(OTHER, mine, call.call, claim=None, ended_json="{}")
    with pytest.raises(ValueError, match="another workspace"):
        await store.clients.announce(OTHER, row)
    assert await store.clients.call(W, mine, call.call) == call
