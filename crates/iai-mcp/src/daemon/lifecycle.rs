//! The daemon's life as one pure function: a state, an event, a time → the next state and what to
//! do.
//!
//! Boot means awake; any request is activity; leaving when idle is leaving. Nothing of this is
//! stored.

use std::time::{Duration, Instant};

use serde::Serialize;

/// What the daemon is doing, in the words of `status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Phase {
    /// The socket answers; the store is being opened.
    Starting,
    Ready,
    Stopping,
}

impl Phase {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Stopping => "stopping",
        }
    }
}

/// Something that happened, from any thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    StoreOpened,
    StoreRefused,
    ConnectionOpened,
    ConnectionClosed,
    Request,
    /// A nudge, or the folder changed.
    SpoolChanged,
    /// A drain pass ended.
    Drained {
        n_pending: u64,
        look_again_in: Option<Duration>,
    },
    /// SIGTERM or SIGINT.
    StopAsked,
    WriterBroke,
    /// Somebody removed or replaced the store's folder.
    StoreGone,
    /// The time that was waited for has come.
    Timer,
}

/// Why the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leave {
    Asked,
    Idle,
    StoreRefused,
    WriterBroke,
    StoreGone,
}

/// What the loop has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    StartDrain,
    Leave(Leave),
}

/// A hook whose file appears still has to sync the folder, and tells us twice: by the file and by
/// a nudge. Draining at once would make it wait for our own sync, and so would the next hook of a
/// host that runs many: a drain waits until nothing came for this long …
const SETTLE: Duration = Duration::from_millis(30);
/// … but no longer than this: its syncs are as many for a crowd as for one, so that of a crowd few
/// have to wait for them.
const GATHER_MAX: Duration = Duration::from_secs(2);

/// The drain runs once at a time; what arrives meanwhile makes it run once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Drain {
    Resting {
        next_at: Option<Instant>,
    },
    /// Something came, and more may.
    Gathering {
        since: Instant,
        last_at: Instant,
    },
    Running {
        is_asked_again: bool,
    },
}

