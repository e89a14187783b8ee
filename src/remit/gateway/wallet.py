"""Opens a user's credential and an app's env values for one call (contract sections 4, 7, 8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from remit.gateway.keeping import VaultFault, connection_place, env_place
from remit.gateway.node import Held
from remit.policy.reach import env_source_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

    from remit.catalog.model import Definition, Tool
    from remit.gateway.acting import Books
    from remit.gateway.keeping import Credential
    from remit.gateway.node import AppInForce
    from remit.gateway.records import Connection, EnvValue
    from remit.gateway.remembering import Memory
    from remit.values.secrets import Secret


@dataclass(slots=True)
class _Kept:
    """A connection as it is remembered, with its credential once that was opened."""

    row: Connection
    credential: Credential | None = None


async def open_credential(
    books: Books, memory: Memory, workspace: str, definition: Definition, user: str
) -> Held | str:
    """A user's credential for an app, opened; or why there is none, as a sentence with its mend.

    It is opened once for as long as its row is remembered: what was put or deleted anywhere holds
    within 2 s.

    Args:
        books: where it is kept, sealed.
        memory: of this node.
        workspace: of the user.
        definition: in force; its ``auth`` takes a credential that is stored.
        user: whose it is.

    Raises:
        StoreUnavailable: it cannot be known.
    """
    app = definition.id
    known = memory.known(workspace, "connections", (app, user))
    if not isinstance(known, _Kept):

        async def read() -> _Kept | None:
            row = await books.connections.get(workspace, app, user)
            return None if row is None else _Kept(row)

        known = await memory.recall(workspace, "connections", (app, user), read)
    if known is None:
        return (
            f"the user has not connected {definition.name}. Connect the account, then call again."
        )
    row = known.row
    if row.type != definition.auth.type:
        return (
            f"{definition.name} takes a credential of type {definition.auth.type} now, and the "
            f"user's is of type {row.type}. Connect the account again."
        )
    credential = known.credential
    if credential is None:
        try:
            credential = await books.keeper.open_credential(
                connection_place(workspace, app, user, row.id), row.sealed
            )
        except VaultFault as fault:
            return f"the user's credential for {definition.name} cannot be opened. {fault.message}"
        known.credential = credential
    if not credential.usable(books.wall.unix_ms() // 1000):
        return (
            f"the user's credential for {definition.name} has expired. Connect the account again."
        )
    return Held(connection_id=row.id, account=credential.account, secret=credential.secret)


class Wallet:
    """Opens what is sealed; the ``Wallet`` of ``node``.

    Args:
        books: what is kept, and the keeper of what is sealed.
        memory: of this node.
    """

    def __init__(self, books: Books, memory: Memory) -> None:
        self._books = books
        self._memory = memory

    def credential(self, workspace: str, app: AppInForce, user: str) -> Awaitable[Held | str]:
        """See the port."""
        return open_credential(self._books, self._memory, workspace, app.definition, user)

    async def env(self, workspace: str, app: AppInForce, tool: Tool) -> Mapping[str, Secret]:
        """See the port.

        Raises:
            VaultFault: a value cannot be opened: the operator must set it anew.
        """
        source = env_source_of(tool.destination, app.definition)
        if source is None or tool.request is None:
            return {}
        place = (app.id, source.collection, source.environment)
        rows, opened = await self._memory.recall(
            workspace, "env", place, lambda: self._rows(workspace, place)
        )
        found: dict[str, Secret] = {}
        for name in tool.request.env_names:
            if name not in opened and (row := rows.get(name)):
                opened[name] = await self._books.keeper.open(
                    env_place(workspace, *place, name), row.sealed
                )
            if name in opened:
                found[name] = opened[name]
        return found

    async def _rows(
        self, workspace: str, place: tuple[str, str, str]
    ) -> tuple[Mapping[str, EnvValue], dict[str, Secret]]:
        """The values of a place, and those of them that were opened."""
        return {row.name: row for row in await self._books.env.get(workspace, *place)}, {}
