"""`Idempotency-Key` on every POST: once per key and route, for 24 h (contract section 10)."""

from __future__ import annotations

import asyncio

import pytest

from remit.errors import StoreUnavailable, UpstreamTimeout
from remit.web.repeating import digest_of
from tests import databases
from tests.gateway.fakes import answer
from tests.gateway.nodes import HeldEgress
from tests.web.api import Api, open_api, problem

ORDER = {"name": "chair", "amount": 1}
KEY = {"idempotency-key": "k-1"}

pytestmark = databases.on_each_database


async def test_repeat_gets_the_stored_answer_and_sends_nothing(api: Api) -> None:
    """The second one says that it is a replay."""
    first = await api.call("add_order", ORDER, headers=KEY)
    second = await api.call("add_order", ORDER, headers=KEY)

    assert "idempotency-replayed" not in first.headers
    assert second.headers["idempotency-replayed"] == "true"
    assert (second.status_code, second.content) == (first.status_code, first.content)
    assert second.headers["content-type"] == "application/json"
    assert len(api.stage.egress.sent) == 1


async def test_repeat_of_a_call_that_was_approved_meanwhile_has_its_result(api: Api) -> None:
    """Its first answer, that a person has to say yes, is not true any more."""
    first = (await api.call("refund", ORDER, headers=KEY)).json()
    waits = await api.call("refund", ORDER, headers=KEY)
    yes = {"decision": "approve"}
    await api.post(f"/v1/inputs/{first['inputId']}/answer", yes)
    await api.stage.settled()
    sent = len(api.stage.egress.sent)
    done = await api.call("refund", ORDER, headers=KEY)

    assert (waits.status_code, waits.json()) == (202, first)
    assert waits.headers["location"] == f"/v1/calls/{first['callId']}"
    assert done.status_code == 200
    assert done.headers["idempotency-replayed"] == "true"
    assert "location" not in done.headers
    assert (done.json()["callId"], done.json()["outcome"]) == (first["callId"], "ok")
    assert done.json()["result"] == {"total": 5}
    assert len(api.stage.egress.sent) == sent


async def test_repeat_of_a_call_that_a_suspension_ended_says_so(api: Api) -> None:
    """Nobody is told to wait for a person who cannot answer any more."""
    first = (await api.call("refund", ORDER, headers=KEY)).json()
    await api.post("/v1/apps/acme/suspend", {"reason": "It leaks"})
    await api.stage.settled()
    again = await api.call("refund", ORDER, headers=KEY)

    assert again.status_code == 200
    assert again.headers["idempotency-replayed"] == "true"
    assert again.json()["callId"] == first["callId"]
    assert again.json()["error"]["code"] == "app_suspended"


async def test_repeat_of_a_call_that_outlived_its_wait_has_its_result(store_url: str) -> None:
    """While the app is silent it is 202, which is true then; once it answered it is 200."""
    held = HeldEgress([])
    async with open_api(store_url, egress=held) as api:
        headers = {**KEY, "prefer": "wait=0"}
        first = await api.call("add_order", ORDER, headers=headers)
        assert (first.status_code, first.json()["outcome"]) == (202, "sending")
        silent = await api.call("add_order", ORDER, headers=headers)
        held.go.set()
        await api.stage.settled()
        done = await api.call("add_order", ORDER, headers=headers)

        assert (silent.status_code, silent.json()) == (202, first.json())
        assert silent.headers["idempotency-replayed"] == "true"
        assert (done.status_code, done.json()["outcome"]) == (200, "ok")
        assert done.headers["idempotency-replayed"] == "true"
        assert len(held.sent) == 1


async def test_repeat_of_a_polled_job_is_told_how_far_it_is(store_url: str) -> None:
    """202 polling while it runs, 200 with its result once it is done; no second job."""
    job = (answer({"id": "j1"}), answer({"status": "done", "url": "https://cdn.example/1"}))
    async with open_api(store_url, *job) as api:
        headers = {**KEY, "prefer": "wait=0"}
        first = (await api.call("render", ORDER, headers=headers)).json()
        await api.stage.settled()
        runs = await api.call("render", ORDER, headers=headers)
        api.stage.time.passed_ms += 1_000
        await api.stage.work()
        done = await api.call("render", ORDER, headers=headers)

        assert (runs.status_code, runs.json()["outcome"]) == (202, "polling")
        assert (done.status_code, done.json()["callId"]) == (200, first["callId"])
        assert done.json()["result"] == {"url": "https://cdn.example/1"}
        assert done.headers["idempotency-replayed"] == "true"
        assert [line.split()[0] for line in api.stage.egress.lines] == ["POST", "GET"]


