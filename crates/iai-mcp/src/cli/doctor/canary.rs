//! Proves the whole way: a turn goes through the real hook, is stored, found, and forgotten again.
//!
//! What it says is drawn at random, so that it is nobody's words; no receipt of it is kept. Every
//! call has a deadline: a busy daemon is a warning, never a failure, and is left alone.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};
use iai_wire::{BY_PERSON, code};
use serde_json::{Value, json};

use super::Check;
use crate::capture::{Cursor, waiting_files};
use crate::client::{CallError, Client, Limits};
use crate::fields::Fields as _;
use crate::home::{Home, ensure_private_folder};
use crate::settings::Settings;

const NAME: &str = "canary";
/// How the folder of a canary is called, before what is drawn for it.
const FOLDER: &str = ".doctor-";
/// What is said when it came back.
pub(super) const FLOWN: &str = "captured by the hook, stored, recalled and forgotten again";
/// A hook takes milliseconds; a machine under load may take seconds.
const HOOK_LIMIT: Duration = Duration::from_secs(15);
/// What one question to the daemon may take.
const CALL_LIMIT: Duration = Duration::from_secs(15);
/// How often the daemon is asked whether it has forgotten; each time it takes its time to answer.
const FORGET_ASKS_MAX: usize = 3;

/// One turn that is stored only to be forgotten.
struct Canary {
    folder: PathBuf,
    session: String,
    word: String,
    /// The folder, locked for as long as its doctor lives.
    _alive: File,
}

/// Why it could not be proved.
enum Stopped {
    /// Somebody else keeps the daemon busy.
    Busy(String),
    Failed(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for Stopped {
    fn from(error: E) -> Self {
        let error = error.into();
        match error.downcast_ref::<CallError>() {
            Some(CallError::Refused {
                code: code::BUSY | code::DEADLINE | code::STARTING, ..
            }) => Self::Busy(error.to_string()),
            Some(CallError::Broken(_)) => Self::Busy(error.to_string()),
            _ => Self::Failed(error),
        }
    }
}

/// Has the canaries forgotten whose doctors were killed. One that cannot be waits for the next.
pub(super) fn forget_dead(settings: &Settings, status: &Result<Value, CallError>) {
    if !status.as_ref().is_ok_and(|status| status.at("state") == "ready") {
        return;
    }
    let client = Client::with_limits(settings.clone(), Limits::all(CALL_LIMIT));
    for canary in Canary::dead(&settings.home) {
        if canary.forget(&client).is_ok() {
            canary.sweep(&settings.home).ok();
        }
    }
}

/// Tries the whole way with a running daemon.
pub(super) fn check(settings: &Settings, status: &Result<Value, CallError>) -> Check {
    match status {
        Err(_) => {
            return Check::warn(
                NAME,
                "not tried: the daemon does not answer",
                "run the doctor again once it runs",
            );
        }
        Ok(status) if status.at("state") != "ready" => {
            return Check::warn(
                NAME,
                "not tried: the daemon is not ready",
                "try again in a minute",
            );
        }
        Ok(_) => {}
    }
    let canary = match Canary::new(settings) {
        Ok(canary) => canary,
        Err(error) => {
            return Check::fail(NAME, format!("{error:#}"), "make the store's folder writable");
        }
    };
    let client = Client::with_limits(settings.clone(), Limits::all(CALL_LIMIT));
    let flown = canary.fly(settings, &client);
    // Whatever came of it, nothing of it stays.
    let forgotten = canary.forget(&client);
    let swept = canary.sweep(&settings.home);
    match flown.and(forgotten).and_then(|()| swept.map_err(Stopped::from)) {
        Ok(()) => Check::pass(NAME, FLOWN),
        Err(Stopped::Busy(why)) => {
            Check::warn(NAME, format!("not proved, the daemon is busy: {why}"), "try again later")
        }
        Err(Stopped::Failed(error)) => Check::fail(
            NAME,
            format!("{error:#}"),
            "`iai-mcp daemon logs` and logs/hook.log may say more",
        ),
    }
}

impl Canary {
    fn new(settings: &Settings) -> anyhow::Result<Self> {
        let random = getrandom::u64().context("drawing a word")?;
        let folder = settings.home.root().join(format!("{FOLDER}{random:016x}"));
        let making = || format!("making {}", folder.display());
        ensure_private_folder(&folder).with_context(making)?;
        let alive = File::open(&folder).with_context(making)?;
        alive.lock().with_context(making)?;
        Ok(Self::of(&folder, &format!("{random:016x}"), alive))
    }

    fn of(folder: &Path, tag: &str, alive: File) -> Self {
        let (session, word) = (format!("doctor-{tag}"), format!("canary{tag}"));
        Self { folder: folder.to_owned(), session, word, _alive: alive }
    }

    /// Finds those whose doctors were killed: nobody holds their lock.
    fn dead(home: &Home) -> Vec<Self> {
        let entries = fs::read_dir(home.root()).into_iter().flatten().flatten();
        let found = entries.filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let tag = name.strip_prefix(FOLDER)?;
            let alive = File::open(entry.path()).ok()?;
            alive.try_lock().ok()?;
            Some(Self::of(&entry.path(), tag, alive))
        });
        found.collect()
    }

