"""The SQLite database of Acme Scenes: every statement the app runs is in this file.

One connection, one lock: a statement, or a whole `transaction()`, runs by itself. Reading functions
return frozen values, never rows.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

Kind = Literal["column", "panel", "plant", "lamp"]
KINDS: tuple[Kind, ...] = ("column", "panel", "plant", "lamp")

_SCENE = """
    SELECT id, name, version, saved_version,
           (SELECT count(*) FROM objects WHERE scene_id = scenes.id)
    FROM scenes
"""
_JOB = "SELECT id, user_id, scene_id, version, quality, status, progress, error FROM jobs"


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """Somebody with a token."""

    id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One scene, as it stands now; versions count from 1."""

    id: str
    name: str
    version: int
    saved_version: int
    object_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedObject:
    """One object on a scene's floor: x, y in metres from its middle, rotation in degrees."""

    id: str
    kind: Kind
    x: float
    y: float
    rotation: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One rendering job; progress in percent, error in words once it failed."""

    id: str
    user_id: str
    scene_id: str
    version: int
    quality: str
    status: str
    progress: int
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """What was answered to a change that came with an Idempotency-Key."""

    request_sha256: str
    status: int
    body: bytes


class Store:
    """Everything that Acme Scenes remembers."""

    def __init__(self, path: Path) -> None:
        """Open the database file, or make it.

        Raises:
            sqlite3.Error: The file cannot be opened or is no database.
        """
        self._lock = threading.RLock()
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        # WAL lets another program read the file while the app is running.
        self._run("PRAGMA journal_mode = WAL")
        self._run("PRAGMA foreign_keys = ON")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def transaction(self) -> Generator[None]:
        """Keep all that is done inside, or, when it ends in an exception, nothing of it."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def _run(self, statement: str, *values: object) -> int:
        with self._lock:
            return self._connection.execute(statement, values).rowcount

    def _rows(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        with self._lock:
            return self._connection.execute(statement, values).fetchall()

    # First start

    def is_new(self) -> bool:
        """Whether the database has no tables yet."""
        return not self._rows("SELECT 1 FROM sqlite_schema WHERE name = 'users'")

    def make_tables(self, schema: str) -> None:
        """Make the tables, one statement at a time (executescript would end the transaction)."""
        statement = ""
        for line in schema.splitlines(keepends=True):
            statement += line
            if sqlite3.complete_statement(statement):
                self._run(statement)
                statement = ""

    def add_user(self, user: User, token: str) -> None:
        """Add a user who signs in with this bearer token."""
        digest = hashlib.sha256(token.encode()).hexdigest()
        self._run("INSERT INTO users VALUES (?, ?, ?)", user.id, user.name, digest)

    def add_scene(self, user_id: str, scene_id: str, name: str) -> None:
        """Add an empty scene at version 1."""
        self._run(
            "INSERT INTO scenes (id, user_id, name) VALUES (?, ?, ?)", scene_id, user_id, name
        )

    def add_secret(self, name: str, value: bytes) -> None:
        """Keep a secret of the app under a name."""
        self._run("INSERT INTO secrets VALUES (?, ?)", name, value)

    def secret(self, name: str) -> bytes:
        """Read a secret of the app; the name must be there."""
        return cast("bytes", self._rows("SELECT value FROM secrets WHERE name = ?", name)[0][0])

    # Users and scenes

    def user_of_token(self, token: str) -> User | None:
        """Find whose bearer token this is."""
        digest = hashlib.sha256(token.encode()).hexdigest()
        for user_id, name in self._rows(
            "SELECT id, name FROM users WHERE token_sha256 = ?", digest
        ):
            return User(id=str(user_id), name=str(name))
        return None

    def scenes(self, user_id: str) -> list[Scene]:
        """List one user's scenes by name."""
        rows = self._rows(f"{_SCENE} WHERE user_id = ? ORDER BY name, id", user_id)
        return [_scene(row) for row in rows]

    def scene(self, scene_id: str, *, user_id: str | None = None) -> Scene | None:
        """Find a scene; with a user, only one of that user's."""
        rows = self._rows(
            f"{_SCENE} WHERE id = ?1 AND (?2 IS NULL OR user_id = ?2)", scene_id, user_id
        )
        return _scene(rows[0]) if rows else None

    def mark_saved(self, scene_id: str) -> None:
        """Make the version of now the saved one."""
        self._run("UPDATE scenes SET saved_version = version WHERE id = ?", scene_id)

    def delete_scene(self, scene_id: str) -> None:
        """Delete a scene with its objects and rendered pictures; jobs still open fail."""
        self._run("DELETE FROM scenes WHERE id = ?", scene_id)
        self._run("UPDATE jobs SET picture = NULL WHERE scene_id = ?", scene_id)
        self._run(
            "UPDATE jobs SET status = 'failed', error = ?"
            " WHERE scene_id = ? AND status IN ('queued', 'rendering')",
            "The scene was deleted before its picture was finished.",
            scene_id,
        )

    # Objects

    def objects(
        self,
        scene_id: str,
        *,
        kind: str | None = None,
        limit: int | None = None,
        up_to_version: int | None = None,
    ) -> list[PlacedObject]:
        """List a scene's objects in the order they were placed, of one kind or up to a version."""
        rows = self._rows(
            "SELECT id, kind, x, y, rotation FROM objects WHERE scene_id = ?1"
            " AND (?2 IS NULL OR kind = ?2) AND (?3 IS NULL OR version <= ?3)"
            " ORDER BY number LIMIT coalesce(?4, -1)",
            scene_id,
            kind,
            up_to_version,
            limit,
        )
        return [_object(row) for row in rows]

    def counts(self, scene_id: str) -> dict[str, int]:
        """Count a scene's objects by kind; every kind is there, with 0 where there is none."""
        rows = self._rows(
            "SELECT kind, count(*) FROM objects WHERE scene_id = ? GROUP BY kind", scene_id
        )
        found = {str(kind): cast("int", count) for kind, count in rows}
        return {kind: found.get(kind, 0) for kind in KINDS}

    def add_object(self, scene_id: str, placed: PlacedObject) -> None:
        """Add an object; the scene goes to its next version."""
        self._run("UPDATE scenes SET version = version + 1 WHERE id = ?", scene_id)
        self._run(
            "INSERT INTO objects (id, scene_id, version, kind, x, y, rotation)"
            " SELECT ?, id, version, ?, ?, ?, ? FROM scenes WHERE id = ?",
            placed.id,
            placed.kind,
            placed.x,
            placed.y,
            placed.rotation,
            scene_id,
        )

    # Jobs

    def add_job(self, job: Job) -> None:
        """Queue a rendering job."""
        self._run(
            "INSERT INTO jobs (id, user_id, scene_id, version, quality) VALUES (?, ?, ?, ?, ?)",
            job.id,
            job.user_id,
            job.scene_id,
            job.version,
            job.quality,
        )

    def job(self, job_id: str, user_id: str) -> Job | None:
        """Find one user's job."""
        rows = self._rows(f"{_JOB} WHERE id = ? AND user_id = ?", job_id, user_id)
        return _job(rows[0]) if rows else None

    def take_job(self) -> Job | None:
        """Take the oldest queued job; it is then `rendering`."""
        with self.transaction():
            rows = self._rows(f"{_JOB} WHERE status = 'queued' ORDER BY number LIMIT 1")
            for row in rows:
                self._run("UPDATE jobs SET status = 'rendering' WHERE id = ?", row[0])
        return _job(rows[0]) if rows else None

    def note_progress(self, job_id: str, percent: int) -> None:
        """Write down how far a job is."""
        self._run("UPDATE jobs SET progress = ? WHERE id = ?", percent, job_id)

    def finish_job(self, job_id: str, picture: bytes) -> None:
        """Keep the picture of a job, unless the job was failed in the meantime."""
        self._run(
            "UPDATE jobs SET status = 'done', progress = 100, picture = ?"
            " WHERE id = ? AND status = 'rendering'",
            picture,
            job_id,
        )

    def fail_job(self, job_id: str, error: str) -> None:
        """End a job that cannot be rendered."""
        self._run(
            "UPDATE jobs SET status = 'failed', error = ? WHERE id = ? AND status = 'rendering'",
            error,
            job_id,
        )

    def requeue_jobs(self) -> None:
        """Put jobs that were cut off half way back into the queue."""
        self._run("UPDATE jobs SET status = 'queued', progress = 0 WHERE status = 'rendering'")

    def job_picture(self, job_id: str) -> bytes | None:
        """Read the finished picture of a job."""
        rows = self._rows("SELECT picture FROM jobs WHERE id = ?", job_id)
        return cast("bytes | None", rows[0][0]) if rows else None

    # Requests and kept answers

    def log_request(
        self, method: str, path: str, query: str, *, key: str | None, client: str | None
    ) -> int:
        """Write down that a request arrived; returns its number."""
        rows = self._rows(
            "INSERT INTO requests (method, path, query, idempotency_key, client)"
            " VALUES (?, ?, ?, ?, ?) RETURNING number",
            method,
            path,
            query,
            key,
            client,
        )
        return cast("int", rows[0][0])

    def log_user(self, number: int, user_id: str) -> None:
        """Write down whose request it was."""
        self._run("UPDATE requests SET user_id = ? WHERE number = ?", user_id, number)

    def log_status(self, number: int, status: int) -> None:
        """Write down how a request was answered."""
        self._run("UPDATE requests SET status = ? WHERE number = ?", status, number)

    def keep_answer(self, user_id: str, key: str, answer: KeptAnswer) -> None:
        """Keep an answer under the user's Idempotency-Key."""
        self._run(
            "INSERT INTO kept_answers VALUES (?, ?, ?, ?, ?)",
            user_id,
            key,
            answer.request_sha256,
            answer.status,
            answer.body,
        )

    def kept_answer(self, user_id: str, key: str) -> KeptAnswer | None:
        """Find the answer kept under the user's Idempotency-Key."""
        rows = self._rows(
            "SELECT request_sha256, status, body FROM kept_answers WHERE user_id = ? AND key = ?",
            user_id,
            key,
        )
        for digest, status, body in rows:
            return KeptAnswer(
                request_sha256=str(digest), status=cast("int", status), body=cast("bytes", body)
            )
        return None


def _scene(row: tuple[object, ...]) -> Scene:
    scene_id, name, version, saved_version, count = cast("tuple[str, str, int, int, int]", row)
    return Scene(
        id=scene_id, name=name, version=version, saved_version=saved_version, object_count=count
    )


def _object(row: tuple[object, ...]) -> PlacedObject:
    object_id, kind, x, y, rotation = cast("tuple[str, Kind, float, float, float]", row)
    return PlacedObject(id=object_id, kind=kind, x=x, y=y, rotation=rotation)


def _job(row: tuple[object, ...]) -> Job:
    values = cast("tuple[str, str, str, int, str, str, int, str | None]", row)
    job_id, user_id, scene_id, version, quality, status, progress, error = values
    return Job(
        id=job_id,
        user_id=user_id,
        scene_id=scene_id,
        version=version,
        quality=quality,
        status=status,
        progress=progress,
        error=error,
    )
