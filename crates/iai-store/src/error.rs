//! What can go wrong in the store, sorted by what the caller can do about it.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{ErrorCode, ffi};

use crate::record::{KeyOrigin, MemoryId};

/// Whoever has the store open needs neither key nor vault to write both anew.
const SAVED_BY_DAEMON: &str = "while a daemon still runs, do not stop it: `iai-mcp crypto rotate` \
                               makes a new key and saves everything";

/// Why a file is not used that belongs to somebody else; the step is another one then.
pub(crate) const FOREIGN: &str = "it belongs to another user";

fn mend(why: &str) -> &'static str {
    match why {
        FOREIGN => "make it yours with chown, or use your own HOME",
        _ => "move it away and put the file itself there",
    }
}

/// A result of the store.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Every failure of this crate; each message says what failed, where, and what to do next.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Nothing was ever stored here.
    #[error("there is no store in {}; start the daemon once to create it", .path.display())]
    NoStore {
        /// The folder that was looked into.
        path: PathBuf,
    },
    /// There was a database and it is gone, or nothing is left in it.
    #[error(
        "the database {} is missing or empty although there was one; \
         restore a backup with `iai-mcp restore FILE --replace`, or, to begin anew with nothing, \
         move vault.json and spool.pub out of that folder",
        .path.display()
    )]
    DatabaseLost {
        /// Where the database should be.
        path: PathBuf,
    },
    /// The database was removed or exchanged while it was open.
    #[error(
        "the database {} was removed or replaced while it was open, and nothing more is stored in \
         it; move it back, or stop the daemon and restore a backup with \
         `iai-mcp restore FILE --replace`",
        .path.display()
    )]
    DatabaseTaken {
        /// Where the database was.
        path: PathBuf,
    },
    /// The log was removed or exchanged while it was open; the one that is open is whole.
    #[error(
        "the log {} was removed or replaced while it was open, and nothing more is stored; \
         run `iai-mcp daemon restart`, which saves what stood in it",
        .path.display()
    )]
    LogTaken {
        /// Where the log was.
        path: PathBuf,
    },
    /// The log was shortened or overwritten while it was open.
    #[error(
        "the log {} was cut off, overwritten or removed, and nothing more is stored in it; \
         run `iai-mcp daemon restart`, which keeps what is left of it, then `iai-mcp import`, \
         which reads the transcripts again",
        .path.display()
    )]
    LogCut {
        /// The log.
        path: PathBuf,
    },
    /// The store expects a key file and there is none.
    #[error(
        "the key file {} is missing although a store exists; put back the copy you kept, \
         nothing can be read without it (a backup does not hold it); {SAVED_BY_DAEMON}",
        .path.display()
    )]
    KeyMissing {
        /// Where the key file should be.
        path: PathBuf,
    },
    /// The store expects a passphrase and none was given.
    #[error(
        "the vault {} was made with a passphrase and none was given; \
         set IAI_MCP_CRYPTO_PASSPHRASE and try again",
        .path.display()
    )]
    PassphraseMissing {
        /// The vault that asks for it.
        path: PathBuf,
    },
    /// A key file is already there and is never overwritten.
    #[error(
        "a key file already exists at {}; \
         keep it, or move it away if no store uses it",
        .path.display()
    )]
    KeyExists {
        /// The existing key file.
        path: PathBuf,
    },
    /// A vault is already there, so a freshly made key could not open it.
    #[error(
        "the vault {} already exists and a new key could not open it; \
         restore the old key, or move the store folder away to begin anew",
        .path.display()
    )]
    VaultExists {
        /// The existing vault.
        path: PathBuf,
    },
    /// Other users may read the key file.
    #[error(
        "the key file {} has mode {mode:04o}, so other users could read it; \
         run: chmod 600 {}",
        .path.display(),
        .path.display()
    )]
    KeyInsecure {
        /// The key file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The key file belongs to somebody else.
    #[error(
        "the key file {} belongs to user id {uid}; \
         make it yours with chown, or use your own key",
        .path.display()
    )]
    KeyOwner {
        /// The key file.
        path: PathBuf,
        /// Its owner.
        uid: u32,
    },
    /// The key file is a link, a folder or a device.
    #[error(
        "the key file {} is not a regular file; \
         put the key itself there instead of a link or folder",
        .path.display()
    )]
    KeyNotRegular {
        /// The path that was expected to be a file.
        path: PathBuf,
    },
    /// The key file holds something other than one key.
    #[error(
        "the key file {} has {length} bytes instead of 32; put back the copy you kept \
         (a backup does not hold it); {SAVED_BY_DAEMON}",
        .path.display()
    )]
    KeyLength {
        /// The key file.
        path: PathBuf,
        /// Its length in bytes.
        length: u64,
    },
    /// The key offered is not the key of this vault.
    #[error("{}", wrong_key(.path, *.origin, *.offered))]
    WrongKey {
        /// The vault that refused.
        path: PathBuf,
        /// What the vault was made with.
        origin: KeyOrigin,
        /// What was offered to it.
        offered: KeyOrigin,
    },
    /// The vault cannot be used although the key may be right.
    #[error(
        "the vault {} is damaged ({reason}); restore a backup, which holds it and the database, \
         with `iai-mcp restore FILE --replace`; {SAVED_BY_DAEMON}",
        .path.display()
    )]
    VaultDamaged {
        /// The vault.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The key is right and the bytes are not.
    #[error(
        "{what} is corrupt in {}; stop the daemon and restore a backup with `iai-mcp restore FILE \
         --replace`, or, without one, move the folder of the store away, start the daemon and run \
         `iai-mcp import`, which reads the transcripts again",
        .at.display()
    )]
    Corrupt {
        /// What could not be believed.
        what: String,
        /// The file it is in.
        at: PathBuf,
    },
    /// What stands in the place of one of the store's files is not such a file.
    #[error(
        "{} is not used because {why}; {next}",
        .path.display(),
        next = mend(.why)
    )]
    NotOurs {
        /// The place.
        path: PathBuf,
        /// What stands there.
        why: &'static str,
    },
    /// A later program wrote this.
    #[error(
        "{} has format {found} and this program knows up to {known}; \
         update the program",
        .path.display()
    )]
    Newer {
        /// The file from the future.
        path: PathBuf,
        /// Its format number.
        found: u32,
        /// The highest number this program knows.
        known: u32,
    },
    /// A restore or a rotation was committed and its last renames are missing.
    #[error(
        "a restore or key rotation was interrupted, what it made waits in {}; \
         run `iai-mcp daemon start`, which finishes it",
        .path.display()
    )]
    Unfinished {
        /// The folder that holds what waits.
        path: PathBuf,
    },
    /// There is a store where another one should be put.
    #[error(
        "there is a store in {} already; \
         `--replace` puts the other one in its place and keeps this one aside",
        .path.display()
    )]
    StoreExists {
        /// The folder of the existing store.
        path: PathBuf,
    },
    /// There is a file where a backup should be written, and it is never overwritten.
    #[error("there is a file {} already; give another name", .path.display())]
    FileExists {
        /// The existing file.
        path: PathBuf,
    },
    /// A file is no backup, or one that cannot be believed.
    #[error("the backup {} was refused: {why}", .path.display())]
    Backup {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, where, and what to do.
        why: String,
    },
    /// No room on the disk.
    #[error("the disk is full at {}; free some space, nothing was lost", .path.display())]
    Full {
        /// What could not grow.
        path: PathBuf,
    },
    /// The system lets no file of this process grow any more.
    #[error(
        "{} may not grow: a file may have {limit} bytes here (`ulimit -f`); raise that limit where \
         the daemon is started and run `iai-mcp daemon restart`, nothing was lost",
        .path.display()
    )]
    FileLimit {
        /// What could not grow.
        path: PathBuf,
        /// The most a file may have.
        limit: u64,
    },
    /// The file, the folder or this connection may not be written.
    #[error(
        "{} cannot be written; \
         check its permissions and whether its disk is mounted read-only",
        .path.display()
    )]
    ReadOnly {
        /// What could not be written.
        path: PathBuf,
    },
    /// The file is there and may not be read.
    #[error("{} cannot be read; check its owner and permissions", .path.display())]
    Unreadable {
        /// What could not be read.
        path: PathBuf,
        /// The reason of the system.
        source: io::Error,
    },
    /// Somebody else holds the store.
    #[error("the store is busy with another process; try again in a moment")]
    Busy,
    /// An [`crate::Interrupter`] ended the read.
    #[error("the read was interrupted; ask again with more time")]
    Interrupted,
    /// A memory that was named does not exist.
    #[error("there is no memory {id}; look it up again, it may have been forgotten")]
    NoMemory {
        /// The unknown id.
        id: MemoryId,
    },
    /// The caller handed over something the store cannot hold.
    #[error("the {what} was refused: {why}")]
    Refused {
        /// What was handed over.
        what: &'static str,
        /// What it should have been.
        why: String,
    },
    /// The system gave no random bytes.
    #[error("the system gave no random bytes ({reason}); no key can be made until it does")]
    NoRandomness {
        /// The reason of the system.
        reason: String,
    },
    /// A file operation failed in a way nobody planned for.
    #[error("{doing} failed at {}; check the disk and try again", .path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// To which file or folder.
        path: PathBuf,
        /// The reason of the system.
        source: io::Error,
    },
    /// The database failed in a way nobody planned for.
    #[error(
        "{doing} failed in {}; \
         run the doctor command to see whether the store is sound",
        .path.display()
    )]
    Sqlite {
        /// What was being done.
        doing: &'static str,
        /// The database.
        path: PathBuf,
        /// The reason of SQLite.
        source: rusqlite::Error,
    },
}

