//! The quiet work over what the store holds: one scheduler, small steps, each resumable.
//!
//! A step changes a bounded amount in one transaction, together with how far it has come, and
//! returns. Between steps, and inside the longer ones, whoever asks something goes first. A step
//! that finds nothing new changes nothing, however often it is called.

mod compact;
mod facts;
mod habits;
mod misses;
mod nearness;
mod quiet;
mod retention;
mod room;
mod rounds;
mod strikes;
mod summaries;
mod terms;
mod topics;

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::attributes::Attributes;
use crate::engine::MemoryEngine;
use crate::error::{MemoryError, Result};
use crate::formality::Formality;
use crate::links::{FadingLinks, SimilarLinks};
use crate::relate::Disputes;
use crate::remarks::FindRemarks;
use crate::uses::CountUses;

pub(crate) use misses::{MISSES_KEPT, miss_of};
pub use quiet::QuietWindow;
pub(crate) use room::OrganiseRoom;
pub use rounds::{ConsolidateAnswer, Digest, OrganiseStatus, Pace, Patience};
pub(crate) use summaries::OWN_HOST;

/// The work there is, in the order it is done.
static STEPS: &[&dyn Step] = &[
    &Attributes,
    &Formality,
    &Disputes,
    &FindRemarks,
    &CountUses,
    &retention::Retention,
    &misses::Misses,
    &SimilarLinks,
    &nearness::Nearness,
    &topics::Topics,
    &summaries::Summaries,
    &facts::Facts,
    &habits::Habits,
    &FadingLinks,
    &compact::Compact,
];

/// One kind of quiet work.
pub(crate) trait Step: Sync {
    /// Its name: the key of its progress in the store.
    fn name(&self) -> &'static str;

    /// When it is due.
    fn due(&self) -> Due;

    /// Does a little; called again while it says that it did something.
    fn advance(&self, engine: &MemoryEngine, shift: &Shift<'_>) -> Result<Advance>;
}

/// When a step is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// As soon as turns come in.
    Soon,
    /// When nobody needs the machine, or when somebody asks for it.
    Idle,
}

/// What a call of a step did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Advance {
    /// There is nothing to do.
    Nothing,
    /// Somebody else goes first; call again.
    MadeWay,
    /// Something was done; call again.
    Did(Effects),
}

/// What was done, counted by what it was: `summaries_created` → 3.
pub(crate) type Effects = BTreeMap<&'static str, u64>;

/// Why a round of steps is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occasion {
    /// Turns came in.
    Soon,
    /// Nobody needs the machine.
    Idle,
    /// Somebody wants everything done now.
    Demand,
}

impl Occasion {
    fn is_for(self, due: Due) -> bool {
        match self {
            Self::Soon => due == Due::Soon,
            Self::Idle | Self::Demand => true,
        }
    }
}

/// What a step has to know about the moment.
pub(crate) struct Shift<'a> {
    /// The time.
    pub(crate) now: Timestamp,
    /// Why it is called.
    pub(crate) occasion: Occasion,
    room: &'a OrganiseRoom,
}

impl Shift<'_> {
    /// Tells whether the step has to return soon: somebody asks something, somebody holds idle work
    /// back, or the daemon leaves. Work between two looks takes a few milliseconds at most.
    pub(crate) fn must_make_way(&self) -> bool {
        self.must_leave() || self.room.is_asked()
    }

    /// Waits inside a computation that holds no lock until nobody asks anything; false when the
    /// step has to give up what it has in hand.
    pub(crate) fn step_aside(&self) -> bool {
        if self.room.is_asked() {
            self.room.make_way();
        }
        !self.must_leave()
    }

    fn must_leave(&self) -> bool {
        let is_held = self.occasion == Occasion::Idle && self.room.held_for(self.now).is_some();
        is_held || self.room.bell.is_over()
    }
}

/// Held while a request is answered: quiet work makes way.
pub struct Asking<'a>(&'a OrganiseRoom);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.0.answered();
    }
}

