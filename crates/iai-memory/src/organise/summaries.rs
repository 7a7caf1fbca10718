//! Summaries of topics and of finished sessions: one each, made of whole sentences that were said.
//!
//! The same members change nothing; other members with the same best sentences keep the memory;
//! only another text replaces it. A summary is told in one project, so it is made of that one's
//! memories alone, however many talk about the same thing elsewhere.

mod extract;
mod phrases;
mod sentences;

use std::collections::{BTreeMap, BTreeSet};

use iai_store::{
    Inserted, Link, LinkKind, Memory, MemoryId, MemoryNumber, NewMemory, Role, Summary,
    SummaryKind, TAUGHT_HOST, Tier, Topic, Writing,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::nearness::is_said;
use super::{Advance, Due, Effects, Shift, Step, topics};
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::trust::distrust;
use extract::{Extract, extract};
use phrases::phrases_of;

/// The host of what this program wrote itself.
pub(crate) const OWN_HOST: &str = "iai-mcp";
/// What comes from these was made here or taught; nobody said it.
pub(crate) const UNSAID_HOSTS: &[&str] = &[OWN_HOST, TAUGHT_HOST];
/// The tag of a summary.
const TAG: &str = "summary";
/// Memories of a group that are read: of a larger one, as many spread over all of it.
const MEMBERS_READ_MAX: usize = 64;
/// Members that count towards the hash of a group.
const MEMBERS_MAX: usize = 100_000;
/// A shorter session needs no summary.
const SESSION_TURNS_MIN: usize = 4;
/// A session is finished when nothing was said in it for so long.
const SESSION_QUIET: SignedDuration = SignedDuration::from_mins(30);
/// Memories whose sessions are noted in one transaction.
const NOTED_PER_ADVANCE: usize = 2000;
/// Summaries written in one transaction: taking an old one out of the index is dear.
const SUMMARIES_PER_ADVANCE: usize = 8;
/// Memories a summary names as its sources.
const SOURCES_MAX: usize = 20;

/// How summaries are made. Those made by another rule are made anew, whoever their members are.
const RULE: u64 = 3;

const NAME: &str = "summaries";

pub(super) struct Summaries;

/// A group of memories that was read, and what came of it.
struct Made {
    summary: Summary,
    hash: Option<u64>,
    /// The project it is told in; only memories of that one are in `group`.
    project: Option<String>,
    /// Members that hold, in whatever project, and how many of them are of this one.
    n_members: usize,
    n_own: usize,
    group: Vec<(MemoryNumber, Memory)>,
    extract: Option<Extract>,
    phrases: Vec<String>,
}

impl Step for Summaries {
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
        if look_again_by_new_rule(engine, shift)? || note_sessions(engine, shift)? {
            return Ok(Advance::Did(Effects::new()));
        }
        let stale = stale(engine, shift.now)?;
        if stale.is_empty() {
            return Ok(Advance::Nothing);
        }
        let mut made = Vec::new();
        for summary in stale {
            if !shift.step_aside() {
                break;
            }
            made.push(make(engine, summary)?);
        }
        if made.is_empty() {
            return Ok(Advance::MadeWay);
        }
        // Not `remember`: what this program wrote itself is no reason to organise again.
        let (effects, gone) = engine.write(|writing| keep_all(writing, &made, shift.now))?;
        engine.forget_vectors(&gone);
        engine.wake_meaning();
        Ok(Advance::Did(effects))
    }
}

/// Has everything looked at again that was made by another rule; false when nothing was.
fn look_again_by_new_rule(engine: &MemoryEngine, shift: &Shift<'_>) -> Result<bool> {
    let mut progress = engine.read(|reader| Ok(reader.step(NAME)?))?;
    if progress.state.get("rule").and_then(Value::as_u64) == Some(RULE) {
        return Ok(false);
    }
    progress.state = json!({"rule": RULE});
    engine.write(|writing| {
        writing.note_all_summaries()?;
        Ok(writing.put_step(NAME, &progress, shift.now)?)
    })?;
    Ok(true)
}

