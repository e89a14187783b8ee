"""The tables. The workspace is in every one, and in every primary key.

Names of columns are the names of the fields of the values in ``gateway.records`` and
``gateway.ledger``. A change here needs a migration; a test compares the two.

A call costs the table, its primary key and the indexes that its row stands in: the partial ones
hold only rows of sessions, rows that wait, and rows at work.
"""

from __future__ import annotations

from typing import get_args

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    Table,
    UniqueConstraint,
    literal_column,
)

from remit.gateway.ledger import ENDED, CallStatus, InputStatus
from remit.gateway.records import Role, VersionStatus
from remit.store.columns import (
    any_of,
    key,
    maybe_numbers,
    maybe_texts,
    maybe_times,
    metadata,
    numbers,
    one_of,
    partial_index,
    texts,
    times,
)
from remit.store.session_schema import client_calls as client_calls
from remit.store.session_schema import erased_sessions as erased_sessions
from remit.store.session_schema import session_clients as session_clients
from remit.store.session_schema import session_entries as session_entries
from remit.store.session_schema import session_events as session_events
from remit.store.session_schema import sessions as sessions
from remit.store.types import CeilingText, NamesText, SealedText

# The newest migration; a test holds that it is.
HEAD = "0003"

workspaces = Table("workspace", metadata, *texts("id"), *times("created_at"), key("id"))

# One row counts all changes, the others say when each kind of thing changed last.
revisions = Table(
    "revision", metadata, *texts("workspace", "kind"), *times("number"), key("workspace", "kind")
)

# Processes, which serve all workspaces.
nodes = Table("node", metadata, *texts("id"), *times("lease_until"), key("id"))

apps = Table(
    "app",
    metadata,
    *texts("workspace", "id", "installation"),
    *times("created_at"),
    *numbers("revision"),
    *maybe_numbers("in_force"),
    *maybe_times("suspended_at"),
    *maybe_texts("suspended_by", "suspended_reason"),
    key("workspace", "id"),
)

versions = Table(
    "app_version",
    metadata,
    *texts("workspace", "app"),
    *numbers("number", "edit"),
    *texts("status", "definition_json", "remit_digest"),
    *times("submitted_at"),
    *texts("submitted_by"),
    Column("ceiling", CeilingText, nullable=True),
    *maybe_texts("consent"),
    *maybe_times("decided_at"),
    *maybe_texts("decided_by", "reason"),
    key("workspace", "app", "number"),
    ForeignKeyConstraint(["workspace", "app"], ["app.workspace", "app.id"]),
    one_of("status", get_args(VersionStatus)),
)

edits = Table(
    "app_edit",
    metadata,
    *texts("workspace", "app"),
    *numbers("version", "number"),
    *texts("definition_json", "remit_digest", "diff_json"),
    *times("at"),
    *texts("by"),
    key("workspace", "app", "version", "number"),
    ForeignKeyConstraint(
        ["workspace", "app", "version"],
        ["app_version.workspace", "app_version.app", "app_version.number"],
    ),
)

catalog_sources = Table(
    "catalog_source",
    metadata,
    *texts("workspace", "app", "digest"),
    *maybe_texts("accepted", "etag", "last_modified"),
    *times("checked_at", "fetched_at"),
    key("workspace", "app"),
)

catalog_snapshots = Table(
    "catalog_snapshot",
    metadata,
    *texts("workspace", "app", "digest", "body", "diff_json", "dropped_json"),
    *times("at"),
    key("workspace", "app", "digest"),
)

grants = Table(
    "user_grant",
    metadata,
    *texts("workspace", "id", "app", "user"),
    *numbers("version"),
    *times("at"),
    *texts("by"),
    *maybe_times("revoked_at"),
    *maybe_texts("revoked_by"),
    key("workspace", "id"),
    partial_index(
        "uq_user_grant_alive",
        "workspace",
        "app",
        "user",
        "version",
        where="revoked_at IS NULL",
        unique=True,
    ),
)

connections = Table(
    "connection",
    metadata,
    *texts("workspace", "app", "user", "id", "type"),
    Column("sealed", SealedText, nullable=False),
    *texts("sealed_by", "row_id"),
    *times("created_at", "updated_at"),
    *maybe_texts("account"),
    *maybe_times("expires_at"),
    *numbers("revision"),
    key("workspace", "app", "user"),
    Index(None, "workspace", "row_id"),
)

env_values = Table(
    "env_value",
    metadata,
    *texts("workspace", "app", "collection", "environment", "name"),
    Column("sealed", SealedText, nullable=False),
    *texts("sealed_by", "row_id"),
    *times("updated_at"),
    *texts("updated_by"),
    key("workspace", "app", "collection", "environment", "name"),
    Index(None, "workspace", "row_id"),
)

data_keys = Table(
    "data_key",
    metadata,
    *texts("workspace", "id", "master", "wrapped"),
    *times("uses"),
    *numbers("number"),
    key("workspace", "id"),
    UniqueConstraint("workspace", "number"),
    Index(None, "master"),
)

