//! What was of use most often: only what states something that nobody spoke of anew since.

use std::cmp::Reverse;

use iai_store::{Memory, MemoryNumber, Reader, Role, UsedMemory, Uses};
use jiff::Timestamp;

use super::material::may_be_told;
use super::telling::{statements, states_something};
use super::told::{Told, told};
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::recall::{NameSearch, named_since, said_since};
use crate::remarks::beginning;
use crate::remarks::open::matter_of;

/// Used memories that are read to choose from.
const USED_READ_MAX: usize = 24;
/// A memory used less often is not much used.
const WORTH_MIN: u32 = 3;
/// What so few memories name, summaries included, is a name: who names it later may say something
/// else of it.
const NAMED_BY_MAX: u64 = 12;
/// No more of a memory is quoted: 500 characters of four bytes. What stands behind them is told to
/// nobody, and need not hold.
const QUOTED_BYTES_MAX: usize = 2000;

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
        let about = (number, &memory);
        // The cheaper question first.
        if !is_spoken_of_since(engine, reader, about, now)?
            && said_since(engine, reader, about, now)?.is_empty()
        {
            let aside = match uses.n_recalled {
                1 => "recalled once".to_owned(),
                n => format!("recalled {n} times"),
            };
            told_of.push(told(&memory, &memory.text, Some(&aside)));
        }
    }
    Ok(told_of)
}

fn is_worth_it(used: &UsedMemory) -> bool {
    let worth = |uses: Uses| uses.n_recalled.saturating_add(3 * uses.n_reinforced);
    WORTH_MIN <= worth(used.uses)
        && states_something(beginning(&used.memory.text, QUOTED_BYTES_MAX))
        && may_be_told(&used.memory)
}

/// Tells whether the user stated something later about what a memory names. It may still hold; but
/// what is told here is told without being asked for, and recall finds both.
fn is_spoken_of_since(
    engine: &MemoryEngine,
    reader: &Reader,
    about: (MemoryNumber, &Memory),
    now: Timestamp,
) -> Result<bool> {
    let words = matter_of(beginning(&about.1.text, QUOTED_BYTES_MAX));
    let search = NameSearch {
        words,
        named_by_max: NAMED_BY_MAX,
        beside: &[],
        changing: &[],
        who: &[Role::User],
    };
    let found = named_since(engine, reader, about, search, now)?;
    let names_one = |other: &Memory| {
        let is_named = |said: &str| {
            let matter = matter_of(said);
            found.names.iter().any(|(_, name)| matter.contains(name))
        };
        statements(&other.text).any(is_named)
    };
    Ok(found.since.iter().any(|(_, other)| names_one(other) && may_be_told(other)))
}
