//! What the daemon shows of itself: the answer to `status`, kept ready so that it never waits for
//! anything.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use iai_memory::{MemoryEngine, OrganiseStatus};
use iai_wire::PROTOCOL_VERSION;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::lifecycle::Phase;
use super::models::Models;

/// Shared by every thread; each lock is held for a few instructions only.
pub(super) struct Face {
    started_at: Timestamp,
    changing: Mutex<Changing>,
    /// Memories in the store.
    stored: AtomicU64,
    /// Spool lines set aside.
    set_aside: AtomicU64,
    /// Turns in spool files that are not for us.
    foreign: AtomicU64,
    /// Turns waiting in the spool.
    pending: AtomicU64,
    /// Tokens that answers handed to assistants since the start.
    tokens_served: AtomicU64,
    /// Known once the store is open.
    models: OnceLock<Arc<Models>>,
    /// Known once the store is open.
    engine: OnceLock<Arc<MemoryEngine>>,
    /// What the process took when the store was open, in MiB.
    rss_when_ready: OnceLock<u64>,
}

struct Changing {
    phase: Phase,
    drained_at: Option<Timestamp>,
    oldest_pending_at: Option<Timestamp>,
    paused: Option<Pause>,
    session: Option<String>,
}

#[derive(Clone, Copy)]
enum Pause {
    UntilResumed,
    Until(Timestamp),
}

/// What became of the wish to consolidate now.
pub(super) enum Asked {
    Begun,
    UnderWay,
    /// The store is still being opened.
    TooEarly,
}

impl Face {
    pub(super) fn new(started_at: Timestamp) -> Self {
        Self {
            started_at,
            changing: Mutex::new(Changing {
                phase: Phase::Starting,
                drained_at: None,
                oldest_pending_at: None,
                paused: None,
                session: None,
            }),
            stored: AtomicU64::new(0),
            set_aside: AtomicU64::new(0),
            foreign: AtomicU64::new(0),
            pending: AtomicU64::new(0),
            tokens_served: AtomicU64::new(0),
            models: OnceLock::new(),
            engine: OnceLock::new(),
            rss_when_ready: OnceLock::new(),
        }
    }

    /// Shows how far the models are from now on.
    pub(super) fn show_models(&self, models: Arc<Models>) {
        self.models.get_or_init(|| models);
    }

    /// Shows what quiet work does from now on, and holds it back if that was asked for before.
    pub(super) fn show_engine(&self, engine: Arc<MemoryEngine>) {
        if let Some(rss) = rss_mib("VmRSS:") {
            self.rss_when_ready.get_or_init(|| rss);
        }
        let paused = self.changing().paused;
        hold(self.engine.get_or_init(|| engine), paused);
    }

    pub(super) fn show_phase(&self, phase: Phase) {
        self.changing().phase = phase;
    }

    /// Shows what the store holds; counted once, when it is opened, and kept up by `add`.
    pub(super) fn show_store(&self, n_stored: u64, n_set_aside: u64) {
        self.set_aside.store(n_set_aside, Ordering::Relaxed);
        self.stored.store(n_stored, Ordering::Relaxed);
    }

    /// Shows what was just taken in. The stored turns come last, so that whoever sees them sees the
    /// rest too.
    pub(super) fn add(&self, n_stored: u64, n_set_aside: u64) {
        self.set_aside.fetch_add(n_set_aside, Ordering::Relaxed);
        self.stored.fetch_add(n_stored, Ordering::Release);
    }

    /// Counts what an answer handed to an assistant.
    pub(super) fn add_tokens(&self, n_tokens: u64) {
        self.tokens_served.fetch_add(n_tokens, Ordering::Relaxed);
    }

    /// Shows what waits while a pass is under way.
    pub(super) fn show_pending(&self, n: u64) {
        self.pending.store(n, Ordering::Relaxed);
    }

    pub(super) fn show_drained(
        &self,
        pending: u64,
        foreign: u64,
        oldest: Option<Timestamp>,
        now: Timestamp,
    ) {
        self.pending.store(pending, Ordering::Relaxed);
        self.foreign.store(foreign, Ordering::Relaxed);
        let mut changing = self.changing();
        changing.drained_at = Some(now);
        changing.oldest_pending_at = oldest;
    }

    pub(super) fn open_session(&self, session: Option<String>) {
        self.changing().session = session;
    }

    /// Holds consolidation back; a pause without an end lasts until `resume`.
    pub(super) fn pause(&self, seconds: Option<u64>, now: Timestamp) {
        let until = seconds.and_then(|seconds| {
            let seconds = i64::try_from(seconds).ok()?;
            now.checked_add(jiff::SignedDuration::from_secs(seconds)).ok()
        });
        let paused = Some(until.map_or(Pause::UntilResumed, Pause::Until));
        self.changing().paused = paused;
        self.engine.get().into_iter().for_each(|engine| hold(engine, paused));
    }

    pub(super) fn resume(&self) {
        self.changing().paused = None;
        self.engine.get().into_iter().for_each(|engine| hold(engine, None));
    }

