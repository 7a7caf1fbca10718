//! Kills the daemon in the middle of everything, and counts what was lost.
//!
//! A round: the daemon starts, two writers capture over the socket and write down every id they get
//! back, a third deed goes on beside them, and after a random time the daemon gets SIGKILL; in some
//! rounds before it is ready, in some with the unsynced end of its log torn as by a power cut. Then
//! everything that was acknowledged has to be there: once, byte for byte.

mod deeds;
mod ledger;
mod log_tail;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::dice::Dice;
use crate::line::Line;
use crate::product::Product;
use crate::{figures, process, repository};
use deeds::{Deed, Round, Writer};
use ledger::{Id, Session};

const KILLS: u32 = 1000;
/// A whole check between rounds: of everything, not only of what the last round did.
const CHECK_EVERY: u32 = 100;
const WRITERS: u32 = 2;
/// One round in so many is killed before the daemon is ready.
const EARLY_ONE_IN: u64 = 8;
/// One round in so many ends like a power cut.
const TEAR_ONE_IN: u64 = 4;
const EARLY_AFTER: Duration = Duration::from_millis(40);
const KILL_AFTER: Duration = Duration::from_millis(250);
const READY_DEADLINE: Duration = Duration::from_secs(60);
const DRAIN_DEADLINE: Duration = Duration::from_secs(120);
const COMMAND_DEADLINE: Duration = Duration::from_mins(10);
const POLL: Duration = Duration::from_millis(2);
/// How much is told of what went wrong.
const TOLD_MAX: usize = 20;

/// How often, and by which chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Crash {
    n_kills: u32,
    seed: u64,
}

impl Crash {
    /// The run that is part of every check.
    pub(crate) const SHORT: Self = Self { n_kills: 40, seed: 5 };

    pub(crate) fn parse(words: &[&str]) -> Option<Self> {
        let mut crash = Self { n_kills: KILLS, seed: 1 };
        for pair in words.chunks(2) {
            match pair {
                ["--kills", n] => crash.n_kills = n.parse().ok().filter(|n| *n > 0)?,
                ["--seed", n] => crash.seed = n.parse().ok()?,
                _ => return None,
            }
        }
        Some(crash)
    }
}

pub(crate) fn run(crash: Crash) -> Result<(), String> {
    run_program(crash, &repository::build_release()?)
}

/// Runs with a binary that is already built.
pub(crate) fn run_program(crash: Crash, program: &Path) -> Result<(), String> {
    let mut house = House::new(program, crash.seed)?;
    let begin = Instant::now();
    for number in 0..crash.n_kills {
        let failed = |why| format!("round {number}, --seed {}: {why}", crash.seed);
        house.round(number).map_err(failed)?;
        if (number + 1).is_multiple_of(CHECK_EVERY) || number + 1 == crash.n_kills {
            house.check_all().map_err(failed)?;
            println!("{:5} kills, nothing lost", number + 1);
        }
    }
    println!("\n{}", figures::table(&house.summary(crash, begin.elapsed())));
    Ok(())
}

/// One home that lives through all rounds.
struct House {
    product: Product,
    home: PathBuf,
    dice: Dice,
    sessions: BTreeMap<String, Mutex<Session>>,
    n_by_deed: BTreeMap<&'static str, u32>,
    n_torn: u32,
    n_checked: u32,
}

impl House {
    fn new(program: &Path, seed: u64) -> Result<Self, String> {
        let product = Product::in_throw_away_home(&[program.as_os_str().to_owned()])?;
        let home = product.folder().unwrap_or(Path::new("/")).to_owned();
        Ok(Self {
            product,
            home,
            dice: Dice::new(seed),
            sessions: BTreeMap::new(),
            n_by_deed: BTreeMap::new(),
            n_torn: 0,
            n_checked: 0,
        })
    }

    fn round(&mut self, number: u32) -> Result<(), String> {
        let mut daemon = self.product.run_daemon()?;
        let done = if self.dice.one_in(EARLY_ONE_IN) {
            process::pause(self.dice.time_below(EARLY_AFTER));
            *self.n_by_deed.entry("start").or_default() += 1;
            Ok(())
        } else {
            self.wait_ready(&mut daemon).and_then(|()| self.work(number, &mut daemon))
        };
        kill(&mut daemon)?;
        done?;
        if self.dice.one_in(TEAR_ONE_IN) {
            let log = self.home.join(".iai-mcp/memory.db-wal");
            self.n_torn += u32::from(log_tail::tear(&log, &mut self.dice)?);
        }
        Ok(())
    }

