//! Puts turns where the daemon will find them: a spool file that is durable before anybody is told,
//! then a nudge.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use iai_wire::{SealingKey, SpoolEvent, SpoolHeader, SpoolWriter};
use jiff::Timestamp;
use thiserror::Error;

use crate::home::{FILE_MODE, Home, ensure_inner_folder, ensure_private_folder};

/// A hook must not wait for a daemon that is busy.
const NUDGE_LIMIT: Duration = Duration::from_millis(50);
const SESSION_NAME_CHARS_MAX: usize = 80;
const PUBLIC_KEY_BYTES_MAX: u64 = 1024;
const KEY_MISSING: &str = "the key to seal it with, spool.pub, is missing, and a daemon makes it \
                           when it starts";

/// Turns on their way to the spool.
pub(crate) struct Delivery<'a> {
    pub(crate) session: &'a str,
    pub(crate) cwd: &'a str,
    pub(crate) events: &'a [SpoolEvent],
    pub(crate) now: Timestamp,
}

/// The turns are not safe; the message says where they should have gone and what to do.
#[derive(Debug, Error)]
#[error(
    "{doing} {}: {source}; nothing was stored, so capture again after {}",
    path.display(),
    remedy(source)
)]
pub(crate) struct DeliverError {
    doing: &'static str,
    path: PathBuf,
    source: io::Error,
}

fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "freeing disk space",
        io::ErrorKind::FileTooLarge => "raising the limit of file sizes (`ulimit -f`)",
        io::ErrorKind::ReadOnlyFilesystem => "making the disk writable",
        io::ErrorKind::PermissionDenied => "giving yourself access to that folder",
        io::ErrorKind::NotADirectory => "moving away what stands in the folder's place",
        _ => "fixing that",
    }
}

/// Writes one spool file and returns its path once its bytes and its name are on disk.
///
/// Under a temporary name first, so that the daemon never reads half a file; the name is unique, so
/// that two closings in one millisecond give two files. Named before it is synced, so that one
/// commit of the disk's journal takes both and the second sync finds nothing left to do: a power
/// cut in between leaves a torn file, whose turns were not promised and are read again.
pub(crate) fn deliver(home: &Home, delivery: &Delivery<'_>) -> Result<PathBuf, DeliverError> {
    let folder = home.spool();
    let failed = |doing, path: &Path| {
        let path = path.to_owned();
        move |source| DeliverError { doing, path, source }
    };
    ensure_private_folder(home.root()).map_err(failed("making the folder", home.root()))?;
    ensure_inner_folder(&folder).map_err(failed("making the spool folder", &folder))?;
    let name = file_name(delivery.session, delivery.now)
        .map_err(failed("naming a spool file in", &folder))?;
    let aside = folder.join(format!(".{name}.tmp"));
    let path = folder.join(name);
    let written = write(home, delivery, &aside).and_then(|file| {
        fs::rename(&aside, &path)?;
        Ok(file)
    });
    let file = match written {
        Ok(file) => file,
        Err(source) => {
            #[expect(
                clippy::disallowed_methods,
                reason = "half a spool file of our own, never renamed"
            )]
            fs::remove_file(&aside).ok();
            return Err(DeliverError { doing: "writing the spool file", path, source });
        }
    };
    file.sync_all().map_err(failed("making durable the spool file", &path))?;
    sync_folder(&folder).map_err(failed("making durable the spool folder", &folder))?;
    Ok(path)
}

/// Writes turns to a file that is not for storing, for a daemon that is only to look at them. The
/// caller removes it.
pub(crate) fn write_for_checking(home: &Home, delivery: &Delivery<'_>) -> io::Result<PathBuf> {
    ensure_inner_folder(&home.capture_state())?;
    let name = file_name("check", delivery.now)?;
    let path = home.capture_state().join(name);
    write(home, delivery, &path)?;
    Ok(path)
}

/// Tells a daemon that may or may not be there.
pub(crate) fn nudge_daemon(home: &Home) {
    iai_wire::nudge(home.socket(), NUDGE_LIMIT);
}

fn write(home: &Home, delivery: &Delivery<'_>, aside: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(aside)?;
    let output = BufWriter::with_capacity(64 * 1024, file);
    let header = SpoolHeader::new(delivery.session, delivery.cwd, &delivery.now.to_string());
    let mut writer = match sealing_key(home)? {
        Some(key) => SpoolWriter::sealed(output, &header, &key)?,
        None => SpoolWriter::plain(output, &header)?,
    };
    for event in delivery.events {
        writer.push(event)?;
    }
    writer.finish()?.into_inner().map_err(io::IntoInnerError::into_error)
}

