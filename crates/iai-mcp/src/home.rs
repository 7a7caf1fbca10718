//! Every path we own, with its permission bits, in one table; a new one is added to
//! `home/contents.rs` too, or nobody could leave.
//!
//! One resolved root for everything: `IAI_MCP_STORE`, else `$HOME/.iai-mcp`. Only the socket may
//! live elsewhere.

mod contents;

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use thiserror::Error;

pub(crate) use contents::{delete_all, foreign_files};

/// Folders are the owner's alone.
pub(crate) const FOLDER_MODE: u32 = 0o700;
/// So are files.
pub(crate) const FILE_MODE: u32 = 0o600;

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

    /// Turns waiting for the daemon.
    pub(crate) fn spool(&self) -> PathBuf {
        self.root.join(".deferred-captures")
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
        self.root.join(".capture-state")
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
        self.root.join("config.json")
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

    /// What the doctor moved away because it was dead.
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
    if metadata.mode() & 0o077 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(FOLDER_MODE))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_file_in_the_way_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "").unwrap();
        assert_eq!(ensure_private_folder(&path).unwrap_err().kind(), io::ErrorKind::NotADirectory);
    }
}
