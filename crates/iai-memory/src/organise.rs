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
mod reflection;
mod retention;
mod room;
mod rounds;
mod strikes;
mod summaries;
mod terms;
mod topics;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use crate::attributes::Attributes;
use crate::engine::MemoryEngine;
use crate::error::{MemoryError, Result};
use crate::formality::Formality;
use crate::links::{EntityLinks, FadingLinks, SimilarLinks};
use crate::relate::Disputes;
use crate::remarks::{FindRemarks, FindSequels};
use crate::uses::CountUses;

pub(crate) use misses::{MISSES_KEPT, miss_of};
pub(crate) use nearness::known_near;
pub use quiet::QuietWindow;
pub use reflection::{ReflectionAsk, ReflectionNext, ReflectionOccasion, ReflectionStatus};
pub(crate) use room::OrganiseRoom;
pub use rounds::{ConsolidateAnswer, Digest, OrganiseStatus, Pace, Patience};
pub(crate) use summaries::{OWN_HOST, UNSAID_HOSTS};
pub(crate) use terms::{alike_beginning, has_alike, is_alike, is_stop_word, n_shared};

/// The work there is, in the order it is done. Nothing here tunes how memories are ranked: why
/// stands in `docs/decisions/0006-consolidation.md`.
static STEPS: &[&dyn Step] = &[
    &Attributes,
    &EntityLinks,
    &Formality,
    &Disputes,
    &FindRemarks,
    &FindSequels,
    &CountUses,
    &retention::Retention,
    &misses::Misses,
    &nearness::Nearness,
    &SimilarLinks,
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
    /// Set when others went first for as long as they may: the next look lets one piece of work by.
    is_overdue: Cell<bool>,
    /// Others asked for as long as they may go first inside this call: what is done is kept now.
    is_pressed: Cell<bool>,
    /// How long those who ask go first.
    patience: Duration,
    /// How often somebody looked whether to make way.
    n_looks: Cell<u64>,
    /// Called at each look.
    #[cfg(test)]
    at_look: Option<&'a dyn Fn()>,
}

impl<'a> Shift<'a> {
    fn new(now: Timestamp, occasion: Occasion, room: &'a OrganiseRoom) -> Self {
        Self {
            now,
            occasion,
            room,
            is_overdue: Cell::new(false),
            is_pressed: Cell::new(false),
            patience: room::MAKING_WAY_MAX,
            n_looks: Cell::new(0),
            #[cfg(test)]
            at_look: None,
        }
    }

    /// Tells whether the step has to return soon: somebody asks something, somebody holds idle work
    /// back, or the daemon leaves. Work between two looks takes a few milliseconds at most.
    pub(crate) fn must_make_way(&self) -> bool {
        self.look();
        self.must_leave() || self.room.is_asked() && !self.is_overdue.take()
    }

    /// Does one piece of work after another and returns those that were done: none when it has to
    /// leave at once. What was done is never thrown away, so that who is interrupted again and
    /// again still comes forward.
    pub(crate) fn one_by_one<'w, T>(
        &self,
        work: &'w [T],
        mut act: impl FnMut(&'w T) -> Result<()>,
    ) -> Result<&'w [T]> {
        let mut n_done = 0;
        for piece in work {
            if !self.lets_by(n_done) {
                break;
            }
            act(piece)?;
            n_done += 1;
        }
        Ok(work.get(..n_done).unwrap_or_default())
    }

    /// Waits until nobody asks anything, and tells whether one more piece of work may be done in
    /// this call. The caller holds no lock. Waiting here and not after a commit is what keeps
    /// commits few: after each, whoever asks reads everything from the disk again.
    pub(crate) fn lets_by(&self, n_done: usize) -> bool {
        self.look();
        if self.must_leave() || self.is_pressed.get() {
            return false;
        }
        if self.room.is_asked() && !self.is_overdue.take() {
            self.is_pressed.set(!self.room.make_way(self.patience));
        }
        // Of those that ask without end, the first piece does not wait any longer.
        !self.must_leave() && (n_done == 0 || !self.is_pressed.get())
    }

    fn look(&self) {
        self.n_looks.set(self.n_looks.get() + 1);
        #[cfg(test)]
        self.at_look.iter().for_each(|look| look());
    }

    /// Waits inside a computation that holds no lock until nobody asks anything; false when the
    /// step has to give up what it has in hand.
    pub(crate) fn step_aside(&self) -> bool {
        self.look();
        if self.room.is_asked() {
            self.room.make_way(self.patience);
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

    /// Waits until nobody asks anything, for as long as quiet work waits.
    pub(crate) fn let_askers_by(&self) {
        self.organise.make_way(room::MAKING_WAY_MAX);
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
            let shift = Shift::new(now, Occasion::Demand, &self.organise);
            loop {
                match step.advance(self, &shift)? {
                    Advance::Nothing => break,
                    Advance::MadeWay => {
                        shift.is_overdue.set(!self.organise.make_way(shift.patience));
                    }
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
        let mut is_overdue = false;
        loop {
            let shift = Shift::new(clock(), occasion, &self.organise);
            shift.is_overdue.set(is_overdue);
            is_overdue = false;
            if shift.must_leave() {
                return Ok(false);
            }
            match step.advance(self, &shift)? {
                Advance::Nothing => return Ok(true),
                Advance::MadeWay => is_overdue = !self.organise.make_way(shift.patience),
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
mod tests;