signing_keys = Table(
    "signing_key",
    metadata,
    *texts("workspace", "kid", "public"),
    Column("sealed", SealedText, nullable=False),
    *texts("sealed_by", "row_id"),
    *times("active_from_s"),
    *numbers("number"),
    key("workspace", "kid"),
    UniqueConstraint("workspace", "number"),
)

api_keys = Table(
    "api_key",
    metadata,
    *texts("workspace", "id", "role", "name", "secret_hash", "prefix"),
    *times("created_at"),
    *texts("created_by"),
    *maybe_texts("user", "session", "device"),
    Column("apps", NamesText, nullable=True),
    Column("tools", NamesText, nullable=True),
    Column("pins", NamesText, nullable=True),
    Column("sealed", SealedText, nullable=True),
    *maybe_texts("sealed_by", "row_id"),
    *maybe_times("expires_at", "revoked_at", "last_used_at"),
    key("workspace", "id"),
    UniqueConstraint("secret_hash"),
    one_of("role", get_args(Role)),
    partial_index("ix_api_key_row_id", "workspace", "row_id", where="row_id IS NOT NULL"),
    partial_index("ix_api_key_session", "workspace", "session", where="session IS NOT NULL"),
    partial_index("ix_api_key_device", "workspace", "device", where="device IS NOT NULL"),
)

devices = Table(
    "device",
    metadata,
    *texts("workspace", "id", "user", "name"),
    *times("created_at"),
    *maybe_times("seen_at"),
    key("workspace", "id"),
    Index("ix_device_created", "workspace", "created_at", "id"),
    Index("ix_device_user", "workspace", "user", "created_at", "id"),
)

policies = Table(
    "policy",
    metadata,
    *texts("workspace"),
    *numbers("number"),
    *texts("document_json"),
    *times("at"),
    *texts("by"),
    key("workspace", "number"),
)

calls = Table(
    "call",
    metadata,
    *texts("workspace", "id", "app"),
    *numbers("version"),
    *texts("tool", "user", "status", "category", "danger_level", "source"),
    *times("at", "updated_at"),
    *texts("record_json"),
    *maybe_texts("outcome", "session"),
    *maybe_numbers("response_seq"),
    *maybe_texts("model_call_id", "run"),
    *maybe_times("sent_at", "next_poll_at"),
    *maybe_numbers("polls_left"),
    *maybe_times("deadline"),
    *maybe_texts("node", "private"),
    key("workspace", "id"),
    one_of("status", get_args(CallStatus)),
    CheckConstraint(f"(outcome IS NOT NULL) = ({any_of('status', sorted(ENDED))})", name="outcome"),
    Index("ix_call_at", "workspace", "at"),
    partial_index(
        "uq_call_model_call",
        "workspace",
        "session",
        "response_seq",
        "model_call_id",
        where="session IS NOT NULL",
        unique=True,
    ),
    partial_index("ix_call_run", "workspace", "run", where="run IS NOT NULL"),
    partial_index("ix_call_poll", "next_poll_at", where="status = 'polling'"),
    partial_index("ix_call_node", "node", where="node IS NOT NULL"),
)

inputs = Table(
    "input",
    metadata,
    *texts("workspace", "id", "call", "kind", "app", "tool", "user", "by", "digest", "body_json"),
    *times("created_at", "expires_at"),
    *texts("status"),
    *maybe_texts("session", "answered_by"),
    *maybe_times("answered_at"),
    *maybe_texts("answer_json"),
    key("workspace", "id"),
    ForeignKeyConstraint(["workspace", "call"], ["call.workspace", "call.id"]),
    one_of("status", get_args(InputStatus)),
    Index("ix_input_created", "workspace", "created_at", "id"),
    Index("ix_input_call", "workspace", "call"),
    partial_index("uq_input_open", "workspace", "call", where="status = 'open'", unique=True),
    partial_index("ix_input_expires", "expires_at", where="status = 'open'"),
)

# Written out, not as parameters: a plan that is kept for any value cannot use a partial index.
IS_POLLING = calls.c.status == literal_column("'polling'")
IS_OPEN = inputs.c.status == literal_column("'open'")

audit = Table(
    "audit",
    metadata,
    *texts("workspace", "id"),
    *times("at"),
    *texts("actor", "kind", "subject", "detail_json"),
    key("workspace", "id"),
    Index("ix_audit_at", "workspace", "at", "id"),
)

stored_answers = Table(
    "stored_answer",
    metadata,
    *texts("workspace", "key_id", "route", "key", "body_digest", "reference", "node"),
    *times("started_at", "expires_at"),
    *maybe_numbers("status"),
    *maybe_texts("headers_json", "body"),
    key("workspace", "key_id", "route", "key"),
    Index("ix_stored_answer_expires", "expires_at"),
)

token_usage = Table(
    "token_usage",
    metadata,
    *texts("workspace", "user"),
    *numbers("day"),
    *times("tokens"),
    key("workspace", "user", "day"),
)
