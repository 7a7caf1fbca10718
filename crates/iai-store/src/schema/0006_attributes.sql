-- What a memory is about, taken from its words and its provenance. Derived: may be emptied any day,
-- together with the progress of the steps `attributes` and `formality`.

-- `filler` is what is looked for: lower case, single spaces. `display` is how it was first written,
-- where that differs. An attribute nobody has any more is dropped.
CREATE TABLE attribute (
    number     INTEGER PRIMARY KEY,
    role       TEXT    NOT NULL CHECK (role IN ('entity', 'file', 'command', 'tool', 'lang')),
    filler     TEXT    NOT NULL CHECK (length(filler) BETWEEN 1 AND 120),
    display    TEXT    CHECK (length(display) BETWEEN 1 AND 120),
    n_memories INTEGER NOT NULL DEFAULT 0 CHECK (n_memories >= 0),
    UNIQUE (filler, role)
) STRICT;
CREATE INDEX attribute_by_use ON attribute (n_memories) WHERE n_memories > 2;

CREATE TABLE memory_attribute (
    attribute INTEGER NOT NULL REFERENCES attribute (number) ON DELETE CASCADE,
    memory    INTEGER NOT NULL REFERENCES memory (number) ON DELETE CASCADE,
    PRIMARY KEY (attribute, memory)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_attribute_by_memory ON memory_attribute (memory);

CREATE TRIGGER memory_attribute_counts AFTER INSERT ON memory_attribute BEGIN
    UPDATE attribute SET n_memories = n_memories + 1 WHERE number = new.attribute;
END;
CREATE TRIGGER memory_attribute_uncounts AFTER DELETE ON memory_attribute BEGIN
    UPDATE attribute SET n_memories = n_memories - 1 WHERE number = old.attribute;
    DELETE FROM attribute WHERE number = old.attribute AND n_memories = 0;
END;

-- How formal each turn of the user is, in thousandths: integers add up the same in any order.
CREATE TABLE formality (
    memory      INTEGER PRIMARY KEY REFERENCES memory (number) ON DELETE CASCADE,
    week        INTEGER NOT NULL,
    thousandths INTEGER NOT NULL CHECK (thousandths BETWEEN 0 AND 1000)
) STRICT;

-- The same by ISO week: 202646 is the 46th of 2026.
CREATE TABLE formality_week (
    week        INTEGER PRIMARY KEY,
    n           INTEGER NOT NULL CHECK (n > 0),
    sum         INTEGER NOT NULL,
    sum_squares INTEGER NOT NULL
) STRICT;
CREATE TRIGGER formality_counts AFTER INSERT ON formality BEGIN
    INSERT INTO formality_week (week, n, sum, sum_squares)
    VALUES (new.week, 1, new.thousandths, new.thousandths * new.thousandths)
        ON CONFLICT (week) DO UPDATE
       SET n = n + 1,
           sum = sum + excluded.sum,
           sum_squares = sum_squares + excluded.sum_squares;
END;
CREATE TRIGGER formality_uncounts AFTER DELETE ON formality BEGIN
    DELETE FROM formality_week WHERE week = old.week AND n = 1;
    UPDATE formality_week
       SET n = n - 1,
           sum = sum - old.thousandths,
           sum_squares = sum_squares - old.thousandths * old.thousandths
     WHERE week = old.week;
END;

-- Recall by attributes never reads every memory: the few that differ from the many have an index.
CREATE INDEX memory_by_tier ON memory (tier, turn_at_ms DESC) WHERE tier <> 'episodic';
CREATE INDEX memory_of_system ON memory (turn_at_ms DESC) WHERE role = 'system';
CREATE INDEX session_by_host ON session (host);
