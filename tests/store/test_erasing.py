"""Erasing a session: what was said, sent and answered goes; that something was done stays."""

from __future__ import annotations

import json
from dataclasses import replace

from msgspec import structs
from sqlalchemy import select

from remit.gateway.asking import input_json
from remit.gateway.conversing import Step
from remit.gateway.journal import recalled
from remit.gateway.ledger import CallFilter, InputFilter, RequestKey, StoredAnswer
from remit.main.telling import page_of
from remit.store.engine import open_engine
from remit.store.schema import metadata
from remit.store.store import Store
from tests.store.making import (
    NOW,
    OTHER,
    STARTED,
    W,
    act,
    call,
    client,
    client_call,
    entry,
    input_of,
    key,
    message,
    session,
    waiting,
    yes,
)

#: Stands wherever a person, a model or an app wrote something.
TEXT = "QUOKKA"

RECORD = json.dumps(
    {
        "id": "call_x", "at": "2026-11-30T12:00:00.000Z", "workspace": W, "user": "ada",
        "actor": "key:k1", "app": "scenes", "version": 1, "catalogDigest": "c1",
        "tool": "place_object", "offeredAs": "place_object", "source": "session",
        "sessionId": "s", "runId": "r", "seq": 2, "model": "m", "traceId": "t",
        "args": {"name": TEXT}, "argOrigins": {"name": "model"}, "repaired": [TEXT],
        "policy": [{"rule": "tool", "verdict": "ask", "reason": TEXT}],
        "request": {
            "method": "POST", "url": f"http://x/{TEXT}", "headers": {"x": TEXT},
            "body": {"name": TEXT}, "digest": "d1",
        },
        "connectionId": "conn_1", "account": TEXT, "attempts": [{"at": 1, "ms": 2, "status": 200}],
        "outcome": "error", "mapped": {"name": TEXT}, "content": TEXT, "misfit": TEXT,
        "display": {"renderer": "text", "data": TEXT},
        "error": {
            "code": "upstream_error", "message": TEXT, "tool": "place_object",
            "details": {"body": TEXT},
        },
    }
)  # fmt: skip


async def filled(store: Store, workspace: str = W) -> str:
    """The id of a session in which everything that can be there has the text in it."""
    row = session(workspace, title=TEXT)
    await store.sessions.make(workspace, row, [STARTED])
    said = Step(events=(message(TEXT),), entries=(entry(f'{{"text":"{TEXT}"}}'),))
    await store.sessions.act(workspace, row.id, lambda _: said, at=NOW)
    await store.clients.announce(workspace, client(row.id, workspace, announced_json=TEXT))
    await store.clients.offer(workspace, client_call(row.id, workspace, args_json=TEXT))
    token = key(workspace, role="client", user="ada", session=row.id)
    await store.keys.create(workspace, token, act=act(workspace))
    asked = waiting(
        workspace, session=row.id, response_seq=1, model_call_id="a", record_json=RECORD
    )
    waits = input_of(asked, body_json=json.dumps({"title": TEXT, "args": {"name": TEXT}}))
    await store.calls.plan_waiting(workspace, asked, waits)
    answer = yes(detail_json=json.dumps({"note": TEXT}))
    await store.inputs.answer(workspace, waits.id, answer, act=act(workspace))
    await store.calls.finish(
        workspace, asked.id, was="await_input", status="failed", outcome="error",
        record_json=RECORD, at=NOW + 5,
    )  # fmt: skip
    for route in (f"POST /v1/sessions/{row.id}/messages", f"POST /v1/inputs/{waits.id}/answer"):
        request = RequestKey(key_id=token.id, route=route, key="k")
        await store.idempotency.begin(
            workspace, request, body_digest="b", reference="r", node="n", at=NOW
        )
        stored = StoredAnswer(status=200, headers_json="{}", body=TEXT)
        await store.idempotency.finish(workspace, request, stored, node="n")
    return row.id


def tables_with(url: str, words: str) -> set[str]:
    """The tables that have rows with these words in them."""
    engine = open_engine(url, connections=1)
    with engine.connect() as connection:
        found = {
            table.name
            for table in metadata.sorted_tables
            if words in str(connection.execute(select(table)).all())
        }
    engine.dispose()
    return found


