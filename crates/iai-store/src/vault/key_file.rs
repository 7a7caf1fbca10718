//! The key file: thirty-two random bytes that only their owner may read.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::process::geteuid;
use zeroize::Zeroizing;

use super::Secret;
use crate::error::{Result, StoreError};
use crate::files::{self, Placed};

const KEY_BYTES: u64 = 32;

/// Whether a key file is a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyFileKind {
    /// A regular file.
    Regular,
    /// A symbolic link, a folder or something else that is refused.
    Other,
}

/// What the system says about a key file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyFacts {
    /// Whether it is a file at all.
    pub kind: KeyFileKind,
    /// Its permission bits.
    pub mode: u32,
    /// Its owner.
    pub uid: u32,
    /// The user this process runs as.
    pub process_uid: u32,
    /// Its length.
    pub length_bytes: u64,
}

impl KeyFacts {
    /// Returns whether nobody but the owner may touch it.
    pub fn mode_secure(&self) -> bool {
        self.mode & 0o077 == 0
    }

    /// Returns whether this process runs as its owner.
    pub fn uid_matches_process(&self) -> bool {
        self.uid == self.process_uid
    }

    /// Returns whether it has the length of one key.
    pub fn length_valid(&self) -> bool {
        self.length_bytes == KEY_BYTES
    }

    fn of(facts: &Metadata) -> Self {
        Self {
            kind: if facts.is_file() { KeyFileKind::Regular } else { KeyFileKind::Other },
            mode: facts.mode() & 0o7777,
            uid: facts.uid(),
            process_uid: geteuid().as_raw(),
            length_bytes: facts.len(),
        }
    }
}

/// Returns the facts of whatever stands at `path`, without following a link.
pub(crate) fn look(path: &Path) -> Result<Option<KeyFacts>> {
    match fs::symlink_metadata(path) {
        Ok(facts) => Ok(Some(KeyFacts::of(&facts))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::io("looking at the key file", path, error)),
    }
}

/// Reads the key after every check that could tell it is not safe to use.
pub(crate) fn load(path: &Path) -> Result<Secret> {
    if let Some(facts) = look(path)? {
        check_facts(path, &facts)?;
    }
    // The file may have been swapped since: no link is followed, no pipe is waited for, and the
    // facts of what was really opened are checked again.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut file = rustix::fs::open(path, flags, Mode::empty())
        .map(File::from)
        .map_err(|e| StoreError::io("opening the key file", path, e.into()))?;
    let reading = |error| StoreError::io("reading the key file", path, error);
    check_facts(path, &KeyFacts::of(&file.metadata().map_err(reading)?))?;
    let mut key = Secret::default();
    file.read_exact(&mut *key).map_err(reading)?;
    Ok(key)
}

/// Draws a key and puts it in place; an existing file is an error, never overwritten.
pub(crate) fn create(path: &Path) -> Result<Secret> {
    let key: Secret = Zeroizing::new(files::random()?);
    match files::place_new(path, &*key)? {
        Placed::Now => Ok(key),
        Placed::Before => Err(StoreError::KeyExists { path: path.to_owned() }),
    }
}

fn check_facts(path: &Path, facts: &KeyFacts) -> Result<()> {
    let path = path.to_owned();
    if facts.kind == KeyFileKind::Other {
        return Err(StoreError::KeyNotRegular { path });
    }
    if !facts.uid_matches_process() {
        return Err(StoreError::KeyOwner { path, uid: facts.uid });
    }
    if !facts.mode_secure() {
        return Err(StoreError::KeyInsecure { path, mode: facts.mode });
    }
    if !facts.length_valid() {
        return Err(StoreError::KeyLength { path, length: facts.length_bytes });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: KeyFacts = KeyFacts {
        kind: KeyFileKind::Regular,
        mode: 0o600,
        uid: 501,
        process_uid: 501,
        length_bytes: 32,
    };

    fn check(facts: &KeyFacts, expect: &str) {
        let found = match check_facts(Path::new("/k"), facts) {
            Ok(()) => "fine".to_owned(),
            Err(error) => format!("{error:?}"),
        };
        assert!(found.starts_with(expect), "{facts:?}: {found}");
    }

    #[test]
    fn every_weakness_has_its_own_name() {
        check(&GOOD, "fine");
        check(&KeyFacts { mode: 0o400, ..GOOD }, "fine");
        check(&KeyFacts { mode: 0o640, ..GOOD }, "KeyInsecure");
        check(&KeyFacts { mode: 0o602, ..GOOD }, "KeyInsecure");
        check(&KeyFacts { mode: 0o601, ..GOOD }, "KeyInsecure");
        check(&KeyFacts { uid: 0, ..GOOD }, "KeyOwner");
        check(&KeyFacts { length_bytes: 31, ..GOOD }, "KeyLength");
        check(&KeyFacts { length_bytes: 33, ..GOOD }, "KeyLength");
        check(&KeyFacts { kind: KeyFileKind::Other, ..GOOD }, "KeyNotRegular");
    }

    #[test]
    fn a_key_reads_back_and_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let made = create(&path).unwrap();
        assert_eq!(*load(&path).unwrap(), *made);
        assert_ne!(*made, [0; 32]);
        assert!(matches!(create(&path), Err(StoreError::KeyExists { .. })));
        assert_eq!(*load(&path).unwrap(), *made);
    }
}
