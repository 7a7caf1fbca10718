//! Kills the daemon in the middle of everything, and counts what was lost.
//!
//! A round: the daemon starts, two writers capture over the socket and write down every id they get
//! back, a third deed goes on beside them, and after a random time the daemon gets SIGKILL; in some
//! rounds before it is ready, in some with the unsynced end of its log torn as by a power cut. Then
//! everything that was acknowledged has to be there: once, byte for byte.

mod deeds;
mod log_tail;
mod migration;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::dice::Dice;
use crate::trial::{Trial, kill};
use crate::{figures, process};
use deeds::{Deed, Round, Writer};
use migration::Migration;

const KILLS: u32 = 1000;
/// A whole check between rounds: of everything, not only of what the last round did.
const CHECK_EVERY: u32 = 100;
const WRITERS: u32 = 2;
/// One round in so many is killed before the daemon is ready.
const EARLY_ONE_IN: u64 = 8;
/// One round in so many is a start over older tables, in a home of its own.
const MIGRATION_ONE_IN: u64 = 8;
/// One round in so many ends like a power cut.
const TEAR_ONE_IN: u64 = 4;
const EARLY_AFTER: Duration = Duration::from_millis(40);
const KILL_AFTER: Duration = Duration::from_millis(250);

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

pub(crate) fn run(crash: Crash, program: &Path) -> Result<(), String> {
    let mut dice = Dice::new(crash.seed);
    let mut killing = Killing {
        trial: Trial::new(program)?,
        migration: Migration::prepare(program, &mut dice)?,
        dice,
        n_by_deed: BTreeMap::new(),
        n_torn: 0,
    };
    let begin = Instant::now();
    for number in 0..crash.n_kills {
        let failed = |why| format!("round {number}, --seed {}: {why}", crash.seed);
        killing.round(number).map_err(failed)?;
        if (number + 1).is_multiple_of(CHECK_EVERY) || number + 1 == crash.n_kills {
            killing.trial.check_all().map_err(failed)?;
            killing.migration.check().map_err(failed)?;
            println!("{:5} kills, nothing lost", number + 1);
        }
    }
    println!("\n{}", figures::table(&killing.summary(crash, begin.elapsed())));
    Ok(())
}

/// A trial whose daemon never ends well.
struct Killing {
    trial: Trial,
    migration: Migration,
    dice: Dice,
    n_by_deed: BTreeMap<&'static str, u32>,
    n_torn: u32,
}

impl Killing {
    fn round(&mut self, number: u32) -> Result<(), String> {
        if self.dice.one_in(MIGRATION_ONE_IN) {
            let is_torn = self.dice.one_in(TEAR_ONE_IN);
            return self.migration.round(is_torn, &mut self.dice);
        }
        let mut daemon = self.trial.product.run_daemon()?;
        let done = if self.dice.one_in(EARLY_ONE_IN) {
            process::pause(self.dice.time_below(EARLY_AFTER));
            *self.n_by_deed.entry("start").or_default() += 1;
            Ok(())
        } else {
            self.trial.wait_ready(&mut daemon).and_then(|()| self.work(number, &mut daemon))
        };
        kill(&mut daemon)?;
        done?;
        if self.dice.one_in(TEAR_ONE_IN) {
            let log = self.trial.home.join(".iai-mcp/memory.db-wal");
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
        let round = Round {
            product: &self.trial.product,
            home: &self.trial.home,
            number,
            is_over: &is_over,
        };
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
        for writer in writers {
            self.trial.keep(writer.name, writer.session);
        }
        let what = |why| format!("during {}: {why}", deed.name());
        ends.into_iter().collect::<Result<(), String>>().map_err(what)
    }

    fn summary(&self, crash: Crash, took: Duration) -> Vec<(String, String)> {
        let mut rows = vec![
            ("kills".to_owned(), format!("{} (--seed {})", crash.n_kills, crash.seed)),
            ("logs torn".to_owned(), self.n_torn.to_string()),
        ];
        rows.extend(self.trial.summary());
        rows.push(("took".to_owned(), format!("{} s", took.as_secs())));
        let deeds = self.n_by_deed.iter();
        rows.extend(deeds.map(|(name, n)| (format!("during {name}"), n.to_string())));
        rows.extend(self.migration.summary());
        rows
    }
}

fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, Result<T, String>>) -> Result<T, String> {
    thread.join().unwrap_or_else(|_| Err("a thread of the harness panicked".to_owned()))
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
