"""What every act of governing leaves behind: an audit entry, and a mark that it happened.

Both are written in the transaction of the act itself, so that there is no act without them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select, update

from remit.gateway.governance import Changes
from remit.gateway.keeping import SERVER
from remit.store.base import Database, insert_or, keep, owned
from remit.store.schema import audit, revisions

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from remit.gateway.governance import Kind
    from remit.gateway.records import AuditEntry


def acted(connection: Connection, workspace: str, kind: Kind, act: AuditEntry) -> None:
    """Write down who did it, and that things of this kind changed."""
    keep_act(connection, workspace, act)
    mark(connection, workspace, kind)


def keep_act(connection: Connection, workspace: str, act: AuditEntry) -> None:
    """Write down who did what nothing is cached of."""
    owned(workspace, act)
    keep(connection, audit, act)


def mark(connection: Connection, workspace: str, kind: Kind) -> None:
    """Count a change, so that every node reads things of this kind anew.

    The row that counts is held until the commit: numbers become visible in their order, and a
    node that has seen one has seen all before it.
    """
    number = connection.execute(
        update(revisions)
        .where(revisions.c.workspace == SERVER, revisions.c.kind == "")
        .values(number=revisions.c.number + 1)
        .returning(revisions.c.number)
    ).scalar_one()
    row = {"workspace": workspace, "kind": kind, "number": number}
    statement = insert_or(revisions, connection).values(row)
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["workspace", "kind"], set_={"number": number}
        )
    )


class Revisions:
    """See ``governance.Revisions``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def changes(self, since: int) -> Changes:
        """See the port."""

        def query(connection: Connection) -> Changes:
            rows = connection.execute(select(revisions).where(revisions.c.number > since)).all()
            number = max((row.number for row in rows), default=since)
            found = ((row.workspace, row.kind) for row in rows if row.kind)
            return Changes(number=number, changed=frozenset(found))

        return await self._database.read(query)