/// Notes in which sessions something was said since; false when that is nowhere.
fn note_sessions(engine: &MemoryEngine, shift: &Shift<'_>) -> Result<bool> {
    let mut progress = engine.read(|reader| Ok(reader.step(NAME)?))?;
    let after = progress.up_to;
    let seen: Vec<(MemoryNumber, u32, Role)> = engine.with_index(|index| {
        let catalogue = index.catalogue();
        let numbers = catalogue.after(after).filter_map(|number| {
            catalogue.entry(number).map(|entry| (number, entry.session, entry.role))
        });
        numbers.take(NOTED_PER_ADVANCE).collect()
    })?;
    let Some((last, _, _)) = seen.last() else { return Ok(false) };
    progress.up_to = *last;
    let said = seen.iter().filter(|(_, _, role)| *role != Role::System);
    let mut sessions: Vec<u32> = said.map(|(_, session, _)| *session).collect();
    sessions.sort_unstable();
    sessions.dedup();
    engine.write(|writing| {
        for session in sessions {
            writing.note_session(session)?;
        }
        Ok(writing.put_step(NAME, &progress, shift.now)?)
    })?;
    Ok(true)
}

/// Returns what has to be summarised: topics first, then sessions that are finished.
fn stale(engine: &MemoryEngine, now: Timestamp) -> Result<Vec<Summary>> {
    let topics = engine.read(|reader| {
        Ok(reader.stale_summaries(SummaryKind::Topic, None, SUMMARIES_PER_ADVANCE)?)
    })?;
    if !topics.is_empty() {
        return Ok(topics);
    }
    let mut finished = Vec::new();
    let mut after = None;
    while finished.len() < SUMMARIES_PER_ADVANCE {
        let sessions = engine.read(|reader| {
            Ok(reader.stale_summaries(SummaryKind::Session, after, SUMMARIES_PER_ADVANCE)?)
        })?;
        let Some(last) = sessions.last() else { break };
        after = Some(last.source);
        for session in sessions {
            if is_finished(engine, session.source, now)? {
                finished.push(session);
            }
        }
    }
    finished.truncate(SUMMARIES_PER_ADVANCE);
    Ok(finished)
}

fn is_finished(engine: &MemoryEngine, session: u64, now: Timestamp) -> Result<bool> {
    let before_ms = (now - SESSION_QUIET).as_millisecond();
    engine.with_index(|index| {
        let catalogue = index.catalogue();
        let session = u32::try_from(session).unwrap_or(u32::MAX);
        let last = catalogue.members(session).last().and_then(|number| catalogue.entry(number));
        last.is_none_or(|last| last.turn_at_ms <= before_ms)
    })
}

/// Reads a group and makes its summary, unless it is the group it was.
fn make(engine: &MemoryEngine, summary: Summary) -> Result<Made> {
    let mut members = members(engine, &summary)?;
    let n_members = members.len();
    // What others say about the same thing is not quoted in this project, nor does it name it.
    let project = keep_own(engine, &mut members)?;
    let n_members_min = match summary.kind {
        SummaryKind::Topic => topics::MEMBERS_MIN,
        SummaryKind::Session => SESSION_TURNS_MIN,
    };
    let is_worth_it = n_members_min <= n_members;
    let hash = is_worth_it.then(|| hash_of(&members));
    let mut made = Made {
        summary,
        hash,
        project,
        n_members,
        n_own: members.len(),
        group: Vec::new(),
        extract: None,
        phrases: Vec::new(),
    };
    if is_worth_it && hash != summary.members_hash {
        let wanted = spread(&members);
        let mut group = engine.read(|reader| Ok(reader.numbered(&wanted)?))?;
        group.retain(|(_, memory)| may_be_quoted(memory));
        group.sort_by_key(|(number, memory)| (memory.turn_at, *number));
        let extract = extract(engine, &group)?;
        if summary.kind == SummaryKind::Topic {
            made.phrases = phrases_of(&extract.centre, group.iter().map(|(_, memory)| memory));
        }
        if summary.kind == SummaryKind::Topic && is_refrain(&group) {
            made.phrases.truncate(1);
        } else {
            made.extract = Some(extract).filter(|extract| !extract.text.is_empty());
        }
        made.group = group;
    }
    Ok(made)
}

