//! A line of the brief: what somebody said, when, and what was said since that changes it.
//! Everything is told once.

use std::collections::BTreeSet;

use iai_store::{Memory, MemoryId, Role};
use jiff::Timestamp;

use super::material::TELLING_BYTES;
use crate::remarks::beginning;
use crate::remarks::open::n_telling;
use crate::taught;

/// What is shorter may be a part of anything.
const REPEATED_BYTES_MIN: usize = 16;
/// So much of a line is quoted at least.
const QUOTED_BYTES_MIN: usize = 160;
/// To what is longer, one word adds nothing: "… Remind me."
const LONG_BYTES_MIN: usize = 48;

/// Something somebody said, as it is told.
#[derive(Debug, Clone)]
pub(super) struct Told {
    pub(super) id: MemoryId,
    pub(super) role: Role,
    pub(super) at: Timestamp,
    pub(super) words: String,
    /// What is to be known about it, in a word or two.
    pub(super) aside: Option<String>,
    /// What was said since that changes it.
    pub(super) since: Option<Since>,
}

/// What was said since: where it stands, when, and the words.
#[derive(Debug, Clone)]
pub(super) struct Since {
    pub(super) id: MemoryId,
    pub(super) at: Timestamp,
    /// None where it was said in another project, and not for all of them.
    pub(super) words: Option<String>,
}

impl Since {
    /// Tells all of a turn.
    pub(super) fn of(newer: Memory) -> Self {
        Self { id: newer.id, at: newer.turn_at, words: Some(newer.text) }
    }
}

/// Leaves out what stands beside another already.
pub(super) fn drop_beside(told_of: &mut Vec<Told>) {
    let beside: Vec<Since> = told_of.iter().filter_map(|told| told.since.clone()).collect();
    told_of.retain(|told| {
        let is_it =
            |since: &Since| since.words.as_ref().is_some_and(|own| own.contains(&told.words));
        !beside.iter().any(|since| since.id == told.id && is_it(since))
    });
}

/// Builds what is told; what was generated says so.
pub(super) fn told(memory: &Memory, words: &str, aside: Option<&str>) -> Told {
    let is_generated = memory.provenance.get("generated").is_some();
    let generated = is_generated.then_some("generated summary");
    let taught = taught::source_of(&memory.provenance);
    let taught = taught.map(|source| format!("taught from {source}"));
    let asides = generated.into_iter().chain(taught.as_deref()).chain(aside);
    let asides: Vec<&str> = asides.collect();
    Told {
        id: memory.id,
        role: memory.role,
        at: memory.turn_at,
        words: words.to_owned(),
        aside: (!asides.is_empty()).then(|| asides.join(", ")),
        since: None,
    }
}

/// Tells whether something was not told yet, alone or with nothing of its own around it, and takes
/// it down.
pub(super) fn is_news(seen: &mut BTreeSet<String>, told: &Told) -> bool {
    let words = as_compared(&told.words);
    let is_around = |known: &String| {
        let rest = words.split_once(known.as_str());
        let n_told = rest.map(|(before, behind)| n_telling(before) + n_telling(behind));
        let n_told_max = usize::from(LONG_BYTES_MIN <= known.len());
        REPEATED_BYTES_MIN <= known.len() && n_told.is_some_and(|n_told| n_told <= n_told_max)
    };
    // What stands further down in it may not be quoted of it.
    let is_within = |known: &String| {
        REPEATED_BYTES_MIN <= words.len() && beginning(known, QUOTED_BYTES_MIN).contains(&words)
    };
    !seen.iter().any(|known| is_around(known) || is_within(known)) && seen.insert(words)
}

/// What of a line is compared: no more of it is ever quoted.
pub(super) fn as_compared(words: &str) -> String {
    beginning(words, TELLING_BYTES).to_lowercase()
}
