//! The tables, as numbered steps: forward only, each in one transaction, released ones never
//! edited.

use std::path::Path;

use jiff::Timestamp;
use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use uuid::Uuid;

use crate::error::{Result, StoreError};

/// Step `n` takes a store from version `n` to `n + 1`.
const MIGRATIONS: &[&str] = &[
    include_str!("schema/0001_founding.sql"),
    include_str!("schema/0002_lexical.sql"),
    include_str!("schema/0003_vectors.sql"),
    include_str!("schema/0004_steps.sql"),
    include_str!("schema/0005_disputes.sql"),
    include_str!("schema/0006_attributes.sql"),
    include_str!("schema/0007_topics.sql"),
    include_str!("schema/0008_standing.sql"),
    include_str!("schema/0009_forgotten.sql"),
    include_str!("schema/0010_plain_checks.sql"),
    include_str!("schema/0011_sync.sql"),
    include_str!("schema/0012_waivers.sql"),
    include_str!("schema/0013_reach.sql"),
    include_str!("schema/0014_sequels.sql"),
    include_str!("schema/0015_topics_by_size.sql"),
];

/// The version of the tables this program writes.
#[expect(clippy::cast_possible_truncation, reason = "there will not be four thousand million")]
pub const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;

/// "iai5": says that a database is ours before its tables are believed.
const APPLICATION_ID: u32 = 0x6961_6935;

/// How far a database has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Nothing was created yet.
    Blank,
    /// Some steps are missing.
    Older,
    /// Every step is done.
    Current,
}

/// Says how far the database has come, and refuses one that is newer or not ours.
pub(crate) fn check_version(connection: &Connection, path: &Path) -> Result<Progress> {
    let read = |name| {
        connection
            .pragma_query_value(None, name, |row| row.get::<_, u32>(0))
            .map_err(|e| StoreError::sqlite("reading the schema version", path, e))
    };
    let known = SCHEMA_VERSION;
    let found = read("user_version")?;
    if found > known {
        return Err(StoreError::Newer { path: path.to_owned(), found, known });
    }
    let application = read("application_id")?;
    match found {
        0 if application == 0 && is_empty(connection, path)? => Ok(Progress::Blank),
        _ if found == 0 || application != APPLICATION_ID => Err(StoreError::Corrupt {
            what: "the database header (these are not the tables of a store)".to_owned(),
            at: path.to_owned(),
        }),
        _ if found < known => Ok(Progress::Older),
        _ => Ok(Progress::Current),
    }
}

/// Takes the database to the newest version.
pub(crate) fn migrate(
    connection: &Connection,
    path: &Path,
    store: Uuid,
    now: Timestamp,
) -> Result<()> {
    let failed = |e| StoreError::sqlite("updating the tables", path, e);
    let progress = check_version(connection, path)?;
    if progress == Progress::Current {
        return Ok(());
    }
    let done: u32 =
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)?;
    for (version, sql) in (1_u32..).zip(MIGRATIONS).filter(|(version, _)| *version > done) {
        // `new_unchecked`: the caller holds the only handle to this connection while it opens.
        let step = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)
            .map_err(failed)?;
        step.execute_batch(sql)
            .and_then(|()| step.pragma_update(None, "user_version", version))
            .map_err(failed)?;
        if progress == Progress::Blank && version == 1 {
            let insert = "INSERT INTO meta (name, value) VALUES ('store', ?1), ('created_at', ?2)";
            step.execute(insert, params![store.to_string(), now.to_string()]).map_err(failed)?;
        }
        step.commit().map_err(failed)?;
    }
    Ok(())
}

/// Runs the first steps on a database that nobody keeps.
#[cfg(any(test, feature = "older"))]
pub(crate) fn replay(blank: &Connection, version: u32) -> rusqlite::Result<()> {
    let steps = (1_u32..).zip(MIGRATIONS).filter(|(number, _)| *number <= version);
    for (_, sql) in steps {
        blank.execute_batch(sql)?;
    }
    Ok(())
}

/// Returns the newest version there is.
#[cfg(any(test, feature = "older"))]
pub(crate) fn newest() -> u32 {
    u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX)
}

fn is_empty(connection: &Connection, path: &Path) -> Result<bool> {
    connection
        .query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))
        .map_err(|e| StoreError::sqlite("reading the list of tables", path, e))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(prepare: &str, expect: &str) {
        crate::connection::ensure_cipher_ready();
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(prepare).unwrap();
        let path = Path::new("/s/memory.db");
        let found = migrate(&connection, path, Uuid::nil(), Timestamp::UNIX_EPOCH)
            .and_then(|()| check_version(&connection, path));
        assert!(format!("{found:?}").contains(expect), "{found:?} instead of {expect}");
    }

    #[test]
    fn only_blank_and_own_databases_are_touched() {
        check("", "Ok(Current)");
        check(MIGRATIONS[0], "Corrupt");
        check(&format!("{} PRAGMA user_version = 1;", MIGRATIONS[0]), "Ok(Current)");
        check("PRAGMA user_version = 99;", "Newer { path: \"/s/memory.db\", found: 99");
        check("PRAGMA user_version = 1;", "Corrupt");
        check("CREATE TABLE other (x);", "Corrupt");
        check("PRAGMA application_id = 5;", "Corrupt");
    }

    #[test]
    fn the_founding_step_is_a_released_format() {
        use sha2::{Digest, Sha256};
        let digest: String =
            Sha256::digest(MIGRATIONS[0]).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest, "3977393d802138b3457af8e36c573a7233be945a3d8d807b30e2294d1adbddb9");
    }

    #[test]
    fn the_busiest_tables_check_every_value_without_a_table_of_their_own() {
        crate::connection::ensure_cipher_ready();
        let connection = Connection::open_in_memory().unwrap();
        migrate(&connection, Path::new("/s"), Uuid::nil(), Timestamp::UNIX_EPOCH).unwrap();
        let inserts = [
            "INSERT INTO memory SELECT * FROM memory WHERE false",
            "INSERT INTO link SELECT * FROM link WHERE false",
            "INSERT INTO attribute SELECT * FROM attribute WHERE false",
        ];
        for insert in inserts {
            let mut plan = connection.prepare(&format!("EXPLAIN {insert}")).unwrap();
            let steps = plan.query_map([], |row| row.get::<_, String>(1)).unwrap();
            let n_tables = steps.filter(|step| step.as_deref() == Ok("OpenEphemeral")).count();
            // One is the answer of the SELECT.
            assert!(n_tables <= 1, "{insert}: {n_tables}");
        }
        let allowed = |role: &str| {
            let insert = "INSERT INTO attribute (role, filler) VALUES (?, ?)";
            connection.execute(insert, [role, role]).is_ok()
        };
        assert!(["entity", "file", "command", "tool", "lang"].into_iter().all(allowed));
        assert!(!allowed("topic"));
        let whole: String =
            connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(whole, "ok");
    }
}
