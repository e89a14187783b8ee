"""Clients of a session over HTTP: announced, asked, answering (contract section 9)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests import databases
from tests.gateway.client_stage import OPEN, asked
from tests.gateway.conversations import ask
from tests.web.api import Api, open_api, problem

pytestmark = databases.on_each_database

HAS: dict[str, Any] = {"tools": [OPEN]}
LINES = ([ask("open_order", raw='{"id": "42"}')], "Done.")


@pytest.fixture
async def tab(store_url: str) -> AsyncIterator[Api]:
    """The API with a session that is waiting for a client's tool; its token is under ``tab``."""
    async with open_api(store_url, lines=LINES) as api:
        await api.device("laptop")
        api.talk.id = await api.session(device="laptop")
        path = f"/v1/sessions/{api.talk.id}"
        assert (await api.put(f"{path}/clients/tab-1", HAS, who="tab")).status_code == 200
        body = {"text": "Open it.", "clientId": "tab-1"}
        assert (await api.post(f"{path}/messages", body, who="tab")).status_code == 202
        await api.talk.work()
        yield api
        assert api.faults == []


async def test_client_executes_what_the_agent_asks_for(tab: Api) -> None:
    """Announced, claimed, answered: the run goes on with its result."""
    path = f"/v1/sessions/{tab.talk.id}"
    assert (await tab.get(path)).json()["status"] == "waiting_client"
    call = f"{path}/calls/{await asked(tab.talk)}"

    claimed = await tab.post(f"{call}/claim", {"clientId": "tab-1"}, who="tab")
    assert claimed.status_code == 200, claimed.text
    held = claimed.json()
    assert (held["tool"], held["args"]) == ("open_order", {"id": "42"})
    assert held["timeoutMs"] == 120_000
    result = {"claim": held["claim"], "result": {"opened": True}}
    posted = await tab.post(f"{call}/result", result, who="tab")
    again = await tab.post(f"{call}/result", result, who="tab")
    await tab.talk.work()

    assert (posted.status_code, again.status_code) == (204, 204)
    assert (await tab.get(path)).json()["status"] == "idle"
    (told,) = await tab.talk.data("tool_result")
    assert told["content"] == '{"opened":true}'


async def test_result_that_is_left_out_is_null(tab: Api) -> None:
    """As JavaScript sends ``undefined``."""
    call = f"/v1/sessions/{tab.talk.id}/calls/{await asked(tab.talk)}"
    held = (await tab.post(f"{call}/claim", {"clientId": "tab-1"}, who="tab")).json()
    posted = await tab.post(f"{call}/result", {"claim": held["claim"]}, who="tab")
    await tab.talk.work()

    assert posted.status_code == 204
    assert [one["content"] for one in await tab.talk.data("tool_result")] == ["null"]


async def test_error_of_a_client_is_told_to_the_agent(tab: Api) -> None:
    """With its own words."""
    call = f"/v1/sessions/{tab.talk.id}/calls/{await asked(tab.talk)}"
    held = (await tab.post(f"{call}/claim", {"clientId": "tab-1"}, who="tab")).json()
    both = {"claim": held["claim"], "result": 1, "error": {"message": "No"}}
    problem(await tab.post(f"{call}/result", both, who="tab"), 422, "invalid_request")
    posted = await tab.post(
        f"{call}/result",
        {"claim": held["claim"], "error": {"message": "There is no order 42."}},
        who="tab",
    )
    await tab.talk.work()

    assert posted.status_code == 204
    (told,) = await tab.talk.data("tool_result")
    assert "There is no order 42." in told["content"]
    assert told["display"]["error"]["code"] == "client_error"


async def test_result_over_what_it_may_have_ends_the_call(tab: Api) -> None:
    """The route takes more than a result may have, so that the call ends in words."""
    call = f"/v1/sessions/{tab.talk.id}/calls/{await asked(tab.talk)}"
    held = (await tab.post(f"{call}/claim", {"clientId": "tab-1"}, who="tab")).json()
    large = {"claim": held["claim"], "result": "x" * (1024 * 1024 + 1)}
    posted = await tab.post(f"{call}/result", large, who="tab")
    await tab.talk.work()

    assert posted.status_code == 204
    (told,) = await tab.talk.data("tool_result")
    assert told["display"]["error"]["code"] == "unserializable_result"