impl StoreError {
    pub(crate) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { path },
            io::ErrorKind::FileTooLarge => {
                let limit = file_limit().unwrap_or(u64::MAX);
                Self::FileLimit { path, limit }
            }
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path },
            io::ErrorKind::PermissionDenied => Self::Unreadable { path, source },
            _ => Self::Io { doing, path, source },
        }
    }

    pub(crate) fn sqlite(doing: &'static str, path: &Path, source: rusqlite::Error) -> Self {
        Self::sqlite_within(file_limit(), doing, path, source)
    }

    fn sqlite_within(
        limit: Option<u64>,
        doing: &'static str,
        path: &Path,
        source: rusqlite::Error,
    ) -> Self {
        let path = path.to_owned();
        if let Some(limit) = limit.filter(|_| is_failed_growth(&source)) {
            return Self::FileLimit { path, limit };
        }
        if is_bad_row(&source) {
            return Self::Corrupt { what: format!("a row ({doing}: {source})"), at: path };
        }
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::OperationInterrupted) => Self::Interrupted,
            Some(ErrorCode::DiskFull) => Self::Full { path },
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { path },
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                Self::Corrupt { what: "the database".to_owned(), at: path }
            }
            Some(ErrorCode::TooBig) => Self::Refused {
                what: "value",
                why: "it is longer than one billion bytes, the most SQLite holds".to_owned(),
            },
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Self::Unreadable { path, source: io::Error::other(source) }
            }
            _ => Self::Sqlite { doing, path, source },
        }
    }

    /// Tells whether something stands where something new was to be made.
    pub fn is_taken_place(&self) -> bool {
        matches!(self, Self::KeyExists { .. } | Self::StoreExists { .. } | Self::FileExists { .. })
    }

    pub(crate) fn refused(what: &'static str, why: impl Into<String>) -> Self {
        Self::Refused { what, why: why.into() }
    }
}

