"""The call ledger, on both databases."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from msgspec import structs

from remit.errors import RemitError, WrongUse
from remit.gateway.ledger import CallChange, CallFilter
from remit.store.store import Store
from tests.store.making import NODE, NOW, OTHER, W, call, input_of, waiting

FINISHED = {"outcome": "ok", "record_json": '{"done":true}', "at": NOW + 9}


async def test_planned_call_is_read_back_as_it_was_written(store: Store) -> None:
    """Numbers keep their digits and text its escapes (contract section 5)."""
    row = call(private='{"args":1}', deadline=NOW + 5, sent_at=NOW)

    assert await store.calls.plan(W, row)
    assert await store.calls.get(W, row.id) == row


async def test_call_is_there_for_another_process_once_plan_returned(
    store: Store, beside: Store
) -> None:
    """The intent is committed before the send (contract section 5, step 8)."""
    row = call()
    await store.calls.plan(W, row)

    assert await beside.calls.get(W, row.id) == row


async def test_second_plan_of_an_id_changes_nothing(store: Store) -> None:
    """A call is planned once; its id is the Idempotency-Key of the request."""
    row = call()
    await store.calls.plan(W, row)

    assert not await store.calls.plan(W, structs.replace(row, tool="another"))
    assert await store.calls.get(W, row.id) == row


async def test_model_call_of_one_response_is_planned_once(store: Store) -> None:
    """Models repeat call ids, in other responses: the key is session, response and call id."""
    row = call(session="s1", response_seq=3, model_call_id="call_0")
    again = structs.replace(row, id="another-id")
    later = structs.replace(row, id="later-id", response_seq=5)

    assert await store.calls.plan(W, row)
    assert not await store.calls.plan(W, again)
    assert await store.calls.plan(W, later)
    assert await store.calls.by_model_call(W, "s1", 3, "call_0") == row
    assert await store.calls.by_model_call(OTHER, "s1", 3, "call_0") is None


async def test_finish_ends_the_call_and_forgets_what_it_needed(store: Store) -> None:
    """What is private (frozen request, arguments) does not outlive the call."""
    row = call(private="frozen", deadline=NOW + 5, sent_at=NOW)
    await store.calls.plan(W, row)

    assert await store.calls.finish(W, row.id, was="sending", status="done", **FINISHED)
    assert await store.calls.get(W, row.id) == structs.replace(
        row, status="done", outcome="ok", record_json='{"done":true}', updated_at=NOW + 9,
        private=None, deadline=None, node=None,
    )  # fmt: skip


async def test_only_the_first_of_two_finishes_counts(store: Store, beside: Store) -> None:
    """A node that wakes up after another has settled its call changes nothing."""
    row = call()
    await store.calls.plan(W, row)
    done = store.calls.finish(W, row.id, was="sending", status="done", **FINISHED)
    unknown = beside.calls.finish(
        W, row.id, was="sending", status="unknown",
        **{**FINISHED, "outcome": "outcome_unknown"},
    )  # fmt: skip

    assert sorted(await asyncio.gather(done, unknown)) == [False, True]


async def test_finish_under_another_workspace_touches_nothing(store: Store) -> None:
    """Two ids on every query (threats, rule 7)."""
    row = call()
    await store.calls.plan(W, row)

    assert not await store.calls.finish(OTHER, row.id, was="sending", status="done", **FINISHED)
    assert await store.calls.get(W, row.id) == row


async def test_row_is_not_kept_under_another_workspace_than_its_own(store: Store) -> None:
    """The workspace comes first in every function, and a row that disagrees is a mistake."""
    with pytest.raises(ValueError, match="another workspace"):
        await store.calls.plan(OTHER, call(W))


@pytest.mark.parametrize(
    ("was", "status"),
    [("done", "sending"), ("sending", "denied"), ("polling", "sending"), ("planned", "unknown")],
)
async def test_move_that_the_table_does_not_have_is_refused(
    store: Store, was: str, status: str
) -> None:
    """After ``sending`` nothing is denied, after the end nothing happens."""
    row = call(status=was, outcome="ok" if was == "done" else None)
    await store.calls.plan(W, row)

    with pytest.raises(ValueError, match=f"from {was} to {status}"):
        await store.calls.move(W, row.id, was=was, change=CallChange(status=status, at=NOW))
    assert await store.calls.get(W, row.id) == row


async def test_move_changes_only_what_it_names(store: Store) -> None:
    """A field that is left out stays as it is."""
    row = call(status="planned", private="frozen", deadline=NOW + 5)
    await store.calls.plan(W, row)
    change = CallChange(status="sending", at=NOW + 1, node="node-2", sent_at=NOW + 1)

    assert await store.calls.move(W, row.id, was="planned", change=change)
    assert await store.calls.get(W, row.id) == structs.replace(
        row, status="sending", updated_at=NOW + 1, node="node-2", sent_at=NOW + 1
    )


async def test_ended_call_without_an_outcome_is_refused_by_the_database(store: Store) -> None:
    """A mistake of ours does not become a row that nobody can read; the message has no values."""
    with pytest.raises(RemitError, match="refused what was to be kept") as raised:
        await store.calls.plan(W, call(status="done", record_json="canary-value"))
    assert "canary-value" not in str(raised.value)
    assert raised.value.__cause__ is None


async def test_call_and_its_input_are_planned_together_or_not_at_all(store: Store) -> None:
    """A waiting call without an input would wait for ever."""
    row = waiting()
    opened = input_of(row)
    assert await store.calls.plan_waiting(W, row, opened)
    assert await store.inputs.get(W, opened.id) == opened

    second = waiting()
    clash = replace(input_of(second), id=opened.id)
    with pytest.raises(RemitError):
        await store.calls.plan_waiting(W, second, clash)
    assert await store.calls.get(W, second.id) is None
    assert not await store.calls.plan_waiting(W, row, input_of(row))


FILTERS = [
    (CallFilter(), {"a", "b", "c", "d"}),
    (CallFilter(app="scenes"), {"a", "b", "c"}),
    (CallFilter(tool="delete_scene"), {"b"}),
    (CallFilter(user="bob"), {"c"}),
    (CallFilter(session="s1"), {"d"}),
    (CallFilter(outcome="error"), {"b"}),
    (CallFilter(status="sending"), {"a", "c"}),
    (CallFilter(category="read"), {"c"}),
    (CallFilter(danger_level="destructive"), {"b"}),
    (CallFilter(since=NOW + 2), {"c", "d"}),
    (CallFilter(until=NOW + 2), {"a", "b"}),
    (CallFilter(app="scenes", user="ada", since=NOW + 1), {"b"}),
    (CallFilter(user="nobody"), set()),
]


async def test_list_holds_what_its_filters_say(store: Store) -> None:
    """Filters are equal-to; times count in from, and out until (contract section 10)."""
    rows = [
        call(id="a", at=NOW),
        call(
            id="b", at=NOW + 1, tool="delete_scene", danger_level="destructive",
            status="failed", outcome="error",
        ),
        call(id="c", at=NOW + 2, user="bob", category="read"),
        call(id="d", at=NOW + 3, app="notes", session="s1", status="planned"),
        call(OTHER, id="e", at=NOW),
    ]  # fmt: skip
    for row in rows:
        await store.calls.plan(row.workspace, row)

    for which, expected in FILTERS:
        page = await store.calls.list(W, which)
        assert {row.id for row in page.items} == expected, which
        assert page.next is None


async def test_pages_neither_repeat_nor_lose_rows_while_others_come_in(store: Store) -> None:
    """Cursors are stable under inserts, also where many rows have one time."""
    before = [call(at=NOW + number // 3) for number in range(10)]
    await asyncio.gather(*(store.calls.plan(W, row) for row in before))
    seen: list[str] = []
    cursor = None
    while True:
        page = await store.calls.list(W, limit=3, cursor=cursor)
        seen += [row.id for row in page.items]
        cursor = page.next
        await store.calls.plan(W, call(at=NOW + 100))
        if cursor is None:
            break

    expected = sorted(before, key=lambda row: (row.at, row.id), reverse=True)
    assert seen == [row.id for row in expected]


@pytest.mark.parametrize("cursor", ["", "x", "W10", "WzEsMl0", "WyJhIiwiYiJd", "é", "W" * 9999])
async def test_cursor_of_nobody_is_wrong_use(store: Store, cursor: str) -> None:
    """A cursor is text of a caller: a broken one is said, and reaches no query."""
    with pytest.raises(WrongUse, match="cursor"):
        await store.calls.list(W, cursor=cursor)


@pytest.mark.parametrize("limit", [0, -1, 501])
async def test_limit_out_of_bounds_is_wrong_use(store: Store, limit: int) -> None:
    """Lists take 1 to 500 (contract section 10)."""
    with pytest.raises(WrongUse, match="limit"):
        await store.calls.list(W, limit=limit)


async def test_calls_of_a_run_are_those_sent_or_waiting(store: Store) -> None:
    """Limits count what was sent or waits to be, not what was refused (section 18)."""
    run = {"run": "r1", "session": "s1", "response_seq": 1}
    rows = [
        call(model_call_id="1", sent_at=NOW, **run),
        call(model_call_id="2", category="read", sent_at=NOW, status="done", outcome="ok", **run),
        waiting(model_call_id="3", **run),
        call(model_call_id="4", status="denied", outcome="denied", **run),
        call(model_call_id="5", status="failed", outcome="error", **run),
        call(model_call_id="6", status="unknown", outcome="outcome_unknown", sent_at=NOW, **run),
        call(model_call_id="7", **{**run, "run": "r2"}),
        call(OTHER, model_call_id="8", **run),
    ]
    for row in rows:
        await store.calls.plan(row.workspace, row)

    assert await store.calls.of_run(W, "r1") == (4, 3)
    assert await store.calls.of_run(W, "none") == (0, 0)


async def test_tokens_add_up_by_user_and_day(store: Store) -> None:
    """``tokensPerUserDay`` is of one user and one day in UTC (contract section 18)."""
    day = 86_400_000
    await asyncio.gather(*(store.usage.add_tokens(W, "ada", tokens=100, at=NOW) for _ in range(20)))
    await store.usage.add_tokens(W, "ada", tokens=7, at=NOW + day)
    await store.usage.add_tokens(OTHER, "ada", tokens=9, at=NOW)

    assert await store.usage.tokens_of_day(W, "ada", at=NOW) == 2_000
    assert await store.usage.tokens_of_day(W, "ada", at=NOW + day) == 7
    assert await store.usage.tokens_of_day(W, "bob", at=NOW) == 0


async def test_waiting_call_rests_until_somebody_works_on_it(store: Store) -> None:
    """``rests`` takes the node off, so that no death of a node matters to it."""
    row = call(status="sending")
    await store.calls.plan(W, row)
    change = CallChange(status="polling", at=NOW, rests=True, next_poll_at=NOW + 500, polls_left=3)
    await store.calls.move(W, row.id, was="sending", change=change)

    kept = await store.calls.get(W, row.id)
    assert kept is not None
    assert (kept.node, kept.next_poll_at, kept.polls_left) == (None, NOW + 500, 3)
    assert row.node == NODE