async def test_repeat_of_another_post_gets_what_was_answered(api: Api) -> None:
    """Only a call is looked up anew: a grant that was taken back meanwhile was given then."""
    body = {"app": "acme", "user": "bob", "version": 1}
    first = await api.post("/v1/grants", body, headers=KEY)
    await api.send("DELETE", f"/v1/grants/{first.json()['id']}")
    again = await api.post("/v1/grants", body, headers=KEY)

    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["idempotency-replayed"] == "true"


async def test_other_body_is_422(api: Api) -> None:
    """Under the same key only the same request is a repeat."""
    await api.call("add_order", ORDER, headers=KEY)
    response = await api.call("add_order", {"name": "desk", "amount": 1}, headers=KEY)

    problem(response, 422, "idempotency_key_reused")
    assert len(api.stage.egress.sent) == 1


async def test_other_key_holder_and_other_route_are_others(api: Api) -> None:
    """It is honoured per key and route."""
    await api.call("add_order", ORDER, headers=KEY)
    await api.call("add_order", ORDER, headers=KEY, who="operator")
    await api.call("put_order", ORDER, headers=KEY)

    assert len(api.stage.egress.sent) == 3


async def test_while_the_first_runs_it_is_409(store_url: str) -> None:
    """And the answer is there once it ended."""
    held = HeldEgress([])
    async with open_api(store_url, egress=held) as api:
        first = asyncio.ensure_future(api.call("add_order", ORDER, headers=KEY))
        await held.left.wait()
        response = await api.call("add_order", ORDER, headers=KEY)
        problem(response, 409, "idempotency_in_progress")
        assert response.headers["retry-after"] == "1"
        held.go.set()
        ended = await first
        again = await api.call("add_order", ORDER, headers=KEY)
        assert again.content == ended.content
        assert len(held.sent) == 1


