//! Kills on the way from older tables to the newest: a store with memories in it is taken back, and
//! the daemon that brings it forward is killed at random points until it got through.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::log_tail;
use crate::dice::Dice;
use crate::line::Line;
use crate::trial::{Session, Trial, kill, sentence, transcript, write_turns};
use crate::{process, repository};

/// What the store holds that is taken back: captured, and by a hook.
const N_CAPTURED: u64 = 60;
const N_TALKED: u64 = 200;
/// A store that is not through after so many kills would never be.
const TRIES_MAX: u32 = 60;
const OLDER_DEADLINE: Duration = Duration::from_secs(60);

/// A home of its own, whose store is brought forward again and again.
pub(crate) struct Migration {
    trial: Trial,
    older: PathBuf,
    /// How long a start takes: kills fall into this time.
    start: Duration,
    /// The version last taken back to; 0 before the first time.
    version: u32,
    newest: u32,
    /// Starts since the store was taken back.
    n_tries: u32,
    n_kills: u32,
    n_between: u32,
    n_through: u32,
}

impl Migration {
    pub(crate) fn prepare(program: &Path, dice: &mut Dice) -> Result<Self, String> {
        let older = repository::build_older()?;
        let mut trial = Trial::new(program)?;
        fill(&mut trial, dice)?;
        let begin = Instant::now();
        let mut daemon = trial.product.run_daemon()?;
        let ready = trial.wait_ready(&mut daemon);
        let start = begin.elapsed();
        kill(&mut daemon)?;
        ready?;
        let mut migration = Self {
            trial,
            older,
            start,
            version: 0,
            newest: 0,
            n_tries: 0,
            n_kills: 0,
            n_between: 0,
            n_through: 0,
        };
        (migration.version, migration.newest) = migration.versions()?;
        migration.take_back()?;
        Ok(migration)
    }

    /// Starts the daemon, kills it, and looks how far the tables have come. Once they are the
    /// newest, everything is compared and the next older version is taken.
    pub(crate) fn round(&mut self, is_torn: bool, dice: &mut Dice) -> Result<(), String> {
        let mut daemon = self.trial.product.run_daemon()?;
        process::pause(dice.time_below(self.start));
        kill(&mut daemon)?;
        self.n_kills += 1;
        self.n_tries += 1;
        if is_torn {
            log_tail::tear(&self.trial.home.join(".iai-mcp/memory.db-wal"), dice)?;
        }
        let (found, _) = self.versions()?;
        self.n_between += u32::from(self.version < found && found < self.newest);
        if found == self.newest {
            return self.check();
        }
        if TRIES_MAX < self.n_tries {
            return Err(format!("version {found} after {} starts", self.n_tries));
        }
        Ok(())
    }

    /// Compares everything with what was promised, and takes the store back again.
    pub(crate) fn check(&mut self) -> Result<(), String> {
        let from = self.version;
        self.trial.check_all().map_err(|why| format!("from version {from}: {why}"))?;
        self.n_through += 1;
        self.take_back()
    }

    pub(crate) fn summary(&self) -> Vec<(String, String)> {
        let row = |name: &str, n: u32| (name.to_owned(), n.to_string());
        vec![
            row("during migration", self.n_kills),
            row("… between two steps", self.n_between),
            row("… stores that got through", self.n_through),
        ]
    }

    /// Takes the store back one step further than the last time; after the first version it is the
    /// turn of the newest but one.
    fn take_back(&mut self) -> Result<(), String> {
        self.version = if self.version <= 1 { self.newest - 1 } else { self.version - 1 };
        self.n_tries = 0;
        self.older(&[&self.version.to_string()]).map(drop)
    }

    /// Returns the version of the tables as they are, and the newest.
    fn versions(&self) -> Result<(u32, u32), String> {
        let told = self.older(&[])?;
        let numbers = told.trim().split_once(' ');
        numbers
            .and_then(|(found, newest)| Some((found.parse().ok()?, newest.parse().ok()?)))
            .ok_or_else(|| format!("`older` printed no versions: {told}"))
    }

    fn older(&self, words: &[&str]) -> Result<String, String> {
        let mut command = process::command(&self.older);
        command.arg(self.trial.home.join(".iai-mcp")).args(words);
        let finished = process::capture(command, OLDER_DEADLINE)?;
        match finished.status.success() {
            true => Ok(finished.stdout),
            false => Err(format!("taking a store back: {}", finished.stderr)),
        }
    }
}

/// Says something in the home, and writes down what was promised.
fn fill(trial: &mut Trial, dice: &mut Dice) -> Result<(), String> {
    let name = "before";
    let talk = transcript(&trial.home, "before-talk");
    write_turns(&talk, "before-talk", 0, N_TALKED, dice)?;
    let mut daemon = trial.product.run_daemon()?;
    let mut session = Session::default();
    let filled = trial.wait_ready(&mut daemon).and_then(|()| {
        let mut line = Line::open(&trial.product.socket()).ok_or("the daemon does not listen")?;
        for n in 0..N_CAPTURED {
            let text = sentence(name, n, dice);
            session.attempt(&text);
            let params = json!({"text": text, "session_id": name});
            let answer = line.call("memory_capture", &params).map_err(|why| format!("{why:?}"))?;
            let id = answer.get("record_id").and_then(Value::as_str).ok_or("no id")?;
            session.acknowledge(id.to_owned(), text);
        }
        Ok(())
    });
    kill(&mut daemon)?;
    filled?;
    trial.keep(name.to_owned(), Mutex::new(session));
    trial.check_all()
}
