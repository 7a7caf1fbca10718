//! Reads and writes other programs' files without ever leaving half of one.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::os::unix::fs::{PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

use super::refusal::Refusal;
use crate::home::{FILE_MODE, FOLDER_MODE};

/// No settings file is this large.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
const BACKUPS_PER_SECOND_MAX: u32 = 100;
/// Stands between the name of a file and when it was copied.
const BACKUP_MARK: &str = ".iai-mcp-backup-";
/// Stands between the name of a file and the number of a new text for it …
const ASIDE_MARK: &str = ".iai-mcp-";
/// … of so many digits …
const ASIDE_DIGITS: usize = 16;
/// … which this ends.
const ASIDE_END: &str = ".tmp";

/// A file as it was found.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) bytes: Vec<u8>,
    /// Behind all links.
    real: PathBuf,
    mode: u32,
    owner: (u32, u32),
}

impl Held {
    pub(super) fn text(&self) -> Result<&str, Refusal> {
        std::str::from_utf8(&self.bytes).map_err(|error| Refusal::NotUtf8(error.valid_up_to()))
    }

    /// Whether a name stands in it anywhere.
    pub(super) fn mentions(&self, name: &str) -> bool {
        self.bytes.windows(name.len()).any(|bytes| bytes == name.as_bytes())
    }

    /// Returns the group that the file had, where the one in its place has another.
    pub(super) fn lost_group(&self) -> Option<u32> {
        let now = fs::metadata(&self.real).ok()?.gid();
        (now != self.owner.1).then_some(self.owner.1)
    }

    /// Whether the owner wants nobody to write it; asked of the mode, because root may write all.
    pub(super) fn is_read_only(&self) -> bool {
        self.mode & 0o200 == 0
    }
}

/// Reads a whole file; `None` when there is none.
pub(super) fn read(path: &Path) -> Result<Option<Held>, Refusal> {
    let real = match fs::canonicalize(path) {
        Ok(real) => real,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let is_link = fs::symlink_metadata(path).is_ok();
            return if is_link { Err(Refusal::DanglingLink) } else { Ok(None) };
        }
        Err(error) => return Err(Refusal::during("looking for it")(error)),
    };
    let metadata = fs::metadata(&real).map_err(Refusal::during("looking at it"))?;
    if !metadata.is_file() {
        return Err(Refusal::NotAFile);
    }
    let mut bytes = Vec::new();
    let file = File::open(&real).map_err(Refusal::during("opening it"))?;
    let mut file = file.take(FILE_BYTES_MAX + 1);
    let n_bytes = file.read_to_end(&mut bytes).map_err(Refusal::during("reading it"))?;
    if FILE_BYTES_MAX < n_bytes as u64 {
        return Err(Refusal::TooLarge(FILE_BYTES_MAX));
    }
    let mode = metadata.mode() & 0o7777;
    Ok(Some(Held { bytes, real, mode, owner: (metadata.uid(), metadata.gid()) }))
}

/// Copies the file beside itself, under a name that is not taken.
pub(super) fn back_up(path: &Path, held: &Held, now_secs: i64) -> Result<PathBuf, Refusal> {
    let doing = "writing a backup beside it";
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    for attempt in 0..BACKUPS_PER_SECOND_MAX {
        let again = if attempt == 0 { String::new() } else { format!("-{attempt}") };
        let backup = path.with_file_name(format!("{name}{BACKUP_MARK}{now_secs}{again}"));
        match create(&backup, &held.bytes, Some(held)) {
            Ok(()) => {
                sync_folder_of(&backup).map_err(Refusal::during(doing))?;
                return Ok(backup);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Refusal::during(doing)(error)),
        }
    }
    Err(Refusal::during(doing)(io::ErrorKind::AlreadyExists.into()))
}

/// Returns the copies [`back_up`] has made of a file, in name order.
pub(super) fn backups_of(path: &Path) -> Vec<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let start = format!("{name}{BACKUP_MARK}");
    let is_copy = |found: &str| {
        let when = found.strip_prefix(&start).unwrap_or_default();
        !when.is_empty() && when.chars().all(|letter| letter.is_ascii_digit() || letter == '-')
    };
    files_beside(path, is_copy)
}

/// Returns the new texts of a file that [`replace`] was killed over before they were in place, in
/// name order.
pub(super) fn unfinished_of(path: &Path) -> Vec<PathBuf> {
    // They stand beside the file itself, not beside a link to it.
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let name = real.file_name().unwrap_or_default().to_string_lossy();
    let start = format!(".{name}{ASIDE_MARK}");
    let is_digit = |letter: char| matches!(letter, '0'..='9' | 'a'..='f');
    let is_aside = |found: &str| {
        let digits = found.strip_prefix(&start).and_then(|rest| rest.strip_suffix(ASIDE_END));
        digits.is_some_and(|digits| digits.len() == ASIDE_DIGITS && digits.chars().all(is_digit))
    };
    files_beside(&real, is_aside)
}

