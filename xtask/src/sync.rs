//! Several homes that share one memory, under everything that goes wrong: daemons killed, the
//! server stopped, connections cut, homes cut off, a store put back to a copy of itself.
//!
//! At the end everything is put right and every home exchanges until nothing moves. Then all hold
//! the same, byte for byte; what was acknowledged is there once; what was forgotten is nowhere; and
//! in the place between them there is not one word.

mod check;
mod deeds;
mod home;
mod ledger;
mod place;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::dice::Dice;
use crate::{cluster, figures, process, repository};
use deeds::Worker;
use home::Home;
use ledger::Ledger;
use place::Place;

const MINUTES: u64 = 60;
const HOMES: usize = 3;
/// Kills a minute, of all daemons together.
const KILLS: u64 = 30;
/// Something happens to the place between the homes after at most so long.
const CALM_MAX: Duration = Duration::from_secs(8);
/// Waits are cut into pieces, so that the end is not slept through.
const NAP: Duration = Duration::from_millis(20);

/// How long, with how many, through what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ask {
    length: Duration,
    seed: u64,
    n_homes: usize,
    n_kills: u64,
    is_folder: bool,
    binary: Option<PathBuf>,
}

impl Ask {
    /// The run that is part of every check.
    pub(crate) fn short() -> Self {
        Self { length: Duration::from_secs(6), seed: 8, n_kills: 120, ..Self::plain() }
    }

    fn plain() -> Self {
        Self {
            length: Duration::from_mins(MINUTES),
            seed: 1,
            n_homes: HOMES,
            n_kills: KILLS,
            is_folder: false,
            binary: None,
        }
    }

    pub(crate) fn parse(words: &[&str]) -> Option<Self> {
        let mut ask = Self::plain();
        let mut rest = words;
        while !rest.is_empty() {
            rest = match rest {
                ["--folder", rest @ ..] => {
                    ask.is_folder = true;
                    rest
                }
                ["--minutes", n, rest @ ..] => {
                    ask.length = Duration::from_mins(n.parse().ok().filter(|n| 0 < *n)?);
                    rest
                }
                ["--seconds", n, rest @ ..] => {
                    ask.length = Duration::from_secs(n.parse().ok().filter(|n| 0 < *n)?);
                    rest
                }
                ["--seed", n, rest @ ..] => {
                    ask.seed = n.parse().ok()?;
                    rest
                }
                ["--homes", n, rest @ ..] => {
                    ask.n_homes = n.parse().ok().filter(|n| 2 <= *n)?;
                    rest
                }
                ["--kills", n, rest @ ..] => {
                    ask.n_kills = n.parse().ok().filter(|n| 0 < *n)?;
                    rest
                }
                ["--binary", path, rest @ ..] => {
                    ask.binary = Some(PathBuf::from(path));
                    rest
                }
                _ => return None,
            };
        }
        Some(ask)
    }
}

/// Says why the run of every check is left out, if it is on purpose.
pub(crate) fn left_out() -> Option<String> {
    cluster::left_out()
}

pub(crate) fn run(ask: &Ask) -> Result<(), String> {
    run_program(ask, &repository::program(ask.binary.as_deref())?)
}

/// Runs with a binary that is already built.
pub(crate) fn run_program(ask: &Ask, program: &Path) -> Result<(), String> {
    let begin = Instant::now();
    let mut dice = Dice::new(ask.seed);
    let place = Place::start(ask.is_folder)?;
    let homes: Vec<Home> =
        (0..ask.n_homes).map(|number| Home::new(program, number)).collect::<Result<_, _>>()?;
    let ledger = Ledger::default();
    let ended = pair(&homes, &place)
        .and_then(|()| storm(ask, (&homes, &place), &ledger, &mut dice))
        .and_then(|()| check::all(&homes, &place, &ledger));
    let mut rows = vec![(
        "homes".to_owned(),
        format!("{} for {} s (--seed {})", ask.n_homes, ask.length.as_secs(), ask.seed),
    )];
    rows.extend(ledger.summary());
    rows.push(("took".to_owned(), format!("{} s", begin.elapsed().as_secs())));
    println!("\n{}", figures::table(&rows));
    if let Some(costs) = place.costs() {
        println!("{costs}");
    }
    for home in &homes {
        home.kill()?;
    }
    ended.map_err(|why| format!("--seed {}: {why}", ask.seed))
}

