//! What was of use most often: only what states something that nobody spoke of anew since.

use std::cmp::Reverse;

use iai_store::{LexicalQuery, Memory, MemoryNumber, Reader, Role, Scope, UsedMemory, Uses};
use jiff::{SignedDuration, Timestamp};

use super::material::{Told, may_be_told, told};
use super::telling::{statements, states_something};
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::recall::said_since;
use crate::remarks::open::matter_of;

/// Used memories that are read to choose from.
const USED_READ_MAX: usize = 24;
/// A memory used less often is not much used.
const WORTH_MIN: u32 = 3;
/// What so few memories name, summaries included, is a name: who names it later may say something
/// else of it.
const NAMED_BY_MAX: u64 = 12;
/// Names that are searched for, and among how many memories.
const NAMES_MAX: usize = 5;
const CANDIDATES_MAX: usize = 16;
/// What is said sooner belongs to the same talk.
const APART_MIN: SignedDuration = SignedDuration::from_hours(1);

/// Returns what was of use most often, what somebody said helped first.
pub(super) fn used(
    engine: &MemoryEngine,
    reader: &Reader,
    project: &str,
    limit: usize,
    now: Timestamp,
) -> Result<Vec<Told>> {
    let mut used = reader.most_used(project, USED_READ_MAX)?;
    used.sort_by_key(|used| Reverse(used.uses.n_reinforced));
    let numbers: Vec<MemoryNumber> = used.iter().map(|used| used.number).collect();
    let disputes = reader.disputes_of(&numbers)?;
    let is_disputed = |number| disputes.iter().any(|dispute| dispute.about.earlier == number);
    let used = used.into_iter().filter(|used| is_worth_it(used) && !is_disputed(used.number));
    let mut told_of = Vec::new();
    for UsedMemory { number, memory, uses } in used {
        if told_of.len() == limit {
            break;
        }
        if said_since(engine, reader, (number, &memory), now)?.is_empty()
            && !is_spoken_of_since(engine, reader, &memory, now)?
        {
            let aside = format!("recalled {} times", uses.n_recalled);
            told_of.push(told(&memory, &memory.text, Some(&aside)));
        }
    }
    Ok(told_of)
}

fn is_worth_it(used: &UsedMemory) -> bool {
    let worth = |uses: Uses| uses.n_recalled.saturating_add(3 * uses.n_reinforced);
    WORTH_MIN <= worth(used.uses)
        && may_be_told(&used.memory)
        && states_something(&used.memory.text)
}

/// Tells whether the user stated something later about what a memory names. It may still hold; but
/// what is told here is told without being asked for, and recall finds both.
fn is_spoken_of_since(
    engine: &MemoryEngine,
    reader: &Reader,
    memory: &Memory,
    now: Timestamp,
) -> Result<bool> {
    let scope = Scope {
        project: memory.project.clone(),
        roles: vec![Role::User],
        said_ms: Some((memory.turn_at.as_millisecond(), now.as_millisecond())),
        ..Scope::default()
    };
    let words: Vec<String> = matter_of(&memory.text).into_iter().collect();
    let found = engine.with_loaded_index(|index| {
        let frequencies = index.document_frequencies(&words).into_iter().zip(words);
        let mut names: Vec<(u64, String)> =
            frequencies.filter(|(n, _)| (2..=NAMED_BY_MAX).contains(n)).collect();
        names.sort();
        names.truncate(NAMES_MAX);
        let names: Vec<String> = names.into_iter().map(|(_, name)| name).collect();
        let query = LexicalQuery { words: names.clone(), phrases: Vec::new() };
        let hits = index.search(&query, &scope, CANDIDATES_MAX);
        (names, hits.iter().map(|hit| hit.number).collect::<Vec<_>>())
    });
    let Some((names, numbers)) = found.filter(|(names, _)| !names.is_empty()) else {
        return Ok(false);
    };
    let is_later = |other: &Memory| {
        other.session != memory.session
            && memory.turn_at.duration_until(other.turn_at) > APART_MIN
            && may_be_told(other)
    };
    let names_one = |other: &Memory| {
        statements(&other.text).any(|said| names.iter().any(|name| matter_of(said).contains(name)))
    };
    let since = reader.numbered(&numbers)?;
    Ok(since.iter().any(|(_, other)| is_later(other) && names_one(other)))
}
