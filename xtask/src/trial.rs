//! A home whose promises are written down: what was acknowledged in it, and whether it holds.

mod ledger;
mod talk;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::line::Line;
use crate::process;
use crate::product::Product;

pub(crate) use ledger::{Id, Session};
pub(crate) use talk::{hook, run_hook, sentence, transcript, write_turns};

const READY_DEADLINE: Duration = Duration::from_secs(60);
const DRAIN_DEADLINE: Duration = Duration::from_secs(120);
const COMMAND_DEADLINE: Duration = Duration::from_mins(10);
const POLL: Duration = Duration::from_millis(2);
/// Forgets of one trial that are looked at.
const RECEIPTS_MAX: u64 = 100_000;
/// How much is told of what went wrong.
const TOLD_MAX: usize = 20;

/// One home that lives through all rounds of a trial.
pub(crate) struct Trial {
    pub(crate) product: Product,
    pub(crate) home: PathBuf,
    sessions: BTreeMap<String, Mutex<Session>>,
    n_checked: u32,
}

impl Trial {
    pub(crate) fn new(program: &Path) -> Result<Self, String> {
        let product = Product::in_throw_away_home(&[program.as_os_str().to_owned()])?;
        let home = product.folder().unwrap_or(Path::new("/")).to_owned();
        Ok(Self { product, home, sessions: BTreeMap::new(), n_checked: 0 })
    }

    /// Writes down what a session was promised.
    pub(crate) fn keep(&mut self, name: String, session: Mutex<Session>) {
        self.sessions.insert(name, session);
    }

    /// Starts the daemon once more and compares everything with what was promised.
    pub(crate) fn check_all(&mut self) -> Result<(), String> {
        let mut daemon = self.product.run_daemon()?;
        let checked = self.wait_ready(&mut daemon).and_then(|()| self.compare());
        kill(&mut daemon)?;
        self.n_checked += 1;
        checked
    }

    fn compare(&self) -> Result<(), String> {
        for (name, path) in talk::transcripts(&self.home) {
            talk::hook(&self.product, &name, &path)?;
        }
        // An import that was killed is begun again by whoever asked for it.
        self.must_succeed(&["import"])?;
        self.wait_drained()?;
        let mut line = Line::open(&self.product.socket()).ok_or("the daemon does not listen")?;
        self.wait_forgotten(&mut line)?;
        let mut wrong = Vec::new();
        for (name, session) in &self.sessions {
            let found = session_turns(&mut line, name)?;
            wrong.extend(lock(session).compare(name, &found));
        }
        if !wrong.is_empty() {
            wrong.truncate(TOLD_MAX);
            return Err(format!("not as promised:\n  {}", wrong.join("\n  ")));
        }
        self.must_succeed(&["verify", "--transcripts"])?;
        self.must_succeed(&["verify", "--full"])
    }

    fn must_succeed(&self, words: &[&str]) -> Result<(), String> {
        let finished = process::capture(self.product.command(words), COMMAND_DEADLINE)?;
        if finished.status.success() {
            return Ok(());
        }
        Err(format!("`iai-mcp {}`: {}{}", words.join(" "), finished.stdout, finished.stderr))
    }

    /// Waits until the store is open, or says how the daemon ended instead.
    pub(crate) fn wait_ready(&self, daemon: &mut Child) -> Result<(), String> {
        self.wait(READY_DEADLINE, "ready", || {
            if let Ok(Some(status)) = daemon.try_wait() {
                return Err(format!("the daemon ended with {status}; see {}", self.complaints()));
            }
            Ok(self.status().is_some_and(|status| text(&status, "state") == "ready"))
        })
    }

    fn wait_drained(&self) -> Result<(), String> {
        self.wait(DRAIN_DEADLINE, "done with the spool", || {
            let status = self.status().ok_or("the daemon does not listen")?;
            let pending = status.get("pending").and_then(Value::as_u64);
            let failed = status.get("failed").and_then(Value::as_u64);
            match failed {
                Some(0) => Ok(pending == Some(0)),
                _ => Err(format!("turns were set aside: {status}")),
            }
        })
    }

    /// Waits until what somebody asked to be forgotten before a kill is gone.
    fn wait_forgotten(&self, line: &mut Line) -> Result<(), String> {
        self.wait(DRAIN_DEADLINE, "done with forgetting", || {
            let answer = line.call("forget_receipts", &json!({"limit": RECEIPTS_MAX}));
            let answer = answer.map_err(|why| format!("{why:?}"))?;
            let receipts = answer.get("receipts").and_then(Value::as_array);
            let is_finished = |receipt: &Value| !receipt["finished_at"].is_null();
            Ok(receipts.is_some_and(|receipts| receipts.iter().all(is_finished)))
        })
    }

    fn wait(
        &self,
        deadline: Duration,
        what: &str,
        mut holds: impl FnMut() -> Result<bool, String>,
    ) -> Result<(), String> {
        let begin = Instant::now();
        while !holds()? {
            if deadline < begin.elapsed() {
                let seconds = deadline.as_secs();
                return Err(format!("the daemon was not {what} within {seconds} s"));
            }
            process::pause(POLL);
        }
        Ok(())
    }

    pub(crate) fn status(&self) -> Option<Value> {
        Line::open(&self.product.socket())?.ask(&json!({"type": "status"}))
    }

    fn complaints(&self) -> String {
        std::fs::read_to_string(self.home.join("daemon.err")).unwrap_or_default()
    }

    /// Returns what can be told about the whole trial.
    pub(crate) fn summary(&self) -> Vec<(String, String)> {
        let total = |count: fn(&Session) -> usize| -> usize {
            self.sessions.values().map(|session| count(&lock(session))).sum()
        };
        vec![
            ("acknowledged".to_owned(), total(Session::n_acknowledged).to_string()),
            ("forgotten".to_owned(), total(Session::n_forgotten).to_string()),
            ("lost or twice".to_owned(), "0".to_owned()),
            ("whole checks".to_owned(), self.n_checked.to_string()),
        ]
    }
}

/// Returns everything the store holds of a session.
fn session_turns(line: &mut Line, name: &str) -> Result<Vec<(Id, String)>, String> {
    let mut found = Vec::new();
    loop {
        let params = json!({"session": name, "skip": found.len(), "limit": 1000});
        let answer = line.call("session_turns", &params).map_err(|why| format!("{why:?}"))?;
        let turns = answer.get("turns").and_then(Value::as_array).cloned().unwrap_or_default();
        if turns.is_empty() {
            return Ok(found);
        }
        let pair = |turn: &Value| (text(turn, "record_id"), text(turn, "literal_surface"));
        found.extend(turns.iter().map(pair));
    }
}

fn text(value: &Value, field: &str) -> String {
    value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// SIGKILL; one that is dead already was killed before.
pub(crate) fn kill(daemon: &mut Child) -> Result<(), String> {
    let failed = |error| format!("cannot kill the daemon: {error}");
    daemon.kill().map_err(failed)?;
    daemon.wait().map(drop).map_err(failed)
}

/// Nobody panics while holding it, and if: the ledger is as far as it was written.
pub(crate) fn lock(session: &Mutex<Session>) -> MutexGuard<'_, Session> {
    session.lock().unwrap_or_else(PoisonError::into_inner)
}