/// The first home begins the vault, the others join it.
fn pair(homes: &[Home], place: &Place) -> Result<(), String> {
    let Some((first, others)) = homes.split_first() else { return Ok(()) };
    first.rise()?;
    first.succeed(&["sync", "setup", "--json", "--machine", "home-0", &place.address()])?;
    first.succeed(&["sync", "now", "--json"])?;
    for home in others {
        home.rise()?;
        let invited = first.succeed(&["sync", "invite", "--json"])?;
        let code = home::text(&invited, "code");
        let name = format!("home-{}", home.number);
        let address = place.address_of(home.number)?;
        let mut words = vec!["sync", "join", "--json", "--machine", &name, &code];
        if let Some(address) = &address {
            words.extend(["--address", address]);
        }
        home.succeed(&words)?;
    }
    Ok(())
}

/// Everybody works, and everything goes wrong, until the time is over.
fn storm(
    ask: &Ask,
    (homes, place): (&[Home], &Place),
    ledger: &Ledger,
    dice: &mut Dice,
) -> Result<(), String> {
    let is_over = AtomicBool::new(false);
    let ends: Vec<Result<(), String>> = std::thread::scope(|scope| {
        let is_over = &is_over;
        let mut threads = Vec::new();
        for home in homes {
            let mut worker = Worker { home, homes, place, ledger, is_over, dice: dice.split() };
            threads.push(scope.spawn(move || worker.work()));
        }
        let mut own = dice.split();
        threads.push(scope.spawn(move || kill_some(ask, homes, ledger, is_over, &mut own)));
        let mut own = dice.split();
        threads.push(scope.spawn(move || weather(place, ledger, is_over, &mut own)));
        nap(ask.length / 2, is_over);
        let counted = place.count_anew();
        nap(ask.length / 2, is_over);
        println!("the time is over; everything is put right");
        is_over.store(true, Ordering::Relaxed);
        threads.into_iter().map(joined).chain([counted]).collect()
    });
    ends.into_iter().collect()
}

fn joined(thread: std::thread::ScopedJoinHandle<'_, Result<(), String>>) -> Result<(), String> {
    thread.join().unwrap_or_else(|_| Err("a thread of the harness panicked".to_owned()))
}

/// SIGKILL for one daemon after the other, at moments that nobody chose.
fn kill_some(
    ask: &Ask,
    homes: &[Home],
    ledger: &Ledger,
    is_over: &AtomicBool,
    dice: &mut Dice,
) -> Result<(), String> {
    let every = Duration::from_mins(1)
        .checked_div(u32::try_from(ask.n_kills).unwrap_or(u32::MAX))
        .unwrap_or(NAP);
    let mut due = Instant::now();
    while !is_over.load(Ordering::Relaxed) {
        // As often as was asked for, however long one takes.
        due += every;
        let moment = dice.time_below(every);
        nap(due.saturating_duration_since(Instant::now()).saturating_sub(moment), is_over);
        if let Some(home) = dice.pick(homes)
            && home.kill()?
        {
            ledger.count("kills", true);
        }
        nap(due.saturating_duration_since(Instant::now()), is_over);
    }
    Ok(())
}

/// What happens to the place between the homes.
fn weather(
    place: &Place,
    ledger: &Ledger,
    is_over: &AtomicBool,
    dice: &mut Dice,
) -> Result<(), String> {
    while !is_over.load(Ordering::Relaxed) {
        nap(dice.time_below(CALM_MAX), is_over);
        let what = place.disturb(dice)?;
        ledger.count(what, true);
    }
    Ok(())
}

/// Waits, unless the time is over.
fn nap(length: Duration, is_over: &AtomicBool) {
    let begin = Instant::now();
    while begin.elapsed() < length && !is_over.load(Ordering::Relaxed) {
        process::pause(NAP.min(length.saturating_sub(begin.elapsed())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_how_long_with_how_many_and_through_what() {
        assert_eq!(Ask::parse(&[]), Some(Ask::plain()));
        let words = ["--folder", "--minutes", "2", "--seed", "7", "--homes", "4", "--kills", "9"];
        let asked = Ask {
            length: Duration::from_mins(2),
            seed: 7,
            n_homes: 4,
            n_kills: 9,
            is_folder: true,
            binary: None,
        };
        assert_eq!(Ask::parse(&words), Some(asked));
        for odd in [&["--minutes", "0"][..], &["--homes", "1"], &["--kills"], &["3"]] {
            assert_eq!(Ask::parse(odd), None, "{odd:?}");
        }
    }
}
