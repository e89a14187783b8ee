"""Sessions: each step whole or not at all, events in one order without gaps."""

from __future__ import annotations

import asyncio
import json

import pytest
from msgspec import structs

from remit.errors import RemitError, WrongUse
from remit.gateway.conversing import (
    Acted,
    LostLease,
    Queued,
    SessionApp,
    SessionFilter,
    SessionRow,
    Settings,
    Step,
    Task,
)
from remit.gateway.keeping import session_place
from remit.session.events import RunFinished, RunStarted, ToolCall, ToolResult, Usage
from remit.session.machine import NoSuchMove
from remit.store.store import Store
from tests.store.making import NOW, OTHER, STARTED, W, act, entry, message, sealed, session

RUN = RunStarted(run_id="run_1", model="m", instructions_digest="i", catalog_digests={})
END = RunFinished(
    run_id="run_1", reason="done",
    usage=Usage(input_tokens=1, output_tokens=2, cached_tokens=0, calls=0, ms=5),
)  # fmt: skip


def does(*events: object, **fields: object) -> Step:
    """A step of these events."""
    return Step(events=events, **fields)


async def made(store: Store, workspace: str = W, **fields: object) -> SessionRow:
    """A session that has begun."""
    done = await store.sessions.make(workspace, session(workspace, **fields), [STARTED])
    return done.row


async def test_session_is_read_back_as_it_was_made(store: Store, beside: Store) -> None:
    """All of its row, and its first event; on every node once ``make`` returned."""
    row = session(
        settings=Settings(
            apps=(SessionApp(id="scenes", version=3, pins=("scene",), tool_pins={"a": ("b",)}),),
            tools=("get_*",), instructions="Be brief.",
        ),
        task=Task(queued=(Queued(message_id="m", text="later", run_id="r"),), usage=(1, 2, 3)),
        title="Ümlaut", sealed=sealed(), due_at=NOW + 5,
    )  # fmt: skip
    done = await store.sessions.make(W, row, [STARTED])

    assert done.row == structs.replace(row, head_seq=1)
    assert await beside.sessions.get(W, row.id) == done.row
    assert await beside.sessions.events(W, row.id, after=0, limit=9) == done.events
    assert [(event.seq, event.type, event.at) for event in done.events] == [
        (1, "session_started", NOW)
    ]
    assert json.loads(done.events[0].data_json) == {
        "apps": [{"id": "scenes", "version": 1}], "user": "ada", "pins": ["scene"],
        "model": "test:model",
    }  # fmt: skip


async def test_step_keeps_all_that_it_says(store: Store) -> None:
    """Events, history and row are one commit; what is left out stays."""
    row = await made(store, title="kept", due_at=NOW)
    said = message("place a chair")
    task = Task(number=1, turns=2)

    done = await store.sessions.act(
        W, row.id,
        lambda _: does(said, RUN, entries=(entry(), entry(kind="results")), task=task, due_at=None),
        at=NOW + 7,
    )  # fmt: skip

    assert isinstance(done, Acted)
    assert [event.type for event in done.events] == ["message", "run_started", "status"]
    assert [event.seq for event in done.events] == [2, 3, 4]
    assert json.loads(done.events[2].data_json) == {"status": "running", "runId": "run_1"}
    kept = await store.sessions.get(W, row.id)
    assert kept == done.row
    assert kept is not None
    assert (kept.status, kept.head_seq, kept.entries, kept.task) == ("running", 4, 2, task)
    assert (kept.title, kept.due_at, kept.updated_at) == ("kept", None, NOW + 7)
    assert kept.settings == row.settings
    assert await store.sessions.events(W, row.id, after=1, limit=9) == done.events
    assert await store.sessions.entries(W, row.id) == (
        entry(number=1), entry(kind="results", number=2),
    )  # fmt: skip