/// The most bytes a file of this process may have, where somebody set a limit.
fn file_limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Fsize).current
}

/// SQLite does not say why the system refused a write; where files are limited, that is why.
fn is_failed_growth(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    matches!(
        code,
        Some(ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_TRUNCATE | ffi::SQLITE_IOERR_SHMSIZE)
    )
}

/// A value of the wrong shape came up: the schema forbids it, so the file was changed behind us.
fn is_bad_row(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..)
    )
}

fn wrong_key(path: &Path, origin: KeyOrigin, offered: KeyOrigin) -> String {
    let vault = path.display();
    match (origin, offered) {
        (KeyOrigin::File, KeyOrigin::File) => {
            format!(
                "the key file does not open the vault {vault}; put back the key it was made \
                 with; {SAVED_BY_DAEMON}"
            )
        }
        (KeyOrigin::Passphrase, KeyOrigin::Passphrase) => {
            format!("the passphrase does not open the vault {vault}; type it again")
        }
        (KeyOrigin::File, KeyOrigin::Passphrase) => format!(
            "the vault {vault} was made with a key file and only a passphrase was given; \
             restore the key file"
        ),
        (KeyOrigin::Passphrase, KeyOrigin::File) => format!(
            "the vault {vault} was made with a passphrase and a key file was found, which goes \
             first; move the key file away"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: std::ffi::c_int, expect: &str) {
        let source = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
        let error = StoreError::sqlite("testing", Path::new("/s/memory.db"), source);
        let debug = format!("{error:?}");
        let name = debug.split([' ', '{']).next().unwrap();
        assert_eq!(name, expect, "{code}");
        assert!(!error.to_string().ends_with('.'), "{error}");
    }

    #[test]
    fn sqlite_codes_become_what_the_caller_can_do() {
        check(ffi::SQLITE_BUSY, "Busy");
        check(ffi::SQLITE_LOCKED, "Busy");
        check(ffi::SQLITE_INTERRUPT, "Interrupted");
        check(ffi::SQLITE_FULL, "Full");
        check(ffi::SQLITE_READONLY, "ReadOnly");
        check(ffi::SQLITE_NOTADB, "Corrupt");
        check(ffi::SQLITE_CORRUPT, "Corrupt");
        check(ffi::SQLITE_TOOBIG, "Refused");
        check(ffi::SQLITE_CANTOPEN, "Unreadable");
        check(ffi::SQLITE_CONSTRAINT, "Sqlite");
    }

    #[test]
    fn a_write_that_fails_where_files_are_limited_names_the_limit() {
        let told = |limit, code| {
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            StoreError::sqlite_within(limit, "testing", Path::new("/s"), error).to_string()
        };
        let limited = told(Some(4096), ffi::SQLITE_IOERR_WRITE);
        assert!(limited.contains("4096 bytes") && limited.contains("ulimit -f"), "{limited}");
        assert!(!told(None, ffi::SQLITE_IOERR_WRITE).contains("ulimit"));
        assert!(!told(Some(4096), ffi::SQLITE_IOERR_READ).contains("ulimit"));
    }

    #[test]
    fn io_kinds_become_what_the_caller_can_do() {
        for (kind, expect) in [
            (io::ErrorKind::StorageFull, "Full"),
            (io::ErrorKind::FileTooLarge, "FileLimit"),
            (io::ErrorKind::ReadOnlyFilesystem, "ReadOnly"),
            (io::ErrorKind::PermissionDenied, "Unreadable"),
            (io::ErrorKind::BrokenPipe, "Io"),
        ] {
            let error = StoreError::io("testing", Path::new("/s"), kind.into());
            assert!(format!("{error:?}").starts_with(expect), "{error:?}");
        }
    }
}
