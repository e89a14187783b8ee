"""The tables. The workspace is in every one, and in every primary key.

Names of columns are the names of the fields of the values in ``gateway.records`` and
``gateway.ledger``. A change here needs a migration; a test compares the two.

A call costs the table, its primary key and the indexes that its row stands in: the partial ones
hold only rows of sessions, rows that wait, and rows at work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    literal_column,
    text,
)

from remit.gateway.ledger import ENDED, CallStatus, InputStatus
from remit.gateway.records import VersionStatus
from remit.store.types import CeilingText, NamesText, SealedText

if TYPE_CHECKING:
    from collections.abc import Iterable

# The newest migration; a test holds that it is.
HEAD = "0001"

# Ids are compared byte by byte (contract section 1), on both databases alike; and an index in
# the order of a locale breaks when the machine's locales are updated.
TEXT = Text().with_variant(Text(collation="C"), "postgresql")

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _text(*names: str) -> list[Column[str]]:
    return [Column(name, TEXT, nullable=False) for name in names]


def _maybe(*names: str) -> list[Column[str]]:
    return [Column(name, TEXT, nullable=True) for name in names]


def _time(*names: str) -> list[Column[int]]:
    return [Column(name, BigInteger, nullable=False) for name in names]


def _maybe_time(*names: str) -> list[Column[int]]:
    return [Column(name, BigInteger, nullable=True) for name in names]


def _number(*names: str) -> list[Column[int]]:
    return [Column(name, Integer, nullable=False) for name in names]


def _maybe_number(*names: str) -> list[Column[int]]:
    return [Column(name, Integer, nullable=True) for name in names]


def _any_of(column: str, words: Iterable[str]) -> str:
    # Not IN: SQLite makes a table of the words anew for each row.
    return " OR ".join(f"{column} = '{word}'" for word in words)


def _one_of(column: str, words: Iterable[str]) -> CheckConstraint:
    return CheckConstraint(_any_of(column, words), name=column)


def _key(*names: str) -> PrimaryKeyConstraint:
    return PrimaryKeyConstraint(*names)


def _partial(name: str, *columns: str, where: str, unique: bool = False) -> Index:
    condition = text(where)
    return Index(name, *columns, unique=unique, sqlite_where=condition, postgresql_where=condition)


workspaces = Table("workspace", metadata, *_text("id"), *_time("created_at"), _key("id"))

# One row counts all changes, the others say when each kind of thing changed last.
revisions = Table(
    "revision", metadata, *_text("workspace", "kind"), *_time("number"), _key("workspace", "kind")
)

# Processes, which serve all workspaces.
nodes = Table("node", metadata, *_text("id"), *_time("lease_until"), _key("id"))

apps = Table(
    "app",
    metadata,
    *_text("workspace", "id", "installation"),
    *_time("created_at"),
    *_number("revision"),
    *_maybe_number("in_force"),
    *_maybe_time("suspended_at"),
    *_maybe("suspended_by", "suspended_reason"),
    _key("workspace", "id"),
)

versions = Table(
    "app_version",
    metadata,
    *_text("workspace", "app"),
    *_number("number", "edit"),
    *_text("status", "definition_json", "remit_digest"),
    *_time("submitted_at"),
    *_text("submitted_by"),
    Column("ceiling", CeilingText, nullable=True),
    *_maybe("consent"),
    *_maybe_time("decided_at"),
    *_maybe("decided_by", "reason"),
    _key("workspace", "app", "number"),
    ForeignKeyConstraint(["workspace", "app"], ["app.workspace", "app.id"]),
    _one_of("status", get_args(VersionStatus)),
)

edits = Table(
    "app_edit",
    metadata,
    *_text("workspace", "app"),
    *_number("version", "number"),
    *_text("definition_json", "remit_digest", "diff_json"),
    *_time("at"),
    *_text("by"),
    _key("workspace", "app", "version", "number"),
    ForeignKeyConstraint(
        ["workspace", "app", "version"],
        ["app_version.workspace", "app_version.app", "app_version.number"],
    ),
)

catalog_sources = Table(
    "catalog_source",
    metadata,
    *_text("workspace", "app", "digest"),
    *_maybe("accepted", "etag", "last_modified"),
    *_time("checked_at", "fetched_at"),
    _key("workspace", "app"),
)

catalog_snapshots = Table(
    "catalog_snapshot",
    metadata,
    *_text("workspace", "app", "digest", "body", "diff_json", "dropped_json"),
    *_time("at"),
    _key("workspace", "app", "digest"),
)

grants = Table(
    "user_grant",
    metadata,
    *_text("workspace", "id", "app", "user"),
    *_number("version"),
    *_time("at"),
    *_text("by"),
    *_maybe_time("revoked_at"),
    *_maybe("revoked_by"),
    _key("workspace", "id"),
    _partial(
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
    *_text("workspace", "app", "user", "id", "type"),
    Column("sealed", SealedText, nullable=False),
    *_text("sealed_by", "row_id"),
    *_time("created_at", "updated_at"),
    *_maybe("account"),
    *_maybe_time("expires_at"),
    *_number("revision"),
    _key("workspace", "app", "user"),
    Index(None, "workspace", "row_id"),
)

env_values = Table(
    "env_value",
    metadata,
    *_text("workspace", "app", "collection", "environment", "name"),
    Column("sealed", SealedText, nullable=False),
    *_text("sealed_by", "row_id"),
    *_time("updated_at"),
    *_text("updated_by"),
    _key("workspace", "app", "collection", "environment", "name"),
    Index(None, "workspace", "row_id"),
)

data_keys = Table(
    "data_key",
    metadata,
    *_text("workspace", "id", "master", "wrapped"),
    *_time("uses"),
    *_number("number"),
    _key("workspace", "id"),
    UniqueConstraint("workspace", "number"),
    Index(None, "master"),
)

signing_keys = Table(
    "signing_key",
    metadata,
    *_text("workspace", "kid", "public"),
    Column("sealed", SealedText, nullable=False),
    *_text("sealed_by", "row_id"),
    *_time("active_from_s"),
    *_number("number"),
    _key("workspace", "kid"),
    UniqueConstraint("workspace", "number"),
)

api_keys = Table(
    "api_key",
    metadata,
    *_text("workspace", "id", "role", "name", "secret_hash", "prefix"),
    *_time("created_at"),
    *_text("created_by"),
    *_maybe("user"),
    Column("apps", NamesText, nullable=True),
    Column("tools", NamesText, nullable=True),
    Column("pins", NamesText, nullable=True),
    Column("sealed", SealedText, nullable=True),
    *_maybe("sealed_by", "row_id"),
    *_maybe_time("expires_at", "revoked_at", "last_used_at"),
    _key("workspace", "id"),
    UniqueConstraint("secret_hash"),
    _one_of("role", ("operator", "backend", "user")),
    _partial("ix_api_key_row_id", "workspace", "row_id", where="row_id IS NOT NULL"),
)

policies = Table(
    "policy",
    metadata,
    *_text("workspace"),
    *_number("number"),
    *_text("document_json"),
    *_time("at"),
    *_text("by"),
    _key("workspace", "number"),
)

calls = Table(
    "call",
    metadata,
    *_text("workspace", "id", "app"),
    *_number("version"),
    *_text("tool", "user", "status", "category", "danger_level", "source"),
    *_time("at", "updated_at"),
    *_text("record_json"),
    *_maybe("outcome", "session"),
    *_maybe_number("response_seq"),
    *_maybe("model_call_id", "run"),
    *_maybe_time("sent_at", "next_poll_at"),
    *_maybe_number("polls_left"),
    *_maybe_time("deadline"),
    *_maybe("node", "private"),
    _key("workspace", "id"),
    _one_of("status", get_args(CallStatus)),
    CheckConstraint(
        f"(outcome IS NOT NULL) = ({_any_of('status', sorted(ENDED))})", name="outcome"
    ),
    Index("ix_call_at", "workspace", "at"),
    _partial(
        "uq_call_model_call",
        "workspace",
        "session",
        "response_seq",
        "model_call_id",
        where="session IS NOT NULL",
        unique=True,
    ),
    _partial("ix_call_run", "workspace", "run", where="run IS NOT NULL"),
    _partial("ix_call_poll", "next_poll_at", where="status = 'polling'"),
    _partial("ix_call_node", "node", where="node IS NOT NULL"),
)

inputs = Table(
    "input",
    metadata,
    *_text("workspace", "id", "call", "kind", "app", "tool", "user", "by", "digest", "body_json"),
    *_time("created_at", "expires_at"),
    *_text("status"),
    *_maybe("session", "answered_by"),
    *_maybe_time("answered_at"),
    *_maybe("answer_json"),
    _key("workspace", "id"),
    ForeignKeyConstraint(["workspace", "call"], ["call.workspace", "call.id"]),
    _one_of("status", get_args(InputStatus)),
    Index("ix_input_created", "workspace", "created_at", "id"),
    Index("ix_input_call", "workspace", "call"),
    _partial("uq_input_open", "workspace", "call", where="status = 'open'", unique=True),
    _partial("ix_input_expires", "expires_at", where="status = 'open'"),
)

# Written out, not as parameters: a plan that is kept for any value cannot use a partial index.
IS_POLLING = calls.c.status == literal_column("'polling'")
IS_OPEN = inputs.c.status == literal_column("'open'")

audit = Table(
    "audit",
    metadata,
    *_text("workspace", "id"),
    *_time("at"),
    *_text("actor", "kind", "subject", "detail_json"),
    _key("workspace", "id"),
    Index("ix_audit_at", "workspace", "at", "id"),
)

stored_answers = Table(
    "stored_answer",
    metadata,
    *_text("workspace", "key_id", "route", "key", "body_digest", "reference", "node"),
    *_time("started_at", "expires_at"),
    *_maybe_number("status"),
    *_maybe("headers_json", "body"),
    _key("workspace", "key_id", "route", "key"),
    Index("ix_stored_answer_expires", "expires_at"),
)

token_usage = Table(
    "token_usage",
    metadata,
    *_text("workspace", "user"),
    *_number("day"),
    *_time("tokens"),
    _key("workspace", "user", "day"),
)
