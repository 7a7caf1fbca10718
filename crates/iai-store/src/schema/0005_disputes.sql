-- Memories that may say the opposite of each other.

-- `earlier` was said before `later`, and the two differ in one place. Both stay; somebody has to
-- say which one holds. Derived from the texts, except for what became of a dispute.
CREATE TABLE dispute (
    earlier       INTEGER NOT NULL REFERENCES memory (number) ON DELETE CASCADE,
    later         INTEGER NOT NULL REFERENCES memory (number) ON DELETE CASCADE,
    what          TEXT    NOT NULL
        CHECK (what IN ('number', 'date', 'version', 'negation', 'name', 'path')),
    old_value     TEXT    NOT NULL CHECK (length(old_value) <= 200),
    new_value     TEXT    NOT NULL CHECK (length(new_value) <= 200),
    found_at_ms   INTEGER NOT NULL,
    hinted_at_ms  INTEGER,
    settled_at_ms INTEGER,
    settled_how   TEXT    CHECK (settled_how IN ('contradicted', 'superseded')),
    PRIMARY KEY (earlier, later),
    CHECK (earlier <> later),
    CHECK ((settled_at_ms IS NULL) = (settled_how IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX dispute_by_later ON dispute (later);
CREATE INDEX dispute_open ON dispute (found_at_ms) WHERE settled_at_ms IS NULL;

-- Learned links fade by the time of their last reinforcement.
CREATE INDEX link_learned ON link (touched_at_ms) WHERE kind = 'hebbian';
