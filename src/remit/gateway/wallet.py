"""Opens a user's credential and an app's env values for one call (contract sections 4, 7, 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.gateway.keeping import VaultFault, connection_place, env_place
from remit.gateway.node import Held
from remit.policy.reach import env_source_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.catalog.model import Definition, Tool
    from remit.gateway.acting import Books
    from remit.gateway.node import AppInForce
    from remit.gateway.records import EnvValue
    from remit.gateway.remembering import Memory
    from remit.values.secrets import Secret


async def open_credential(
    books: Books, memory: Memory, workspace: str, definition: Definition, user: str
) -> Held | str:
    """A user's credential for an app, opened; or why there is none, as a sentence with its mend.

    The row is remembered sealed: what was put or deleted anywhere holds within 2 s.

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
    row = await memory.recall(
        workspace, "connections", (app, user), lambda: books.connections.get(workspace, app, user)
    )
    if row is None:
        return (
            f"the user has not connected {definition.name}. Connect the account, then call again."
        )
    if row.type != definition.auth.type:
        return (
            f"{definition.name} takes a credential of type {definition.auth.type} now, and the "
            f"user's is of type {row.type}. Connect the account again."
        )
    try:
        credential = await books.keeper.open_credential(
            connection_place(workspace, app, user, row.id), row.sealed
        )
    except VaultFault as fault:
        return f"the user's credential for {definition.name} cannot be opened. {fault.message}"
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

    async def credential(self, workspace: str, app: AppInForce, user: str) -> Held | str:
        """See the port."""
        return await open_credential(self._books, self._memory, workspace, app.definition, user)

    async def env(self, workspace: str, app: AppInForce, tool: Tool) -> Mapping[str, Secret]:
        """See the port.

        Raises:
            VaultFault: a value cannot be opened: the operator must set it anew.
        """
        source = env_source_of(tool.destination, app.definition)
        if source is None or tool.request is None:
            return {}
        place = (app.id, source.collection, source.environment)
        rows = await self._memory.recall(
            workspace, "env", place, lambda: self._rows(workspace, place)
        )
        found: dict[str, Secret] = {}
        for name in tool.request.env_names:
            if row := rows.get(name):
                found[name] = await self._books.keeper.open(
                    env_place(workspace, *place, name), row.sealed
                )
        return found

    async def _rows(self, workspace: str, place: tuple[str, str, str]) -> Mapping[str, EnvValue]:
        return {row.name: row for row in await self._books.env.get(workspace, *place)}
