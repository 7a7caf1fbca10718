//! Many clients at once for a long time: people who capture and ask, and people who behave badly.
//!
//! Prints what the daemon took of the machine meanwhile. Fails when it ended, when somebody well
//! behaved was refused for another reason than "busy" or "too late", when more than a few were too
//! late, when something acknowledged is missing, or when descriptors or threads stay behind after
//! everybody has left.

mod crowd;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::dice::Dice;
use crate::line::Line;
use crate::trial::{Trial, kill};
use crate::{figures, process, procfs};
use crowd::{Client, Seen};

const MINUTES: u64 = 60;
const CLIENTS: u64 = 200;
const SAMPLE_EVERY: Duration = Duration::from_secs(1);
const CONSOLIDATE_EVERY: Duration = Duration::from_secs(20);
/// Connections of those who left are closed by then.
const LEAVE_DEADLINE: Duration = Duration::from_secs(30);
/// What may still be open: the sampler's own connection and files of a step under way.
const SPARE_DESCRIPTORS: u64 = 8;
/// Of so many requests one may come too late.
const LATE_ONE_IN_MIN: u64 = 100;

/// How long, and with how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Soak {
    minutes: u64,
    n_clients: u64,
}

impl Soak {
    pub(crate) fn parse(words: &[&str]) -> Option<Self> {
        let mut soak = Self { minutes: MINUTES, n_clients: CLIENTS };
        for pair in words.chunks(2) {
            match pair {
                ["--minutes", n] => soak.minutes = n.parse().ok().filter(|n| *n > 0)?,
                ["--clients", n] => soak.n_clients = n.parse().ok().filter(|n| *n > 0)?,
                _ => return None,
            }
        }
        Some(soak)
    }
}

/// What the daemon takes of the machine at one moment.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    resident_kib: u64,
    n_descriptors: u64,
    n_threads: u64,
}

impl Sample {
    fn of(pid: u64) -> Option<Self> {
        Some(Self {
            resident_kib: procfs::resident_kib(pid)?,
            n_descriptors: procfs::n_descriptors(pid)?,
            n_threads: procfs::n_threads(pid)?,
        })
    }
}

pub(crate) fn run(soak: Soak, program: &Path) -> Result<(), String> {
    let mut trial = Trial::new(program)?;
    let mut daemon = trial.product.run_daemon()?;
    let pid = u64::from(daemon.id());
    let soaked = trial.wait_ready(&mut daemon).and_then(|()| {
        let before = Sample::of(pid).ok_or("the kernel tells nothing about the daemon")?;
        let (samples, seen) = crowd_for(soak, &mut trial, pid)?;
        println!("{}", figures::table(&rows(soak, before, &samples, &seen)));
        check_late(&seen)?;
        settle(pid, before)
    });
    kill(&mut daemon)?;
    soaked?;
    trial.check_all()
}

/// Lets everybody in for so many minutes and returns what was seen.
fn crowd_for(soak: Soak, trial: &mut Trial, pid: u64) -> Result<(Vec<Sample>, Seen), String> {
    let is_over = AtomicBool::new(false);
    let socket = trial.product.socket();
    let mut dice = Dice::new(soak.n_clients);
    let mut clients: Vec<Client> = (0..soak.n_clients).map(|n| Client::new(n, &mut dice)).collect();
    let samples = std::thread::scope(|scope| {
        for client in &mut clients {
            let (socket, is_over) = (&socket, &is_over);
            scope.spawn(move || client.stay(socket, is_over));
        }
        let samples = watch(soak, pid, &socket, &is_over);
        is_over.store(true, Ordering::Relaxed);
        samples
    });
    let mut seen = Seen::default();
    for client in clients {
        let (name, session, own) = client.leave();
        trial.keep(name, session);
        seen.add(own);
    }
    match seen.complaint.take() {
        Some(complaint) => Err(complaint),
        None => Ok((samples?, seen)),
    }
}

