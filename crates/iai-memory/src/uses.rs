//! How often memories are of use: noted while answers are given, written down when it is quiet.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use iai_store::{MemoryId, Uses};

use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::organise::{Advance, Due, Effects, Shift, Step};

/// Memories whose uses wait to be written down; beyond that, uses are not counted.
const WAITING_MAX: usize = 4096;
/// The hits of one answer that count as recalled; those below fill its room.
const ANSWERS_MAX: usize = 2;
/// Memories whose uses are kept: the latest used.
const KEPT_MAX: usize = 20_000;

/// What was noted and is not written down yet.
#[derive(Default)]
pub(crate) struct UseRoom(Mutex<BTreeMap<MemoryId, Uses>>);

impl UseRoom {
    fn waiting(&self) -> MutexGuard<'_, BTreeMap<MemoryId, Uses>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryEngine {
    /// Notes that these memories were an answer, the best first.
    pub(crate) fn note_recalled(&self, ids: impl Iterator<Item = MemoryId>) {
        self.note(ids.take(ANSWERS_MAX), |uses| {
            uses.n_recalled = uses.n_recalled.saturating_add(1);
        });
    }

    /// Notes that somebody said that these memories helped.
    pub(crate) fn note_reinforced(&self, ids: impl Iterator<Item = MemoryId>) {
        self.note(ids, |uses| uses.n_reinforced = uses.n_reinforced.saturating_add(1));
    }

    fn note(&self, ids: impl Iterator<Item = MemoryId>, change: impl Fn(&mut Uses)) {
        if self.is_read_only() {
            return;
        }
        let mut waiting = self.uses.waiting();
        for id in ids {
            if waiting.len() < WAITING_MAX || waiting.contains_key(&id) {
                change(waiting.entry(id).or_default());
            }
        }
        drop(waiting);
        self.wake_organiser();
    }
}

/// Writes down what was noted.
pub(crate) struct CountUses;

impl Step for CountUses {
    fn name(&self) -> &'static str {
        "uses"
    }

    fn due(&self) -> Due {
        Due::Soon
    }

    fn advance(&self, engine: &MemoryEngine, shift: &Shift<'_>) -> Result<Advance> {
        if shift.must_make_way() {
            return Ok(Advance::MadeWay);
        }
        let noted = std::mem::take(&mut *engine.uses.waiting());
        if noted.is_empty() {
            return Ok(Advance::Nothing);
        }
        let noted: Vec<(MemoryId, Uses)> = noted.into_iter().collect();
        engine.write(|writing| {
            writing.add_uses(&noted, shift.now)?;
            Ok(writing.drop_uses(KEPT_MAX)?)
        })?;
        Ok(Advance::Did(Effects::from([("memories_used", noted.len() as u64)])))
    }
}
