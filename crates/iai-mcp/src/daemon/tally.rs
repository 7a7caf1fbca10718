//! How many memories `status` tells of: counted when somebody first asks, then kept up by those who
//! store.
//!
//! Whoever stores adds what is new after its commit. A count in between sees it already, and it
//! would be there twice for good: so a count holds only when nobody was storing meanwhile. Until
//! then, and again after something was forgotten, the number is doubtful, and whoever looks counts.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that many threads add to.
pub(super) struct Tally {
    n: AtomicU64,
    /// How often somebody began to store, and ended it.
    n_begun: AtomicU64,
    n_ended: AtomicU64,
    /// How often it became doubtful, and at which of these times somebody counted.
    n_doubts: AtomicU64,
    counted_at: AtomicU64,
}

/// Somebody may have stored what is not added yet.
pub(super) struct Storing<'a>(&'a Tally);

impl Drop for Storing<'_> {
    fn drop(&mut self) {
        self.0.n_ended.fetch_add(1, Ordering::SeqCst);
    }
}

impl Default for Tally {
    /// Doubtful from the beginning: nobody has counted.
    fn default() -> Self {
        let zero = AtomicU64::default;
        Self {
            n: zero(),
            n_begun: zero(),
            n_ended: zero(),
            n_doubts: AtomicU64::new(1),
            counted_at: zero(),
        }
    }
}

impl Tally {
    /// Held from before a commit until what it stored is added.
    pub(super) fn storing(&self) -> Storing<'_> {
        self.n_begun.fetch_add(1, Ordering::SeqCst);
        Storing(self)
    }

    pub(super) fn add(&self, n: u64) {
        self.n.fetch_add(n, Ordering::SeqCst);
    }

    /// Has it counted again by whoever looks next.
    pub(super) fn doubt(&self) {
        self.n_doubts.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns the number; `count` is asked only while it is doubtful. A count beside somebody who
    /// stores is told, but not kept.
    pub(super) fn get(&self, count: impl FnOnce() -> Option<u64>) -> u64 {
        let n_doubts = self.n_doubts.load(Ordering::SeqCst);
        let known = self.n.load(Ordering::SeqCst);
        if self.counted_at.load(Ordering::SeqCst) == n_doubts {
            return known;
        }
        let n_ended = self.n_ended.load(Ordering::SeqCst);
        let is_quiet = |tally: &Self| tally.n_begun.load(Ordering::SeqCst) == n_ended;
        let was_quiet = is_quiet(self);
        let Some(counted) = count() else { return known };
        let is_kept = was_quiet
            && is_quiet(self)
            && self.n.compare_exchange(known, counted, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        if is_kept {
            self.counted_at.store(n_doubts, Ordering::SeqCst);
        }
        counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_beside_somebody_who_stores_is_told_and_made_again() {
        let tally = Tally::default();
        let storing = tally.storing();
        // Its commit is counted, and then added: once too often if the count were kept.
        assert_eq!(tally.get(|| Some(3)), 3);
        tally.add(1);
        assert_eq!(tally.get(|| Some(3)), 3, "not 1, which is what came in since the start");
        drop(storing);
        assert_eq!(tally.get(|| Some(3)), 3);
        assert_eq!(tally.get(|| panic!("it is known now")), 3);
        tally.doubt();
        assert_eq!(tally.get(|| Some(2)), 2, "something was forgotten");
    }

    #[test]
    fn what_is_stored_or_forgotten_during_a_count_makes_it_doubtful() {
        let tally = Tally::default();
        tally.get(|| {
            let _storing = tally.storing();
            tally.add(1);
            Some(3)
        });
        assert_eq!(tally.get(|| Some(4)), 4);
        assert_eq!(tally.get(|| panic!("it is known now")), 4);
        tally.doubt();
        tally.get(|| {
            tally.doubt();
            Some(4)
        });
        assert_eq!(tally.get(|| Some(2)), 2);
        assert_eq!(tally.get(|| panic!("it is known now")), 2);
    }

    #[test]
    fn where_nothing_can_be_counted_what_came_in_is_told() {
        let tally = Tally::default();
        tally.add(2);
        assert_eq!(tally.get(|| None), 2);
        assert_eq!(tally.get(|| Some(5)), 5);
    }
}