/// Returns the files in the folder of this one whose names are sought, in name order.
fn files_beside(path: &Path, is_sought: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = path.parent().and_then(|folder| fs::read_dir(folder).ok());
    let entries = entries.into_iter().flatten().flatten();
    let is_file = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
    let found = entries.filter(|entry| entry.file_name().to_str().is_some_and(&is_sought));
    let mut found: Vec<PathBuf> = found.filter(is_file).map(|entry| entry.path()).collect();
    found.sort();
    found
}

/// Puts `bytes` in the place of what was `held`: written aside, synced, renamed; links, mode and
/// owner stay.
///
/// Refuses when somebody has written the file since it was read.
pub(super) fn replace(path: &Path, held: Option<&Held>, bytes: &[u8]) -> Result<(), Refusal> {
    let real = held.map_or(path, |held| &held.real);
    let folder = real.parent().unwrap_or(Path::new("/"));
    let made = DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder);
    made.map_err(Refusal::during("making its folder"))?;
    for unfinished in unfinished_of(real) {
        // One that cannot be deleted is no reason to refuse: it is in nobody's way.
        remove(&unfinished).ok();
    }
    let random = getrandom::u64()
        .map_err(|error| Refusal::during("naming a file beside it")(io::Error::other(error)))?;
    let name = real.file_name().unwrap_or_default().to_string_lossy();
    let aside = folder.join(format!(".{name}{ASIDE_MARK}{random:0ASIDE_DIGITS$x}{ASIDE_END}"));
    let written = create(&aside, bytes, held)
        .map_err(Refusal::during("writing its new text beside it"))
        .and_then(|()| check_unchanged(path, held))
        .and_then(|()| {
            fs::rename(&aside, real).map_err(Refusal::during("putting its new text in place"))
        });
    if let Err(refusal) = written {
        remove(&aside).ok();
        return Err(refusal);
    }
    sync_folder_of(real).map_err(Refusal::during("making its folder durable"))
}

/// Deletes a file we made, unless somebody has written it since it was read.
pub(super) fn delete(path: &Path, held: &Held) -> Result<(), Refusal> {
    check_unchanged(path, Some(held))?;
    remove(&held.real).map_err(Refusal::during("deleting it"))?;
    sync_folder_of(&held.real).map_err(Refusal::during("making its folder durable"))
}

/// Deletes a file of ours: a backup nobody needs any more, the ledger, an unfinished text.
#[expect(clippy::disallowed_methods, reason = "callers name only files this room has made")]
pub(super) fn remove(path: &Path) -> io::Result<()> {
    fs::remove_file(path)
}

fn check_unchanged(path: &Path, held: Option<&Held>) -> Result<(), Refusal> {
    let now = read(path)?.map(|held| held.bytes);
    if now.as_ref() == held.map(|held| &held.bytes) { Ok(()) } else { Err(Refusal::Changed) }
}

/// Writes a new file durably, with the mode and owner of `model`, or private.
pub(super) fn create(path: &Path, bytes: &[u8], model: Option<&Held>) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path)?;
    let filled = fill(&mut file, bytes, model);
    if filled.is_err() {
        remove(path).ok();
    }
    filled
}

fn fill(file: &mut File, bytes: &[u8], model: Option<&Held>) -> io::Result<()> {
    file.write_all(bytes)?;
    if let Some(model) = model {
        let metadata = file.metadata()?;
        give(file, (metadata.uid(), metadata.gid()), model.owner)?;
        file.set_permissions(fs::Permissions::from_mode(model.mode))?;
    }
    file.sync_all()
}

/// Gives a file to whom the one before it belonged. A group that is not ours we cannot give it to,
/// as no editor can: the file then has ours, and [`Held::lost_group`] says so.
fn give(file: &File, now: (u32, u32), wanted: (u32, u32)) -> io::Result<()> {
    if now.0 != wanted.0 {
        fchown(file, Some(wanted.0), None)?;
    }
    match fchown(file, None, Some(wanted.1)) {
        // The second is what a namespace says that does not know the group at all.
        Err(error) if is_refused(&error) => Ok(()),
        given => given,
    }
}

fn is_refused(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput)
}