async def test_step_changes_what_a_patch_changes(store: Store) -> None:
    """Settings, sealed pins and title (contract section 9, ``PATCH``), and back to none."""
    row = await made(store, sealed=sealed("b2xk"))
    settings = Settings(apps=(SessionApp(id="notes", version=2),), instructions="New.")

    done = await store.sessions.act(
        W, row.id, lambda _: does(settings=settings, sealed=sealed("bmV3"), title="New"), at=NOW
    )
    assert isinstance(done, Acted)
    assert await store.sessions.get(W, row.id) == done.row
    assert (done.row.settings, done.row.sealed, done.row.title) == (
        settings, sealed("bmV3"), "New",
    )  # fmt: skip
    notes = await store.sessions.list(W, SessionFilter(app="notes"))
    assert [found.id for found in notes.items] == [row.id]

    done = await store.sessions.act(W, row.id, lambda _: does(sealed=None, title=None), at=NOW)
    assert isinstance(done, Acted)
    assert (done.row.sealed, done.row.title) == (None, None)
    assert await store.sessions.get(W, row.id) == done.row


async def test_decision_against_a_step_changes_nothing(store: Store) -> None:
    """What ``decide`` returns instead is given back."""
    row = await made(store)

    assert await store.sessions.act(W, row.id, lambda seen: ("no", seen.id), at=NOW) == (
        "no", row.id,
    )  # fmt: skip
    assert await store.sessions.get(W, row.id) == row
    assert len(await store.sessions.events(W, row.id, after=0, limit=9)) == 1


async def test_events_that_cannot_happen_keep_nothing_and_hurt_nobody_beside(
    store: Store,
) -> None:
    """A mistake of ours is an error of its own step, whatever is committed with it."""
    wrong, right = await made(store), await made(store)
    steps = [
        store.sessions.act(W, wrong.id, lambda _: does(message(), END, entries=(entry(),)), at=NOW),
        store.sessions.act(W, right.id, lambda _: does(message()), at=NOW),
    ]
    failed, done = await asyncio.gather(*steps, return_exceptions=True)

    assert isinstance(failed, NoSuchMove)
    assert isinstance(done, Acted)
    assert await store.sessions.get(W, wrong.id) == wrong
    assert await store.sessions.entries(W, wrong.id) == ()


async def test_event_numbers_have_no_gaps_whoever_appends(store: Store, beside: Store) -> None:
    """Two nodes, sixty steps of one to three events at once: 1, 2, 3 … (contract section 9)."""
    row = await made(store)
    done = await asyncio.gather(
        *(
            (store if number % 2 else beside).sessions.act(
                W, row.id,
                lambda _, number=number: does(*[message(str(number))] * (1 + number % 3)),
                at=NOW + number,
            )
            for number in range(60)
        )
    )  # fmt: skip

    log = await store.sessions.events(W, row.id, after=0, limit=1_000)
    assert [event.seq for event in log] == list(range(1, len(log) + 1))
    assert len(log) == 1 + 120
    kept = await store.sessions.get(W, row.id)
    assert kept is not None
    assert kept.head_seq == len(log)
    # Those of one step stand together.
    for acted in done:
        assert isinstance(acted, Acted)
        first = acted.events[0].seq
        assert log[first - 1 : first - 1 + len(acted.events)] == acted.events


async def test_steps_of_many_sessions_in_any_order_are_all_taken(
    store: Store, beside: Store
) -> None:
    """Two nodes' transactions hold rows that the other waits for: none of them is lost."""
    rows = [await made(store) for _ in range(12)]
    work = [
        one.sessions.act(W, row.id, lambda _: does(message()), at=NOW)
        for _ in range(4)
        for one, order in ((store, rows), (beside, rows[::-1]))
        for row in order
    ]
    work += [one.sessions.wake(W, row.id, at=NOW) for row in rows for one in (beside, store)]
    await asyncio.gather(*work)

    for row in rows:
        kept = await store.sessions.get(W, row.id)
        assert kept is not None
        assert (kept.head_seq, kept.wakes, kept.due_at) == (9, 2, NOW)


async def test_decision_sees_all_steps_before_it(store: Store, beside: Store) -> None:
    """No two steps pass each other: of many that want the one run, one gets it."""
    row = await made(store)

    def begin(seen: SessionRow) -> Step | str:
        return does(RUN) if seen.status == "idle" else "busy"

    done = await asyncio.gather(
        *(one.sessions.act(W, row.id, begin, at=NOW) for _ in range(10) for one in (store, beside))
    )
    assert sum(isinstance(result, Acted) for result in done) == 1
    assert done.count("busy") == 19


