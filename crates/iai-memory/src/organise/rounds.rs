//! Rounds of quiet work: when the next one begins, what it did, and those who want one now.

use std::collections::BTreeMap;
use std::sync::PoisonError;
use std::time::Duration;

use iai_store::{NewEvent, PatternStatus, Role, Severity, StepProgress};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::quiet::{self, Moment, QuietWindow};
use super::reflection::ReflectionStatus;
use super::room::{Done, HeldFor, Served};
use super::{Effects, Occasion, STEPS};
use crate::bell::Call;
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::patterns::sentence;

/// A load of turns goes first, and so do hooks that fire one after another and wait for the same
/// disk: the work begins when nothing came in for so long …
const QUIET: Duration = Duration::from_secs(1);
/// … or after so many waits, should the turns never cease.
const QUIET_WAITS_MAX: u32 = 30;
/// The step row in which rounds are counted.
const ROUNDS: &str = "rounds";
/// Pattern candidates told with an answer.
const CANDIDATES_TOLD_MAX: usize = 20;

/// How the thread that organises knows the time, and how long nobody must have been there.
pub struct Pace<'a> {
    /// The clock.
    pub clock: &'a dyn Fn() -> Timestamp,
    /// Idle work begins when nothing was asked and nothing came in for so long.
    pub idle_min: Duration,
    /// Called when a round of idle work is over; returns at once.
    pub after_idle_round: &'a dyn Fn(),
}

/// How long somebody waits for work they asked for.
#[derive(Debug, Clone, Copy)]
pub struct Patience(pub Duration);

/// What a round on demand did.
#[derive(Debug, Clone, Serialize)]
pub struct ConsolidateAnswer {
    /// Always `heavy`: every step is run.
    pub mode: &'static str,
    /// Always `tier0`: no language model is asked.
    pub tier: &'static str,
    /// Summaries that were not there before.
    pub summaries_created: u64,
    /// Summaries whose text changed.
    pub summaries_updated: u64,
    /// What became of weak links.
    pub decay_result: DecayResult,
    /// Patterns that are not sure yet.
    pub schema_candidates: Vec<Candidate>,
    /// What each step did, where it did anything.
    pub steps: BTreeMap<&'static str, Effects>,
    /// Whether everything is done; if not, the rest goes on behind.
    pub is_finished: bool,
    /// The step that is under way.
    pub at_step: Option<&'static str>,
    /// How many steps are over, and how many there are.
    pub n_steps_over: usize,
    /// How many steps there are.
    pub n_steps: usize,
    /// Steps that failed three times and rest for a day.
    pub resting: Vec<&'static str>,
}

/// What became of weak links.
#[derive(Debug, Clone, Default, Serialize)]
pub struct DecayResult {
    /// Links that are weaker than they were.
    pub decayed: u64,
    /// Links that are gone.
    pub pruned: u64,
}

/// A pattern that is not sure yet.
#[derive(Debug, Clone, Serialize)]
pub struct Candidate {
    /// What it says.
    pub pattern: String,
    /// The share of cases in which it holds.
    pub confidence: f64,
    /// How many cases show it.
    pub evidence_count: u64,
}

/// What idle work did since somebody last looked. The names are the contract's.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Digest {
    /// Rounds that did something.
    pub rem_cycles_completed: u64,
    /// Memories looked at for the first time.
    pub episodes_processed: u64,
    /// Patterns found.
    pub schemas_induced_tier0: u64,
    /// Whether the user's own program was asked to reflect.
    pub claude_call_used: bool,
    /// Always 0.
    pub quota_used_pct: f64,
    /// One sentence about the most telling thing.
    pub main_insight_text: Option<String>,
    /// Always `null`: `topology` measures it when asked.
    pub sigma_observed: Option<f64>,
    /// Always 0: identity changes only by hand.
    pub s5_drift_alerts: u64,
    /// Filled in by the daemon.
    pub daemon_uptime_hours: f64,
    /// Rounds that were left before their end.
    pub timed_out_cycles: u64,
}

impl Digest {
    fn is_any(&self) -> bool {
        0 < self.rem_cycles_completed
    }
}

