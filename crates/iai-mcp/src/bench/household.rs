//! A throw-away home with a store and a daemon of its own: this same program, as users run it.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::process::{self, wait_for};
use crate::client::{Client, stop_daemon};
use crate::fields::Fields as _;
use crate::home::{FOLDER_MODE, Home, ensure_private_folder};
use crate::settings::Settings;

/// A store that needs longer than this to open is in trouble.
const START_LIMIT: Duration = Duration::from_secs(60);
/// Time to give every turn of a large corpus its vector.
const INDEX_LIMIT: Duration = Duration::from_hours(12);
/// A daemon we could not stop, because we were interrupted, ends by itself after this long.
const IDLE_SECONDS: &str = "600";
const HOMES_MAX: u32 = 1000;

/// A home that is gone, with its daemon, when this value is.
pub(super) struct Household {
    folder: PathBuf,
    settings: Settings,
    daemon: Option<Child>,
}

/// How long a daemon took from the start of its process.
#[derive(Clone, Copy)]
pub(super) struct Started {
    /// Until it answered `status`.
    pub(super) answering: Duration,
    /// Until its store was open.
    pub(super) ready: Duration,
}

/// What a throw-away home gets of the user's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lending {
    /// The installed models.
    Models,
    /// Nothing: only words are compared.
    Nothing,
}

impl Household {
    /// Makes an empty home. The model the user installed is lent to it, nothing else.
    pub(super) fn new(user: &Settings) -> anyhow::Result<Self> {
        Self::lending(user, Lending::Models)
    }

    /// Makes an empty home, with or without the user's models.
    pub(super) fn lending(user: &Settings, lending: Lending) -> anyhow::Result<Self> {
        let folder = create_folder()?;
        let home = Home::new(folder.join(".iai-mcp"), Some(folder.join("d.sock")));
        ensure_private_folder(home.root()).context("making a home")?;
        if lending == Lending::Models {
            lend_models(&user.home, &home).context("lending the installed model")?;
        }
        let settings = Settings {
            home,
            passphrase: None,
            idle_shutdown: None,
            host_session: None,
            user_home: Some(folder.clone()),
            config_folder: None,
            claude_folder: None,
            codex_folder: None,
            recall_on_prompt: false,
            switched_off: Vec::new(),
            reflection: None,
            config_error: None,
            ..user.clone()
        };
        Ok(Self { folder, settings, daemon: None })
    }

    /// Returns a path inside the home.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(super) fn home(&self) -> &Home {
        &self.settings.home
    }

    pub(super) fn client(&self) -> Client {
        Client::new(self.settings.clone())
    }

    /// Returns this program with these words, living in this home and knowing of no other.
    pub(super) fn command(&self, words: &[&str]) -> anyhow::Result<Command> {
        let program = std::env::current_exe().context("finding this program's own path")?;
        let mut command = process::command(program);
        command.env_clear().args(words);
        Ok(self.dress(command))
    }

    /// Has any command live in this home.
    pub(super) fn dress(&self, mut command: Command) -> Command {
        command
            .current_dir(&self.folder)
            .env("HOME", &self.folder)
            .env("IAI_MCP_STORE", self.settings.home.root())
            .env("IAI_DAEMON_SOCKET_PATH", self.settings.home.socket())
            .env("IAI_DAEMON_IDLE_SHUTDOWN_SECS", IDLE_SECONDS);
        command
    }

    /// Starts the daemon and waits until its store is open.
    pub(super) fn start_daemon(&mut self) -> anyhow::Result<Started> {
        let mut command = self.command(&["daemon", "run"])?;
        let complaints = self.path("daemon.err");
        let stderr = std::fs::File::create(&complaints).context("catching what it says")?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
        let begun = Instant::now();
        let mut child = command.spawn().context("starting the daemon")?;
        let client = self.client();
        let mut answering = None;
        let ready = wait_for("opening the store", START_LIMIT, || {
            if let Some(status) = child.try_wait().context("looking at the daemon")? {
                let said = std::fs::read_to_string(&complaints).unwrap_or_default();
                bail!("the daemon ended ({status}): {}", said.trim());
            }
            let Ok(status) = client.status() else { return Ok(None) };
            answering.get_or_insert(begun.elapsed());
            Ok((status.at("state") == "ready").then(|| begun.elapsed()))
        });
        self.daemon = Some(child);
        let ready = ready?;
        Ok(Started { answering: answering.unwrap_or(ready), ready })
    }

    /// Has the daemon leave as a user would.
    pub(super) fn stop_daemon(&mut self) -> anyhow::Result<()> {
        stop_daemon(&self.settings)?;
        if let Some(mut child) = self.daemon.take() {
            child.wait().context("waiting for the daemon's end")?;
        }
        Ok(())
    }

    pub(super) fn status(&self) -> anyhow::Result<Value> {
        self.client().status().context("asking the daemon how it is")
    }

    pub(super) fn daemon_pid(&self) -> Option<u32> {
        self.daemon.as_ref().map(Child::id)
    }

    /// Waits until every stored turn can be found by every lane, and returns how long that took.
    pub(super) fn wait_indexed(&self) -> anyhow::Result<Duration> {
        let begun = Instant::now();
        let client = self.client();
        // A load of turns is over when it is waited for.
        client.call_daemon("embedding_hurry", &json!({})).context("hurrying the vectors")?;
        wait_for("giving every turn its vector", INDEX_LIMIT, || {
            Ok((n_unindexed(&client.status()?) == 0).then_some(()))
        })?;
        Ok(begun.elapsed())
    }

    /// Returns the size of everything in the store's folder, in bytes.
    pub(super) fn n_stored_bytes(&self) -> u64 {
        let entries = std::fs::read_dir(self.settings.home.root()).into_iter().flatten().flatten();
        let sizes = entries.filter_map(|entry| {
            // A lent model is a link, and not of this store.
            let metadata = entry.path().symlink_metadata().ok()?;
            metadata.is_file().then_some(metadata.len())
        });
        sizes.sum()
    }
}

/// Turns stored and not found by meaning yet. A daemon without a model does not speak of it.
pub(super) fn n_unindexed(status: &Value) -> u64 {
    status.at("embedding_pending").as_u64().unwrap_or(0)
}

impl Drop for Household {
    fn drop(&mut self) {
        if let Some(mut child) = self.daemon.take() {
            // Nothing in this home outlives it, so that there is nothing to say goodbye to.
            child.kill().ok();
            child.wait().ok();
        }
        std::fs::remove_dir_all(&self.folder).ok();
    }
}

/// Lets a home use the models of another, without a copy.
fn lend_models(from: &Home, to: &Home) -> io::Result<()> {
    if from.models().is_dir() {
        std::os::unix::fs::symlink(from.models(), to.models())?;
    }
    Ok(())
}

/// Makes a private folder with a short name: a socket path inside has to fit in about 100 bytes.
fn create_folder() -> anyhow::Result<PathBuf> {
    let short = Path::new("/tmp");
    let parent = if short.is_dir() { short.to_owned() } else { std::env::temp_dir() };
    for n in 0..HOMES_MAX {
        let folder = parent.join(format!("iai-bench-{}-{n}", std::process::id()));
        match DirBuilder::new().mode(FOLDER_MODE).create(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).context(format!("making {}", folder.display())),
        }
    }
    bail!("{} is full of throw-away homes; remove iai-bench-*", parent.display())
}
