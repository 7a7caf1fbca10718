//! Takes in what hosts wrote before we were there, and proves that what they wrote is here.
//!
//! A client of the daemon: reads transcripts, sends turns in batches. Killed half-way, it is run
//! again: what is there already is known by its id.

mod exports;
mod files;
mod sources;

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use iai_wire::{SpoolEvent, SpoolHeader};
use jiff::Timestamp;
use serde_json::{Value, json};

pub(crate) use sources::{Selection, Source, find_sources};

use crate::capture::{Flow, Placed, SpoolBatch, Told, each_turn, fit_to_keep, mark_read};
use crate::client::Client;
use crate::clock;
use crate::fields::Fields as _;
use crate::settings::Settings;

/// Turns and bytes of one message to the daemon: one transaction, so the more the cheaper. It is
/// under a frame unless most of it has to be escaped, and then it goes in halves.
pub(crate) const BATCH_TURNS_MAX: usize = 2000;
pub(crate) const BATCH_BYTES_MAX: usize = 1024 * 1024;
/// Problems told one by one; the rest is a number.
const PROBLEMS_MAX: usize = 200;

/// What became of everything.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) n_files: u64,
    pub(crate) n_found: u64,
    pub(crate) n_stored: u64,
    pub(crate) n_known: u64,
    /// Set aside or missing, each with its reason.
    pub(crate) n_problems: u64,
    pub(crate) problems: Vec<String>,
}

/// The tally of everybody who takes in at once.
pub(crate) struct SharedTally(Mutex<Tally>);

impl SharedTally {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Tally::default()))
    }

    /// Looks at the tally, or adds to it.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Tally) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add_problem(&self, problem: String) {
        self.with(|tally| tally.add_problem(problem));
    }
}

impl Tally {
    fn add_problem(&mut self, problem: String) {
        self.n_problems += 1;
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(problem);
        }
    }
}

/// What to do with the turns of a source.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Store,
    /// Only look whether they are there, byte for byte.
    Verify,
}

/// Sends the turns of one source. `watch` is told the tally after each batch.
pub(crate) fn take_source(
    work: &Work<'_>,
    source: &Source,
    tally: &SharedTally,
) -> anyhow::Result<()> {
    tally.with(|tally| tally.n_files += 1);
    let mut sender = Sender { work, source, tally, turns: Vec::new(), n_bytes: 0, failed: None };
    let read = match source {
        Source::Transcript { path, .. } => each_turn(path, |placed| sender.take(placed)),
        Source::Export { path } => exports::each_turn(path, |placed| sender.take(placed)),
        Source::Spool { path } => return take_spool(work, path, tally),
    };
    if let Some(error) = sender.failed.take() {
        return Err(error);
    }
    sender.send()?;
    match read {
        Ok(0) => {}
        Ok(n) => {
            tally.add_problem(format!("{}: {n} lines cannot be read", source.path().display()));
        }
        Err(error) => tally.add_problem(format!("{}: {error}", source.path().display())),
    }
    if let (Purpose::Store, Source::Transcript { path, is_growing: true }) = (work.purpose, source)
    {
        mark_read(&work.settings.home, path).context("remembering how far it was read")?;
    }
    Ok(())
}

/// What every source needs.
pub(crate) struct Work<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) client: &'a Client,
    pub(crate) purpose: Purpose,
    /// Turns said before this are left out.
    pub(crate) since: Option<Timestamp>,
    /// Told the tally after each batch.
    pub(crate) watch: &'a (dyn Fn(&Tally) + Sync),
}

/// Gathers turns into batches.
struct Sender<'a> {
    work: &'a Work<'a>,
    source: &'a Source,
    tally: &'a SharedTally,
    turns: Vec<Placed>,
    n_bytes: usize,
    failed: Option<anyhow::Error>,
}

impl Sender<'_> {
    fn take(&mut self, placed: Placed) -> Flow {
        let is_old = self.work.since.is_some_and(|since| placed.1.at.is_some_and(|at| at < since));
        if is_old {
            return Flow::On;
        }
        // A batch belongs to one session.
        let is_other = self.turns.last().is_some_and(|(_, last)| last.session != placed.1.session);
        let n_bytes = placed.1.text.len();
        let is_full =
            BATCH_TURNS_MAX <= self.turns.len() || BATCH_BYTES_MAX <= self.n_bytes + n_bytes;
        if (is_other || is_full)
            && let Err(error) = self.send()
        {
            self.failed = Some(error);
            return Flow::Stop;
        }
        self.n_bytes += n_bytes;
        self.turns.push(placed);
        Flow::On
    }

    fn send(&mut self) -> anyhow::Result<()> {
        let turns = std::mem::take(&mut self.turns);
        self.n_bytes = 0;
        if turns.is_empty() {
            return Ok(());
        }
        let session = self.source.session();
        let told = Told { session: session.as_deref(), cwd: None };
        let said = turns.iter().find_map(|(_, turn)| turn.session.as_deref());
        let told = Told { session: said.or(told.session), ..told };
        let batch = SpoolBatch::new(self.work.settings, &told, &turns, clock::now());
        send_batch(self.work, &batch, self.source.path(), self.tally)
    }
}

