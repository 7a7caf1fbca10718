//! Puts files in place so that only their owner reads them and a crash leaves the old or the new.
//! What stands in the files is for others to know.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, DirEntryExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::error::{FOREIGN, Result, StoreError};

/// Where the parts of one store are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorePaths {
    /// The folder that holds the store.
    pub folder: PathBuf,
    /// The encrypted database.
    pub database: PathBuf,
    /// The wrapped keys.
    pub vault: PathBuf,
    /// The master key, unless a passphrase is used.
    pub key_file: PathBuf,
    /// The public key that hooks seal to.
    pub spool_public: PathBuf,
    /// What is kept of damage; a folder in that of the store.
    pub aside: PathBuf,
}

const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;

/// Whether a file came into being now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placed {
    Now,
    Before,
}

pub(crate) fn ensure_folder(path: &Path) -> Result<()> {
    let existed = path.is_dir();
    DirBuilder::new()
        .recursive(true)
        .mode(FOLDER_MODE)
        .create(path)
        .map_err(|e| StoreError::io("creating the store folder", path, e))?;
    ensure_mode(path, FOLDER_MODE)?;
    if existed { Ok(()) } else { sync_folder_of(path) }
}

/// Puts `bytes` at `path` unless something is there already; what is there is never replaced.
pub(crate) fn place_new(path: &Path, bytes: &[u8]) -> Result<Placed> {
    let aside = write_aside(path, bytes)?;
    // A link, unlike a rename, fails when the name is taken: two first starts must not swap keys.
    let linked = fs::hard_link(&aside, path);
    discard(&aside)?;
    match linked {
        Ok(()) => {
            sync_folder_of(path)?;
            Ok(Placed::Now)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Placed::Before),
        Err(error) => Err(StoreError::io("putting a new file in place", path, error)),
    }
}

/// Puts `bytes` at `path`, whatever was there.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let aside = write_aside(path, bytes)?;
    if let Err(error) = fs::rename(&aside, path) {
        discard(&aside)?;
        return Err(StoreError::io("replacing a file", path, error));
    }
    sync_folder_of(path)
}

/// Puts a file that was written aside in its place. A rename, not a link: backups go to disks that
/// know no links.
pub(crate) fn place_written(aside: &Path, path: &Path) -> Result<()> {
    fs::rename(aside, path).map_err(|e| StoreError::io("putting a new file in place", path, e))?;
    sync_folder_of(path)
}

/// Makes an empty file when there is none; an existing one keeps its bytes and loses foreign eyes.
pub(crate) fn ensure_private_file(path: &Path) -> Result<Placed> {
    // An existing file is never opened: closing any handle of a database drops the locks that
    // SQLite holds on it in this process.
    let opened = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path);
    match opened {
        Ok(file) => {
            file.set_permissions(Permissions::from_mode(FILE_MODE))
                .and_then(|()| file.sync_all())
                .map_err(|e| StoreError::io("creating a file", path, e))?;
            sync_folder_of(path)?;
            Ok(Placed::Now)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            ensure_private(path)?;
            Ok(Placed::Before)
        }
        Err(error) => Err(StoreError::io("creating a file", path, error)),
    }
}

pub(crate) fn ensure_private(path: &Path) -> Result<()> {
    check_own(path)?;
    ensure_mode(path, FILE_MODE)
}

/// Refuses what stands in a file's place and is not one plain file of ours: through a link or a
/// second name our bytes would stand in somebody's file. A place that is empty is fine.
pub(crate) fn check_own(path: &Path) -> Result<()> {
    let facts = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found.map_err(|e| StoreError::io("looking at a file", path, e))?,
    };
    let why = if facts.is_symlink() {
        "it is a link"
    } else if !facts.is_file() {
        "it is no regular file"
    } else if facts.uid() != rustix::process::getuid().as_raw() {
        FOREIGN
    } else if facts.nlink() > 1 && n_own_names(path, facts.ino()) < facts.nlink() {
        "it has a second name elsewhere"
    } else {
        return Ok(());
    };
    Err(StoreError::NotOurs { path: path.to_owned(), why })
}

/// Counts a file's name and those that [`place_new`] left when it was killed between its link and
/// the end.
fn n_own_names(path: &Path, inode: u64) -> u64 {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let start = format!(".{name}.");
    let entries = path.parent().and_then(|folder| fs::read_dir(folder).ok());
    let asides = entries.into_iter().flatten().flatten().filter(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.starts_with(&start) && name.ends_with(".new") && entry.ino() == inode
    });
    asides.count() as u64 + 1
}

/// Returns the whole file, or nothing when it does not exist, or `None` inside when it is longer
/// than `bytes_max`.
pub(crate) fn read_small(path: &Path, bytes_max: u64) -> Result<Option<SmallFile>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::io("opening a file", path, error)),
    };
    let mut bytes = Vec::new();
    file.take(bytes_max.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|e| StoreError::io("reading a file", path, e))?;
    let n_bytes = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    Ok(Some(if n_bytes > bytes_max { SmallFile::TooLong } else { SmallFile::Whole(bytes) }))
}

