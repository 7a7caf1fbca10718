//! Relates memories: strengthens what belongs together, and replaces what is no longer true.

mod differences;
mod disputes;
#[cfg(test)]
mod fuzz;
mod kinds;
mod negations;
mod sentences;
mod together;
mod tokens;
mod wording;

use std::collections::{BTreeMap, BTreeSet};

use iai_store::{
    Inserted, Link, LinkKind, Memory, MemoryId, MemoryNumber, NewEvent, NewMemory, Role,
    Settlement, Severity, Strengthened, Writing,
};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;

use crate::engine::MemoryEngine;
use crate::error::{MemoryError, Result};
use crate::ingest::{CaptureAsk, PAGE_HOST, TERMINAL_HOST, TOOL_HOST, captured};
use crate::standing::carry_pin;

pub(crate) use differences::{differ_in_a_fact, is_same_wording};
pub(crate) use disputes::{Disputes, Opposed, keep_opposed};
pub(crate) use together::{TogetherRoom, link_used};

/// How far one reinforcement moves a link's weight towards 1.
const REINFORCE_STEP: f64 = 0.1;
/// Pairs grow with the square of the ids; more than this is not a statement about any of them.
const REINFORCE_IDS_MAX: usize = 32;

/// What became of a reinforcement.
#[derive(Debug, Serialize)]
pub struct ReinforceAnswer {
    /// Links whose weight changed.
    pub edges_boosted: u64,
    /// The weight of every pair now, by `a|b`.
    pub new_weights: BTreeMap<String, f64>,
    /// Ids that are no memories.
    pub skipped_ids: Vec<String>,
}

/// What became of a correction.
#[derive(Debug, Serialize)]
pub struct ContradictAnswer {
    /// What was said before; kept.
    pub original_id: MemoryId,
    /// What holds now.
    pub new_record_id: MemoryId,
    /// Always `contradicts`.
    pub edge_type: &'static str,
    /// Since when.
    pub ts: String,
}

/// Where somebody writes by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandPlace {
    /// On the page.
    Page,
    /// At the command line.
    Terminal,
}

impl MemoryEngine {
    /// Strengthens the links between all pairs of `ids`, once per pair and session. A link that
    /// only grew by itself in that session becomes as strong as one that was asked for.
    pub fn reinforce(
        &self,
        ids: &[String],
        session: &str,
        now: Timestamp,
    ) -> Result<ReinforceAnswer> {
        let distinct: BTreeSet<&String> = ids.iter().collect();
        if REINFORCE_IDS_MAX < distinct.len() {
            let why = format!("holds {} ids; at most {REINFORCE_IDS_MAX}", distinct.len());
            return Err(MemoryError::bad("ids", why));
        }
        self.write(|writing| {
            let mut known = Vec::new();
            let mut answer = ReinforceAnswer {
                edges_boosted: 0,
                new_weights: BTreeMap::new(),
                skipped_ids: Vec::new(),
            };
            for text in distinct {
                match text.parse::<MemoryId>() {
                    Ok(id) if writing.memory(id)?.is_some() => known.push(id),
                    _ => answer.skipped_ids.push(text.clone()),
                }
            }
            known.sort_unstable();
            known.dedup();
            self.note_reinforced(known.iter().copied());
            for (place, first) in known.iter().enumerate() {
                for second in known.iter().skip(place + 1) {
                    let step = reinforce_pair(writing, (*first, *second), session, now)?;
                    answer.edges_boosted += u64::from(step.changed);
                    answer.new_weights.insert(format!("{first}|{second}"), step.weight);
                }
            }
            Ok(answer)
        })
    }

    /// Stores what holds now beside what was said before, and marks the older one as superseded. A
    /// correction of something that was corrected before corrects what holds now: there is one
    /// chain, and one end of it.
    pub fn contradict(
        &self,
        id: &str,
        new_fact: &str,
        session: &str,
        now: Timestamp,
    ) -> Result<ContradictAnswer> {
        self.correct(id, new_fact, Said { session, host: TOOL_HOST }, now)
    }

    /// The same for what the user writes by hand, without an assistant.
    pub fn contradict_by_hand(
        &self,
        id: &str,
        new_fact: &str,
        (session, place): (&str, HandPlace),
        now: Timestamp,
    ) -> Result<ContradictAnswer> {
        let host = match place {
            HandPlace::Page => PAGE_HOST,
            HandPlace::Terminal => TERMINAL_HOST,
        };
        self.correct(id, new_fact, Said { session, host }, now)
    }