    /// From the hook to an answer.
    fn fly(&self, settings: &Settings, client: &Client) -> Result<(), Stopped> {
        self.run_hook()?;
        let waiting = waiting_files(&settings.home);
        let own = waiting.iter().find(|file| file.name.starts_with(&self.session));
        if let Some(file) = own {
            client.call_daemon("spool_drain", &json!({"file": file.name}))?;
        }
        if self.n_stored(client)? == 0 {
            let why = "the hook ended well and its turn is not stored";
            return Err(Stopped::Failed(anyhow::anyhow!("{why}")));
        }
        let cue = json!({"cue": self.word, "budget_tokens": 500, "by": BY_PERSON});
        let answer = client.call_daemon("memory_recall", &cue)?;
        let hits = answer.at("hits").as_array().map(Vec::as_slice).unwrap_or_default();
        let is_hit = |hit: &Value| {
            hit.at("literal_surface").as_str().is_some_and(|text| text.contains(&self.word))
        };
        if !hits.iter().any(is_hit) {
            let why = "the turn is stored, and recall does not find it";
            return Err(Stopped::Failed(anyhow::anyhow!("{why}")));
        }
        Ok(())
    }

    fn forget(&self, client: &Client) -> Result<(), Stopped> {
        let wish = json!({"session": self.session, "reason": "check"});
        let mut done = client.call_daemon("memory_forget", &wish)?;
        for _ in 0..FORGET_ASKS_MAX {
            if done.at("is_finished") == true {
                break;
            }
            let receipt = json!({"receipt": done.at("receipt")});
            done = client.call_daemon("forget_status", &receipt)?;
        }
        if done.at("is_finished") != true {
            let why = done.at("failed").as_str().unwrap_or("it takes longer than it should");
            return Err(Stopped::Busy(format!("forgetting is under way: {why}")));
        }
        if self.n_stored(client)? != 0 {
            return Err(Stopped::Failed(anyhow::anyhow!("the turn was forgotten and is there")));
        }
        Ok(())
    }

    fn n_stored(&self, client: &Client) -> Result<u64, CallError> {
        let wish = json!({"text": self.word, "session": self.session, "limit": 1});
        let found = client.call_daemon("memory_search", &wish)?;
        Ok(found.at("count").as_u64().unwrap_or(0))
    }

    /// Runs what a host would run, with a transcript of one turn.
    fn run_hook(&self) -> anyhow::Result<()> {
        let transcript = self.folder.join("transcript.jsonl");
        let line = json!({
            "type": "user",
            "uuid": self.session,
            "sessionId": self.session,
            "timestamp": crate::clock::now().to_string(),
            "cwd": self.folder,
            "message": {"role": "user", "content": format!("the doctor says {}", self.word)},
        });
        fs::write(&transcript, format!("{line}\n"))
            .with_context(|| format!("writing {}", transcript.display()))?;
        let payload = json!({
            "session_id": self.session,
            "transcript_path": transcript,
            "cwd": self.folder,
            "hook_event_name": "Stop",
        });
        let mut child = spawn_hook(&self.folder)?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(payload.to_string().as_bytes()).context("telling the hook")?;
        }
        let ended = wait(child)?;
        if !ended.success() {
            bail!("the hook ended with {ended}");
        }
        Ok(())
    }

    #[expect(clippy::disallowed_methods, reason = "the one file that was written here")]
    fn sweep(&self, home: &Home) -> anyhow::Result<()> {
        let transcript = self.folder.join("transcript.jsonl");
        Cursor::forget(home, &transcript).context("sweeping up after the canary")?;
        if transcript.exists() {
            fs::remove_file(&transcript).context("sweeping up after the canary")?;
        }
        fs::remove_dir(&self.folder).context("sweeping up after the canary")
    }
}

#[expect(clippy::disallowed_methods, reason = "the user asked for a proof of the hook itself")]
fn spawn_hook(folder: &Path) -> anyhow::Result<Child> {
    let program = std::env::current_exe().context("finding this program's own path")?;
    Command::new(program)
        .args(["hook", "stop", "--host", "claude"])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("running the hook")
}

/// Waits for the hook, and ends it when it takes longer than any hook may.
fn wait(mut child: Child) -> anyhow::Result<ExitStatus> {
    let (sender, ended) = mpsc::sync_channel(1);
    let pid = child.id();
    thread::Builder::new()
        .name("hook".to_owned())
        .spawn(move || sender.send(child.wait()).ok())
        .context("waiting for the hook")?;
    match ended.recv_timeout(HOOK_LIMIT) {
        Ok(status) => status.context("waiting for the hook"),
        Err(_) => bail!("the hook (process {pid}) did not end within {} s", HOOK_LIMIT.as_secs()),
    }
}
