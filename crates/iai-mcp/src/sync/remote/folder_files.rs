//! Files of a shared folder: read without following links, written whole or not at all.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::SystemTime;

use iai_sync::RemoteError;
use rustix::fs::OFlags;

/// No file of ours is larger.
const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;
const GROUP_WRITES: u32 = 0o020;

/// Lists a folder by names; none when it is not there.
pub(super) fn list(folder: &Path) -> Result<Option<Vec<String>>, RemoteError> {
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed("looking at", folder, &error)),
        Ok(facts) if facts.is_symlink() => return Err(link(folder)),
        Ok(_) => {}
    }
    let read = fs::read_dir(folder).map_err(|error| failed("listing", folder, &error))?;
    let mut names = Vec::new();
    for entry in read {
        let entry = entry.map_err(|error| failed("listing", folder, &error))?;
        // A name that is no text is not one that we gave.
        names.extend(entry.file_name().into_string().ok());
    }
    names.sort();
    Ok(Some(names))
}

/// Returns the length of a file; none when it is not there, or no file but a link.
pub(super) fn length(path: &Path) -> Option<u64> {
    fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file).map(|facts| facts.len())
}

/// Returns when a file was last written.
pub(super) fn modified(path: &Path) -> Option<SystemTime> {
    fs::symlink_metadata(path).ok()?.modified().ok()
}

/// Reads a whole file; none when it is not there.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, RemoteError> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(_) if fs::symlink_metadata(path).is_ok_and(|facts| facts.is_symlink()) => {
            return Err(link(path));
        }
        Err(error) => return Err(failed("opening", path, &error)),
    };
    let mut bytes = Vec::new();
    let n_read = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    match n_read {
        Ok(n_bytes) if FILE_BYTES_MAX < n_bytes as u64 => {
            Err(RemoteError::Damaged(format!("{} is too large to be ours", path.display())))
        }
        Ok(_) => Ok(Some(bytes)),
        Err(error) => Err(failed("reading", path, &error)),
    }
}

/// Writes a file beside its place, makes it durable and moves it there.
pub(super) fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), RemoteError> {
    let path = folder.join(name);
    let aside = folder.join(aside_name(name)?);
    let written = write_aside(folder, &aside, bytes).and_then(|()| fs::rename(&aside, &path));
    if let Err(error) = written {
        delete(&aside)?;
        return Err(failed("writing", &path, &error));
    }
    sync(folder).map_err(|error| failed("making durable", folder, &error))
}

/// A name that no file is read under, different each time: two may write the same segment at once.
fn aside_name(name: &str) -> Result<String, RemoteError> {
    let mut random = [0; 8];
    getrandom::fill(&mut random)
        .map_err(|error| RemoteError::Away(format!("no random numbers: {error}")))?;
    Ok(format!(".{name}.{:016x}.tmp", u64::from_le_bytes(random)))
}

fn write_aside(folder: &Path, aside: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    let mut file = options.open(aside)?;
    file.write_all(bytes)?;
    set_mode(folder, aside, 0o600)?;
    file.sync_all()
}

/// Gives a file to the group too where the folder was given to it. A file system without modes
/// has nothing to set.
fn set_mode(folder: &Path, path: &Path, mode: u32) -> io::Result<()> {
    if fs::metadata(folder)?.permissions().mode() & GROUP_WRITES == 0 {
        return Ok(());
    }
    match fs::set_permissions(path, Permissions::from_mode(mode | (mode >> 3 & 0o070))) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        other => other,
    }
}

/// Makes a folder for its owner, or for the group as well where that has the one around it.
pub(super) fn ensure_folder(folder: &Path) -> Result<(), RemoteError> {
    match fs::symlink_metadata(folder) {
        Ok(facts) if facts.is_symlink() => return Err(link(folder)),
        Ok(facts) if facts.is_dir() => return Ok(()),
        Ok(_) => {
            let told = format!("{} is in the way: it is no folder", folder.display());
            return Err(RemoteError::Refused(told));
        }
        Err(_) => {}
    }
    let around = folder.parent().unwrap_or(folder);
    let made = match fs::DirBuilder::new().create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    };
    made.and_then(|()| private(folder))
        .and_then(|()| set_mode(around, folder, 0o700))
        .and_then(|()| sync(around))
        .map_err(|error| failed("making", folder, &error))
}

fn private(folder: &Path) -> io::Result<()> {
    match fs::set_permissions(folder, Permissions::from_mode(0o700)) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        other => other,
    }
}

/// Moves a file to a name of its own: of several that try, one succeeds.
pub(super) fn claim(from: &Path, to: &Path) -> Result<bool, RemoteError> {
    match fs::rename(from, to) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(failed("taking", from, &error)),
    }
}

/// Deletes a file that may be gone already.
#[expect(clippy::disallowed_methods, reason = "callers name only files this room has made")]
pub(super) fn delete(path: &Path) -> Result<(), RemoteError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(failed("deleting", path, &error))
        }
        _ => Ok(()),
    }
}

/// Makes what was moved into a folder durable, where its file system knows of that.
fn sync(folder: &Path) -> io::Result<()> {
    match File::open(folder)?.sync_all() {
        Err(error) if matches!(error.raw_os_error(), Some(EINVAL | ENOTSUP)) => Ok(()),
        other => other,
    }
}

const EINVAL: i32 = rustix::io::Errno::INVAL.raw_os_error();
const ENOTSUP: i32 = rustix::io::Errno::NOTSUP.raw_os_error();

fn link(path: &Path) -> RemoteError {
    let told = format!("{} is a symbolic link, which is not followed: remove it", path.display());
    RemoteError::Refused(told)
}

/// Says what failed, and whether it may pass.
pub(super) fn failed(doing: &str, path: &Path, error: &io::Error) -> RemoteError {
    let told = format!("{doing} {}: {error}", path.display());
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            RemoteError::Refused(format!("{told}; give this user the right to write there"))
        }
        io::ErrorKind::InvalidInput | io::ErrorKind::NotADirectory => RemoteError::Refused(told),
        _ => RemoteError::Away(told),
    }
}
