//! What was found, what speaks for it, and what all of that is measured against.

use std::collections::BTreeMap;
use std::time::Duration;

use iai_store::{MemoryNumber, Reader};

use super::corrections::Corrections;
use super::origin::Origin;
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::meaning::{CueVector, Yardstick};

/// In a handful of memories the deviation means little; below this it is not believed.
const DEVIATION_MIN: f32 = 0.02;

/// What speaks for a memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Evidence {
    /// BM25 of its words.
    pub(crate) bm25: f32,
    /// BM25 of the turns around it, read as one text; only for the most promising.
    pub(crate) scene: f32,
    /// How much of what the cue's words tell is in it, from 0 to 1; only for the most promising.
    pub(crate) coverage: f32,
    /// The cosine between it and the cue, where there is a model that knows it.
    pub(crate) cosine: Option<f32>,
    /// Which part of it is that near; 0, the first, where nobody looked.
    pub(crate) nearest_part: u16,
    pub(crate) origin: Origin,
    /// The words that the cue quotes stand together in it.
    pub(crate) has_phrase: bool,
    pub(crate) session: u32,
    /// It belongs to the project the cue is asked from.
    pub(crate) is_from_here: bool,
    pub(crate) turn_at_ms: i64,
    /// When another memory took its place.
    pub(crate) ended_at_ms: Option<i64>,
}

/// What all evidence is measured against.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scale {
    /// The best BM25 of all candidates.
    pub(crate) bm25_best: f32,
    /// The most any memory could score: what the cue's words tell in all.
    pub(crate) information: f32,
    /// How many memories there are.
    pub(crate) n_memories: usize,
    /// Mean and deviation of the cosines of all memories, where there is a model.
    pub(crate) cosines: Option<(f32, f32)>,
    /// What the cosines are measured with, where there is a model.
    pub(crate) yardstick: Option<Yardstick>,
    /// The cosine of the nearest.
    pub(crate) nearest: Option<f32>,
}

/// What the lanes found, and how well it is what was asked for.
pub(crate) struct Found {
    pub(crate) evidence: BTreeMap<MemoryNumber, Evidence>,
    pub(crate) scale: Scale,
    /// The quoted wording is nowhere; these only share its words.
    pub(crate) is_second_best: bool,
    /// The cue asks for a wording, and all of these have it; or for a time and for nothing else,
    /// and these were said then.
    pub(crate) is_sure: bool,
    /// A model was there to compare meanings, or quoted words made it needless.
    pub(crate) has_model: bool,
    /// The cue as the model sees it.
    pub(crate) vector: Option<CueVector>,
    /// Which of them are outdated; what took their place is among them.
    pub(crate) corrections: Corrections,
}

impl Found {
    /// Returns what embedding the cue took.
    pub(crate) fn embedding(&self) -> Duration {
        self.vector.as_ref().map_or(Duration::ZERO, |vector| vector.took)
    }

    /// Returns how many deviations above the mean of all these memories are near to the cue;
    /// nothing of what the model does not know.
    pub(crate) fn nearness(
        &self,
        (engine, reader): (&MemoryEngine, &Reader),
        numbers: &[MemoryNumber],
    ) -> Result<Vec<Option<f64>>> {
        if self.vector.is_none() {
            return Ok(vec![None; numbers.len()]);
        }
        let cosines = engine.with_lanes(reader, self.vector.as_ref(), |meaning, _| {
            meaning.map_or_else(|| Ok(vec![None; numbers.len()]), |own| own.cosines(numbers))
        })?;
        Ok(cosines.into_iter().map(|cosine| self.scale.deviations(cosine?)).collect())
    }
}

impl Scale {
    /// Returns how many deviations a cosine is above the mean of all.
    pub(crate) fn deviations(&self, cosine: f32) -> Option<f64> {
        let (mean, deviation) = self.cosines?;
        Some(f64::from((cosine - mean) / deviation.max(DEVIATION_MIN)))
    }
}

#[cfg(test)]
impl Found {
    /// These candidates in a store of a thousand memories, numbered from nought.
    pub(super) fn of(evidence: Vec<Evidence>, cosines: Option<(f32, f32)>) -> Self {
        Self {
            evidence: (0..).map(MemoryNumber::new).zip(evidence).collect(),
            scale: Scale {
                bm25_best: 1.0,
                information: 4.0,
                n_memories: 1000,
                cosines,
                yardstick: cosines.map(|(mean, deviation)| Yardstick::new(mean, deviation)),
                nearest: None,
            },
            is_second_best: false,
            is_sure: false,
            has_model: cosines.is_some(),
            vector: None,
            corrections: Corrections::default(),
        }
    }
}
