//! A bell for a thread that works behind everybody's back: it sleeps until somebody rings.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Rung by those who leave work behind, heard by the one who does it.
#[derive(Default)]
pub(crate) struct Bell {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    n_rings: u64,
    n_heard: u64,
    /// Nobody waits for quiet the next time.
    is_urgent: bool,
    is_over: bool,
}

/// What the bell says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// There is work.
    Work,
    /// Leave now.
    Leave,
}

impl Bell {
    /// Says that there is work.
    pub(crate) fn ring(&self) {
        let mut state = self.state();
        state.n_rings += 1;
        drop(state);
        self.changed.notify_all();
    }

    /// Says that somebody is waiting for the work: it does not wait for quiet.
    pub(crate) fn hurry(&self) {
        self.state().is_urgent = true;
        self.changed.notify_all();
    }

    /// Hears a ring, and the haste with it, without waiting for one; false when there is none.
    pub(crate) fn hear_ring(&self) -> bool {
        let mut state = self.state();
        state.is_urgent = false;
        let has_rung = state.n_rings != state.n_heard;
        state.n_heard = state.n_rings;
        has_rung
    }

    /// Sends the worker away, now or before it comes.
    pub(crate) fn end(&self) {
        self.state().is_over = true;
        self.changed.notify_all();
    }

    /// Tells whether the worker has to leave.
    pub(crate) fn is_over(&self) -> bool {
        self.state().is_over
    }

    /// Sleeps until the bell rings.
    pub(crate) fn wait(&self) -> Call {
        let is_idle = |state: &mut State| state.n_rings == state.n_heard && !state.is_over;
        let state = self.changed.wait_while(self.state(), is_idle);
        hear(state.unwrap_or_else(PoisonError::into_inner))
    }

    /// Sleeps until the bell rings, or for so long; `None` when only time has passed.
    pub(crate) fn wait_for(&self, limit: Option<Duration>) -> Option<Call> {
        let Some(limit) = limit else { return Some(self.wait()) };
        let is_idle = |state: &mut State| state.n_rings == state.n_heard && !state.is_over;
        let waited = self.changed.wait_timeout_while(self.state(), limit, is_idle);
        let (state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        (!waited.timed_out()).then(|| hear(state))
    }

    /// After a ring, waits until it has been quiet for so long; a bell that never stops ringing is
    /// heard after `n_waits_max` times that.
    pub(crate) fn wait_for_quiet(&self, quiet: Duration, n_waits_max: u32) -> Call {
        let begun = Instant::now();
        let limit = quiet.saturating_mul(n_waits_max);
        while begun.elapsed() < limit {
            let state = self.state();
            let (n_rings, is_over) = (state.n_rings, state.is_over || state.is_urgent);
            let is_same =
                |state: &mut State| state.n_rings == n_rings && !state.is_over && !state.is_urgent;
            let waited = self.changed.wait_timeout_while(state, quiet, is_same);
            let is_quiet = waited.unwrap_or_else(PoisonError::into_inner).1.timed_out();
            if is_over || is_quiet {
                break;
            }
        }
        let mut state = self.state();
        state.is_urgent = false;
        hear(state)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn hear(mut state: MutexGuard<'_, State>) -> Call {
    state.n_heard = state.n_rings;
    if state.is_over { Call::Leave } else { Call::Work }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_before_the_wait_is_heard_once() {
        let bell = Bell::default();
        bell.ring();
        bell.ring();
        assert_eq!(bell.wait(), Call::Work);
        bell.end();
        assert_eq!(bell.wait(), Call::Leave);
        assert_eq!(bell.wait_for_quiet(Duration::from_secs(60), 3), Call::Leave);
        assert!(bell.is_over());
    }

    #[test]
    fn time_passes_without_a_ring() {
        let bell = Bell::default();
        assert_eq!(bell.wait_for(Some(Duration::ZERO)), None);
        bell.ring();
        assert_eq!(bell.wait_for(Some(Duration::ZERO)), Some(Call::Work));
        assert_eq!(bell.wait_for(Some(Duration::ZERO)), None);
    }

    #[test]
    fn a_sleeper_is_woken() {
        let bell = Bell::default();
        std::thread::scope(|scope| {
            let heard = scope.spawn(|| bell.wait());
            bell.ring();
            assert_eq!(heard.join().unwrap(), Call::Work);
        });
    }

    #[test]
    fn haste_needs_no_quiet_and_is_over_when_heard() {
        let bell = Bell::default();
        bell.hurry();
        bell.ring();
        assert_eq!(bell.wait(), Call::Work);
        // Were it not for the haste, this would take a day.
        let day = Duration::from_secs(86_400);
        assert_eq!(bell.wait_for_quiet(day, 1), Call::Work);
        assert!(!bell.state().is_urgent);
        bell.hurry();
        bell.ring();
        assert!(bell.hear_ring() && !bell.state().is_urgent);
    }

    #[test]
    fn quiet_comes_at_last() {
        let bell = Bell::default();
        bell.ring();
        assert_eq!(bell.wait_for_quiet(Duration::from_millis(1), 1000), Call::Work);
    }
}