async def test_state_follows_the_log(store: Store) -> None:
    """Open calls and the run are the fold of the events, kept with them."""
    row = await made(store)
    asked = ToolCall(
        call_id="call_1", app="scenes", tool="get", offered_as="get", title="Get",
        args={"n": 10**30, "text": "\ud800 ü"}, run_id="run_1",
    )  # fmt: skip
    await store.sessions.act(W, row.id, lambda _: does(message(), RUN, asked), at=NOW)
    kept = await store.sessions.get(W, row.id)
    assert kept is not None
    assert (kept.state.run, list(kept.state.calls)) == ("run_1", ["call_1"])
    log = await store.sessions.events(W, row.id, after=3, limit=1)
    assert json.loads(log[0].data_json)["args"] == {"n": 10**30, "text": "\ud800 ü"}

    told = ToolResult(call_id="call_1", outcome="ok", content="fine", run_id="run_1")
    done = await store.sessions.act(W, row.id, lambda _: does(told, END), at=NOW)
    assert isinstance(done, Acted)
    assert done.row.state.calls == {}
    assert (await store.sessions.get(W, row.id)) == done.row
    assert done.row.status == "idle"


async def test_events_come_in_pages(store: Store) -> None:
    """``?after=`` and a limit (contract section 10)."""
    row = await made(store)
    for number in range(5):
        await store.sessions.act(W, row.id, lambda _, n=number: does(message(str(n))), at=NOW)

    first = await store.sessions.events(W, row.id, after=0, limit=4)
    rest = await store.sessions.events(W, row.id, after=4, limit=4)
    assert [event.seq for event in first + rest] == [1, 2, 3, 4, 5, 6]
    assert await store.sessions.events(W, row.id, after=6, limit=4) == ()


async def test_sessions_of_another_workspace_are_not_there(store: Store) -> None:
    """Wrong workspace and unknown id answer the same (contract section 10)."""
    row = await made(store)
    await store.sessions.act(W, row.id, lambda _: does(entries=(entry(),)), at=NOW)

    assert await store.sessions.get(OTHER, row.id) is None
    assert await store.sessions.act(OTHER, row.id, lambda _: does(message()), at=NOW) is None
    assert await store.sessions.events(OTHER, row.id, after=0, limit=9) == ()
    assert await store.sessions.entries(OTHER, row.id) == ()
    assert await store.sessions.heads([(OTHER, row.id)]) == {}
    assert not await store.sessions.wake(OTHER, row.id, at=NOW)
    assert not await store.sessions.erase(OTHER, row.id, at=NOW)
    assert (await store.sessions.list(OTHER)).items == ()
    assert await store.sessions.get(W, row.id) is not None


async def test_audit_is_of_what_happened_alone(store: Store) -> None:
    """An entry is one commit with the act: none where there was none (contract section 10)."""
    row = session(W)
    await store.sessions.make(W, row, [STARTED], act=act(kind="made"))
    step = does(message(), act=act(kind="said"))
    await store.sessions.act(W, row.id, lambda _: step, at=NOW)

    with pytest.raises(RemitError):
        await store.sessions.make(W, row, [STARTED], act=act(kind="made again"))
    with pytest.raises(NoSuchMove):
        await store.sessions.act(
            W, row.id, lambda _: does(END, act=act(kind="could not be")), at=NOW
        )
    await store.sessions.act(OTHER, row.id, lambda _: does(act=act(OTHER)), at=NOW)
    assert not await store.sessions.erase(OTHER, row.id, at=NOW, act=act(OTHER))
    assert await store.sessions.erase(W, row.id, at=NOW, act=act(kind="erased"))
    assert not await store.sessions.erase(W, row.id, at=NOW, act=act(kind="erased again"))

    kinds = [entry.kind for entry in (await store.audit.list(W)).items]
    assert sorted(kinds) == ["erased", "made", "said"]
    assert (await store.audit.list(OTHER)).items == ()


async def test_id_is_made_once(store: Store) -> None:
    """A second session of an id is a mistake, and leaves the first alone."""
    row = await made(store)
    with pytest.raises(RemitError):
        await store.sessions.make(W, row, [STARTED])
    assert await store.sessions.get(W, row.id) == row
    with pytest.raises(ValueError, match="another workspace"):
        await store.sessions.make(OTHER, session(W), [STARTED])