/// Returns the daemon's public key; `None` only while there is no store to seal to.
fn sealing_key(home: &Home) -> io::Result<Option<SealingKey>> {
    let path = home.spool_public();
    let metadata = match fs::symlink_metadata(&path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // How far the transcript was read is not noted either: the turns come another time.
            return match home.has_store() {
                true => Err(io::Error::other(KEY_MISSING)),
                false => Ok(None),
            };
        }
        Err(error) => return Err(error),
    };
    if PUBLIC_KEY_BYTES_MAX < metadata.len() {
        return Err(io::Error::other("spool.pub is not a key"));
    }
    if metadata.is_symlink() || 1 < metadata.nlink() {
        return Err(io::Error::other("spool.pub is a link"));
    }
    // Whoever puts their key here could read what is sealed to it, and we could not.
    if metadata.uid() != rustix::process::getuid().as_raw() {
        return Err(io::Error::other("spool.pub belongs to another user"));
    }
    let text = fs::read_to_string(&path)?;
    SealingKey::parse(&text).map(Some).map_err(io::Error::other)
}

/// `<session>-<unix seconds>-<random>.jsonl`, whatever the session is called.
fn file_name(session: &str, now: Timestamp) -> io::Result<String> {
    let random = getrandom::u64().map_err(io::Error::other)?;
    Ok(format!("{}-{}-{random:016x}.jsonl", safe_name(session), now.as_second()))
}

/// A session id comes from outside: nothing in it may leave the folder or hide the file.
fn safe_name(session: &str) -> String {
    let safe = |letter: char| match letter {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => letter,
        _ => '_',
    };
    let name: String = session.chars().take(SESSION_NAME_CHARS_MAX).map(safe).collect();
    match name.strip_prefix('.') {
        Some(rest) => format!("_{rest}"),
        None => name,
    }
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivery<'a>(session: &'a str, events: &'a [SpoolEvent]) -> Delivery<'a> {
        Delivery { session, cwd: "/p", events, now: Timestamp::UNIX_EPOCH }
    }

    #[track_caller]
    fn check(session: &str, want: &str) {
        assert_eq!(safe_name(session), want);
    }

    #[test]
    fn a_session_id_cannot_leave_the_folder() {
        check("test-r3", "test-r3");
        check("../../evil", "_._.._evil");
        check(".hidden", "_hidden");
        check("a/b\0c\u{1F600}", "a_b_c_");
        check("", "");
        check(&"x".repeat(500), &"x".repeat(SESSION_NAME_CHARS_MAX));
    }

    #[test]
    fn equal_deliveries_give_separate_private_files() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().join("store"), None);
        let first = deliver(&home, &delivery("s", &[])).unwrap();
        let second = deliver(&home, &delivery("s", &[])).unwrap();
        assert_ne!(first, second);
        assert_eq!(fs::metadata(&first).unwrap().mode() & 0o777, FILE_MODE);
        assert_eq!(fs::read_dir(home.spool()).unwrap().count(), 2, "nothing temporary is left");
        assert!(first.file_name().unwrap().to_string_lossy().starts_with("s-"));
    }

    #[test]
    fn a_blocked_spool_names_the_path_and_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().to_owned(), None);
        fs::write(home.spool(), "in the way").unwrap();
        let error = deliver(&home, &delivery("s", &[])).unwrap_err().to_string();
        assert!(error.contains(".deferred-captures") && error.contains("moving away"), "{error}");
    }

    #[test]
    fn a_store_without_its_public_key_gets_nothing_in_clear_text() {
        for name in ["vault.json", "memory.db", ".next"] {
            let folder = tempfile::tempdir().unwrap();
            let home = Home::new(folder.path().to_owned(), None);
            deliver(&home, &delivery("s", &[])).unwrap();
            fs::write(folder.path().join(name), "x").unwrap();
            let error = deliver(&home, &delivery("s", &[])).unwrap_err().to_string();
            assert!(error.contains("spool.pub, is missing"), "{name}: {error}");
            assert_eq!(fs::read_dir(home.spool()).unwrap().count(), 1, "{name}");
        }
    }

    #[test]
    fn a_damaged_public_key_is_an_error_and_never_clear_text() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().to_owned(), None);
        fs::write(home.spool_public(), "garbage").unwrap();
        let error = deliver(&home, &delivery("s", &[])).unwrap_err().to_string();
        assert!(error.contains("public key is malformed"), "{error}");
        assert_eq!(fs::read_dir(home.spool()).unwrap().count(), 0);
    }
}
