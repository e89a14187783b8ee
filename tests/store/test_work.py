"""What nodes claim: polls that are due, and what a dead node left."""

from __future__ import annotations

import asyncio

from remit.gateway.ledger import CallRow
from remit.store.store import Store
from tests.store.making import NOW, OTHER, W, act, call, draft, input_of, waiting, yes


def polling(workspace: str = W, **fields: object) -> CallRow:
    """A call whose job runs."""
    given = {"next_poll_at": NOW, "polls_left": 5, "node": None, "private": "url", **fields}
    return call(workspace, status="polling", **given)


async def test_due_polls_go_to_one_node_each(store: Store, beside: Store) -> None:
    """Two nodes that look at once share the work and poll nothing twice (section 6)."""
    rows = [polling(W if number % 2 else OTHER) for number in range(40)]
    await asyncio.gather(*(store.calls.plan(row.workspace, row) for row in rows))

    claims = await asyncio.gather(
        *(
            node.work.due_polls(name, at=NOW, limit=7, claim_ms=1_000)
            for _ in range(4)
            for name, node in (("n1", store), ("n2", beside))
        )
    )

    claimed = [row.id for claim in claims for row in claim]
    assert sorted(claimed) == sorted(row.id for row in rows)
    assert all(len(claim) <= 7 for claim in claims)


async def test_poll_waits_for_its_time_the_longest_due_first(store: Store) -> None:
    """``pollIntervalMs`` is kept (contract section 6)."""
    later, first, second = (polling(next_poll_at=NOW + due) for due in (9, 1, 2))
    for row in (later, first, second):
        await store.calls.plan(W, row)
    assert await store.work.next_poll_at() == NOW + 1

    due = await store.work.due_polls("n1", at=NOW + 2, limit=1, claim_ms=50)
    assert [row.id for row in due] == [first.id]
    due = await store.work.due_polls("n1", at=NOW + 2, limit=9, claim_ms=50)
    assert [row.id for row in due] == [second.id]


async def test_poll_of_a_node_that_died_is_due_again(store: Store) -> None:
    """Polling is rows: it survives restarts (contract section 6)."""
    row = polling()
    await store.calls.plan(W, row)

    assert len(await store.work.due_polls("n1", at=NOW, limit=9, claim_ms=1_000)) == 1
    assert await store.work.due_polls("n2", at=NOW + 999, limit=9, claim_ms=1_000) == ()
    assert len(await store.work.due_polls("n2", at=NOW + 1_000, limit=9, claim_ms=1_000)) == 1


async def test_poll_of_a_node_that_died_does_not_wait_for_its_claim_to_be_over(
    store: Store,
) -> None:
    """Whoever joins finds the node dead and its polls due; those of the living stay theirs."""
    of_dead, of_alive = polling(), polling(OTHER)
    await store.work.join("alive", at=NOW, lease_ms=9_000)
    for row, node in ((of_dead, "dead"), (of_alive, "alive")):
        await store.calls.plan(row.workspace, row)
        assert len(await store.work.due_polls(node, at=NOW, limit=9, claim_ms=8_000)) == 1
    await store.work.join("n1", at=NOW + 1, lease_ms=9_000)

    due = await store.work.due_polls("n1", at=NOW + 1, limit=9, claim_ms=8_000)
    assert [row.id for row in due] == [of_dead.id]
    await store.work.join("n1", at=NOW + 2, lease_ms=9_000)
    assert await store.work.due_polls("n1", at=NOW + 2, limit=9, claim_ms=8_000) == ()

    # On SQLite a restart takes all of them.
    await store.work.join("n2", at=NOW + 3, lease_ms=9_000, alone=True)
    due = await store.work.due_polls("n2", at=NOW + 3, limit=9, claim_ms=8_000)
    assert sorted(row.id for row in due) == sorted([of_dead.id, of_alive.id])


async def test_poll_is_counted_once(store: Store) -> None:
    """A node that wakes up late does not take a poll from the budget a second time."""
    row = polling()
    await store.calls.plan(W, row)
    again = {"polls_left": 5, "next_poll_at": NOW + 700, "at": NOW + 1}

    assert await store.work.reschedule_poll(W, row.id, **again)
    assert not await store.work.reschedule_poll(W, row.id, **again)
    assert not await store.work.reschedule_poll(OTHER, row.id, **{**again, "polls_left": 4})
    kept = await store.calls.get(W, row.id)
    assert kept is not None
    assert (kept.polls_left, kept.next_poll_at, kept.node) == (4, NOW + 700, None)


