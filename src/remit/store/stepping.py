"""How one step of a session is read and written: statements that were written out beforehand.

A turn takes several steps, and each is a few small statements. Built and compiled anew by
SQLAlchemy they would cost more than the database does (see ``prepared``).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, final

import msgspec
from msgspec import to_builtins

from remit.documents.canonical import compact_bytes
from remit.errors import RemitError
from remit.gateway.conversing import SessionRow, Settings, Task
from remit.gateway.keeping import Sealed, session_place
from remit.session.events import State
from remit.store.direct import Through
from remit.store.prepared import insert_of, update_of
from remit.store.schema import session_entries, session_events, sessions
from remit.store.sealed_rows import sealing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection
    from sqlalchemy.engine.interfaces import Dialect

    from remit.gateway.models import Entry
    from remit.session.events import Data, Event

_FIELDS = SessionRow.__struct_fields__
#: What most steps change, and what few do.
_OFTEN = (
    "state", "status", "task", "updated_at", "head_seq", "entries", "due_at", "node",
    "lease_until", "wakes", "attempts",
)  # fmt: skip
_SELDOM = ("settings", "apps", "title", "sealed", "sealed_by", "row_id")
_WHERE = {"workspace": "in_workspace", "id": "of_session"}

_written = msgspec.json.Encoder().encode
_settings_of = msgspec.json.Decoder(Settings).decode
_state_of = msgspec.json.Decoder(State).decode
_task_of = msgspec.json.Decoder(Task).decode


@final
class Stepping:
    """Reads a session and writes a step of it, in the transaction of the connection.

    Args:
        dialect: whose SQL it is.
    """

    def __init__(self, dialect: Dialect) -> None:
        quote = dialect.identifier_preparer.quote
        mark = "?" if dialect.name == "sqlite" else "%s"
        listed = ", ".join(map(quote, _FIELDS))
        # Names of our own schema, no value of anybody's.
        self._read = (
            f"SELECT {listed} FROM {quote(sessions.name)} "  # noqa: S608
            f"WHERE {quote('workspace')} = {mark} AND {quote('id')} = {mark}"
        )
        # SQLite's writer has the whole database. Elsewhere inserts may still look at the key.
        lock = "" if dialect.name == "sqlite" else " FOR NO KEY UPDATE"
        self._lock = self._read + lock
        self._often = update_of(
            sessions, where=_WHERE, values={name: name for name in _OFTEN}, dialect=dialect
        )
        self._all = update_of(
            sessions,
            where=_WHERE,
            values={name: name for name in (*_OFTEN, *_SELDOM)},
            dialect=dialect,
        )
        self._events = insert_of(session_events, dialect)
        self._entries = insert_of(session_entries, dialect)

    def read(
        self, connection: Connection, workspace: str, session: str, *, locked: bool = False
    ) -> SessionRow | None:
        """One session; ``locked`` holds its row until the commit."""
        sql = self._lock if locked else self._read
        row = connection.exec_driver_sql(sql, (workspace, session)).first()
        if row is None:
            return None
        values = dict(zip(_FIELDS, row, strict=True))
        sealed = values["sealed"]
        values |= {
            "settings": _settings_of(values["settings"]),
            "state": _state_of(values["state"]),
            "task": _task_of(values["task"]),
            "sealed": None if sealed is None else Sealed(sealed),
        }
        return SessionRow(**values)

    def write(
        self,
        connection: Connection,
        was: SessionRow,
        row: SessionRow,
        events: Sequence[Event],
        entries: Sequence[Entry],
    ) -> None:
        """Keep what a step made of a row that is locked.

        Raises:
            RemitError: the row is gone, or numbers of the log or the history are taken.
        """
        often = was.settings is row.settings and (was.title, was.sealed) == (row.title, row.sealed)
        prepared = self._often if often else self._all
        values = {
            **{name: getattr(row, name) for name in _FIELDS},
            **columns_beside(row),
            "settings": None if often else _written(row.settings).decode(),
            "state": _written(row.state).decode(),
            "task": _written(row.task).decode(),
            "sealed": None if row.sealed is None else row.sealed.text,
            "in_workspace": row.workspace,
            "of_session": row.id,
        }
        values["apps"] = json.dumps(values["apps"])
        through = Through(connection)
        own = {"workspace": row.workspace, "session": row.id}
        changes = {prepared: [tuple(values[name] for name in prepared.names)]}
        changes |= {
            adding: [
                tuple(own.get(name) or getattr(each, name) for name in adding.names)
                for each in what
            ]
            for adding, what in ((self._events, events), (self._entries, entries))
            if what
        }
        if any(each.run(through, rows) != len(rows) for each, rows in changes.items()):
            msg = f"Session {row.id} was not as it was read. This is a mistake in Remit."
            raise RemitError(msg)


def columns_beside(row: SessionRow) -> dict[str, object]:
    """The columns that follow from a row's fields."""
    sealed: dict[str, str] | dict[str, None] = {"sealed_by": None, "row_id": None}
    if row.sealed is not None:
        sealed = sealing(session_place(row.workspace, row.user, row.id), row.sealed)
    return {"status": row.status, "apps": tuple(app.id for app in row.settings.apps), **sealed}


def data_json(data: Data) -> str:
    """The data of an event as it is kept, whatever a model wrote into it."""
    plain = to_builtins(data)
    try:
        return compact_bytes(plain).decode()
    except UnicodeEncodeError:
        # Half of a UTF-16 pair is no text that can be kept, but for its escape.
        return json.dumps(plain, separators=(",", ":"))