fn sync_folder_of(path: &Path) -> io::Result<()> {
    File::open(path.parent().unwrap_or(Path::new("/")))?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::process::Gid;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_keeps_its_mode_and_its_link() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, "old").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("real", &link).unwrap();
        let held = read(&link).unwrap().unwrap();
        let backup = back_up(&link, &held, 7).unwrap();
        replace(&link, Some(&held), b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");
        assert_eq!(fs::metadata(&real).unwrap().mode() & 0o777, 0o640);
        assert_eq!(fs::read(&backup).unwrap(), b"old");
        assert_eq!(fs::metadata(&backup).unwrap().mode() & 0o777, 0o640);
        assert_eq!(names(folder.path()), ["link", "link.iai-mcp-backup-7", "real"]);
    }

    /// Needs root, which alone can be somebody else.
    #[test]
    fn a_group_that_is_not_ours_is_lost_and_the_mode_is_not() {
        const STRANGER: u32 = 65_534;
        if !rustix::process::geteuid().is_root() {
            return;
        }
        // Where anybody gets to, whatever the folder for temporary files is.
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        let path = folder.path().join("settings.json");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::chown(folder.path(), Some(STRANGER), None).unwrap();
        std::os::unix::fs::chown(&path, Some(STRANGER), Some(0)).unwrap();
        let (uid, gid) = (rustix::process::Uid::from_raw(STRANGER), Gid::from_raw(STRANGER));
        let work = || {
            rustix::thread::set_thread_groups(&[]).unwrap();
            rustix::thread::set_thread_res_gid(gid, gid, gid).unwrap();
            rustix::thread::set_thread_res_uid(uid, uid, uid).unwrap();
            let held = read(&path).unwrap().unwrap();
            assert_eq!(held.lost_group(), None);
            back_up(&path, &held, 7).unwrap();
            replace(&path, Some(&held), b"new").unwrap();
            held.lost_group()
        };
        let lost = std::thread::scope(|scope| scope.spawn(work).join().unwrap());
        let facts = fs::metadata(&path).unwrap();
        assert_eq!((lost, fs::read(&path).unwrap()), (Some(0), b"new".to_vec()));
        assert_eq!((facts.uid(), facts.gid(), facts.mode() & 0o777), (STRANGER, STRANGER, 0o640));
    }

    #[test]
    fn two_backups_in_one_second_are_two_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "x").unwrap();
        let held = read(&path).unwrap().unwrap();
        assert_ne!(back_up(&path, &held, 7).unwrap(), back_up(&path, &held, 7).unwrap());
        for other in ["a.iai-mcp-backup-", "a.iai-mcp-backup-7.txt", "b.iai-mcp-backup-7"] {
            fs::write(folder.path().join(other), "theirs").unwrap();
        }
        let copies = backups_of(&path);
        assert_eq!(
            copies,
            ["a.iai-mcp-backup-7", "a.iai-mcp-backup-7-1"].map(|name| { folder.path().join(name) })
        );
    }

    #[test]
    fn a_text_that_was_never_put_in_place_goes_with_the_next_and_nothing_else_does() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("a.json"), folder.path().join("link"));
        fs::write(&real, "old").unwrap();
        symlink("a.json", &link).unwrap();
        let ours = [".a.json.iai-mcp-00000000000000ff.tmp", ".a.json.iai-mcp-0123456789abcdef.tmp"];
        let theirs = [
            ".a.json.iai-mcp-.tmp",
            ".a.json.iai-mcp-0123456789ABCDEF.tmp",
            ".a.json.iai-mcp-0123456789abcde.tmp",
            ".a.json.iai-mcp-0123456789abcdef.tmp.txt",
            ".a.json.iai-mcp-0123456789abcdef0.tmp",
            ".b.json.iai-mcp-0123456789abcdef.tmp",
            ".link.iai-mcp-0123456789abcdef.tmp",
            "a.json.iai-mcp-0123456789abcdef.tmp",
            "a.json.iai-mcp-backup-7",
        ];
        for name in ours.iter().chain(&theirs) {
            fs::write(folder.path().join(name), "half").unwrap();
        }
        fs::create_dir(folder.path().join(".a.json.iai-mcp-00000000000000fe.tmp")).unwrap();
        let found = unfinished_of(&link);
        assert_eq!(found, ours.map(|name| fs::canonicalize(folder.path()).unwrap().join(name)));
        let mut rest = names(folder.path());
        rest.retain(|name| !ours.contains(&name.as_str()));
        replace(&link, read(&link).unwrap().as_ref(), b"new").unwrap();
        assert_eq!((fs::read(&real).unwrap(), names(folder.path())), (b"new".to_vec(), rest));
    }

    #[test]
    fn a_missing_file_is_made_private_with_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/file");
        assert!(read(&path).unwrap().is_none());
        replace(&path, None, b"new").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, FILE_MODE);
        assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o777, FOLDER_MODE);
        delete(&path, &read(&path).unwrap().unwrap()).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn what_changed_in_the_meantime_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        assert!(matches!(replace(&path, None, b"x"), Ok(())));
        assert!(matches!(replace(&path, None, b"y"), Err(Refusal::Changed)));
        let held = read(&path).unwrap().unwrap();
        fs::write(&path, "theirs").unwrap();
        assert!(matches!(replace(&path, Some(&held), b"y"), Err(Refusal::Changed)));
        assert!(matches!(delete(&path, &held), Err(Refusal::Changed)));
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
        assert_eq!(names(folder.path()), ["a"], "nothing temporary is left");
    }

    #[test]
    fn what_is_not_a_settings_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(read(folder.path()), Err(Refusal::NotAFile)));
        let link = folder.path().join("link");
        symlink("nowhere", &link).unwrap();
        assert!(matches!(read(&link), Err(Refusal::DanglingLink)));
        let large = folder.path().join("large");
        File::create(&large).unwrap().set_len(FILE_BYTES_MAX + 1).unwrap();
        assert!(matches!(read(&large), Err(Refusal::TooLarge(_))));
        let held = |bytes: &[u8]| {
            let path = folder.path().join("text");
            fs::write(&path, bytes).unwrap();
            read(&path).unwrap().unwrap()
        };
        assert!(matches!(held(b"ab\xff").text(), Err(Refusal::NotUtf8(2))));
    }
}
