//! Opens connections to the database: unlocked, with the settings every one of them must have.

use std::path::Path;
use std::sync::Once;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use rustix::fs::Access;

use crate::error::{Result, StoreError};
use crate::kernels;
use crate::schema;
use crate::vault::Vault;

/// How long a connection waits for another process before it says that the store is busy.
const BUSY_WAIT: Duration = Duration::from_secs(5);
const STATEMENTS_KEPT: usize = 64;

/// Settings of every connection. SQLCipher cannot map pages, so the cache is what there is.
const SETTINGS: &str = "
    PRAGMA trusted_schema = OFF;
    PRAGMA temp_store = MEMORY;
    PRAGMA mmap_size = 0;
    PRAGMA cache_size = -2048;
    PRAGMA foreign_keys = ON;
    PRAGMA secure_delete = ON;
";

/// Settings of the writer. `fullfsync` matters on macOS only, where a plain sync stays in the
/// disk's own cache. The cache is no larger than a reader's: what a bulk load would fill, an idle
/// daemon would keep.
const WRITER_SETTINGS: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA fullfsync = ON;
    PRAGMA checkpoint_fullfsync = ON;
    PRAGMA wal_autocheckpoint = 4000;
";

/// A write-ahead log that begins anew gives the space beyond this back.
pub(crate) const LOG_BYTES_KEPT: u64 = 8 * 1024 * 1024;

const OPENING: &str = "opening the database";

/// Keeps the pages of all indexes in memory while much is stored at once, and writes them back less
/// often: ids arrive in no order, and a page that was dropped is read, checked and decrypted again
/// for the next of them.
pub(crate) fn widen_cache(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("PRAGMA cache_size = -24576; PRAGMA wal_autocheckpoint = 16000;")
}

/// Gives that memory back.
pub(crate) fn narrow_cache(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "PRAGMA cache_size = -2048; PRAGMA wal_autocheckpoint = 4000; PRAGMA shrink_memory;",
    )?;
    kernels::return_free_memory();
    Ok(())
}

/// Opens the connection of the one writer.
pub(crate) fn open_writer(path: &Path, vault: &Vault) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let failed = |e| StoreError::sqlite(OPENING, path, e);
    let connection = open(path, flags, vault).map_err(failed)?;
    // A newer or foreign database is refused while it is still as it was.
    schema::check_version(&connection, path)?;
    connection.execute_batch(WRITER_SETTINGS).map_err(failed)?;
    let limit = format!("PRAGMA journal_size_limit = {LOG_BYTES_KEPT};");
    connection.execute_batch(&limit).map_err(failed)?;
    let mode: String =
        connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).map_err(failed)?;
    assert_eq!(mode, "wal", "a store on a disk always has a write-ahead log");
    Ok(connection)
}

/// Lets the connection be closed without moving anything from the log into the database.
pub(crate) fn leave_log_alone(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map(drop)
}

/// Opens a connection that cannot write. It may create the shared-memory file next to the database,
/// the only way to read while another process writes; where even that is forbidden and nothing
/// waits in a log, the file cannot change under us and is read as it is.
pub(crate) fn open_reader(path: &Path, vault: &Vault) -> Result<Connection> {
    if must_be_immutable(path) {
        return open_immutable(path, vault);
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    open(path, flags, vault)
        .and_then(forbid_writing)
        .map_err(|e| StoreError::sqlite(OPENING, path, e))
}

/// Opens a database nobody can change, without any file beside it.
pub(crate) fn open_immutable(path: &Path, vault: &Vault) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    open(Path::new(&immutable_uri(path)), flags, vault)
        .and_then(forbid_writing)
        .map_err(|e| StoreError::sqlite(OPENING, path, e))
}

/// Opens an empty file to copy a database into. A copy that is not finished is thrown away, so it
/// needs no journal.
pub(crate) fn open_copy(path: &Path, vault: &Vault) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    open(path, flags, vault)
        .and_then(|connection| {
            connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
            Ok(connection)
        })
        .map_err(|e| StoreError::sqlite(OPENING, path, e))
}

/// Lets SQLCipher finish setting itself up before any thread uses it.
///
/// SQLite calls itself ready a moment before it starts the setup of SQLCipher, and does so outside
/// its lock: two threads that open their first connection together would hand a key to a cipher
/// that is not there yet.
pub(crate) fn ensure_cipher_ready() {
    static READY: Once = Once::new();
    READY.call_once(iai_cipher::ensure_ready);
}

fn open(path: &Path, flags: OpenFlags, vault: &Vault) -> rusqlite::Result<Connection> {
    ensure_cipher_ready();
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_WAIT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    // SQLCipher would otherwise print to the standard error of whatever process we are in.
    connection.execute_batch("PRAGMA cipher_log_level = NONE;")?;
    vault.unlock(&connection)?;
    // A SQLite without a cipher ignores the key without a word and writes plain text.
    let status: String = connection.pragma_query_value(None, "cipher_status", |row| row.get(0))?;
    assert_eq!(status, "1", "a store is never opened without its cipher");
    connection.execute_batch(SETTINGS)?;
    // Key and file meet here for the first time: garbage shows now, not in the middle of a read.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

fn forbid_writing(connection: Connection) -> rusqlite::Result<Connection> {
    connection.execute_batch("PRAGMA query_only = ON;")?;
    Ok(connection)
}

fn must_be_immutable(path: &Path) -> bool {
    let Some(folder) = path.parent() else {
        return false;
    };
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    // A reader may have left an empty log behind.
    let waiting = std::fs::metadata(log).is_ok_and(|facts| facts.len() > 0);
    !waiting && rustix::fs::access(folder, Access::WRITE_OK).is_err()
}

fn immutable_uri(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                uri.push(char::from(*byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri.push_str("?immutable=1");
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_survives_as_a_uri() {
        for (path, expect) in [
            ("/a/b.db", "file:/a/b.db?immutable=1"),
            ("/a b/c?d#e%f", "file:/a%20b/c%3Fd%23e%25f?immutable=1"),
            ("/ö", "file:/%C3%B6?immutable=1"),
        ] {
            assert_eq!(immutable_uri(Path::new(path)), expect);
        }
    }

    #[test]
    fn an_immutable_file_opens_with_any_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a ?#%&=ö.db");
        ensure_cipher_ready();
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE seen (x)").unwrap();
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(immutable_uri(&path), flags).unwrap();
        connection.query_row("SELECT count(*) FROM seen", [], |_| Ok(())).unwrap();
    }
}
