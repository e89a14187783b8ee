"""The SQLite database of the tracker's server: every statement that it runs is in this file.

Issues are not in it: they live in the browser. One connection, one lock: each function is one
transaction.
"""

from __future__ import annotations

import secrets
import sqlite3
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_SCHEMA = """
CREATE TABLE IF NOT EXISTS estimates (
    tenant TEXT NOT NULL,
    issue TEXT NOT NULL,
    project TEXT NOT NULL,
    points INTEGER,  -- NULL once it was taken back
    version INTEGER NOT NULL,
    saved_by TEXT NOT NULL,
    saved_at TEXT NOT NULL,
    PRIMARY KEY (tenant, issue)
) STRICT;
CREATE TABLE IF NOT EXISTS conversations (
    session TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    user TEXT NOT NULL,
    number INTEGER NOT NULL  -- the highest of a tenant and user is the one that goes on
) STRICT;
CREATE TABLE IF NOT EXISTS secrets (
    name TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT;
"""
_ESTIMATE = "SELECT issue, project, points, version, saved_by, saved_at FROM estimates"


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What an issue is estimated at; versions count from 1, `saved_at` is RFC 3339 in UTC."""

    issue: str
    project: str
    points: int | None
    version: int
    saved_by: str
    saved_at: str


class Database:
    """The database in a file; it is made where it is not there."""

    def __init__(self, file: Path) -> None:
        """Open it.

        Raises:
            sqlite3.Error: it cannot be opened, or is no database.
        """
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        self._connection.executescript(f"PRAGMA journal_mode = wal; {_SCHEMA}")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _transaction(self) -> Generator[sqlite3.Connection]:
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def secret(self, name: str) -> bytes:
        """A secret of this server, made at the first start, so that a sign-in outlives others."""
        with self._transaction() as run:
            run.execute(
                "INSERT OR IGNORE INTO secrets VALUES (?, ?)", (name, secrets.token_bytes(32))
            )
            (value,) = run.execute("SELECT value FROM secrets WHERE name = ?", (name,)).fetchone()
            return value

    # Estimates

    def estimates(self, tenant: str) -> list[Estimate]:
        """All estimates of a tenant, by issue."""
        with self._transaction() as run:
            rows = run.execute(f"{_ESTIMATE} WHERE tenant = ? ORDER BY issue", (tenant,))
            return [_estimate(row) for row in rows]

    def estimate(self, tenant: str, issue: str) -> Estimate | None:
        """The estimate of one issue."""
        with self._transaction() as run:
            rows = run.execute(f"{_ESTIMATE} WHERE tenant = ? AND issue = ?", (tenant, issue))
            row = rows.fetchone()
            return _estimate(row) if row else None

    def save_estimate(
        self, tenant: str, issue: str, *, project: str, points: int | None, by: str, at: str
    ) -> Estimate:
        """Save an estimate; the same points again are no new version."""
        with self._transaction() as run:
            run.execute(
                "INSERT INTO estimates VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6)"
                " ON CONFLICT DO UPDATE SET points = ?4, version = version + 1,"
                " saved_by = ?5, saved_at = ?6 WHERE points IS NOT ?4",
                (tenant, issue, project, points, by, at),
            )
            rows = run.execute(f"{_ESTIMATE} WHERE tenant = ? AND issue = ?", (tenant, issue))
            return _estimate(rows.fetchone())

    def project_points(self, tenant: str, project: str) -> int:
        """The sum of a project's estimates."""
        with self._transaction() as run:
            rows = run.execute(
                "SELECT coalesce(sum(points), 0) FROM estimates WHERE tenant = ? AND project = ?",
                (tenant, project),
            )
            (points,) = rows.fetchone()
            return points

    # Conversations

    def conversation(self, tenant: str, user: str) -> str | None:
        """The session of the conversation that a user has in a tenant."""
        with self._transaction() as run:
            row = run.execute(
                "SELECT session FROM conversations WHERE tenant = ? AND user = ?"
                " ORDER BY number DESC LIMIT 1",
                (tenant, user),
            ).fetchone()
            return row[0] if row else None

    def keep_conversation(self, session: str, tenant: str, user: str) -> None:
        """A user began a conversation in a tenant."""
        with self._transaction() as run:
            run.execute(
                "INSERT INTO conversations SELECT ?1, ?2, ?3, coalesce(max(number), 0) + 1"
                " FROM conversations",
                (session, tenant, user),
            )

    def tenant_of_conversation(self, session: str, user: str) -> str | None:
        """The tenant of a session, where it is a conversation of this user."""
        with self._transaction() as run:
            row = run.execute(
                "SELECT tenant FROM conversations WHERE session = ? AND user = ?", (session, user)
            ).fetchone()
            return row[0] if row else None


def _estimate(row: tuple[str, str, int | None, int, str, str]) -> Estimate:
    issue, project, points, version, saved_by, saved_at = row
    return Estimate(
        issue=issue,
        project=project,
        points=points,
        version=version,
        saved_by=saved_by,
        saved_at=saved_at,
    )