/// What the daemon tells about quiet work without asking the store.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct OrganiseStatus {
    /// When the last round of idle work was finished.
    pub round_at: Option<Timestamp>,
    /// The part of the day at which nobody is there.
    pub quiet_window: Option<QuietWindow>,
    /// What it did since somebody looked, when that is anything.
    pub digest: Option<Digest>,
    /// The step that is under way.
    pub at_step: Option<&'static str>,
    /// How reflection stands.
    pub reflection: ReflectionStatus,
}

/// What is kept about rounds.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Rounds {
    finished_at: Option<Timestamp>,
    digest: Digest,
}

impl MemoryEngine {
    /// Organises as turns come in, when nobody is there, and when somebody wants it, until
    /// [`Self::stop_organising`].
    pub fn organise_until_stopped(&self, pace: &Pace<'_>) -> Result<()> {
        let room = &self.organise;
        room.state().is_tended = true;
        let tended = self.organise_at(pace);
        room.state().is_tended = false;
        tended
    }

    fn organise_at(&self, pace: &Pace<'_>) -> Result<()> {
        let bell = &self.organise.bell;
        self.begin_once((pace.clock)())?;
        loop {
            // A round under way may have heard the ring of who wants one now.
            let is_in_haste = self.organise.demanded().is_some();
            let wait = if is_in_haste { Some(Duration::ZERO) } else { self.idle_wait(pace) };
            match bell.wait_for(wait) {
                Some(Call::Leave) => return Ok(()),
                Some(Call::Work) => {
                    if bell.wait_for_quiet(QUIET, self.quiet_waits_max()) == Call::Leave {
                        return Ok(());
                    }
                    // A round on demand does this too, and tells of it.
                    if self.organise.demanded().is_none() {
                        self.round(Occasion::Soon, pace.clock)?;
                    }
                }
                None => {}
            }
            if self.organise.demanded().is_some() {
                self.round(Occasion::Demand, pace.clock)?;
            } else if self.idle_wait(pace) == Some(Duration::ZERO) {
                self.round(Occasion::Idle, pace.clock)?;
                (pace.after_idle_round)();
            }
        }
    }

    /// Whoever wants a round now waits for no quiet.
    fn quiet_waits_max(&self) -> u32 {
        if self.organise.demanded().is_some() { 0 } else { QUIET_WAITS_MAX }
    }

    /// Looks at what was left the last time, once: whoever calls again after an error waits for
    /// what comes in next.
    fn begin_once(&self, now: Timestamp) -> Result<()> {
        let is_begun = std::mem::replace(&mut self.organise.state().is_begun, true);
        if !is_begun {
            self.organise.bell.ring();
            let (rounds, reflection) = (self.rounds()?, self.reflection_status()?);
            let mut state = self.organise.state();
            (state.round_at, state.digest) = (rounds.finished_at, rounds.digest);
            state.reflection = reflection;
            drop(state);
            self.learn_quiet_window(now)?;
        }
        Ok(())
    }

    /// Ends [`Self::organise_until_stopped`], now or before it begins.
    pub fn stop_organising(&self) {
        self.organise.bell.end();
    }

    /// Holds idle work back until a time, or until [`Self::resume_organising`].
    pub fn hold_organising(&self, until: Option<Timestamp>) {
        self.organise.hold(until);
    }

    /// Lets idle work go on.
    pub fn resume_organising(&self) {
        self.organise.resume();
    }

    /// Has everything done now, and tells what was done when it is finished or patience is. The
    /// rest goes on behind.
    pub fn consolidate(
        &self,
        patience: Patience,
        clock: &dyn Fn() -> Timestamp,
    ) -> Result<ConsolidateAnswer> {
        let wish = self.organise.demand();
        if !self.organise.state().is_tended {
            self.round(Occasion::Demand, clock)?;
        }
        let (done, served) = self.organise.wait_served(wish, patience.0);
        self.answer(done, served)
    }

    /// Has everything done soon, and waits for nothing.
    pub fn wish_round(&self) {
        self.organise.demand();
    }

