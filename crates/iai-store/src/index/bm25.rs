//! BM25: how much a word in a memory says.

/// How fast more of the same word stops telling more.
const K1: f32 = 1.2;
/// What rare words count beyond common ones. Of turns of conversation, of which most words are
/// small talk, the square root of BM25's usual weight once more found the right session more often
/// on five of six development sets, and never less often.
const RARITY_POWER: f64 = 1.5;
/// How much a long memory is held against its words.
const B: f32 = 0.75;

/// The whole collection in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Totals {
    /// Memories with at least one word.
    pub(crate) n_memories: u64,
    /// Words in all of them.
    pub(crate) n_words: u64,
}

impl Totals {
    pub(crate) fn add(&mut self, other: Self) {
        self.n_memories = self.n_memories.saturating_add(other.n_memories);
        self.n_words = self.n_words.saturating_add(other.n_words);
    }

    /// Words in the average memory; never zero.
    #[expect(clippy::cast_precision_loss, reason = "a mean needs no more precision")]
    pub(crate) fn mean_length(self) -> f32 {
        if self.n_words == 0 { 1.0 } else { self.n_words as f32 / self.n_memories.max(1) as f32 }
    }
}

/// The most one word can add to a score: `ln(1 + (N - n + ½) / (n + ½))^1.5 · (k1 + 1)`, above zero
/// however common the word is.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "counts far below 2^52, a score far from the limits of f32"
)]
pub(crate) fn weight(totals: Totals, document_frequency: u64) -> f32 {
    let (n_memories, frequency) = (totals.n_memories as f64, document_frequency as f64);
    let rarity = (n_memories - frequency).max(0.0) + 0.5;
    let information = (rarity / (frequency + 0.5)).ln_1p();
    (information.powf(RARITY_POWER) * f64::from(K1 + 1.0)) as f32
}

/// The share of its weight that a word gets from one memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Saturation {
    floor: f32,
    per_word: f32,
}

impl Saturation {
    pub(crate) fn new(mean_length: f32) -> Self {
        Self { floor: K1 * (1.0 - B), per_word: K1 * B / mean_length }
    }

    /// Returns a value between 0 and 1 that grows with the count and shrinks with the length.
    #[inline]
    pub(crate) fn share(self, count: u16, length: u16) -> f32 {
        self.share_of(f32::from(count), f32::from(length))
    }

    /// The same for texts that are longer than a memory may count.
    #[inline]
    pub(crate) fn share_of(self, count: f32, length: f32) -> f32 {
        count / (count + self.floor + self.per_word * length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rarer_words_weigh_more_and_none_weighs_nothing() {
        let totals = Totals { n_memories: 1000, n_words: 60_000 };
        let weights = [0, 1, 10, 500, 1000].map(|frequency| weight(totals, frequency));
        assert!(weights.is_sorted_by(|a, b| a > b), "{weights:?}");
        assert!(weights.iter().all(|weight| *weight > 0.0));
        assert!((weight(totals, 10) - 21.4).abs() < 0.1, "{weights:?}");
        assert_eq!(Totals::default().mean_length(), 1.0);
    }

    #[test]
    fn more_of_a_word_says_more_and_length_says_less() {
        let share = |count, length| Saturation::new(60.0).share(count, length);
        assert!(share(2, 60) > share(1, 60) && share(1, 30) > share(1, 60));
        assert!((share(1, 60) - 1.0 / 2.2).abs() < 1e-6);
        assert!(share(u16::MAX, 0) < 1.0);
    }
}
