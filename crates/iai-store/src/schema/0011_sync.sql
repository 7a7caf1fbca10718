-- Machines that share a memory: who this one is, its vaults, what is on its way out and what came in.
-- Empty, and costing nothing, where nobody set it up. Formats: docs/sync-format.md.

-- This machine. `secret`: its X25519 key; `clock`: the latest stamp it gave or saw.
CREATE TABLE sync_machine (
    one    INTEGER PRIMARY KEY CHECK (one = 1),
    id     BLOB    NOT NULL CHECK (length(id) = 16),
    name   TEXT    NOT NULL,
    secret BLOB    NOT NULL,
    clock  INTEGER NOT NULL CHECK (clock >= 0)
) STRICT;

-- Those who share one log. `counter` and `head`: the end of this machine's chain in it. `memory` and
-- `change`: everything up to these numbers has been looked at for sending.
CREATE TABLE sync_vault (
    number       INTEGER PRIMARY KEY AUTOINCREMENT,
    id           BLOB    NOT NULL UNIQUE CHECK (length(id) = 16),
    name         TEXT    NOT NULL UNIQUE,
    kind         TEXT    NOT NULL CHECK (kind = 'personal' OR kind = 'team'),
    address      TEXT    NOT NULL,
    counter      INTEGER NOT NULL CHECK (counter >= 0),
    head         BLOB    NOT NULL CHECK (length(head) = 32),
    memory       INTEGER NOT NULL CHECK (memory >= 0),
    change       INTEGER NOT NULL CHECK (change >= 0),
    joined_at_ms INTEGER NOT NULL,
    trouble      TEXT,
    heard_at_ms  INTEGER
) STRICT;

CREATE TABLE sync_key (
    vault INTEGER NOT NULL REFERENCES sync_vault (number) ON DELETE CASCADE,
    epoch INTEGER NOT NULL,
    key   BLOB    NOT NULL CHECK (length(key) = 32),
    -- Two machines may each have made a key of the same number: what either sealed can be opened.
    PRIMARY KEY (vault, epoch, key)
) STRICT, WITHOUT ROWID;

-- What a team calls a project, and where it is here.
CREATE TABLE sync_project (
    vault INTEGER NOT NULL REFERENCES sync_vault (number) ON DELETE CASCADE,
    name  TEXT    NOT NULL,
    path  TEXT    NOT NULL,
    PRIMARY KEY (vault, name),
    UNIQUE (vault, path)
) STRICT, WITHOUT ROWID;

-- The other machines of a vault and how far their chains were read.
CREATE TABLE sync_peer (
    vault       INTEGER NOT NULL REFERENCES sync_vault (number) ON DELETE CASCADE,
    machine     BLOB    NOT NULL CHECK (length(machine) = 16),
    counter     INTEGER NOT NULL CHECK (counter >= 0),
    head        BLOB    NOT NULL CHECK (length(head) = 32),
    epoch       INTEGER NOT NULL,
    heard_at_ms INTEGER,
    trouble     TEXT,
    PRIMARY KEY (vault, machine)
) STRICT, WITHOUT ROWID;

-- What machines said about themselves and about keys, as they wrote it: who belongs to a vault
-- follows from these few.
CREATE TABLE sync_membership (
    vault   INTEGER NOT NULL REFERENCES sync_vault (number) ON DELETE CASCADE,
    machine BLOB    NOT NULL,
    counter INTEGER NOT NULL,
    text    TEXT    NOT NULL,
    PRIMARY KEY (vault, machine, counter)
) STRICT, WITHOUT ROWID;

-- Entries of this machine's chains that the remote has not confirmed. Sealed once: sending repeats
-- the same bytes. A payload goes when its memory is forgotten before it was sent.
CREATE TABLE sync_outbox (
    vault    INTEGER NOT NULL REFERENCES sync_vault (number) ON DELETE CASCADE,
    counter  INTEGER NOT NULL,
    epoch    INTEGER NOT NULL,
    previous BLOB    NOT NULL CHECK (length(previous) = 32),
    digest   BLOB    NOT NULL CHECK (length(digest) = 32),
    payload  BLOB,
    PRIMARY KEY (vault, counter)
) STRICT;

-- Which entries carried a memory, and the stamp of each.
CREATE TABLE sync_carried (
    memory  INTEGER NOT NULL REFERENCES memory (number) ON DELETE CASCADE,
    vault   INTEGER NOT NULL REFERENCES sync_vault (number) ON DELETE CASCADE,
    machine BLOB    NOT NULL,
    counter INTEGER NOT NULL,
    stamp   INTEGER NOT NULL,
    PRIMARY KEY (memory, vault, machine, counter)
) STRICT, WITHOUT ROWID;
CREATE INDEX sync_carried_by_vault ON sync_carried (vault);

-- What changed since, other than memories that came. Each vault looks at it up to its own `change`.
-- `at_ms`: it was so when a chain began, since then; without it, it has just changed.
CREATE TABLE sync_change (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    what   TEXT    NOT NULL,
    name   TEXT,
    src    BLOB,
    dst    BLOB,
    at_ms  INTEGER
) STRICT;

-- Entries whose payload has to be erased at the remote. `memory`: the id of what they carried.
-- `told_in`: this machine's entry that says so, which has to arrive first.
CREATE TABLE sync_erase (
    vault   INTEGER NOT NULL REFERENCES sync_vault (number) ON DELETE CASCADE,
    machine BLOB    NOT NULL,
    counter INTEGER NOT NULL,
    memory  BLOB    NOT NULL CHECK (length(memory) = 16),
    told_in INTEGER,
    PRIMARY KEY (vault, machine, counter)
) STRICT, WITHOUT ROWID;

