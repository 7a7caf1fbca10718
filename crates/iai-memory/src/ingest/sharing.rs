//! Captures that come while a commit is under way share the next one: whoever finds nobody at the
//! writer stores what all the others wait with. Each is answered after the commit that holds it.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use iai_store::{Inserted, Store, Writing};

use super::capturing::Ready;
use crate::engine::MemoryEngine;
use crate::error::{MemoryError, Result};

/// So many share a commit: the first of them waits for the last.
const SHARED_MAX: usize = 64;

/// Those who wait for a commit.
#[derive(Default)]
pub(crate) struct SharingRoom {
    state: Mutex<State>,
    /// An outcome is there, or nobody is at the writer any more.
    changed: Condvar,
    /// One makes its capture ready at a time: the rest of the processor is for those who ask.
    readying: Mutex<()>,
    #[cfg(test)]
    n_commits: std::sync::atomic::AtomicUsize,
}

#[derive(Default)]
struct State {
    /// In the order they came.
    waiting: VecDeque<Arc<Waiting>>,
    /// Somebody stores for all.
    is_led: bool,
}

struct Waiting {
    ready: Ready,
    /// Filled once, by whoever stored it.
    outcome: Mutex<Option<Result<Inserted>>>,
}

/// What was stored together, with what became of each.
type Stored = Vec<(Arc<Waiting>, Result<Inserted>)>;

impl MemoryEngine {
    /// Stores a memory, in a commit it may share with others. When this returns, it is on disk and
    /// can be found.
    pub(super) fn insert_shared(&self, ready: Ready) -> Result<Inserted> {
        if self.is_read_only() {
            return Err(MemoryError::ReadOnly);
        }
        let own = Arc::new(Waiting { ready, outcome: Mutex::default() });
        let room = &self.sharing;
        let mut state = lock(&room.state);
        state.waiting.push_back(Arc::clone(&own));
        loop {
            if let Some(outcome) = lock(&own.outcome).take() {
                return outcome;
            }
            // What somebody has taken along is on its way.
            let is_taken = !state.waiting.iter().any(|other| Arc::ptr_eq(other, &own));
            if state.is_led || is_taken {
                state = room.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            state.is_led = true;
            drop(state);
            if let Err(error) = self.lead() {
                lock(&room.state).waiting.retain(|other| !Arc::ptr_eq(other, &own));
                return Err(error);
            }
            state = lock(&room.state);
        }
    }

    /// Stores what waits. The next may use the writer while the index follows; who waited for this
    /// commit is told when it has.
    fn lead(&self) -> Result<()> {
        let leading = Leading(&self.sharing);
        let stored = self.with_writer(|store| Ok(self.sharing.store_some(store)))?;
        drop(leading);
        let followed = self.after_remembering();
        for (one, outcome) in stored {
            *lock(&one.outcome) = Some(outcome);
        }
        self.sharing.wake_all();
        followed
    }
}

/// Held by whoever stores for all; another may when it is dropped, however that came about.
struct Leading<'a>(&'a SharingRoom);

impl Drop for Leading<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).is_led = false;
        self.0.changed.notify_all();
    }
}

impl SharingRoom {
    /// Waits for one's turn to make a capture ready.
    pub(super) fn readying(&self) -> MutexGuard<'_, ()> {
        lock(&self.readying)
    }

    /// Wakes those who wait. None of them is between looking for an outcome and waiting for one.
    fn wake_all(&self) {
        drop(lock(&self.state));
        self.changed.notify_all();
    }

    /// Stores the next few in one transaction. When it fails, each is tried alone, so that what is
    /// wrong with one is told to that one.
    fn store_some(&self, store: &mut Store) -> Stored {
        let mut state = lock(&self.state);
        let n_shared = state.waiting.len().min(SHARED_MAX);
        let some: Vec<Arc<Waiting>> = state.waiting.drain(..n_shared).collect();
        drop(state);
        let together: Result<Vec<Inserted>> = self
            .commit(store, |writing| some.iter().map(|one| one.ready.insert(writing)).collect());
        let outcomes: Vec<Result<Inserted>> = match together {
            Ok(inserted) => inserted.into_iter().map(Ok).collect(),
            Err(error) if some.len() <= 1 => vec![Err(error)],
            Err(_) => some
                .iter()
                .map(|one| self.commit(store, |writing| one.ready.insert(writing)))
                .collect(),
        };
        some.into_iter().zip(outcomes).collect()
    }

    fn commit<T>(
        &self,
        store: &mut Store,
        work: impl FnOnce(&Writing<'_>) -> Result<T>,
    ) -> Result<T> {
        #[cfg(test)]
        self.n_commits.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        store.write_ahead(work)
    }
}