impl MemoryEngine {
    /// Has quiet work make way until the answer is there.
    pub fn asking(&self) -> Asking<'_> {
        self.organise.ask();
        Asking(&self.organise)
    }

    /// Organises what came in, now, and returns what was done: by step, by what it was.
    pub fn organise_now(
        &self,
        now: Timestamp,
    ) -> Result<BTreeMap<&'static str, BTreeMap<&'static str, u64>>> {
        let soon: Vec<&dyn Step> =
            STEPS.iter().copied().filter(|step| step.due() == Due::Soon).collect();
        self.finish_steps(&soon, now)
    }

    /// Says that there is something to organise.
    pub(crate) fn wake_organiser(&self) {
        self.organise.wake();
    }

    /// Calls steps until they have nothing to do, now and whoever asks meanwhile; returns what each
    /// of them did.
    pub(crate) fn finish_steps(
        &self,
        steps: &[&dyn Step],
        now: Timestamp,
    ) -> Result<BTreeMap<&'static str, Effects>> {
        let mut done: BTreeMap<&'static str, Effects> = BTreeMap::new();
        for step in steps {
            let shift = Shift { now, occasion: Occasion::Demand, room: &self.organise };
            loop {
                match step.advance(self, &shift)? {
                    Advance::Nothing => break,
                    Advance::MadeWay => self.organise.make_way(),
                    Advance::Did(effects) => {
                        let sum = done.entry(step.name()).or_default();
                        effects.iter().for_each(|(what, n)| *sum.entry(what).or_default() += n);
                    }
                }
            }
        }
        Ok(done)
    }

    /// Calls each step the occasion is for until it has nothing to do; false when some were left
    /// because of a hold or because the daemon leaves.
    fn run_steps(
        &self,
        steps: &[&dyn Step],
        occasion: Occasion,
        clock: &dyn Fn() -> Timestamp,
    ) -> Result<bool> {
        for step in steps.iter().filter(|step| occasion.is_for(step.due())) {
            if self.is_resting(*step, clock())? {
                continue;
            }
            self.organise.at_step(step.name());
            let run = self.run_step(*step, occasion, clock, &mut |engine| {
                // Turns that come in meanwhile do not wait for the end of the night.
                if occasion != Occasion::Soon && engine.organise.bell.hear_ring() {
                    engine.run_steps(steps, Occasion::Soon, clock)?;
                    engine.organise.at_step(step.name());
                }
                Ok(())
            });
            match run {
                Ok(true) => self.forgive(*step, clock())?,
                Ok(false) => return Ok(false),
                // Nothing can be written any more, not even the strike.
                Err(error @ (MemoryError::WriterBroken | MemoryError::ReadOnly)) => {
                    return Err(error);
                }
                Err(error) => {
                    let reason = error.to_string();
                    self.write(|w| strikes::strike(w, step.name(), &reason, clock()))?;
                }
            }
        }
        Ok(true)
    }

    /// Calls a step until it has nothing to do; false when it has to be left.
    fn run_step(
        &self,
        step: &dyn Step,
        occasion: Occasion,
        clock: &dyn Fn() -> Timestamp,
        between: &mut dyn FnMut(&Self) -> Result<()>,
    ) -> Result<bool> {
        loop {
            let shift = Shift { now: clock(), occasion, room: &self.organise };
            if shift.must_leave() {
                return Ok(false);
            }
            match step.advance(self, &shift)? {
                Advance::Nothing => return Ok(true),
                Advance::MadeWay => self.organise.make_way(),
                Advance::Did(effects) => self.organise.did(step.name(), &effects),
            }
            between(self)?;
        }
    }

    fn is_resting(&self, step: &dyn Step, now: Timestamp) -> Result<bool> {
        let until = self.read(|reader| strikes::resting_until(reader, step.name(), now))?;
        if until.is_some() {
            self.organise.state().done.resting.push(step.name());
        }
        Ok(until.is_some())
    }

    fn forgive(&self, step: &dyn Step, now: Timestamp) -> Result<()> {
        if self.read(|reader| strikes::has_strikes(reader, step.name()))? {
            self.write(|writing| strikes::clear(writing, step.name(), now))?;
        }
        Ok(())
    }
}

