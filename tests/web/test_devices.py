"""Devices over HTTP, and what is made for them (contract section 10)."""

from __future__ import annotations

from typing import Any

import pytest

from tests import databases
from tests.web.api import Api, problem

pytestmark = databases.on_each_database

PHONE: dict[str, Any] = {"user": "ana", "name": "Ana's phone"}


async def registered(api: Api, device: str = "ph-1", **more: object) -> dict[str, Any]:
    """A device, registered."""
    made = await api.put(f"/v1/devices/{device}", {**PHONE, **more}, who="backend")
    assert made.status_code == 200, made.text
    return made.json()


async def test_device_is_registered_listed_and_deleted(api: Api) -> None:
    """By the back end's key; the same again changes nothing, another name renames."""
    first = await registered(api)
    assert first == {**PHONE, "id": "ph-1", "createdAt": first["createdAt"]}
    assert await registered(api) == first
    renamed = await registered(api, name="Old phone")
    assert renamed == {**first, "name": "Old phone"}
    other = await registered(api, "ben%2Flaptop", user="ben", name="Laptop")
    assert other["id"] == "ben/laptop"

    listed = (await api.get("/v1/devices?user=ana", who="backend")).json()
    assert listed == {"items": [renamed], "next": None}
    assert len((await api.get("/v1/devices")).json()["items"]) == 2
    gone = await api.send("DELETE", "/v1/devices/ph-1", who="backend")
    assert gone.status_code == 204
    problem(await api.send("DELETE", "/v1/devices/ph-1"), 404, "not_found")
    assert (await api.get("/v1/devices?user=ana")).json()["items"] == []


async def test_device_of_another_user_is_a_conflict(api: Api) -> None:
    """It is said whose mend it is; the other keeps it."""
    await registered(api)
    refused = problem(
        await api.put("/v1/devices/ph-1", {"user": "ben", "name": "Mine"}), 409, "device_taken"
    )
    assert "another user" in refused["detail"]
    (only,) = (await api.get("/v1/devices")).json()["items"]
    assert only["user"] == "ana"


async def test_session_and_tokens_are_for_registered_devices_alone(api: Api) -> None:
    """422 in words for one that is unknown or another user's, and no session is there after it."""
    await registered(api, "ben-1", user="ben", name="Ben's")
    for device in ("ph-1", "ben-1", ""):
        body = {"apps": [], "user": "ana", "device": device}
        refused = problem(await api.post("/v1/sessions", body), 422, "invalid_request")
        assert "Register it first" in refused["detail"] or "device must be" in refused["detail"]
    assert (await api.get("/v1/sessions")).json()["items"] == []

    path = f"/v1/sessions/{await api.session()}/tokens"
    problem(await api.post(path, {"device": "ph-1"}), 422, "invalid_request")
    problem(await api.post(path, {"device": "ben-1"}), 422, "invalid_request")
    await registered(api)
    assert (await api.post(path, {"device": "ph-1"})).status_code == 201


async def test_client_tokens_die_with_their_device(api: Api) -> None:
    """What is on it is signed out at once; the session goes on elsewhere."""
    await registered(api)
    session = await api.session(device="ph-1")
    path = f"/v1/sessions/{session}"
    assert (await api.get(path, who="tab")).status_code == 200
    assert (await api.send("DELETE", "/v1/devices/ph-1", who="backend")).status_code == 204

    problem(await api.get(path, who="tab"), 401, "unauthorized")
    # Made without a device, though its session was made on one: it is for none.
    api.keys["again"] = (await api.post(f"{path}/tokens")).json()["clientToken"]
    assert (await api.get(path, who="again")).status_code == 200
    keys = (await api.get("/v1/keys?role=client&limit=500")).json()["items"]
    alive = [one for one in keys if one.get("session") == session and "revokedAt" not in one]
    assert ["device" in one for one in alive] == [False]


async def test_device_was_seen_when_a_client_on_it_sent_something(api: Api) -> None:
    """To the minute; by nobody else's request."""
    await registered(api)
    session = await api.session(device="ph-1")
    assert "lastSeenAt" not in await registered(api)
    await api.get(f"/v1/sessions/{session}", who="backend")
    await api.stage.settled()
    assert "lastSeenAt" not in await registered(api)
    await api.get(f"/v1/sessions/{session}", who="tab")
    await api.stage.settled()
    assert (await registered(api))["lastSeenAt"] == (await registered(api))["createdAt"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"user": "ana"}, 'the body has no "name"'),
        ({"user": "a b", "name": "x"}, "no blank"),
        ({"user": "ana", "name": " "}, "needs a name"),
        ({"user": "ana", "name": "x", "current": True}, 'the body has "current"'),
    ],
    ids=("no-name", "blank", "empty", "unknown"),
)
async def test_device_that_cannot_be_meant_is_refused(
    api: Api, body: dict[str, Any], words: str
) -> None:
    """422 in a plain sentence, and no device is there after it."""
    refused = problem(await api.put("/v1/devices/ph-1", body), 422, "invalid_request")
    assert words in refused["detail"]
    assert (await api.get("/v1/devices")).json()["items"] == []


async def test_devices_are_told_to_keys_alone(api: Api) -> None:
    """An agent's token and a page's have no business with them."""
    await registered(api)
    session = await api.session(device="ph-1")
    for who in ("ana", "tab"):
        problem(await api.get("/v1/devices?user=ana", who=who), 403, "forbidden")
        problem(await api.put("/v1/devices/ph-1", PHONE, who=who), 403, "forbidden")
        problem(await api.send("DELETE", "/v1/devices/ph-1", who=who), 403, "forbidden")
    assert (await api.get(f"/v1/sessions/{session}", who="tab")).status_code == 200