async def test_answer_that_could_not_be_kept_sends_no_second_write(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The repeat looks what became of the first, and sends nothing (contract section 5)."""
    idempotency = api.stage.server.store.idempotency
    keep = idempotency.finish

    async def fails(*_: object, **__: object) -> bool:
        raise StoreUnavailable("The database does not answer.")

    monkeypatch.setattr(idempotency, "finish", fails)
    problem(await api.call("add_order", ORDER, headers=KEY), 503, "store_unavailable")
    monkeypatch.setattr(idempotency, "finish", keep)
    again = await api.call("add_order", ORDER, headers=KEY)

    assert again.json()["outcome"] == "ok"
    assert len(api.stage.egress.sent) == 1


async def test_call_that_was_never_written_down_is_made_by_the_repeat(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the intent was not committed nothing was sent, and the repeat does it."""
    calls = api.stage.server.store.calls
    plan = calls.plan

    async def fails(*_: object, **__: object) -> bool:
        raise StoreUnavailable("The database does not answer.")

    monkeypatch.setattr(calls, "plan", fails)
    problem(await api.call("add_order", ORDER, headers=KEY), 503, "store_unavailable")
    monkeypatch.setattr(calls, "plan", plan)
    again = await api.call("add_order", ORDER, headers=KEY)

    assert again.json()["outcome"] == "ok"
    assert len(api.stage.egress.sent) == 1


async def test_call_of_a_dead_node_is_looked_up_by_the_next(store_url: str) -> None:
    """A client that repeats after a crash is told what became of its call; no second write."""
    held = HeldEgress([])
    async with open_api(store_url, egress=held) as api:
        store, at = api.stage.server.store, api.stage.time.unix_ms()
        await store.work.join("node-1", at=at, lease_ms=60_000, alone=True)
        waiting = asyncio.ensure_future(api.call("add_order", ORDER, headers=KEY))
        await held.left.wait()
        backend = api.keys["backend"]
        # The process dies here: its tasks are gone, its rows are not.
        for task in [waiting, *asyncio.all_tasks()]:
            if task is not asyncio.current_task():
                task.cancel()
        await asyncio.sleep(0)
        api.stage.faults.clear()
    async with open_api(store_url, answer({"total": 5}), name="node-2", furnished=False) as api:
        api.keys["backend"] = backend
        # In the same second of the fake clock the first node's lease still runs: it is gone now.
        await api.stage.worker.round()
        await api.stage.settled()
        again = await api.call("add_order", ORDER, headers=KEY)

        assert again.json()["outcome"] == "outcome_unknown"
        assert api.stage.egress.sent == []


async def test_refusal_is_kept_and_want_of_room_is_not(api: Api) -> None:
    """A repeat of a 429 may come through; that of a 403 is the same 403."""
    stage = api.stage
    await stage.policy({"match": {"tool": "add_order"}, "then": "deny", "reason": "No"})
    problem(await api.call("add_order", ORDER, headers=KEY), 403, "denied")
    await stage.policy()
    again = await api.call("add_order", ORDER, headers=KEY)
    problem(again, 403, "denied")
    assert again.headers["idempotency-replayed"] == "true"

    await stage.policy(limits={"tokensPerUserDay": 1})
    at = stage.time.unix_ms()
    await stage.server.store.usage.add_tokens("acme", "ana", tokens=5, at=at)
    other = {"idempotency-key": "k-2"}
    problem(await api.call("add_order", ORDER, headers=other), 429, "rate_limited")
    await stage.policy()
    assert (await api.call("add_order", ORDER, headers=other)).status_code == 200


async def test_unknown_outcome_is_kept(store_url: str) -> None:
    """A repeat of a write that may have happened does not make it happen twice."""
    fault = UpstreamTimeout("no answer", sent=True)
    async with open_api(store_url, fault) as api:
        first = await api.call("add_order", ORDER, headers=KEY)
        again = await api.call("add_order", ORDER, headers=KEY)

        assert first.json() == again.json()
        assert first.json()["error"]["mayHaveHappened"] is True
        assert len(api.stage.egress.sent) == 1


async def test_new_key_is_kept_sealed_for_its_repeat(api: Api, store_url: str) -> None:
    """The secret of a key stands nowhere in the clear, and the repeat still gets it."""
    body = {"role": "backend", "name": "ci"}
    first = await api.post("/v1/keys", body, headers=KEY)
    again = await api.post("/v1/keys", body, headers=KEY)

    assert first.status_code == again.status_code == 201
    assert first.json() == again.json()
    secret = first.json()["key"].encode()
    assert all(secret not in data for data in databases.kept(store_url).values())
    assert (await api.get("/v1/keys?role=backend")).json()["items"][1:] != []


async def test_what_is_kept_of_a_body_tells_nobody_what_it_was(store_url: str) -> None:
    """A short secret could be guessed from a plain digest; another node still knows a repeat."""
    async with open_api(store_url) as api:
        first = await api.call("add_order", ORDER, headers=KEY)
        media, backend = first.request.headers.get("content-type"), api.keys["backend"]
        plain = digest_of(b"", media, first.request.content).encode()
        kept = databases.kept(store_url).values()
    async with open_api(store_url, name="node-2", furnished=False) as api:
        api.keys["backend"] = backend
        again = await api.call("add_order", ORDER, headers=KEY)

    assert any(KEY["idempotency-key"].encode() in data for data in kept)
    assert not any(plain in data for data in kept)
    assert again.headers["idempotency-replayed"] == "true"
    assert again.content == first.content


@pytest.mark.parametrize("key", ["", "a b", "a\tb", "x" * 256])
async def test_key_that_is_none_is_422(api: Api, key: str) -> None:
    """Nothing is done under a key that cannot be told from others."""
    response = await api.call("add_order", ORDER, headers={"idempotency-key": key})

    problem(response, 422, "invalid_request")
    assert api.stage.egress.sent == []
