"""The SQLite database of Acme Bookmarks: every statement that the component runs is in this file.

One connection, one lock: each function is one transaction. Every statement names the owner, so that
nobody sees or changes a row of somebody else.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Literal

_SCHEMA = Path(__file__).with_name("schema.sql")
_BOOKMARKS = """
    SELECT url, title, saved_on,
           coalesce((SELECT group_concat(tag, ' ') FROM
                     (SELECT tag FROM tags WHERE bookmark_id = bookmarks.id ORDER BY tag)), '')
    FROM bookmarks WHERE installation = ? AND user_id = ?
    ORDER BY saved_on DESC, id DESC
"""


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose rows: a user, within one installation of the app."""

    installation: str
    user: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bookmark:
    """One page that was kept."""

    url: str
    title: str
    saved_on: date
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """One mail of the mailbox."""

    received_on: date
    sender: str
    subject: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A dashboard that was opened: its id, whose it is, and how many weeks it shows."""

    id: str
    owner: Owner
    weeks: int


class Store:
    """The database in a file; it is made where it is not there."""

    def __init__(self, file: Path) -> None:
        """Open it.

        Raises:
            sqlite3.Error: it cannot be opened, or is no database.
        """
        self._lock = threading.Lock()
        self._database = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        self._database.executescript(
            f"PRAGMA journal_mode = wal; PRAGMA foreign_keys = on; {_SCHEMA.read_text('utf-8')}"
        )

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    @contextmanager
    def _transaction(self) -> Generator[sqlite3.Connection]:
        with self._lock:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")

    # -- bookmarks -----------------------------------------------------------------------------

    def save(
        self, owner: Owner, bookmarks: Sequence[Bookmark], source: Literal["agent", "mail"]
    ) -> list[Bookmark]:
        """Keep them; those that were new. One that was there gets the tags that it had not."""
        new: list[Bookmark] = []
        mine = owner.installation, owner.user
        with self._transaction() as database:
            for one in bookmarks:
                made = database.execute(
                    "INSERT INTO bookmarks (installation, user_id, url, title, saved_on, source) "
                    "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id",
                    (*mine, one.url, one.title, one.saved_on.isoformat(), source),
                ).fetchone()
                if made is not None:
                    new.append(one)
                database.executemany(
                    "INSERT INTO tags SELECT id, ? FROM bookmarks "
                    "WHERE installation = ? AND user_id = ? AND url = ? ON CONFLICT DO NOTHING",
                    [(tag, *mine, one.url) for tag in one.tags],
                )
        return new

    def search(
        self, owner: Owner, words: Sequence[str], *, tag: str | None, limit: int
    ) -> tuple[list[Bookmark], int]:
        """The newest that have every word and the tag, and how many there are in all."""
        found = [
            one
            for one in self.bookmarks(owner)
            if (tag is None or tag in one.tags)
            and all(
                word.casefold() in f"{one.title} {one.url} {' '.join(one.tags)}".casefold()
                for word in words
            )
        ]
        return found[:limit], len(found)

    def bookmarks(self, owner: Owner) -> list[Bookmark]:
        """All of a user, the newest first."""
        with self._transaction() as database:
            rows = database.execute(_BOOKMARKS, (owner.installation, owner.user)).fetchall()
        return [
            Bookmark(
                url=url, title=title, saved_on=date.fromisoformat(saved), tags=tuple(tags.split())
            )
            for url, title, saved, tags in rows
        ]

    # -- mail ----------------------------------------------------------------------------------

    def connect(self, owner: Owner, mails: Sequence[Mail], *, at: datetime) -> None:
        """Connect the mailbox, and put the sample mails into it; a second time does nothing."""
        mine = owner.installation, owner.user
        with self._transaction() as database:
            made = database.execute(
                "INSERT INTO connections VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                (*mine, at.isoformat(timespec="seconds")),
            )
            if made.rowcount:
                database.executemany(
                    "INSERT INTO mails (installation, user_id, received_on, sender, subject, body) "
                    "VALUES (?, ?, ?, ?, ?, ?)",
                    [
                        (*mine, mail.received_on.isoformat(), mail.sender, mail.subject, mail.body)
                        for mail in mails
                    ],
                )

    def is_connected(self, owner: Owner) -> bool:
        """Whether the user has connected the mailbox."""
        with self._transaction() as database:
            found = database.execute(
                "SELECT 1 FROM connections WHERE installation = ? AND user_id = ?",
                (owner.installation, owner.user),
            ).fetchone()
        return found is not None

    def mails(self, owner: Owner, *, since: date) -> list[Mail]:
        """The mails of a user from this day on, the oldest first."""
        with self._transaction() as database:
            rows = database.execute(
                "SELECT received_on, sender, subject, body FROM mails "
                "WHERE installation = ? AND user_id = ? AND received_on >= ? "
                "ORDER BY received_on, id",
                (owner.installation, owner.user, since.isoformat()),
            ).fetchall()
        return [
            Mail(received_on=date.fromisoformat(on), sender=sender, subject=subject, body=body)
            for on, sender, subject, body in rows
        ]

    # -- embedded pages ------------------------------------------------------------------------

    def add_frame(self, frame: Frame, code_sha256: bytes, *, until: float, now: float) -> None:
        """Keep a page that a code opens; what has run out goes."""
        with self._transaction() as database:
            database.execute(
                "DELETE FROM frames WHERE max(code_until, coalesce(cookie_until, 0)) < ?", (now,)
            )
            database.execute(
                "INSERT INTO frames (id, installation, user_id, weeks, code_sha256, code_until) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (
                    *(frame.id, frame.owner.installation, frame.owner.user, frame.weeks),
                    *(code_sha256, until),
                ),
            )

    def open_frame(
        self, code_sha256: bytes, cookie_sha256: bytes, *, until: float, now: float
    ) -> Frame | None:
        """Use a code up for a cookie; None where it was used, has run out, or never was."""
        with self._transaction() as database:
            row = database.execute(
                "UPDATE frames SET cookie_sha256 = ?, cookie_until = ? "
                "WHERE code_sha256 = ? AND code_until >= ? AND cookie_sha256 IS NULL "
                "RETURNING id, installation, user_id, weeks",
                (cookie_sha256, until, code_sha256, now),
            ).fetchone()
        return _frame(row)

    def frame_of_code(self, code_sha256: bytes) -> Frame | None:
        """The page that a code opened, whether it still would or not."""
        with self._transaction() as database:
            row = database.execute(
                "SELECT id, installation, user_id, weeks FROM frames WHERE code_sha256 = ?",
                (code_sha256,),
            ).fetchone()
        return _frame(row)

    def frame_of_cookie(self, id: str, cookie_sha256: bytes, *, now: float) -> Frame | None:  # noqa: A002
        """The page with this id, for who has its cookie."""
        with self._transaction() as database:
            row = database.execute(
                "SELECT id, installation, user_id, weeks FROM frames "
                "WHERE id = ? AND cookie_sha256 = ? AND cookie_until >= ?",
                (id, cookie_sha256, now),
            ).fetchone()
        return _frame(row)


def _frame(row: tuple[str, str, str, int] | None) -> Frame | None:
    if row is None:
        return None
    id_, installation, user, weeks = row
    return Frame(id=id_, owner=Owner(installation, user), weeks=weeks)
