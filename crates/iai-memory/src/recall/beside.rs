//! What stands beside the hits, in the room they leave: the turns around them, where the last
//! session stopped, patterns, and what was done overnight.

use std::collections::BTreeMap;

use iai_store::{Catalogue, Link, LinkKind, Memory, MemoryId, MemoryNumber, Reader};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;

use super::knobs::{Breadth, Cues, Manner};
use super::pack::{self, Room};
use super::{Certainty, RecallAnswer, RecallAsk};
use crate::brief::{BriefAsk, cut, flat};
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::patterns::sentence;
use crate::remarks::is_spoken;

/// Patterns of a project that are looked at …
const PATTERNS_LOOKED_AT: usize = 50;
/// … and told.
const PATTERNS_MAX: usize = 3;

/// Memories of other sessions that are named beside a hit.
const ELSEWHERE_MAX: usize = 2;

/// A turn said right before or after a hit.
#[derive(Debug, Clone, Serialize)]
pub struct Neighbour {
    /// The memory.
    pub record_id: MemoryId,
    /// Who said it.
    pub role: &'static str,
    /// `before` or `after`.
    pub side: &'static str,
    /// Its first words, on one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
}

/// Finds the turn on one side of another.
type Side = fn(&Catalogue, MemoryNumber) -> Option<MemoryNumber>;

/// What decides about it.
pub(crate) struct Beside<'a> {
    pub(crate) engine: &'a MemoryEngine,
    pub(crate) manner: &'a Manner,
    pub(crate) room: Room,
    /// The numbers of the hits.
    pub(crate) numbers: &'a BTreeMap<MemoryId, MemoryNumber>,
}

impl Beside<'_> {
    /// Adds what the profile wants beside the hits, as far as there is room.
    pub(crate) fn add(
        &self,
        answer: &mut RecallAnswer,
        ask: &RecallAsk,
        now: Timestamp,
    ) -> Result<()> {
        if self.manner.breadth == Breadth::Bare {
            answer.activation_trace.clear();
            return Ok(());
        }
        // Nobody reads what stands beside an answer that was not asked for.
        if ask.certainty == Certainty::OnlyConfident {
            return Ok(());
        }
        let is_first = |kind| self.engine.told.is_first(ask.session.as_deref(), kind);
        if self.manner.is_resuming && is_first("resume") {
            self.add_resume(answer, ask, now)?;
        }
        self.add_patterns(answer)?;
        if ask.session.is_some() && is_first("digest") {
            self.add_digest(answer)?;
        }
        self.add_scenes(answer)
    }

    /// Adds the patterns that the hits are evidence of, the surest first.
    fn add_patterns(&self, answer: &mut RecallAnswer) -> Result<()> {
        let Some(project) = answer.hits.first().and_then(|hit| hit.project.clone()) else {
            return Ok(());
        };
        let numbers = answer.hits.iter().filter_map(|hit| self.numbers.get(&hit.record_id));
        let shown: Vec<MemoryNumber> = numbers.copied().collect();
        let patterns = self
            .engine
            .read(|reader| Ok(reader.patterns_shown_by(&shown, &project, PATTERNS_LOOKED_AT)?))?;
        let is_shown = |id: &MemoryId| answer.hits.iter().any(|hit| hit.record_id == *id);
        let seen = patterns.iter().filter(|pattern| pattern.evidence.iter().any(is_shown));
        answer.patterns_observed = seen
            .take(PATTERNS_MAX)
            .map(|pattern| {
                json!({
                    "pattern": sentence(&pattern.counted),
                    "evidence_count": pattern.counted.n_evidence,
                    "schema_id": format!("pattern-{}", pattern.number),
                })
            })
            .collect();
        while !answer.patterns_observed.is_empty() && self.room.is_exceeded_by(answer) {
            answer.patterns_observed.pop();
        }
        Ok(())
    }

    /// Adds what quiet work did since it was last counted, once in a session.
    fn add_digest(&self, answer: &mut RecallAnswer) -> Result<()> {
        let digest = self.engine.digest()?;
        answer.overnight_digest = digest.and_then(|digest| serde_json::to_value(digest).ok());
        if self.room.is_exceeded_by(answer) {
            answer.overnight_digest = None;
        }
        Ok(())
    }

    fn add_resume(&self, answer: &mut RecallAnswer, ask: &RecallAsk, now: Timestamp) -> Result<()> {
        let Some(project) = ask.asked_from.clone().or_else(|| ask.project.clone()) else {
            return Ok(());
        };
        let session = ask.session.clone().unwrap_or_default();
        let brief = BriefAsk { session, project: Some(project) };
        answer.resume = self.engine.resume_of(&brief, self.manner, now)?;
        if self.room.is_exceeded_by(answer) {
            answer.resume = None;
        }
        Ok(())
    }

    /// Shows the best hits with the turns around them, as many as there is room for.
    fn add_scenes(&self, answer: &mut RecallAnswer) -> Result<()> {
        let scene = self.manner.scene;
        if scene.cues.is_none() && !scene.has_words {
            return Ok(());
        }
        let n_hits = scene.cues.map_or(pack::SUGGESTED_HITS, |cues| cues.n_hits);
        let shown = answer.hits.iter().take(n_hits).map(|hit| self.numbers.get(&hit.record_id));
        let sides: Vec<_> = self.engine.with_index(|index| {
            let (before, after) = (Catalogue::previous, Catalogue::next);
            let side = |name: &'static str, of: Side, number: Option<&MemoryNumber>| {
                (name, number.and_then(|number| of(index.catalogue(), *number)))
            };
            let sides = |number| [side("before", before, number), side("after", after, number)];
            shown.map(sides).collect()
        })?;
        let mut n_chars = pack::size(answer);
        self.engine.read(|reader| {
            reader.at_one_moment(|| {
                for (hit, sides) in answer.hits.iter_mut().zip(sides) {
                    let around = neighbours_of(reader, sides)?;
                    n_chars -= pack::n_chars(hit);
                    match scene.cues {
                        Some(cues) => hit.neighbours = neighbours(&around, cues, scene.has_words),
                        None => {
                            let ids = around.iter().map(|(_, memory)| memory.id);
                            hit.adjacent_suggestions = ids.collect();
                            let number = self.numbers.get(&hit.record_id);
                            let elsewhere = elsewhere(reader, hit.record_id, number)?;
                            hit.adjacent_suggestions.extend(elsewhere);
                        }
                    }
                    n_chars += pack::n_chars(hit);
                    if self.room.is_exceeded_by_size(n_chars) {
                        hit.neighbours.clear();
                        hit.adjacent_suggestions.clear();
                        break;
                    }
                }
                Ok(())
            })
        })
    }
}

