"""What requests and answers about devices carry (contract section 10); see ``bodies``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from remit.gateway.journal import moment
from remit.web.bodies import Closed, PageQuery, User
from remit.web.shapes import Open, when

if TYPE_CHECKING:
    from remit.gateway.devices import DeviceRow


class DeviceBody(Closed, frozen=True, kw_only=True):
    """A device of a user."""

    user: User
    name: str


class DevicesQuery(PageQuery, frozen=True, kw_only=True):
    """Whose devices."""

    user: User | None = None


class DeviceAnswer(Open, frozen=True, kw_only=True):
    """A device."""

    id: str
    user: str
    name: str
    created_at: str
    last_seen_at: str | None = None

    @classmethod
    def of(cls, row: DeviceRow) -> Self:
        """What a row of the store says."""
        return cls(
            id=row.id,
            user=row.user,
            name=row.name,
            created_at=moment(row.created_at),
            last_seen_at=when(row.seen_at),
        )