fn add(sum: &mut Effects, effects: &Effects) {
    for (what, n) in effects {
        *sum.entry(what).or_default() += n;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use iai_store::{KeySource, StorePaths};
    use jiff::SignedDuration;

    use super::*;

    /// Does something until its progress says three, and makes way once.
    struct CountToThree;

    impl Step for CountToThree {
        fn name(&self) -> &'static str {
            "count"
        }

        fn due(&self) -> Due {
            Due::Soon
        }

        fn advance(&self, engine: &MemoryEngine, shift: &Shift<'_>) -> Result<Advance> {
            let mut progress = engine.read(|reader| Ok(reader.step(self.name())?))?;
            let n = progress.state.get("n").and_then(serde_json::Value::as_u64).unwrap_or(0);
            if n == 3 {
                return Ok(Advance::Nothing);
            }
            progress.state = serde_json::json!({"n": n + 1});
            engine.write(|writing| Ok(writing.put_step(self.name(), &progress, shift.now)?))?;
            Ok(if n == 1 { Advance::MadeWay } else { Advance::Did(Effects::from([("n", 1)])) })
        }
    }

    /// Fails as often as it is called.
    #[derive(Default)]
    struct Failing(AtomicU64);

    impl Step for Failing {
        fn name(&self) -> &'static str {
            "failing"
        }

        fn due(&self) -> Due {
            Due::Idle
        }

        fn advance(&self, _: &MemoryEngine, _: &Shift<'_>) -> Result<Advance> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Err(MemoryError::bad("test", "as ordered"))
        }
    }

    fn engine(folder: &std::path::Path) -> MemoryEngine {
        let paths = StorePaths {
            folder: folder.to_owned(),
            database: folder.join("memory.db"),
            vault: folder.join("vault.json"),
            key_file: folder.join("key"),
            spool_public: folder.join("spool.pub"),
        };
        MemoryEngine::open(&paths, &KeySource { passphrase: None }, Timestamp::UNIX_EPOCH)
            .unwrap()
            .0
    }

    fn run(engine: &MemoryEngine, steps: &[&dyn Step], occasion: Occasion, hour: i64) -> bool {
        let at = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(hour);
        engine.organise.begin_round();
        engine.run_steps(steps, occasion, &|| at).unwrap()
    }

    #[test]
    fn a_step_is_called_until_it_has_nothing_to_do_and_then_does_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path());
        assert!(run(&engine, &[&CountToThree], Occasion::Soon, 0));
        let done = engine.organise.end_round(None);
        assert_eq!(done.effects, BTreeMap::from([("count", Effects::from([("n", 2)]))]));
        assert!(run(&engine, &[&CountToThree], Occasion::Demand, 0));
        assert!(engine.organise.end_round(None).effects.is_empty());
    }

    #[test]
    fn a_step_that_fails_three_times_rests_for_a_day_and_the_others_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path());
        let failing = Failing::default();
        for (hour, n_calls) in [(0, 1), (1, 2), (2, 3), (3, 3), (25, 3), (26, 4), (27, 5)] {
            assert!(run(&engine, &[&failing, &CountToThree], Occasion::Idle, hour));
            assert_eq!(failing.0.load(Ordering::Relaxed), n_calls, "hour {hour}");
            let done = engine.organise.end_round(None);
            assert_eq!(done.resting.is_empty(), !(3..=25).contains(&hour));
        }
    }

    #[test]
    fn idle_work_is_held_back_and_what_is_wanted_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path());
        engine.hold_organising(Some(Timestamp::UNIX_EPOCH + SignedDuration::from_hours(2)));
        assert!(!run(&engine, &[&CountToThree], Occasion::Idle, 1));
        assert!(engine.organise.end_round(None).effects.is_empty());
        assert!(run(&engine, &[&CountToThree], Occasion::Demand, 1));
        assert_eq!(engine.organise.end_round(None).effects.len(), 1);
        assert!(run(&engine, &[&CountToThree], Occasion::Idle, 2));
        engine.hold_organising(None);
        assert!(!run(&engine, &[&CountToThree], Occasion::Idle, 999));
        engine.resume_organising();
        assert!(run(&engine, &[&CountToThree], Occasion::Idle, 1));
    }

    #[test]
    fn whoever_asks_goes_first() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path());
        let (now, occasion) = (Timestamp::UNIX_EPOCH, Occasion::Idle);
        let shift = Shift { now, occasion, room: &engine.organise };
        assert!(!shift.must_make_way());
        let (first, second) = (engine.asking(), engine.asking());
        drop(first);
        assert!(shift.must_make_way());
        drop(second);
        assert!(!shift.must_make_way() && shift.step_aside());
        engine.stop_organising();
        assert!(shift.must_make_way() && !shift.step_aside());
    }
}
