//! Forgets on purpose: tells what would go, has it gone from everywhere, keeps receipts without a
//! word in them.
//!
//! What is asked is written down first and then done in small transactions, so that recall answers
//! meanwhile and a kill costs nothing: the next start goes on.

mod preview;
mod replacing;
mod words;

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use iai_store::{
    CheckReport, ForgetReason, ForgetReceipt, ForgetSelection, GoneNames, MemoryNumber, NewMemory,
    Reader,
};
use jiff::Timestamp;
use serde::Serialize;

use crate::engine::MemoryEngine;
use crate::error::{MemoryError, Result};
use crate::projects::places_of;
use crate::taught;
pub use preview::{ForgetLine, ForgetPreview, ForgetSession};
pub use replacing::{Replacement, StoredText};
use words::ForgottenWords;

/// Memories forgotten in one transaction: taking words out of a segment is dear, however few.
const PER_TRANSACTION: usize = 500;
/// More ids than this are somebody's mistake.
const IDS_MAX: usize = 10_000;

/// What is to be forgotten: what every given wish means.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForgetAsk {
    /// These memories, by id or its beginning; empty means no such wish.
    pub ids: Vec<String>,
    /// What was said in this session.
    pub session: Option<String>,
    /// What was said in this project: a path, or its last part.
    pub project: Option<String>,
    /// What contains this text, whatever its case.
    pub containing: Option<String>,
    /// What was said before this.
    pub before: Option<Timestamp>,
    /// What was taught as the set of this name.
    pub taught: Option<String>,
}

impl ForgetAsk {
    /// Tells whether a turn that is not stored yet is meant.
    pub fn means(&self, turn: &NewMemory) -> bool {
        let id = turn.id().to_string();
        let has_id = self.ids.is_empty() || self.ids.iter().any(|start| id.starts_with(start));
        let contains = |sought: &String| turn.text.to_lowercase().contains(&sought.to_lowercase());
        let is_of = |project: &String| is_called(turn.project.as_deref(), project);
        *self != Self::default()
            && has_id
            && self.session.as_ref().is_none_or(|session| turn.session == *session)
            && self.project.as_ref().is_none_or(is_of)
            && self.containing.as_ref().is_none_or(contains)
            && self.before.is_none_or(|before| turn.turn_at < before)
            && self.taught.as_deref().is_none_or(|set| taught::set_of(turn) == Some(set))
    }
}

/// Tells whether a project is meant by a name: its path, or the last part of it.
fn is_called(project: Option<&str>, name: &str) -> bool {
    let Some(project) = project else { return false };
    let (project, name) = (project.trim_end_matches('/'), name.trim_end_matches('/'));
    project == name || project.rsplit('/').next() == Some(name)
}

/// How far a receipt has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ForgetProgress {
    /// The receipt.
    pub receipt: u64,
    /// Memories that are gone.
    pub forgotten: u64,
    /// Memories that are still there.
    pub left: u64,
    /// Nothing is left to do: gone from every table, index and page.
    pub is_finished: bool,
    /// Why it does not go on, if it does not; it is tried again at the next start.
    pub failed: Option<String>,
}

/// A receipt as somebody reads it.
#[derive(Debug, Clone, Serialize)]
pub struct ReceiptView {
    /// Its number.
    pub receipt: u64,
    /// When somebody asked.
    pub asked_at: String,
    /// When everything was gone.
    pub finished_at: Option<String>,
    /// By what kinds of wishes: `session+before` and the like.
    pub selection: String,
    /// `asked`, or `secret` for what `scan --fix` replaced.
    pub reason: &'static str,
    /// How many memories.
    pub count: u64,
    /// A keyed digest of what was forgotten.
    pub digest: Option<String>,
}

/// What [`MemoryEngine::work_off_forgetting`] needs from outside.
pub struct ForgetWork<'a> {
    /// The time.
    pub clock: &'a dyn Fn() -> Timestamp,
    /// Erases names nothing stored has any more from files beside the store.
    pub erase_names: &'a dyn Fn(&GoneNames) -> std::io::Result<()>,
    /// Somebody wants this to end.
    pub must_stop: &'a dyn Fn() -> bool,
}

