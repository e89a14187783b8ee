"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make every table, and the row that counts changes."""
    _tenants()
    _apps()
    _secrets()
    _calls()
    revision_table = sa.table(
        "revision", sa.column("workspace"), sa.column("kind"), sa.column("number")
    )
    op.execute(revision_table.insert().values(workspace="", kind="", number=0))


def _tenants() -> None:
    op.create_table(
        "workspace",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_workspace"),
    )
    op.create_table(
        "revision",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("workspace", "kind", name="pk_revision"),
    )
    op.create_table(
        "node",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("lease_until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_node"),
    )
    op.create_table(
        "api_key",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("secret_hash", sa.Text(), nullable=False),
        sa.Column("prefix", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("user", sa.Text(), nullable=True),
        sa.Column("apps", sa.Text(), nullable=True),
        sa.Column("tools", sa.Text(), nullable=True),
        sa.Column("pins_json", sa.Text(), nullable=True),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.Column("last_used_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("role IN ('operator', 'backend', 'user')", name="ck_api_key_role"),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_api_key"),
        sa.UniqueConstraint("secret_hash", name="uq_api_key_secret_hash"),
    )
    op.create_table(
        "policy",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("document_json", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("workspace", "number", name="pk_policy"),
    )
    op.create_table(
        "audit",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("detail_json", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_audit"),
    )
    op.create_index("ix_audit_at", "audit", ["workspace", "at", "id"])
    op.create_table(
        "token_usage",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("workspace", "user", "day", name="pk_token_usage"),
    )
    op.create_table(
        "stored_answer",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("key_id", sa.Text(), nullable=False),
        sa.Column("route", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("body_digest", sa.Text(), nullable=False),
        sa.Column("reference", sa.Text(), nullable=False),
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("headers_json", sa.Text(), nullable=True),
        sa.Column("body", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("workspace", "key_id", "route", "key", name="pk_stored_answer"),
    )
    op.create_index("ix_stored_answer_expires", "stored_answer", ["expires_at"])


def _apps() -> None:
    op.create_table(
        "app",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("installation", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("in_force", sa.Integer(), nullable=True),
        sa.Column("suspended_at", sa.BigInteger(), nullable=True),
        sa.Column("suspended_by", sa.Text(), nullable=True),
        sa.Column("suspended_reason", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_app"),
    )
    op.create_table(
        "app_version",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("app", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("edit", sa.Integer(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("definition_json", sa.Text(), nullable=False),
        sa.Column("remit_digest", sa.Text(), nullable=False),
        sa.Column("submitted_at", sa.BigInteger(), nullable=False),
        sa.Column("submitted_by", sa.Text(), nullable=False),
        sa.Column("ceiling", sa.Text(), nullable=True),
        sa.Column("consent", sa.Text(), nullable=True),
        sa.Column("decided_at", sa.BigInteger(), nullable=True),
        sa.Column("decided_by", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "status IN ('submitted', 'approved', 'rejected', 'superseded')",
            name="ck_app_version_status",
        ),
        sa.ForeignKeyConstraint(
            ["workspace", "app"], ["app.workspace", "app.id"], name="fk_app_version_app"
        ),
        sa.PrimaryKeyConstraint("workspace", "app", "number", name="pk_app_version"),
    )
    op.create_table(
        "app_edit",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("app", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("definition_json", sa.Text(), nullable=False),
        sa.Column("remit_digest", sa.Text(), nullable=False),
        sa.Column("diff_json", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace", "app", "version"],
            ["app_version.workspace", "app_version.app", "app_version.number"],
            name="fk_app_edit_app_version",
        ),
        sa.PrimaryKeyConstraint("workspace", "app", "version", "number", name="pk_app_edit"),
    )
    op.create_table(
        "catalog_source",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("app", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("accepted", sa.Text(), nullable=True),
        sa.Column("etag", sa.Text(), nullable=True),
        sa.Column("last_modified", sa.Text(), nullable=True),
        sa.Column("checked_at", sa.BigInteger(), nullable=False),
        sa.Column("fetched_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("workspace", "app", name="pk_catalog_source"),
    )
    op.create_table(
        "catalog_snapshot",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("app", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("diff_json", sa.Text(), nullable=False),
        sa.Column("dropped_json", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("workspace", "app", "digest", name="pk_catalog_snapshot"),
    )
    op.create_table(
        "user_grant",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("app", sa.Text(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_by", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_user_grant"),
    )
    op.create_index(
        "uq_user_grant_alive",
        "user_grant",
        ["workspace", "app", "user", "version"],
        unique=True,
        sqlite_where=sa.text("revoked_at IS NULL"),
        postgresql_where=sa.text("revoked_at IS NULL"),
    )


def _secrets() -> None:
    op.create_table(
        "connection",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("app", sa.Text(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("sealed_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("account", sa.Text(), nullable=True),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("workspace", "app", "user", name="pk_connection"),
    )
    op.create_index("ix_connection_workspace_sealed_by", "connection", ["workspace", "sealed_by"])
    op.create_table(
        "env_value",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("app", sa.Text(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("environment", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("sealed_by", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint(
            "workspace", "app", "collection", "environment", "name", name="pk_env_value"
        ),
    )
    op.create_index("ix_env_value_workspace_sealed_by", "env_value", ["workspace", "sealed_by"])
    op.create_table(
        "data_key",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("master", sa.Text(), nullable=False),
        sa.Column("wrapped", sa.Text(), nullable=False),
        sa.Column("uses", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_data_key"),
        sa.UniqueConstraint("workspace", "number", name="uq_data_key_workspace_number"),
    )
    op.create_index("ix_data_key_master", "data_key", ["master"])
    op.create_table(
        "signing_key",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("kid", sa.Text(), nullable=False),
        sa.Column("public", sa.Text(), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("sealed_by", sa.Text(), nullable=False),
        sa.Column("active_from_s", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("workspace", "kid", name="pk_signing_key"),
        sa.UniqueConstraint("workspace", "number", name="uq_signing_key_workspace_number"),
    )


def _calls() -> None:
    op.create_table(
        "call",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("app", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("danger_level", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("record_json", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("session", sa.Text(), nullable=True),
        sa.Column("response_seq", sa.Integer(), nullable=True),
        sa.Column("model_call_id", sa.Text(), nullable=True),
        sa.Column("run", sa.Text(), nullable=True),
        sa.Column("sent_at", sa.BigInteger(), nullable=True),
        sa.Column("next_poll_at", sa.BigInteger(), nullable=True),
        sa.Column("polls_left", sa.Integer(), nullable=True),
        sa.Column("deadline", sa.BigInteger(), nullable=True),
        sa.Column("node", sa.Text(), nullable=True),
        sa.Column("private", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "(outcome IS NULL) = (status NOT IN ('done', 'failed', 'denied', 'unknown'))",
            name="ck_call_outcome",
        ),
        sa.CheckConstraint(
            "status IN ('planned', 'await_input', 'await_client', 'sending', 'polling', 'done', 'failed', 'denied', 'unknown')",
            name="ck_call_status",
        ),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_call"),
    )
    op.create_index("ix_call_at", "call", ["workspace", "at", "id"])
    op.create_index(
        "ix_call_at_work",
        "call",
        ["node"],
        sqlite_where=sa.text(
            "status IN ('planned', 'await_input', 'sending') AND node IS NOT NULL"
        ),
        postgresql_where=sa.text(
            "status IN ('planned', 'await_input', 'sending') AND node IS NOT NULL"
        ),
    )
    op.create_index(
        "ix_call_poll",
        "call",
        ["next_poll_at"],
        sqlite_where=sa.text("status = 'polling'"),
        postgresql_where=sa.text("status = 'polling'"),
    )
    op.create_index(
        "ix_call_run",
        "call",
        ["workspace", "run"],
        sqlite_where=sa.text("run IS NOT NULL"),
        postgresql_where=sa.text("run IS NOT NULL"),
    )
    op.create_index(
        "uq_call_model_call",
        "call",
        ["workspace", "session", "response_seq", "model_call_id"],
        unique=True,
        sqlite_where=sa.text("session IS NOT NULL"),
        postgresql_where=sa.text("session IS NOT NULL"),
    )
    op.create_table(
        "input",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("call", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("app", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("user", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("body_json", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("session", sa.Text(), nullable=True),
        sa.Column("answered_by", sa.Text(), nullable=True),
        sa.Column("answered_at", sa.BigInteger(), nullable=True),
        sa.Column("answer_json", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "status IN ('open', 'approved', 'denied', 'answered', 'skipped', 'cancelled', 'expired')",
            name="ck_input_status",
        ),
        sa.ForeignKeyConstraint(
            ["workspace", "call"], ["call.workspace", "call.id"], name="fk_input_call"
        ),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_input"),
    )
    op.create_index("ix_input_call", "input", ["workspace", "call"])
    op.create_index("ix_input_created", "input", ["workspace", "created_at", "id"])
    op.create_index(
        "ix_input_expires",
        "input",
        ["expires_at"],
        sqlite_where=sa.text("status = 'open'"),
        postgresql_where=sa.text("status = 'open'"),
    )
    op.create_index(
        "uq_input_open",
        "input",
        ["workspace", "call"],
        unique=True,
        sqlite_where=sa.text("status = 'open'"),
        postgresql_where=sa.text("status = 'open'"),
    )
