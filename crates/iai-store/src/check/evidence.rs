//! Keeps a damaged log before SQLite takes what fits and forgets the rest.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::log;
use crate::error::{Result, StoreError};
use crate::exchange;
use crate::files::{self, StorePaths};

const FOLDER: &str = "aside";
const START: &str = "damaged-log-";

/// Copies a damaged log and the database it belongs to, once, before anybody opens them to write.
pub(crate) fn keep_damaged_log(paths: &StorePaths, now: Timestamp) -> Result<()> {
    if log::damage(&paths.database)?.is_none() {
        return Ok(());
    }
    let log = exchange::beside(&paths.database, "-wal");
    let log_name = log.file_name().unwrap_or_default();
    for kept in damaged_logs(paths)? {
        // A store that cannot be opened afterwards would fill the disk, one copy for each attempt.
        if is_same(&log, &kept.join(log_name))? {
            return Ok(());
        }
    }
    let tag = u32::from_le_bytes(files::random()?);
    let name = format!("{START}{}-{tag:08x}", now.strftime("%Y%m%d-%H%M%S"));
    let folder = paths.folder.join(FOLDER).join(name);
    let aside = paths.folder.join(FOLDER);
    if aside.is_symlink() {
        return Err(StoreError::NotOurs { path: aside, why: "it is a link" });
    }
    files::ensure_folder(&aside)?;
    files::ensure_folder(&folder)?;
    // The log last: a copy that was cut off has none, and is made again.
    for path in [&paths.database, &log] {
        copy(path, &folder.join(path.file_name().unwrap_or_default()))?;
    }
    files::sync_folder(&folder)
}

/// Returns the folders with damaged logs that were kept, oldest first. Whoever has done what there
/// was to do moves them away.
pub fn damaged_logs(paths: &StorePaths) -> Result<Vec<PathBuf>> {
    let aside = paths.folder.join(FOLDER);
    let failed = |e| StoreError::io("listing a folder", &aside, e);
    let entries = match fs::read_dir(&aside) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        found => found.map_err(failed)?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if entry.file_name().to_string_lossy().starts_with(START) {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let failed = |e| StoreError::io("keeping a damaged log", to, e);
    // Nobody has the database open yet, so that closing this handle drops nobody's locks.
    let mut source = File::open(from).map_err(failed)?;
    let mut target = files::create_private(to)?;
    io::copy(&mut source, &mut target).and_then(|_| target.sync_all()).map_err(failed)
}

fn is_same(one: &Path, other: &Path) -> Result<bool> {
    if files::length_of(one)? != files::length_of(other)? {
        return Ok(false);
    }
    let read = |path: &Path| fs::read(path).map_err(|e| StoreError::io("reading a log", path, e));
    Ok(read(one)? == read(other)?)
}
