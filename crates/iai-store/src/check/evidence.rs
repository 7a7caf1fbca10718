//! Keeps a damaged log before SQLite takes what fits and forgets the rest.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::log;
use crate::error::{Result, StoreError};
use crate::exchange;
use crate::files::{self, StorePaths};

const START: &str = "damaged-log-";
/// What a copy is called until it is whole.
const UNFINISHED: &str = ".damaged-log-unfinished";
/// Logs are compared in pieces of this size: one that was damaged may be larger than the memory.
const PIECE_BYTES: usize = 64 * 1024;

/// Copies a damaged log and the database it belongs to, once, before anybody opens them to write.
pub(crate) fn keep_damaged_log(paths: &StorePaths, now: Timestamp) -> Result<()> {
    let aside = &paths.aside;
    // What cannot be swept is in nobody's way but the next copy's, which will say so.
    sweep(aside).ok();
    let log = exchange::beside(&paths.database, "-wal");
    let looked = log::look(&paths.database)?;
    let Some(damage) = &looked.damage else {
        // What cannot be cut off is in nobody's way: at worst a kill is told as damage.
        looked.cut_leftovers(&log).ok();
        return Ok(());
    };
    keep_once(paths, &log, now)?;
    match damage.log {
        log::Rest::FitsDatabase => Ok(()),
        log::Rest::OlderThanDatabase => remove_old(&log),
    }
}

fn keep_once(paths: &StorePaths, log: &Path, now: Timestamp) -> Result<()> {
    let aside = &paths.aside;
    let log_name = log.file_name().unwrap_or_default();
    for kept in damaged_logs(paths)? {
        // A store that cannot be opened afterwards would fill the disk, one copy for each attempt.
        if is_same(log, &kept.join(log_name))? {
            return Ok(());
        }
    }
    let tag = u32::from_le_bytes(files::random()?);
    let name = format!("{START}{}-{tag:08x}", now.strftime("%Y%m%d-%H%M%S"));
    ensure_aside(aside)?;
    let is_there = files::length_of(log)?.is_some();
    let sources = [paths.database.as_path(), log];
    keep(aside, &name, if is_there { &sources } else { &sources[..1] })
}

/// Moves away a log that somebody put in the place of ours.
pub(crate) fn keep_strange_log(paths: &StorePaths, log: &Path) -> Result<()> {
    let tag = u32::from_le_bytes(files::random()?);
    ensure_aside(&paths.aside)?;
    let folder = paths.aside.join(format!("{START}strange-{tag:08x}"));
    files::ensure_folder(&folder)?;
    files::place_written(log, &folder.join(log.file_name().unwrap_or_default()))
}

fn ensure_aside(aside: &Path) -> Result<()> {
    if aside.is_symlink() {
        return Err(StoreError::NotOurs { path: aside.to_owned(), why: "it is a link" });
    }
    files::ensure_folder(aside)
}

#[expect(clippy::disallowed_methods, reason = "a copy of it was kept right before")]
fn remove_old(log: &Path) -> Result<()> {
    match fs::remove_file(log) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(StoreError::io("taking an old log away", log, error))
        }
        Ok(()) | Err(_) => files::sync_folder_of(log),
    }
}

/// Copies files into a folder that has its name when all of them are whole.
fn keep(aside: &Path, name: &str, sources: &[&Path]) -> Result<()> {
    let unfinished = aside.join(UNFINISHED);
    if let Err(error) = copy_all(sources, &unfinished) {
        // On a full disk every start would leave as much of it as there is room for.
        sweep(aside).ok();
        return Err(error);
    }
    files::place_written(&unfinished, &aside.join(name))
}

fn copy_all(sources: &[&Path], folder: &Path) -> Result<()> {
    files::ensure_folder(folder)?;
    for path in sources {
        copy(path, &folder.join(path.file_name().unwrap_or_default()))?;
    }
    files::sync_folder(folder)
}

/// Removes the copy of a start that was cut off.
fn sweep(aside: &Path) -> Result<()> {
    let unfinished = aside.join(UNFINISHED);
    // Behind a link is somebody else's folder.
    if aside.is_symlink() || !unfinished.is_dir() {
        return Ok(());
    }
    fs::remove_dir_all(&unfinished)
        .map_err(|e| StoreError::io("removing an unfinished copy", &unfinished, e))
}

/// Returns the folders with damaged logs that were kept, oldest first. Whoever has done what there
/// was to do moves them away.
pub fn damaged_logs(paths: &StorePaths) -> Result<Vec<PathBuf>> {
    let failed = |e| StoreError::io("listing a folder", &paths.aside, e);
    let entries = match fs::read_dir(&paths.aside) {
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
    let n_bytes = files::length_of(one)?;
    if n_bytes != files::length_of(other)? {
        return Ok(false);
    }
    if n_bytes.is_none() {
        return Ok(true);
    }
    has_same_bytes(one, other).map_err(|e| StoreError::io("comparing a log", other, e))
}

/// Compares files that have the same length.
fn has_same_bytes(one: &Path, other: &Path) -> io::Result<bool> {
    let (mut one, mut other) = (File::open(one)?, File::open(other)?);
    let (mut here, mut there) = (vec![0_u8; PIECE_BYTES], vec![0_u8; PIECE_BYTES]);
    loop {
        let n = one.read(&mut here)?;
        if n == 0 {
            return Ok(true);
        }
        other.read_exact(there.get_mut(..n).unwrap_or_default())?;
        if here.get(..n) != there.get(..n) {
            return Ok(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_compared_to_their_last_byte_and_never_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        for n_bytes in [0, 1, PIECE_BYTES, 2 * PIECE_BYTES + 1] {
            let mut bytes = vec![7_u8; n_bytes];
            fs::write(&one, &bytes).unwrap();
            fs::write(&other, &bytes).unwrap();
            assert!(is_same(&one, &other).unwrap(), "{n_bytes}");
            bytes.push(7);
            fs::write(&one, &bytes).unwrap();
            assert!(!is_same(&one, &other).unwrap(), "{n_bytes}");
            *bytes.last_mut().unwrap() = 8;
            fs::write(&other, &bytes).unwrap();
            assert!(!is_same(&one, &other).unwrap(), "{n_bytes}");
        }
        // Files with nothing in them but their length: no memory holds two of these.
        for path in [&one, &other] {
            File::options().write(true).open(path).unwrap().set_len(1 << 36).unwrap();
        }
        assert!(!is_same(&one, &other).unwrap(), "they differ early");
    }

    #[test]
    fn a_copy_that_fails_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let (database, log, aside) = (at("memory.db"), at("memory.db-wal"), at("aside"));
        let n_left = || fs::read_dir(&aside).unwrap().count();
        fs::create_dir(&aside).unwrap();
        fs::write(&database, "pages").unwrap();
        assert!(keep(&aside, "kept", &[&database, &log]).is_err(), "the log cannot be copied");
        assert_eq!(n_left(), 0);
        fs::write(&log, "frames").unwrap();
        keep(&aside, "kept", &[&database, &log]).unwrap();
        assert_eq!(n_left(), 1);
        assert_eq!(fs::read(aside.join("kept/memory.db")).unwrap(), b"pages");
        assert_eq!(fs::read(aside.join("kept/memory.db-wal")).unwrap(), b"frames");
    }
}