/// Looks at the daemon every second, and has it consolidate now and then.
fn watch(
    soak: Soak,
    pid: u64,
    socket: &std::path::Path,
    is_over: &AtomicBool,
) -> Result<Vec<Sample>, String> {
    let begin = Instant::now();
    let length = Duration::from_secs(soak.minutes * 60);
    let mut consolidated = Instant::now();
    let mut samples = Vec::new();
    while begin.elapsed() < length && !is_over.load(Ordering::Relaxed) {
        process::pause(SAMPLE_EVERY);
        samples.push(Sample::of(pid).ok_or("the daemon ended")?);
        if CONSOLIDATE_EVERY < consolidated.elapsed() {
            consolidated = Instant::now();
            let ask = json!({"wait_ms": 0});
            if let Some(mut line) = Line::open(socket) {
                // Busy is an answer, too.
                drop(line.call("memory_consolidate", &ask));
            }
        }
    }
    Ok(samples)
}

/// A daemon that seldom answers in time does not answer.
fn check_late(seen: &Seen) -> Result<(), String> {
    let n_answered = seen.captures.n() + seen.recalls.n();
    match seen.n_late * LATE_ONE_IN_MIN <= n_answered {
        true => Ok(()),
        false => Err(format!("{} requests came too late, {n_answered} in time", seen.n_late)),
    }
}

/// Everybody has left: what they held must be free again.
fn settle(pid: u64, before: Sample) -> Result<(), String> {
    let begin = Instant::now();
    loop {
        let now = Sample::of(pid).ok_or("the daemon ended")?;
        let is_free = now.n_descriptors <= before.n_descriptors + SPARE_DESCRIPTORS
            && now.n_threads <= before.n_threads + SPARE_DESCRIPTORS;
        if is_free {
            return Ok(());
        }
        if LEAVE_DEADLINE < begin.elapsed() {
            return Err(format!("left behind: {now:?}; before anybody came: {before:?}"));
        }
        process::pause(SAMPLE_EVERY);
    }
}

fn rows(soak: Soak, before: Sample, samples: &[Sample], seen: &Seen) -> Vec<(String, String)> {
    let most = |of: fn(&Sample) -> u64| samples.iter().map(of).max().unwrap_or(0);
    let at = |place: usize| samples.get(place).map_or(0, |sample| sample.resident_kib / 1024);
    let last = samples.len().saturating_sub(1);
    let row = |name: &str, value: String| (name.to_owned(), value);
    let resident = format!(
        "{} MB before, {} / {} / {} MB after a third, two thirds and all, {} at most",
        before.resident_kib / 1024,
        at(last / 3),
        at(2 * last / 3),
        at(last),
        most(|sample| sample.resident_kib) / 1024
    );
    vec![
        row("clients", format!("{} for {} min", soak.n_clients, soak.minutes)),
        row("captures", seen.captures.told()),
        row("recalls", seen.recalls.told()),
        row("told to come again", seen.n_busy.to_string()),
        row("answered too late", seen.n_late.to_string()),
        row("misbehaviour", seen.n_misbehaved.to_string()),
        row("resident", resident),
        row("descriptors at most", most(|sample| sample.n_descriptors).to_string()),
        row("threads at most", most(|sample| sample.n_threads).to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_may_be_late() {
        let seen = |n_late| Seen { n_late, ..Seen::default() };
        assert!(check_late(&seen(0)).is_ok());
        assert!(check_late(&seen(1)).is_err());
    }

    #[test]
    fn words_say_how_long_and_with_how_many() {
        assert_eq!(Soak::parse(&[]), Some(Soak { minutes: MINUTES, n_clients: CLIENTS }));
        let some = Soak::parse(&["--minutes", "2", "--clients", "9"]);
        assert_eq!(some, Some(Soak { minutes: 2, n_clients: 9 }));
        for words in [&["--minutes"][..], &["--minutes", "0"], &["2"]] {
            assert_eq!(Soak::parse(words), None, "{words:?}");
        }
    }
}
