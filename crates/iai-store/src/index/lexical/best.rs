//! The best hits so far.

use super::LexicalHit;

/// The best so far, at most twice as many as wanted.
pub(super) struct Best {
    pub(super) limit: usize,
    hits: Vec<LexicalHit>,
    /// What a hit needs at least; 0 until there are enough.
    pub(super) floor: f32,
}

impl Best {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, hits: Vec::new(), floor: 0.0 }
    }

    pub(super) fn is_full(&self) -> bool {
        self.floor > 0.0
    }

    pub(super) fn take(&mut self, hit: LexicalHit) {
        self.hits.push(hit);
        if self.limit.saturating_mul(2) <= self.hits.len() {
            self.cut();
        }
    }

    pub(super) fn cut(&mut self) {
        if self.hits.len() < self.limit {
            return;
        }
        let last = self.limit.saturating_sub(1);
        let (_, lowest, _) = self.hits.select_nth_unstable_by(last, order);
        self.floor = lowest.score;
        self.hits.truncate(self.limit);
    }

    /// Returns the hits, best first, then by number.
    pub(super) fn finish(mut self) -> Vec<LexicalHit> {
        self.hits.sort_unstable_by(order);
        self.hits.truncate(self.limit);
        self.hits
    }
}

fn order(one: &LexicalHit, other: &LexicalHit) -> std::cmp::Ordering {
    other.score.total_cmp(&one.score).then(one.number.cmp(&other.number))
}
