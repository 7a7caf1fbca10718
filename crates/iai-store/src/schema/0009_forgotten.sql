-- What was forgotten on purpose: receipts and marks, without the words.

-- A mark is the beginning of SHA-256 over this key and what it marks. Without the key a mark says
-- nothing; with it, it says only whether something at hand is what was forgotten.
CREATE TABLE forgotten_key (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    key BLOB    NOT NULL CHECK (length(key) = 32)
) STRICT;
INSERT INTO forgotten_key VALUES (1, randomblob(32));

-- One time somebody forgot something. `selection`: by what kinds of wish, never the wish itself.
-- `digest`: over all its marks, once nothing is left to do.
CREATE TABLE forget_receipt (
    number         INTEGER PRIMARY KEY AUTOINCREMENT,
    asked_at_ms    INTEGER NOT NULL,
    finished_at_ms INTEGER,
    selection      TEXT    NOT NULL,
    reason         TEXT    NOT NULL CHECK (reason IN ('asked', 'secret', 'check')),
    n_memories     INTEGER NOT NULL CHECK (n_memories >= 0),
    digest         BLOB    CHECK (length(digest) = 32),
    CHECK ((finished_at_ms IS NULL) = (digest IS NULL))
) STRICT;

-- What must not come back. `id_mark`: of the memory's id; `turn_mark`: of session, speaker, time and
-- text, the same turn however it is delivered. `memory` is a number that is never given again.
CREATE TABLE forgotten (
    id_mark   BLOB    PRIMARY KEY CHECK (length(id_mark) = 16),
    turn_mark BLOB    NOT NULL CHECK (length(turn_mark) = 16),
    memory    INTEGER NOT NULL,
    receipt   INTEGER NOT NULL REFERENCES forget_receipt (number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX forgotten_by_turn ON forgotten (turn_mark);
CREATE INDEX forgotten_by_receipt ON forgotten (receipt);

-- What is still to be forgotten. A memory's row goes with the memory, so that a kill costs nothing.
CREATE TABLE forget_pending (
    memory  INTEGER PRIMARY KEY REFERENCES memory (number) ON DELETE CASCADE,
    receipt INTEGER NOT NULL REFERENCES forget_receipt (number)
) STRICT;
CREATE INDEX forget_pending_by_receipt ON forget_pending (receipt);