/// Who forgets, and what came of it.
#[derive(Default)]
pub(crate) struct ForgetRoom {
    /// One at a time: two would do the same.
    working: Mutex<()>,
    state: Mutex<ForgetState>,
    changed: Condvar,
    pub(crate) words: ForgottenWords,
}

#[derive(Default)]
struct ForgetState {
    /// Counts changes, for those who wait for one.
    n_steps: u64,
    failed: Option<String>,
}

impl ForgetRoom {
    fn state(&self) -> MutexGuard<'_, ForgetState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, failed: Option<String>) {
        let mut state = self.state();
        state.n_steps += 1;
        state.failed = failed;
        self.changed.notify_all();
    }
}

impl MemoryEngine {
    /// Tells what would be forgotten, and changes nothing.
    pub fn forget_preview(&self, ask: &ForgetAsk) -> Result<ForgetPreview> {
        let selection = self.selection_of(ask)?;
        self.read(|reader| preview::of(reader, &selection))
    }

    /// Writes down what is to be forgotten, and returns the number of its receipt;
    /// [`Self::work_off_forgetting`] does it. With `seal`, only when the selection still means what
    /// the preview with this seal told.
    pub fn begin_forgetting(
        &self,
        ask: &ForgetAsk,
        reason: ForgetReason,
        seal: Option<&str>,
        now: Timestamp,
    ) -> Result<u64> {
        let selection = self.selection_of(ask)?;
        let chosen = self.read(|reader| Ok(reader.selected(&selection)?))?;
        if seal.is_some_and(|seal| preview::seal_of(&selection, &chosen) != seal) {
            let why = "no longer fits what it selects; look again before you confirm";
            return Err(MemoryError::bad("confirm", why));
        }
        let numbers: Vec<MemoryNumber> = chosen.iter().map(|chosen| chosen.number).collect();
        self.read(|reader| self.forgetting.words.learn(reader, &numbers))?;
        self.organise.drop_misses();
        let kinds = selection.kinds();
        self.write(|writing| Ok(writing.begin_forgetting(&numbers, &kinds, reason, now)?))
    }

    /// Drops what was asked and not answered, as forgetting does where there is nothing else to
    /// forget: a cue may name what somebody wants gone.
    pub fn forget_cues(&self) {
        self.organise.drop_misses();
    }

    /// Forgets everything that was begun and is not finished. An error leaves the rest for later.
    pub fn work_off_forgetting(&self, work: &ForgetWork<'_>) -> Result<()> {
        let _one_at_a_time = self.forgetting.working.lock().unwrap_or_else(PoisonError::into_inner);
        let done = self.work_off(work);
        self.forgetting.tell(done.as_ref().err().map(ToString::to_string));
        done
    }

    /// Tells whether something was begun and is not finished.
    pub fn has_unfinished_forgetting(&self) -> Result<bool> {
        self.read(|reader| Ok(!reader.unfinished_receipts()?.is_empty()))
    }

    /// Tells how far a receipt is, once it is finished, failed, or `patience` is over.
    pub fn forget_progress(&self, receipt: u64, patience: Duration) -> Result<ForgetProgress> {
        let mut left = patience;
        loop {
            let n_steps = self.forgetting.state().n_steps;
            let progress = self.progress_of(receipt)?;
            if progress.is_finished || progress.failed.is_some() || left.is_zero() {
                return Ok(progress);
            }
            let begun = std::time::Instant::now();
            let state = self.forgetting.state();
            let waited = self
                .forgetting
                .changed
                .wait_timeout_while(state, left, |state| state.n_steps == n_steps);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
            left = left.saturating_sub(begun.elapsed());
        }
    }

    /// Returns the newest receipts.
    pub fn forget_receipts(&self, limit: usize) -> Result<Vec<ReceiptView>> {
        let receipts = self.read(|reader| Ok(reader.forget_receipts(limit)?))?;
        Ok(receipts.into_iter().map(receipt_view).collect())
    }

    /// Checks every receipt: its memories are in no table and in no index.
    pub fn check_forgotten(&self) -> Result<CheckReport> {
        self.read(|reader| Ok(reader.check_forgotten()?))
    }