    /// Lets everybody work until the kill.
    fn work(&mut self, number: u32, daemon: &mut Child) -> Result<(), String> {
        let deed = *self.dice.pick(&Deed::ALL).unwrap_or(&Deed::Hook);
        *self.n_by_deed.entry(deed.name()).or_default() += 1;
        let after = self.dice.time_below(KILL_AFTER);
        let writers: Vec<Writer> = (0..WRITERS)
            .map(|n| Writer::new(format!("crash-{number}-{n}"), &mut self.dice))
            .collect();
        let mut own_dice = self.dice.split();
        let is_over = AtomicBool::new(false);
        let round = Round { product: &self.product, home: &self.home, number, is_over: &is_over };
        let ends: Vec<Result<(), String>> = std::thread::scope(|scope| {
            let round = &round;
            let begun = |writer| scope.spawn(move || round.capture(writer));
            let mut threads: Vec<_> = writers.iter().map(begun).collect();
            if let Some(first) = writers.first() {
                threads.push(scope.spawn(|| round.perform(deed, first, &mut own_dice)));
            }
            process::pause(after);
            is_over.store(true, Ordering::Relaxed);
            let killed = kill(daemon);
            threads.into_iter().map(joined).chain([killed]).collect()
        });
        self.sessions.extend(writers.into_iter().map(|writer| (writer.name, writer.session)));
        let what = |why| format!("during {}: {why}", deed.name());
        ends.into_iter().collect::<Result<(), String>>().map_err(what)
    }

    /// Starts the daemon once more and compares everything with what was promised.
    fn check_all(&mut self) -> Result<(), String> {
        let mut daemon = self.product.run_daemon()?;
        let checked = self.wait_ready(&mut daemon).and_then(|()| self.compare());
        kill(&mut daemon)?;
        self.n_checked += 1;
        checked
    }

    fn compare(&self) -> Result<(), String> {
        let is_over = AtomicBool::new(true);
        let round =
            Round { product: &self.product, home: &self.home, number: 1, is_over: &is_over };
        for (name, path) in deeds::transcripts(&self.home) {
            round.hook(&name, &path)?;
        }
        // An import that was killed is begun again by whoever asked for it.
        self.must_succeed(&["import"])?;
        self.wait_drained()?;
        let mut line = Line::open(&self.product.socket()).ok_or("the daemon does not listen")?;
        let mut wrong = Vec::new();
        for (name, session) in &self.sessions {
            let found = session_turns(&mut line, name)?;
            wrong.extend(deeds::lock(session).compare(name, &found));
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

    fn wait_ready(&self, daemon: &mut Child) -> Result<(), String> {
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

    fn status(&self) -> Option<Value> {
        Line::open(&self.product.socket())?.ask(&json!({"type": "status"}))
    }

    fn complaints(&self) -> String {
        std::fs::read_to_string(self.home.join("daemon.err")).unwrap_or_default()
    }

    fn summary(&self, crash: Crash, took: Duration) -> Vec<(String, String)> {
        let total = |count: fn(&Session) -> usize| -> usize {
            self.sessions.values().map(|session| count(&deeds::lock(session))).sum()
        };
        let mut rows = vec![
            ("kills".to_owned(), format!("{} (--seed {})", crash.n_kills, crash.seed)),
            ("logs torn".to_owned(), self.n_torn.to_string()),
            ("acknowledged".to_owned(), total(Session::n_acknowledged).to_string()),
            ("forgotten".to_owned(), total(Session::n_forgotten).to_string()),
            ("lost or twice".to_owned(), "0".to_owned()),
            ("whole checks".to_owned(), self.n_checked.to_string()),
            ("took".to_owned(), format!("{} s", took.as_secs())),
        ];
        let deeds = self.n_by_deed.iter();
        rows.extend(deeds.map(|(name, n)| (format!("during {name}"), n.to_string())));
        rows
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

fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, Result<T, String>>) -> Result<T, String> {
    thread.join().unwrap_or_else(|_| Err("a thread of the harness panicked".to_owned()))
}

/// SIGKILL; one that is dead already was killed before.
fn kill(daemon: &mut Child) -> Result<(), String> {
    let failed = |error| format!("cannot kill the daemon: {error}");
    daemon.kill().map_err(failed)?;
    daemon.wait().map(drop).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_how_often_and_by_which_chance() {
        assert_eq!(Crash::parse(&[]), Some(Crash { n_kills: KILLS, seed: 1 }));
        let both = Crash::parse(&["--seed", "9", "--kills", "30"]);
        assert_eq!(both, Some(Crash { n_kills: 30, seed: 9 }));
        for words in [&["--kills"][..], &["--kills", "0"], &["--kills", "x"], &["3"]] {
            assert_eq!(Crash::parse(words), None, "{words:?}");
        }
    }
}
