"""Devices: registered by the back end for its users, listed, forgotten (contract section 10).

No token registers one. A device is proved by a client token that was made for it, and only a key
makes those: what could say by itself which device it is on would prove nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.errors import DeviceTaken, InvalidRequest
from remit.gateway.acting import act, checked_user, no_such
from remit.gateway.admitting import require
from remit.gateway.devices import DeviceRow

if TYPE_CHECKING:
    from remit.gateway.acting import Actor, Books
    from remit.gateway.records import Page

MAX_ID = 200
MAX_NAME = 100
#: Of one user: the agent is given all of them at once.
MAX_DEVICES = 50


async def register(books: Books, actor: Actor, device: str, *, user: str, name: str) -> DeviceRow:
    """Register a device of a user; again with another name, it is renamed.

    Args:
        books: where it is kept.
        actor: an operator or a back end.
        device: the back end's own id for it: 1 to 200 visible characters without a blank.
        user: whose it is.
        name: by which the user knows it: 1 to 100 visible characters.

    Raises:
        Forbidden: the actor may not.
        InvalidRequest: a value is none, or the user has as many devices as one may have.
        DeviceTaken: another user has a device of that id.
    """
    require(actor, "operator", "backend")
    checked_user(user)
    _check_id(device)
    name = _name(name)
    known = await books.devices.get(actor.workspace, device)
    if known is None and len(await books.devices.of_user(actor.workspace, user)) >= MAX_DEVICES:
        raise InvalidRequest(
            f"The user has {MAX_DEVICES} devices, which is the most. Delete one that is not in "
            "use any more: DELETE /v1/devices/{id}."
        )
    row = DeviceRow(
        workspace=actor.workspace,
        id=device,
        user=user,
        name=name,
        created_at=books.wall.unix_ms(),
    )
    kind = "device.registered" if known is None else "device.renamed"
    entry = act(books, actor, kind, f"device/{device}", {"user": user, "name": name})
    found = await books.devices.put(actor.workspace, row, act=entry)
    if found.user != user:
        raise DeviceTaken(
            f'The device "{device[:80]}" is another user\'s. Give it an id of its own for each '
            "user, or delete it first."
        )
    return found


async def list_devices(
    books: Books, actor: Actor, *, user: str | None = None, limit: int = 50,
    cursor: str | None = None,
) -> Page[DeviceRow]:  # fmt: skip
    """The devices of the workspace, or of one user.

    Raises:
        Forbidden: the actor may not.
        InvalidRequest: the user is none.
    """
    require(actor, "operator", "backend")
    if user is not None:
        checked_user(user)
    return await books.devices.list(actor.workspace, user=user, limit=limit, cursor=cursor)


async def forget(books: Books, actor: Actor, device: str) -> None:
    """Forget a device; the tokens that were made for it open nothing from then on.

    Raises:
        Forbidden: the actor may not.
        NotFound: there is none of that id.
    """
    require(actor, "operator", "backend")
    known = await books.devices.get(actor.workspace, device)
    if known is None:
        raise no_such("device", device)
    detail = {"user": known.user, "name": known.name}
    entry = act(books, actor, "device.deleted", f"device/{device}", {**detail})
    if not await books.devices.remove(actor.workspace, device, act=entry):
        raise no_such("device", device)
    books.bell.ring()


def _check_id(device: str) -> None:
    if not 1 <= len(device) <= MAX_ID or not device.isprintable() or " " in device:
        raise InvalidRequest(
            f"The device's id must have 1 to {MAX_ID} visible characters and no blank; this one "
            f"has {len(device)}. Make one up for each device, and keep it."
        )


def _name(name: str) -> str:
    bare = name.strip()
    if not 1 <= len(bare) <= MAX_NAME or not bare.isprintable():
        raise InvalidRequest(
            f"A device needs a name of 1 to {MAX_NAME} visible characters, by which its user "
            "knows it."
        )
    return bare
