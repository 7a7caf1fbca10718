//! Every path we own, with its permission bits, in one table; a new one is added to
//! `home/contents.rs` too, or nobody could leave.
//!
//! One resolved root for everything: `IAI_MCP_STORE`, else `$HOME/.iai-mcp`. Only the socket may
//! live elsewhere.

mod contents;
mod strange;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use thiserror::Error;

pub(crate) use contents::{delete_all, foreign_files};
pub(crate) use strange::StrangeFile;

/// Folders are the owner's alone.
pub(crate) const FOLDER_MODE: u32 = 0o700;
/// So are files.
pub(crate) const FILE_MODE: u32 = 0o600;

/// The user's choices, as they are called in the root and in a backup.
pub(crate) const CONFIG: &str = "config.json";
/// The folder of turns waiting for the daemon, likewise.
pub(crate) const SPOOL: &str = ".deferred-captures";
/// The folder that says how far each transcript was read.
pub(crate) const CAPTURE_STATE: &str = ".capture-state";
/// The folder of a store that is on its way into place. The store names it; hooks, which have no
/// store, must know it too.
const EXCHANGED: &str = ".next";

/// The root and the socket; every other path follows from them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Home {
    root: PathBuf,
    socket: PathBuf,
}

impl Home {
    pub(crate) fn new(root: PathBuf, socket: Option<PathBuf>) -> Self {
        let socket = socket.unwrap_or_else(|| root.join(".daemon.sock"));
        Self { root, socket }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Where the daemon listens; 0600 in a 0700 folder.
    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }

    /// Says who is the daemon, by a kernel lock held for life; never deleted.
    pub(crate) fn lock_file(&self) -> PathBuf {
        self.root.join(".daemon.lock")
    }

    /// Tells whether a store is here, was here, or is just being put here: then nothing may be
    /// written in clear text any more.
    pub(crate) fn has_store(&self) -> bool {
        let exchanged = self.root.join(EXCHANGED);
        [self.vault(), self.database(), exchanged]
            .iter()
            .any(|path| path.symlink_metadata().is_ok())
    }

    /// Turns waiting for the daemon.
    pub(crate) fn spool(&self) -> PathBuf {
        self.root.join(SPOOL)
    }

    /// What hooks seal to; written by the daemon.
    pub(crate) fn spool_public(&self) -> PathBuf {
        self.root.join("spool.pub")
    }

    /// The encrypted database.
    pub(crate) fn database(&self) -> PathBuf {
        self.root.join("memory.db")
    }

    /// The wrapped data key.
    pub(crate) fn vault(&self) -> PathBuf {
        self.root.join("vault.json")
    }

    /// The master key.
    pub(crate) fn key_file(&self) -> PathBuf {
        self.root.join(".crypto.key")
    }

    /// How far each transcript was read.
    pub(crate) fn capture_state(&self) -> PathBuf {
        self.root.join(CAPTURE_STATE)
    }

    /// Installed sentence models; 0700.
    pub(crate) fn models(&self) -> PathBuf {
        self.root.join("models")
    }

    /// One of them; 0600.
    pub(crate) fn model(&self, name: &str) -> PathBuf {
        self.models().join(format!("{name}.iai"))
    }

    /// The user's choices.
    pub(crate) fn config_file(&self) -> PathBuf {
        self.root.join(CONFIG)
    }

    /// What the user edits while they edit it; 0600, removed right after.
    pub(crate) fn identity_draft(&self) -> PathBuf {
        self.root.join(".identity-draft.md")
    }

    /// Where the program runs that is asked to reflect; nothing said there is captured.
    pub(crate) fn reflection(&self) -> PathBuf {
        self.root.join("reflection")
    }

    /// What was done to the hosts' files, so that it can be undone.
    pub(crate) fn install_ledger(&self) -> PathBuf {
        self.root.join("install-ledger.json")
    }

    /// What the doctor moved away because it was dead, damaged logs, and keys that were replaced.
    pub(crate) fn aside(&self) -> PathBuf {
        self.root.join("aside")
    }

    pub(crate) fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }

    pub(crate) fn daemon_log(&self) -> PathBuf {
        self.logs().join("daemon.log")
    }

    /// What a daemon said that could not yet write a log.
    pub(crate) fn start_log(&self) -> PathBuf {
        self.logs().join("daemon-start.log")
    }

    pub(crate) fn hook_log(&self) -> PathBuf {
        self.logs().join("hook.log")
    }
}

/// A folder that cannot be ours.
#[derive(Debug, Error)]
#[error(
    "the folder {} cannot be used: {source}; free the path, or set IAI_MCP_STORE",
    path.display()
)]
pub(crate) struct UnusableFolder {
    pub(crate) path: PathBuf,
    pub(crate) source: io::Error,
}

