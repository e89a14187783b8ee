"""Forgets a session: what was said, sent and answered goes, that something was done stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import and_, bindparam, delete, insert, select, update

from remit.gateway.forgetting import reduced_body, reduced_record
from remit.gateway.ledger import ENDED, InputRow
from remit.store.base import many
from remit.store.keys import forget_tokens
from remit.store.schema import (
    calls,
    client_calls,
    erased_sessions,
    inputs,
    session_clients,
    session_entries,
    session_events,
    sessions,
    stored_answers,
)

if TYPE_CHECKING:
    from sqlalchemy import Connection

_OF_SESSION = (session_events, session_entries, session_clients, client_calls)

_CALL = and_(calls.c.workspace == bindparam("of_workspace"), calls.c.id == bindparam("of_call"))
_REDUCE_CALL = update(calls).where(_CALL).values(record_json=bindparam("to_record"), private=None)
_REDUCE_INPUT = (
    update(inputs)
    .where(inputs.c.workspace == bindparam("of_workspace"), inputs.c.id == bindparam("of_input"))
    .values(body_json=bindparam("to_body"), answer_json=None)
)


def erased(connection: Connection, workspace: str, session: str) -> bool:
    """Erase a session; False where there is none.

    A call that is not over keeps what it needs to end, and is erased after (``sweep``).
    """
    ours = and_(sessions.c.workspace == workspace, sessions.c.id == session)
    if connection.execute(delete(sessions).where(ours)).rowcount == 0:
        return False
    for table in _OF_SESSION:
        connection.execute(
            delete(table).where(table.c.workspace == workspace, table.c.session == session)
        )
    forget_tokens(connection, workspace, session)
    _forget_answers(connection, workspace, session)
    if _reduce_calls(connection, workspace, session):
        connection.execute(insert(erased_sessions).values(workspace=workspace, session=session))
    return True


def _forget_answers(connection: Connection, workspace: str, session: str) -> None:
    """Delete kept answers to requests about the session and its inputs."""
    asked = select(inputs.c.id).where(inputs.c.workspace == workspace, inputs.c.session == session)
    about = {session, *connection.scalars(asked)}
    answers = select(*stored_answers.primary_key.columns).where(
        stored_answers.c.workspace == workspace, stored_answers.c.status.is_not(None)
    )
    for row in connection.execute(answers).mappings().all():
        if about.intersection(row["route"].split("/")):
            its = [column == row[column.name] for column in stored_answers.primary_key.columns]
            connection.execute(delete(stored_answers).where(*its))


def sweep(connection: Connection) -> None:
    """Erase what was not over when its session was erased, and is now."""
    for workspace, session in connection.execute(select(erased_sessions)).all():
        if not _reduce_calls(connection, workspace, session):
            connection.execute(
                delete(erased_sessions).where(
                    erased_sessions.c.workspace == workspace, erased_sessions.c.session == session
                )
            )


def _reduce_calls(connection: Connection, workspace: str, session: str) -> bool:
    """Reduce what is kept of the calls of a session; says whether some of them are not over."""
    its = and_(calls.c.workspace == workspace, calls.c.session == session)
    over = and_(its, calls.c.status.in_(sorted(ENDED)))
    rest = select(calls.c.id).where(its, calls.c.status.not_in(sorted(ENDED))).limit(1)
    under_way = connection.execute(rest).first() is not None
    found = connection.execute(select(calls.c.id, calls.c.record_json).where(over)).all()
    if not found:
        return under_way
    connection.execute(
        _REDUCE_CALL,
        [
            {"of_workspace": workspace, "of_call": row[0], "to_record": reduced_record(row[1])}
            for row in found
        ],
    )
    asked = select(inputs).join(
        calls, and_(calls.c.workspace == inputs.c.workspace, calls.c.id == inputs.c.call)
    )
    rows = many(InputRow, connection.execute(asked.where(over)).mappings())
    if rows:
        connection.execute(
            _REDUCE_INPUT,
            [
                {"of_workspace": workspace, "of_input": row.id, "to_body": reduced_body(row)}
                for row in rows
            ],
        )
    return under_way