/// Nobody panics while holding one of these, and if: what is in it is as good as before.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use iai_store::{NewMemory, Role, Tier};
    use jiff::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::ingest::{CaptureAsk, captured};
    use crate::trial::Trial;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn ask(text: &str) -> CaptureAsk {
        CaptureAsk {
            text: text.to_owned(),
            cue: None,
            tier: Tier::Episodic,
            role: Role::User,
            session: "s".to_owned(),
            project: None,
            cwd: None,
        }
    }

    fn new(n: usize) -> NewMemory {
        captured(&ask(&format!("capture {n}")), NOW)
    }

    fn n_waiting(engine: &MemoryEngine) -> usize {
        lock(&engine.sharing.state).waiting.len()
    }

    #[test]
    fn captures_that_wait_share_a_commit_and_one_that_fails_fails_alone() {
        const N: usize = 12;
        let trial = Trial::new();
        let engine = &trial.engine;
        let outcomes: Vec<Result<Inserted>> = std::thread::scope(|scope| {
            let begun = |n| {
                let mut new = new(n);
                // The store refuses provenance that is no object.
                new.provenance = if n == 3 { json!([]) } else { json!({}) };
                let ready = engine.make_ready(new, NOW);
                scope.spawn(move || engine.insert_shared(ready))
            };
            let threads = engine.with_writer(|_| {
                let threads: Vec<_> = (0..N).map(begun).collect();
                while n_waiting(engine) < N {
                    std::thread::yield_now();
                }
                Ok(threads)
            });
            threads.unwrap().into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let n_failed = outcomes.iter().filter(|outcome| outcome.is_err()).count();
        assert!(outcomes[3].is_err() && n_failed == 1, "{outcomes:?}");
        assert_eq!(engine.overview().unwrap().memories, N as u64 - 1);
        // One for all, which failed, and one for each.
        assert_eq!(engine.sharing.n_commits.load(Ordering::Relaxed), N + 1);
    }

    #[test]
    fn those_who_wait_need_one_commit() {
        const N: usize = 12;
        let trial = Trial::new();
        let engine = &trial.engine;
        std::thread::scope(|scope| {
            engine
                .with_writer(|_| {
                    for n in 0..N {
                        let ready = engine.make_ready(new(n), NOW);
                        scope.spawn(move || engine.insert_shared(ready).unwrap());
                    }
                    while n_waiting(engine) < N {
                        std::thread::yield_now();
                    }
                    Ok(())
                })
                .unwrap();
        });
        assert_eq!(engine.sharing.n_commits.load(Ordering::Relaxed), 1);
        assert_eq!(engine.overview().unwrap().memories, N as u64);
    }

    #[test]
    fn what_stands_against_a_capture_is_in_its_commit() {
        let trial = Trial::new();
        let engine = &trial.engine;
        for port in [8080, 9090] {
            let new = captured(&ask(&format!("The billing service listens on port {port}.")), NOW);
            engine.insert_shared(engine.make_ready(new, NOW)).unwrap();
        }
        assert_eq!(engine.sharing.n_commits.load(Ordering::Relaxed), 2);
        let disputes = engine.read(|reader| Ok(reader.open_disputes(9)?)).unwrap();
        assert_eq!(disputes.len(), 1, "{disputes:?}");
    }
}