    /// Tries steps again that rest because they failed.
    pub fn forgive_steps(&self, now: Timestamp) -> Result<()> {
        for step in STEPS {
            self.forgive(*step, now)?;
        }
        self.forgive_reflection(now)
    }

    /// Tells how quiet work stands, without asking the store.
    pub fn organise_status(&self) -> OrganiseStatus {
        let state = self.organise.state();
        OrganiseStatus {
            round_at: state.round_at,
            quiet_window: state.window,
            digest: Some(&state.digest).filter(|digest| digest.is_any()).cloned(),
            at_step: state.done.at_step,
            reflection: state.reflection.clone(),
        }
    }

    /// Tells what idle work did since [`Self::take_digest`]; `None` when that is nothing.
    pub fn digest(&self) -> Result<Option<Digest>> {
        let mut digest = self.rounds()?.digest;
        if !digest.is_any() {
            return Ok(None);
        }
        let best = self.read(|reader| Ok(reader.patterns(None, 1)?))?.into_iter().next();
        let best = best.filter(|pattern| pattern.counted.status == PatternStatus::Auto);
        digest.main_insight_text = best.map(|pattern| sentence(&pattern.counted));
        Ok(Some(digest))
    }

    /// Tells what idle work did, and begins to count anew.
    pub fn take_digest(&self, now: Timestamp) -> Result<Option<Digest>> {
        let digest = self.digest()?;
        if digest.is_some() {
            let rounds = Rounds { digest: Digest::default(), ..self.rounds()? };
            self.put_rounds(&rounds, None, now)?;
        }
        Ok(digest)
    }

    fn round(&self, occasion: Occasion, clock: &dyn Fn() -> Timestamp) -> Result<()> {
        let room = &self.organise;
        let _one_at_a_time = room.at_work.lock().unwrap_or_else(PoisonError::into_inner);
        let served = room.demanded().filter(|_| occasion == Occasion::Demand);
        if occasion != Occasion::Soon {
            room.state().is_wanted = false;
        }
        room.begin_round(served);
        // Summaries came in meanwhile: what looks at all that comes in looks at them now, so that
        // the next round finds nothing new.
        let run = self.run_steps(STEPS, occasion, clock).and_then(|is_whole| {
            let is_more = is_whole && occasion != Occasion::Soon;
            if is_more { self.run_steps(STEPS, Occasion::Soon, clock) } else { Ok(is_whole) }
        });
        let done = room.end_round(served);
        if !done.effects.is_empty() {
            iai_store::return_free_memory();
        }
        // What failed is tried again with the next turn or in an hour, not at once.
        if run.is_err() {
            room.state().round_at = Some(clock());
        }
        let is_whole = run?;
        if occasion != Occasion::Soon {
            self.keep_round(occasion, &done, is_whole, clock())?;
        }
        Ok(())
    }

    fn keep_round(
        &self,
        occasion: Occasion,
        done: &Done,
        is_whole: bool,
        now: Timestamp,
    ) -> Result<()> {
        let mut rounds = self.rounds()?;
        if is_whole {
            rounds.finished_at = Some(now);
            self.organise.state().round_at = Some(now);
        } else {
            self.organise.state().is_wanted = true;
        }
        let n = |step: &str, what: &str| {
            done.effects.get(step).and_then(|effects| effects.get(what)).copied().unwrap_or(0)
        };
        let did_anything = !done.effects.is_empty();
        let digest = &mut rounds.digest;
        digest.rem_cycles_completed += u64::from(did_anything);
        digest.timed_out_cycles += u64::from(!is_whole);
        digest.episodes_processed += n("nearness", "memories_compared");
        digest.schemas_induced_tier0 += n("patterns", "patterns_found");
        let event = did_anything.then(|| round_event(occasion, done, now));
        self.put_rounds(&rounds, event.as_ref(), now)?;
        self.learn_quiet_window(now)
    }

    /// Notes that a program outside was asked.
    pub(super) fn note_outside_call(&self, now: Timestamp) -> Result<()> {
        let mut rounds = self.rounds()?;
        rounds.digest.claude_call_used = true;
        self.put_rounds(&rounds, None, now)
    }