-- Memories that a vault's log says are gone. Nothing but their ids.
CREATE TABLE sync_gone (
    vault  INTEGER NOT NULL REFERENCES sync_vault (number) ON DELETE CASCADE,
    memory BLOB    NOT NULL CHECK (length(memory) = 16),
    PRIMARY KEY (vault, memory)
) STRICT, WITHOUT ROWID;

-- Entries without a payload. `is_named`: a forgetting names it; `is_met`: it was read.
CREATE TABLE sync_erased (
    vault    INTEGER NOT NULL REFERENCES sync_vault (number) ON DELETE CASCADE,
    machine  BLOB    NOT NULL,
    counter  INTEGER NOT NULL,
    is_named INTEGER NOT NULL,
    is_met   INTEGER NOT NULL,
    PRIMARY KEY (vault, machine, counter)
) STRICT, WITHOUT ROWID;

-- The stamps of values of which the later one holds.
CREATE TABLE sync_value (
    name    TEXT    PRIMARY KEY,
    stamp   INTEGER NOT NULL,
    machine BLOB    NOT NULL
) STRICT, WITHOUT ROWID;

-- Operations that cannot be done yet: a memory they are about is not here (`needs`), or only a newer
-- program knows what they mean.
CREATE TABLE sync_waiting (
    vault   INTEGER NOT NULL REFERENCES sync_vault (number) ON DELETE CASCADE,
    machine BLOB    NOT NULL,
    counter INTEGER NOT NULL,
    needs   BLOB,
    text    TEXT    NOT NULL,
    PRIMARY KEY (vault, machine, counter)
) STRICT, WITHOUT ROWID;
CREATE INDEX sync_waiting_by_need ON sync_waiting (needs);

-- Has a row only inside a transaction that does what others did: that is not to be told again.
CREATE TABLE sync_applying (one INTEGER PRIMARY KEY CHECK (one = 1)) STRICT;

CREATE VIEW sync_notes AS
    SELECT 1 FROM sync_vault WHERE NOT EXISTS (SELECT 1 FROM sync_applying);

CREATE TRIGGER sync_pinned AFTER INSERT ON pin WHEN EXISTS (SELECT 1 FROM sync_notes) BEGIN
    INSERT INTO sync_change (what, src) SELECT 'pin', uuid FROM memory WHERE number = NEW.memory;
END;
CREATE TRIGGER sync_unpinned AFTER DELETE ON pin WHEN EXISTS (SELECT 1 FROM sync_notes) BEGIN
    INSERT INTO sync_change (what, src) SELECT 'pin', uuid FROM memory WHERE number = OLD.memory;
END;
CREATE TRIGGER sync_knob AFTER INSERT ON profile WHEN EXISTS (SELECT 1 FROM sync_notes) BEGIN
    INSERT INTO sync_change (what, name) VALUES ('profile', NEW.knob);
END;
CREATE TRIGGER sync_identity AFTER INSERT ON identity WHEN EXISTS (SELECT 1 FROM sync_notes) BEGIN
    INSERT INTO sync_change (what) VALUES ('identity');
END;
CREATE TRIGGER sync_no_identity AFTER DELETE ON identity WHEN EXISTS (SELECT 1 FROM sync_notes) BEGIN
    INSERT INTO sync_change (what) VALUES ('identity');
END;
CREATE TRIGGER sync_linked AFTER INSERT ON link
    WHEN (NEW.kind = 'contradicts' OR NEW.kind = 'hebbian') AND EXISTS (SELECT 1 FROM sync_notes)
BEGIN
    INSERT INTO sync_change (what, name, src, dst)
    SELECT 'link', NEW.kind, a.uuid, b.uuid FROM memory a, memory b
     WHERE a.number = NEW.src AND b.number = NEW.dst;
END;
CREATE TRIGGER sync_relinked AFTER UPDATE ON link
    WHEN (NEW.kind = 'contradicts' OR NEW.kind = 'hebbian') AND EXISTS (SELECT 1 FROM sync_notes)
BEGIN
    INSERT INTO sync_change (what, name, src, dst)
    SELECT 'link', NEW.kind, a.uuid, b.uuid FROM memory a, memory b
     WHERE a.number = NEW.src AND b.number = NEW.dst;
END;

-- Forgetting something that was never told: another machine may have taken it in by itself.
CREATE TRIGGER sync_forgotten_untold BEFORE DELETE ON memory
    WHEN EXISTS (SELECT 1 FROM sync_vault WHERE kind = 'personal')
     AND NOT EXISTS (SELECT 1 FROM sync_carried c JOIN sync_vault v ON v.number = c.vault
                      WHERE c.memory = OLD.number AND v.kind = 'personal')
     AND EXISTS (SELECT 1 FROM session s WHERE s.number = OLD.session
                    AND s.host <> 'iai-mcp' AND s.host <> 'taught'
                    AND NOT (length(s.name) = 23 AND s.name GLOB 'doctor-*'))
BEGIN
    INSERT INTO sync_change (what, src) VALUES ('forget', OLD.uuid);
END;

-- Forgetting: what carried the memory has to be erased elsewhere too.
CREATE TRIGGER sync_forgotten BEFORE DELETE ON memory
    WHEN EXISTS (SELECT 1 FROM sync_carried WHERE memory = OLD.number)
BEGIN
    INSERT OR IGNORE INTO sync_erase (vault, machine, counter, memory)
    SELECT vault, machine, counter, OLD.uuid FROM sync_carried WHERE memory = OLD.number;
    UPDATE sync_outbox SET payload = NULL WHERE (vault, counter) IN (
        SELECT c.vault, c.counter FROM sync_carried c JOIN sync_machine m ON m.id = c.machine
         WHERE c.memory = OLD.number);
END;
