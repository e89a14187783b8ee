"""Devices are registered by a back end for its users, and proved by tokens alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from remit.errors import DeviceTaken, Forbidden, InvalidRequest, NotFound
from remit.gateway.acting import Actor, system
from remit.gateway.admitting import create_client_token
from remit.gateway.registering import MAX_DEVICES, forget, list_devices, register
from tests.gateway.server import Server


async def test_device_is_registered_renamed_and_deleted_with_its_acts(server: Server) -> None:
    """Who did it stands in the audit, each time that something changed."""
    books, operator = server.books, server.operator
    first = await register(books, operator, "ph-1", user="ana", name=" Ana's phone ")
    await register(books, operator, "ph-1", user="ana", name="Ana's phone")
    second = await register(books, operator, "ph-1", user="ana", name="Old phone")
    await forget(books, operator, "ph-1")

    assert (first.name, first.user, first.seen_at) == ("Ana's phone", "ana", None)
    assert (second.name, second.created_at) == ("Old phone", first.created_at)
    assert (await list_devices(books, operator)).items == ()
    with pytest.raises(NotFound):
        await forget(books, operator, "ph-1")
    entries = [(one.kind, one.subject) for one in await server.audit()]
    assert entries == [
        ("device.registered", "device/ph-1"),
        ("device.renamed", "device/ph-1"),
        ("device.deleted", "device/ph-1"),
    ]


async def test_device_of_one_user_is_no_other_users(server: Server) -> None:
    """It is not handed over in passing; another workspace does not know it."""
    books, operator = server.books, server.operator
    await register(books, operator, "ph-1", user="ana", name="Phone")
    with pytest.raises(DeviceTaken, match="another user"):
        await register(books, operator, "ph-1", user="ben", name="Phone")
    with pytest.raises(NotFound):
        await forget(books, system("globex"), "ph-1")
    assert (await list_devices(books, system("globex"))).items == ()

    assert [one.user for one in (await list_devices(books, operator)).items] == ["ana"]
    assert (await list_devices(books, operator, user="ben")).items == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {"device": ""},
        {"device": "x" * 201},
        {"device": "my phone"},
        {"device": "a\u202eb"},
        {"name": "  "},
        {"name": "x" * 101},
        {"name": "a\nb"},
        {"user": ""},
        {"user": "a b"},
    ],
    ids=("no-id", "long-id", "blank", "hidden", "no-name", "long-name", "line", "no-user", "user"),
)
async def test_device_that_cannot_be_meant_is_refused(
    server: Server, wrong: dict[str, Any]
) -> None:
    """In words, and nothing is kept."""
    terms: dict[str, Any] = {"device": "ph-1", "user": "ana", "name": "Phone", **wrong}
    with pytest.raises(InvalidRequest):
        await register(server.books, server.operator, terms.pop("device"), **terms)
    assert (await list_devices(server.books, server.operator)).items == ()
    assert await server.audit() == []


async def test_user_has_so_many_devices_and_no_more(server: Server) -> None:
    """The agent is given all of them at once; one that is there can still be renamed."""
    books, operator = server.books, server.operator
    for number in range(MAX_DEVICES):
        await register(books, operator, f"d{number}", user="ana", name="Device")
    with pytest.raises(InvalidRequest, match="Delete one"):
        await register(books, operator, "one-more", user="ana", name="Device")

    assert (await register(books, operator, "d0", user="ana", name="First")).name == "First"
    assert (await register(books, operator, "b0", user="ben", name="Ben's")).user == "ben"


async def test_no_token_registers_a_device(server: Server) -> None:
    """What could say by itself which device it is on would prove nothing."""
    ana = Actor(key_id="t", role="user", workspace="acme", user="ana")
    await register(server.books, server.operator, "ph-1", user="ana", name="Phone")
    for actor in (ana, replace(ana, role="client", session="ses_1", device="ph-1")):
        with pytest.raises(Forbidden):
            await register(server.books, actor, "ph-1", user="ana", name="Mine")
        with pytest.raises(Forbidden):
            await forget(server.books, actor, "ph-1")
        with pytest.raises(Forbidden):
            await list_devices(server.books, actor)


async def test_token_of_a_deleted_device_opens_nothing(server: Server) -> None:
    """At once on this node; a device of the same id, registered anew, does not revive it."""
    books, operator = server.books, server.operator
    await register(books, operator, "ph-1", user="ana", name="Phone")
    of_phone, of_none = [
        await create_client_token(
            books, operator, session="ses_1", user="ana", ttl_s=60, device=device
        )
        for device in ("ph-1", None)
    ]
    secrets = [made.secret.reveal() for made in (of_phone, of_none)]
    assert [await server.standing.actor(one) is not None for one in secrets] == [True, True]
    await forget(books, operator, "ph-1")
    assert [await server.standing.actor(one) is not None for one in secrets] == [False, True]
    await register(books, operator, "ph-1", user="ana", name="Phone")
    assert await server.standing.actor(secrets[0]) is None


async def test_token_for_a_device_that_its_user_has_not_is_refused(server: Server) -> None:
    """One that is unknown and one of somebody else are refused in the same words."""
    await register(server.books, server.operator, "ph-1", user="ana", name="Phone")
    told: list[str] = []
    for device in ("ph-1", "ph-2"):
        with pytest.raises(InvalidRequest, match="Register it first") as refused:
            await create_client_token(
                server.books, server.operator, session="s", user="ben", ttl_s=60, device=device
            )
        told.append(refused.value.message.replace(device, "…"))
    assert told[0] == told[1]
    assert [one.kind for one in await server.audit()] == ["device.registered"]
