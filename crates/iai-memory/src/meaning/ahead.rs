//! Vectors read before they are needed. Once somebody has asked, the newest ones are read into
//! memory behind everybody's back, so that comparing them costs the next cues no page of the store.
//! Who never asks pays nothing for it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use iai_store::{MemoryNumber, ModelNumber};

use crate::engine::MemoryEngine;
use crate::error::Result;

/// How far the reading has come; a model is told from another by its `M`.
pub(super) struct Ahead<M = ModelNumber>(Mutex<Stage<M>>);

#[derive(Clone, Copy)]
enum Stage<M> {
    Unasked,
    /// The vectors of this model below this number come next.
    Below(M, MemoryNumber),
    Done(M),
}

impl<M> Default for Ahead<M> {
    fn default() -> Self {
        Self(Mutex::new(Stage::Unasked))
    }
}

/// What a cue means for the reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// There is something to read now.
    First,
    /// There was a cue before this one.
    Again,
}

impl<M: Copy + PartialEq> Ahead<M> {
    /// Notes that a cue is compared with the vectors of a model.
    pub(super) fn ask(&self, model: M) -> Asked {
        let mut stage = self.stage();
        match *stage {
            Stage::Below(known, _) | Stage::Done(known) if known == model => Asked::Again,
            Stage::Unasked | Stage::Below(..) | Stage::Done(_) => {
                *stage = Stage::Below(model, MemoryNumber::new(u32::MAX));
                Asked::First
            }
        }
    }

    fn next(&self) -> Option<(M, MemoryNumber)> {
        match *self.stage() {
            Stage::Below(model, below) => Some((model, below)),
            Stage::Unasked | Stage::Done(_) => None,
        }
    }

    /// Notes that everything from `rest` on was read. Meanwhile another model may have been asked.
    fn go_on(&self, model: M, rest: Option<MemoryNumber>) {
        let mut stage = self.stage();
        if matches!(*stage, Stage::Below(known, _) if known == model) {
            *stage = rest.map_or(Stage::Done(model), |below| Stage::Below(model, below));
        }
    }

    fn stage(&self) -> MutexGuard<'_, Stage<M>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryEngine {
    /// Reads some vectors ahead; false when there are none to read.
    pub(super) fn fetch_ahead_step(&self) -> Result<bool> {
        let Some((model, below)) = self.meaning.ahead.next() else { return Ok(false) };
        let lanes = self.meaning.read();
        let lane = lanes.serving.as_ref().filter(|lane| lane.index.model().number == model);
        let rest = match lane {
            Some(lane) => self.read(|reader| Ok(lane.index.fetch_ahead(reader, below)?))?,
            None => None,
        };
        drop(lanes);
        self.meaning.ahead.go_on(model, rest);
        Ok(rest.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_read_once_and_another_begins_anew() {
        let ahead = Ahead::default();
        let (one, other) = ("one", "other");
        assert_eq!(ahead.next(), None, "nobody asked");
        assert_eq!(ahead.ask(one), Asked::First);
        assert_eq!(ahead.ask(one), Asked::Again);
        ahead.go_on(one, Some(MemoryNumber::new(7)));
        assert_eq!(ahead.next(), Some((one, MemoryNumber::new(7))));
        assert_eq!(ahead.ask(other), Asked::First);
        ahead.go_on(one, None);
        assert_eq!(ahead.next(), Some((other, MemoryNumber::new(u32::MAX))));
        ahead.go_on(other, None);
        assert_eq!((ahead.next(), ahead.ask(other)), (None, Asked::Again));
    }
}
