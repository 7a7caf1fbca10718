//! Takes a store back to an earlier version of its tables, for trials of the way forward. Not part
//! of what is shipped: only tests and the harness of kills are built with it.

use rusqlite::Connection;

use crate::connection;
use crate::error::{Result, StoreError};
use crate::files::StorePaths;
use crate::schema;
use crate::vault::{KeySource, Vault};

const DOING: &str = "taking the tables back";
/// Every table, index and trigger that somebody wrote, with its words.
const OBJECTS: &str = "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL
                          AND name NOT LIKE 'sqlite_%' ORDER BY name";

/// Leaves only the tables that version `version` had, with the rows they hold. What newer tables
/// held is gone, as if the newer version had never run.
pub fn take_back(paths: &StorePaths, keys: &KeySource, version: u32) -> Result<()> {
    let vault = open_vault(paths, keys)?;
    let connection = connection::open_writer(&paths.database, &vault)?;
    let failed = |e| StoreError::sqlite(DOING, &paths.database, e);
    let known = known_at(version).map_err(failed)?;
    connection.execute_batch("PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE;").map_err(failed)?;
    let newer = objects(&connection).map_err(failed)?;
    for (kind, name, sql) in &newer {
        match known.iter().find(|(_, known, _)| known == name) {
            Some((_, _, before)) if before == sql => {}
            Some((_, _, before)) => reword(&connection, name, before).map_err(failed)?,
            // What belongs to a table that went is gone already.
            None => connection
                .execute_batch(&format!("DROP {kind} IF EXISTS {name};"))
                .map_err(failed)?,
        }
    }
    // A step over a table that went would believe that it is done.
    if known.iter().any(|(_, name, _)| name == "step") {
        connection.execute_batch("DELETE FROM step;").map_err(failed)?;
    }
    connection.pragma_update(None, "user_version", version).map_err(failed)?;
    assert_eq!(objects(&connection).map_err(failed)?, known, "as version {version} had them");
    connection.execute_batch("COMMIT; PRAGMA wal_checkpoint(TRUNCATE);").map_err(failed)
}

/// Gives a table the words it had: only checks are ever said in other words.
fn reword(connection: &Connection, name: &str, sql: &str) -> rusqlite::Result<()> {
    connection.execute_batch("PRAGMA writable_schema = ON;")?;
    let change = "UPDATE sqlite_schema SET sql = ?2 WHERE name = ?1";
    connection.execute(change, [name, sql])?;
    connection.execute_batch("PRAGMA writable_schema = RESET;")
}

/// Returns the version of the tables as they are, without bringing them forward.
pub fn version_found(paths: &StorePaths, keys: &KeySource) -> Result<u32> {
    let connection = connection::open_reader(&paths.database, &open_vault(paths, keys)?)?;
    connection
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .map_err(|e| StoreError::sqlite(DOING, &paths.database, e))
}

/// Returns the newest version there is.
pub fn version_newest() -> u32 {
    schema::newest()
}

fn open_vault(paths: &StorePaths, keys: &KeySource) -> Result<Vault> {
    Vault::open(paths, keys)?.ok_or_else(|| StoreError::NoStore { path: paths.folder.clone() })
}

type Object = (String, String, String);

/// Returns what a store of this version consists of.
fn known_at(version: u32) -> rusqlite::Result<Vec<Object>> {
    connection::ensure_cipher_ready();
    let blank = Connection::open_in_memory()?;
    schema::replay(&blank, version)?;
    objects(&blank)
}

fn objects(connection: &Connection) -> rusqlite::Result<Vec<Object>> {
    let mut statement = connection.prepare(OBJECTS)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    rows.collect()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::record::{NewMemory, Role, Tier};
    use crate::{CheckDepth, Store};

    fn turn(index: u64) -> NewMemory {
        NewMemory {
            host: "h".into(),
            session: "s".into(),
            turn_uuid: None,
            turn_index: Some(index),
            role: Role::User,
            tier: Tier::Episodic,
            project: Some("house".into()),
            cwd: None,
            turn_at: Timestamp::UNIX_EPOCH,
            captured_at: Timestamp::UNIX_EPOCH,
            text: format!("turn {index} of the old days, ünïcode \u{0} and all"),
            language: None,
            tags: Vec::new(),
            provenance: serde_json::json!({}),
            cue: None,
            pinned: false,
        }
    }

    fn paths_in(folder: &std::path::Path) -> StorePaths {
        StorePaths {
            folder: folder.join("home"),
            database: folder.join("home/memory.db"),
            vault: folder.join("home/vault.json"),
            key_file: folder.join("home/.crypto.key"),
            spool_public: folder.join("home/spool.pub"),
            aside: folder.join("home/aside"),
        }
    }

    /// Remarks are found again: the step that finds them must not believe that it is done.
    #[test]
    fn remarks_of_older_versions_are_looked_for_once_more() {
        for version in [11, 12] {
            check_remarks_of(version);
        }
    }

    fn check_remarks_of(version: u32) {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths_in(folder.path());
        let keys = KeySource::default();
        let now = Timestamp::UNIX_EPOCH;
        let open = || Store::open(&paths, &keys, now).unwrap().0;
        open().write(|w| w.insert(&turn(0), now)).unwrap();
        take_back(&paths, &keys, version).unwrap();
        let vault = open_vault(&paths, &keys).unwrap();
        let count = |connection: &Connection, sql: &str| -> i64 {
            connection.query_row(sql, [], |row| row.get(0)).unwrap()
        };
        let (remarks, steps) = ("SELECT count(*) FROM remark", "SELECT count(*) FROM step");
        let before = connection::open_writer(&paths.database, &vault).unwrap();
        let rows = "INSERT INTO remark VALUES (1, 0, 4, 'preference', 1, 0, 7);
                    INSERT INTO step VALUES ('remarks', 1, '{}', 0), ('topics', 1, '{}', 0);";
        before.execute_batch(rows).unwrap();
        assert_eq!((count(&before, remarks), count(&before, steps)), (1, 2));
        drop(before);
        drop(open());
        let after = connection::open_writer(&paths.database, &vault).unwrap();
        assert_eq!((count(&after, remarks), count(&after, steps)), (0, 1), "topics are done");
        let open = "INSERT INTO remark VALUES (1, 0, 4, 'open', 1, 0, 7)";
        assert_eq!(after.execute(open, []).unwrap(), 1);
        assert!(after.execute(&open.replace("open", "whim"), []).is_err());
    }

    #[test]
    fn a_store_of_every_version_opens_with_everything_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths_in(folder.path());
        let keys = KeySource::default();
        let now = Timestamp::UNIX_EPOCH;
        let open = || Store::open(&paths, &keys, now).unwrap().0;
        let mut store = open();
        let ids: Vec<_> = (0..20).map(|n| store.write(|w| w.insert(&turn(n), now))).collect();
        let ids: Vec<_> = ids.into_iter().map(|id| id.unwrap().id()).collect();
        drop(store);
        for version in (1..version_newest()).rev() {
            take_back(&paths, &keys, version).unwrap();
            assert_eq!(version_found(&paths, &keys).unwrap(), version);
            let mut store = open();
            store.ensure_index().unwrap();
            for (n, id) in (0..).zip(&ids) {
                let found = store.read().memory(*id).unwrap();
                assert_eq!(found.map(|memory| memory.text), Some(turn(n).text), "{version}");
            }
            let report = store.check(CheckDepth::Deep).unwrap();
            assert!(report.problems.is_empty(), "from version {version}: {report:?}");
            drop(store);
            assert_eq!(version_found(&paths, &keys).unwrap(), version_newest());
        }
    }
}