/// What [`read_small`] found.
pub(crate) enum SmallFile {
    Whole(Vec<u8>),
    TooLong,
}

/// Returns the length of a file, or nothing when it does not exist.
pub(crate) fn length_of(path: &Path) -> Result<Option<u64>> {
    match fs::metadata(path) {
        Ok(facts) => Ok(Some(facts.len())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::io("looking at a file", path, error)),
    }
}

/// Draws random bytes from the system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| StoreError::NoRandomness { reason: error.to_string() })?;
    Ok(bytes)
}

/// Draws a name beside `path`, hidden and unknown to anybody else.
pub(crate) fn name_aside(path: &Path) -> Result<PathBuf> {
    // A random name: a fixed one would let two first starts write through each other's file.
    let tag = u64::from_le_bytes(random()?);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Ok(path.with_file_name(format!(".{name}.{tag:016x}.new")))
}

fn write_aside(path: &Path, bytes: &[u8]) -> Result<PathBuf> {
    let aside = name_aside(path)?;
    let mut file = create_private(&aside)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if let Err(error) = written {
        discard(&aside)?;
        return Err(StoreError::io("writing a file", &aside, error));
    }
    Ok(aside)
}

/// Creates a file that only its owner reads; an existing one is an error.
pub(crate) fn create_private(path: &Path) -> Result<File> {
    let failed = |e| StoreError::io("creating a file", path, e);
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(FILE_MODE)
        .open(path)
        .map_err(failed)?;
    file.set_permissions(Permissions::from_mode(FILE_MODE)).map_err(failed)?;
    Ok(file)
}

#[expect(
    clippy::disallowed_methods,
    reason = "this room made the file under a random name, nobody else knows it"
)]
pub(crate) fn discard(aside: &Path) -> Result<()> {
    fs::remove_file(aside).map_err(|e| StoreError::io("removing a temporary file", aside, e))
}

fn ensure_mode(path: &Path, mode: u32) -> Result<()> {
    let facts =
        fs::metadata(path).map_err(|e| StoreError::io("looking at permissions", path, e))?;
    if facts.mode() & 0o7777 == mode {
        return Ok(());
    }
    fs::set_permissions(path, Permissions::from_mode(mode))
        .map_err(|e| StoreError::io("closing permissions", path, e))
}

/// Makes names in the folder of `path` durable.
pub(crate) fn sync_folder_of(path: &Path) -> Result<()> {
    sync_folder(match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    })
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|e| StoreError::io("making a folder durable", folder, e))
}

/// Makes every file and folder below `folder` durable, and the folder itself.
pub(crate) fn sync_tree(folder: &Path) -> Result<()> {
    let failed = |e| StoreError::io("making files durable", folder, e);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_type().map_err(failed)?.is_dir() {
            sync_tree(&entry.path())?;
        } else {
            File::open(entry.path()).and_then(|file| file.sync_all()).map_err(failed)?;
        }
    }
    sync_folder(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_new_file_never_replaces_an_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        assert_eq!(place_new(&path, b"first").unwrap(), Placed::Now);
        assert_eq!(place_new(&path, b"second").unwrap(), Placed::Before);
        assert_eq!(fs::read(&path).unwrap(), b"first");
        replace(&path, b"third").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"third");
        assert_eq!(names(folder.path()), ["key"], "nothing stays aside");
    }

    #[test]
    fn only_a_plain_file_of_ours_is_taken_and_nothing_else_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let mode = || fs::metadata(at("precious")).unwrap().mode() & 0o7777;
        fs::write(at("precious"), "kept").unwrap();
        fs::set_permissions(at("precious"), Permissions::from_mode(0o644)).unwrap();
        std::os::unix::fs::symlink(at("precious"), at("link")).unwrap();
        std::os::unix::fs::symlink(at("nowhere"), at("dangling")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        for name in ["link", "dangling", "folder"] {
            let refused = ensure_private_file(&at(name));
            assert!(matches!(refused, Err(StoreError::NotOurs { .. })), "{name}: {refused:?}");
        }
        fs::hard_link(at("precious"), at("second")).unwrap();
        assert!(matches!(ensure_private_file(&at("second")), Err(StoreError::NotOurs { .. })));
        assert_eq!(mode(), 0o644, "nobody's file is changed");
        fs::rename(at("second"), at(".precious.0011.new")).unwrap();
        ensure_private_file(&at("precious")).unwrap();
        assert_eq!(mode(), 0o600, "a name that a kill left is no stranger's");
    }

    #[test]
    fn files_are_private_and_small_reads_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, [7; 10]).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
        assert_eq!(ensure_private_file(&path).unwrap(), Placed::Before);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o600);
        assert!(
            matches!(read_small(&path, 10).unwrap(), Some(SmallFile::Whole(b)) if b == [7; 10])
        );
        assert!(matches!(read_small(&path, 9).unwrap(), Some(SmallFile::TooLong)));
        assert!(read_small(&folder.path().join("none"), 9).unwrap().is_none());
        assert!(matches!(
            place_new(&folder.path().join("no/such/folder"), b""),
            Err(StoreError::Io { .. })
        ));
    }
}
