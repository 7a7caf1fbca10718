//! Starts a daemon, because the user said so. The only place that starts a process.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use thiserror::Error;

use super::{CallError, Client};
use crate::home::{
    Home, UnusableFolder, ensure_inner_folder, ensure_private_folder, open_own_file,
};
use crate::settings::Settings;

/// A store that needs longer than this to open is in trouble.
const START_LIMIT: Duration = Duration::from_secs(30);
const COMPLAINT_BYTES_MAX: u64 = 16 * 1024;
/// With less than this no store can be opened.
const ROOM_BYTES_MIN: u64 = 256 * 1024;

/// How `daemon start` found things.
pub(crate) enum Started {
    Now {
        status: Value,
        /// What it had to say, such as that it made a key.
        remarks: Option<String>,
    },
    /// One was running.
    Already(Value),
}

/// Starts a daemon that outlives this process, and waits until its store is open.
pub(crate) fn start_daemon(settings: &Settings) -> anyhow::Result<Started> {
    let client = Client::new(settings.clone());
    if let Ok(status) = client.status() {
        return Ok(Started::Already(status));
    }
    let complaints = settings.home.start_log();
    let mut child = spawn(&settings.home, &complaints)?;
    if let Readiness::Ended { status } = wait_ready(&mut child)? {
        return Err(StartFailed::of(&settings.home, &complaints, status).into());
    }
    let status = client.status();
    if let Ok(Some(ended)) = child.try_wait() {
        return Err(StartFailed::of(&settings.home, &complaints, ended).into());
    }
    let status = status.context("the daemon started and does not answer")?;
    Ok(Started::Now { status, remarks: said(&complaints) })
}

#[expect(clippy::disallowed_methods, reason = "the user asked for a daemon")]
fn spawn(home: &Home, complaints: &Path) -> anyhow::Result<Child> {
    let program = std::env::current_exe().context("finding this program's own path")?;
    let unusable = |source| UnusableFolder { path: home.root().to_owned(), source };
    ensure_private_folder(home.root()).map_err(unusable)?;
    let logs = home.logs();
    ensure_inner_folder(&logs).map_err(|source| UnusableFolder { path: logs, source })?;
    let opening = || format!("opening {}", complaints.display());
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    let stderr = open_own_file(&mut options, complaints).with_context(opening)?;
    stderr.set_len(0).with_context(opening)?;
    Command::new(&program)
        .args(["daemon", "run", "--detached"])
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(stderr)
        .spawn()
        .with_context(|| format!("starting {}", program.display()))
}

/// The daemon that was started ended again; its own words say why.
#[derive(Debug, Error)]
#[error("{why}")]
pub(crate) struct StartFailed {
    why: String,
    /// What it exited with, which is what whoever started it exits with.
    pub(crate) code: Option<i32>,
}

impl StartFailed {
    fn of(home: &Home, complaints: &Path, status: ExitStatus) -> Self {
        let why = said(complaints).unwrap_or_else(|| without_words(home, status));
        Self { why, code: status.code() }
    }
}

/// A disk without room takes no complaint either, and neither does a process that is killed.
fn without_words(home: &Home, status: ExitStatus) -> String {
    let room = rustix::fs::statvfs(home.root());
    if room.is_ok_and(|room| room.f_bavail.saturating_mul(room.f_frsize) < ROOM_BYTES_MIN) {
        let root = home.root().display();
        return format!("the daemon ended at once: the disk is full at {root}; free some space");
    }
    match status.signal() {
        Some(signal) => format!("the daemon was ended by signal {signal}"),
        None => {
            "the daemon ended at once and did not say why; see `iai-mcp daemon logs`".to_owned()
        }
    }
}

enum Readiness {
    Ready,
    Ended { status: ExitStatus },
}

/// The daemon writes one line when its store is open, and its pipe closes when it dies before that.
fn wait_ready(child: &mut Child) -> anyhow::Result<Readiness> {
    let stdout = child.stdout.take().context("the daemon's pipe is gone")?;
    let (said, heard) = mpsc::sync_channel(1);
    thread::spawn(move || {
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).ok();
        said.send(line).ok();
    });
    match heard.recv_timeout(START_LIMIT) {
        Ok(line) if !line.is_empty() => Ok(Readiness::Ready),
        Ok(_) => {
            // It has died; taking its exit leaves no zombie behind.
            let status = child.wait().context("waiting for the daemon's exit")?;
            Ok(Readiness::Ended { status })
        }
        Err(_) => {
            bail!("the daemon has not opened its store within 30 s; see `iai-mcp daemon logs`")
        }
    }
}

/// Returns what the daemon wrote while it started.
fn said(path: &Path) -> Option<String> {
    let mut text = String::new();
    File::open(path).ok()?.take(COMPLAINT_BYTES_MAX).read_to_string(&mut text).ok()?;
    let text = text.trim();
    let text = text.strip_prefix("iai-mcp: ").unwrap_or(text);
    (!text.is_empty()).then(|| text.to_owned())
}

/// Has the daemon answer whose socket a service manager holds, and waits until its store is open.
pub(crate) fn wake_daemon(settings: &Settings) -> Result<Value, CallError> {
    let client = Client::new(settings.clone());
    client.call_daemon("model_status", &json!({}))?;
    client.status()
}
