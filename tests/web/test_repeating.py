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
