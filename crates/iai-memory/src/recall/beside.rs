//! What stands beside the hits, in the room they leave: the turns around them, where the last
//! session stopped, patterns, and what was done overnight.

use iai_store::{Link, LinkKind, Memory, MemoryId, Reader};
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

/// Adds what the profile wants beside the hits, as far as there is room.
pub(crate) fn add(
    engine: &MemoryEngine,
    answer: &mut RecallAnswer,
    manner: &Manner,
    room: &Room,
    ask: (&RecallAsk, Timestamp),
) -> Result<()> {
    let (ask, now) = ask;
    if manner.breadth == Breadth::Bare {
        answer.activation_trace.clear();
        return Ok(());
    }
    // Nobody reads what stands beside an answer that was not asked for.
    if ask.certainty == Certainty::OnlyConfident {
        return Ok(());
    }
    if manner.is_resuming && engine.told.is_first(ask.session.as_deref(), "resume") {
        add_resume(engine, answer, manner, room, (ask, now))?;
    }
    add_patterns(engine, answer, room)?;
    if ask.session.is_some() && engine.told.is_first(ask.session.as_deref(), "digest") {
        add_digest(engine, answer, room)?;
    }
    add_scenes(engine, answer, manner, room)
}

/// Adds the patterns that the hits are evidence of, the surest first.
fn add_patterns(engine: &MemoryEngine, answer: &mut RecallAnswer, room: &Room) -> Result<()> {
    let Some(project) = answer.hits.first().and_then(|hit| hit.project.clone()) else {
        return Ok(());
    };
    let patterns =
        engine.read(|reader| Ok(reader.patterns(Some(&project), PATTERNS_LOOKED_AT)?))?;
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
    while !answer.patterns_observed.is_empty() && room.is_exceeded_by(answer) {
        answer.patterns_observed.pop();
    }
    Ok(())
}

/// Adds what quiet work did since it was last counted, once in a session.
fn add_digest(engine: &MemoryEngine, answer: &mut RecallAnswer, room: &Room) -> Result<()> {
    answer.overnight_digest = engine.digest()?.and_then(|digest| serde_json::to_value(digest).ok());
    if room.is_exceeded_by(answer) {
        answer.overnight_digest = None;
    }
    Ok(())
}

fn add_resume(
    engine: &MemoryEngine,
    answer: &mut RecallAnswer,
    manner: &Manner,
    room: &Room,
    ask: (&RecallAsk, Timestamp),
) -> Result<()> {
    let (ask, now) = ask;
    let Some(project) = ask.asked_from.clone().or_else(|| ask.project.clone()) else {
        return Ok(());
    };
    let session = ask.session.clone().unwrap_or_default();
    let brief = BriefAsk { session, project: Some(project) };
    answer.resume = engine.resume_of(&brief, manner, now)?;
    if room.is_exceeded_by(answer) {
        answer.resume = None;
    }
    Ok(())
}

fn add_scenes(
    engine: &MemoryEngine,
    answer: &mut RecallAnswer,
    manner: &Manner,
    room: &Room,
) -> Result<()> {
    let n_hits = manner.scene.cues.map_or(pack::SUGGESTED_HITS, |cues| cues.n_hits);
    for hit_idx in 0..answer.hits.len().min(n_hits) {
        let Some(id) = answer.hits.get(hit_idx).map(|hit| hit.record_id) else { break };
        let (around, elsewhere) = (engine.around(id)?, engine.elsewhere(id)?);
        let Some(hit) = answer.hits.get_mut(hit_idx) else { break };
        match (manner.scene.cues, manner.scene.has_words) {
            (Some(cues), has_words) => hit.neighbours = neighbours(&around, cues, has_words),
            (None, true) => {
                hit.adjacent_suggestions = around.iter().map(|(_, memory)| memory.id).collect();
                hit.adjacent_suggestions.extend(elsewhere);
            }
            (None, false) => return Ok(()),
        }
        if room.is_exceeded_by(answer) {
            if let Some(hit) = answer.hits.get_mut(hit_idx) {
                hit.neighbours.clear();
                hit.adjacent_suggestions.clear();
            }
            break;
        }
    }
    Ok(())
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

impl MemoryEngine {
    /// Returns the turns right before and after a memory in its session.
    fn around(&self, id: MemoryId) -> Result<Vec<(&'static str, Memory)>> {
        let number = self.read(|reader| Ok(reader.number_of(id)?))?;
        let Some(number) = number else { return Ok(Vec::new()) };
        let (before, after) = self.with_index(|index| {
            let catalogue = index.catalogue();
            (catalogue.previous(number), catalogue.next(number))
        })?;
        let sides = [("before", before), ("after", after)];
        self.read(|reader| neighbours_of(reader, sides))
    }
}

impl MemoryEngine {
    /// Returns the memories of other sessions that name the same rare thing, the closest first.
    fn elsewhere(&self, id: MemoryId) -> Result<Vec<MemoryId>> {
        self.read(|reader| {
            let Some(number) = reader.number_of(id)? else { return Ok(Vec::new()) };
            let mut links = reader.links_of(&[number])?;
            links.retain(|link| link.kind == LinkKind::EntityShared);
            links.sort_by(|a, b| {
                b.weight.total_cmp(&a.weight).then(b.created_at.cmp(&a.created_at))
            });
            let other = |link: &Link| if link.src == id { link.dst } else { link.src };
            Ok(links.iter().take(ELSEWHERE_MAX).map(other).collect())
        })
    }
}

fn neighbours_of(
    reader: &Reader,
    sides: [(&'static str, Option<iai_store::MemoryNumber>); 2],
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
