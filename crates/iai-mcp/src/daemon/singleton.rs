//! Says who is the daemon: a kernel lock held for life, released by the kernel however the process
//! ends.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use thiserror::Error;

use crate::home::{Home, open_own_file};

/// The right to be the daemon of one store, for as long as this value lives.
#[derive(Debug)]
pub(super) struct Singleton {
    /// Closing the file would give the lock away.
    _lock: File,
    pub(super) place: LockPlace,
}

/// Which file the lock is on.
#[derive(Clone, Debug)]
pub(super) struct LockPlace {
    pub(super) path: PathBuf,
    device: u64,
    inode: u64,
}

impl LockPlace {
    /// Tells whether the file is gone or another stands in its place: then the lock keeps nobody
    /// away, and the store that it was for is no more.
    pub(super) fn is_lost(&self) -> bool {
        match fs::symlink_metadata(&self.path) {
            Ok(facts) => (facts.dev(), facts.ino()) != (self.device, self.inode),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        }
    }
}

#[derive(Debug, Error)]
pub(super) enum SingletonError {
    #[error(
        "a daemon{} already runs for this store; `iai-mcp daemon status` shows it, \
         `iai-mcp daemon stop` ends it",
        pid.as_ref().map(|pid| format!(" (process {pid})")).unwrap_or_default()
    )]
    AlreadyRunning { pid: Option<String> },
    #[error("taking the lock {}: {source}; make the folder yours and writable", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl Singleton {
    /// Takes the lock or says who has it. The file is never deleted: a lock on a deleted file
    /// protects nothing.
    pub(super) fn take(home: &Home) -> Result<Self, SingletonError> {
        let path = home.lock_file();
        let failed = |source| SingletonError::Io { path: path.clone(), source };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut lock = open_own_file(&mut options, &path).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(SingletonError::AlreadyRunning { pid: read_pid(&mut lock) });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        // For people only: who holds the lock is decided by the kernel.
        write_pid(&mut lock).map_err(failed)?;
        let facts = lock.metadata().map_err(failed)?;
        let place = LockPlace { device: facts.dev(), inode: facts.ino(), path };
        Ok(Self { _lock: lock, place })
    }
}

/// Tells whether the lock is surely free: nobody is the daemon. Changes nothing.
pub(crate) fn is_nobody_the_daemon(home: &Home) -> bool {
    match File::open(home.lock_file()) {
        Ok(lock) => lock.try_lock_shared().is_ok(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Returns the process that wrote itself into the lock, while somebody holds it.
pub(crate) fn pid_in_lock(home: &Home) -> Option<i32> {
    let mut lock = File::open(home.lock_file()).ok()?;
    match lock.try_lock_shared() {
        Err(TryLockError::WouldBlock) => read_pid(&mut lock)?.parse().ok(),
        Ok(()) | Err(TryLockError::Error(_)) => None,
    }
}

fn read_pid(lock: &mut File) -> Option<String> {
    let mut text = String::new();
    lock.take(16).read_to_string(&mut text).ok()?;
    let pid = text.trim();
    (!pid.is_empty() && pid.chars().all(|digit| digit.is_ascii_digit())).then(|| pid.to_owned())
}

fn write_pid(lock: &mut File) -> io::Result<()> {
    lock.set_len(0)?;
    lock.rewind()?;
    lock.write_all(format!("{}\n", std::process::id()).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().to_owned(), None);
        let first = Singleton::take(&home).unwrap();
        let refused = Singleton::take(&home).unwrap_err();
        assert!(refused.to_string().contains(&std::process::id().to_string()), "{refused}");
        drop(first);
        let next = Singleton::take(&home).unwrap();
        assert!(!next.place.is_lost());
        fs::rename(home.lock_file(), folder.path().join("away")).unwrap();
        assert!(next.place.is_lost());
        fs::write(home.lock_file(), "").unwrap();
        assert!(next.place.is_lost(), "it is another file");
    }
}
