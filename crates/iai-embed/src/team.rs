//! A few threads that share the work of one forward pass and sleep otherwise.
//!
//! Work is handed out task by task: a helper that the system keeps waiting takes none, and the
//! caller does it all. Tasks own what they need, so that nothing here is unsafe.

use std::hint::spin_loop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use crate::error::EmbedError;

/// More helpers gain little on a short text and take cores from others.
const HELPERS_MAX: usize = 3;
/// How often a helper looks for more work before it sleeps: some tens of microseconds, the time
/// between two steps of a forward pass.
const LOOKS_MAX: u32 = 4_000;
/// How often the caller looks for the last results before it lets others run.
const LOOKS_BEFORE_YIELD: u32 = 2_000;

/// The helpers; they end when this is dropped.
pub(crate) struct Team {
    board: Arc<Board>,
    helpers: Vec<JoinHandle<()>>,
}

/// Where the newest job hangs.
struct Board {
    job: Mutex<Option<Arc<dyn Job>>>,
    wake: Condvar,
    n_jobs: AtomicU64,
    n_asleep: AtomicUsize,
    is_over: AtomicBool,
}

trait Job: Send + Sync {
    /// Takes tasks until none is left.
    fn work(&self);
}

struct Tasks<T, F> {
    work: F,
    next: AtomicUsize,
    n_done: AtomicUsize,
    results: Vec<Mutex<Option<T>>>,
}

impl Team {
    /// Gathers one helper for every further core, at most `n_helpers_max`.
    pub(crate) fn new(n_helpers_max: usize) -> Self {
        let n_cores = thread::available_parallelism().map_or(1, usize::from);
        let n_helpers = n_cores.saturating_sub(1).min(HELPERS_MAX).min(n_helpers_max);
        let board = Arc::new(Board {
            job: Mutex::new(None),
            wake: Condvar::new(),
            n_jobs: AtomicU64::new(0),
            n_asleep: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
        });
        let start = |_| {
            let board = Arc::clone(&board);
            let builder = thread::Builder::new().name("iai-embed".to_owned());
            builder.spawn(move || board.help()).ok()
        };
        let helpers = (0..n_helpers).filter_map(start).collect();
        Self { board, helpers }
    }

    /// Returns how many threads work on one text.
    pub(crate) fn n_threads(&self) -> usize {
        self.helpers.len() + 1
    }

    /// Does tasks `0..n_tasks`, each once, and returns their results in order.
    pub(crate) fn map<T, F>(&self, n_tasks: usize, work: F) -> Result<Vec<T>, EmbedError>
    where
        T: Send + 'static,
        F: Fn(usize) -> T + Send + Sync + 'static,
    {
        if self.helpers.is_empty() || n_tasks <= 1 {
            return Ok((0..n_tasks).map(work).collect());
        }
        let results = (0..n_tasks).map(|_| Mutex::new(None)).collect();
        let (next, n_done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let tasks = Arc::new(Tasks { work, next, n_done, results });
        self.board.post(Arc::clone(&tasks) as Arc<dyn Job>);
        tasks.work();
        let mut n_looks = 0u32;
        while tasks.n_done.load(Ordering::Acquire) < n_tasks {
            n_looks += 1;
            if n_looks.is_multiple_of(LOOKS_BEFORE_YIELD) {
                thread::yield_now();
            } else {
                spin_loop();
            }
        }
        let taken = tasks.results.iter().map(|result| held(result).take());
        taken.collect::<Option<Vec<T>>>().ok_or(EmbedError::Interrupted)
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.board.is_over.store(true, Ordering::SeqCst);
        // Holding the lock: a helper about to sleep has seen the end, or will hear this.
        drop(held(&self.board.job).take());
        self.board.wake.notify_all();
        for helper in self.helpers.drain(..) {
            // A helper catches its tasks' panics; were it gone all the same, so would be its work.
            helper.join().ok();
        }
    }
}

impl Board {
    fn post(&self, job: Arc<dyn Job>) {
        let before = held(&self.job).replace(job);
        self.n_jobs.fetch_add(1, Ordering::SeqCst);
        if self.n_asleep.load(Ordering::SeqCst) > 0 {
            // The lock orders this after the sleeper's last look.
            drop(held(&self.job));
            self.wake.notify_all();
        }
        drop(before);
    }

