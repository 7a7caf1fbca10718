//! The log: one file with a size cap, never a word of any memory in it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use jiff::Timestamp;
use tracing_subscriber::fmt::MakeWriter;

use crate::home::{ensure_inner_folder, open_own_file};

/// When the file is this long it becomes `<name>.1`, and the old `.1` goes.
const LOG_BYTES_MAX: u64 = 2 * 1024 * 1024;

/// Keeps the log going; nothing is buffered, so dropping it loses nothing.
pub(crate) struct Logging;

/// Sends the process's log to `path` from here on.
pub(crate) fn to_file(path: &Path) -> anyhow::Result<Logging> {
    let folder = path.parent().context("a log file lives in a folder")?;
    ensure_inner_folder(folder).with_context(|| format!("making {}", folder.display()))?;
    let writer = CappedFile::open(path).with_context(|| format!("opening {}", path.display()))?;
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_target(false)
        .with_writer(CappedLog(Mutex::new(writer)))
        .finish();
    // Only tests set two; the first one stays.
    tracing::subscriber::set_global_default(subscriber).ok();
    Ok(Logging)
}

/// Appends one line to a log without taking part in the process's own; failing to is no failure.
pub(crate) fn note(path: &Path, sentence: &str, now: Timestamp) {
    let Some(folder) = path.parent() else { return };
    let written = ensure_inner_folder(folder)
        .and_then(|()| CappedFile::open(path))
        .and_then(|mut log| log.write(format!("{now} {sentence}\n").as_bytes()));
    drop(written);
}

struct CappedFile {
    file: File,
    path: PathBuf,
    n_bytes: u64,
}

impl CappedFile {
    fn open(path: &Path) -> io::Result<Self> {
        let file = open_own_file(OpenOptions::new().append(true).create(true), path)?;
        let n_bytes = file.metadata()?.len();
        Ok(Self { file, path: path.to_owned(), n_bytes })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if LOG_BYTES_MAX < self.n_bytes + bytes.len() as u64 {
            let mut older = self.path.clone().into_os_string();
            older.push(".1");
            fs::rename(&self.path, older)?;
            *self = Self::open(&self.path)?;
        }
        self.file.write_all(bytes)?;
        self.n_bytes += bytes.len() as u64;
        Ok(())
    }
}

struct CappedLog(Mutex<CappedFile>);

struct Line<'a>(&'a Mutex<CappedFile>);

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for CappedLog {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_never_grows_past_two_files_of_its_cap() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.log");
        let mut log = CappedFile::open(&path).unwrap();
        let line = vec![b'x'; 100 * 1024];
        for _ in 0..100 {
            log.write(&line).unwrap();
        }
        let sizes: Vec<u64> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().metadata().unwrap().len())
            .collect();
        assert_eq!(sizes.len(), 2);
        assert!(sizes.iter().all(|size| *size <= LOG_BYTES_MAX), "{sizes:?}");
    }
}