/// Keeps the members of the project most of them were said in, and returns that project.
fn keep_own(engine: &MemoryEngine, members: &mut Vec<MemoryNumber>) -> Result<Option<String>> {
    engine.with_index(|index| {
        let catalogue = index.catalogue();
        let mut counts: BTreeMap<Option<&str>, usize> = BTreeMap::new();
        for number in members.iter() {
            if catalogue.entry(*number).is_some_and(|entry| entry.role != Role::System) {
                *counts.entry(catalogue.project_name(*number)).or_default() += 1;
            }
        }
        // Of equal ones the first by name.
        let most = counts.into_iter().rev().max_by_key(|(_, n)| *n);
        let own = most.and_then(|(project, _)| project);
        members.retain(|number| catalogue.project_name(*number) == own);
        own.map(str::to_owned)
    })
}

/// The members of a group that still hold.
fn members(engine: &MemoryEngine, summary: &Summary) -> Result<Vec<MemoryNumber>> {
    let mut members: Vec<MemoryNumber> = match summary.kind {
        SummaryKind::Topic => {
            engine.read(|reader| Ok(reader.topic_members(summary.source, MEMBERS_MAX)?))?
        }
        SummaryKind::Session => engine.with_index(|index| {
            let session = u32::try_from(summary.source).unwrap_or(u32::MAX);
            index.catalogue().members(session).take(MEMBERS_MAX).collect()
        })?,
    };
    engine.with_index(|index| {
        members.retain(|number| index.catalogue().ended_at_ms(*number).is_none());
    })?;
    Ok(members)
}

/// Tells whether a topic is a few phrases said again and again ("show me the diff"): it has a name,
/// but there is nothing to tell of it.
fn is_refrain(group: &[(MemoryNumber, Memory)]) -> bool {
    let texts: BTreeSet<[u8; 32]> = group.iter().map(|(_, memory)| memory.content_hash).collect();
    texts.len() < topics::MEMBERS_MIN
}

/// What this program wrote, what a sub-agent said and what was flagged is not quoted.
fn may_be_quoted(memory: &Memory) -> bool {
    let is_spoken = is_said(memory) && memory.provenance.get("subagent").is_none();
    is_spoken && distrust(&memory.text).is_none()
}

/// At most so many of them, from the first to the last.
fn spread(members: &[MemoryNumber]) -> Vec<MemoryNumber> {
    let step = members.len().div_ceil(MEMBERS_READ_MAX).max(1);
    members.iter().step_by(step).copied().collect()
}