    fn help(&self) {
        let mut n_seen = 0u64;
        while let Some(job) = self.next_job(&mut n_seen) {
            // The panic's task has no result, which its caller notices.
            catch_unwind(AssertUnwindSafe(|| job.work())).ok();
        }
    }

    /// Waits for a job that was posted after the first `n_seen`; `None` at the end.
    fn next_job(&self, n_seen: &mut u64) -> Option<Arc<dyn Job>> {
        for _ in 0..LOOKS_MAX {
            if self.n_jobs.load(Ordering::Acquire) != *n_seen {
                break;
            }
            spin_loop();
        }
        let mut job = held(&self.job);
        while self.n_jobs.load(Ordering::SeqCst) == *n_seen && !self.is_over.load(Ordering::SeqCst)
        {
            self.n_asleep.fetch_add(1, Ordering::SeqCst);
            if self.n_jobs.load(Ordering::SeqCst) == *n_seen {
                job = self.wake.wait(job).unwrap_or_else(PoisonError::into_inner);
            }
            self.n_asleep.fetch_sub(1, Ordering::SeqCst);
        }
        *n_seen = self.n_jobs.load(Ordering::SeqCst);
        if self.is_over.load(Ordering::SeqCst) { None } else { job.clone() }
    }
}

impl<T: Send, F: Fn(usize) -> T + Send + Sync> Job for Tasks<T, F> {
    fn work(&self) {
        loop {
            let task = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(result) = self.results.get(task) else { return };
            let _done = CountedWhenDropped(&self.n_done);
            let value = (self.work)(task);
            *held(result) = Some(value);
        }
    }
}

/// Counts a task as done also when it panics: its caller must not wait for ever.
struct CountedWhenDropped<'a>(&'a AtomicUsize);

impl Drop for CountedWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

/// No state of ours is left half-made by a panic, so poison says nothing here.
fn held<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_is_done_once_and_in_its_place() {
        let team = Team::new(HELPERS_MAX);
        for n_tasks in [0, 1, 2, 7, 100] {
            let counts: Arc<Vec<AtomicUsize>> =
                Arc::new((0..n_tasks).map(|_| AtomicUsize::new(0)).collect());
            let counted = Arc::clone(&counts);
            let work = move |task: usize| {
                counted[task].fetch_add(1, Ordering::SeqCst);
                task * 2
            };
            let want: Vec<usize> = (0..n_tasks).map(|task| task * 2).collect();
            assert_eq!(team.map(n_tasks, work).unwrap(), want);
            assert!(counts.iter().all(|count| count.load(Ordering::SeqCst) == 1));
        }
    }

    #[test]
    fn callers_do_not_mix_up_their_results() {
        let team = Team::new(HELPERS_MAX);
        thread::scope(|scope| {
            for caller in 0..4usize {
                let team = &team;
                scope.spawn(move || {
                    for round in 0..200usize {
                        let got = team.map(8, move |task| (caller, round, task)).unwrap();
                        let want: Vec<_> = (0..8).map(|task| (caller, round, task)).collect();
                        assert_eq!(got, want);
                    }
                });
            }
        });
    }

    #[test]
    fn a_panic_in_a_helper_is_an_error_of_the_caller() {
        let team = Team::new(HELPERS_MAX);
        let caller = thread::current().id();
        let work = move |_: usize| {
            assert!(thread::current().id() == caller, "only the caller may work here");
        };
        // Whoever takes the tasks: either the caller does all, or one is missing.
        let is_told = matches!(team.map(64, work), Ok(_) | Err(EmbedError::Interrupted));
        assert!(is_told);
        assert_eq!(team.map(4, |task| task).unwrap(), [0, 1, 2, 3]);
    }
}
