-- Acme Scenes keeps everything in this one SQLite file.

CREATE TABLE users (
    id           TEXT PRIMARY KEY,
    name         TEXT NOT NULL,
    token_sha256 TEXT NOT NULL UNIQUE     -- the bearer token itself is stored nowhere
);

CREATE TABLE scenes (
    id            TEXT PRIMARY KEY,
    user_id       TEXT NOT NULL REFERENCES users (id),
    name          TEXT NOT NULL,
    version       INTEGER NOT NULL DEFAULT 1,   -- grows by one with every object placed
    saved_version INTEGER NOT NULL DEFAULT 1    -- the version at the last save
);

-- An object is only ever added, so a scene's earlier versions are still here:
-- version N of a scene is every object with version <= N.
CREATE TABLE objects (
    number   INTEGER PRIMARY KEY AUTOINCREMENT,  -- the order in which objects were placed
    id       TEXT NOT NULL UNIQUE,
    scene_id TEXT NOT NULL REFERENCES scenes (id) ON DELETE CASCADE,
    version  INTEGER NOT NULL,
    kind     TEXT NOT NULL CHECK (kind IN ('column', 'panel', 'plant', 'lamp')),
    x        REAL NOT NULL,                      -- metres from the middle of the floor
    y        REAL NOT NULL,
    rotation REAL NOT NULL                       -- degrees
);
CREATE INDEX objects_of_scene ON objects (scene_id, version);

-- A job outlives its scene, so that whoever waits for it is told what became of it.
CREATE TABLE jobs (
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    id       TEXT NOT NULL UNIQUE,
    user_id  TEXT NOT NULL REFERENCES users (id),
    scene_id TEXT NOT NULL,
    version  INTEGER NOT NULL,
    quality  TEXT NOT NULL CHECK (quality IN ('draft', 'final')),
    status   TEXT NOT NULL DEFAULT 'queued'
             CHECK (status IN ('queued', 'rendering', 'done', 'failed')),
    progress INTEGER NOT NULL DEFAULT 0,         -- percent
    error    TEXT,
    picture  BLOB                                -- a PNG, once done
);

-- One row for each request that arrived, written before it is answered.
CREATE TABLE requests (
    number          INTEGER PRIMARY KEY AUTOINCREMENT,
    at              TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    method          TEXT NOT NULL,
    path            TEXT NOT NULL,
    query           TEXT NOT NULL,               -- empty where it holds a signature
    user_id         TEXT,                        -- NULL without a valid token
    idempotency_key TEXT,
    client          TEXT,                        -- the X-Acme-Client header
    status          INTEGER                      -- NULL until answered
);

-- The answer to each change that came with an Idempotency-Key.
CREATE TABLE kept_answers (
    user_id        TEXT NOT NULL,
    key            TEXT NOT NULL,
    request_sha256 TEXT NOT NULL,                -- of method, path and body
    status         INTEGER NOT NULL,
    body           BLOB NOT NULL,
    PRIMARY KEY (user_id, key)
);

CREATE TABLE secrets (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
);
