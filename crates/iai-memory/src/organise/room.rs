//! Who asks, who holds the quiet work back, who wants it now, and what it has done.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::quiet::QuietWindow;
use super::reflection::ReflectionStatus;
use super::rounds::Digest;
use super::{Effects, add};
use crate::bell::Bell;

/// Those who go first are waited for so long; a step that never came to work would starve.
pub(super) const MAKING_WAY_MAX: Duration = Duration::from_secs(5);
/// Cues that found nothing and are not written down yet; more are not worth a question.
const MISSES_WAITING_MAX: usize = 64;

/// What the thread that organises and everybody else share.
pub(crate) struct OrganiseRoom {
    pub(super) bell: Bell,
    /// Falls only while `state` is held. Read without it: whoever works in the background looks
    /// often, and must never be put to sleep by the kernel while it holds what a request needs.
    n_asking: AtomicUsize,
    state: Mutex<State>,
    changed: Condvar,
    /// One round at a time: two would do the same work twice.
    pub(super) at_work: Mutex<()>,
}

/// What is known about the quiet work at this moment.
pub(super) struct State {
    /// When somebody last asked something, or something came in.
    active_at: Instant,
    held: Option<Hold>,
    /// Somebody listens to the bell.
    pub(super) is_tended: bool,
    /// Somebody has listened before.
    pub(super) is_begun: bool,
    /// Something came in since the last round of idle work was finished.
    pub(super) is_wanted: bool,
    /// Rounds that were asked for, and how many of those are over.
    n_demanded: u64,
    n_served: u64,
    /// The wish that the round under way, or the last one, was begun for.
    n_begun: u64,
    /// What the round under way, or the last one, has done.
    pub(super) done: Done,
    /// What the round did that served a wish last: others may have begun since.
    done_for_wish: Done,
    pub(super) window: Option<QuietWindow>,
    pub(super) round_at: Option<Timestamp>,
    /// What rounds did since somebody looked.
    pub(super) digest: Digest,
    pub(super) reflection: ReflectionStatus,
    misses: Vec<Miss>,
}

/// What a round has done, step by step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Done {
    /// Effects by step, only where there are any.
    pub(crate) effects: BTreeMap<&'static str, Effects>,
    /// The step it is at; `None` when it is over.
    pub(crate) at_step: Option<&'static str>,
    /// Steps that rest because they failed.
    pub(crate) resting: Vec<&'static str>,
}

/// A cue that found nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Miss {
    pub(crate) cue: String,
    pub(crate) asked: String,
    pub(crate) project: String,
    pub(crate) at: Timestamp,
}

/// How long idle work is held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hold {
    UntilResumed,
    Until(Timestamp),
}

impl Default for OrganiseRoom {
    fn default() -> Self {
        let state = State {
            active_at: Instant::now(),
            held: None,
            is_tended: false,
            is_begun: false,
            is_wanted: true,
            n_demanded: 0,
            n_served: 0,
            n_begun: 0,
            done: Done::default(),
            done_for_wish: Done::default(),
            window: None,
            round_at: None,
            digest: Digest::default(),
            reflection: ReflectionStatus::default(),
            misses: Vec::new(),
        };
        Self {
            bell: Bell::default(),
            n_asking: AtomicUsize::new(0),
            state: Mutex::new(state),
            changed: Condvar::new(),
            at_work: Mutex::new(()),
        }
    }
}

impl OrganiseRoom {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to ask.
    pub(super) fn ask(&self) {
        self.n_asking.fetch_add(1, Ordering::SeqCst);
        self.state().active_at = Instant::now();
    }

