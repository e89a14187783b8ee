"""The ports that keep who may reach what: workspaces, keys, credentials, environment values.

``store`` implements them. What ``governance`` says for all its ports holds here too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.gateway.keeping import Sealed
    from remit.gateway.records import (
        ApiKey,
        AuditEntry,
        Connection,
        EnvValue,
        Page,
        Role,
        Workspace,
    )


class Workspaces(Protocol):
    """The tenants."""

    async def make(self, workspace: str, *, at: int) -> bool:
        """Make a workspace; False where it is there already."""
        ...

    async def all(self) -> tuple[Workspace, ...]:
        """Every workspace."""
        ...


class Keys(Protocol):
    """Keys and tokens."""

    async def create(self, workspace: str, key: ApiKey, *, act: AuditEntry) -> bool:
        """Keep a key.

        Returns:
            False where it is for a device that its user does not have; nothing is kept then.
        """
        ...

    async def find(self, secret_hash: str) -> ApiKey | None:
        """The key of that secret in whatever workspace, revoked and expired ones too.

        Who knows the secret need not know the workspace: this is how a request finds its own.
        """
        ...

    async def get(self, workspace: str, key: str) -> ApiKey | None:
        """One key."""
        ...

    async def usable(self, workspace: str, *, at: int) -> tuple[ApiKey, ...]:
        """Every key that is neither revoked nor expired, for a snapshot."""
        ...

    async def list(
        self,
        workspace: str,
        *,
        role: Role | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[ApiKey]:
        """The keys, revoked ones among them."""
        ...

    async def revoke(self, workspace: str, key: str, *, act: AuditEntry) -> ApiKey | None:
        """Revoke a key; the first time stays."""
        ...

    async def forget(self, workspace: str, session: str) -> int:
        """Delete the tokens of the clients of a session that was closed; says how many."""
        ...

    async def used(self, workspace: str, key: str, *, at: int) -> None:
        """Note when a key was used last, and so the device that it is for; once a minute does."""
        ...


class Connections(Protocol):
    """Users' credentials, sealed; one for each app and user."""

    async def put(self, workspace: str, row: Connection, *, act: AuditEntry) -> Connection:
        """Keep a credential in the place of the one before; its revision is given here."""
        ...

    async def refresh(
        self,
        workspace: str,
        app: str,
        user: str,
        *,
        revision: int,
        sealed: Sealed,
        expires_at: int | None,
        at: int,
    ) -> bool:
        """Put a refreshed credential in; False when it is no longer of this revision."""
        ...

    async def delete(self, workspace: str, app: str, user: str, *, act: AuditEntry) -> bool:
        """Forget a credential; False where there is none."""
        ...

    async def get(self, workspace: str, app: str, user: str) -> Connection | None:
        """One credential."""
        ...

    async def list(
        self,
        workspace: str,
        *,
        user: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Connection]:
        """The credentials by app and user."""
        ...


class EnvValues(Protocol):
    """Environment values, sealed."""

    async def put(
        self,
        workspace: str,
        app: str,
        collection: str,
        environment: str,
        values: Mapping[str, Sealed | None],
        *,
        act: AuditEntry,
    ) -> None:
        """Set these values, all or none; None removes one, the others stay."""
        ...

    async def get(
        self, workspace: str, app: str, collection: str, environment: str
    ) -> tuple[EnvValue, ...]:
        """The values by name."""
        ...