fn neighbours(around: &[(&'static str, Memory)], cues: Cues, has_words: bool) -> Vec<Neighbour> {
    let shown = around.iter().map(|(side, memory)| Neighbour {
        record_id: memory.id,
        role: memory.role.as_str(),
        side,
        preview: has_words.then(|| cut(&beginning(&memory.text, cues), cues.preview_chars)),
    });
    shown.collect()
}

/// As much of a text as a preview can need, on one line.
fn beginning(text: &str, cues: Cues) -> String {
    // White space is joined: what is shown may stand behind as much of it again.
    flat(&text.chars().take(4 * cues.preview_chars).collect::<String>())
}

/// Returns the memories of other sessions that name the same rare thing, the closest first.
fn elsewhere(
    reader: &Reader,
    id: MemoryId,
    number: Option<&MemoryNumber>,
) -> Result<Vec<MemoryId>> {
    let mut links = reader.links_of(number.map(std::slice::from_ref).unwrap_or_default())?;
    links.retain(|link| link.kind == LinkKind::EntityShared);
    links.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(b.created_at.cmp(&a.created_at)));
    let other = |link: &Link| if link.src == id { link.dst } else { link.src };
    Ok(links.iter().take(ELSEWHERE_MAX).map(other).collect())
}

/// Reads the turns right before and after a memory in its session.
fn neighbours_of(
    reader: &Reader,
    sides: [(&'static str, Option<MemoryNumber>); 2],
) -> Result<Vec<(&'static str, Memory)>> {
    let mut found = Vec::new();
    for (side, number) in sides {
        for (_, memory) in reader.numbered(number.as_slice())? {
            if is_spoken(&memory) {
                found.push((side, memory));
            }
        }
    }
    Ok(found)
}
