-- How far each kind of quiet work has come, so that nothing is done twice and a kill costs nothing.

-- `up_to`: every memory of at most this number was looked at. `state`: what the step itself keeps.
CREATE TABLE step (
    name          TEXT    PRIMARY KEY,
    up_to         INTEGER NOT NULL CHECK (up_to >= 0),
    state         TEXT    NOT NULL CHECK (json_type(state) = 'object'),
    updated_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
