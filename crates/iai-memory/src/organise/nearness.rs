//! Compares each memory once with all others and keeps its nearest: what topics are made of.
//!
//! A memory that comes later joins the topic of most of its nearest at once; topics are found anew
//! only when there is much that is new.

use std::collections::BTreeMap;

use iai_store::{LexicalQuery, Limits, Memory, MemoryNumber, Neighbour, Reader, Role, Scope};
use serde_json::{Value, json};

use super::terms::telling_words;
use super::{Advance, Due, Effects, Occasion, Shift, Step, topics};
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::meaning::NearestAsk;

/// Neighbours kept of each memory.
const NEIGHBOURS_MAX: usize = 8;
/// Memories compared in one transaction.
const MEMORIES_PER_ADVANCE: usize = 128;
/// The most telling words of a memory, by which it is compared where it has no vector.
const WORDS_COMPARED: usize = 12;
/// How much of the way from the mean of all cosines to the same meaning a neighbour has come.
const MEANING_MIN: f32 = 0.3;
/// How much of what a memory's own words tell a neighbour has.
const WORDS_MIN: f32 = 0.2;
/// Sign codes estimated again, and vectors compared exactly.
const LIMITS: Limits = Limits { n_scan: 64, n_estimate: 2 * NEIGHBOURS_MAX };
/// The share of a memory's nearness that one topic must have for the memory to join it.
const JOIN_SHARE: u32 = 2;

pub(super) const NAME: &str = "nearness";

pub(super) struct Nearness;

/// A memory that was compared.
struct Compared {
    number: MemoryNumber,
    near: Vec<Neighbour>,
    joins: Option<u64>,
}

impl Step for Nearness {
    fn name(&self) -> &'static str {
        NAME
    }

    fn due(&self) -> Due {
        Due::Idle
    }

    fn advance(&self, engine: &MemoryEngine, shift: &Shift<'_>) -> Result<Advance> {
        let status = engine.meaning_status();
        let is_complete = status.pending == 0;
        // Vectors are on their way: comparing by words now would be work for nothing.
        if status.model.is_some() && !is_complete && shift.occasion == Occasion::Idle {
            return Ok(Advance::Nothing);
        }
        let mut progress = engine.read(|reader| Ok(reader.step(NAME)?))?;
        let was_by = progress.state.get("by").and_then(Value::as_str).unwrap_or_default();
        let by = match status.model.filter(|_| is_complete) {
            Some(model) => model,
            None if was_by.is_empty() => "words".to_owned(),
            None => was_by.to_owned(),
        };
        if was_by != by {
            // A first or another model sees other neighbours: everything is compared once more.
            progress.state = json!({"by": by});
            progress.up_to = MemoryNumber::new(0);
        }
        let memories =
            engine.read(|reader| Ok(reader.after(progress.up_to, MEMORIES_PER_ADVANCE)?))?;
        if memories.is_empty() {
            return Ok(Advance::Nothing);
        }
        let (compared, up_to) = engine.compare(&memories, shift)?;
        let Some(up_to) = up_to else { return Ok(Advance::MadeWay) };
        progress.up_to = up_to;
        let n_joined = compared.iter().filter(|compared| compared.joins.is_some()).count();
        engine.write(|writing| {
            for Compared { number, near, joins } in &compared {
                writing.put_nearness(*number, near)?;
                if joins.is_some() {
                    writing.set_topic(*number, *joins)?;
                }
            }
            Ok(writing.put_step(NAME, &progress, shift.now)?)
        })?;
        Ok(Advance::Did(Effects::from([
            ("memories_compared", compared.len() as u64),
            ("memories_joined", n_joined as u64),
        ])))
    }
}

impl MemoryEngine {
    /// Compares memories one after another until somebody else goes first; returns how far it came.
    fn compare(
        &self,
        memories: &[(MemoryNumber, Memory)],
        shift: &Shift<'_>,
    ) -> Result<(Vec<Compared>, Option<MemoryNumber>)> {
        let has_topics = topics::are_found(self)?;
        let (mut compared, mut up_to) = (Vec::new(), None);
        for (number, memory) in memories {
            if !shift.step_aside() {
                break;
            }
            up_to = Some(*number);
            if !is_said(memory) {
                continue;
            }
            let near = self.near(*number, memory)?;
            let is_free = memory.community.is_none();
            let joins = if has_topics && is_free { self.topic_of_most(&near)? } else { None };
            compared.push(Compared { number: *number, near, joins });
        }
        Ok((compared, up_to))
    }

