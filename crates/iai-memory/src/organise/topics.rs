//! Finds topics: communities of memories that are near each other. Done anew when much has come in;
//! a topic that goes on keeps its number.

mod communities;

use std::collections::{BTreeMap, BTreeSet};

use iai_store::{MemoryNumber, StepProgress};
use serde_json::{Value, json};

use super::{Advance, Due, Effects, Shift, Step, nearness};
use crate::engine::MemoryEngine;
use crate::error::Result;
use communities::{Graph, communities};

/// A topic has at least so many memories.
pub(super) const MEMBERS_MIN: usize = 3;
/// Topics are found anew when this share of the store is new …
const GROWTH_SHARE: u64 = 5;
/// … and at least so many memories are.
const GROWTH_MIN: u64 = 10;
/// Rows read between two looks at who goes first.
const ROWS_PER_READ: usize = 2048;
/// Memories that change their topic in one transaction.
const CHANGES_PER_WRITE: usize = 128;
/// Links looked at; in a store with more, nearness decides alone.
const LINKS_MAX: usize = 400_000;

const NAME: &str = "topics";

pub(super) struct Topics;

impl Step for Topics {
    fn name(&self) -> &'static str {
        NAME
    }

    fn due(&self) -> Due {
        Due::Idle
    }

    fn advance(&self, engine: &MemoryEngine, shift: &Shift<'_>) -> Result<Advance> {
        if shift.must_make_way() {
            return Ok(Advance::MadeWay);
        }
        let (n_compared, before, by) = engine.read(|reader| {
            let compared = reader.step(nearness::NAME)?;
            let by = compared.state.get("by").cloned().unwrap_or(Value::Null);
            Ok((reader.n_compared()?, reader.step(NAME)?, by))
        })?;
        if !is_due(&before, n_compared, &by) {
            return Ok(Advance::Nothing);
        }
        let Some(found) = find(engine, shift)? else { return Ok(Advance::MadeWay) };
        let Some(changes) = renamed(engine, shift, &found)? else { return Ok(Advance::MadeWay) };
        let n_moved = changes.moved.len();
        if !apply(engine, shift, &changes.moved)? {
            return Ok(Advance::MadeWay);
        }
        let state = json!({"n": n_compared, "by": by});
        let progress = StepProgress { state, ..StepProgress::default() };
        engine.write(|writing| Ok(writing.put_step(NAME, &progress, shift.now)?))?;
        Ok(Advance::Did(Effects::from([
            ("topics_found", changes.n_new),
            ("topics_kept", changes.n_kept),
            ("memories_moved", n_moved as u64),
        ])))
    }
}

/// Tells whether topics were found before.
pub(super) fn are_found(engine: &MemoryEngine) -> Result<bool> {
    let state = engine.read(|reader| Ok(reader.step(NAME)?))?.state;
    Ok(state.get("n").is_some())
}

fn is_due(before: &StepProgress, n_compared: u64, by: &Value) -> bool {
    if n_compared < MEMBERS_MIN as u64 {
        return false;
    }
    match before.state.get("n").and_then(Value::as_u64) {
        None => true,
        Some(n_before) => {
            let n_new = n_compared.saturating_sub(n_before);
            before.state.get("by") != Some(by) || GROWTH_MIN.max(n_before / GROWTH_SHARE) <= n_new
        }
    }
}

/// Memories and the community each was found in; those of small communities are in none.
type Found = Vec<(MemoryNumber, Option<u32>)>;