    fn rounds(&self) -> Result<Rounds> {
        let state = self.read(|reader| Ok(reader.step(ROUNDS)?))?.state;
        Ok(serde_json::from_value(state).unwrap_or_default())
    }

    fn put_rounds(&self, rounds: &Rounds, event: Option<&NewEvent>, now: Timestamp) -> Result<()> {
        let state = serde_json::to_value(rounds).unwrap_or_else(|_| json!({}));
        let progress = StepProgress { state, ..StepProgress::default() };
        self.organise.state().digest = rounds.digest.clone();
        self.write(|writing| {
            if let Some(event) = event {
                writing.event(event)?;
            }
            Ok(writing.put_step(ROUNDS, &progress, now)?)
        })
    }

    /// Returns how long to wait for idle work; `None` when only a ring can bring it.
    fn idle_wait(&self, pace: &Pace<'_>) -> Option<Duration> {
        let room = &self.organise;
        let now = (pace.clock)();
        let held = match room.held_for(now) {
            Some(HeldFor::Ever) => return None,
            Some(HeldFor::Time(left)) => left,
            None => Duration::ZERO,
        };
        let idle_for = room.idle_for();
        let state = room.state();
        let (window, round_at, is_wanted) = (state.window, state.round_at, state.is_wanted);
        let moment = Moment { now, idle_for, idle_min: pace.idle_min, window, round_at, is_wanted };
        Some(quiet::wait_for_idle_work(&moment).max(held))
    }

    fn learn_quiet_window(&self, now: Timestamp) -> Result<()> {
        let window = self.with_index(|index| {
            let catalogue = index.catalogue();
            let known = catalogue.newest_first().filter_map(|number| catalogue.entry(number));
            // A file that was taught says when it was written, not when somebody was there.
            let said = known.filter(|entry| entry.role != Role::System);
            QuietWindow::learn(said.map(|entry| entry.turn_at_ms), now)
        })?;
        self.organise.state().window = window;
        Ok(())
    }

    fn answer(&self, done: Done, served: Served) -> Result<ConsolidateAnswer> {
        let n = |step: &str, what: &str| {
            done.effects.get(step).and_then(|effects| effects.get(what)).copied().unwrap_or(0)
        };
        let patterns = self.read(|reader| Ok(reader.patterns(None, usize::MAX)?))?;
        let pending = patterns.iter().filter(|p| p.counted.status == PatternStatus::Pending);
        let candidate = |pattern: &iai_store::Pattern| Candidate {
            pattern: sentence(&pattern.counted),
            confidence: pattern.counted.confidence,
            evidence_count: pattern.counted.n_evidence,
        };
        Ok(ConsolidateAnswer {
            mode: "heavy",
            tier: "tier0",
            summaries_created: n("summaries", "summaries_created"),
            summaries_updated: n("summaries", "summaries_updated"),
            decay_result: DecayResult {
                // Links fade by themselves: nothing is rewritten for it.
                decayed: 0,
                pruned: n("fading_links", "links_pruned"),
            },
            schema_candidates: pending.take(CANDIDATES_TOLD_MAX).map(candidate).collect(),
            is_finished: served == Served::Whole,
            n_steps_over: match done.at_step {
                Some(name) => STEPS.iter().position(|step| step.name() == name).unwrap_or(0),
                None => STEPS.len(),
            },
            n_steps: STEPS.len(),
            at_step: done.at_step,
            resting: done.resting,
            steps: done.effects,
        })
    }
}

fn round_event(occasion: Occasion, done: &Done, now: Timestamp) -> NewEvent {
    let mut data = json!({
        "occasion": if occasion == Occasion::Idle { "idle" } else { "demand" },
        "steps": done.effects,
    });
    if let Some(fields) = data.as_object_mut().filter(|_| !done.resting.is_empty()) {
        fields.insert("resting".to_owned(), Value::from(done.resting.clone()));
    }
    NewEvent {
        kind: "cls_consolidation_run".to_owned(),
        severity: Some(Severity::Info),
        domain: Some("memory".to_owned()),
        at: now,
        data,
        session: None,
        sources: Vec::new(),
    }
}
