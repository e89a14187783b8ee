"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None

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


def _maybe_number(*names: str) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.Integer, nullable=True) for name in names]


def _any_of(column: str, *words: str) -> str:
    return " OR ".join(f"{column} = '{word}'" for word in words)


def _index(name: str, table: str, *columns: str, where: str = "", unique: bool = False) -> None:
    condition = sa.text(where) if where else None
    op.create_index(
        name,
        table,
        columns,
        unique=unique,
        sqlite_where=condition,
        postgresql_where=condition,
    )


def upgrade() -> None:
    """Make every table, and the row that counts changes."""
    _tenants()
    _apps()
    _secrets()
    _calls()
    counter = sa.table("revision", sa.column("workspace"), sa.column("kind"), sa.column("number"))
    op.execute(counter.insert().values(workspace="", kind="", number=0))


def _tenants() -> None:
    op.create_table(
        "workspace",
        *_text("id"),
        *_big("created_at"),
        sa.PrimaryKeyConstraint("id", name="pk_workspace"),
    )
    op.create_table(
        "revision",
        *_text("workspace", "kind"),
        *_big("number"),
        sa.PrimaryKeyConstraint("workspace", "kind", name="pk_revision"),
    )
    op.create_table(
        "node",
        *_text("id"),
        *_big("lease_until"),
        sa.PrimaryKeyConstraint("id", name="pk_node"),
    )
    op.create_table(
        "api_key",
        *_text("workspace", "id", "role", "name", "secret_hash", "prefix"),
        *_big("created_at"),
        *_text("created_by"),
        *_maybe_text("user", "apps", "tools", "pins", "sealed", "sealed_by", "row_id"),
        *_maybe_big("expires_at", "revoked_at", "last_used_at"),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_api_key"),
        sa.CheckConstraint(
            _any_of("role", "operator", "backend", "user"), name=op.f("ck_api_key_role")
        ),
        sa.UniqueConstraint("secret_hash", name="uq_api_key_secret_hash"),
    )
    _index("ix_api_key_row_id", "api_key", "workspace", "row_id", where="row_id IS NOT NULL")
    op.create_table(
        "policy",
        *_text("workspace"),
        *_number("number"),
        *_text("document_json"),
        *_big("at"),
        *_text("by"),
        sa.PrimaryKeyConstraint("workspace", "number", name="pk_policy"),
    )
    op.create_table(
        "audit",
        *_text("workspace", "id"),
        *_big("at"),
        *_text("actor", "kind", "subject", "detail_json"),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_audit"),
    )
    _index("ix_audit_at", "audit", "workspace", "at", "id")
    op.create_table(
        "token_usage",
        *_text("workspace", "user"),
        *_number("day"),
        *_big("tokens"),
        sa.PrimaryKeyConstraint("workspace", "user", "day", name="pk_token_usage"),
    )
    op.create_table(
        "stored_answer",
        *_text("workspace", "key_id", "route", "key", "body_digest", "reference", "node"),
        *_big("started_at", "expires_at"),
        *_maybe_number("status"),
        *_maybe_text("headers_json", "body"),
        sa.PrimaryKeyConstraint("workspace", "key_id", "route", "key", name="pk_stored_answer"),
    )
    _index("ix_stored_answer_expires", "stored_answer", "expires_at")


def _apps() -> None:
    op.create_table(
        "app",
        *_text("workspace", "id", "installation"),
        *_big("created_at"),
        *_number("revision"),
        *_maybe_number("in_force"),
        *_maybe_big("suspended_at"),
        *_maybe_text("suspended_by", "suspended_reason"),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_app"),
    )
    op.create_table(
        "app_version",
        *_text("workspace", "app"),
        *_number("number", "edit"),
        *_text("status", "definition_json", "remit_digest"),
        *_big("submitted_at"),
        *_text("submitted_by"),
        *_maybe_text("ceiling", "consent"),
        *_maybe_big("decided_at"),
        *_maybe_text("decided_by", "reason"),
        sa.PrimaryKeyConstraint("workspace", "app", "number", name="pk_app_version"),
        sa.CheckConstraint(
            _any_of("status", "submitted", "approved", "rejected", "superseded"),
            name=op.f("ck_app_version_status"),
        ),
        sa.ForeignKeyConstraint(
            ["workspace", "app"], ["app.workspace", "app.id"], name="fk_app_version_app"
        ),
    )
    op.create_table(
        "app_edit",
        *_text("workspace", "app"),
        *_number("version", "number"),
        *_text("definition_json", "remit_digest", "diff_json"),
        *_big("at"),
        *_text("by"),
        sa.PrimaryKeyConstraint("workspace", "app", "version", "number", name="pk_app_edit"),
        sa.ForeignKeyConstraint(
            ["workspace", "app", "version"],
            ["app_version.workspace", "app_version.app", "app_version.number"],
            name="fk_app_edit_app_version",
        ),
    )
    op.create_table(
        "catalog_source",
        *_text("workspace", "app", "digest"),
        *_maybe_text("accepted", "etag", "last_modified"),
        *_big("checked_at", "fetched_at"),
        sa.PrimaryKeyConstraint("workspace", "app", name="pk_catalog_source"),
    )
    op.create_table(
        "catalog_snapshot",
        *_text("workspace", "app", "digest", "body", "diff_json", "dropped_json"),
        *_big("at"),
        sa.PrimaryKeyConstraint("workspace", "app", "digest", name="pk_catalog_snapshot"),
    )
    op.create_table(
        "user_grant",
        *_text("workspace", "id", "app", "user"),
        *_number("version"),
        *_big("at"),
        *_text("by"),
        *_maybe_big("revoked_at"),
        *_maybe_text("revoked_by"),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_user_grant"),
    )
    _index(
        "uq_user_grant_alive",
        "user_grant",
        "workspace",
        "app",
        "user",
        "version",
        where="revoked_at IS NULL",
        unique=True,
    )