    fn near(&self, number: MemoryNumber, memory: &Memory) -> Result<Vec<Neighbour>> {
        // What this program wrote itself is no evidence of what people talk about.
        let scope = Scope { roles: vec![Role::User, Role::Assistant], ..Scope::default() };
        let by_meaning = self.read(|reader| near_by_meaning(self, reader, number, &scope))?;
        let mut near = match by_meaning {
            Some(near) => near,
            None => self.near_by_words(number, &memory.text, &scope)?,
        };
        near.truncate(NEIGHBOURS_MAX);
        Ok(near)
    }

    fn near_by_words(
        &self,
        number: MemoryNumber,
        text: &str,
        scope: &Scope,
    ) -> Result<Vec<Neighbour>> {
        self.with_index(|index| {
            let words = telling_words(index, text, WORDS_COMPARED);
            let query = LexicalQuery { words, phrases: Vec::new() };
            let question = index.ask(&query);
            let own = question.scores(&[number]).first().copied().unwrap_or(0.0);
            let hits = question.search(scope, NEIGHBOURS_MAX + 1);
            let others = hits.iter().filter(|hit| hit.number != number);
            let share = others.map(|hit| (hit.number, hit.score / own.max(f32::MIN_POSITIVE)));
            share.filter(|(_, share)| WORDS_MIN <= *share).map(neighbour).collect()
        })
    }

    /// The topic that has most of what is near, if it has enough.
    fn topic_of_most(&self, near: &[Neighbour]) -> Result<Option<u64>> {
        let mut shares: BTreeMap<u64, u32> = BTreeMap::new();
        self.read(|reader| {
            for neighbour in near {
                if let Some(topic) = reader.topic_of(neighbour.number)? {
                    *shares.entry(topic).or_default() += u32::from(neighbour.nearness);
                }
            }
            Ok(())
        })?;
        let all: u32 = near.iter().map(|neighbour| u32::from(neighbour.nearness)).sum();
        let best = shares.into_iter().max_by_key(|(topic, share)| (*share, u64::MAX - topic));
        Ok(best
            .filter(|(_, share)| all <= share.saturating_mul(JOIN_SHARE))
            .map(|(topic, _)| topic))
    }
}

/// Returns the memories nearest to one as they were found by the model that answers cues; `None`
/// when they were not, or when something else was said to be compared by.
pub(crate) fn known_near(
    engine: &MemoryEngine,
    reader: &Reader,
    number: MemoryNumber,
) -> Result<Option<Vec<MemoryNumber>>> {
    let progress = reader.step(NAME)?;
    let by = progress.state.get("by").and_then(Value::as_str);
    if by.is_none() || by != engine.meaning_status().model.as_deref() || progress.up_to < number {
        return Ok(None);
    }
    let before = MemoryNumber::new(number.get().saturating_sub(1));
    let row = reader.nearness_after(before, 1)?.pop().filter(|(found, _)| *found == number);
    Ok(row.map(|(_, near)| near.iter().map(|neighbour| neighbour.number).collect()))
}

/// Tells whether somebody said this: the user or the assistant.
pub(super) fn is_said(memory: &Memory) -> bool {
    memory.role != Role::System
}

fn near_by_meaning(
    engine: &MemoryEngine,
    reader: &Reader,
    number: MemoryNumber,
    scope: &Scope,
) -> Result<Option<Vec<Neighbour>>> {
    let ask = NearestAsk { reader, scope, limits: LIMITS };
    let Some(found) = engine.nearest_to(number, &ask)? else { return Ok(None) };
    // The mean comes from signs alone; what is farther than it can be no measure of nearness.
    let mean = found.others.iter().map(|(_, cosine)| *cosine).fold(found.mean, f32::min);
    let rest = (1.0 - mean).max(f32::MIN_POSITIVE);
    let others = found.others.into_iter();
    let shares = others.map(|(number, cosine)| (number, (cosine - mean) / rest));
    Ok(Some(shares.filter(|(_, share)| MEANING_MIN <= *share).map(neighbour).collect()))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "held between 0 and 255 before"
)]
fn neighbour((number, share): (MemoryNumber, f32)) -> Neighbour {
    Neighbour { number, nearness: (share.clamp(0.0, 1.0) * 255.0).round() as u8 }
}