    /// Has everything consolidated, and waits for nothing.
    pub(super) fn consolidate(&self) -> Asked {
        let Some(engine) = self.engine.get() else { return Asked::TooEarly };
        let is_under_way = engine.organise_status().at_step.is_some();
        engine.wish_round();
        if is_under_way { Asked::UnderWay } else { Asked::Begun }
    }

    /// Builds the status reply: the founding contract's keys, then ours.
    pub(super) fn status(&self, now: Timestamp) -> Value {
        let changing = self.changing();
        let phase = changing.phase.as_str();
        let uptime = now.duration_since(self.started_at).as_secs_f64();
        let stored = self.stored.load(Ordering::Acquire);
        let pending = self.pending.load(Ordering::Relaxed);
        let failed = self.set_aside.load(Ordering::Relaxed) + self.foreign.load(Ordering::Relaxed);
        let paused_until = match changing.paused {
            Some(Pause::Until(until)) if now < until => Some(until.to_string()),
            _ => None,
        };
        let is_paused =
            paused_until.is_some() || matches!(changing.paused, Some(Pause::UntilResumed));
        let organised = self.engine.get().map(|engine| engine.organise_status());
        let OrganiseStatus { round_at, quiet_window, digest, at_step, reflection } =
            organised.unwrap_or_default();
        let oldest = changing.oldest_pending_at.filter(|_| 0 < pending);
        json!({
            "ok": true,
            "state": phase,
            "uptime_sec": uptime.max(0.0),
            "version": env!("CARGO_PKG_VERSION"),
            "fsm_state": phase,
            "last_tick_at": changing.drained_at.max(round_at).map(|at| at.to_string()),
            "quiet_window": quiet_window.map(|window| [window.start_bucket, window.n_buckets]),
            "pending_digest": digest.map(|digest| json!({
                "rem_cycles_completed": digest.rem_cycles_completed,
                "episodes_processed": digest.episodes_processed,
                "schemas_induced_tier0": digest.schemas_induced_tier0,
                "claude_call_used": digest.claude_call_used,
            })),
            "drained_at": changing.drained_at.map(|at| at.to_string()),
            "memory": memory_use(self.rss_when_ready.get().copied()),
            "consolidated_at": round_at.map(|at| at.to_string()),
            "consolidating": at_step,
            "reflection": reflection,
            "daemon_started_at": self.started_at.to_string(),
            "scheduler_paused": is_paused,
            "paused_until": paused_until,
            "protocol": PROTOCOL_VERSION,
            "pid": std::process::id(),
            "captured": stored + pending + failed,
            "stored": stored,
            "pending": pending,
            "failed": failed,
            "oldest_pending_at": oldest.map(|at| at.to_string()),
            "last_session": changing.session,
            "tokens_served": self.tokens_served.load(Ordering::Relaxed),
            "model": self.models.get().map(|models| models.show()),
            "embedding_model": self.models.get().and_then(|models| models.serving()),
            "embedding_pending": self.models.get().map_or(1, |models| models.n_pending()),
        })
    }

    fn changing(&self) -> MutexGuard<'_, Changing> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the process takes, where the system tells.
fn memory_use(when_ready: Option<u64>) -> Value {
    json!({
        "rss_mib": rss_mib("VmRSS:"),
        "rss_mib_when_ready": when_ready,
        "rss_mib_peak": rss_mib("VmHWM:"),
    })
}

fn rss_mib(name: &str) -> Option<u64> {
    let facts = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = facts.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? / 1024)
}

fn hold(engine: &MemoryEngine, paused: Option<Pause>) {
    match paused {
        None => engine.resume_organising(),
        Some(Pause::UntilResumed) => engine.hold_organising(None),
        Some(Pause::Until(until)) => engine.hold_organising(Some(until)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contracts_keys_are_there_and_the_counts_add_up() {
        let now = Timestamp::UNIX_EPOCH;
        let face = Face::new(now);
        face.show_store(2, 0);
        face.show_drained(3, 1, Some(now), now);
        let status = face.status(now);
        for key in [
            "ok",
            "state",
            "uptime_sec",
            "version",
            "fsm_state",
            "last_tick_at",
            "quiet_window",
            "pending_digest",
            "daemon_started_at",
            "scheduler_paused",
            "protocol",
            "captured",
        ] {
            assert!(status.get(key).is_some(), "{key}");
        }
        assert_eq!(status["captured"], 6);
        assert_eq!(status["state"], status["fsm_state"]);
    }

    #[test]
    fn a_pause_ends_when_it_said_it_would() {
        let now = Timestamp::UNIX_EPOCH;
        let later = now + jiff::SignedDuration::from_secs(61);
        let face = Face::new(now);
        face.pause(Some(60), now);
        assert_eq!(face.status(now)["scheduler_paused"], true);
        assert_eq!(face.status(later)["scheduler_paused"], false);
        face.pause(None, now);
        assert_eq!(face.status(later)["scheduler_paused"], true);
        face.resume();
        assert_eq!(face.status(now)["scheduler_paused"], false);
    }
}
