-- A further kind of remark, what the user put off, and which remarks hold in every project because
-- their words say so: "in all repos". All remarks are found again in the texts.

DROP TABLE remark;
CREATE TABLE remark (
    memory     INTEGER NOT NULL REFERENCES memory (number) ON DELETE CASCADE,
    start_byte INTEGER NOT NULL CHECK (start_byte >= 0),
    end_byte   INTEGER NOT NULL CHECK (end_byte > start_byte),
    kind       TEXT    NOT NULL CHECK (kind = 'preference' OR kind = 'decision' OR kind = 'waiver'
                                       OR kind = 'open' OR kind = 'kept'),
    place      INTEGER REFERENCES place (number),
    turn_at_ms INTEGER NOT NULL,
    words      INTEGER NOT NULL,
    PRIMARY KEY (memory, start_byte, kind)
) STRICT, WITHOUT ROWID;
-- The end stands in both, so that neither reads the table.
CREATE INDEX remark_by_place ON remark (place, kind, turn_at_ms DESC, words, end_byte);
CREATE INDEX remark_by_words ON remark (kind, words, place, turn_at_ms DESC, end_byte);

CREATE TABLE remark_everywhere (
    memory     INTEGER NOT NULL,
    start_byte INTEGER NOT NULL,
    kind       TEXT    NOT NULL,
    turn_at_ms INTEGER NOT NULL,
    PRIMARY KEY (memory, start_byte, kind),
    FOREIGN KEY (memory, start_byte, kind) REFERENCES remark ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX remark_everywhere_by_time ON remark_everywhere (kind, turn_at_ms DESC);

DELETE FROM step WHERE name = 'remarks';
