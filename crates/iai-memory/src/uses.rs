//! What answers leave behind: how often memories are of use, and which disputes were told. Noted
//! while answers are given, written down when it is quiet: who asks does not wait for the disk.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use iai_store::{Dispute, MemoryId, MemoryNumber, Uses};
use jiff::Timestamp;

use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::organise::{Advance, Due, Effects, Shift, Step};

/// Memories whose uses wait to be written down; beyond that, uses are not counted. As many
/// disputes.
const WAITING_MAX: usize = 4096;
/// The hits of one answer that count as recalled; those below fill its room.
const ANSWERS_MAX: usize = 2;
/// Memories whose uses are kept: the latest used.
const KEPT_MAX: usize = 20_000;

/// What was noted and is not written down yet.
#[derive(Default)]
pub(crate) struct UseRoom(Mutex<Noted>);

#[derive(Default)]
struct Noted {
    uses: BTreeMap<MemoryId, Uses>,
    /// Disputes that somebody was told of, by what was said later, and when.
    hinted: BTreeMap<MemoryNumber, Timestamp>,
}

impl UseRoom {
    fn waiting(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells whether somebody was told of a dispute.
    pub(crate) fn was_hinted(&self, dispute: &Dispute) -> bool {
        dispute.hinted_at.is_some() || self.waiting().hinted.contains_key(&dispute.about.later)
    }
}

impl MemoryEngine {
    /// Notes that these memories were an answer, the best first.
    pub(crate) fn note_recalled(&self, ids: impl Iterator<Item = MemoryId>) {
        self.note(ids.take(ANSWERS_MAX), |uses| {
            uses.n_recalled = uses.n_recalled.saturating_add(1);
        });
    }

    /// Notes that somebody said that these memories helped.
    pub(crate) fn note_reinforced(&self, ids: impl Iterator<Item = MemoryId>) {
        self.note(ids, |uses| uses.n_reinforced = uses.n_reinforced.saturating_add(1));
    }

    fn note(&self, ids: impl Iterator<Item = MemoryId>, change: impl Fn(&mut Uses)) {
        if self.is_read_only() {
            return;
        }
        let mut waiting = self.uses.waiting();
        for id in ids {
            if waiting.uses.len() < WAITING_MAX || waiting.uses.contains_key(&id) {
                change(waiting.uses.entry(id).or_default());
            }
        }
        drop(waiting);
        self.wake_organiser();
    }

    /// Notes that somebody was told of a dispute.
    pub(crate) fn note_hinted(&self, dispute: &Dispute, now: Timestamp) {
        let mut waiting = self.uses.waiting();
        if waiting.hinted.len() < WAITING_MAX {
            waiting.hinted.entry(dispute.about.later).or_insert(now);
        }
        drop(waiting);
        self.wake_organiser();
    }

    /// Writes down what was noted; returns how many memories were of use and how many disputes were
    /// told. Done before leaving, too.
    pub fn write_down_uses(&self, now: Timestamp) -> Result<(usize, usize)> {
        let (uses, hinted) = {
            let mut waiting = self.uses.waiting();
            (std::mem::take(&mut waiting.uses), waiting.hinted.clone())
        };
        if uses.is_empty() && hinted.is_empty() {
            return Ok((0, 0));
        }
        let uses: Vec<(MemoryId, Uses)> = uses.into_iter().collect();
        self.write(|writing| {
            for (later, at) in &hinted {
                writing.note_hinted(*later, *at)?;
            }
            writing.add_uses(&uses, now)?;
            Ok(writing.drop_uses(KEPT_MAX)?)
        })?;
        // Only now does the store say of itself that they were told.
        self.uses.waiting().hinted.retain(|later, _| !hinted.contains_key(later));
        Ok((uses.len(), hinted.len()))
    }
}

/// Writes down what was noted.
pub(crate) struct CountUses;

impl Step for CountUses {
    fn name(&self) -> &'static str {
        "uses"
    }

    fn due(&self) -> Due {
        Due::Soon
    }

    fn advance(&self, engine: &MemoryEngine, shift: &Shift<'_>) -> Result<Advance> {
        if shift.must_make_way() {
            return Ok(Advance::MadeWay);
        }
        Ok(match engine.write_down_uses(shift.now)? {
            (0, 0) => Advance::Nothing,
            (n_used, n_told) => Advance::Did(Effects::from([
                ("memories_used", n_used as u64),
                ("disputes_told", n_told as u64),
            ])),
        })
    }
}

#[cfg(test)]
mod tests {
    use iai_store::{Role, Tier};

    use super::*;
    use crate::ingest::CaptureAsk;
    use crate::recall::RecallAsk;
    use crate::trial::Trial;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;
    const CUE: &str = "which port does the billing service listen on";

    fn say(engine: &MemoryEngine, text: &str) {
        let ask = CaptureAsk {
            text: text.to_owned(),
            cue: None,
            tier: Tier::Episodic,
            role: Role::User,
            session: "s".to_owned(),
            project: None,
            cwd: None,
        };
        engine.capture(&ask, NOW).unwrap();
    }

    fn is_hinted(engine: &MemoryEngine) -> bool {
        let answer = engine.recall(&RecallAsk::new(CUE, 1500), NOW).unwrap();
        answer.hints.iter().any(|hint| hint.kind == "contradiction")
    }

    #[test]
    fn a_dispute_is_told_once_while_the_writer_is_busy_and_after_a_start() {
        let trial = Trial::new();
        let engine = &trial.engine;
        for port in [8080, 9090] {
            say(engine, &format!("The billing service listens on port {port}."));
        }
        let told = engine.with_writer(|_| Ok([is_hinted(engine), is_hinted(engine)])).unwrap();
        assert_eq!(told, [true, false]);
        let hinted = |engine: &MemoryEngine| {
            let open = engine.read(|reader| Ok(reader.open_disputes(9)?)).unwrap();
            open.iter().filter(|dispute| dispute.hinted_at.is_some()).count()
        };
        assert_eq!(hinted(engine), 0);
        assert_eq!(engine.write_down_uses(NOW).unwrap().1, 1);
        assert_eq!((hinted(engine), engine.write_down_uses(NOW).unwrap()), (1, (0, 0)));
        assert!(!is_hinted(engine));
    }
}