/// FNV-1a over the rule and the numbers: tells one membership from another on every machine.
fn hash_of(members: &[MemoryNumber]) -> u64 {
    let bytes = members.iter().flat_map(|number| number.get().to_le_bytes());
    RULE.to_le_bytes().into_iter().chain(bytes).fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Writes what came of several groups; returns what was done and which memories are gone.
fn keep_all(
    writing: &Writing<'_>,
    made: &[Made],
    now: Timestamp,
) -> Result<(Effects, Vec<MemoryNumber>)> {
    let mut effects = Effects::new();
    let mut outdated = Vec::new();
    for made in made {
        let (memory, effect) = keep(writing, made, now)?;
        if let Some(old) = made.summary.memory.filter(|old| Some(*old) != memory) {
            outdated.push(old);
        }
        if let Some(effect) = effect {
            *effects.entry(effect).or_default() += 1;
        }
        let summary = Summary { members_hash: made.hash, memory, ..made.summary };
        match (made.summary.kind, made.n_members) {
            (SummaryKind::Topic, 0) => writing.drop_topic(made.summary.source)?,
            (SummaryKind::Topic, _) => {
                writing.put_summary(&summary)?;
                match made.group.is_empty() {
                    true => recount(writing, made, now)?,
                    false => writing.put_topic(&topic_of(made), now)?,
                }
            }
            (SummaryKind::Session, _) => writing.put_summary(&summary)?,
        }
    }
    let gone = if outdated.is_empty() { Vec::new() } else { writing.forget(&outdated)? };
    Ok((effects, gone))
}

/// Writes down how many members a topic has that is still called what it was: some of another
/// project may have come or gone. One that has no name yet has no count either, and is not shown.
fn recount(writing: &Writing<'_>, made: &Made, now: Timestamp) -> Result<()> {
    let n_members = made.n_members as u64;
    let is_off = |topic: &Topic| topic.n_members != 0 && topic.n_members != n_members;
    if let Some(topic) = writing.read().topic(made.summary.source)?.filter(is_off) {
        writing.put_topic(&Topic { n_members, ..topic }, now)?;
    }
    Ok(())
}

/// Returns the memory that holds the summary now, and what was done to have it.
fn keep(
    writing: &Writing<'_>,
    made: &Made,
    now: Timestamp,
) -> Result<(Option<MemoryNumber>, Option<&'static str>)> {
    let old = made.summary.memory;
    if made.hash.is_some() && made.hash == made.summary.members_hash {
        return Ok((old, None));
    }
    let Some(extract) = &made.extract else {
        return Ok((None, old.map(|_| "summaries_dropped")));
    };
    let old_text = match old {
        Some(old) => writing.read().numbered(&[old])?.into_iter().next(),
        None => None,
    };
    if let Some((number, memory)) = old_text.filter(|(_, memory)| memory.text == extract.text) {
        // The same words may now be said by others: one that left must not be named any more.
        writing.drop_links_from(number, LinkKind::ConsolidatedFrom)?;
        link_sources(writing, memory.id, made, extract, now)?;
        return Ok((old, None));
    }
    let new = summary_memory(writing, made, extract)?;
    let id = match writing.insert(&new, now)? {
        Inserted::New(id) | Inserted::Known(id) => id,
        // The user forgot this very summary.
        Inserted::Forgotten(_) => return Ok((None, None)),
    };
    link_sources(writing, id, made, extract, now)?;
    let effect = if old.is_some() { "summaries_updated" } else { "summaries_created" };
    Ok((writing.read().number_of(id)?, Some(effect)))
}

/// Dated like the newest of its sources, and in a session of its own: a summary is no turn of the
/// conversation it is of.
fn summary_memory(writing: &Writing<'_>, made: &Made, extract: &Extract) -> Result<NewMemory> {
    let of = match made.summary.kind {
        SummaryKind::Topic => format!("topic {}", made.summary.source),
        SummaryKind::Session => {
            let number = u32::try_from(made.summary.source).unwrap_or(u32::MAX);
            format!("session {}", writing.read().session_name(number)?.unwrap_or_default())
        }
    };
    let newest = made.group.last().map(|(_, memory)| memory);
    let turn_at = newest.map_or(Timestamp::UNIX_EPOCH, |memory| memory.turn_at);
    Ok(NewMemory {
        host: OWN_HOST.to_owned(),
        session: format!("summary of {of}"),
        turn_uuid: None,
        turn_index: None,
        role: Role::System,
        tier: Tier::Semantic,
        project: made.project.clone(),
        cwd: None,
        turn_at,
        captured_at: turn_at,
        text: extract.text.clone(),
        language: newest.and_then(|memory| memory.language.clone()),
        tags: vec![TAG.to_owned()],
        provenance: json!({"generated": true, "of": of, "n_members": made.n_own}),
        cue: None,
        pinned: false,
    })
}

/// Links the summary with the memories it quotes, then with others of the group.
fn link_sources(
    writing: &Writing<'_>,
    summary: MemoryId,
    made: &Made,
    extract: &Extract,
    now: Timestamp,
) -> Result<()> {
    let is_quoted = |number: &MemoryNumber| extract.quoted.contains(number);
    let (quoted, others): (Vec<_>, Vec<_>) =
        made.group.iter().partition(|(number, _)| is_quoted(number));
    for (_, memory) in quoted.into_iter().chain(others).take(SOURCES_MAX) {
        writing.link(&Link {
            src: summary,
            dst: memory.id,
            kind: LinkKind::ConsolidatedFrom,
            weight: 1.0,
            created_at: now,
            touched_at: now,
        })?;
    }
    Ok(())
}

fn topic_of(made: &Made) -> Topic {
    Topic {
        number: made.summary.source,
        label: made.phrases.join(", "),
        phrases: made.phrases.clone(),
        n_members: made.n_members as u64,
        project: made.project.clone(),
    }
}

#[cfg(test)]
mod tests;
