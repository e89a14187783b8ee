"""Repeated requests: one runs, the others get its answer (contract section 10)."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from remit.gateway.ledger import (
    Fresh,
    InProgress,
    Mismatch,
    Replay,
    RequestKey,
    StoredAnswer,
)
from remit.store.idempotency import KEPT_MS
from remit.store.store import Store
from tests.store.making import NODE, NOW, OTHER, W

REQUEST = RequestKey(key_id="k1", route="POST /v1/tools/scenes/place/call", key="abc")
ANSWER = StoredAnswer(status=202, headers_json='{"etag":"1"}', body='{"callId":"c1"}')
BEGIN = {"body_digest": "b1", "reference": "c1", "node": NODE, "at": NOW}


async def test_repeat_gets_the_stored_answer(store: Store, beside: Store) -> None:
    """Idempotency-Replayed: true."""
    assert await store.idempotency.begin(W, REQUEST, **BEGIN) == Fresh()
    assert await store.idempotency.finish(W, REQUEST, ANSWER, node=NODE)

    again = await beside.idempotency.begin(W, REQUEST, **{**BEGIN, "reference": "c2"})
    assert again == Replay(answer=ANSWER)
    assert not await store.idempotency.finish(W, REQUEST, ANSWER, node=NODE)
    assert not await store.idempotency.forget(W, REQUEST, node=NODE)


async def test_another_body_under_the_same_key_is_a_mismatch(store: Store) -> None:
    """422, while the first runs and after."""
    await store.idempotency.begin(W, REQUEST, **BEGIN)
    other = {**BEGIN, "body_digest": "b2"}

    assert await store.idempotency.begin(W, REQUEST, **other) == Mismatch()
    await store.idempotency.finish(W, REQUEST, ANSWER, node=NODE)
    assert await store.idempotency.begin(W, REQUEST, **other) == Mismatch()


async def test_key_is_the_callers_own(store: Store) -> None:
    """Per key and route: another workspace, API key, route or value is another request."""
    await store.idempotency.begin(W, REQUEST, **BEGIN)
    others = [
        (OTHER, REQUEST),
        (W, replace(REQUEST, key_id="k2")),
        (W, replace(REQUEST, route="POST /v1/apps")),
        (W, replace(REQUEST, key="ABC")),
    ]
    for workspace, request in others:
        assert await store.idempotency.begin(workspace, request, **BEGIN) == Fresh()


async def test_of_many_at_once_one_is_fresh(store: Store, beside: Store) -> None:
    """While the first runs, 409."""
    results = await asyncio.gather(
        *(
            node.idempotency.begin(W, REQUEST, **{**BEGIN, "reference": f"c{number}"})
            for number in range(10)
            for node in (store, beside)
        )
    )
    assert results.count(Fresh()) == 1
    assert sum(isinstance(result, InProgress) for result in results) == 19


async def test_answer_is_kept_for_a_day(store: Store) -> None:
    """24 h; then the key is free, and swept up."""
    await store.idempotency.begin(W, REQUEST, **BEGIN)
    await store.idempotency.finish(W, REQUEST, ANSWER, node=NODE)

    late = {**BEGIN, "at": NOW + KEPT_MS - 1}
    assert await store.idempotency.begin(W, REQUEST, **late) == Replay(answer=ANSWER)
    over = {**BEGIN, "at": NOW + KEPT_MS}
    assert await store.idempotency.begin(W, REQUEST, **over) == Fresh()
    assert await store.work.forget_answers(at=NOW + KEPT_MS) == 0
    assert await store.work.forget_answers(at=NOW + 2 * KEPT_MS) == 1


async def test_request_of_a_dead_node_says_what_it_set_out_to_make(store: Store) -> None:
    """Whoever repeats it looks the call up instead of making a second one."""
    await store.work.join(NODE, at=NOW, lease_ms=1_000)
    await store.idempotency.begin(W, REQUEST, **BEGIN)
    repeat = {**BEGIN, "reference": "c2", "node": "node-2"}

    running = await store.idempotency.begin(W, REQUEST, **{**repeat, "at": NOW + 999})
    assert running == InProgress(reference="c1", abandoned=False)
    assert not await store.idempotency.take_over(W, REQUEST, node="node-2", at=NOW + 999)
    left = await store.idempotency.begin(W, REQUEST, **{**repeat, "at": NOW + 1_000})
    assert left == InProgress(reference="c1", abandoned=True)


async def test_abandoned_request_is_taken_over_once(store: Store, beside: Store) -> None:
    """Of two nodes one goes on, each time, and the dead one's answer no longer counts."""
    for node in ("n1", "n2"):
        await store.work.join(node, at=NOW, lease_ms=1_000)
    for number in range(20):
        request = replace(REQUEST, key=f"key-{number}")
        await store.idempotency.begin(W, request, **{**BEGIN, "node": "dead"})
        taken = await asyncio.gather(
            store.idempotency.take_over(W, request, node="n1", at=NOW),
            beside.idempotency.take_over(W, request, node="n2", at=NOW),
        )
        assert sorted(taken) == [False, True]
        assert not await store.idempotency.finish(W, request, ANSWER, node="dead")


async def test_forgotten_request_is_fresh_again(store: Store) -> None:
    """A fault of ours is not an answer to be repeated."""
    await store.idempotency.begin(W, REQUEST, **BEGIN)

    assert not await store.idempotency.forget(OTHER, REQUEST, node=NODE)
    assert await store.idempotency.forget(W, REQUEST, node=NODE)
    assert await store.idempotency.begin(W, REQUEST, **BEGIN) == Fresh()
