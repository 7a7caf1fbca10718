//! The index as the writer and many readers share it: absent until it is loaded, then what is
//! committed.
//!
//! A commit only notes its changes here. Whoever committed then lets the store go and has the index
//! follow, so that the next transaction runs meanwhile; nobody is told that something is stored
//! before it can be found.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard};

use super::changes::Changes;
use super::{IndexPace, Made, MemoryIndex};

/// Memories added before readers get their turn.
const ADDED_AT_ONCE_MAX: usize = 256;

/// The index of one store, once it is loaded.
#[derive(Default)]
pub struct SharedIndex {
    state: RwLock<Option<MemoryIndex>>,
    /// Committed, in order, and not followed yet. Taken from only while `state` is held, so that
    /// an empty queue means that the index knows everything noted before.
    behind: Mutex<VecDeque<Changes>>,
}

impl SharedIndex {
    /// Asks the index; nothing when it is not loaded.
    pub fn with<T>(&self, ask: impl FnOnce(&MemoryIndex) -> T) -> Option<T> {
        self.state.read().unwrap_or_else(PoisonError::into_inner).as_ref().map(ask)
    }

    /// Tells whether the index is loaded.
    pub fn is_loaded(&self) -> bool {
        self.with(|_| ()).is_some()
    }

    /// Makes the next segment that is due, without holding anybody up.
    /// [`crate::Store::keep`] stores it.
    pub fn make_due(&self, pace: IndexPace) -> Option<Made> {
        let due = self.with(|index| index.due(pace)).flatten()?;
        Some(due.make())
    }

    /// Takes over an index that knows every committed memory.
    pub fn install(&self, index: MemoryIndex) {
        let mut state = self.writable();
        self.behind().clear();
        *state = Some(index);
    }

    /// Brings the index up to everything that is committed.
    pub fn follow(&self) {
        // Beside a reader's lock nobody is half-way through a part: nothing behind is nothing to
        // do, and nobody who asks has to wait for that.
        let nothing_to_do = || {
            let _beside_readers = self.state.read().unwrap_or_else(PoisonError::into_inner);
            self.behind().is_empty()
        };
        while !nothing_to_do() {
            let mut state = self.writable();
            let Some(changes) = self.next_part() else { return };
            if let Some(index) = &mut *state {
                index.apply(changes);
            }
        }
    }

    /// Tells whether following broke half-way.
    pub fn is_broken(&self) -> bool {
        self.state.is_poisoned()
    }

    /// Notes what a transaction has committed, for [`Self::follow`]. The caller holds the store, so
    /// that notes come in the order of commits.
    pub(crate) fn note(&self, changes: Changes) {
        if !changes.is_empty() {
            self.behind().push_back(changes);
        }
    }

    /// Takes what comes next: all changes of a transaction, or as many as readers can wait for.
    fn next_part(&self) -> Option<Changes> {
        let mut behind = self.behind();
        match behind.front_mut()?.split_added(ADDED_AT_ONCE_MAX) {
            Some(part) => Some(part),
            None => behind.pop_front(),
        }
    }

    fn writable(&self) -> RwLockWriteGuard<'_, Option<MemoryIndex>> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn behind(&self) -> MutexGuard<'_, VecDeque<Changes>> {
        self.behind.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over what was stored.
    pub(crate) fn replace(&self, made: Made) {
        if let Some(index) = &mut *self.writable() {
            index.replace(made.segment);
        }
    }

    /// Ends the growing tail where it has at least so many numbers: it is due to become a segment.
    pub fn end_tail(&self, n_min: usize) {
        if let Some(index) = &mut *self.writable()
            && n_min <= index.lexical.n_growing()
        {
            index.lexical.freeze();
        }
    }

    /// Tells whether something made is still what the index needs.
    pub(crate) fn is_current(&self, made: &Made) -> bool {
        self.with(|index| index.generation == made.generation) == Some(true)
    }
}