/// Reads who is near whom and finds communities; `None` when somebody sent it away.
fn find(engine: &MemoryEngine, shift: &Shift<'_>) -> Result<Option<Found>> {
    let mut numbers = Vec::new();
    let mut near = Vec::new();
    let mut last = MemoryNumber::new(0);
    loop {
        let rows = engine.read(|reader| Ok(reader.nearness_after(last, ROWS_PER_READ)?))?;
        let Some((number, _)) = rows.last() else { break };
        last = *number;
        for (number, others) in rows {
            near.extend(others.iter().map(|o| (number, o.number, f32::from(o.nearness) / 255.0)));
            numbers.push(number);
        }
        if !shift.step_aside() {
            return Ok(None);
        }
    }
    if !add_links(engine, shift, &mut near)? {
        return Ok(None);
    }
    // Numbers that are gone since are no nodes.
    let place = |number: MemoryNumber| {
        numbers.binary_search(&number).ok().and_then(|place| u32::try_from(place).ok())
    };
    let mut edges: Vec<(u32, u32, f32)> = Vec::with_capacity(near.len());
    for part in near.chunks(ROWS_PER_READ) {
        let placed = part.iter().filter_map(|(a, b, w)| Some((place(*a)?, place(*b)?, *w)));
        edges.extend(placed);
        if !shift.step_aside() {
            return Ok(None);
        }
    }
    drop(near);
    let graph = Graph::new(numbers.len(), &edges, &mut || shift.step_aside());
    drop(edges);
    let Some(graph) = graph else { return Ok(None) };
    let Some(community) = communities(graph, &mut || shift.step_aside()) else { return Ok(None) };
    let mut sizes = vec![0_usize; numbers.len()];
    for name in &community {
        if let Some(size) = sizes.get_mut(*name as usize) {
            *size += 1;
        }
    }
    let is_topic = |name: &u32| sizes.get(*name as usize).is_some_and(|n| MEMBERS_MIN <= *n);
    let found = numbers.into_iter().zip(community);
    Ok(Some(found.map(|(number, name)| (number, Some(name).filter(is_topic))).collect()))
}

