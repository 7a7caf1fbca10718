//! The index of all memories: loaded when it is first needed, in step with every write from then
//! on, its segments stored behind the writers' backs.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use iai_store::{MemoryIndex, SharedIndex, Store};

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
    signal: Mutex<Signal>,
    changed: Condvar,
}

/// What the thread that tends the index is told.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Signal {
    #[default]
    Rest,
    Work,
    Stop,
}

impl IndexRoom {
    pub(crate) fn of(store: &Store) -> Self {
        Self { shared: Arc::clone(store.index()), ..Self::default() }
    }

    fn tell(&self, signal: Signal) {
        let mut told = self.signal.lock().unwrap_or_else(PoisonError::into_inner);
        if *told != Signal::Stop {
            *told = signal;
        }
        self.changed.notify_all();
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
            self.index.tell(Signal::Work);
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
        loop {
            let told = self.index.signal.lock().unwrap_or_else(PoisonError::into_inner);
            let mut told = self
                .index
                .changed
                .wait_while(told, |told| *told == Signal::Rest)
                .unwrap_or_else(PoisonError::into_inner);
            if *told == Signal::Stop {
                return Ok(());
            }
            *told = Signal::Rest;
            drop(told);
            while self.tend_index()? {
                if *self.index.signal.lock().unwrap_or_else(PoisonError::into_inner) == Signal::Stop
                {
                    return Ok(());
                }
            }
        }
    }

    /// Ends [`Self::tend_until_stopped`], now or before it begins.
    pub fn stop_tending(&self) {
        self.index.tell(Signal::Stop);
    }

    /// Has segments stored after a write: by whoever tends the index, or here when nobody does.
    pub(crate) fn after_write(&self) -> Result<()> {
        match self.index.shared.with(|index| index.size().n_frozen).unwrap_or(0) {
            0 => {}
            1..=FROZEN_MAX => self.index.tell(Signal::Work),
            _ => drop(self.tend_index()?),
        }
        Ok(())
    }
}
