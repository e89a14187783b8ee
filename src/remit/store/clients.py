"""Clients of sessions, and the calls that they execute (contract section 9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import and_, delete, select, update

from remit.gateway.clients import ClientCallRow, ClientRow
from remit.store.base import Database, insert_or, keep_new, many, one, owned
from remit.store.schema import client_calls, session_clients, sessions

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

_OPEN = client_calls.c.ended_json.is_(None)


class Clients:
    """See ``clients.Clients``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def announce(self, workspace: str, row: ClientRow) -> None:
        """See the port."""
        owned(workspace, row)
        values = {name: getattr(row, name) for name in row.__struct_fields__}
        latest = {name: values[name] for name in ("announced_json", "seen_at", "device")}

        def unit(connection: Connection) -> None:
            if not _is_there(connection, workspace, row.session):
                return
            statement = insert_or(session_clients, connection).values(values)
            connection.execute(
                statement.on_conflict_do_update(
                    index_elements=["workspace", "session", "client"], set_=latest
                )
            )

        await self._database.write(unit)

    async def client(self, workspace: str, session: str, client: str) -> ClientRow | None:
        """See the port."""
        query = select(session_clients).where(_client(workspace, session, client))
        return await self._database.read(
            lambda connection: one(ClientRow, connection.execute(query).mappings())
        )

    async def seen(self, workspace: str, session: str, client: str, *, at: int) -> bool:
        """See the port."""
        statement = update(session_clients).where(_client(workspace, session, client))
        return await self._database.write(
            lambda connection: connection.execute(statement.values(seen_at=at)).rowcount == 1
        )

    async def detach(self, workspace: str, session: str, client: str) -> bool:
        """See the port."""
        statement = delete(session_clients).where(_client(workspace, session, client))
        return await self._database.write(
            lambda connection: connection.execute(statement).rowcount == 1
        )

    async def attached(self, workspace: str, session: str, *, since: int) -> tuple[ClientRow, ...]:
        """See the port."""
        query = (
            select(session_clients)
            .where(
                session_clients.c.workspace == workspace,
                session_clients.c.session == session,
                session_clients.c.seen_at >= since,
            )
            .order_by(session_clients.c.seen_at.desc(), session_clients.c.client)
        )
        return await self._database.read(
            lambda connection: many(ClientRow, connection.execute(query).mappings())
        )

    async def offer(self, workspace: str, row: ClientCallRow) -> bool:
        """See the port."""
        owned(workspace, row)

        def unit(connection: Connection) -> bool:
            there = _is_there(connection, workspace, row.session)
            return there and keep_new(connection, client_calls, row)

        return await self._database.write(unit)

    async def call(self, workspace: str, session: str, call: str) -> ClientCallRow | None:
        """See the port."""
        return await self._database.read(
            lambda connection: _read(connection, workspace, session, call)
        )

    async def open_calls(self, workspace: str, session: str) -> tuple[ClientCallRow, ...]:
        """See the port."""
        query = (
            select(client_calls)
            .where(client_calls.c.workspace == workspace, client_calls.c.session == session, _OPEN)
            .order_by(client_calls.c.offered_at, client_calls.c.call)
        )
        return await self._database.read(
            lambda connection: many(ClientCallRow, connection.execute(query).mappings())
        )

    async def claim(
        self, workspace: str, session: str, call: str, *, client: str, claim: str, at: int
    ) -> ClientCallRow | None:
        """See the port."""
        free = update(client_calls).where(
            _call(workspace, session, call), _OPEN, client_calls.c.claim.is_(None)
        )
        taking = free.values(
            client=client, claim=claim, claimed_at=at, claims=client_calls.c.claims + 1
        )

        def unit(connection: Connection) -> ClientCallRow | None:
            connection.execute(taking)
            return _read(connection, workspace, session, call)

        return await self._database.write(unit)

    async def offer_again(self, workspace: str, session: str, call: str, *, claim: str) -> bool:
        """See the port."""
        held = update(client_calls).where(
            _call(workspace, session, call), _OPEN, client_calls.c.claim == claim
        )
        statement = held.values(client=None, claim=None, claimed_at=None, wanted=None)
        return await self._database.write(
            lambda connection: connection.execute(statement).rowcount == 1
        )

    async def settle(
        self, workspace: str, session: str, call: str, *, claim: str | None, ended_json: str
    ) -> bool:
        """See the port."""
        its = client_calls.c.claim == claim if claim else client_calls.c.claim.is_(None)
        open_one = update(client_calls).where(_call(workspace, session, call), _OPEN, its)
        statement = open_one.values(ended_json=ended_json)
        return await self._database.write(
            lambda connection: connection.execute(statement).rowcount == 1
        )


def _is_there(connection: Connection, workspace: str, session: str) -> bool:
    """Whether there is such a session, and is until the commit: nothing outlives an erased one."""
    query = select(sessions.c.id).where(sessions.c.workspace == workspace, sessions.c.id == session)
    return connection.scalar(query.with_for_update(read=True, key_share=True)) is not None


def _client(workspace: str, session: str, client: str) -> ColumnElement[bool]:
    return and_(
        session_clients.c.workspace == workspace,
        session_clients.c.session == session,
        session_clients.c.client == client,
    )


def _call(workspace: str, session: str, call: str) -> ColumnElement[bool]:
    return and_(
        client_calls.c.workspace == workspace,
        client_calls.c.session == session,
        client_calls.c.call == call,
    )


def _read(connection: Connection, workspace: str, session: str, call: str) -> ClientCallRow | None:
    query = select(client_calls).where(_call(workspace, session, call))
    return one(ClientCallRow, connection.execute(query).mappings())
