//! Lets those who follow along wait until something is stored, without asking again and again.
//!
//! Whoever waits does so on the thread of their own connection: the workers, and so everybody else,
//! only ever see a short question.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use iai_wire::Call;
use serde_json::Value;

use super::connections::Desk;
use super::workers::DEADLINE;
use crate::fields::Fields as _;

/// The method that waits.
pub(super) const METHOD: &str = "memory_arrivals";
/// How long a call waits at most, and unless it says otherwise: less than a client's patience.
const WAIT_MS: u64 = 15_000;

/// Counts what was stored, and wakes those who wait for more.
#[derive(Default)]
pub(super) struct News {
    n_told: Mutex<u64>,
    changed: Condvar,
}

impl News {
    /// Says that something was stored.
    pub(super) fn tell(&self) {
        let mut n_told = self.n_told();
        *n_told = n_told.wrapping_add(1);
        drop(n_told);
        self.changed.notify_all();
    }

    /// Returns a mark of this moment.
    fn now(&self) -> u64 {
        *self.n_told()
    }

    /// Waits until something is stored after the mark; false when only time has passed.
    fn wait(&self, mark: u64, limit: Duration) -> bool {
        let is_same = |n_told: &mut u64| *n_told == mark;
        let waited = self.changed.wait_timeout_while(self.n_told(), limit, is_same);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    fn n_told(&self) -> MutexGuard<'_, u64> {
        self.n_told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers as soon as there is something to tell, and at the end of the wait in any case.
pub(super) fn follow(call: &Call, desk: &Desk) -> Value {
    let until = Instant::now() + wait_of(call);
    loop {
        // Before the store is read: what is stored meanwhile ends the wait at once.
        let mark = desk.face.news().now();
        let reply = desk.workers.answer(call.clone(), DEADLINE);
        let arrived = reply.at("result").at("memories").as_array();
        let is_nothing = arrived.is_some_and(Vec::is_empty);
        let left = until.saturating_duration_since(Instant::now());
        if !is_nothing || !has_place(call) || !desk.face.news().wait(mark, left) {
            return reply;
        }
    }
}

/// A call that does not say from where on only asks where the end is.
fn has_place(call: &Call) -> bool {
    call.params.read().at("after").is_u64()
}

fn wait_of(call: &Call) -> Duration {
    let wanted = call.params.read().at("wait_ms").as_u64();
    Duration::from_millis(wanted.unwrap_or(WAIT_MS).min(WAIT_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_before_the_wait_ends_it_at_once() {
        let news = News::default();
        let mark = news.now();
        news.tell();
        assert!(news.wait(mark, Duration::from_secs(86_400)));
        assert!(!news.wait(news.now(), Duration::ZERO));
    }

    #[test]
    fn everybody_who_waits_is_woken() {
        let news = News::default();
        let mark = news.now();
        std::thread::scope(|scope| {
            let wait = || scope.spawn(|| news.wait(mark, Duration::from_secs(86_400)));
            let waiting = [wait(), wait(), wait()];
            news.tell();
            for woken in waiting {
                assert!(woken.join().unwrap());
            }
        });
    }
}