    /// Ends asking.
    pub(super) fn answered(&self) {
        let mut state = self.state();
        state.active_at = Instant::now();
        if self.n_asking.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.changed.notify_all();
        }
    }

    pub(super) fn is_asked(&self) -> bool {
        0 < self.n_asking.load(Ordering::SeqCst)
    }

    /// Waits until nobody asks anything; false when they ask without end.
    pub(super) fn make_way(&self, patience: Duration) -> bool {
        let is_taken = |_: &mut State| self.is_asked();
        let waited = self.changed.wait_timeout_while(self.state(), patience, is_taken);
        let (_state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        !waited.timed_out()
    }

    /// Says that something came in.
    pub(super) fn wake(&self) {
        let mut state = self.state();
        state.is_wanted = true;
        state.active_at = Instant::now();
        drop(state);
        self.bell.ring();
    }

    pub(super) fn idle_for(&self) -> Duration {
        self.state().active_at.elapsed()
    }

    /// Holds idle work back until a time, or until [`Self::resume`].
    pub(super) fn hold(&self, until: Option<Timestamp>) {
        self.state().held = Some(until.map_or(Hold::UntilResumed, Hold::Until));
        self.bell.ring();
    }

    pub(super) fn resume(&self) {
        self.state().held = None;
        self.bell.ring();
    }

    /// Returns how long idle work is held back from now on; `None` when it is not.
    pub(super) fn held_for(&self, now: Timestamp) -> Option<HeldFor> {
        match self.state().held? {
            Hold::UntilResumed => Some(HeldFor::Ever),
            Hold::Until(until) => {
                let left = Duration::try_from(until.duration_since(now)).unwrap_or_default();
                (!left.is_zero()).then_some(HeldFor::Time(left))
            }
        }
    }

    /// Asks for a round now, and returns the number of that wish. While one is open, another is the
    /// same: whoever asks again and again how far it is must not begin it anew, nor be taken for a
    /// turn that came in.
    pub(super) fn demand(&self) -> u64 {
        let mut state = self.state();
        let is_new = state.n_demanded == state.n_served;
        state.n_demanded += u64::from(is_new);
        let number = state.n_demanded;
        drop(state);
        if is_new {
            self.bell.hurry();
            self.bell.ring();
        }
        number
    }

    pub(super) fn demanded(&self) -> Option<u64> {
        let state = self.state();
        (state.n_served < state.n_demanded).then_some(state.n_demanded)
    }

    /// Begins to count what a round does, for a wish or for none.
    pub(super) fn begin_round(&self, wish: Option<u64>) {
        let mut state = self.state();
        state.n_begun = wish.unwrap_or(0);
        state.done = Done::default();
    }

    pub(super) fn at_step(&self, step: &'static str) {
        self.state().done.at_step = Some(step);
    }

    pub(super) fn did(&self, step: &'static str, effects: &Effects) {
        if effects.values().any(|n| 0 < *n) {
            add(self.state().done.effects.entry(step).or_default(), effects);
        }
    }

    /// Ends a round that served every wish up to this one.
    pub(super) fn end_round(&self, served: Option<u64>) -> Done {
        let mut state = self.state();
        state.done.at_step = None;
        if let Some(served) = served {
            state.n_served = state.n_served.max(served);
            state.done_for_wish = state.done.clone();
        }
        self.changed.notify_all();
        state.done.clone()
    }

    /// Waits until a wish is served, as long as patience lasts, and tells what is done for it so
    /// far: what another round did, before or meanwhile, is none of it.
    pub(super) fn wait_served(&self, wish: u64, patience: Duration) -> (Done, Served) {
        let is_open = |state: &mut State| state.n_served < wish;
        let waited = self.changed.wait_timeout_while(self.state(), patience, is_open);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if wish <= state.n_served {
            return (state.done_for_wish.clone(), Served::Whole);
        }
        let done = if state.n_begun == wish {
            state.done.clone()
        } else {
            Done { at_step: state.done.at_step, ..Done::default() }
        };
        (done, Served::NotYet)
    }

    /// Notes a cue that found nothing, to be written down by whoever organises.
    pub(crate) fn miss(&self, miss: Miss) {
        let mut state = self.state();
        if state.misses.len() < MISSES_WAITING_MAX {
            state.misses.push(miss);
            drop(state);
            self.bell.ring();
        }
    }

    /// Forgets questions that were not noted yet.
    pub(crate) fn drop_misses(&self) {
        drop(self.take_misses());
    }

    pub(super) fn take_misses(&self) -> Vec<Miss> {
        std::mem::take(&mut self.state().misses)
    }
}

/// How long idle work is held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeldFor {
    Time(Duration),
    Ever,
}

/// Whether a wish was served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Served {
    Whole,
    NotYet,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bell::Call;

    fn effects(n: u64) -> Effects {
        Effects::from([("n", n)])
    }

    #[track_caller]
    fn check_told(room: &OrganiseRoom, wish: u64, told: Option<u64>, expect: Served) {
        let (done, served) = room.wait_served(wish, Duration::ZERO);
        assert_eq!(done.effects.get("count"), told.map(effects).as_ref());
        assert_eq!(served, expect);
    }

    #[test]
    fn who_wants_a_round_does_not_wait_for_quiet() {
        let room = OrganiseRoom::default();
        std::thread::scope(|scope| {
            // Were it not for the haste, this would take a day.
            let heard = scope.spawn(|| room.bell.wait_for_quiet(Duration::from_secs(86_400), 1));
            room.demand();
            assert_eq!(heard.join().unwrap(), Call::Work);
        });
    }

    #[test]
    fn who_asks_how_far_it_is_does_not_ring_again() {
        let room = OrganiseRoom::default();
        let wish = room.demand();
        assert!(room.bell.hear_ring());
        assert_eq!((room.demand(), room.bell.hear_ring()), (wish, false));
        room.end_round(Some(wish));
        assert_eq!((room.demand(), room.bell.hear_ring()), (wish + 1, true));
    }

    #[test]
    fn a_wish_is_told_what_was_done_for_it_and_nothing_else() {
        let room = OrganiseRoom::default();
        let first = room.demand();
        room.begin_round(Some(first));
        room.did("count", &effects(7));
        check_told(&room, first, Some(7), Served::NotYet);
        room.end_round(Some(first));
        check_told(&room, first, Some(7), Served::Whole);

        let second = room.demand();
        check_told(&room, second, None, Served::NotYet);
        room.begin_round(None);
        room.at_step("count");
        room.did("count", &effects(3));
        check_told(&room, second, None, Served::NotYet);
        let (under_way, _) = room.wait_served(second, Duration::ZERO);
        assert_eq!(under_way.at_step, Some("count"), "whoever waits sees that something goes on");
        room.end_round(None);
        room.begin_round(Some(second));
        room.did("count", &effects(1));
        room.end_round(Some(second));
        room.begin_round(None);
        check_told(&room, second, Some(1), Served::Whole);
    }
}
