//! Captures that come while a commit is under way share the next one: whoever gets the writer first
//! stores what all the others wait with. Each is answered after the commit that holds it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use iai_store::{Inserted, NewMemory, Store, Writing};
use jiff::Timestamp;

use crate::attributes;
use crate::engine::MemoryEngine;
use crate::error::{MemoryError, Result};

/// So many share a commit: the first of them waits for the last.
const SHARED_MAX: usize = 64;

/// Those who wait for the writer, in the order they came.
#[derive(Default)]
pub(crate) struct SharingRoom {
    waiting: Mutex<VecDeque<Arc<Waiting>>>,
    #[cfg(test)]
    n_commits: std::sync::atomic::AtomicUsize,
}

struct Waiting {
    new: NewMemory,
    now: Timestamp,
    /// Filled once, by whoever stored it.
    outcome: Mutex<Option<Result<Inserted>>>,
}

impl MemoryEngine {
    /// Stores a memory, in a commit it may share with others. When this returns, it is on disk.
    pub(super) fn insert_shared(&self, new: NewMemory, now: Timestamp) -> Result<Inserted> {
        if self.is_read_only() {
            return Err(MemoryError::ReadOnly);
        }
        let own = Arc::new(Waiting { new, now, outcome: Mutex::default() });
        lock(&self.sharing.waiting).push_back(Arc::clone(&own));
        let inserted = self.with_writer(|store| {
            // Nobody else has the writer: what has no outcome yet is in the queue.
            loop {
                if let Some(outcome) = lock(&own.outcome).take() {
                    return outcome;
                }
                self.sharing.store_some(store);
            }
        })?;
        self.after_remembering()?;
        Ok(inserted)
    }
}

impl SharingRoom {
    /// Stores the next few in one transaction. When it fails, each is tried alone, so that what is
    /// wrong with one is told to that one.
    fn store_some(&self, store: &mut Store) {
        let mut waiting = lock(&self.waiting);
        let n_shared = waiting.len().min(SHARED_MAX);
        let some: Vec<Arc<Waiting>> = waiting.drain(..n_shared).collect();
        drop(waiting);
        let together: Result<Vec<Inserted>> =
            self.commit(store, |writing| some.iter().map(|one| one.insert(writing)).collect());
        let outcomes: Vec<Result<Inserted>> = match together {
            Ok(inserted) => inserted.into_iter().map(Ok).collect(),
            Err(error) if some.len() <= 1 => vec![Err(error)],
            Err(_) => {
                some.iter().map(|one| self.commit(store, |writing| one.insert(writing))).collect()
            }
        };
        for (one, outcome) in some.iter().zip(outcomes) {
            *lock(&one.outcome) = Some(outcome);
        }
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

impl Waiting {
    fn insert(&self, writing: &Writing<'_>) -> Result<Inserted> {
        let inserted = writing.insert(&self.new, self.now)?;
        if !matches!(inserted, Inserted::Forgotten(_)) {
            attributes::give_at_once(writing, &self.new)?;
        }
        Ok(inserted)
    }
}

/// Nobody panics while holding one of these, and if: what is in it is as good as before.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use iai_store::{Role, Tier};
    use serde_json::json;

    use super::*;
    use crate::ingest::{CaptureAsk, captured};
    use crate::trial::Trial;

    fn new(text: &str, now: Timestamp) -> NewMemory {
        let ask = CaptureAsk {
            text: text.to_owned(),
            cue: None,
            tier: Tier::Episodic,
            role: Role::User,
            session: "s".to_owned(),
            project: None,
            cwd: None,
        };
        captured(&ask, now)
    }

    #[test]
    fn captures_that_wait_share_a_commit_and_one_that_fails_fails_alone() {
        const N: usize = 12;
        let trial = Trial::new();
        let (engine, now) = (&trial.engine, Timestamp::UNIX_EPOCH);
        let outcomes: Vec<Result<Inserted>> = std::thread::scope(|scope| {
            let begun = |n| {
                let mut new = new(&format!("capture {n}"), now);
                // The store refuses provenance that is no object.
                new.provenance = if n == 3 { json!([]) } else { json!({}) };
                scope.spawn(move || engine.insert_shared(new, now))
            };
            let threads = engine.with_writer(|_| {
                let threads: Vec<_> = (0..N).map(begun).collect();
                while lock(&engine.sharing.waiting).len() < N {
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
        let (engine, now) = (&trial.engine, Timestamp::UNIX_EPOCH);
        std::thread::scope(|scope| {
            engine
                .with_writer(|_| {
                    for n in 0..N {
                        let new = new(&format!("capture {n}"), now);
                        scope.spawn(move || engine.insert_shared(new, now).unwrap());
                    }
                    while lock(&engine.sharing.waiting).len() < N {
                        std::thread::yield_now();
                    }
                    Ok(())
                })
                .unwrap();
        });
        assert_eq!(engine.sharing.n_commits.load(Ordering::Relaxed), 1);
        assert_eq!(engine.overview().unwrap().memories, N as u64);
    }
}
