"""Sessions: their rows, their logs, their histories (contract section 9).

One step is one transaction, and everything that happens to a session is one: the row is locked,
the decision is made on it, events get their numbers, and all of it is kept or nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from msgspec import UNSET, structs
from sqlalchemy import func, select, tuple_

from remit.gateway.conversing import Acted, LostLease, SessionFilter, SessionRow, Step
from remit.gateway.models import Entry
from remit.session.events import NAMES, Event
from remit.session.machine import advance
from remit.store.base import Database, keep, many, owned
from remit.store.changes import keep_act
from remit.store.erasing import erased
from remit.store.leases import claimed, renewed, soonest
from remit.store.pages import DEFAULT_LIMIT, page
from remit.store.schema import session_entries, session_events, sessions
from remit.store.stepping import Stepping, columns_beside, data_json
from remit.store.waking import wake

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Connection

    from remit.gateway.conversing import Decide
    from remit.gateway.records import AuditEntry, Page
    from remit.session.events import Data

R = TypeVar("R")

# So many at once: SQLite takes 32,766 parameters.
_AT_ONCE = 1_000


class _Lost:
    """What a step under an old claim comes to."""


class Sessions:
    """See ``conversing.Sessions``."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._stepping = Stepping(database.engine.dialect)

    async def make(
        self,
        workspace: str,
        row: SessionRow,
        first: Sequence[Data],
        *,
        act: AuditEntry | None = None,
    ) -> Acted:
        """See the port."""
        owned(workspace, row)

        def unit(connection: Connection) -> Acted:
            bare = structs.replace(row, head_seq=0, entries=0)
            keep(connection, sessions, bare, **columns_beside(bare))
            step = Step(events=tuple(first), act=act)
            return self._taken(connection, bare, step, row.created_at)

        return await self._database.write(unit)

    async def act(
        self,
        workspace: str,
        session: str,
        decide: Decide[R],
        *,
        at: int,
        fence: int | None = None,
    ) -> Acted | R | None:
        """See the port."""

        def unit(connection: Connection) -> Acted | R | _Lost | None:
            row = self._stepping.read(connection, workspace, session, locked=True)
            if row is None:
                return None
            if fence not in {None, row.fence}:
                return _Lost()
            step = decide(row)
            if not isinstance(step, Step):
                return step
            if fence is not None:
                row = structs.replace(row, attempts=0)
            return self._taken(connection, row, step, at)

        done = await self._database.write(unit)
        # Raised here: in the transaction it would take those of others with it.
        if isinstance(done, _Lost):
            raise LostLease
        return done

    async def get(self, workspace: str, session: str) -> SessionRow | None:
        """See the port."""
        return await self._database.read(
            lambda connection: self._stepping.read(connection, workspace, session)
        )

    async def list(
        self,
        workspace: str,
        which: SessionFilter | None = None,
        *,
        limit: int = DEFAULT_LIMIT,
        cursor: str | None = None,
    ) -> Page[SessionRow]:
        """See the port."""
        wanted = which or SessionFilter()
        query = select(sessions).where(sessions.c.workspace == workspace)
        if wanted.user is not None:
            query = query.where(sessions.c.user == wanted.user)
        if wanted.status is not None:
            query = query.where(sessions.c.status == wanted.status)
        if wanted.app is not None:
            # The names are a JSON array, and ids of apps need no escape in it.
            rest = func.replace(sessions.c.apps, f'"{wanted.app}"', "", type_=sessions.c.apps.type)
            query = query.where(rest != sessions.c.apps)
        if wanted.since is not None:
            query = query.where(sessions.c.created_at >= wanted.since)
        if wanted.until is not None:
            query = query.where(sessions.c.created_at < wanted.until)
        key = [sessions.c.created_at, sessions.c.id]
        return await self._database.read(
            lambda connection: page(connection, SessionRow, query, key, limit=limit, cursor=cursor)
        )

    async def events(
        self, workspace: str, session: str, *, after: int, limit: int
    ) -> tuple[Event, ...]:
        """See the port."""
        query = (
            select(session_events)
            .where(
                session_events.c.workspace == workspace,
                session_events.c.session == session,
                session_events.c.seq > after,
            )
            .order_by(session_events.c.seq)
            .limit(limit)
        )
        return await self._database.read(
            lambda connection: many(Event, connection.execute(query).mappings())
        )

    async def entries(self, workspace: str, session: str) -> tuple[Entry, ...]:
        """See the port."""
        query = (
            select(session_entries)
            .where(session_entries.c.workspace == workspace, session_entries.c.session == session)
            .order_by(session_entries.c.number)
        )
        return await self._database.read(
            lambda connection: many(Entry, connection.execute(query).mappings())
        )

    async def heads(self, which: Iterable[tuple[str, str]]) -> dict[tuple[str, str], int]:
        """See the port."""
        wanted = list(which)
        key = tuple_(sessions.c.workspace, sessions.c.id)
        heads = select(sessions.c.workspace, sessions.c.id, sessions.c.head_seq)

        def query(connection: Connection) -> dict[tuple[str, str], int]:
            found: dict[tuple[str, str], int] = {}
            for first in range(0, len(wanted), _AT_ONCE):
                some = heads.where(key.in_(wanted[first : first + _AT_ONCE]))
                found |= {(row[0], row[1]): row[2] for row in connection.execute(some)}
            return found

        return await self._database.read(query)

    async def wake(self, workspace: str, session: str, *, at: int) -> bool:
        """See the port."""
        return await self._database.write(
            lambda connection: wake(connection, workspace, session, at)
        )

    async def claim(
        self, node: str, *, at: int, lease_ms: int, limit: int
    ) -> tuple[SessionRow, ...]:
        """See the port."""
        return await self._database.write(
            lambda connection: claimed(connection, node, at, at + lease_ms, limit)
        )

    async def renew(
        self, node: str, claims: Sequence[tuple[str, str, int]], *, at: int, lease_ms: int
    ) -> frozenset[tuple[str, str]]:
        """See the port."""
        held = list(claims)
        return await self._database.write(
            lambda connection: renewed(connection, node, held, at + lease_ms)
        )

    async def next_due_at(self) -> int | None:
        """See the port."""
        return await self._database.read(soonest)

    async def erase(
        self, workspace: str, session: str, *, at: int, act: AuditEntry | None = None
    ) -> bool:
        """See the port."""
        del at

        def unit(connection: Connection) -> bool:
            if not erased(connection, workspace, session):
                return False
            if act is not None:
                keep_act(connection, workspace, act)
            return True

        return await self._database.write(unit)

    def _taken(self, connection: Connection, row: SessionRow, step: Step, at: int) -> Acted:
        """Keep what a step says of a session whose row is locked."""
        state, happened = advance(row.state, step.events)
        events = tuple(
            Event(seq=seq, type=NAMES[type(data)], at=at, data_json=data_json(data))
            for seq, data in enumerate(happened, row.head_seq + 1)
        )
        entries = tuple(
            structs.replace(entry, number=number)
            for number, entry in enumerate(step.entries, row.entries + 1)
        )
        named = {
            "task": step.task,
            "settings": step.settings,
            "sealed": step.sealed,
            "title": step.title,
            "due_at": step.due_at,
        }
        changed: dict[str, object] = {
            name: value for name, value in named.items() if value is not UNSET
        }
        if step.release:
            changed |= {"node": None, "lease_until": None}
        after = structs.replace(
            row,
            **changed,
            state=state,
            updated_at=at,
            head_seq=row.head_seq + len(events),
            entries=row.entries + len(entries),
            wakes=row.wakes + step.wakes,
        )
        self._stepping.write(connection, row, after, events, entries)
        if step.act is not None:
            keep_act(connection, row.workspace, step.act)
        return Acted(row=after, events=events)
