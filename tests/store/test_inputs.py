"""Inputs: one answer decides, whoever answers and whenever."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from remit.gateway.ledger import (
    Answered,
    AnsweredOtherwise,
    CallChange,
    CallRow,
    InputFilter,
    InputRow,
    Repeated,
    StaleDigest,
)
from remit.store.store import Store
from tests.store.making import NODE, NOW, OTHER, W, act, call, input_of, waiting, yes


async def opened(store: Store, workspace: str = W, **fields: object) -> tuple[CallRow, InputRow]:
    """A call that waits, and its open input."""
    row = waiting(workspace)
    row_input = input_of(row, **fields)
    await store.calls.plan_waiting(workspace, row, row_input)
    return row, row_input


async def test_first_answer_decides_and_the_node_goes_on(store: Store) -> None:
    """The answer and who goes on are one commit (contract section 9)."""
    row, waits = await opened(store)
    answer = yes(node="node-7", detail_json='{"note":"fine"}')

    result = await store.inputs.answer(W, waits.id, answer, act=act(kind="input.answered"))

    decided = replace(
        waits, status="approved", answered_by="user:ada", answered_at=NOW + 1,
        answer_json='{"note":"fine"}',
    )  # fmt: skip
    assert result == Answered(input=decided)
    assert await store.inputs.get(W, waits.id) == decided
    kept = await store.calls.get(W, row.id)
    assert kept is not None
    assert (kept.status, kept.node) == ("await_input", "node-7")
    assert [entry.kind for entry in (await store.audit.list(W)).items] == ["input.answered"]


async def test_same_answer_of_the_same_actor_again_gets_the_stored_one(store: Store) -> None:
    """A double click is no conflict (contract section 9), and is recorded once."""
    _, waits = await opened(store)
    first = await store.inputs.answer(W, waits.id, yes(), act=act())
    again = await store.inputs.answer(W, waits.id, yes(at=NOW + 99), act=act())

    assert isinstance(first, Answered)
    assert again == Repeated(input=first.input)
    assert len((await store.audit.list(W)).items) == 1


@pytest.mark.parametrize(
    "other",
    [
        yes(by="user:bob"),
        yes(status="denied"),
        yes(detail_json='{"note":"another"}'),
    ],
)
async def test_another_answer_conflicts_and_changes_nothing(store: Store, other: object) -> None:
    """Anything else after the first is 409 with the first (contract section 9)."""
    _, waits = await opened(store)
    first = await store.inputs.answer(W, waits.id, yes(), act=act())
    assert isinstance(first, Answered)

    result = await store.inputs.answer(W, waits.id, other, act=act())
    assert result == AnsweredOtherwise(input=first.input)


async def test_of_many_answers_at_once_exactly_one_decides(store: Store, beside: Store) -> None:
    """Two nodes, twenty people, one moment: one yes or one no."""
    _, waits = await opened(store)
    answers = [
        (store if number % 2 else beside).inputs.answer(
            W, waits.id,
            yes(by=f"user:{number}", status="approved" if number % 3 else "denied"),
            act=act(),
        )
        for number in range(20)
    ]  # fmt: skip
    results = await asyncio.gather(*answers)

    decided = [result for result in results if isinstance(result, Answered)]
    assert len(decided) == 1
    assert {result.input for result in results if result is not None} == {decided[0].input}
    assert len((await store.audit.list(W)).items) == 1


async def test_answer_to_another_request_than_was_shown_is_stale(store: Store) -> None:
    """409 stale_digest; the input stays open for whoever looks again."""
    _, waits = await opened(store, digest="shown-now")

    stale = await store.inputs.answer(W, waits.id, yes(digest="shown-before"), act=act())
    assert stale == StaleDigest(input=waits)
    right = await store.inputs.answer(W, waits.id, yes(digest="shown-now"), act=act())
    assert isinstance(right, Answered)


async def test_answer_that_comes_too_late_finds_the_input_expired(store: Store) -> None:
    """Its time is over at ``expires_at``, whether or not anybody swept it up yet."""
    row, waits = await opened(store, expires_at=NOW + 10)

    result = await store.inputs.answer(W, waits.id, yes(at=NOW + 10, node="n2"), act=act())

    assert isinstance(result, AnsweredOtherwise)
    assert result.input.status == "expired"
    kept = await store.calls.get(W, row.id)
    assert kept is not None
    assert kept.node == "n2"
    assert (await store.audit.list(W)).items == ()


async def test_inputs_of_another_workspace_are_not_there(store: Store) -> None:
    """Wrong workspace and unknown id answer the same (contract section 10)."""
    _, waits = await opened(store)

    assert await store.inputs.get(OTHER, waits.id) is None
    assert await store.inputs.answer(OTHER, waits.id, yes(), act=act(OTHER)) is None
    assert await store.inputs.answer(W, "unknown", yes(), act=act()) is None
    assert await store.inputs.of_call(OTHER, waits.call) == ()
    assert await store.inputs.withdraw(OTHER, call=waits.call, at=NOW, node=NODE) == ()
    assert await store.inputs.get(W, waits.id) == waits


async def test_expiry_closes_what_is_over_and_nothing_else(store: Store) -> None:
    """24 h by default (contract section 9); over all workspaces, each once."""
    over = [await opened(store, expires_at=NOW + number) for number in range(3)]
    foreign = await opened(store, OTHER, expires_at=NOW)
    _, still = await opened(store, expires_at=NOW + 11)
    assert await store.inputs.next_expiry_at() == NOW

    first = await store.inputs.expire("n2", at=NOW + 10, limit=2)
    second = await store.inputs.expire("n2", at=NOW + 10, limit=9)

    expected = {row.id for _, row in over} | {foreign[1].id}
    assert len(first) == 2
    assert {row.id for row in first + second} == expected
    assert {row.status for row in first + second} == {"expired"}
    assert await store.inputs.get(W, still.id) == still
    kept = await store.calls.get(W, over[0][0].id)
    assert kept is not None
    assert kept.node == "n2"


async def test_call_has_at_most_one_open_input(store: Store) -> None:
    """A chain of cards is several inputs, one after the other (architecture section 3)."""
    row, waits = await opened(store)
    second = input_of(row)
    move = CallChange(status="await_input", at=NOW + 5)

    assert not await store.inputs.open(W, second, was="await_input", change=move)
    await store.inputs.answer(W, waits.id, yes(), act=act())
    assert await store.inputs.open(W, second, was="await_input", change=move)

    both = await store.inputs.of_call(W, row.id)
    assert {one.id for one in both} == {waits.id, second.id}
    kept = await store.calls.get(W, row.id)
    assert kept is not None
    assert kept.node is None


async def test_call_does_not_leave_an_input_that_is_open(store: Store) -> None:
    """Nothing is sent, and nothing ends, while a person is asked (promise of approval)."""
    row, waits = await opened(store)
    send = CallChange(status="sending", at=NOW, sent_at=NOW)
    end = {"status": "failed", "outcome": "cancelled", "record_json": "{}", "at": NOW}

    assert not await store.calls.move(W, row.id, was="await_input", change=send)
    assert not await store.calls.finish(W, row.id, was="await_input", **end)
    assert await store.calls.get(W, row.id) == row
    await store.inputs.withdraw(W, call=row.id, at=NOW, node=NODE)
    assert await store.calls.finish(W, row.id, was="await_input", **end)
    assert (await store.inputs.of_call(OTHER, row.id)) == ()
    assert waits.status == "open"


async def test_input_opens_only_while_its_call_is_what_it_was(store: Store) -> None:
    """Both or neither: the call moved on, so that there is nothing to ask."""
    row = call(status="sending")
    await store.calls.plan(W, row)
    card = input_of(row, kind="action")
    move = CallChange(status="await_input", at=NOW, record_json='{"card":true}')

    assert not await store.inputs.open(W, card, was="planned", change=move)
    assert await store.inputs.get(W, card.id) is None
    assert await store.inputs.open(W, card, was="sending", change=move)
    kept = await store.calls.get(W, row.id)
    assert kept is not None
    assert (kept.status, kept.record_json) == ("await_input", '{"card":true}')


async def test_withdrawal_of_a_session_cancels_its_open_inputs(store: Store) -> None:
    """People correct by typing (contract section 9); other sessions keep theirs."""
    mine = waiting(session="s1", response_seq=1, model_call_id="a")
    other = waiting(session="s2", response_seq=1, model_call_id="a")
    for row in (mine, other):
        await store.calls.plan_waiting(W, row, input_of(row))

    closed = await store.inputs.withdraw(W, session="s1", at=NOW + 1, node=NODE)
    assert [(row.call, row.status) for row in closed] == [(mine.id, "cancelled")]
    assert await store.inputs.withdraw(W, session="s1", at=NOW + 1, node=NODE) == ()
    with pytest.raises(ValueError, match="one call or of one session"):
        await store.inputs.withdraw(W, at=NOW, node=NODE)


async def test_lists_filter_inputs(store: Store) -> None:
    """GET /v1/inputs?status=&user=&app=&session= (contract section 10)."""
    _, first = await opened(store, created_at=NOW)
    _, second = await opened(store, created_at=NOW + 1)
    await opened(store, OTHER)
    await store.inputs.answer(W, first.id, yes(), act=act())

    assert [row.id for row in (await store.inputs.list(W)).items] == [second.id, first.id]
    open_ones = await store.inputs.list(W, InputFilter(status="open", user="ada", app="scenes"))
    assert [row.id for row in open_ones.items] == [second.id]
    assert (await store.inputs.list(W, InputFilter(session="s1"))).items == ()
    assert (await store.inputs.list(W, InputFilter(call=first.call))).items[0].id == first.id
