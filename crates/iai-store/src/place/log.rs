//! Whether the write-ahead log is the one we write to, and as long as we left it.
//!
//! SQLite never looks: into a log that was removed it goes on writing what nobody will find, and of
//! one that was cut off it copies zeros over sound pages of the database.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::connection::LOG_BYTES_KEPT;
use crate::error::{Result, StoreError};
use crate::exchange;

const HEADER_BYTES: usize = 32;
/// What a log begins with; the last bit tells the order of its checksums.
const MAGIC: [u8; 3] = [0x37, 0x7f, 0x06];

/// The log that the writer has open.
#[derive(Debug)]
pub(crate) struct LogPlace {
    path: PathBuf,
    /// A handle of our own: nobody locks the log, so that closing it drops nobody's locks.
    file: File,
    known: Mutex<Known>,
}

/// How the log was when we last wrote.
#[derive(Debug, Clone, Copy)]
enum Known {
    Left(Shape),
    /// We are writing: it may become longer, begin anew, or be emptied.
    Writing(Shape),
    /// What it held is not in it any more. It stays so until the store is opened again.
    Cut,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Shape {
    n_bytes: u64,
    header: [u8; HEADER_BYTES],
}

/// What was done to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogFault {
    /// Another file or none has its name; ours is whole and can still be moved into the database.
    Taken,
    /// It is shorter than it was, or begins with something else: nothing may be read from it.
    Cut,
}

impl LogPlace {
    /// Remembers the log beside `database`, which was just opened to write.
    pub(crate) fn of(database: &Path) -> Result<Self> {
        let path = exchange::beside(database, "-wal");
        let failed = |e| StoreError::io("looking at the log", &path, e);
        let file = File::open(&path).map_err(failed)?;
        let known = Mutex::new(Known::Left(Shape::of(&file).map_err(failed)?));
        Ok(Self { path, file, known })
    }

    /// Refuses when something was done to the log.
    pub(crate) fn check(&self) -> Result<()> {
        self.fault().map_or(Ok(()), |fault| Err(self.refusal(fault)))
    }

    /// Tells what was done to the log, if anything was.
    pub(crate) fn fault(&self) -> Option<LogFault> {
        let mut known = self.known();
        if let Known::Left(left) = *known {
            let is_whole = Shape::of(&self.file)
                .is_ok_and(|now| now.header == left.header && now.n_bytes >= left.n_bytes);
            if !is_whole {
                *known = Known::Cut;
            }
        }
        match *known {
            Known::Cut => Some(LogFault::Cut),
            Known::Left(_) | Known::Writing(_) => (!self.has_its_name()).then_some(LogFault::Taken),
        }
    }

    /// What to tell whoever wants to write.
    pub(crate) fn refusal(&self, fault: LogFault) -> StoreError {
        let path = self.path.clone();
        match fault {
            LogFault::Taken => StoreError::LogTaken { path },
            LogFault::Cut => StoreError::LogCut { path },
        }
    }

    /// Runs what writes to the log, and remembers how it left it.
    pub(crate) fn writing<T>(&self, work: impl FnOnce() -> T) -> T {
        self.begin();
        // Also when `work` panics: the next look at the log must not think that we still write.
        let _end = Ending(self);
        work()
    }

    /// Where another log lies in the place of ours, if one does.
    pub(crate) fn stranger(&self) -> Option<&Path> {
        let is_filled = fs::symlink_metadata(&self.path).is_ok_and(|facts| facts.len() > 0);
        (is_filled && !self.has_its_name()).then_some(&self.path)
    }

    fn begin(&self) {
        let mut known = self.known();
        if let Known::Left(left) = *known {
            *known = Known::Writing(left);
        }
    }

    fn end(&self) {
        let mut known = self.known();
        let Known::Writing(left) = *known else { return };
        let now = Shape::of(&self.file).ok();
        *known = match now.filter(|now| left.may_become(now)) {
            Some(now) => Known::Left(now),
            None => Known::Cut,
        };
    }

    fn has_its_name(&self) -> bool {
        let ours = self.file.metadata().map(|facts| (facts.dev(), facts.ino())).ok();
        let named = fs::symlink_metadata(&self.path).map(|facts| (facts.dev(), facts.ino())).ok();
        ours.is_some() && ours == named
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Ending<'a>(&'a LogPlace);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Shape {
    fn of(file: &File) -> io::Result<Self> {
        let mut shape = Self { n_bytes: file.metadata()?.len(), ..Self::default() };
        if shape.n_bytes >= HEADER_BYTES as u64 {
            file.read_exact_at(&mut shape.header, 0)?;
        }
        Ok(shape)
    }

    /// A checkpoint empties the log; a commit that begins it anew shortens it, though never below
    /// what it may keep.
    fn may_become(&self, now: &Self) -> bool {
        now.n_bytes == 0
            || now.header.starts_with(&MAGIC) && now.n_bytes >= self.n_bytes.min(LOG_BYTES_KEPT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND: &[u8] = &[0x37, 0x7f, 0x06, 0x82];

    fn log(n_bytes: usize) -> Vec<u8> {
        let mut bytes = SOUND.to_vec();
        bytes.resize(n_bytes, 7);
        bytes
    }

    #[test]
    fn what_is_done_to_a_log_behind_our_back_is_told_from_what_we_do() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("memory.db");
        let path = folder.path().join("memory.db-wal");
        let check = |outside: &dyn Fn(), expect: Option<LogFault>| {
            fs::write(&path, log(5000)).unwrap();
            let place = LogPlace::of(&database).unwrap();
            assert_eq!(place.fault(), None);
            outside();
            assert_eq!(place.fault(), expect);
            place.writing(|| ());
            assert_eq!(place.fault(), expect, "writing excuses nothing");
        };
        check(&|| fs::write(&path, log(6000)).unwrap(), None);
        check(&|| fs::write(&path, log(4000)).unwrap(), Some(LogFault::Cut));
        check(&|| fs::write(&path, "").unwrap(), Some(LogFault::Cut));
        check(&|| fs::write(&path, [0; 6000]).unwrap(), Some(LogFault::Cut));
        check(&|| fs::rename(&path, folder.path().join("away")).unwrap(), Some(LogFault::Taken));
        let put = || {
            fs::write(folder.path().join("other"), log(5000)).unwrap();
            fs::rename(folder.path().join("other"), &path).unwrap();
        };
        check(&put, Some(LogFault::Taken));
    }

    #[test]
    fn what_we_write_ourselves_is_no_fault_unless_it_cannot_be_ours() {
        let folder = tempfile::tempdir().unwrap();
        let (database, path) = (folder.path().join("db"), folder.path().join("db-wal"));
        fs::write(&path, log(5000)).unwrap();
        let place = LogPlace::of(&database).unwrap();
        for bytes in [log(9000), log(9001), Vec::new(), log(100)] {
            place.writing(|| {
                fs::write(&path, &bytes).unwrap();
                assert_eq!(place.fault(), None, "whoever looks meanwhile is not misled");
            });
            assert_eq!(place.fault(), None, "{} bytes", bytes.len());
        }
        place.writing(|| fs::write(&path, log(99)).unwrap());
        assert_eq!(place.fault(), Some(LogFault::Cut));
        fs::write(&path, log(9000)).unwrap();
        assert_eq!(place.fault(), Some(LogFault::Cut), "what was cut is not there again");
    }
}
