-- The founding tables. Released: never edited, only followed by 0002.
-- Times are integer milliseconds since 1970 in UTC. Internal numbers never leave the store as ids.

PRAGMA application_id = 1767991605;

CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE session (
    number INTEGER PRIMARY KEY,
    host   TEXT NOT NULL,
    name   TEXT NOT NULL,
    UNIQUE (name, host)
) STRICT;

CREATE TABLE place (
    number  INTEGER PRIMARY KEY,
    project TEXT,
    cwd     TEXT
) STRICT;
CREATE INDEX place_by_project ON place (project, cwd);
-- UNIQUE (project, cwd) would let (NULL, '/a') in twice.
CREATE UNIQUE INDEX place_once
    ON place (project IS NULL, ifnull(project, ''), cwd IS NULL, ifnull(cwd, ''));

-- The text stands last, so that reading the other columns does not follow its overflow pages.
-- AUTOINCREMENT: a number that was forgotten must not come back as another memory.
CREATE TABLE memory (
    number         INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid           BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    session        INTEGER NOT NULL REFERENCES session (number),
    place          INTEGER REFERENCES place (number),
    tier           TEXT    NOT NULL
        CHECK (tier IN ('working', 'episodic', 'semantic', 'procedural', 'parametric')),
    role           TEXT    NOT NULL CHECK (role IN ('user', 'assistant', 'system')),
    turn_uuid      TEXT,
    turn_index     INTEGER CHECK (turn_index >= 0),
    turn_at_ms     INTEGER NOT NULL,
    captured_at_ms INTEGER NOT NULL,
    stored_at_ms   INTEGER NOT NULL,
    valid_from_ms  INTEGER NOT NULL,
    valid_to_ms    INTEGER,
    language       TEXT,
    pinned         INTEGER NOT NULL CHECK (pinned IN (0, 1)),
    strength       REAL    NOT NULL CHECK (strength BETWEEN 0 AND 1),
    community      INTEGER CHECK (community >= 0),
    content_hash   BLOB    NOT NULL CHECK (length(content_hash) = 32),
    tags           TEXT    NOT NULL CHECK (json_type(tags) = 'array'),
    provenance     TEXT    NOT NULL CHECK (json_type(provenance) = 'object'),
    cue            TEXT,
    text           TEXT    NOT NULL
) STRICT;
CREATE INDEX memory_newest ON memory (turn_at_ms DESC, uuid);
-- Wide enough that "the newest of this project" and "its latest session" never read a memory.
CREATE INDEX memory_by_session ON memory (session, turn_at_ms DESC, uuid);
CREATE INDEX memory_by_place ON memory (place, turn_at_ms DESC, uuid, session);
CREATE INDEX memory_by_community ON memory (community) WHERE community IS NOT NULL;

CREATE TABLE link (
    src           INTEGER NOT NULL REFERENCES memory (number) ON DELETE CASCADE,
    dst           INTEGER NOT NULL REFERENCES memory (number) ON DELETE CASCADE,
    kind          TEXT    NOT NULL
        CHECK (kind IN ('temporal_next', 'similar', 'near_duplicate', 'hebbian', 'contradicts',
                        'consolidated_from', 'schema_instance_of', 'entity_shared')),
    weight        REAL    NOT NULL CHECK (weight BETWEEN 0 AND 1),
    created_at_ms INTEGER NOT NULL,
    touched_at_ms INTEGER NOT NULL,
    PRIMARY KEY (src, dst, kind),
    CHECK (src <> dst)
) STRICT, WITHOUT ROWID;
CREATE INDEX link_by_dst ON link (dst);

-- Which session has already strengthened which pair.
CREATE TABLE link_session (
    src     INTEGER NOT NULL REFERENCES memory (number) ON DELETE CASCADE,
    dst     INTEGER NOT NULL REFERENCES memory (number) ON DELETE CASCADE,
    session TEXT    NOT NULL,
    PRIMARY KEY (src, dst, session),
    CHECK (src <> dst)
) STRICT, WITHOUT ROWID;
CREATE INDEX link_session_by_dst ON link_session (dst);

CREATE TABLE event (
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid     BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
    kind     TEXT    NOT NULL,
    severity TEXT    CHECK (severity IN ('info', 'warning', 'critical')),
    domain   TEXT,
    at_ms    INTEGER NOT NULL,
    session  TEXT,
    data     TEXT    NOT NULL CHECK (json_valid(data)),
    sources  TEXT    NOT NULL CHECK (json_type(sources) = 'array')
) STRICT;
CREATE INDEX event_by_kind ON event (kind, at_ms);
CREATE INDEX event_by_time ON event (at_ms);

CREATE TABLE profile (
    knob          TEXT    PRIMARY KEY,
    value         TEXT    NOT NULL CHECK (json_valid(value)),
    updated_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE spool_receipt (
    file               TEXT    PRIMARY KEY,
    state              TEXT    NOT NULL CHECK (state IN ('waiting', 'done')),
    attempts           INTEGER NOT NULL CHECK (attempts >= 0),
    next_attempt_at_ms INTEGER,
    n_turns            INTEGER NOT NULL CHECK (n_turns >= 0),
    n_stored           INTEGER NOT NULL CHECK (n_stored >= 0),
    n_known            INTEGER NOT NULL CHECK (n_known >= 0),
    n_set_aside        INTEGER NOT NULL CHECK (n_set_aside >= 0),
    last_error         TEXT,
    at_ms              INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX spool_receipt_waiting ON spool_receipt (next_attempt_at_ms) WHERE state = 'waiting';

-- Spool lines nobody could read. At most one mebibyte of each, with the true length beside it.
CREATE TABLE set_aside (
    number       INTEGER PRIMARY KEY AUTOINCREMENT,
    file         TEXT    NOT NULL,
    line         INTEGER NOT NULL CHECK (line >= 0),
    reason       TEXT    NOT NULL,
    bytes        BLOB    NOT NULL CHECK (length(bytes) <= 1048576),
    length_bytes INTEGER NOT NULL CHECK (length_bytes >= length(bytes)),
    sha256       BLOB    NOT NULL CHECK (length(sha256) = 32),
    at_ms        INTEGER NOT NULL,
    UNIQUE (file, line, sha256)
) STRICT;