fn send_batch(
    work: &Work<'_>,
    batch: &SpoolBatch,
    path: &Path,
    tally: &SharedTally,
) -> anyhow::Result<()> {
    tally.with(|tally| tally.n_found += batch.events.len() as u64);
    send_part(work, batch, &batch.events, path, tally)
}

/// Sends turns in one message. Nobody knows how large a message gets before it is written, so that
/// one that is too large is sent in halves, and a single turn that is too large goes by a file.
fn send_part(
    work: &Work<'_>,
    batch: &SpoolBatch,
    part: &[SpoolEvent],
    path: &Path,
    tally: &SharedTally,
) -> anyhow::Result<()> {
    if part.is_empty() {
        return Ok(());
    }
    let header = SpoolHeader::new(&batch.session, &batch.cwd, &clock::now().to_string());
    let method = match work.purpose {
        Purpose::Store => "turns_store",
        Purpose::Verify => "turns_check",
    };
    let params = json!({"header": header, "events": part});
    let done = match work.client.call_daemon(method, &params) {
        Err(error) if error.is_too_large() => {
            let (left, right) = part.split_at(part.len() / 2);
            if left.is_empty() {
                files::send(work, batch, right)?
            } else {
                send_part(work, batch, left, path, tally)?;
                return send_part(work, batch, right, path, tally);
            }
        }
        other => other?,
    };
    tally.with(|tally| {
        count(work, &done, part, path, tally);
        (work.watch)(tally);
    });
    Ok(())
}

fn count(work: &Work<'_>, done: &Value, part: &[SpoolEvent], path: &Path, tally: &mut Tally) {
    match work.purpose {
        Purpose::Store => {
            tally.n_stored += done.at("stored").as_u64().unwrap_or(0);
            tally.n_known += done.at("known").as_u64().unwrap_or(0);
            for reason in done.at("set_aside").as_array().into_iter().flatten() {
                let reason = reason.as_str().unwrap_or_default();
                tally.add_problem(format!("{}: {reason}", path.display()));
            }
        }
        Purpose::Verify => {
            let missing = done.at("missing").as_array().map_or(&[][..], Vec::as_slice);
            tally.n_known += (part.len() - missing.len().min(part.len())) as u64;
            for place in missing.iter().filter_map(Value::as_u64) {
                let event = usize::try_from(place).ok().and_then(|place| part.get(place));
                tally.add_problem(format!("{}: {}", path.display(), describe(event)));
            }
        }
    }
}

fn describe(event: Option<&SpoolEvent>) -> String {
    let Some(event) = event else { return "a turn is missing".to_owned() };
    let when = event.turn_ts.as_deref().unwrap_or("no time");
    let place = event.index.unwrap_or_default();
    format!("turn {place} of {} ({when}, {} bytes) is not stored", event.role, event.text.len())
}

/// Hands the spool files of another folder, such as the Python program's, to our own spool.
fn take_spool(work: &Work<'_>, path: &Path, tally: &SharedTally) -> anyhow::Result<()> {
    use iai_wire::{SpoolItem, SpoolReader};
    let file = std::fs::File::open(path).with_context(|| format!("opening {}", path.display()))?;
    let mut reader = SpoolReader::new(std::io::BufReader::new(file), None);
    let mut batch = SpoolBatch { session: "-".to_owned(), cwd: String::new(), events: Vec::new() };
    while let Some(item) = reader.next_item()? {
        match item {
            SpoolItem::Header(header) => {
                send_batch(work, &batch, path, tally)?;
                let SpoolHeader { session_id, cwd, .. } = header;
                batch = SpoolBatch { session: session_id, cwd, events: Vec::new() };
            }
            SpoolItem::Event(mut event) => {
                event.text = fit_to_keep(&event.text, &work.settings.secrets).into_owned();
                batch.events.push(*event);
            }
            SpoolItem::Bad { line, reason, .. } => {
                tally.add_problem(format!("{}:{line}: {reason}", path.display()));
            }
            SpoolItem::Newer { .. } | SpoolItem::ForeignSeal => {
                tally.add_problem(format!("{}: newer, or sealed to another store", path.display()));
                return Ok(());
            }
        }
        if BATCH_TURNS_MAX <= batch.events.len() {
            send_batch(work, &batch, path, tally)?;
            batch.events.clear();
        }
    }
    send_batch(work, &batch, path, tally)
}
