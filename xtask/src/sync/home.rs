//! A home of its own with a daemon that may be killed at any moment, by anybody.

use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::line::Line;
use crate::process;
use crate::product::Product;
use crate::trial;

const READY_DEADLINE: Duration = Duration::from_secs(60);
const QUIET_DEADLINE: Duration = Duration::from_secs(120);
const COMMAND_DEADLINE: Duration = Duration::from_mins(3);
/// A daemon that is asked to leave has left by then, whatever it waits for.
const STOP_DEADLINE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(5);
const RECEIPTS_MAX: u64 = 100_000;
/// Everything that is the store's, in a home.
const STORE: &str = ".iai-mcp";

pub(super) struct Home {
    pub(super) number: usize,
    pub(super) product: Product,
    pub(super) folder: PathBuf,
    daemon: Mutex<Option<Child>>,
}

impl Home {
    pub(super) fn new(program: &Path, number: usize) -> Result<Self, String> {
        let product = Product::in_throw_away_home(&[program.as_os_str().to_owned()])?;
        let folder = product.folder().unwrap_or(Path::new("/")).to_owned();
        Ok(Self { number, product, folder, daemon: Mutex::default() })
    }

    fn daemon(&self) -> MutexGuard<'_, Option<Child>> {
        self.daemon.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the daemon where none runs, and waits until it is ready or somebody has killed it.
    pub(super) fn rise(&self) -> Result<(), String> {
        let mut daemon = self.daemon();
        if let Some(child) = daemon.as_mut()
            && let Ok(Some(status)) = child.try_wait()
        {
            let said = std::fs::read_to_string(self.folder.join("daemon.err")).unwrap_or_default();
            return Err(format!(
                "home {}: the daemon ended by itself, {status}: {said}",
                self.number
            ));
        }
        if daemon.is_none() {
            *daemon = Some(self.product.run_daemon()?);
        }
        drop(daemon);
        let begin = Instant::now();
        while self.daemon().is_some() {
            if self
                .ask(&json!({"type": "status"}))
                .is_some_and(|told| text(&told, "state") == "ready")
            {
                return Ok(());
            }
            if READY_DEADLINE < begin.elapsed() {
                return Err(format!("home {}: the daemon does not get ready", self.number));
            }
            process::pause(POLL);
        }
        Ok(())
    }

    /// SIGKILL; false where no daemon runs.
    pub(super) fn kill(&self) -> Result<bool, String> {
        let mut daemon = self.daemon();
        let Some(mut child) = daemon.take() else { return Ok(false) };
        trial::kill(&mut child).map(|()| true)
    }

    /// Asks the daemon to leave, and returns how long it took; nothing where none runs.
    pub(super) fn stop(&self) -> Result<Option<Duration>, String> {
        let mut daemon = self.daemon();
        let Some(mut child) = daemon.take() else { return Ok(None) };
        let begin = Instant::now();
        let mut term = process::command("kill");
        term.args(["-TERM", &child.id().to_string()]);
        process::capture(term, STOP_DEADLINE)?;
        process::reap(&mut child, STOP_DEADLINE)?;
        let took = begin.elapsed();
        if STOP_DEADLINE <= took {
            return Err(format!("home {}: the daemon did not leave when asked", self.number));
        }
        Ok(Some(took))
    }

    /// Runs a command; nothing where it fails, as it may while daemons die.
    pub(super) fn run(&self, words: &[&str]) -> Result<Option<Value>, String> {
        let finished = process::capture(self.product.command(words), COMMAND_DEADLINE)?;
        let answer = serde_json::from_str(finished.stdout.trim()).unwrap_or_default();
        Ok(finished.status.success().then_some(answer))
    }

    /// Runs a command that has to succeed, and returns the JSON it prints.
    pub(super) fn succeed(&self, words: &[&str]) -> Result<Value, String> {
        let told = self.print(words)?;
        Ok(serde_json::from_str(told.trim()).unwrap_or_default())
    }

    /// Runs a command that has to succeed, and returns what it prints.
    pub(super) fn print(&self, words: &[&str]) -> Result<String, String> {
        let finished = process::capture(self.product.command(words), COMMAND_DEADLINE)?;
        if finished.status.success() {
            return Ok(finished.stdout);
        }
        let (number, told) = (self.number, words.join(" "));
        Err(format!("home {number}: `iai-mcp {told}`: {}{}", finished.stdout, finished.stderr))
    }

    fn ask(&self, message: &Value) -> Option<Value> {
        Line::open(&self.product.socket())?.ask(message)
    }

    /// Calls a method; nothing where nobody answers, or with a refusal.
    pub(super) fn call(&self, method: &str, params: &Value) -> Option<Value> {
        Line::open(&self.product.socket())?.call(method, params).ok()
    }

    /// Waits until nothing is on its way in or out of the store; false where the daemon died.
    pub(super) fn settle(&self) -> Result<bool, String> {
        let begin = Instant::now();
        loop {
            let status = self.ask(&json!({"type": "status"}));
            let receipts = self.call("forget_receipts", &json!({"limit": RECEIPTS_MAX}));
            let (Some(status), Some(receipts)) = (status, receipts) else { return Ok(false) };
            let list = receipts.get("receipts").and_then(Value::as_array);
            let is_finished = |receipt: &Value| !receipt["finished_at"].is_null();
            let is_forgotten = list.is_some_and(|list| list.iter().all(is_finished));
            if is_forgotten && status.get("pending").and_then(Value::as_u64) == Some(0) {
                return Ok(true);
            }
            if QUIET_DEADLINE < begin.elapsed() {
                return Err(format!("home {}: something never ends: {status}", self.number));
            }
            process::pause(POLL);
        }
    }

    /// Copies the store of a daemon that does not run to somewhere else.
    pub(super) fn copy_store(&self, to: &Path) -> Result<(), String> {
        copy(&self.folder.join(STORE), to)
    }

    /// Puts the store back to a copy.
    pub(super) fn restore_store(&self, from: &Path) -> Result<(), String> {
        copy(from, &self.folder.join(STORE))
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let failed = |error| format!("cannot copy {}: {error}", from.display());
    if to.exists() {
        std::fs::remove_dir_all(to).map_err(failed)?;
    }
    let mut copy = process::command("cp");
    copy.arg("-a").args([from, to]);
    let finished = process::capture(copy, COMMAND_DEADLINE)?;
    finished.status.success().then_some(()).ok_or_else(|| finished.stderr.clone())
}

pub(super) fn text(value: &Value, field: &str) -> String {
    value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}
