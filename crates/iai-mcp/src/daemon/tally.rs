//! How many memories `status` tells of: counted when somebody first asks, then kept up by those who
//! store.
//!
//! Whoever stores adds what is new after its commit. A count in between sees it already, and it
//! would be there twice for good: so a count holds only when nobody was storing meanwhile. Until
//! then, and again after something was forgotten, the number is doubtful, and whoever looks counts.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A number that many threads add to.
#[derive(Default)]
pub(super) struct Tally {
    n: AtomicU64,
    /// How often somebody began to store, and ended it.
    n_begun: AtomicU64,
    n_ended: AtomicU64,
    is_sure: AtomicBool,
}

/// Somebody may have stored what is not added yet.
pub(super) struct Storing<'a>(&'a Tally);

impl Drop for Storing<'_> {
    fn drop(&mut self) {
        self.0.n_ended.fetch_add(1, Ordering::SeqCst);
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
        self.is_sure.store(false, Ordering::SeqCst);
    }

    /// Returns the number; `count` is asked only while it is doubtful.
    pub(super) fn get(&self, count: impl FnOnce() -> Option<u64>) -> u64 {
        let known = self.n.load(Ordering::SeqCst);
        if self.is_sure.load(Ordering::SeqCst) {
            return known;
        }
        let n_ended = self.n_ended.load(Ordering::SeqCst);
        let is_quiet = |tally: &Self| tally.n_begun.load(Ordering::SeqCst) == n_ended;
        let Some(counted) = is_quiet(self).then(count).flatten() else { return known };
        let is_kept = is_quiet(self)
            && self.n.compare_exchange(known, counted, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        self.is_sure.store(is_kept, Ordering::SeqCst);
        if is_kept { counted } else { self.n.load(Ordering::SeqCst) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_beside_somebody_who_stores_is_made_again() {
        let tally = Tally::default();
        let storing = tally.storing();
        tally.add(1);
        // Its commit would be counted, and then added: once too often.
        assert_eq!(tally.get(|| panic!("not while somebody stores")), 1);
        drop(storing);
        assert_eq!(tally.get(|| Some(3)), 3);
        assert_eq!(tally.get(|| panic!("it is known now")), 3);
        tally.doubt();
        assert_eq!(tally.get(|| Some(2)), 2, "something was forgotten");
    }

    #[test]
    fn what_is_stored_during_a_count_makes_it_doubtful() {
        let tally = Tally::default();
        let counted = tally.get(|| {
            let _storing = tally.storing();
            tally.add(1);
            Some(3)
        });
        assert_eq!((counted, tally.get(|| Some(4))), (1, 4));
        assert_eq!(tally.get(|| panic!("it is known now")), 4);
    }
}