    fn progress_of(&self, receipt: u64) -> Result<ForgetProgress> {
        let (known, left) = self.read(|reader| {
            Ok((reader.forget_receipt(receipt)?, reader.n_forget_pending(receipt)?))
        })?;
        // The receipt of a check is dropped when it is finished.
        let is_finished = known.as_ref().is_none_or(|known| known.finished_at.is_some());
        Ok(ForgetProgress {
            receipt,
            forgotten: known.map_or(0, |known| known.n_memories),
            left,
            is_finished,
            failed: if is_finished { None } else { self.forgetting.state().failed.clone() },
        })
    }

    fn work_off(&self, work: &ForgetWork<'_>) -> Result<()> {
        // An index that is being loaded right now would not hear of what goes meanwhile.
        self.load_index()?;
        loop {
            let next = self.read(|reader| Ok(reader.unfinished_receipts()?.first().copied()))?;
            let Some(receipt) = next else { return Ok(()) };
            loop {
                if (work.must_stop)() {
                    return Ok(());
                }
                let gone = self.write(|w| Ok(w.forget_some(receipt, PER_TRANSACTION)?))?;
                if gone.is_empty() {
                    break;
                }
                self.forget_vectors(&gone);
                self.forgetting.tell(None);
            }
            self.finish(receipt, work)?;
            self.forgetting.tell(None);
        }
    }

    /// Erases the names, the pages and what is noted in memory, and then says that it is done.
    fn finish(&self, receipt: u64, work: &ForgetWork<'_>) -> Result<()> {
        let (gone, known) =
            self.read(|reader| Ok((reader.gone_names()?, reader.forget_receipt(receipt)?)))?;
        (work.erase_names)(&gone).map_err(|error| {
            let why = format!("{error}; the names of what was forgotten stay in files until then");
            MemoryError::bad("forget", why)
        })?;
        self.told.forget_all();
        self.together.forget_all();
        self.organise.drop_misses();
        self.write(|writing| Ok(writing.drop_names(&gone)?))?;
        // What a check stored is drawn at random: nobody's words, not worth a new file.
        let is_check = known.is_some_and(|known| known.reason == ForgetReason::Check);
        if !is_check {
            self.with_writer(|store| Ok(store.rewrite()?))?;
        }
        self.write(|writing| Ok(writing.finish_forgetting(receipt, (work.clock)())?))?;
        self.wake_organiser();
        Ok(())
    }

    fn selection_of(&self, ask: &ForgetAsk) -> Result<ForgetSelection> {
        if *ask == ForgetAsk::default() {
            let why = "are missing, and so is every other wish; say what to forget";
            return Err(MemoryError::bad("ids", why));
        }
        if ask.containing.as_deref().is_some_and(|text| text.trim().is_empty()) {
            return Err(MemoryError::bad("match", "is empty and would mean everything"));
        }
        if IDS_MAX < ask.ids.len() {
            let why = format!("are {}; at most {IDS_MAX} at once", ask.ids.len());
            return Err(MemoryError::bad("ids", why));
        }
        let mut ids = Vec::with_capacity(ask.ids.len());
        for id in &ask.ids {
            let found = self.find(id)?;
            let is_there = self.read(|reader| Ok(reader.number_of(found)?.is_some()))?;
            if !is_there {
                return Err(MemoryError::UnknownMemory { id: id.clone() });
            }
            ids.push(found);
        }
        let places = match &ask.project {
            None => None,
            Some(name) => Some(self.read(|reader| place_numbers(reader, name))?),
        };
        Ok(ForgetSelection {
            ids: (!ids.is_empty()).then_some(ids),
            session: ask.session.clone(),
            places,
            containing: ask.containing.clone(),
            before: ask.before,
            taught: ask.taught.clone(),
        })
    }
}

fn place_numbers(reader: &Reader, name: &str) -> Result<Vec<u32>> {
    Ok(places_of(reader, name)?.into_iter().map(|(number, _)| number).collect())
}

fn receipt_view(receipt: ForgetReceipt) -> ReceiptView {
    let hex = |digest: [u8; 32]| digest.iter().map(|byte| format!("{byte:02x}")).collect();
    ReceiptView {
        receipt: receipt.number,
        asked_at: receipt.asked_at.to_string(),
        finished_at: receipt.finished_at.map(|at| at.to_string()),
        selection: receipt.selection,
        reason: receipt.reason.as_str(),
        count: receipt.n_memories,
        digest: receipt.digest.map(hex),
    }
}

#[cfg(test)]
mod tests;
