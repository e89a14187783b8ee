"""Which node works on a session: one at a time, each in its turn, none forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Connection, Engine, event, text

from remit.gateway.conversing import Acted, SessionRow, Step
from remit.session.events import StatusChanged
from remit.store.engine import open_engine
from remit.store.schema import sessions
from remit.store.store import Store
from tests.store.making import NOW, OTHER, STARTED, W, act, draft, input_of, session, waiting, yes

RESTING = 100_000


async def made(store: Store, workspace: str = W, **fields: object) -> SessionRow:
    """A session; it rests unless ``due_at`` says otherwise."""
    done = await store.sessions.make(workspace, session(workspace, **fields), [STARTED])
    return done.row


async def read(store: Store, row: SessionRow) -> SessionRow:
    """A session as it is now."""
    found = await store.sessions.get(row.workspace, row.id)
    assert found is not None
    return found


async def claim(store: Store, node: str, at: int = NOW, limit: int = 9) -> list[str]:
    """The ids that a node gets."""
    rows = await store.sessions.claim(node, at=at, lease_ms=100, limit=limit)
    return [row.id for row in rows]


async def test_due_sessions_go_to_one_node_each(store: Store, beside: Store) -> None:
    """Two nodes that look at once share the work, over all workspaces."""
    rows = await asyncio.gather(
        *(made(store, W if number % 2 else OTHER, due_at=NOW) for number in range(40))
    )
    claims = await asyncio.gather(
        *(
            claim(one, name, limit=7)
            for _ in range(5)
            for name, one in (("n1", store), ("n2", beside))
        )
    )

    claimed = [found for each in claims for found in each]
    assert len(claimed) == len(set(claimed))
    assert all(len(each) <= 7 for each in claims)
    rest = await claim(store, "n1", limit=99)
    assert sorted([*claimed, *rest]) == sorted(row.id for row in rows)


async def test_claim_says_who_works_and_how_often_it_was_tried(store: Store) -> None:
    """``due_at`` stays, so that the session is found again should the node die."""
    row = await made(store, due_at=NOW - 3)
    (got,) = await store.sessions.claim("n1", at=NOW, lease_ms=100, limit=9)

    assert (got.node, got.lease_until, got.fence, got.attempts) == ("n1", NOW + 100, 1, 1)
    assert (got.due_at, got.state, got.settings) == (NOW - 3, row.state, row.settings)
    assert await read(store, row) == got


async def test_longest_due_comes_first_and_what_rests_never(store: Store) -> None:
    """Nobody waits behind those that came later."""
    later, first, second = [await made(store, due_at=NOW + due) for due in (9, 1, 2)]
    await made(store)
    assert await store.sessions.next_due_at() == NOW + 1

    assert await claim(store, "n1", NOW + 2, limit=1) == [first.id]
    assert await claim(store, "n1", NOW + 2) == [second.id]
    assert await claim(store, "n1", NOW + 2) == []
    assert await claim(store, "n1", NOW + 9) == [later.id]


async def test_session_of_a_silent_node_is_taken_over_when_its_lease_is_over(
    store: Store,
) -> None:
    """Not before, and with the next fence."""
    row = await made(store, due_at=NOW)
    await claim(store, "n1")

    assert await claim(store, "n2", NOW + 99) == []
    assert await store.sessions.next_due_at() == NOW + 100
    assert await claim(store, "n2", NOW + 100) == [row.id]
    assert ((await read(store, row)).node, (await read(store, row)).fence) == ("n2", 2)


async def test_claim_is_prolonged_by_whoever_has_it(store: Store, beside: Store) -> None:
    """And whoever lost one is told which."""
    mine, lost, other = [await made(store, due_at=NOW + number) for number in range(3)]
    await claim(store, "n1", NOW + 1)
    await claim(beside, "n2", NOW + 2)
    claims = [(row.workspace, row.id, 1) for row in (mine, lost, other)]

    assert await store.sessions.renew("n1", claims[:2], at=NOW + 50, lease_ms=100) == frozenset()
    assert (await read(store, mine)).lease_until == NOW + 150
    await beside.sessions.renew("n1", [claims[0]], at=NOW + 140, lease_ms=100)
    assert await claim(beside, "n2", NOW + 150) == [lost.id, other.id]

    gone = await store.sessions.renew(
        "n1", [*claims, (W, "unknown", 1)], at=NOW + 160, lease_ms=100
    )
    assert gone == {(W, lost.id), (W, other.id), (W, "unknown")}
    assert (await read(store, mine)).lease_until == NOW + 260
    assert await store.sessions.renew("n1", [], at=NOW, lease_ms=1) == frozenset()


async def test_session_that_is_given_back_is_free_at_once(store: Store) -> None:
    """With what is still to be done, or to rest."""
    row = await made(store, due_at=NOW)
    await claim(store, "n1")
    step = Step(release=True)
    done = await store.sessions.act(W, row.id, lambda _: step, at=NOW, fence=1)

    assert isinstance(done, Acted)
    assert (done.row.node, done.row.lease_until) == (None, None)
    assert await claim(store, "n2", NOW + 1) == [row.id]
    rests = Step(release=True, due_at=None)
    await store.sessions.act(W, row.id, lambda _: rests, at=NOW, fence=2)
    assert await claim(store, "n2", NOW + 1_000) == []
    assert await store.sessions.next_due_at() is None


async def test_waking_makes_due_by_then_and_counts(store: Store) -> None:
    """What is due sooner stays so; whoever works on it sees that somebody asked again."""
    row = await made(store)
    for at, due_at in ((NOW + 9, NOW + 9), (NOW + 5, NOW + 5), (NOW + 7, NOW + 5)):
        assert await store.sessions.wake(W, row.id, at=at)
        assert (await read(store, row)).due_at == due_at
    assert (await read(store, row)).wakes == 3
    assert not await store.sessions.wake(W, "unknown", at=NOW)

    done = await store.sessions.act(W, row.id, lambda _: Step(wakes=True), at=NOW)
    assert isinstance(done, Acted)
    assert done.row.wakes == (await read(store, row)).wakes == 4


async def test_closed_session_is_not_woken(store: Store) -> None:
    """Nothing happens in it any more."""
    row = await made(store)
    closed = Step(events=(StatusChanged(status="closed"),))
    await store.sessions.act(W, row.id, lambda _: closed, at=NOW)

    assert not await store.sessions.wake(W, row.id, at=NOW)
    assert (await read(store, row)).due_at is None


async def test_restart_and_leave_free_what_was_held(store: Store) -> None:
    """On SQLite a restart need not wait for the lease of the process before."""
    first, second = [await made(store, due_at=NOW + number) for number in range(2)]
    for node in ("a", "b"):
        await store.work.join(node, at=NOW, lease_ms=60_000)
    assert await claim(store, "a", NOW) == [first.id]
    assert await claim(store, "b", NOW + 1) == [second.id]

    await store.work.join("c", at=NOW + 1, lease_ms=60_000)
    assert await claim(store, "c", NOW + 1) == []
    await store.work.leave("a")
    assert await claim(store, "c", NOW + 1) == [first.id]
    await store.work.join("d", at=NOW + 1, lease_ms=60_000, alone=True)
    assert await claim(store, "d", NOW + 1) == [first.id, second.id]


async def test_session_is_due_when_its_input_is_answered(store: Store, beside: Store) -> None:
    """The answer and that somebody looks are one commit (contract section 9)."""
    row = await made(store)
    call = waiting(session=row.id, response_seq=1, model_call_id="a")
    waits = input_of(call)
    await store.calls.plan_waiting(W, call, waits)
    assert await claim(store, "n1") == []

    await beside.inputs.answer(W, waits.id, yes(at=NOW + 5), act=act())
    assert ((await read(store, row)).due_at, (await read(store, row)).wakes) == (NOW + 5, 1)
    await store.inputs.answer(W, waits.id, yes(at=NOW + 6), act=act())
    assert (await read(store, row)).wakes == 1


@pytest.mark.parametrize("how", ["expired", "late", "withdrawn", "suspended"])
async def test_session_is_due_when_its_input_is_closed(store: Store, how: str) -> None:
    """However an input ends, its session is looked at."""
    row, other = await made(store), await made(store)
    call = waiting(session=row.id, response_seq=1, model_call_id="a")
    waits = input_of(call, expires_at=NOW + 10)
    await store.calls.plan_waiting(W, call, waits)
    await store.versions.submit(W, draft(), installation="i1", act=act())

    if how == "expired":
        await store.inputs.expire("n1", at=NOW + 10, limit=9)
    elif how == "late":
        await store.inputs.answer(W, waits.id, yes(at=NOW + 10), act=act())
    elif how == "withdrawn":
        await store.inputs.withdraw(W, session=row.id, at=NOW + 10, node="n1")
    else:
        await store.apps.suspend(W, "scenes", reason="leak", node="n1", act=act(at=NOW + 10))

    kept = await store.inputs.get(W, waits.id)
    assert kept is not None
    assert kept.status != "open"
    assert ((await read(store, row)).due_at, (await read(store, row)).wakes) == (NOW + 10, 1)
    assert (await read(store, other)).wakes == 0


@contextmanager
def statements() -> Iterator[list[tuple[str, object]]]:
    """What is sent to a database about sessions, as the drivers get it."""
    seen: list[tuple[str, object]] = []

    def see(_connection: object, _cursor: object, sql: str, values: object, *_: object) -> None:
        if "session" in sql:
            seen.append((sql, values))

    event.listen(Engine, "before_cursor_execute", see)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", see)


def fill(connection: Connection) -> None:
    """Many sessions that rest, and a few that are due or held."""
    blank = session()
    columns = {
        **{name: getattr(blank, name) for name in blank.__struct_fields__},
        "sealed_by": None, "row_id": None, "status": "idle", "apps": (),
    }  # fmt: skip
    rows = [{**columns, "id": f"s{number}"} for number in range(RESTING)]
    rows[7] |= {"due_at": NOW}
    rows[8] |= {"due_at": NOW, "node": "dead", "lease_until": NOW - 1}
    rows[9] |= {"due_at": NOW, "node": "alive", "lease_until": NOW + 1}
    connection.execute(sessions.insert(), rows)


async def test_sessions_that_rest_cost_nothing(store: Store, url: str) -> None:
    """Whoever looks for work reads partial indexes alone, however many sessions rest."""
    engine = open_engine(url, connections=1)
    with engine.begin() as connection:
        fill(connection)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE session"))
    with statements() as said:
        assert await claim(store, "n1") == ["s7", "s8"]
        assert await store.sessions.next_due_at() == NOW + 1
    plans: list[str] = []
    with engine.connect() as connection:
        explain = "EXPLAIN " if engine.dialect.name == "postgresql" else "EXPLAIN QUERY PLAN "
        for sql, values in said:
            rows = connection.exec_driver_sql(explain + sql, values).all()
            plans.append("\n".join(" ".join(map(str, row)) for row in rows))
    engine.dispose()

    assert len(plans) == 3
    for plan in plans:
        assert "ix_session_due" in plan or "ix_session_node" in plan, plan
        assert "Seq Scan on session" not in plan, plan
        assert "SCAN session\n" not in f"{plan}\n", plan
