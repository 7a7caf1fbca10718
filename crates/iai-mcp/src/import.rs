//! Takes in what hosts wrote before we were there, and proves that what they wrote is here.
//!
//! A client of the daemon: reads transcripts, sends turns in batches. Killed half-way, it is run
//! again: what is there already is known by its id.

mod exports;
mod files;
mod message;
mod notes;
mod own;
mod sources;

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use iai_wire::{SpoolHeader, SpoolItem, SpoolReader};
use jiff::Timestamp;

use message::Piece;
pub(crate) use sources::{Selection, Source, Sources, find_sources};

use crate::capture::{
    Flow, Pass, Placed, Settled, SpoolBatch, Told, each_turn, fit_to_keep, mark_read,
};
use crate::client::Client;
use crate::clock;
use crate::settings::Settings;

/// Turns and bytes of text of one message to the daemon: one transaction, so the more the cheaper.
/// It is under a frame unless most of it has to be escaped, and then it goes in halves.
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
    /// Forgotten on purpose; neither stored nor missing.
    pub(crate) n_forgotten: u64,
    /// Turns with private or secret parts, which are not kept as they were said.
    pub(crate) n_cut: u64,
    /// How many of those found are notes of another program.
    pub(crate) n_notes: u64,
    /// Exports of ours that were cut off or changed, or that only a newer program can read.
    pub(crate) n_exports_broken: u64,
    /// What gives orders to the assistant and was to be told to every session, and is not.
    pub(crate) untold: Vec<String>,
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
    /// And pin what an export pins, though it gives orders to the assistant: the user said yes.
    StoreUntrusted,
    /// Only look whether they are there, byte for byte.
    Verify,
}

impl Purpose {
    fn is_storing(self) -> bool {
        self != Self::Verify
    }
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

/// Reads sources and sends their turns, many in a message: each message is one transaction and one
/// wait for the disk, however short the sessions are.
pub(crate) struct Sender<'a> {
    work: &'a Work<'a>,
    tally: &'a SharedTally,
    /// Turns of the session that is being read.
    turns: Vec<Placed>,
    /// Sessions, or parts of them, that wait to be sent.
    appends: Vec<Append<'a>>,
    /// Turns and bytes of text in all of these.
    n_turns: usize,
    n_bytes: usize,
    /// Files to mark as read once everything that waits is stored.
    read: Vec<(&'a Path, Option<Settled>)>,
}

/// Turns of one session out of one source.
struct Append<'a> {
    source: &'a Source,
    batch: SpoolBatch,
}

impl<'a> Sender<'a> {
    pub(crate) fn new(work: &'a Work<'a>, tally: &'a SharedTally) -> Self {
        let (turns, appends, read) = (Vec::new(), Vec::new(), Vec::new());
        Self { work, tally, turns, appends, n_turns: 0, n_bytes: 0, read }
    }

    /// Reads a source; its turns are sent at the latest by [`Self::flush`].
    pub(crate) fn take_source(&mut self, source: &'a Source) -> anyhow::Result<()> {
        self.tally.with(|tally| tally.n_files += 1);
        let mut failed = None;
        let mut each = |placed| {
            let taken = self.take(source, placed);
            failed = taken.err();
            if failed.is_none() { Flow::On } else { Flow::Stop }
        };
        let path = source.path();
        let pass = match source {
            Source::Transcript { path, .. } => each_turn(path, each),
            Source::Export { path } => exports::each_turn(path, &mut each)
                .map(|n_unreadable| Pass { n_unreadable, settled: None }),
            Source::Spool { path } => return self.take_spool(source, path),
            Source::Own { path } if self.work.purpose.is_storing() => {
                return own::take(self.work, path, self.tally);
            }
            Source::Notes { path, peer } if self.work.purpose.is_storing() => {
                return notes::take(self.work, path, *peer, self.tally);
            }
            Source::Own { .. } | Source::Notes { .. } => return Ok(()),
        };
        if let Some(error) = failed {
            return Err(error);
        }
        self.end_append(source);
        match pass {
            Ok(Pass { n_unreadable, settled }) => {
                if 0 < n_unreadable {
                    let lines = if n_unreadable == 1 { "line" } else { "lines" };
                    let problem = format!("{n_unreadable} {lines} cannot be read");
                    self.tally.add_problem(format!("{}: {problem}", path.display()));
                    // Told in one line, and counted each.
                    self.tally.with(|tally| tally.n_problems += n_unreadable - 1);
                }
                if matches!(source, Source::Transcript { is_growing: true, .. }) {
                    self.read.push((path, settled));
                }
            }
            Err(error) => self.tally.add_problem(format!("{}: {error}", path.display())),
        }
        Ok(())
    }

