"""Devices of users, and the port that keeps them (contract sections 1 and 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from remit.errors import InvalidRequest

if TYPE_CHECKING:
    from remit.gateway.records import AuditEntry, Page


class DeviceRow(Struct, frozen=True, kw_only=True):
    """A registered device of a user. It is proved by a client token that was made for it.

    Attributes:
        id: the back end's own, one in a workspace; compared byte by byte.
        name: by which its user knows it.
        seen_at: when a client on it last sent something, to the minute; Unix ms. None before.
    """

    workspace: str
    id: str
    user: str
    name: str
    created_at: int
    seen_at: int | None = None


class Devices(Protocol):
    """The devices of users."""

    async def put(self, workspace: str, row: DeviceRow, *, act: AuditEntry) -> DeviceRow:
        """Keep a device; one that its user has already gets the name, and keeps all else.

        Returns:
            The device as it stands then; another user's is not changed.
        """
        ...

    async def get(self, workspace: str, device: str) -> DeviceRow | None:
        """One device."""
        ...

    async def of_user(self, workspace: str, user: str) -> tuple[DeviceRow, ...]:
        """All devices of a user, the one registered first first."""
        ...

    async def list(
        self,
        workspace: str,
        *,
        user: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[DeviceRow]:
        """Devices, by when they were registered."""
        ...

    async def remove(self, workspace: str, device: str, *, act: AuditEntry) -> bool:
        """Forget a device and revoke the tokens that were made for it, both or neither.

        Returns:
            False where there is none.
        """
        ...


async def require_registered(devices: Devices, workspace: str, user: str, device: str) -> None:
    """Let a device of the user pass, and no other.

    Raises:
        InvalidRequest: the user has none of that id; one of another user is none.
    """
    if not await is_registered(devices, workspace, user, device):
        raise unregistered(device)


async def is_registered(devices: Devices, workspace: str, user: str, device: str) -> bool:
    """Whether the user has a device of that id; one of another user is none."""
    found = await devices.get(workspace, device)
    return found is not None and found.user == user


def unregistered(device: str) -> InvalidRequest:
    """What is answered where a device is named that its user does not have."""
    return InvalidRequest(
        f'The user has no device "{device[:80]}". Register it first, with PUT /v1/devices/{{id}}, '
        "or leave device out."
    )
