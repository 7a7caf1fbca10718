//! Whether the database is where it belongs: one that is lost is never made again in silence, and
//! one that was taken away while it was open takes nothing in.

mod log;

pub(crate) use log::{LogFault, LogPlace};

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::error::{Result, StoreError};
use crate::exchange;
use crate::files::{self, StorePaths};

/// Refuses a store whose database is gone or empty.
///
/// The public key of the spool is made after the database, and a log is only written beside one:
/// where either is, there was a database. A first start that died before had neither.
pub(crate) fn check_not_lost(paths: &StorePaths) -> Result<()> {
    if is_filled(&paths.database)? {
        return Ok(());
    }
    let log = exchange::beside(&paths.database, "-wal");
    if files::length_of(&paths.spool_public)?.is_none() && !is_filled(&log)? {
        return Ok(());
    }
    Err(StoreError::DatabaseLost { path: paths.database.clone() })
}

/// Refuses a store of which a part is a link, has a second name, or is somebody else's.
pub(crate) fn check_parts(paths: &StorePaths) -> Result<()> {
    let beside = |ending| exchange::beside(&paths.database, ending);
    let (log, shared) = (beside("-wal"), beside("-shm"));
    let parts = [&paths.database, &log, &shared, &paths.vault, &paths.spool_public];
    parts.into_iter().try_for_each(|part| files::check_own(part))
}

fn is_filled(path: &Path) -> Result<bool> {
    Ok(files::length_of(path)?.is_some_and(|length| length > 0))
}

/// Which file was opened.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    path: PathBuf,
    file: (u64, u64),
}

impl Place {
    /// Remembers the file at `path`, which was just opened.
    pub(crate) fn of(path: &Path) -> Result<Self> {
        let facts = std::fs::symlink_metadata(path)
            .map_err(|e| StoreError::io("looking at the database", path, e))?;
        Ok(Self { path: path.to_owned(), file: (facts.dev(), facts.ino()) })
    }

    /// Refuses when another file, an empty one or none has that name now: what is written goes
    /// where nobody will find it.
    pub(crate) fn check(&self) -> Result<()> {
        let is_there = std::fs::symlink_metadata(&self.path)
            .is_ok_and(|facts| (facts.dev(), facts.ino()) == self.file && facts.len() > 0);
        match is_there {
            true => Ok(()),
            false => Err(StoreError::DatabaseTaken { path: self.path.clone() }),
        }
    }
}
