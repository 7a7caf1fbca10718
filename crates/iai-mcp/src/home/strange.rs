//! What stands in the place of a folder or a file of ours and is none: links, second names, what
//! belongs to somebody else. Hooks and daemon refuse it; people are told how to mend it.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use super::Home;

/// What stands in the place of something that is made again goes, and nothing is missing …
const MADE_AGAIN: &str = "remove it (`rm` takes this name only); it is made again";
/// … unless a daemon runs, whose lock and socket they may be.
const MADE_AT_START: &str = "`iai-mcp daemon stop`, then remove it (`rm` takes this name only); \
                             the next daemon makes it again";
/// One in the place of something that is kept is exchanged for it.
const PUT_ITSELF: &str = "put the file itself there: `cp` it to a new name, then `mv` that over it";
const MAKE_YOURS: &str = "make it yours with `chown`";

/// A file that is not what it should be.
pub(crate) struct StrangeFile {
    pub(crate) path: PathBuf,
    pub(crate) why: &'static str,
    /// The step that mends it.
    pub(crate) next: &'static str,
}

impl Home {
    /// Returns what stands in the place of a folder of ours and is none, and why; hooks and daemon
    /// refuse it. Only `models` may be a link, to a larger disk say.
    pub(crate) fn strange_folders(&self) -> Vec<(PathBuf, &'static str)> {
        let us = rustix::process::getuid().as_raw();
        let why = |path: &PathBuf, facts: io::Result<Metadata>| match facts {
            Ok(facts) if facts.is_symlink() => Some((path.clone(), "it is a link")),
            Ok(facts) if !facts.is_dir() => Some((path.clone(), "it is no folder")),
            Ok(facts) if facts.uid() != us => Some((path.clone(), "it belongs to another user")),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Some((path.clone(), "it cannot be looked at"))
            }
            Ok(_) | Err(_) => None,
        };
        let inner = [self.spool(), self.capture_state(), self.logs(), self.aside()];
        let inner = inner.iter().filter_map(|path| why(path, fs::symlink_metadata(path)));
        let models = self.models();
        inner.chain(why(&models, fs::metadata(&models))).collect()
    }

    /// Returns what stands in the place of a file of ours and is none. The store looks after its
    /// own files: the database, its log and the vault.
    pub(crate) fn strange_files(&self) -> Vec<StrangeFile> {
        let logs = [self.daemon_log(), self.start_log(), self.hook_log()];
        let logs = logs.into_iter().map(|path| (path, MADE_AGAIN));
        let kept = [(self.install_ledger(), PUT_ITSELF), (self.key_file(), PUT_ITSELF)];
        let lock = [(self.lock_file(), MADE_AT_START)];
        let files = logs.chain(kept).chain(lock).filter_map(|(path, next)| {
            let facts = fs::symlink_metadata(&path).ok()?;
            strangeness(&path, &facts, facts.is_file(), "it is no file", next)
        });
        let socket = fs::symlink_metadata(self.socket()).ok().and_then(|facts| {
            let is_socket = facts.file_type().is_socket();
            strangeness(self.socket(), &facts, is_socket, "it is no socket", MADE_AT_START)
        });
        files.chain(socket).collect()
    }
}

fn strangeness(
    path: &Path,
    facts: &Metadata,
    is_of_its_kind: bool,
    no_such_kind: &'static str,
    next: &'static str,
) -> Option<StrangeFile> {
    let (why, next) = if facts.is_symlink() {
        ("it is a link", next)
    } else if !is_of_its_kind {
        (no_such_kind, "move it away")
    } else if facts.uid() != rustix::process::getuid().as_raw() {
        ("it belongs to another user", MAKE_YOURS)
    } else if n_own_names(path, facts.ino()) < facts.nlink() {
        ("it has a second name elsewhere", next)
    } else {
        return None;
    };
    Some(StrangeFile { path: path.to_owned(), why, next })
}

/// Counts a file's name, and those it was written under where a kill came before the last step.
fn n_own_names(path: &Path, inode: u64) -> u64 {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return 1 };
    let start = format!(".{}.", name.to_string_lossy());
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let half_written = entries.filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with(&start)
            && name.ends_with(".new")
            && entry.metadata().is_ok_and(|facts| facts.ino() == inode)
    });
    1 + half_written.count() as u64
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn every_link_and_second_name_is_told_and_a_sound_home_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().to_owned(), None);
        fs::create_dir(home.logs()).unwrap();
        let files = [
            home.lock_file(),
            home.daemon_log(),
            home.start_log(),
            home.hook_log(),
            home.install_ledger(),
            home.key_file(),
        ];
        for path in &files {
            fs::write(path, "").unwrap();
        }
        let _listener = UnixListener::bind(home.socket()).unwrap();
        fs::hard_link(home.key_file(), folder.path().join("..crypto.key.01.new")).unwrap();
        assert_eq!(home.strange_files().len(), 0);
        let away = folder.path().join("away");
        for path in files.iter().map(PathBuf::as_path).chain([home.socket()]) {
            fs::rename(path, &away).unwrap();
            symlink(&away, path).unwrap();
            let found = home.strange_files();
            assert_eq!((found.len(), found[0].why), (1, "it is a link"), "{}", path.display());
            assert_eq!(found[0].path, path);
            fs::rename(&away, path).unwrap();
        }
        for (place, path) in files.iter().enumerate() {
            let away = folder.path().join("away");
            fs::hard_link(path, &away).unwrap();
            let found = home.strange_files();
            assert_eq!(found.len(), 1, "{}", path.display());
            assert_eq!(found[0].why, "it has a second name elsewhere");
            // Under two names it was the same file; the copy in its place has one.
            fs::copy(&away, folder.path().join("copy")).unwrap();
            fs::rename(folder.path().join("copy"), path).unwrap();
            fs::rename(&away, folder.path().join(format!("old-{place}"))).unwrap();
        }
    }
}
