-- A further kind of remark: what the user no longer asks for. All remarks are found again in the
-- texts, so that the table is made anew rather than copied, and the step that finds them begins
-- again.

DROP TABLE remark;
CREATE TABLE remark (
    memory     INTEGER NOT NULL REFERENCES memory (number) ON DELETE CASCADE,
    start_byte INTEGER NOT NULL CHECK (start_byte >= 0),
    end_byte   INTEGER NOT NULL CHECK (end_byte > start_byte),
    kind       TEXT    NOT NULL CHECK (kind = 'preference' OR kind = 'decision' OR kind = 'waiver'
                                       OR kind = 'kept'),
    place      INTEGER REFERENCES place (number),
    turn_at_ms INTEGER NOT NULL,
    words      INTEGER NOT NULL,
    PRIMARY KEY (memory, start_byte, kind)
) STRICT, WITHOUT ROWID;
-- The end stands in both, so that neither reads the table.
CREATE INDEX remark_by_place ON remark (place, kind, turn_at_ms DESC, words, end_byte);
CREATE INDEX remark_by_words ON remark (kind, words, place, turn_at_ms DESC, end_byte);

DELETE FROM step WHERE name = 'remarks';
