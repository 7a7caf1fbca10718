-- Embeddings: the models that made them, the vectors, and their sign codes packed for loading.
--
-- A `place` is model << 48 | memory number << 16 | part, so that one integer key finds a vector.
-- WITHOUT ROWID would put whole vectors into the inner pages of the tree. Of 100,000 vectors, 200
-- then cost 367 page reads through a small cache instead of 193, and each is a decryption.

CREATE TABLE embedding_model (
    number       INTEGER PRIMARY KEY CHECK (number BETWEEN 1 AND 32767),
    name         TEXT    NOT NULL,
    sha256       BLOB    NOT NULL CHECK (length(sha256) = 32),
    pooling      TEXT    NOT NULL CHECK (pooling IN ('mean', 'cls')),
    prefix       TEXT    NOT NULL,
    dimension    INTEGER NOT NULL CHECK (dimension BETWEEN 128 AND 1024),
    n_tokens_max INTEGER NOT NULL CHECK (n_tokens_max > 0),
    state        TEXT    NOT NULL CHECK (state IN ('filling', 'serving', 'retired')),
    UNIQUE (name, sha256, pooling, prefix, dimension, n_tokens_max)
) STRICT;
CREATE UNIQUE INDEX embedding_model_serving ON embedding_model (state) WHERE state = 'serving';

-- One window of a memory's text. The components are signed bytes; they stand for a unit vector, so
-- their scale is one over their own length and need not be kept.
CREATE TABLE vector (
    place      INTEGER PRIMARY KEY,
    start_byte INTEGER NOT NULL CHECK (start_byte >= 0),
    end_byte   INTEGER NOT NULL CHECK (end_byte >= start_byte),
    components BLOB    NOT NULL CHECK (length(components) BETWEEN 128 AND 1024)
) STRICT;

-- The sign codes of the vectors from `place` to `place + 2^26 - 1`: one model, 1024 memory numbers.
-- NULL, or no row: not packed since the last change, so they are derived from the vectors.
CREATE TABLE code_block (
    place INTEGER PRIMARY KEY CHECK (place & 67108863 = 0),
    codes BLOB
) STRICT;

-- A foreign key would need an index as wide as the keys; the key of a vector is known beforehand.
CREATE TRIGGER memory_forgets_vectors AFTER DELETE ON memory BEGIN
    DELETE FROM vector WHERE place IN (
        SELECT v.place FROM embedding_model m
          JOIN vector v ON v.place BETWEEN (m.number << 48) | (old.number << 16)
                                       AND (m.number << 48) | (old.number << 16) | 65535);
    UPDATE code_block SET codes = NULL WHERE place IN (
        SELECT (m.number << 48) | ((old.number >> 10) << 26) FROM embedding_model m);
END;
