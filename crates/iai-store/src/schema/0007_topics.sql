-- Topics, summaries, patterns and questions: what consolidation found. All of it is derived from the
-- memories and follows them when they are forgotten.

-- The memories nearest to each one when it was looked at: (number u32, nearness u8)…, little-endian.
CREATE TABLE nearness (
    memory INTEGER PRIMARY KEY REFERENCES memory (number) ON DELETE CASCADE,
    others BLOB    NOT NULL CHECK (length(others) <= 40 AND length(others) % 5 = 0)
) STRICT;

-- `memory.community` is the number of a topic. AUTOINCREMENT: a name that was told is not given away.
CREATE TABLE topic (
    number        INTEGER PRIMARY KEY AUTOINCREMENT,
    label         TEXT    NOT NULL,
    phrases       TEXT    NOT NULL CHECK (json_type(phrases) = 'array'),
    n_members     INTEGER NOT NULL CHECK (n_members >= 0),
    project       TEXT,
    updated_at_ms INTEGER NOT NULL
) STRICT;

-- What a summary is of, whether that has changed since, and the memory that holds its text.
CREATE TABLE summary (
    kind         TEXT    NOT NULL CHECK (kind IN ('topic', 'session')),
    source       INTEGER NOT NULL,
    is_stale     INTEGER NOT NULL CHECK (is_stale IN (0, 1)),
    members_hash INTEGER,
    memory       INTEGER REFERENCES memory (number) ON DELETE SET NULL,
    PRIMARY KEY (kind, source)
) STRICT, WITHOUT ROWID;
CREATE INDEX summary_stale ON summary (kind, source) WHERE is_stale = 1;
CREATE INDEX summary_by_memory ON summary (memory) WHERE memory IS NOT NULL;

CREATE TRIGGER memory_changes_topic AFTER UPDATE OF community ON memory
WHEN old.community IS NOT new.community BEGIN
    UPDATE summary SET is_stale = 1
     WHERE kind = 'topic' AND source IN (old.community, new.community);
END;
CREATE TRIGGER memory_ends_in_topic AFTER UPDATE OF valid_to_ms ON memory BEGIN
    UPDATE summary SET is_stale = 1 WHERE kind = 'topic' AND source = new.community;
    UPDATE summary SET is_stale = 1 WHERE kind = 'session' AND source = new.session;
END;
CREATE TRIGGER memory_leaves_topic AFTER DELETE ON memory BEGIN
    UPDATE summary SET is_stale = 1 WHERE kind = 'topic' AND source = old.community;
    UPDATE summary SET is_stale = 1 WHERE kind = 'session' AND source = old.session;
END;

-- What habits are counted from.
CREATE TABLE fact (
    number INTEGER PRIMARY KEY,
    kind   TEXT NOT NULL CHECK (kind IN ('command', 'entity', 'preference')),
    name   TEXT NOT NULL CHECK (length(name) <= 120),
    UNIQUE (kind, name)
) STRICT;
CREATE TABLE fact_memory (
    memory INTEGER NOT NULL REFERENCES memory (number) ON DELETE CASCADE,
    fact   INTEGER NOT NULL REFERENCES fact (number) ON DELETE CASCADE,
    PRIMARY KEY (memory, fact)
) STRICT, WITHOUT ROWID;
CREATE INDEX fact_memory_by_fact ON fact_memory (fact);

-- `project` is '' for what was said outside of any.
CREATE TABLE pattern (
    number        INTEGER PRIMARY KEY,
    kind          TEXT    NOT NULL CHECK (kind IN ('habit', 'association', 'preference')),
    subject       TEXT    NOT NULL,
    object        TEXT    NOT NULL,
    project       TEXT    NOT NULL,
    n_evidence    INTEGER NOT NULL CHECK (n_evidence >= 0),
    n_exceptions  INTEGER NOT NULL CHECK (n_exceptions >= 0),
    confidence    REAL    NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    status        TEXT    NOT NULL CHECK (status IN ('auto', 'pending')),
    updated_at_ms INTEGER NOT NULL,
    UNIQUE (kind, subject, object, project)
) STRICT;
CREATE INDEX pattern_by_project ON pattern (project);
CREATE TABLE pattern_evidence (
    pattern INTEGER NOT NULL REFERENCES pattern (number) ON DELETE CASCADE,
    memory  INTEGER NOT NULL REFERENCES memory (number) ON DELETE CASCADE,
    PRIMARY KEY (pattern, memory)
) STRICT, WITHOUT ROWID;
CREATE INDEX pattern_evidence_by_memory ON pattern_evidence (memory);

-- Cues that found nothing: `cue` as it is compared, `asked` as it was last put.
CREATE TABLE missed_cue (
    cue         TEXT    NOT NULL,
    project     TEXT    NOT NULL,
    asked       TEXT    NOT NULL,
    n_times     INTEGER NOT NULL CHECK (n_times > 0),
    first_at_ms INTEGER NOT NULL,
    last_at_ms  INTEGER NOT NULL,
    PRIMARY KEY (cue, project)
) STRICT, WITHOUT ROWID;
CREATE INDEX missed_cue_by_time ON missed_cue (last_at_ms);
