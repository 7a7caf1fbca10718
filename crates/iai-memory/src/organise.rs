//! The quiet work over what the store holds: one scheduler, small steps, each resumable.
//!
//! A step changes a bounded amount in one transaction, together with how far it has come, and
//! returns. Between steps, and inside the longer ones, whoever asks something goes first. A step
//! that finds nothing new changes nothing, however often it is called.

mod retention;

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use crate::bell::{Bell, Call};
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::remarks::FindRemarks;
use crate::uses::CountUses;

/// The work there is, in the order it is done.
static STEPS: &[&dyn Step] = &[&FindRemarks, &CountUses, &retention::Retention];

/// A load of turns goes first: the work begins when nothing came in for so long …
const QUIET: Duration = Duration::from_millis(250);
/// … or after so many waits, should the turns never cease.
const QUIET_WAITS_MAX: u32 = 40;
/// Those who go first are waited for so long; a step that never came to work would starve.
const MAKING_WAY_MAX: Duration = Duration::from_secs(5);

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
#[cfg_attr(not(test), expect(dead_code, reason = "idle work comes with the next steps"))]
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

/// What a step has to know about the moment.
pub(crate) struct Shift<'a> {
    /// The time.
    pub(crate) now: Timestamp,
    room: &'a OrganiseRoom,
}

impl Shift<'_> {
    /// Tells whether the step has to return soon: somebody asks something, or the daemon leaves.
    /// Work between two looks takes a few milliseconds at most.
    pub(crate) fn must_make_way(&self) -> bool {
        self.room.bell.is_over() || *self.room.n_asking() > 0
    }
}

/// Who asks, and who wakes the one thread that organises.
#[derive(Default)]
pub(crate) struct OrganiseRoom {
    bell: Bell,
    n_asking: Mutex<usize>,
    way_is_free: Condvar,
}

impl OrganiseRoom {
    fn n_asking(&self) -> MutexGuard<'_, usize> {
        self.n_asking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until nobody asks anything.
    fn make_way(&self) {
        let is_taken = |n: &mut usize| *n > 0;
        drop(self.way_is_free.wait_timeout_while(self.n_asking(), MAKING_WAY_MAX, is_taken));
    }
}

/// Held while a request is answered: quiet work makes way.
pub struct Asking<'a>(&'a OrganiseRoom);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let mut n_asking = self.0.n_asking();
        *n_asking = n_asking.saturating_sub(1);
        if *n_asking == 0 {
            self.0.way_is_free.notify_all();
        }
    }
}

impl MemoryEngine {
    /// Has quiet work make way until the answer is there.
    pub fn asking(&self) -> Asking<'_> {
        *self.organise.n_asking() += 1;
        Asking(&self.organise)
    }

    /// Organises as turns come in, until [`Self::stop_organising`].
    pub fn organise_until_stopped(&self, clock: &dyn Fn() -> Timestamp) -> Result<()> {
        let bell = &self.organise.bell;
        bell.ring();
        while bell.wait() == Call::Work {
            if bell.wait_for_quiet(QUIET, QUIET_WAITS_MAX) == Call::Leave {
                break;
            }
            self.run_steps(STEPS, |due| due == Due::Soon, clock)?;
        }
        Ok(())
    }

    /// Organises what came in, now, and returns what was done: by step, by what it was.
    pub fn organise_now(
        &self,
        clock: &dyn Fn() -> Timestamp,
    ) -> Result<BTreeMap<&'static str, BTreeMap<&'static str, u64>>> {
        self.run_steps(STEPS, |due| due == Due::Soon, clock)
    }

    /// Ends [`Self::organise_until_stopped`], now or before it begins.
    pub fn stop_organising(&self) {
        self.organise.bell.end();
    }

    /// Says that there is something to organise.
    pub(crate) fn wake_organiser(&self) {
        self.organise.bell.ring();
    }

    /// Calls each step that `is_wanted` until it has nothing to do.
    pub(crate) fn run_steps(
        &self,
        steps: &[&dyn Step],
        is_wanted: impl Fn(Due) -> bool,
        clock: &dyn Fn() -> Timestamp,
    ) -> Result<BTreeMap<&'static str, Effects>> {
        let mut done: BTreeMap<&'static str, Effects> = BTreeMap::new();
        for step in steps.iter().filter(|step| is_wanted(step.due())) {
            while !self.organise.bell.is_over() {
                let shift = Shift { now: clock(), room: &self.organise };
                match step.advance(self, &shift)? {
                    Advance::Nothing => break,
                    Advance::MadeWay => self.organise.make_way(),
                    Advance::Did(effects) => add(done.entry(step.name()).or_default(), &effects),
                }
            }
        }
        Ok(done)
    }
}

fn add(sum: &mut Effects, effects: &Effects) {
    for (what, n) in effects {
        *sum.entry(what).or_default() += n;
    }
}

#[cfg(test)]
mod tests {
    use iai_store::{KeySource, StorePaths};

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

    #[test]
    fn a_step_is_called_until_it_has_nothing_to_do_and_then_does_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path());
        let clock = || Timestamp::UNIX_EPOCH;
        let run = || engine.run_steps(&[&CountToThree], |due| due == Due::Soon, &clock).unwrap();
        assert_eq!(run(), BTreeMap::from([("count", Effects::from([("n", 2)]))]));
        assert!(run().is_empty());
        let idle = engine.run_steps(&[&CountToThree], |due| due == Due::Idle, &clock).unwrap();
        assert!(idle.is_empty());
    }

    #[test]
    fn whoever_asks_goes_first() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path());
        let shift = Shift { now: Timestamp::UNIX_EPOCH, room: &engine.organise };
        assert!(!shift.must_make_way());
        let (first, second) = (engine.asking(), engine.asking());
        drop(first);
        assert!(shift.must_make_way());
        drop(second);
        assert!(!shift.must_make_way());
        engine.stop_organising();
        assert!(shift.must_make_way());
    }
}
