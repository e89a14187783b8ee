"""Sessions: their rows, logs, histories and clients; and the tokens of their clients."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"

_TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def _text(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, _TEXT, nullable=False) for name in names]


def _maybe_text(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, _TEXT, nullable=True) for name in names]


def _big(*names: str) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.BigInteger, nullable=False) for name in names]


def _maybe_big(*names: str) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.BigInteger, nullable=True) for name in names]


def _number(*names: str) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.Integer, nullable=False) for name in names]


def _index(name: str, table: str, *columns: str, where: str = "") -> None:
    condition = sa.text(where) if where else None
    op.create_index(name, table, columns, sqlite_where=condition, postgresql_where=condition)


def upgrade() -> None:
    """Make the tables, and let a key be of a session."""
    _keys()
    _sessions()
    _clients()


def _keys() -> None:
    roles = "role = 'operator' OR role = 'backend' OR role = 'user' OR role = 'client'"
    # SQLite changes no constraint of a table: there it is made anew, with its rows.
    with op.batch_alter_table("api_key") as batch:
        batch.add_column(sa.Column("session", _TEXT, nullable=True))
        batch.add_column(sa.Column("device", _TEXT, nullable=True))
        if op.get_bind().dialect.name != "sqlite":
            batch.drop_constraint(op.f("ck_api_key_role"), type_="check")
        batch.create_check_constraint(op.f("ck_api_key_role"), roles)
    _index("ix_api_key_session", "api_key", "workspace", "session", where="session IS NOT NULL")


def _sessions() -> None:
    op.create_table(
        "session",
        *_text("workspace", "id", "user"),
        *_big("created_at", "updated_at"),
        *_text("settings", "state", "task"),
        *_maybe_text("title"),
        *_big("head_seq"),
        *_number("entries"),
        *_maybe_text("sealed", "sealed_by", "row_id"),
        *_maybe_big("due_at"),
        *_maybe_text("node"),
        *_maybe_big("lease_until"),
        *_number("fence", "wakes", "attempts"),
        *_text("status"),
        *_text("apps"),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_session"),
    )
    _index("ix_session_created", "session", "workspace", "created_at", "id")
    _index("ix_session_user", "session", "workspace", "user", "created_at", "id")
    _index("ix_session_due", "session", "due_at", where="due_at IS NOT NULL AND node IS NULL")
    _index("ix_session_node", "session", "node", where="node IS NOT NULL")
    _index("ix_session_row_id", "session", "workspace", "row_id", where="row_id IS NOT NULL")
    op.create_table(
        "session_event",
        *_text("workspace", "session"),
        *_big("seq"),
        *_text("type"),
        *_big("at"),
        *_text("data_json"),
        sa.PrimaryKeyConstraint("workspace", "session", "seq", name="pk_session_event"),
    )
    op.create_table(
        "session_entry",
        *_text("workspace", "session"),
        *_number("number"),
        *_text("kind", "format", "body_json"),
        sa.PrimaryKeyConstraint("workspace", "session", "number", name="pk_session_entry"),
    )


def _clients() -> None:
    op.create_table(
        "session_client",
        *_text("workspace", "session", "client", "announced_json"),
        *_big("first_at", "seen_at"),
        *_maybe_text("device"),
        sa.PrimaryKeyConstraint("workspace", "session", "client", name="pk_session_client"),
    )
    op.create_table(
        "client_call",
        *_text("workspace", "session", "call", "tool", "schema_digest", "args_json"),
        *_big("offered_at"),
        *_number("timeout_ms"),
        sa.Column("idempotent", sa.Boolean, nullable=False),
        *_maybe_text("wanted", "client", "claim"),
        *_maybe_big("claimed_at"),
        *_number("claims"),
        *_maybe_text("ended_json"),
        sa.PrimaryKeyConstraint("workspace", "session", "call", name="pk_client_call"),
    )
    op.create_table(
        "erased_session",
        *_text("workspace", "session"),
        sa.PrimaryKeyConstraint("workspace", "session", name="pk_erased_session"),
    )
