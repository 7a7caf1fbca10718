//! What was corrected may have been said elsewhere in the same words: those are outdated too,
//! though nobody named them.

use iai_store::{MemoryNumber, Reader};
use jiff::Timestamp;

use super::corrections::{Corrections, STALE_FACTOR};
use super::cue::words_of_in_order;
use super::rank::Ranked;
use crate::error::Result;

/// Bytes by which the same words may differ: marks and blanks.
const PUNCTUATION_MAX: usize = 16;

/// Something outdated, and how it was worded.
struct Outdated {
    number: MemoryNumber,
    n_bytes: usize,
    words: Vec<String>,
    until: Timestamp,
}

impl Corrections {
    /// Returns the corrections with those ranked added that say what was corrected, and marks these
    /// as outdated. Who says it again after the correction means it.
    pub(crate) fn with_copies(&self, reader: &Reader, ranked: &mut [Ranked]) -> Result<Self> {
        let mut extended = self.clone();
        if self.successor.is_empty() {
            return Ok(extended);
        }
        let outdated = self.read_outdated(reader, ranked)?;
        for hit in ranked.iter_mut().filter(|hit| !self.successor.contains_key(&hit.number)) {
            let Some(same) = outdated.iter().find(|old| old.is_said_by(hit)) else { continue };
            let Some(current) = self.chain(same.number).last().copied() else { continue };
            // A correction says what it says of what it replaced: "moved to Redis" elsewhere is of
            // something else.
            if current == hit.number || !reader.predecessors(hit.number)?.is_empty() {
                continue;
            }
            extended.successor.insert(hit.number, current);
            hit.memory.valid_to = Some(same.until);
            if !self.asks_for_history {
                hit.score *= STALE_FACTOR;
                hit.reason.push_str(" × 0.5, says what was corrected");
            }
        }
        Ok(extended)
    }

    fn read_outdated(&self, reader: &Reader, ranked: &[Ranked]) -> Result<Vec<Outdated>> {
        let is_ranked = |number: &MemoryNumber| ranked.iter().any(|hit| hit.number == *number);
        let unread: Vec<MemoryNumber> =
            self.successor.keys().copied().filter(|number| !is_ranked(number)).collect();
        let read = reader.numbered(&unread)?;
        let known = ranked.iter().filter(|hit| self.successor.contains_key(&hit.number));
        let known = known.map(|hit| (hit.number, &hit.memory));
        let all = known.chain(read.iter().map(|(number, memory)| (*number, memory)));
        let outdated = all.filter_map(|(number, memory)| {
            let (n_bytes, words) = (memory.text.len(), words_of_in_order(&memory.text));
            Some(Outdated { number, n_bytes, words, until: memory.valid_to? })
        });
        Ok(outdated.collect())
    }
}

impl Outdated {
    fn is_said_by(&self, hit: &Ranked) -> bool {
        hit.memory.text.len().abs_diff(self.n_bytes) <= PUNCTUATION_MAX
            && hit.memory.turn_at <= self.until
            && words_of_in_order(&hit.memory.text) == self.words
    }
}
