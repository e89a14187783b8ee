"""Devices of users: registered, listed, deleted (contract section 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.gateway import registering
from remit.web.answers import Answer, listed, nothing, said
from remit.web.device_shapes import DeviceAnswer, DeviceBody, DevicesQuery
from remit.web.route import KEYS, Request, Route

if TYPE_CHECKING:
    from remit.web.bodies import NoQuery


async def put(request: Request[DeviceBody, NoQuery]) -> Answer:
    """Register a device, or give it another name."""
    body = request.body
    found = await registering.register(
        request.services.books,
        request.actor,
        request.params["device"],
        user=body.user,
        name=body.name,
    )
    return said(DeviceAnswer.of(found))


async def list_devices(request: Request[None, DevicesQuery]) -> Answer:
    """The devices of the workspace, or of one user."""
    query = request.query
    page = await registering.list_devices(
        request.services.books,
        request.actor,
        user=query.user,
        limit=query.limit,
        cursor=query.cursor,
    )
    return listed([DeviceAnswer.of(one) for one in page.items], page.next)


async def delete(request: Request[None, NoQuery]) -> Answer:
    """Forget a device; its client tokens die with it."""
    await registering.forget(request.services.books, request.actor, request.params["device"])
    return nothing()


_DEVICE = "/v1/devices/{device}"
ROUTES = (
    Route(
        name="listDevices",
        method="GET",
        path="/v1/devices",
        summary="List devices, the newest first",
        handler=list_devices,
        roles=KEYS,
        query=DevicesQuery,
        answer=DeviceAnswer,
        lists=True,
    ),
    Route(
        name="putDevice",
        method="PUT",
        path=_DEVICE,
        summary="Register a device of a user, or give it another name",
        handler=put,
        roles=KEYS,
        body=DeviceBody,
        answer=DeviceAnswer,
    ),
    Route(
        name="deleteDevice",
        method="DELETE",
        path=_DEVICE,
        summary="Delete a device: the client tokens that were made for it open nothing any more",
        handler=delete,
        roles=KEYS,
        status=204,
    ),
)
