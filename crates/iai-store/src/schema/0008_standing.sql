-- What is told at the beginning of a session, and how often a memory was of use.

-- Who the user is, in their own words; at most one row.
CREATE TABLE identity (
    one           INTEGER PRIMARY KEY CHECK (one = 1),
    text          TEXT    NOT NULL CHECK (length(text) BETWEEN 1 AND 4000),
    updated_at_ms INTEGER NOT NULL
) STRICT;

-- The memories whose `pinned` is 1, and where they are told.
CREATE TABLE pin (
    memory       INTEGER PRIMARY KEY REFERENCES memory (number) ON DELETE CASCADE,
    reach        TEXT    NOT NULL CHECK (reach IN ('project', 'everywhere')),
    pinned_at_ms INTEGER NOT NULL
) STRICT;

-- Sentences that hold beyond their session. Derived from the texts; may be emptied any day.
-- `words`: a hash of the sentence's words, the same whatever its case and its punctuation.
CREATE TABLE remark (
    memory     INTEGER NOT NULL REFERENCES memory (number) ON DELETE CASCADE,
    start_byte INTEGER NOT NULL CHECK (start_byte >= 0),
    end_byte   INTEGER NOT NULL CHECK (end_byte > start_byte),
    kind       TEXT    NOT NULL CHECK (kind IN ('preference', 'decision', 'kept')),
    place      INTEGER REFERENCES place (number),
    turn_at_ms INTEGER NOT NULL,
    words      INTEGER NOT NULL,
    PRIMARY KEY (memory, start_byte, kind)
) STRICT, WITHOUT ROWID;
-- The end stands in both, so that neither reads the table.
CREATE INDEX remark_by_place ON remark (place, kind, turn_at_ms DESC, words, end_byte);
CREATE INDEX remark_by_words ON remark (kind, words, place, turn_at_ms DESC, end_byte);

-- How often a memory was an answer. `place` is the memory's own, so that "the most used of this
-- project" reads no memory.
CREATE TABLE memory_use (
    memory       INTEGER PRIMARY KEY REFERENCES memory (number) ON DELETE CASCADE,
    place        INTEGER REFERENCES place (number),
    n_recalled   INTEGER NOT NULL CHECK (n_recalled >= 0),
    n_reinforced INTEGER NOT NULL CHECK (n_reinforced >= 0),
    last_ms      INTEGER NOT NULL
) STRICT;
CREATE INDEX memory_use_by_place
    ON memory_use (place, n_recalled + 3 * n_reinforced DESC, last_ms DESC);
CREATE INDEX memory_use_by_time ON memory_use (last_ms);