def _secrets() -> None:
    op.create_table(
        "connection",
        *_text("workspace", "app", "user", "id", "type", "sealed", "sealed_by", "row_id"),
        *_big("created_at", "updated_at"),
        *_maybe_text("account"),
        *_maybe_big("expires_at"),
        *_number("revision"),
        sa.PrimaryKeyConstraint("workspace", "app", "user", name="pk_connection"),
    )
    _index("ix_connection_workspace_row_id", "connection", "workspace", "row_id")
    op.create_table(
        "env_value",
        *_text(
            "workspace", "app", "collection", "environment", "name", "sealed", "sealed_by", "row_id"
        ),
        *_big("updated_at"),
        *_text("updated_by"),
        sa.PrimaryKeyConstraint(
            "workspace", "app", "collection", "environment", "name", name="pk_env_value"
        ),
    )
    _index("ix_env_value_workspace_row_id", "env_value", "workspace", "row_id")
    op.create_table(
        "data_key",
        *_text("workspace", "id", "master", "wrapped"),
        *_big("uses"),
        *_number("number"),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_data_key"),
        sa.UniqueConstraint("workspace", "number", name="uq_data_key_workspace_number"),
    )
    _index("ix_data_key_master", "data_key", "master")
    op.create_table(
        "signing_key",
        *_text("workspace", "kid", "public", "sealed", "sealed_by", "row_id"),
        *_big("active_from_s"),
        *_number("number"),
        sa.PrimaryKeyConstraint("workspace", "kid", name="pk_signing_key"),
        sa.UniqueConstraint("workspace", "number", name="uq_signing_key_workspace_number"),
    )


def _calls() -> None:
    op.create_table(
        "call",
        *_text("workspace", "id", "app"),
        *_number("version"),
        *_text("tool", "user", "status", "category", "danger_level", "source"),
        *_big("at", "updated_at"),
        *_text("record_json"),
        *_maybe_text("outcome", "session"),
        *_maybe_number("response_seq"),
        *_maybe_text("model_call_id", "run"),
        *_maybe_big("sent_at", "next_poll_at"),
        *_maybe_number("polls_left"),
        *_maybe_big("deadline"),
        *_maybe_text("node", "private"),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_call"),
        sa.CheckConstraint(
            f"(outcome IS NOT NULL) = ({_any_of('status', 'denied', 'done', 'failed', 'unknown')})",
            name=op.f("ck_call_outcome"),
        ),
        sa.CheckConstraint(
            _any_of(
                "status",
                "planned",
                "await_input",
                "await_client",
                "sending",
                "polling",
                "done",
                "failed",
                "denied",
                "unknown",
            ),
            name=op.f("ck_call_status"),
        ),
    )
    _index("ix_call_at", "call", "workspace", "at")
    _index("ix_call_node", "call", "node", where="node IS NOT NULL")
    _index("ix_call_poll", "call", "next_poll_at", where="status = 'polling'")
    _index("ix_call_run", "call", "workspace", "run", where="run IS NOT NULL")
    _index(
        "uq_call_model_call",
        "call",
        "workspace",
        "session",
        "response_seq",
        "model_call_id",
        where="session IS NOT NULL",
        unique=True,
    )
    op.create_table(
        "input",
        *_text(
            "workspace", "id", "call", "kind", "app", "tool", "user", "by", "digest", "body_json"
        ),
        *_big("created_at", "expires_at"),
        *_text("status"),
        *_maybe_text("session", "answered_by"),
        *_maybe_big("answered_at"),
        *_maybe_text("answer_json"),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_input"),
        sa.CheckConstraint(
            _any_of(
                "status",
                "open",
                "approved",
                "denied",
                "answered",
                "skipped",
                "cancelled",
                "expired",
            ),
            name=op.f("ck_input_status"),
        ),
        sa.ForeignKeyConstraint(
            ["workspace", "call"], ["call.workspace", "call.id"], name="fk_input_call"
        ),
    )
    _index("ix_input_call", "input", "workspace", "call")
    _index("ix_input_created", "input", "workspace", "created_at", "id")
    _index("ix_input_expires", "input", "expires_at", where="status = 'open'")
    _index("uq_input_open", "input", "workspace", "call", where="status = 'open'", unique=True)
