//! Where the daemon listens: a socket it binds, or one that a service manager hands over.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use iai_wire::SOCKET_PATH_BYTES_MAX;
use thiserror::Error;

use super::singleton::Singleton;
use crate::home::{FILE_MODE, Home, ensure_private_folder};

/// The listening socket.
#[derive(Debug)]
pub(super) struct Listening {
    pub(super) listener: UnixListener,
    /// What to remove on leaving; `None` when the socket belongs to a service manager.
    bound: Option<Bound>,
}

/// A socket of our own: its path, and which file that was when we made it.
#[derive(Debug)]
struct Bound {
    path: PathBuf,
    device: u64,
    inode: u64,
}

#[derive(Debug, Error)]
pub(crate) enum ListenError {
    #[error(
        "the socket path {} has {n_bytes} bytes and the system takes {SOCKET_PATH_BYTES_MAX}; \
         set IAI_DAEMON_SOCKET_PATH to a shorter path",
        path.display()
    )]
    PathTooLong { path: PathBuf, n_bytes: usize },
    #[error(
        "somebody already answers on {}; stop that daemon or set IAI_DAEMON_SOCKET_PATH",
        path.display()
    )]
    Taken { path: PathBuf },
    #[error("{} is in the way and is not a socket; move it away", path.display())]
    NotASocket { path: PathBuf },
    #[error("listening on {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl Listening {
    /// Adopts an inherited socket, else binds one. Holding the singleton is what makes clearing a
    /// dead socket safe.
    pub(super) fn begin(home: &Home, _lock: &Singleton) -> Result<Self, ListenError> {
        if let Some(listener) = inherited() {
            return Ok(Self { listener, bound: None });
        }
        let path = home.socket();
        let failed = |source| ListenError::Io { path: path.to_owned(), source };
        let n_bytes = path.as_os_str().len();
        if SOCKET_PATH_BYTES_MAX < n_bytes {
            return Err(ListenError::PathTooLong { path: path.to_owned(), n_bytes });
        }
        if let Some(folder) = path.parent().filter(|folder| !folder.exists()) {
            ensure_private_folder(folder).map_err(failed)?;
        }
        clear_dead_socket(path)?;
        let listener = UnixListener::bind(path).map_err(failed)?;
        fs::set_permissions(path, Permissions::from_mode(FILE_MODE)).map_err(failed)?;
        let facts = fs::symlink_metadata(path).map_err(failed)?;
        let bound = Bound { path: path.to_owned(), device: facts.dev(), inode: facts.ino() };
        Ok(Self { listener, bound: Some(bound) })
    }

    /// Removes the socket we bound, so that clients see at once that nobody is there. One that
    /// somebody bound in its place, after the folder was removed, is theirs.
    pub(super) fn end(&self) {
        let Some(Bound { path, device, inode }) = &self.bound else { return };
        let facts = fs::symlink_metadata(path);
        if facts.is_ok_and(|facts| (facts.dev(), facts.ino()) == (*device, *inode)) {
            #[expect(
                clippy::disallowed_methods,
                reason = "our own socket, while we hold the lock"
            )]
            fs::remove_file(path).ok();
        }
    }
}

/// Unlinks a socket only when it refuses: a living daemon of another store may be behind it.
fn clear_dead_socket(path: &Path) -> Result<(), ListenError> {
    let failed = |source| ListenError::Io { path: path.to_owned(), source };
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
        Ok(metadata) if metadata.file_type().is_socket() => {}
        Ok(_) => return Err(ListenError::NotASocket { path: path.to_owned() }),
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused =>
        {
            #[expect(clippy::disallowed_methods, reason = "it refused, and the lock is ours")]
            fs::remove_file(path).map_err(failed)
        }
        Err(error) => Err(failed(error)),
        Ok(_) => Err(ListenError::Taken { path: path.to_owned() }),
    }
}

/// systemd: `LISTEN_FDS` and `LISTEN_PID` name sockets from descriptor 3 on. A mismatch means they
/// are not for us.
#[cfg(not(target_os = "macos"))]
fn inherited() -> Option<UnixListener> {
    listenfd::ListenFd::from_env().take_unix_listener(0).ok().flatten()
}

#[cfg(target_os = "macos")]
fn inherited() -> Option<UnixListener> {
    super::launchd::activated_listener()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().to_owned(), None);
        (folder, home)
    }

    #[test]
    fn a_dead_socket_is_replaced_and_a_living_one_is_not() {
        let (_folder, home) = home();
        let lock = Singleton::take(&home).unwrap();
        drop(UnixListener::bind(home.socket()).unwrap());
        let listening = Listening::begin(&home, &lock).unwrap();
        let mode = fs::metadata(home.socket()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, FILE_MODE);
        assert!(matches!(Listening::begin(&home, &lock), Err(ListenError::Taken { .. })));
        fs::rename(home.socket(), home.root().join("away")).unwrap();
        let _other = UnixListener::bind(home.socket()).unwrap();
        listening.end();
        assert!(home.socket().exists(), "it is somebody else's");
        fs::rename(home.root().join("away"), home.socket()).unwrap();
        listening.end();
        assert!(!home.socket().exists());
    }

    #[test]
    fn what_is_not_a_socket_is_left_alone() {
        let (_folder, home) = home();
        let lock = Singleton::take(&home).unwrap();
        fs::write(home.socket(), "precious").unwrap();
        assert!(matches!(Listening::begin(&home, &lock), Err(ListenError::NotASocket { .. })));
        assert_eq!(fs::read_to_string(home.socket()).unwrap(), "precious");
    }

    #[test]
    fn a_path_the_system_cannot_take_is_named() {
        let (folder, home) = home();
        let lock = Singleton::take(&home).unwrap();
        let long = Home::new(folder.path().to_owned(), Some(folder.path().join("x".repeat(120))));
        let error = Listening::begin(&long, &lock).unwrap_err();
        assert!(error.to_string().contains("IAI_DAEMON_SOCKET_PATH"), "{error}");
    }
}