    fn correct(
        &self,
        id: &str,
        new_fact: &str,
        said: Said<'_>,
        now: Timestamp,
    ) -> Result<ContradictAnswer> {
        if new_fact.chars().all(char::is_whitespace) {
            return Err(MemoryError::bad("new_fact", "is empty; say what holds now"));
        }
        let unknown = || MemoryError::UnknownMemory { id: id.to_owned() };
        let original_id: MemoryId = id.parse().map_err(|_| unknown())?;
        let original = self.read(|reader| Ok(reader.memory(original_id)?))?.ok_or_else(unknown)?;
        let new_record_id = self.remember(|writing| {
            let (number, current) = current_of(writing, &original)?;
            if current.text == new_fact && current.id != original_id {
                return Ok(current.id);
            }
            if current.text == new_fact {
                let why = "says the same as the memory it corrects";
                return Err(MemoryError::bad("new_fact", why));
            }
            let correction = correction_of(&original, &current, new_fact, said, now);
            let new_id = match writing.insert(&correction, now)? {
                Inserted::New(id) | Inserted::Known(id) => id,
                Inserted::Forgotten(_) => {
                    let why = "was forgotten on purpose; say it in other words";
                    return Err(MemoryError::bad("new_fact", why));
                }
            };
            writing.supersede(current.id, new_id, now)?;
            carry_pin(writing, &[current.id, original_id], (new_id, new_fact), now)?;
            writing.settle_disputes(number, Settlement::Contradicted, now)?;
            if let Some(number) = writing.read().number_of(original_id)? {
                writing.settle_disputes(number, Settlement::Contradicted, now)?;
            }
            writing.event(&contradiction_event(current.id, new_id, said.session, now))?;
            Ok(new_id)
        })?;
        self.after_saying(new_record_id, now);
        Ok(ContradictAnswer {
            original_id,
            new_record_id,
            edge_type: "contradicts",
            ts: now.to_string(),
        })
    }

    /// Has what was just kept compared with what was said before, and looked at for what holds
    /// beyond its session. The memory is on disk whatever comes of it, and the quiet work will look
    /// again.
    pub(crate) fn after_saying(&self, id: MemoryId, now: Timestamp) {
        drop(self.look_for_disputes(id, now));
        drop(self.look_for_remarks(id));
    }
}

/// Where somebody corrected something.
#[derive(Clone, Copy)]
struct Said<'a> {
    session: &'a str,
    host: &'static str,
}

/// Chains of corrections are followed so far; nobody changes their mind more often.
pub(crate) const CHAIN_MAX: usize = 64;

/// Returns what holds now in the place of a memory: the end of its chain.
fn current_of(writing: &Writing<'_>, original: &Memory) -> Result<(MemoryNumber, Memory)> {
    let gone = || MemoryError::UnknownMemory { id: original.id.to_string() };
    let reader = writing.read();
    let mut number = reader.number_of(original.id)?.ok_or_else(gone)?;
    let mut seen = BTreeSet::from([number]);
    while seen.len() < CHAIN_MAX {
        let next = reader.successors(number)?.into_iter().rfind(|next| !seen.contains(&next.new));
        let Some(next) = next else { break };
        number = next.new;
        seen.insert(number);
    }
    let current = reader.numbered(&[number])?.pop();
    Ok(current.unwrap_or_else(|| (number, original.clone())))
}

/// A correction stands where it was said, in the words it was said in, whatever their language.
/// What it corrects is part of its identity, so that a return to the first wording is a new memory
/// and no circle.
fn correction_of(
    original: &Memory,
    current: &Memory,
    new_fact: &str,
    said: Said<'_>,
    now: Timestamp,
) -> NewMemory {
    let ask = CaptureAsk {
        text: new_fact.to_owned(),
        cue: None,
        tier: original.tier,
        role: Role::User,
        session: said.session.to_owned(),
        project: original.project.clone(),
        cwd: original.cwd.clone(),
    };
    let mut correction = captured(&ask, now);
    correction.host = said.host.to_owned();
    correction.turn_uuid = Some(format!("corrects {}", current.id));
    correction.tags = vec!["contradict".to_owned()];
    correction.provenance = json!({"corrects": original.id, "supersedes": current.id});
    correction
}

fn contradiction_event(
    original: MemoryId,
    correction: MemoryId,
    session: &str,
    now: Timestamp,
) -> NewEvent {
    NewEvent {
        kind: "s4_contradiction".to_owned(),
        severity: Some(Severity::Warning),
        domain: Some("memory".to_owned()),
        at: now,
        data: json!({"mechanism": "memory_contradict"}),
        session: Some(session.to_owned()),
        sources: vec![original, correction],
    }
}

/// Strengthens one pair. Use alone moves a link less than this does, so that a weaker one was never
/// reinforced, whatever the session did to it.
fn reinforce_pair(
    writing: &Writing<'_>,
    (one, other): (MemoryId, MemoryId),
    session: &str,
    now: Timestamp,
) -> Result<Strengthened> {
    let step = writing.strengthen((one, other), session, REINFORCE_STEP, now)?;
    if step.changed {
        return Ok(step);
    }
    let Some(number) = writing.read().number_of(one)? else { return Ok(step) };
    let links = writing.read().links_of(&[number])?;
    let is_pair = |link: &&Link| {
        link.kind == LinkKind::Hebbian
            && [link.src, link.dst].iter().all(|id| [one, other].contains(id))
    };
    let Some(weak) = links.iter().find(is_pair).filter(|link| link.weight < REINFORCE_STEP) else {
        return Ok(step);
    };
    writing.link(&Link { weight: REINFORCE_STEP, touched_at: now, ..*weak })?;
    Ok(Strengthened { weight: REINFORCE_STEP, changed: true })
}
