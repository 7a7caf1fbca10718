//! The index of all memories: loaded when it is first needed, in step with every write from then
//! on, its segments stored behind the writers' backs.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use iai_store::{IndexPace, MemoryIndex, SharedIndex, Store};

use crate::engine::MemoryEngine;
use crate::error::Result;

/// Full tails that may wait to become segments; with one more, the writer stores one itself.
const FROZEN_MAX: usize = 4;
/// Turns stored together that make a bulk load.
const BULK_TURNS_MIN: usize = 100;
/// A shorter tail is read again by the next start in less time than a segment is worth.
const SEALED_MIN: usize = 512;
/// A bulk load is over when none came for this long, twice at most.
const BULK_QUIET: Duration = Duration::from_secs(1);

/// The index, and who works on it.
#[derive(Default)]
pub(crate) struct IndexRoom {
    shared: Arc<SharedIndex>,
    /// One load at a time: whoever comes second waits, and finds it done.
    is_loading: Mutex<bool>,
    settled: Condvar,
    /// One segment at a time: a second maker would make the same.
    tending: Mutex<()>,
    told: Mutex<Told>,
    changed: Condvar,
}

/// What the thread that tends the index is told.
#[derive(Default)]
struct Told {
    signal: Signal,
    bulk: Bulk,
    /// Somebody listens.
    is_tended: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Signal {
    #[default]
    Rest,
    Work,
    Stop,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Bulk {
    #[default]
    None,
    /// One was stored since somebody looked.
    Running,
    /// None was.
    Quiet,
}

/// A load that is under way, until it is dropped.
struct Loading<'a>(&'a IndexRoom);

impl Drop for Loading<'_> {
    fn drop(&mut self) {
        *self.0.is_loading() = false;
        self.0.settled.notify_all();
    }
}

impl IndexRoom {
    pub(crate) fn of(store: &Store) -> Self {
        Self { shared: Arc::clone(store.index()), ..Self::default() }
    }

    /// Has the index follow what was written, beside whoever writes next.
    pub(crate) fn follow(&self) {
        self.shared.follow();
    }

    /// Tells whether the index broke while it followed.
    pub(crate) fn is_broken(&self) -> bool {
        self.shared.is_broken()
    }

    /// Begins a load when nobody else is at one; nothing when the index is loaded.
    fn begin_loading(&self) -> Option<Loading<'_>> {
        let others = self.settled.wait_while(self.is_loading(), |is_loading| *is_loading);
        let mut is_loading = others.unwrap_or_else(PoisonError::into_inner);
        if self.shared.is_loaded() {
            return None;
        }
        *is_loading = true;
        Some(Loading(self))
    }

    fn is_loading(&self) -> MutexGuard<'_, bool> {
        self.is_loading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, signal: Signal) {
        let mut told = self.told();
        if told.signal != Signal::Stop {
            told.signal = signal;
        }
        self.changed.notify_all();
    }

    /// Waits for something to do.
    fn wait(&self) -> Task {
        let mut told = self.told();
        told.is_tended = true;
        loop {
            match told.signal {
                Signal::Stop => return Task::Stop,
                Signal::Work => {
                    told.signal = Signal::Rest;
                    return Task::Tend;
                }
                Signal::Rest => {}
            }
            told = match told.bulk {
                Bulk::None => self.changed.wait(told).unwrap_or_else(PoisonError::into_inner),
                Bulk::Running | Bulk::Quiet => {
                    let (mut told, waited) = self
                        .changed
                        .wait_timeout(told, BULK_QUIET)
                        .unwrap_or_else(PoisonError::into_inner);
                    match told.bulk {
                        Bulk::Quiet if waited.timed_out() => {
                            told.bulk = Bulk::None;
                            return Task::EndBulk;
                        }
                        Bulk::Running if waited.timed_out() => told.bulk = Bulk::Quiet,
                        Bulk::None | Bulk::Running | Bulk::Quiet => {}
                    }
                    told
                }
            };
        }
    }
}

enum Task {
    Tend,
    EndBulk,
    Stop,
}

