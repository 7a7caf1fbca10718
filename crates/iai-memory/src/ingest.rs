//! Takes memories in: turns from the spool, and what an assistant asks to keep.
//!
//! Identity comes from host, session, position and content. A second delivery is a no-op by primary
//! key; similarity never decides anything here.

mod capturing;
mod sharing;

pub use capturing::{CaptureAnswer, CaptureAsk};
pub(crate) use capturing::{PAGE_HOST, TERMINAL_HOST, TOOL_HOST, captured};
pub(crate) use sharing::SharingRoom;

use std::borrow::Cow;
use std::ops::RangeInclusive;

use iai_store::{
    Inserted, NewEvent, NewMemory, NewSetAside, Prepared, Receipt, ReceiptState, SetAside,
    Severity, Writing,
};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;

use crate::engine::MemoryEngine;
use crate::error::Result;

/// A spool line that cannot become a memory.
#[derive(Debug, Clone)]
pub struct BadLine {
    /// Its place in the file, counted from 1.
    pub line: u64,
    /// Why.
    pub reason: String,
    /// Its first bytes.
    pub evidence: Vec<u8>,
    /// Its full length.
    pub n_bytes: u64,
}

/// Part of a spool file; stored in one transaction with what is known about the file.
#[derive(Debug)]
pub struct SpoolBatch {
    /// The file's name.
    pub file: String,
    /// The turns, in order.
    pub turns: Vec<NewMemory>,
    /// What stood between them.
    pub bad_lines: Vec<BadLine>,
    /// Nothing of the file comes after this.
    pub is_last: bool,
}

/// What became of a batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Ingested {
    /// New memories.
    pub stored: u64,
    /// Turns that were there already.
    pub known: u64,
    /// Lines kept as evidence only.
    pub set_aside: u64,
    /// Turns that were forgotten on purpose, and stay so.
    pub forgotten: u64,
}

/// What of some turns is not there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MissingTurns {
    /// The places of those that should be.
    pub missing: Vec<usize>,
    /// How many were forgotten on purpose.
    pub n_forgotten: u64,
}

impl MemoryEngine {
    /// Stores part of a spool file. When this returns, it is on disk, and the file may be deleted
    /// after its last part.
    pub fn store_batch(&self, batch: &SpoolBatch, now: Timestamp) -> Result<Ingested> {
        let ingested = self.store_batches(std::slice::from_ref(batch), now)?;
        Ok(ingested.into_iter().next().unwrap_or_default())
    }

    /// Stores parts of several spool files, all or none: one sync for a crowd of small ones.
    /// Returns what became of each.
    pub fn store_batches(&self, batches: &[SpoolBatch], now: Timestamp) -> Result<Vec<Ingested>> {
        let mut prepared = Vec::new();
        for batch in batches {
            let before = self.read(|reader| Ok(reader.receipt(&batch.file)?))?;
            prepared.push((batch, before, Prepared::all(&batch.turns)));
        }
        self.before_bulk(batches.iter().map(|batch| batch.turns.len()).sum())?;
        let ingested = self.remember(|writing| {
            let store = |(batch, before, turns): (&SpoolBatch, Option<Receipt>, _)| {
                store_in(writing, batch, before.as_ref(), turns, now)
            };
            prepared.into_iter().map(store).collect::<Result<Vec<Ingested>>>()
        })?;
        for batch in batches {
            // Links that could not be learned are no reason to deliver the turns again.
            drop(self.note_used(&batch.turns, now));
        }
        Ok(ingested)
    }

    /// Stores turns that come from no spool file. When this returns, they are on disk.
    pub fn store_turns(&self, turns: &[NewMemory], now: Timestamp) -> Result<Ingested> {
        // Hashed and read while the writer may still be busy with others.
        let prepared = Prepared::all(turns);
        self.before_bulk(turns.len())?;
        let ingested = self.remember(|writing| insert_all(writing, prepared, now))?;
        drop(self.note_used(turns, now));
        Ok(ingested)
    }

    /// Returns the places of those turns that are not stored, byte for byte, as the id tells, and
    /// were not forgotten on purpose.
    pub fn missing_turns(&self, turns: &[NewMemory]) -> Result<MissingTurns> {
        self.read(|reader| {
            let mut found = MissingTurns::default();
            for (place, turn) in turns.iter().enumerate() {
                let id = turn.id();
                if reader.memory(id)?.is_some_and(|memory| memory.text == turn.text) {
                    continue;
                }
                let said = (turn.session.as_str(), turn.role);
                if reader.was_forgotten(id, said, turn.turn_at, &turn.text)? {
                    found.n_forgotten += 1;
                } else {
                    found.missing.push(place);
                }
            }
            Ok(found)
        })
    }

    /// Returns the words a turn is stored with, its own where it has a choice: those of a memory at
    /// its place that are the same as its own but for what `alike` makes equal.
    pub fn words_stored(
        &self,
        turn: &NewMemory,
        alike: impl Fn(&str) -> Cow<'_, str>,
    ) -> Result<Option<String>> {
        let stored = self.read(|reader| match turn.turn_at == turn.captured_at {
            // Nobody said when it was, so that each delivery gives it another time.
            true => Ok(reader.at_place_in_session(turn)?),
            false => Ok(reader.at_place_and_time(turn)?),
        })?;
        let sought = alike(&turn.text);
        let mut same = stored.into_iter().filter(|memory| alike(&memory.text) == sought);
        let first = same.next();
        let own = same.find(|memory| memory.text == turn.text);
        Ok(own.or(first).map(|memory| memory.text))
    }

