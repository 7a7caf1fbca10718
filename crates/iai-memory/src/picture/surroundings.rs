//! One memory and everything around it: what was said before and after, what it is linked with,
//! what it replaced and what replaced it.

use std::collections::BTreeMap;

use iai_store::{Dispute, Link, LinkKind, MemoryId, MemoryNumber, Reader};
use jiff::Timestamp;
use serde::Serialize;

use super::Glimpse;
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::shelf::MemoryView;
use crate::topology::TopicView;
use crate::trust::distrust;

/// Links of one kind told at once, the strongest.
const LINKS_PER_KIND_MAX: usize = 12;
/// Corrections and disputes told at once, of either kind.
const CORRECTIONS_MAX: usize = 20;

/// A memory among its neighbours.
#[derive(Debug, Serialize)]
pub struct Surroundings {
    /// The memory itself.
    pub memory: MemoryView,
    /// Why its words are not to be followed, where they give orders to the assistant.
    pub untrusted: Option<&'static str>,
    /// What was said right before it in its session.
    pub previous: Option<Glimpse>,
    /// What was said right after it.
    pub next: Option<Glimpse>,
    /// What it is linked with, by kind, the strongest first.
    pub links: Vec<LinkedGlimpse>,
    /// What it took the place of.
    pub replaced: Vec<Glimpse>,
    /// What took its place.
    pub replaced_by: Vec<Glimpse>,
    /// What says the same but for one thing, unsettled.
    pub disputed_with: Vec<DisputedGlimpse>,
    /// What it is about, where a topic was found.
    pub topic: Option<TopicView>,
}

/// A memory at the other end of a link.
#[derive(Debug, Serialize)]
pub struct LinkedGlimpse {
    /// What the link says.
    pub kind: &'static str,
    /// `to` or `from`, for kinds that have a direction.
    pub direction: Option<&'static str>,
    /// How strong it is at this time.
    pub weight: f64,
    /// The other memory.
    pub memory: Glimpse,
}

/// A memory that may say the opposite.
#[derive(Debug, Serialize)]
pub struct DisputedGlimpse {
    /// What the two differ in.
    pub what: String,
    /// The other memory.
    pub memory: Glimpse,
}

impl MemoryEngine {
    /// Returns a memory with its neighbours.
    pub fn surroundings(&self, id: &str, now: Timestamp) -> Result<Surroundings> {
        self.load_index()?;
        let memory = self.show(id, 0)?;
        let record_id = memory.record_id;
        self.read(|reader| {
            let number = self.numbered(reader, record_id)?;
            let (before, after) = self.with_index(|index| {
                (index.catalogue().previous(number), index.catalogue().next(number))
            })?;
            let one = |number: Option<MemoryNumber>| -> Result<Option<Glimpse>> {
                Ok(Glimpse::read(reader, number.as_slice())?.pop())
            };
            let replaced: Vec<_> = reader.predecessors(number)?.iter().map(|c| c.old).collect();
            let successors: Vec<_> = reader.successors(number)?.iter().map(|c| c.new).collect();
            let first = |numbers: &[MemoryNumber]| {
                let n_told = numbers.len().min(CORRECTIONS_MAX);
                Glimpse::read(reader, numbers.get(..n_told).unwrap_or_default())
            };
            let topic = match reader.topic_of(number)? {
                Some(topic) => reader.topic(topic)?.map(TopicView::of),
                None => None,
            };
            Ok(Surroundings {
                untrusted: distrust(&memory.literal_surface),
                previous: one(before)?,
                next: one(after)?,
                links: links(reader, (number, record_id), now)?,
                replaced: first(&replaced)?,
                replaced_by: first(&successors)?,
                disputed_with: disputes(reader, number)?,
                topic,
                memory,
            })
        })
    }
}

/// Returns what the memory is linked with. Corrections are told apart from links, and neighbours
/// in the session are seen beside it.
fn links(
    reader: &Reader,
    (number, record_id): (MemoryNumber, MemoryId),
    now: Timestamp,
) -> Result<Vec<LinkedGlimpse>> {
    let mut by_kind: BTreeMap<LinkKind, Vec<Link>> = BTreeMap::new();
    for link in reader.links_of(&[number])? {
        if !matches!(link.kind, LinkKind::Contradicts | LinkKind::TemporalNext) {
            by_kind.entry(link.kind).or_default().push(link);
        }
    }
    let mut told = Vec::new();
    for (kind, mut links) in by_kind {
        let weight = |link: &Link| link.effective_weight(now);
        links.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
        for link in links.iter().take(LINKS_PER_KIND_MAX) {
            let is_outward = link.src == record_id;
            let other = if is_outward { link.dst } else { link.src };
            let Some(memory) = reader.memory(other)? else { continue };
            let direction = if is_outward { "to" } else { "from" };
            told.push(LinkedGlimpse {
                kind: kind.as_str(),
                direction: kind.is_directed().then_some(direction),
                weight: (weight(link) * 1000.0).round() / 1000.0,
                memory: Glimpse::of(memory),
            });
        }
    }
    Ok(told)
}

fn disputes(reader: &Reader, number: MemoryNumber) -> Result<Vec<DisputedGlimpse>> {
    let other = |dispute: &Dispute| {
        let about = &dispute.about;
        if about.earlier == number { about.later } else { about.earlier }
    };
    let mut told = Vec::new();
    for dispute in reader.disputes_of(&[number])?.iter().take(CORRECTIONS_MAX) {
        let seen = Glimpse::read(reader, &[other(dispute)])?;
        let about = &dispute.about;
        let what = format!("{}: {} → {}", about.what, about.old_value, about.new_value);
        told.extend(seen.into_iter().map(|memory| DisputedGlimpse { what: what.clone(), memory }));
    }
    Ok(told)
}
