//! Keeps a daemon at hand through the machine's own service manager: which one answers, what it is
//! given, when it listens.
//!
//! The manager holds the socket and starts the daemon when somebody connects, so that an idle
//! daemon may leave. Writing the files is left to `install.rs`, asking and printing to commands.

mod control;
mod launchd;
mod systemd;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::install::{HostFile, HostFolders, WHOLE_MARK};
use crate::settings::{IDLE_SHUTDOWN_SECS, Settings};

/// Who can start a daemon here when it is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Keeper {
    Systemd,
    Launchd,
    /// Why there is none.
    Nobody(String),
}

/// The daemon of one store, as a service.
pub(crate) struct Service {
    files: Vec<HostFile>,
    /// What the first file holds if it is about this store's socket.
    socket_line: String,
    /// Where the manager looks for the files.
    folder: PathBuf,
    /// No key file, and so no way to open the store without the user's passphrase.
    is_passphrase_needed: bool,
}

/// What a manager has to know to run the daemon.
struct Job {
    program: String,
    socket: String,
    /// Where the manager writes what a daemon says that cannot even open its log.
    complaints: String,
    environment: Vec<(&'static str, String)>,
    reach: Reach,
}

/// What the daemon and its children need of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// Files and one socket.
    Narrow,
    /// A vault is kept on a server.
    WithNetwork,
    /// A program of the user's reflects in the night, and may do what programs do.
    WithReflection,
}

impl Service {
    /// Describes the service of this store, run by this program. Writes and asks nothing.
    pub(crate) fn of(
        settings: &Settings,
        folders: &HostFolders,
        program: &Path,
    ) -> anyhow::Result<Self> {
        let job = Job::of(settings, program)?;
        let home = &settings.home;
        let is_passphrase_needed = settings.passphrase.is_some() && !home.key_file().exists();
        let (folder, files, socket_line) = if cfg!(target_os = "macos") {
            let folder = folders.home.join("Library/LaunchAgents");
            let file =
                HostFile::whole("launchd", folder.join(launchd::FILE), &launchd::plist(&job));
            (folder, vec![file], launchd::socket_line(&job))
        } else {
            let config = folders.config.clone();
            let config = config.unwrap_or_else(|| folders.home.join(".config"));
            let folder = config.join("systemd/user");
            let unit = |name, text: &str| HostFile::whole("systemd", folder.join(name), text);
            let files = vec![
                unit(systemd::SOCKET, &systemd::socket_unit(&job)),
                unit(systemd::SERVICE, &systemd::service_unit(&job)),
            ];
            (folder, files, systemd::socket_line(&job))
        };
        Ok(Self { files, socket_line, folder, is_passphrase_needed })
    }

    /// Returns the manager's files, as they ought to be.
    pub(crate) fn files(&self) -> &[HostFile] {
        &self.files
    }

    /// Finds out who keeps services here: whoever answers, and looks where we would write.
    pub(crate) fn keeper(&self) -> Keeper {
        if self.is_passphrase_needed {
            let why = "the store is opened by a passphrase, which a service would not know";
            return Keeper::Nobody(why.to_owned());
        }
        self.manager()
    }

    /// Finds out who could, whether or not it would be of use for this store.
    pub(crate) fn manager(&self) -> Keeper {
        if cfg!(target_os = "macos") {
            return launchd::keeper();
        }
        systemd::keeper(&self.folder)
    }

    /// Whether the manager has been given this very store.
    pub(crate) fn is_installed(&self) -> bool {
        let text = self.files.first().and_then(|file| fs::read_to_string(&file.path).ok());
        text.is_some_and(|text| text.contains(WHOLE_MARK) && text.contains(&self.socket_line))
    }

    /// Whether it holds the socket now.
    pub(crate) fn is_listening(&self, keeper: &Keeper) -> bool {
        match keeper {
            Keeper::Systemd => systemd::is_listening(),
            Keeper::Launchd => launchd::is_listening(),
            Keeper::Nobody(_) => false,
        }
    }

    /// Makes the manager read its files and hold the socket, from now on and after every login.
    pub(crate) fn start(&self, keeper: &Keeper) -> anyhow::Result<()> {
        match keeper {
            Keeper::Systemd => systemd::start(),
            Keeper::Launchd => {
                let plist = self.files.first().context("launchd is given a file")?;
                launchd::start(&plist.path)
            }
            Keeper::Nobody(why) => bail!("{why}"),
        }
    }

    /// Ends the daemon and gives up the socket, until the next start or login.
    pub(crate) fn stop(&self, keeper: &Keeper) -> anyhow::Result<()> {
        match keeper {
            Keeper::Systemd => systemd::stop(),
            Keeper::Launchd => launchd::stop(),
            Keeper::Nobody(why) => bail!("{why}"),
        }
    }

    /// Stops it for good; its files may go after this, and [`Self::removed`] when they have.
    pub(crate) fn remove(&self, keeper: &Keeper) -> anyhow::Result<()> {
        match keeper {
            Keeper::Systemd => systemd::remove(),
            Keeper::Launchd => launchd::stop(),
            // The manager will find them gone when it comes back.
            Keeper::Nobody(_) => systemd::unlink(&self.folder),
        }
    }

    /// Lets the manager notice that the files have gone.
    pub(crate) fn removed(&self, keeper: &Keeper) {
        if *keeper == Keeper::Systemd {
            systemd::forget();
        }
    }
}

impl Keeper {
    /// Returns what a user knows it by.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Systemd => "systemd",
            Self::Launchd => "launchd",
            Self::Nobody(_) => "nobody",
        }
    }

    /// Says where it tells why a daemon did not start.
    pub(crate) fn diary(&self) -> &'static str {
        match self {
            Self::Systemd => "`journalctl --user -u iai-mcp-daemon.service` says why",
            Self::Launchd => "logs/daemon-start.log in the store's folder says why",
            Self::Nobody(_) => "`iai-mcp daemon logs` may say why",
        }
    }
}

impl Job {
    fn of(settings: &Settings, program: &Path) -> anyhow::Result<Self> {
        let home = &settings.home;
        let root = text_of(home.root())?;
        let mut environment = vec![("IAI_MCP_STORE", root)];
        let socket = text_of(home.socket())?;
        if home.socket() != home.root().join(".daemon.sock") {
            environment.push(("IAI_DAEMON_SOCKET_PATH", socket.clone()));
        }
        let idle_secs = settings.idle_shutdown.map_or(0, |idle| idle.as_secs());
        if idle_secs != IDLE_SHUTDOWN_SECS {
            environment.push(("IAI_DAEMON_IDLE_SHUTDOWN_SECS", idle_secs.to_string()));
        }
        let reach = match (&settings.reflection, settings.sync_network) {
            (Some(_), _) => Reach::WithReflection,
            (None, true) => Reach::WithNetwork,
            (None, false) => Reach::Narrow,
        };
        let complaints = text_of(&home.start_log())?;
        Ok(Self { program: text_of(program)?, socket, complaints, environment, reach })
    }
}

/// A line of a unit file holds any path but one with a line break in it.
fn text_of(path: &Path) -> anyhow::Result<String> {
    let text = path.to_str().filter(|text| !text.chars().any(char::is_control));
    let text = text.with_context(|| {
        format!("{} cannot be written into a service file; use a plainer path", path.display())
    });
    Ok(text?.to_owned())
}

#[cfg(test)]
mod tests;
