//! Reads a spool file in parts that fit a transaction, and takes the file away after the last.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::Path;

use iai_wire::{OpeningKey, SpoolEvent, SpoolItem, SpoolReader};

use super::turns::{self, Append, Gathered};
use crate::capture::{SecretPolicy, fit_to_keep};
use crate::clock;

/// Turns per transaction: enough to make one sync cheap, few enough to let requests in between.
pub(super) const BATCH_TURNS_MAX: usize = 2000;
pub(super) const BATCH_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A file that is being read.
pub(super) struct Parts<'a> {
    name: &'a str,
    reader: SpoolReader<'a, BufReader<File>>,
    secrets: SecretPolicy,
    append: Append,
    is_evidence_lost: bool,
}

/// What comes next in it.
pub(super) enum Part {
    /// Turns; `is_last` says whether more come.
    Batch(Gathered),
    /// Written by a newer program or sealed to another store.
    NotOurs,
}

impl<'a> Parts<'a> {
    pub(super) fn new(
        file: File,
        name: &'a str,
        key: &'a OpeningKey,
        secrets: SecretPolicy,
    ) -> Self {
        let reader = SpoolReader::new(BufReader::with_capacity(64 * 1024, file), Some(key));
        Self { name, reader, secrets, append: Append::default(), is_evidence_lost: false }
    }

    pub(super) fn next_part(&mut self) -> anyhow::Result<Part> {
        let mut gathered = Gathered::new(self.name);
        let mut n_bytes_read = 0;
        while let Some(item) = self.reader.next_item()? {
            match item {
                SpoolItem::Header(header) => self.append = Append::begin(header),
                SpoolItem::Newer { .. } | SpoolItem::ForeignSeal => return Ok(Part::NotOurs),
                SpoolItem::Event(event) => {
                    n_bytes_read += event.text.len();
                    self.append.take(fit(*event, &self.secrets), &mut gathered, clock::now());
                }
                SpoolItem::Bad { line, reason, evidence, n_bytes } => {
                    self.is_evidence_lost |= evidence.len() as u64 != n_bytes;
                    gathered.batch.bad_lines.push(turns::bad_line(line, reason, evidence, n_bytes));
                }
            }
            if BATCH_TURNS_MAX <= gathered.batch.turns.len() || BATCH_BYTES_MAX <= n_bytes_read {
                return Ok(Part::Batch(gathered));
            }
        }
        gathered.batch.is_last = true;
        Ok(Part::Batch(gathered))
    }

    /// Takes the file out of the spool, now that every part of it is committed.
    pub(super) fn leave(&self, path: &Path) -> io::Result<()> {
        if self.is_evidence_lost { keep_for_a_person(path) } else { remove_drained(path) }
    }
}

/// A hook makes words fit to keep before it writes them; one of an earlier version did not.
fn fit(mut event: SpoolEvent, secrets: &SecretPolicy) -> SpoolEvent {
    let text = fit_to_keep(event.text, secrets);
    event.has_secret |= text.has_secret;
    event.text = text.text;
    event.cue = fit_to_keep(event.cue, secrets).text;
    event
}

/// A line too large for the store cannot be set aside inside it: its file stays, under a name no
/// drain looks at.
fn keep_for_a_person(path: &Path) -> io::Result<()> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let kept = format!("{name}.permanent-failed-{}.jsonl", clock::now().as_second());
    fs::rename(path, path.with_file_name(kept))
}

#[expect(clippy::disallowed_methods, reason = "every turn of it is committed")]
pub(super) fn remove_drained(path: &Path) -> io::Result<()> {
    fs::remove_file(path)
}
