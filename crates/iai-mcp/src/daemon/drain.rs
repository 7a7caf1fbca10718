//! Moves turns from the spool into the store: each exactly once, a bad line without its neighbours.
//!
//! Commit first, delete the file after: a crash between the two delivers again, and a second
//! delivery is a no-op.

pub(super) mod files;
mod forgetting;
mod parts;
mod round;
pub(super) mod turns;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use iai_memory::{Ingested, MemoryEngine, NewMemory};
use iai_wire::{OpeningKey, SpoolItem, SpoolReader, count_events, opens_nothing};
use jiff::{SignedDuration, Timestamp};

use crate::clock;
use crate::settings::Settings;
use files::Waiting;
use parts::{Part, Parts};
use round::Round;
use turns::{Append, Gathered};

/// The first wait after a failure; it doubles up to the longest.
const RETRY_FIRST_SECS: i64 = 60;
const RETRY_LONGEST_SECS: i64 = 3600;

/// Drains one spool folder into one engine.
pub(super) struct Drainer {
    engine: Arc<MemoryEngine>,
    settings: Settings,
    folder: PathBuf,
    key: OpeningKey,
    /// One drain at a time, and what the store could not be told about put-off files.
    put_off: Mutex<BTreeMap<String, Timestamp>>,
    is_stopping: Arc<AtomicBool>,
}

/// What a pass did and what is left.
#[derive(Debug, Default)]
pub(super) struct Pass {
    pub(super) ingested: Ingested,
    /// Turns still waiting.
    pub(super) n_pending: u64,
    /// Turns in files this store must not touch.
    pub(super) n_foreign: u64,
    pub(super) oldest_pending_at: Option<Timestamp>,
    pub(super) look_again_in: Option<Duration>,
}

/// How a file came out.
enum Outcome {
    Drained(Ingested),
    /// By the other way in, a moment ago.
    DrainedBefore(Ingested),
    /// Written by a newer program or sealed to a key we do not have: left as it is.
    NotOurs,
    Stopped,
}

impl Drainer {
    pub(super) fn new(
        engine: Arc<MemoryEngine>,
        settings: Settings,
        key: OpeningKey,
        is_stopping: Arc<AtomicBool>,
    ) -> Self {
        let folder = settings.home.spool();
        let put_off = Mutex::new(BTreeMap::new());
        Self { engine, settings, folder, key, put_off, is_stopping }
    }

    /// Drains every file that is due. `show` is told what each gave and how many turns still wait.
    pub(super) fn pass(&self, show: &dyn Fn(Ingested, u64)) -> io::Result<Pass> {
        let mut put_off = self.put_off.lock().unwrap_or_else(PoisonError::into_inner);
        let now = clock::now();
        let files = files::waiting(&self.folder, now)?;
        let counts: Vec<u64> = files.iter().map(|file| n_turns(&file.path)).collect();
        let n_left = counts.iter().sum();
        let mut round = Round::new(self, &mut put_off, now, n_left, show);
        for (file, n_in_file) in files.into_iter().zip(counts) {
            if self.is_stopping.load(Ordering::Relaxed) {
                break;
            }
            round.take(file, n_in_file);
        }
        Ok(round.finish())
    }

    /// Drains one file by its name, for a caller that waits for the result.
    ///
    /// Returns what became of it, and what of that is news.
    pub(super) fn drain_named(&self, name: &str) -> anyhow::Result<(Ingested, Ingested)> {
        let _one_at_a_time = self.put_off.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.folder.join(name);
        match self.drain_file(&path, name)? {
            Outcome::Drained(ingested) => Ok((ingested, ingested)),
            Outcome::DrainedBefore(ingested) => Ok((ingested, Ingested::default())),
            Outcome::NotOurs => anyhow::bail!("{name} is sealed to another store or is newer"),
            Outcome::Stopped => anyhow::bail!("the daemon is stopping; {name} waits in the spool"),
        }
    }

    /// Reads one file without storing anything, for a person who wants to see what waits.
    pub(super) fn preview(&self, name: &str) -> anyhow::Result<Vec<NewMemory>> {
        self.read_turns(&self.folder, name)
    }