/// Makes a folder that only its owner can enter, whatever the umask says, and tightens one that is
/// too open. One that somebody else made in our place is refused: they could put files into it and
/// take ours out.
pub(crate) fn ensure_private_folder(path: &Path) -> io::Result<()> {
    // Looked at before it is made: making waits for whoever changes the folder above, also where
    // there is nothing to make.
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)?;
            fs::metadata(path)?
        }
        found => found?,
    };
    if !metadata.is_dir() {
        return Err(io::Error::new(io::ErrorKind::NotADirectory, "this path is not a folder"));
    }
    if metadata.uid() != rustix::process::getuid().as_raw() {
        let owner = metadata.uid();
        let sentence = format!("this folder belongs to user {owner}; make it yours with chown");
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, sentence));
    }
    if metadata.mode() & 0o777 != FOLDER_MODE {
        fs::set_permissions(path, fs::Permissions::from_mode(FOLDER_MODE))?;
    }
    Ok(())
}

/// Makes a folder inside the root. The root may be a link, to a larger disk say; what is in it may
/// not: what we put there would stand in somebody's folder.
pub(crate) fn ensure_inner_folder(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()) {
        let sentence = "this is a link; move it away";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, sentence));
    }
    ensure_private_folder(path)
}

/// What this program makes is its owner's alone, also between its creation and its chmod, and its
/// owner can use it, whatever umask it was started with.
pub(crate) fn set_own_umask() {
    rustix::process::umask(Mode::from_raw_mode(!FOLDER_MODE & 0o777));
}

/// Opens a file of ours to write into it, private when it is made. A link in its place and a file
/// with a second name are refused: what we write would stand in somebody's file.
///
/// `options` must not truncate: that would happen before anybody looked.
pub(crate) fn open_own_file(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let refused = |why| Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    // Not blocking: a pipe in its place would have us wait for its reader.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = match options.mode(FILE_MODE).custom_flags(flags).open(path) {
        Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
            return refused("this is a link; move it away");
        }
        opened => opened?,
    };
    let metadata = file.metadata()?;
    let is_ours = metadata.uid() == rustix::process::getuid().as_raw();
    match (metadata.is_file() && is_ours, metadata.nlink()) {
        (true, 0 | 1) => Ok(file),
        (true, _) => refused("this file has a second name elsewhere; move it away"),
        (false, _) => refused("this is no file of yours; move it away"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_on_its_way_is_known_by_the_name_it_gives_itself() {
        assert_eq!(EXCHANGED, iai_memory::COMMITTED_FOLDER);
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().to_owned(), None);
        assert!(!home.has_store());
        fs::create_dir(folder.path().join(iai_memory::COMMITTED_FOLDER)).unwrap();
        assert!(home.has_store());
    }

    #[test]
    fn a_folder_is_made_private_and_an_open_one_is_tightened() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b");
        ensure_private_folder(&deep).unwrap();
        assert_eq!(fs::metadata(&deep).unwrap().mode() & 0o777, FOLDER_MODE);
        fs::set_permissions(&deep, fs::Permissions::from_mode(0o755)).unwrap();
        ensure_private_folder(&deep).unwrap();
        assert_eq!(fs::metadata(&deep).unwrap().mode() & 0o777, FOLDER_MODE);
    }

    #[test]
    fn a_folder_nobody_can_enter_is_opened_for_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let shut = folder.path().join("shut");
        fs::create_dir(&shut).unwrap();
        fs::set_permissions(&shut, fs::Permissions::from_mode(0o000)).unwrap();
        ensure_private_folder(&shut).unwrap();
        assert_eq!(fs::metadata(&shut).unwrap().mode() & 0o777, FOLDER_MODE);
    }

    #[test]
    fn a_link_in_place_of_an_inner_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (inner, link) = (folder.path().join("inner"), folder.path().join("link"));
        ensure_inner_folder(&inner).unwrap();
        std::os::unix::fs::symlink(&inner, &link).unwrap();
        assert!(ensure_inner_folder(&link).is_err());
        ensure_private_folder(&link).unwrap();
    }

    #[test]
    fn links_and_pipes_in_place_of_an_own_file_are_refused_and_nothing_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let open = |name: &str| open_own_file(File::options().append(true).create(true), &at(name));
        assert_eq!(open("new").unwrap().metadata().unwrap().mode() & 0o777, FILE_MODE);
        assert!(open("new").is_ok());
        fs::write(at("precious"), "kept").unwrap();
        fs::hard_link(at("precious"), at("second")).unwrap();
        std::os::unix::fs::symlink(at("new"), at("link")).unwrap();
        std::os::unix::fs::symlink(at("nowhere"), at("dangling")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), 0o600.into()).unwrap();
        for name in ["second", "link", "dangling", "pipe"] {
            assert!(open(name).is_err(), "{name}");
        }
        assert!(!at("nowhere").exists());
    }

    #[test]
    fn a_file_in_the_way_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "").unwrap();
        assert_eq!(ensure_private_folder(&path).unwrap_err().kind(), io::ErrorKind::NotADirectory);
    }
}