impl Drain {
    /// Returns when it has to begin; one that runs has begun.
    fn due_at(self) -> Option<Instant> {
        match self {
            Self::Resting { next_at } => next_at,
            Self::Gathering { since, last_at } => Some((last_at + SETTLE).min(since + GATHER_MAX)),
            Self::Running { .. } => None,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Lifecycle {
    pub(super) phase: Phase,
    /// `None` means never to leave for idleness.
    idle_limit: Option<Duration>,
    n_connections: usize,
    n_pending: u64,
    active_at: Instant,
    drain: Drain,
}

impl Lifecycle {
    pub(super) fn new(idle_limit: Option<Duration>, now: Instant) -> Self {
        Self {
            phase: Phase::Starting,
            idle_limit,
            n_connections: 0,
            n_pending: 0,
            active_at: now,
            drain: Drain::Resting { next_at: None },
        }
    }

    /// Takes one step.
    pub(super) fn step(mut self, event: Event, now: Instant) -> (Self, Option<Action>) {
        let action = match event {
            Event::StoreOpened => {
                self.phase = Phase::Ready;
                self.active_at = now;
                self.ask_drain()
            }
            Event::StoreRefused => self.leave(Leave::StoreRefused),
            Event::StopAsked => self.leave(Leave::Asked),
            Event::WriterBroke => self.leave(Leave::WriterBroke),
            Event::StoreGone => self.leave(Leave::StoreGone),
            Event::ConnectionOpened => {
                self.n_connections += 1;
                self.active_at = now;
                None
            }
            Event::ConnectionClosed => {
                self.n_connections = self.n_connections.saturating_sub(1);
                self.active_at = now;
                None
            }
            Event::Request => {
                self.active_at = now;
                None
            }
            Event::SpoolChanged => {
                self.active_at = now;
                self.plan_drain(now)
            }
            Event::Drained { n_pending, look_again_in } => {
                self.n_pending = n_pending;
                let is_asked_again = self.drain == Drain::Running { is_asked_again: true };
                self.drain = Drain::Resting { next_at: look_again_in.map(|wait| now + wait) };
                if is_asked_again { self.plan_drain(now) } else { None }
            }
            Event::Timer => self.on_timer(now),
        };
        (self, action)
    }

    /// Returns when the loop has to look again although nothing happened.
    pub(super) fn wake_at(&self) -> Option<Instant> {
        [self.idle_at(), self.drain.due_at()].into_iter().flatten().min()
    }

    /// Connections and waiting turns are work; a daemon with work is not idle.
    fn idle_at(&self) -> Option<Instant> {
        let is_resting = matches!(self.drain, Drain::Resting { .. });
        let has_work = 0 < self.n_connections || 0 < self.n_pending || !is_resting;
        if has_work || self.phase != Phase::Ready {
            return None;
        }
        self.idle_limit.map(|limit| self.active_at + limit)
    }

    fn on_timer(&mut self, now: Instant) -> Option<Action> {
        if self.idle_at().is_some_and(|at| at <= now) {
            return self.leave(Leave::Idle);
        }
        let is_due = self.drain.due_at().is_some_and(|at| at <= now);
        if is_due { self.ask_drain() } else { None }
    }

    /// Has the spool drained soon, together with what else arrives by then.
    fn plan_drain(&mut self, now: Instant) -> Option<Action> {
        match (self.phase, self.drain) {
            (Phase::Ready, Drain::Resting { .. }) => {
                self.drain = Drain::Gathering { since: now, last_at: now };
                None
            }
            (Phase::Ready, Drain::Gathering { since, .. }) if now < since + GATHER_MAX => {
                self.drain = Drain::Gathering { since, last_at: now };
                None
            }
            _ => self.ask_drain(),
        }
    }

    fn ask_drain(&mut self) -> Option<Action> {
        match (self.phase, self.drain) {
            (Phase::Ready, Drain::Resting { .. } | Drain::Gathering { .. }) => {
                self.drain = Drain::Running { is_asked_again: false };
                Some(Action::StartDrain)
            }
            (Phase::Ready, Drain::Running { .. }) => {
                self.drain = Drain::Running { is_asked_again: true };
                None
            }
            (Phase::Starting | Phase::Stopping, _) => None,
        }
    }

    fn leave(&mut self, why: Leave) -> Option<Action> {
        if self.phase == Phase::Stopping {
            return None;
        }
        self.phase = Phase::Stopping;
        Some(Action::Leave(why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Duration = Duration::from_secs(60);
    const DRAINED: Event = Event::Drained { n_pending: 0, look_again_in: None };

    /// Plays events, each with the seconds since boot, and returns the actions.
    fn play(events: &[(u64, Event)]) -> (Lifecycle, Vec<Action>) {
        let boot = Instant::now();
        let mut life = Lifecycle::new(Some(IDLE), boot);
        let mut actions = Vec::new();
        for (second, event) in events {
            let (next, action) = life.step(*event, boot + Duration::from_secs(*second));
            life = next;
            actions.extend(action);
        }
        (life, actions)
    }

    #[track_caller]
    fn check(events: &[(u64, Event)], want: &[Action]) {
        assert_eq!(play(events).1, want);
    }

    #[test]
    fn an_opened_store_is_drained_into_at_once() {
        check(&[(0, Event::SpoolChanged)], &[]);
        check(&[(0, Event::SpoolChanged), (1, Event::StoreOpened)], &[Action::StartDrain]);
    }

    #[test]
    fn a_change_during_a_drain_makes_one_more() {
        let events = [
            (0, Event::StoreOpened),
            (1, Event::SpoolChanged),
            (1, Event::SpoolChanged),
            (2, DRAINED),
            (3, Event::Timer),
            (4, DRAINED),
        ];
        check(&events, &[Action::StartDrain, Action::StartDrain]);
    }

    #[test]
    fn what_arrives_together_is_drained_together_and_not_put_off_for_long() {
        let opened = [(0, Event::StoreOpened), (1, DRAINED), (2, Event::SpoolChanged)];
        let (mut life, actions) = play(&opened);
        assert_eq!(actions, [Action::StartDrain]);
        let first_at = life.wake_at().unwrap() - SETTLE;
        let moment = Duration::from_millis(10);
        let mut now = first_at;
        while now + moment < first_at + GATHER_MAX {
            now += moment;
            let (next, action) = life.step(Event::SpoolChanged, now);
            assert_eq!((next.clone().step(Event::Timer, now).1, action), (None, None));
            life = next;
        }
        assert_eq!(life.wake_at(), Some(first_at + GATHER_MAX), "never later");
        for event in [Event::Timer, Event::SpoolChanged] {
            let done = life.clone().step(event, first_at + GATHER_MAX).1;
            assert_eq!(done, Some(Action::StartDrain), "{event:?}");
        }
    }

    #[test]
    fn idleness_ends_it_and_work_does_not_let_it() {
        let leave = Action::Leave(Leave::Idle);
        let idle = [(0, Event::StoreOpened), (1, DRAINED), (59, Event::Timer)];
        check(&idle, &[Action::StartDrain]);
        let idle = [(0, Event::StoreOpened), (1, DRAINED), (60, Event::Timer)];
        check(&idle, &[Action::StartDrain, leave]);
        let connected = [
            (0, Event::StoreOpened),
            (1, DRAINED),
            (2, Event::ConnectionOpened),
            (500, Event::Timer),
            (501, Event::ConnectionClosed),
            (560, Event::Timer),
            (561, Event::Timer),
        ];
        check(&connected, &[Action::StartDrain, leave]);
        let waiting = Event::Drained { n_pending: 3, look_again_in: None };
        check(&[(0, Event::StoreOpened), (1, waiting), (500, Event::Timer)], &[Action::StartDrain]);
    }

    #[test]
    fn a_put_off_file_is_tried_again_in_time() {
        let later = Event::Drained { n_pending: 3, look_again_in: Some(Duration::from_secs(30)) };
        let (life, actions) = play(&[(0, Event::StoreOpened), (1, later), (31, Event::Timer)]);
        assert_eq!(actions, [Action::StartDrain, Action::StartDrain]);
        assert_eq!(life.wake_at(), None);
    }

    #[test]
    fn one_leaves_once() {
        let events = [(0, Event::StopAsked), (1, Event::StopAsked), (2, Event::StoreRefused)];
        check(&events, &[Action::Leave(Leave::Asked)]);
        check(&[(0, Event::StoreRefused)], &[Action::Leave(Leave::StoreRefused)]);
    }

    #[test]
    fn zero_seconds_means_never() {
        let now = Instant::now();
        let (life, _) = Lifecycle::new(None, now).step(Event::StoreOpened, now);
        assert_eq!(life.step(DRAINED, now).0.wake_at(), None);
    }
}