    /// Reads the turns of a spool file in any folder.
    pub(super) fn read_turns(&self, folder: &Path, name: &str) -> anyhow::Result<Vec<NewMemory>> {
        let file = File::open(folder.join(name)).with_context(|| format!("opening {name}"))?;
        let mut reader = SpoolReader::new(BufReader::new(file), Some(&self.key));
        let mut append = Append::default();
        let mut gathered = Gathered::new(name);
        while let Some(item) = reader.next_item()? {
            match item {
                SpoolItem::Header(header) => append = Append::begin(header),
                SpoolItem::Event(event) => append.take(*event, &mut gathered, clock::now()),
                SpoolItem::Bad { .. } => {}
                SpoolItem::Newer { .. } | SpoolItem::ForeignSeal => {
                    anyhow::bail!("{name} is sealed to another store or is newer")
                }
            }
        }
        Ok(gathered.recognised(&self.engine)?.turns)
    }

    fn drain_file(&self, path: &Path, name: &str) -> anyhow::Result<Outcome> {
        let Some(mut parts) = self.open(path, name)? else {
            return Ok(Outcome::DrainedBefore(self.drained_before(name)?));
        };
        let mut total = Ingested::default();
        loop {
            let batch = match parts.next_part()? {
                Part::Batch(gathered) => gathered.recognised(&self.engine)?,
                Part::NotOurs => return Ok(Outcome::NotOurs),
            };
            // Set aside, its lines would be gone with the share that could open them one day.
            if batch.turns.is_empty() && !batch.bad_lines.is_empty() && self.is_sealed_away(path)? {
                tracing::error!(file = name, "not a line of it can be opened; it stays");
                return Ok(Outcome::NotOurs);
            }
            sum(&mut total, self.engine.store_batch(&batch, clock::now())?);
            if batch.is_last {
                break;
            }
            if self.is_stopping.load(Ordering::Relaxed) {
                return Ok(Outcome::Stopped);
            }
        }
        parts.leave(path)?;
        Ok(Outcome::Drained(total))
    }

    fn is_sealed_away(&self, path: &Path) -> io::Result<bool> {
        opens_nothing(BufReader::new(File::open(path)?), &self.key)
    }

    /// Opens a file; `None` when it is gone.
    fn open<'a>(&'a self, path: &Path, name: &'a str) -> anyhow::Result<Option<Parts<'a>>> {
        match File::open(path) {
            Ok(file) => Ok(Some(Parts::new(file, name, &self.key, self.settings.secrets_now()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// A file that is gone was drained by the other way in, a moment ago; its receipt says what
    /// became of it.
    fn drained_before(&self, name: &str) -> anyhow::Result<Ingested> {
        let receipt = self.engine.receipt(name)?;
        Ok(receipt.map_or(Ingested::default(), |receipt| Ingested {
            stored: receipt.n_stored,
            known: receipt.n_known,
            set_aside: receipt.n_set_aside,
            forgotten: 0,
        }))
    }

    fn put_off_until(&self, known: &BTreeMap<String, Timestamp>, name: &str) -> Option<Timestamp> {
        let stored = self.engine.receipt(name).ok().flatten();
        stored.and_then(|receipt| receipt.next_attempt_at).max(known.get(name).copied())
    }

    /// Writes the next attempt into the file's receipt; a store that cannot take even that still
    /// gets its pause.
    fn put_off_file(&self, name: &str, error: &anyhow::Error, now: Timestamp) -> Timestamp {
        tracing::warn!(file = name, "putting off a spool file: {error:#}");
        let receipt = self.engine.receipt(name).ok().flatten();
        let attempts = receipt.map_or(0, |receipt| receipt.attempts.min(10));
        let wait = (RETRY_FIRST_SECS << attempts).min(RETRY_LONGEST_SECS);
        let until = now + SignedDuration::from_secs(wait);
        if let Err(error) = self.engine.put_off(name, &error.to_string(), until, now) {
            tracing::warn!(file = name, "the store cannot note that either: {error}");
        }
        until
    }
}

impl Pass {
    fn add(&mut self, ingested: Ingested) {
        sum(&mut self.ingested, ingested);
    }

    fn count_waiting(&mut self, file: &Waiting) {
        self.n_pending += n_turns(&file.path);
        let oldest = self.oldest_pending_at.unwrap_or(file.written_at);
        self.oldest_pending_at = Some(oldest.min(file.written_at));
    }
}

fn sum(total: &mut Ingested, part: Ingested) {
    total.stored += part.stored;
    total.known += part.known;
    total.set_aside += part.set_aside;
    total.forgotten += part.forgotten;
}

fn n_turns(path: &Path) -> u64 {
    File::open(path).and_then(|file| count_events(BufReader::new(file))).unwrap_or(0)
}