    /// Sends what waits. When this returns, it is stored, and hooks need not deliver it again.
    pub(crate) fn flush(&mut self) -> anyhow::Result<()> {
        let appends = std::mem::take(&mut self.appends);
        (self.n_turns, self.n_bytes) = (0, 0);
        let pieces: Vec<Piece<'_>> = appends.iter().map(Piece::of).collect();
        let n_found: usize = pieces.iter().map(|piece| piece.events.len()).sum();
        let n_cut: u64 = appends.iter().map(|append| append.batch.n_cut).sum();
        self.tally.with(|tally| {
            tally.n_found += n_found as u64;
            tally.n_cut += n_cut;
        });
        message::send(self.work, &pieces, self.tally)?;
        for (path, settled) in self.read.drain(..) {
            if self.work.purpose.is_storing() {
                mark_read(&self.work.settings.home, path, settled)
                    .context("remembering how far it was read")?;
            }
        }
        Ok(())
    }

    fn take(&mut self, source: &'a Source, placed: Placed) -> anyhow::Result<()> {
        let is_old = self.work.since.is_some_and(|since| placed.1.at.is_some_and(|at| at < since));
        if is_old {
            return Ok(());
        }
        if self.turns.last().is_some_and(|(_, last)| last.session != placed.1.session) {
            self.end_append(source);
        }
        let n_bytes = placed.1.text.len();
        if self.is_full(n_bytes) {
            self.end_append(source);
            self.flush()?;
        }
        self.n_turns += 1;
        self.n_bytes += n_bytes;
        self.turns.push(placed);
        Ok(())
    }

    fn is_full(&self, n_bytes_more: usize) -> bool {
        BATCH_TURNS_MAX <= self.n_turns || BATCH_BYTES_MAX <= self.n_bytes + n_bytes_more
    }

    /// Makes the turns that were read wait: they are all of this session.
    fn end_append(&mut self, source: &'a Source) {
        let turns = std::mem::take(&mut self.turns);
        if turns.is_empty() {
            return;
        }
        let said = turns.iter().find_map(|(_, turn)| turn.session.clone()).or(source.session());
        let folder = source.folder().map(|folder| folder.to_string_lossy().into_owned());
        let told = Told { session: said.as_deref(), cwd: folder.as_deref() };
        let batch = SpoolBatch::new(self.work.settings, &told, turns, clock::now());
        self.appends.push(Append { source, batch });
    }

    /// Takes a spool file of another folder, such as the Python program's.
    fn take_spool(&mut self, source: &'a Source, path: &Path) -> anyhow::Result<()> {
        let file = File::open(path).with_context(|| format!("opening {}", path.display()))?;
        let mut reader = SpoolReader::new(BufReader::new(file), None);
        let (mut session, mut cwd) = ("-".to_owned(), String::new());
        let mut is_begun = false;
        while let Some(item) = reader.next_item()? {
            match item {
                SpoolItem::Header(header) => {
                    SpoolHeader { session_id: session, cwd, .. } = header;
                    is_begun = false;
                }
                SpoolItem::Event(mut event) => {
                    let text = fit_to_keep(event.text, &self.work.settings.secrets);
                    (event.text, event.has_secret) = (text.text, text.has_secret);
                    let n_cut = u64::from(text.is_cut);
                    if self.is_full(event.text.len()) {
                        self.flush()?;
                        is_begun = false;
                    }
                    self.n_turns += 1;
                    self.n_bytes += event.text.len();
                    match self.appends.last_mut().filter(|_| is_begun) {
                        Some(append) => {
                            append.batch.events.push(*event);
                            append.batch.n_cut += n_cut;
                        }
                        None => {
                            let (session, cwd) = (session.clone(), cwd.clone());
                            let batch = SpoolBatch { session, cwd, events: vec![*event], n_cut };
                            self.appends.push(Append { source, batch });
                            is_begun = true;
                        }
                    }
                }
                SpoolItem::Bad { line, reason, .. } => {
                    self.tally.add_problem(format!("{}:{line}: {reason}", path.display()));
                }
                SpoolItem::Newer { .. } | SpoolItem::ForeignSeal => {
                    let problem = "newer, or sealed to another store";
                    self.tally.add_problem(format!("{}: {problem}", path.display()));
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