async def test_heads_are_of_the_sessions_that_are_asked_for(store: Store) -> None:
    """Of any number, over all workspaces."""
    mine, other = await made(store), await made(store, OTHER)
    await store.sessions.act(W, mine.id, lambda _: does(message()), at=NOW)
    asked = [(W, mine.id), (OTHER, other.id), (W, other.id)]
    asked += [(W, f"unknown_{number}") for number in range(2_500)]

    assert await store.sessions.heads(asked) == {(W, mine.id): 2, (OTHER, other.id): 1}
    assert await store.sessions.heads([]) == {}


async def test_lists_filter_sessions(store: Store) -> None:
    """GET /v1/sessions?user=&status=&app=&from=&to=, the newest first."""
    first = await made(store, created_at=NOW)
    second = await made(store, created_at=NOW + 1, user="bob", settings=Settings())
    await made(store, OTHER)
    await store.sessions.act(W, second.id, lambda _: does(message(), RUN), at=NOW)

    async def found(**fields: object) -> list[str]:
        page = await store.sessions.list(W, SessionFilter(**fields))
        return [row.id for row in page.items]

    assert await found() == [second.id, first.id]
    assert await found(user="bob") == [second.id]
    assert await found(status="idle") == [first.id]
    assert await found(status="running") == [second.id]
    assert await found(app="scenes") == [first.id]
    assert await found(app="scene") == await found(app="SCENES") == await found(app="%") == []
    assert await found(since=NOW + 1) == [second.id]
    assert await found(until=NOW + 1) == [first.id]
    page = await store.sessions.list(W, limit=1)
    assert [row.id for row in page.items] == [second.id]
    page = await store.sessions.list(W, limit=1, cursor=page.next)
    assert ([row.id for row in page.items], page.next) == ([first.id], None)
    with pytest.raises(WrongUse):
        await store.sessions.list(W, cursor="mine")


async def test_step_of_a_lost_claim_is_not_taken(store: Store, beside: Store) -> None:
    """A node that slept while another took its session over writes nothing."""
    row = await made(store, due_at=NOW)
    (mine,) = await store.sessions.claim("n1", at=NOW, lease_ms=10, limit=1)
    (theirs,) = await beside.sessions.claim("n2", at=NOW + 10, lease_ms=10, limit=1)
    assert (mine.fence, theirs.fence) == (1, 2)
    late = store.sessions.act(W, row.id, lambda _: does(message()), at=NOW, fence=mine.fence)
    right = store.sessions.act(W, row.id, lambda _: does(message()), at=NOW, fence=theirs.fence)

    lost, done = await asyncio.gather(late, right, return_exceptions=True)
    assert isinstance(lost, LostLease)
    assert isinstance(done, Acted)
    assert len(await store.sessions.events(W, row.id, after=1, limit=9)) == 1


async def test_step_under_a_claim_clears_the_attempts(store: Store) -> None:
    """Claims that wrote nothing are counted; what others do beside is no progress of the run."""
    row = await made(store, due_at=NOW)
    for number in range(3):
        await store.sessions.claim("n1", at=NOW + 10 * number, lease_ms=10, limit=1)
    await store.sessions.act(W, row.id, lambda _: does(message()), at=NOW)
    kept = await store.sessions.get(W, row.id)
    assert kept is not None
    assert (kept.attempts, kept.fence) == (3, 3)

    done = await store.sessions.act(W, row.id, lambda _: does(message()), at=NOW, fence=3)
    assert isinstance(done, Acted)
    assert done.row.attempts == 0
    assert await store.sessions.get(W, row.id) == done.row


async def test_sealed_pins_are_found_when_keys_are_rotated(store: Store) -> None:
    """Everything sealed is listed and replaced where it stands (``keeping.SealedRows``)."""
    old, new = sealed("b2xk", key="dk1"), sealed("bmV3", key="dk2")
    row = await made(store, sealed=old)
    await made(store)
    await made(store, sealed=new)

    (found,) = await store.sealed_rows.under_other(W, "dk2", after="", limit=9)
    assert (found.place, found.sealed) == (session_place(W, "ada", row.id), old)
    assert await store.sealed_rows.replace(found, new)
    kept = await store.sessions.get(W, row.id)
    assert kept == structs.replace(row, sealed=new)
    assert await store.sealed_rows.under_other(W, "dk2", after="", limit=9) == ()
