//! Keeps a question about something just forgotten from being noted as a question nobody could
//! answer. In memory only, and not even there as words.

use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use iai_store::{MemoryNumber, Reader};

use crate::error::Result;

/// Words that are known; further ones are not, and a cue with them may be noted.
const WORDS_MAX: usize = 50_000;
/// Memories whose words are learned; of a larger forgetting, the first ones.
const MEMORIES_MAX: usize = 2000;
/// A shorter word is in too many cues.
const WORD_CHARS_MIN: usize = 5;

/// Hashes of words that were forgotten since the start, under a key of this process.
#[derive(Default)]
pub(crate) struct ForgottenWords {
    key: RandomState,
    hashes: Mutex<BTreeSet<u64>>,
}

impl ForgottenWords {
    /// Learns the words of memories that are about to go.
    pub(super) fn learn(&self, reader: &Reader, numbers: &[MemoryNumber]) -> Result<()> {
        let first = numbers.get(..MEMORIES_MAX.min(numbers.len())).unwrap_or_default();
        for (_, memory) in reader.numbered(first)? {
            self.learn_text(&memory.text);
        }
        Ok(())
    }

    fn learn_text(&self, text: &str) {
        let mut hashes = self.hashes();
        for word in words(text) {
            if WORDS_MAX <= hashes.len() {
                return;
            }
            hashes.insert(self.key.hash_one(word));
        }
    }

    /// Tells whether a cue asks with a word that was forgotten.
    pub(crate) fn are_in(&self, cue: &str) -> bool {
        let hashes = self.hashes();
        !hashes.is_empty() && words(cue).any(|word| hashes.contains(&self.key.hash_one(word)))
    }

    fn hashes(&self) -> MutexGuard<'_, BTreeSet<u64>> {
        self.hashes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    let is_telling = |word: &&str| {
        WORD_CHARS_MIN <= word.chars().count() || word.chars().any(|c| c.is_ascii_digit())
    };
    words.filter(|word| !word.is_empty()).filter(is_telling).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cue_with_a_forgotten_word_is_known_and_another_is_not() {
        let forgotten = ForgottenWords::default();
        assert!(!forgotten.are_in("the lighthouse of Zanzibar"));
        forgotten.learn_text("Meet me at the Zanzibar pier, gate 7");
        assert!(forgotten.are_in("what about zanzibar?") && forgotten.are_in("gate 7?"));
        assert!(!forgotten.are_in("what about the gate"));
    }
}
