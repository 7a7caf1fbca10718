-- The lexical index is our own: words and columns of contiguous ranges of memories, sealed into
-- segments. Derived from the memories; may be emptied any day. Released: never edited.

DROP TABLE IF EXISTS lexical;
DELETE FROM meta WHERE name = 'lexical';

-- Ranges follow each other without a gap, from number 0 on.
CREATE TABLE lexical_segment (
    first   INTEGER PRIMARY KEY CHECK (first >= 0),
    last    INTEGER NOT NULL CHECK (last >= first),
    words   BLOB    NOT NULL,
    columns BLOB    NOT NULL
) STRICT;

-- The few memories that another one replaced.
CREATE INDEX memory_ended ON memory (valid_to_ms) WHERE valid_to_ms IS NOT NULL;