/// Adds what was linked because it is alike, or was of use together.
fn add_links(
    engine: &MemoryEngine,
    shift: &Shift<'_>,
    near: &mut Vec<(MemoryNumber, MemoryNumber, f32)>,
) -> Result<bool> {
    let mut last = (MemoryNumber::new(0), MemoryNumber::new(0));
    let mut n_links = 0;
    while n_links < LINKS_MAX {
        let rows = engine.read(|reader| Ok(reader.affinities_after(last, ROWS_PER_READ)?))?;
        let Some((src, dst, _)) = rows.last() else { break };
        last = (*src, *dst);
        n_links += rows.len();
        #[expect(clippy::cast_possible_truncation, reason = "a weight needs few digits")]
        near.extend(rows.into_iter().map(|(src, dst, weight)| (src, dst, weight as f32)));
        if !shift.step_aside() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Which memories change their topic.
struct Changes {
    moved: Vec<(MemoryNumber, Option<u64>)>,
    n_new: u64,
    n_kept: u64,
}

/// Gives each community the number of the topic it goes on from, or a new one.
fn renamed(engine: &MemoryEngine, shift: &Shift<'_>, found: &Found) -> Result<Option<Changes>> {
    let Some(before) = topics_before(engine, shift)? else { return Ok(None) };
    let mut names = kept_names(found, &before);
    let n_kept = names.len() as u64;
    let communities = found.iter().filter_map(|(_, community)| *community);
    let nameless: BTreeSet<u32> = communities.filter(|name| !names.contains_key(name)).collect();
    engine.write(|writing| {
        for community in &nameless {
            names.insert(*community, writing.new_topic(shift.now)?);
        }
        Ok(())
    })?;
    let topic = |community: Option<u32>| community.and_then(|name| names.get(&name)).copied();
    let named = found.iter().map(|(number, community)| (*number, topic(*community)));
    let moved = named.filter(|(number, topic)| before.get(number) != topic.as_ref()).collect();
    Ok(Some(Changes { moved, n_new: nameless.len() as u64, n_kept }))
}

fn topics_before(
    engine: &MemoryEngine,
    shift: &Shift<'_>,
) -> Result<Option<BTreeMap<MemoryNumber, u64>>> {
    let mut before = BTreeMap::new();
    let mut last = (0, MemoryNumber::new(0));
    loop {
        let rows = engine.read(|reader| Ok(reader.topics_after(last, ROWS_PER_READ)?))?;
        let Some(row) = rows.last() else { return Ok(Some(before)) };
        last = *row;
        before.extend(rows.into_iter().map(|(topic, number)| (number, topic)));
        if !shift.step_aside() {
            return Ok(None);
        }
    }
}

/// Matches communities with the topics they share most members with: at least half of either.
fn kept_names(found: &Found, before: &BTreeMap<MemoryNumber, u64>) -> BTreeMap<u32, u64> {
    let mut shared: BTreeMap<(u32, u64), usize> = BTreeMap::new();
    let mut n_new: BTreeMap<u32, usize> = BTreeMap::new();
    let mut n_old: BTreeMap<u64, usize> = BTreeMap::new();
    for topic in before.values() {
        *n_old.entry(*topic).or_default() += 1;
    }
    for (number, community) in found {
        let Some(community) = community else { continue };
        *n_new.entry(*community).or_default() += 1;
        if let Some(topic) = before.get(number) {
            *shared.entry((*community, *topic)).or_default() += 1;
        }
    }
    let mut pairs: Vec<(usize, u32, u64)> =
        shared.into_iter().map(|((community, topic), n)| (n, community, topic)).collect();
    pairs.sort_unstable_by(|a, b| b.0.cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let mut kept = BTreeMap::new();
    let mut taken = BTreeSet::new();
    for (n, community, topic) in pairs {
        let smaller = n_new.get(&community).min(n_old.get(&topic)).copied().unwrap_or(0);
        let goes_on = smaller <= 2 * n;
        if goes_on && !kept.contains_key(&community) && taken.insert(topic) {
            kept.insert(community, topic);
        }
    }
    kept
}

/// Writes who moved; false when somebody sent it away, and the next call finds the same again.
fn apply(
    engine: &MemoryEngine,
    shift: &Shift<'_>,
    moved: &[(MemoryNumber, Option<u64>)],
) -> Result<bool> {
    for part in moved.chunks(CHANGES_PER_WRITE) {
        if !shift.step_aside() {
            return Ok(false);
        }
        engine.write(|writing| {
            for (number, topic) in part {
                writing.set_topic(*number, *topic)?;
            }
            Ok(())
        })?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(communities: &[Option<u32>]) -> Found {
        (1..).map(MemoryNumber::new).zip(communities.iter().copied()).collect()
    }

    fn before(topics: &[u64]) -> BTreeMap<MemoryNumber, u64> {
        (1..).map(MemoryNumber::new).zip(topics.iter().copied()).collect()
    }

    #[test]
    fn a_topic_that_goes_on_keeps_its_number() {
        let same =
            kept_names(&found(&[Some(0), Some(0), Some(1), Some(1)]), &before(&[7, 7, 9, 9]));
        assert_eq!(same, BTreeMap::from([(0, 7), (1, 9)]));
        let grown = kept_names(&found(&[Some(0); 6]), &before(&[7, 7]));
        assert_eq!(grown, BTreeMap::from([(0, 7)]));
        let split =
            kept_names(&found(&[Some(0), Some(0), Some(0), Some(1), Some(1)]), &before(&[7; 5]));
        assert_eq!(split, BTreeMap::from([(0, 7)]), "the larger part goes on");
        let other = kept_names(&found(&[Some(0), None, None, None]), &before(&[7; 4]));
        assert_eq!(other, BTreeMap::from([(0, 7)]));
    }

    #[test]
    fn topics_are_found_anew_only_when_much_is_new() {
        let by = json!("words");
        let progress =
            |n: u64| StepProgress { state: json!({"n": n, "by": by}), ..StepProgress::default() };
        for (before, n_compared, expect) in [
            (StepProgress::default(), 2, false),
            (StepProgress::default(), 3, true),
            (progress(100), 119, false),
            (progress(100), 120, true),
            (progress(10), 19, false),
            (progress(10), 20, true),
        ] {
            assert_eq!(is_due(&before, n_compared, &by), expect, "{n_compared}");
        }
        assert!(is_due(&progress(100), 100, &json!("a model")));
    }
}