impl MemoryEngine {
    /// Loads the index unless it is loaded. Nobody else is held up for long: the memories are read
    /// beside the writer, which then only adds what came in meanwhile.
    pub fn load_index(&self) -> Result<()> {
        let Some(_loading) = self.index.begin_loading() else { return Ok(()) };
        if self.is_read_only() {
            let loaded = self.read(|reader| Ok(reader.load_index()?))?;
            self.index.shared.install(loaded);
        } else {
            let helper = self.with_writer(|store| Ok(store.reader()?))?;
            let loaded = self.read(|reader| Ok(reader.load_index_with(helper)?))?;
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

    /// Asks the index if it is loaded: for those who would not wait for it.
    pub(crate) fn with_loaded_index<T>(&self, ask: impl FnOnce(&MemoryIndex) -> T) -> Option<T> {
        self.index.shared.with(ask)
    }

    /// Has the index loaded, for those who wait for it, but not for long: it may have to be made
    /// from every memory. Whoever goes on without it finds less, which is better than nothing.
    pub(crate) fn load_index_within(&self, patience: Duration) {
        let is_loading = self.index.is_loading();
        if *is_loading {
            drop(self.index.settled.wait_timeout_while(is_loading, patience, |is| *is));
            return;
        }
        drop(is_loading);
        match self.is_read_only() {
            true => self.load_read_only_within(patience),
            // Nobody has: this is no daemon, or it failed and is told when somebody asks.
            false => drop(self.load_index()),
        }
    }

    /// Loads on the one connection there is, and ends that when it takes too long.
    fn load_read_only_within(&self, patience: Duration) {
        let Some(_loading) = self.index.begin_loading() else { return };
        let loaded = self.read(|reader| {
            let interrupter = reader.interrupter();
            let (done, is_done) = mpsc::channel::<()>();
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    if is_done.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                        interrupter.interrupt();
                    }
                });
                let loaded = reader.load_index();
                drop(done);
                Ok(loaded?)
            })
        });
        if let Ok(loaded) = loaded {
            self.index.shared.install(loaded);
        }
    }

    /// Returns how many memories the index knows, if it is loaded.
    pub(crate) fn n_indexed(&self) -> Option<usize> {
        self.index.shared.with(|index| index.catalogue().len())
    }

    /// Stores one segment that is due; false when none is.
    pub fn tend_index(&self) -> Result<bool> {
        let _one_at_a_time = self.index.tending.lock().unwrap_or_else(PoisonError::into_inner);
        let pace = match self.index.told().bulk {
            Bulk::None => IndexPace::Calm,
            Bulk::Running | Bulk::Quiet => IndexPace::Hasty,
        };
        let Some(made) = self.index.shared.make_due(pace) else { return Ok(false) };
        self.with_writer(|store| Ok(store.keep(made)?))?;
        Ok(true)
    }

    /// Stores segments as they become due, until [`Self::stop_tending`]. An error ends it: what
    /// could not be stored is made again at the next start.
    pub fn tend_until_stopped(&self) -> Result<()> {
        loop {
            match self.index.wait() {
                Task::Stop => return Ok(()),
                Task::EndBulk => {
                    self.with_writer(|store| Ok(store.end_bulk()?))?;
                    // What was left for later: it is later now.
                    self.index.tell(Signal::Work);
                }
                Task::Tend => {
                    while self.index.told().signal != Signal::Stop && self.tend_index()? {}
                }
            }
        }
    }

    /// Ends [`Self::tend_until_stopped`], now or before it begins.
    pub fn stop_tending(&self) {
        self.index.tell(Signal::Stop);
    }

    /// Stores what is in no segment yet, where it is much: the next start then reads a segment and
    /// not its memories. Done before leaving, and not beside whoever is at a merge, which may take
    /// seconds.
    pub fn seal_index(&self) -> Result<()> {
        // What broke half-way is made again by the next start.
        if self.is_broken() {
            return Ok(());
        }
        let Ok(_one_at_a_time) = self.index.tending.try_lock() else { return Ok(()) };
        self.index.shared.end_tail(SEALED_MIN);
        while let Some(made) = self.index.shared.make_due(IndexPace::Leaving) {
            self.with_writer(|store| Ok(store.keep(made)?))?;
        }
        Ok(())
    }

    /// Makes room when many turns are about to be stored, and somebody will give it back.
    pub(crate) fn before_bulk(&self, n_turns: usize) -> Result<()> {
        if n_turns < BULK_TURNS_MIN {
            return Ok(());
        }
        let mut told = self.index.told();
        if !told.is_tended {
            return Ok(());
        }
        let is_first = told.bulk == Bulk::None;
        told.bulk = Bulk::Running;
        self.index.changed.notify_all();
        drop(told);
        if is_first { self.with_writer(|store| Ok(store.begin_bulk()?)) } else { Ok(()) }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Trial;

    #[test]
    fn who_waits_for_the_index_goes_on_when_it_takes_too_long() {
        let engine = &Trial::new().engine;
        let loading = engine.index.begin_loading().unwrap();
        engine.load_index_within(Duration::from_millis(1));
        assert!(!engine.index.shared.is_loaded());
        drop(loading);
        engine.load_index_within(Duration::from_millis(1));
        assert!(engine.index.shared.is_loaded());
        assert!(engine.index.begin_loading().is_none());
    }

    #[test]
    fn who_leaves_stores_a_long_tail_and_leaves_a_short_one() {
        let trial = Trial::new();
        trial.engine.load_index().unwrap();
        let sealed_after = |n: usize| {
            let texts: Vec<String> = (0..n).map(|n| format!("turn number {n}")).collect();
            trial.tell(&texts.iter().map(String::as_str).collect::<Vec<_>>());
            trial.engine.seal_index().unwrap();
            trial.engine.index.shared.with(|index| index.size().n_segments).unwrap()
        };
        // The range begins with the number 0, which nobody has.
        assert_eq!(sealed_after(SEALED_MIN - 2), 0);
        assert_eq!(sealed_after(1), 1);
        let _somebody = trial.engine.index.tending.lock().unwrap();
        assert_eq!(sealed_after(SEALED_MIN), 1, "nobody waits for a merge");
    }
}
