-- Everything belongs to one user of one installation: every statement of store.py names both.

CREATE TABLE IF NOT EXISTS bookmarks (
    id INTEGER PRIMARY KEY,
    installation TEXT NOT NULL,
    user_id TEXT NOT NULL,
    url TEXT NOT NULL,
    title TEXT NOT NULL,
    saved_on TEXT NOT NULL,                                -- 2026-03-31
    source TEXT NOT NULL CHECK (source IN ('agent', 'mail')),
    UNIQUE (installation, user_id, url)
);

CREATE TABLE IF NOT EXISTS tags (
    bookmark_id INTEGER NOT NULL REFERENCES bookmarks (id) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    PRIMARY KEY (bookmark_id, tag)
) WITHOUT ROWID;

-- Whose mailbox is connected, since when.
CREATE TABLE IF NOT EXISTS connections (
    installation TEXT NOT NULL,
    user_id TEXT NOT NULL,
    connected_at TEXT NOT NULL,
    PRIMARY KEY (installation, user_id)
) WITHOUT ROWID;

-- The sample mailbox, which stands in for a provider of mail: one for whoever connects.
CREATE TABLE IF NOT EXISTS mails (
    id INTEGER PRIMARY KEY,
    installation TEXT NOT NULL,
    user_id TEXT NOT NULL,
    received_on TEXT NOT NULL,
    sender TEXT NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS mails_of ON mails (installation, user_id, received_on);

-- Embedded pages: a code that opens one once within a minute, then a cookie for that frame alone.
-- Of both only the SHA-256 is kept.
CREATE TABLE IF NOT EXISTS frames (
    id TEXT PRIMARY KEY,
    installation TEXT NOT NULL,
    user_id TEXT NOT NULL,
    weeks INTEGER NOT NULL,
    code_sha256 BLOB NOT NULL UNIQUE,
    code_until REAL NOT NULL,                              -- Unix seconds, as cookie_until
    cookie_sha256 BLOB,
    cookie_until REAL
) WITHOUT ROWID;
