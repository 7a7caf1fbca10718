//! What the daemon shows of itself: the answer to `status`, kept ready so that it waits for
//! nothing but a look into the spool folder; the first one, and the first after something was
//! forgotten, counts the memories on a connection of its own.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use iai_memory::{MemoryEngine, OrganiseStatus};
use iai_wire::PROTOCOL_VERSION;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::drain::files::glance;
use super::lifecycle::Phase;
use super::models::Models;
use super::news::News;
use super::tally::{Storing, Tally};

/// Shared by every thread; each lock is held for a few instructions only.
pub(super) struct Face {
    started_at: Timestamp,
    /// Where turns wait; looked into when somebody asks between two passes over it.
    spool: PathBuf,
    changing: Mutex<Changing>,
    /// Memories in the store.
    stored: Tally,
    /// Spool lines set aside.
    set_aside: AtomicU64,
    /// Turns in spool files that are not for us.
    foreign: AtomicU64,
    /// Why nobody knows how many memories there are.
    uncountable: Mutex<Option<String>>,
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
    news: News,
}

struct Changing {
    phase: Phase,
    drained_at: Option<Timestamp>,
    oldest_pending_at: Option<Timestamp>,
    /// A pass is under way, and `pending` tells more than the folder.
    is_draining: bool,
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
    pub(super) fn new(started_at: Timestamp, spool: PathBuf) -> Self {
        Self {
            started_at,
            spool,
            changing: Mutex::new(Changing {
                phase: Phase::Starting,
                drained_at: None,
                oldest_pending_at: None,
                is_draining: false,
                paused: None,
                session: None,
            }),
            stored: Tally::default(),
            set_aside: AtomicU64::new(0),
            foreign: AtomicU64::new(0),
            uncountable: Mutex::new(None),
            pending: AtomicU64::new(0),
            tokens_served: AtomicU64::new(0),
            models: OnceLock::new(),
            engine: OnceLock::new(),
            rss_when_ready: OnceLock::new(),
            news: News::default(),
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

    /// Shows how many lines were set aside, and has the memories counted by whoever asks next: when
    /// the store is opened and after something was forgotten. `add` keeps both up.
    pub(super) fn show_store(&self, n_set_aside: Option<u64>) {
        if let Some(n) = n_set_aside {
            self.set_aside.store(n, Ordering::Relaxed);
        }
        self.stored.doubt();
    }

    /// Counts the memories, as soon as there is a store to count.
    fn count(&self) -> Option<u64> {
        let counted = self.engine.get()?.n_said();
        let why = counted.as_ref().err().map(ToString::to_string);
        let before = std::mem::replace(&mut *self.uncountable(), why.clone());
        // Told once, however often somebody asks.
        if let Some(error) = why.filter(|_| before.is_none()) {
            tracing::error!(error, "the store cannot be counted");
        }
        counted.ok()
    }

    /// Held by whoever stores, from before its commit until it is shown.
    pub(super) fn storing(&self) -> Storing<'_> {
        self.stored.storing()
    }

    /// Shows what was just taken in. The stored turns come last, so that whoever sees them sees the
    /// rest too.
    pub(super) fn add(&self, n_stored: u64, n_set_aside: u64) {
        self.set_aside.fetch_add(n_set_aside, Ordering::Relaxed);
        self.stored.add(n_stored);
        if 0 < n_stored {
            self.news.tell();
        }
    }

    /// Returns what wakes those who follow along.
    pub(super) fn news(&self) -> &News {
        &self.news
    }

    /// Counts what an answer handed to an assistant.
    pub(super) fn add_tokens(&self, n_tokens: u64) {
        self.tokens_served.fetch_add(n_tokens, Ordering::Relaxed);
    }

    /// Shows what waits while a pass is under way.
    pub(super) fn show_pending(&self, n: u64) {
        self.pending.store(n, Ordering::Relaxed);
        self.changing().is_draining = true;
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
        changing.is_draining = false;
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
        let (pending, oldest) = self.waiting();
        let stored = self.stored.get(|| self.count());
        let changing = self.changing();
        let phase = changing.phase.as_str();
        let uptime = now.duration_since(self.started_at).as_secs_f64();
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
            "store_problem": self.store_problem(),
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
            "stored": self.uncountable().is_none().then_some(stored),
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

    /// Why nothing is stored any more, when that is so.
    fn store_problem(&self) -> Option<String> {
        let problem = self.engine.get()?.check_place().err().map(|error| error.to_string());
        problem.or_else(|| self.uncountable().clone())
    }

    /// How many turns wait, and since when. What arrived since the last pass counts too: the next
    /// one may wait for more to come.
    fn waiting(&self) -> (u64, Option<Timestamp>) {
        let (is_draining, oldest) = {
            let changing = self.changing();
            (changing.is_draining, changing.oldest_pending_at)
        };
        let shown = (self.pending.load(Ordering::Relaxed), oldest);
        let (pending, oldest) = match is_draining {
            true => shown,
            false => glance(&self.spool).map_or(shown, |(n_turns, oldest)| {
                (n_turns.saturating_sub(self.foreign.load(Ordering::Relaxed)), oldest)
            }),
        };
        (pending, oldest.filter(|_| 0 < pending))
    }

    fn uncountable(&self) -> MutexGuard<'_, Option<String>> {
        self.uncountable.lock().unwrap_or_else(PoisonError::into_inner)
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
        let face = Face::new(now, PathBuf::from("/nowhere"));
        face.add(2, 0);
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
    fn what_waits_between_two_passes_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let now = Timestamp::UNIX_EPOCH;
        let face = Face::new(now, folder.path().to_owned());
        face.show_drained(0, 0, None, now);
        assert_eq!(face.status(now)["pending"], 0);
        let lines = "{\"version\":1}\n{\"text\":\"a\"}\n{\"text\":\"b\"}\n";
        std::fs::write(folder.path().join("s-1.jsonl"), lines).unwrap();
        let status = face.status(now);
        assert_eq!((&status["pending"], &status["captured"]), (&json!(2), &json!(2)));
        assert!(status["oldest_pending_at"].is_string());
        face.show_pending(1);
        assert_eq!(face.status(now)["pending"], 1, "a pass knows better");
    }

    #[test]
    fn a_pause_ends_when_it_said_it_would() {
        let now = Timestamp::UNIX_EPOCH;
        let later = now + jiff::SignedDuration::from_secs(61);
        let face = Face::new(now, PathBuf::from("/nowhere"));
        face.pause(Some(60), now);
        assert_eq!(face.status(now)["scheduler_paused"], true);
        assert_eq!(face.status(later)["scheduler_paused"], false);
        face.pause(None, now);
        assert_eq!(face.status(later)["scheduler_paused"], true);
        face.resume();
        assert_eq!(face.status(now)["scheduler_paused"], false);
    }
}