async def test_nothing_of_what_was_said_is_left(store: Store, url: str) -> None:
    """No text, argument or result, in any table (contract section 10, ``DELETE``)."""
    mine = await filled(store)
    assert tables_with(url, TEXT) == {
        "session", "session_event", "session_entry", "session_client", "client_call", "call",
        "input", "stored_answer",
    }  # fmt: skip

    assert await store.sessions.erase(W, mine, at=NOW + 9)
    assert not await store.sessions.erase(W, mine, at=NOW + 9)

    assert tables_with(url, TEXT) == set()
    assert await store.sessions.get(W, mine) is None
    assert await store.sessions.events(W, mine, after=0, limit=9) == ()
    assert await store.sessions.entries(W, mine) == ()
    assert await store.clients.attached(W, mine, since=0) == ()
    assert await store.clients.open_calls(W, mine) == ()
    assert (await store.keys.list(W, role="client")).items == ()
    assert await store.sessions.act(W, mine, lambda _: Step(), at=NOW) is None


async def test_that_something_was_done_stays(store: Store) -> None:
    """Ids, times, digests and outcomes, in the ledger and in the audit."""
    mine = await filled(store)
    audited = (await store.audit.list(W)).items
    (was,) = (await store.calls.list(W, CallFilter(session=mine))).items
    (asked,) = (await store.inputs.list(W, InputFilter(session=mine))).items
    await store.sessions.erase(W, mine, at=NOW + 9)

    assert (await store.audit.list(W)).items == audited
    (kept,) = (await store.calls.list(W, CallFilter(session=mine))).items
    assert structs.replace(kept, record_json="") == structs.replace(was, record_json="")
    record = json.loads(kept.record_json)
    before = json.loads(RECORD)
    for name in ("id", "at", "user", "actor", "app", "tool", "catalogDigest", "outcome"):
        assert record[name] == before[name], name
    assert record["request"] == {"method": "POST", "digest": "d1"}
    assert record["policy"] == [{"rule": "tool", "verdict": "ask"}]
    assert record["error"] == {"code": "upstream_error", "tool": "place_object"}
    assert record["erased"] is True
    # It can still be told how it ended, and shown as a page.
    assert (recalled(record).outcome, recalled(record).content) == ("error", "")
    assert "erased" in page_of(record, None)
    (left,) = (await store.inputs.list(W, InputFilter(session=mine))).items
    assert replace(left, body_json="", answer_json="") == replace(
        asked, body_json="", answer_json=""
    )
    assert input_json(left)["digest"] == asked.digest


async def test_other_sessions_keep_what_they_have(store: Store, url: str) -> None:
    """Of the same workspace, and one of the same id in another."""
    mine, other = await filled(store), await filled(store)
    foreign = await filled(store, OTHER)
    before = await store.sessions.events(W, other, after=0, limit=9)
    await store.sessions.erase(W, mine, at=NOW + 9)

    assert await store.sessions.events(W, other, after=0, limit=9) == before
    assert len(await store.sessions.entries(W, other)) == 1
    assert len((await store.keys.list(W, role="client")).items) == 1
    (row,) = (await store.calls.list(W, CallFilter(session=other))).items
    assert row.record_json == RECORD
    assert await store.sessions.get(OTHER, foreign) is not None
    assert tables_with(url, f"/v1/sessions/{other}/messages") == {"stored_answer"}
    assert tables_with(url, f"/v1/sessions/{foreign}/messages") == {"stored_answer"}
    assert tables_with(url, f"/v1/sessions/{mine}/messages") == set()
    assert not await store.sessions.erase(OTHER, other, at=NOW)


async def test_call_that_is_not_over_is_erased_when_it_is(store: Store, url: str) -> None:
    """What is on its way runs to its end (contract section 9); then its record goes too."""
    mine = await filled(store)
    row = call(session=mine, response_seq=2, model_call_id="b", record_json=RECORD, private=TEXT)
    await store.calls.plan(W, row)
    await store.sessions.erase(W, mine, at=NOW)
    await store.work.forget_answers(at=NOW)
    assert await store.calls.get(W, row.id) == row

    end = {"outcome": "ok", "record_json": RECORD, "at": NOW + 9}
    await store.calls.finish(W, row.id, was="sending", status="done", **end)
    await store.work.forget_answers(at=NOW)
    assert tables_with(url, TEXT) == set()
    assert tables_with(url, mine) == {"call", "input"}