async def test_client_claims_nothing_that_is_not_its_own(tab: Api) -> None:
    """Another client gets 409, a client of another session 404, and so does an unknown call."""
    await tab.session(who="other tab")
    path = f"/v1/sessions/{tab.talk.id}"
    call = f"{path}/calls/{await asked(tab.talk)}"
    body = {"clientId": "tab-1"}
    problem(await tab.post(f"{call}/claim", body, who="other tab"), 404, "not_found")
    problem(await tab.post(f"{path}/calls/call_0/claim", body, who="tab"), 404, "not_found")
    unannounced = {"clientId": "tab-2"}
    problem(await tab.post(f"{call}/claim", unannounced, who="tab"), 409, "claim_refused")
    held = (await tab.post(f"{call}/claim", body, who="tab")).json()

    await tab.put(f"{path}/clients/tab-2", HAS, who="tab")
    problem(await tab.post(f"{call}/claim", unannounced, who="tab"), 409, "claim_refused")
    forged = {"claim": f"{held['claim']}x", "result": 1}
    problem(await tab.post(f"{call}/result", forged, who="tab"), 409, "claim_refused")
    assert (await tab.post(f"{call}/claim", body, who="tab")).json() == held


async def test_late_result_changes_nothing(tab: Api) -> None:
    """409 call_over, which says how the call ended."""
    path = f"/v1/sessions/{tab.talk.id}"
    call = f"{path}/calls/{await asked(tab.talk)}"
    held = (await tab.post(f"{call}/claim", {"clientId": "tab-1"}, who="tab")).json()
    tab.stage.time.passed_ms += 40_000
    await tab.talk.work()

    late = await tab.post(f"{call}/result", {"claim": held["claim"], "result": 1}, who="tab")

    problem(late, 409, "call_over")
    (told,) = await tab.talk.data("tool_result")
    assert told["outcome"] == "outcome_unknown"


async def test_announcement_that_cannot_be_used_says_everything_at_once(api: Api) -> None:
    """422 with a finding for each mistake, and nothing of it is kept."""
    session = await api.session()
    path = f"/v1/sessions/{session}/clients/tab-1"
    wrong = {"tools": [{**OPEN, "name": "load_skill"}, {**OPEN, "parameters": 7}]}

    refused = problem(await api.put(path, wrong, who="tab"), 422, "invalid_request")

    assert len(refused["findings"]) >= 2
    assert await api.talks.clients.client("acme", session, "tab-1") is None
    for body in ({"tools": {}}, {"tools": [7]}, {"tool": []}):
        problem(await api.put(path, body, who="tab"), 422, "invalid_request")


async def test_detached_client_is_gone(api: Api) -> None:
    """Twice is harmless; a heartbeat repeats the announcement."""
    session = await api.session()
    path = f"/v1/sessions/{session}/clients/tab-1"
    announced = await api.put(path, HAS, who="tab")
    assert announced.json() == {"leaseMs": 30_000}
    assert (await api.put(path, HAS, who="tab")).json() == {"leaseMs": 30_000}

    assert (await api.send("DELETE", path, who="tab")).status_code == 204
    assert (await api.send("DELETE", path, who="tab")).status_code == 204
    assert await api.talks.clients.attached("acme", session, since=0) == ()


async def test_repeated_claim_gets_the_answer_of_the_first(tab: Api) -> None:
    """A lost answer is asked for again (contract section 10, ``Idempotency-Key``)."""
    call = f"/v1/sessions/{tab.talk.id}/calls/{await asked(tab.talk)}"
    headers = {"idempotency-key": "c-1"}
    body = {"clientId": "tab-1"}
    first = await tab.post(f"{call}/claim", body, who="tab", headers=headers)
    again = await tab.post(f"{call}/claim", body, who="tab", headers=headers)

    assert again.headers["idempotency-replayed"] == "true"
    assert again.json() == first.json()
