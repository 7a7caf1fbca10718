//! The index of all memories: loaded when it is first needed, in step with every write from then
//! on, its segments stored behind the writers' backs.

use std::sync::{Arc, Mutex, PoisonError};

use iai_store::{MemoryIndex, SharedIndex, Store};

use crate::bell::{Bell, Call};
use crate::engine::MemoryEngine;
use crate::error::Result;

/// Full tails that may wait to become segments; with one more, the writer stores one itself.
const FROZEN_MAX: usize = 4;

/// The index, and who works on it.
#[derive(Default)]
pub(crate) struct IndexRoom {
    shared: Arc<SharedIndex>,
    /// One load at a time: whoever comes second finds it done.
    loading: Mutex<()>,
    /// One segment at a time: a second maker would make the same.
    tending: Mutex<()>,
    bell: Bell,
}

impl IndexRoom {
    pub(crate) fn of(store: &Store) -> Self {
        Self { shared: Arc::clone(store.index()), ..Self::default() }
    }
}

impl MemoryEngine {
    /// Loads the index unless it is loaded. Nobody else is held up for long: the memories are read
    /// beside the writer, which then only adds what came in meanwhile.
    pub fn load_index(&self) -> Result<()> {
        let _one_at_a_time = self.index.loading.lock().unwrap_or_else(PoisonError::into_inner);
        if self.index.shared.is_loaded() {
            return Ok(());
        }
        let loaded = self.read(|reader| Ok(reader.load_index()?))?;
        if self.is_read_only() {
            self.index.shared.install(loaded);
        } else {
            self.with_writer(|store| Ok(store.adopt_index(loaded)?))?;
            self.index.bell.ring();
        }
        Ok(())
    }

    /// Asks the index, which is loaded first if need be.
    pub(crate) fn with_index<T>(&self, ask: impl FnOnce(&MemoryIndex) -> T) -> Result<T> {
        if !self.index.shared.is_loaded() {
            self.load_index()?;
        }
        Ok(self.index.shared.with(ask).expect("an index that was loaded stays loaded"))
    }

    /// Returns how many memories the index knows, if it is loaded.
    pub(crate) fn n_indexed(&self) -> Option<usize> {
        self.index.shared.with(|index| index.catalogue().len())
    }

    /// Stores one segment that is due; false when none is.
    pub fn tend_index(&self) -> Result<bool> {
        let _one_at_a_time = self.index.tending.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(made) = self.index.shared.make_due() else { return Ok(false) };
        self.with_writer(|store| Ok(store.keep(made)?))?;
        Ok(true)
    }

    /// Stores segments as they become due, until [`Self::stop_tending`]. An error ends it: what
    /// could not be stored is made again at the next start.
    pub fn tend_until_stopped(&self) -> Result<()> {
        while self.index.bell.wait() == Call::Work {
            while !self.index.bell.is_over() && self.tend_index()? {}
        }
        Ok(())
    }

    /// Ends [`Self::tend_until_stopped`], now or before it begins.
    pub fn stop_tending(&self) {
        self.index.bell.end();
    }

    /// Has segments stored after a write: by whoever tends the index, or here when nobody does.
    pub(crate) fn after_write(&self) -> Result<()> {
        match self.index.shared.with(|index| index.size().n_frozen).unwrap_or(0) {
            0 => {}
            1..=FROZEN_MAX => self.index.bell.ring(),
            _ => drop(self.tend_index()?),
        }
        Ok(())
    }
}
