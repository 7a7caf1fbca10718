-- What the user said later, elsewhere, about the same thing as a remark: the few turns nearest to
-- it. Derived: found again in the texts.

CREATE TABLE remark_sequel (
    memory     INTEGER NOT NULL,
    start_byte INTEGER NOT NULL,
    kind       TEXT    NOT NULL,
    sequel     INTEGER NOT NULL REFERENCES memory (number) ON DELETE CASCADE,
    -- How near it is to the remark, in thousandths.
    nearness   INTEGER NOT NULL CHECK (nearness >= 0),
    PRIMARY KEY (memory, start_byte, kind, sequel),
    FOREIGN KEY (memory, start_byte, kind) REFERENCES remark ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
-- For those that go with a memory.
CREATE INDEX remark_sequel_by_sequel ON remark_sequel (sequel);
