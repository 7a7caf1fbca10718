//! The index as the writer and many readers share it: absent until it is loaded, then always what
//! is committed.

use std::sync::{PoisonError, RwLock};

use super::changes::Changes;
use super::{Made, MemoryIndex};

/// The index of one store, once it is loaded.
#[derive(Default)]
pub struct SharedIndex {
    state: RwLock<Option<MemoryIndex>>,
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
    pub fn make_due(&self) -> Option<Made> {
        let due = self.with(MemoryIndex::due).flatten()?;
        Some(due.make())
    }

    /// Takes over an index that knows every committed memory.
    pub fn install(&self, index: MemoryIndex) {
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = Some(index);
    }

    pub(crate) fn apply(&self, changes: Changes) {
        if let Some(index) = &mut *self.state.write().unwrap_or_else(PoisonError::into_inner) {
            index.apply(changes);
        }
    }

    /// Takes over what was stored.
    pub(crate) fn replace(&self, made: Made) {
        if let Some(index) = &mut *self.state.write().unwrap_or_else(PoisonError::into_inner) {
            index.replace(made.segment);
        }
    }

    /// Ends the growing tail, so that a test need not fill it.
    #[cfg(test)]
    pub(crate) fn freeze(&self) {
        if let Some(index) = &mut *self.state.write().unwrap_or_else(PoisonError::into_inner) {
            index.lexical.freeze();
        }
    }

    /// Tells whether something made is still what the index needs.
    pub(crate) fn is_current(&self, made: &Made) -> bool {
        self.with(|index| index.generation == made.generation) == Some(true)
    }
}