async def test_calls_of_a_dead_node_are_claimed_by_one_other(store: Store, beside: Store) -> None:
    """Recovery is a lease that ran out (architecture section 3)."""
    await store.work.join("dead", at=NOW - 5_000, lease_ms=3_000)
    await store.work.join("alive", at=NOW, lease_ms=3_000)
    left = [call(node="dead"), call(OTHER, node="dead"), call(node="dead", status="planned")]
    kept = [
        call(node="alive"),
        call(node="n1"),
        call(node="dead", status="done", outcome="ok"),
        waiting(),
        polling(node="dead"),
    ]
    for row in left + kept:
        await store.calls.plan(row.workspace, row)

    claims = await asyncio.gather(
        store.work.abandoned("n1", at=NOW, limit=9), beside.work.abandoned("n1", at=NOW, limit=9)
    )
    assert sorted(row.id for claim in claims for row in claim) == sorted(row.id for row in left)
    assert {row.node for claim in claims for row in claim} == {"n1"}


async def test_two_nodes_that_find_a_dead_one_share_what_it_left(
    store: Store, beside: Store
) -> None:
    """Each call goes to one of them, at whatever moment the other looks."""
    for node in ("n1", "n2"):
        await store.work.join(node, at=NOW, lease_ms=1_000)
    rows = [call(node="dead") for _ in range(60)]
    await asyncio.gather(*(store.calls.plan(W, row) for row in rows))

    claims = await asyncio.gather(
        *(
            one.work.abandoned(name, at=NOW, limit=3)
            for _ in range(15)
            for name, one in (("n1", store), ("n2", beside))
        )
    )

    claimed = [row.id for claim in claims for row in claim]
    assert len(claimed) == len(set(claimed))
    rest = await store.work.abandoned("n1", at=NOW, limit=99)
    assert sorted([*claimed, *(row.id for row in rest)]) == sorted(row.id for row in rows)


async def test_node_keeps_its_calls_while_its_lease_is_renewed(store: Store) -> None:
    """A slow node is not a dead one."""
    row = call(node="slow")
    await store.calls.plan(W, row)
    await store.work.join("slow", at=NOW, lease_ms=1_000)
    await store.work.join("slow", at=NOW + 900, lease_ms=1_000)

    assert await store.work.abandoned("n1", at=NOW + 1_899, limit=9) == ()
    assert len(await store.work.abandoned("n1", at=NOW + 1_900, limit=9)) == 1


async def test_node_that_leaves_or_starts_alone_frees_what_was_left(store: Store) -> None:
    """On SQLite a restart need not wait for the lease of the process before."""
    first, second = call(node="a"), call(node="b")
    for row in (first, second):
        await store.calls.plan(W, row)
    for node in ("a", "b"):
        await store.work.join(node, at=NOW, lease_ms=60_000)

    await store.work.leave("a")
    assert [row.id for row in await store.work.abandoned("n1", at=NOW, limit=9)] == [first.id]
    await store.work.join("n1", at=NOW, lease_ms=60_000, alone=True)
    assert [row.id for row in await store.work.abandoned("n1", at=NOW, limit=9)] == [second.id]


async def test_answered_call_of_a_dead_node_is_not_forgotten(store: Store) -> None:
    """An approval whose node died before the send is gone on with by another."""
    row = waiting()
    waits = input_of(row)
    await store.calls.plan_waiting(W, row, waits)
    assert await store.work.abandoned("n1", at=NOW, limit=9) == ()

    await store.inputs.answer(W, waits.id, yes(node="dead"), act=act())
    assert [found.id for found in await store.work.abandoned("n1", at=NOW, limit=9)] == [row.id]


async def test_suspension_cancels_inputs_and_stops_polls_of_that_app_alone(store: Store) -> None:
    """Open inputs are cancelled, polls stop (contract section 7); all at once."""
    await store.versions.submit(W, draft(), installation="i1", act=act())
    row = waiting()
    waits = input_of(row)
    await store.calls.plan_waiting(W, row, waits)
    other = waiting(app="notes")
    await store.calls.plan_waiting(W, other, input_of(other))
    poll, foreign = polling(next_poll_at=NOW + 60_000), polling(OTHER)
    for one in (poll, foreign):
        await store.calls.plan(one.workspace, one)

    stopped = await store.apps.suspend(W, "scenes", reason="leak", node="n1", act=act())

    assert stopped is not None
    assert stopped.app.suspended_reason == "leak"
    assert [(one.id, one.status) for one in stopped.inputs] == [(waits.id, "cancelled")]
    assert [one.id for one in stopped.polls] == [poll.id]
    due = await store.work.due_polls("n2", at=NOW + 5, limit=9, claim_ms=9)
    assert [one.id for one in due] == [foreign.id]
    assert len(await store.inputs.of_call(W, other.id)) == 1
    assert (await store.inputs.of_call(W, other.id))[0].status == "open"


async def test_time_of_the_store_is_about_now(store: Store) -> None:
    """Leases run by the database's time where nodes share it."""
    first = await store.now_ms()
    assert first > NOW
    assert await store.now_ms() >= first
    await store.ping()
