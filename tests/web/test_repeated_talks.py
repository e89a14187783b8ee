"""A session and a message that are repeated for want of an answer (contract section 10)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from remit.errors import StoreUnavailable
from remit.gateway.conversing import Acted, SessionRow
from remit.gateway.records import AuditEntry
from remit.session.events import Data
from tests import databases
from tests.web.api import Api, problem

pytestmark = databases.on_each_database

JSON = {"accept": "application/json"}


@pytest.fixture
def answers_are_lost(api: Api, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """What is done is committed, and its answer is not kept: as if the process died in between."""

    async def fails(*_: object, **__: object) -> bool:
        raise StoreUnavailable("The database does not answer.")

    monkeypatch.setattr(api.stage.server.store.idempotency, "finish", fails)
    return monkeypatch


async def test_message_whose_answer_was_lost_is_in_the_log_once(
    api: Api, answers_are_lost: pytest.MonkeyPatch
) -> None:
    """The repeat is told of the first one: a second would have its writes made twice."""
    session = await api.session()
    path, headers = f"/v1/sessions/{session}/messages", {"idempotency-key": "m-1"}
    lost = await api.post(path, {"text": "Hello"}, who="tab", headers=headers)
    answers_are_lost.undo()
    again = await api.post(path, {"text": "Hello"}, who="tab", headers=headers)

    problem(lost, 503, "store_unavailable")
    assert again.status_code == 202, again.text
    events = (await api.get(f"/v1/sessions/{session}/events", headers=JSON)).json()["events"]
    said = [one for one in events if one["type"] == "message"]
    assert [(one["seq"], one["data"]["runId"]) for one in said] == [
        (again.json()["seq"], again.json()["runId"])
    ]


async def test_session_whose_creation_got_no_answer_is_made_once(
    api: Api, answers_are_lost: pytest.MonkeyPatch
) -> None:
    """The repeat has the session that the first one made, and a token that works."""
    body, headers = {"apps": ["acme"], "user": "ana"}, {"idempotency-key": "s-1"}
    lost = await api.post("/v1/sessions", body, headers=headers)
    answers_are_lost.undo()
    again = await api.post("/v1/sessions", body, headers=headers)

    problem(lost, 503, "store_unavailable")
    assert again.status_code == 201, again.text
    listed = (await api.get("/v1/sessions")).json()["items"]
    assert [one["id"] for one in listed] == [again.json()["id"]]
    api.keys["lost"] = again.json()["clientToken"]
    read = await api.get(f"/v1/sessions/{again.json()['id']}", who="lost")
    assert read.status_code == 200, read.text


async def test_creation_that_goes_on_after_its_repeat_makes_no_second_session(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node that was stopped in the middle finds what another one made meanwhile."""
    store = api.stage.server.store.sessions
    make = store.make

    async def makes_twice(
        workspace: str, row: SessionRow, first: Sequence[Data], *, act: AuditEntry
    ) -> Acted:
        await make(workspace, row, first, act=act)
        return await make(workspace, row, first, act=act)

    monkeypatch.setattr(store, "make", makes_twice)
    body, headers = {"apps": ["acme"], "user": "ana"}, {"idempotency-key": "s-2"}
    made = await api.post("/v1/sessions", body, headers=headers)

    assert made.status_code == 201, made.text
    listed = (await api.get("/v1/sessions")).json()["items"]
    assert [one["id"] for one in listed] == [made.json()["id"]]
