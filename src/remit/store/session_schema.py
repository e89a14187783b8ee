"""The tables of sessions; what ``schema`` says of its tables holds here too.

A session that rests costs its row and what lists are read by: the partial indexes hold only
sessions that have to be looked at at some time, and those that a node works on.
"""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Index, Table

from remit.gateway.conversing import Settings, Task
from remit.session.events import State
from remit.store.columns import (
    key,
    maybe_texts,
    maybe_times,
    metadata,
    numbers,
    partial_index,
    texts,
    times,
)
from remit.store.types import NamesText, SealedText, StructText

sessions = Table(
    "session",
    metadata,
    *texts("workspace", "id", "user"),
    *times("created_at", "updated_at"),
    Column("settings", StructText(Settings), nullable=False),
    Column("state", StructText(State), nullable=False),
    Column("task", StructText(Task), nullable=False),
    *maybe_texts("title"),
    *times("head_seq"),
    *numbers("entries"),
    Column("sealed", SealedText, nullable=True),
    *maybe_texts("sealed_by", "row_id"),
    *maybe_times("due_at"),
    *maybe_texts("node"),
    *maybe_times("lease_until"),
    *numbers("fence", "wakes", "attempts"),
    # What lists are filtered by, out of ``state`` and ``settings``.
    *texts("status"),
    Column("apps", NamesText, nullable=False),
    key("workspace", "id"),
    Index("ix_session_created", "workspace", "created_at", "id"),
    Index("ix_session_user", "workspace", "user", "created_at", "id"),
    partial_index("ix_session_due", "due_at", where="due_at IS NOT NULL AND node IS NULL"),
    partial_index("ix_session_node", "node", where="node IS NOT NULL"),
    partial_index("ix_session_row_id", "workspace", "row_id", where="row_id IS NOT NULL"),
)

# Written as they are here, so that the partial indexes are of use.
IS_FREE = sessions.c.node.is_(None)
IS_HELD = sessions.c.node.is_not(None)

# Added to and never changed.
session_events = Table(
    "session_event",
    metadata,
    *texts("workspace", "session"),
    *times("seq"),
    *texts("type"),
    *times("at"),
    *texts("data_json"),
    key("workspace", "session", "seq"),
)

session_entries = Table(
    "session_entry",
    metadata,
    *texts("workspace", "session"),
    *numbers("number"),
    *texts("kind", "format", "body_json"),
    key("workspace", "session", "number"),
)

session_clients = Table(
    "session_client",
    metadata,
    *texts("workspace", "session", "client", "announced_json"),
    *times("first_at", "seen_at"),
    *maybe_texts("device"),
    key("workspace", "session", "client"),
)

client_calls = Table(
    "client_call",
    metadata,
    *texts("workspace", "session", "call", "tool", "schema_digest", "args_json"),
    *times("offered_at"),
    *numbers("timeout_ms"),
    Column("idempotent", Boolean, nullable=False),
    *maybe_texts("wanted", "client", "claim"),
    *maybe_times("claimed_at"),
    *numbers("claims"),
    # A call that is over stays, so that it is never offered a second time.
    *maybe_texts("ended_json"),
    key("workspace", "session", "call"),
)

# Sessions that are gone but for calls that were not over then.
erased_sessions = Table(
    "erased_session",
    metadata,
    *texts("workspace", "session"),
    key("workspace", "session"),
)