    /// Returns the spool files that were put off.
    pub fn receipts_waiting(&self) -> Result<Vec<Receipt>> {
        self.read(|reader| Ok(reader.receipts_waiting()?))
    }

    /// Returns lines set aside, newest first.
    pub fn set_aside(&self, limit: usize) -> Result<Vec<SetAside>> {
        self.read(|reader| Ok(reader.set_aside(limit)?))
    }

    /// Deletes the lines set aside that have these numbers, because a person has seen them. Returns
    /// how many those were.
    pub fn clear_set_aside(&self, numbers: RangeInclusive<u64>, now: Timestamp) -> Result<u64> {
        self.write(|writing| {
            let n_cleared = writing.clear_set_aside(numbers)?;
            if 0 < n_cleared {
                let data = json!({"lines": n_cleared});
                writing.event(&NewEvent {
                    kind: "set_aside_cleared".to_owned(),
                    severity: Some(Severity::Info),
                    domain: Some("capture".to_owned()),
                    at: now,
                    data,
                    session: None,
                    sources: Vec::new(),
                })?;
            }
            Ok(n_cleared)
        })
    }

    /// Remembers that a spool file could not be stored now and when to try again.
    pub fn put_off(
        &self,
        file: &str,
        error: &str,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<u64> {
        let before = self.read(|reader| Ok(reader.receipt(file)?))?;
        let attempts = before.as_ref().map_or(0, |receipt| receipt.attempts) + 1;
        let receipt = Receipt {
            attempts,
            next_attempt_at: Some(until),
            last_error: Some(error.to_owned()),
            state: ReceiptState::Waiting,
            at: now,
            ..before.unwrap_or_else(|| empty_receipt(file, now))
        };
        self.write(|writing| Ok(writing.put_receipt(&receipt)?))?;
        Ok(attempts)
    }

    /// Returns what is known about a spool file.
    pub fn receipt(&self, file: &str) -> Result<Option<Receipt>> {
        self.read(|reader| Ok(reader.receipt(file)?))
    }
}

fn store_in(
    writing: &Writing<'_>,
    batch: &SpoolBatch,
    before: Option<&Receipt>,
    turns: Vec<Prepared<'_>>,
    now: Timestamp,
) -> Result<Ingested> {
    let mut ingested = insert_all(writing, turns, now)?;
    for bad in &batch.bad_lines {
        ingested.set_aside += 1;
        writing.set_aside(&NewSetAside {
            file: batch.file.clone(),
            line: bad.line,
            reason: format!("{} ({} bytes)", bad.reason, bad.n_bytes),
            bytes: bad.evidence.clone(),
            at: now,
        })?;
    }
    writing.put_receipt(&receipt_after(batch, before, ingested, now))?;
    if !batch.bad_lines.is_empty() {
        writing.event(&bad_lines_event(batch, now))?;
    }
    Ok(ingested)
}

fn insert_all(writing: &Writing<'_>, turns: Vec<Prepared<'_>>, now: Timestamp) -> Result<Ingested> {
    let mut ingested = Ingested::default();
    for turn in turns {
        match writing.insert_prepared(turn, now)? {
            Inserted::New(_) => ingested.stored += 1,
            Inserted::Known(_) => ingested.known += 1,
            Inserted::Forgotten(_) => ingested.forgotten += 1,
        }
    }
    Ok(ingested)
}

fn empty_receipt(file: &str, now: Timestamp) -> Receipt {
    Receipt {
        file: file.to_owned(),
        state: ReceiptState::Waiting,
        attempts: 0,
        next_attempt_at: None,
        n_turns: 0,
        n_stored: 0,
        n_known: 0,
        n_set_aside: 0,
        last_error: None,
        at: now,
    }
}

fn receipt_after(
    batch: &SpoolBatch,
    before: Option<&Receipt>,
    ingested: Ingested,
    now: Timestamp,
) -> Receipt {
    let before = before.cloned().unwrap_or_else(|| empty_receipt(&batch.file, now));
    Receipt {
        state: if batch.is_last { ReceiptState::Done } else { ReceiptState::Waiting },
        next_attempt_at: None,
        n_turns: before.n_turns + batch.turns.len() as u64,
        n_stored: before.n_stored + ingested.stored,
        n_known: before.n_known + ingested.known,
        n_set_aside: before.n_set_aside + ingested.set_aside,
        last_error: None,
        at: now,
        ..before
    }
}

fn bad_lines_event(batch: &SpoolBatch, now: Timestamp) -> NewEvent {
    let first = batch.bad_lines.first();
    NewEvent {
        kind: "permanent_capture_failure".to_owned(),
        severity: Some(Severity::Critical),
        domain: Some("ops".to_owned()),
        at: now,
        data: json!({
            "file": batch.file,
            "first_error": first.map(|bad| bad.reason.clone()),
            "lines": batch.bad_lines.len(),
        }),
        session: None,
        sources: Vec::new(),
    }
}
