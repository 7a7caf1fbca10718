//! What was said since about the things that a memory names, in words that may share nothing else
//! with it: from the old name of a service to "we rename it to …".

use std::cmp::Reverse;
use std::collections::BTreeSet;

use iai_store::{LexicalQuery, Memory, MemoryNumber, Reader, Role, Scope};
use jiff::Timestamp;

use super::changes::{is_before, says_otherwise, telling_words};
use super::figures::{figures_by_unit, named_figures, versions_in};
use super::replacing::{
    code_names_of, has_another_figure, has_another_version, numbers_of, replaces_figure,
    replaces_one_of, sets_anew, with_arrows, with_compounds,
};
use super::stated::stated_of;
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::organise::is_alike;
use crate::projects::is_of_name;
use crate::remarks::Wording;

/// A longer text names too much.
pub(super) const TEXT_BYTES_MAX: usize = 600;
/// What so few memories name, summaries included, is a name: one that two share ties them …
pub(super) const NAMED_BY_MAX: u64 = 6;
/// … and of what more name than that, up to here, it takes two.
const RARE_MAX: u64 = 24;
/// A number of so many figures is a name.
const FIGURES_MIN: usize = 4;
/// The rarest words of a hit that are searched for, and among how many memories.
const WORDS_ASKED_MAX: usize = 5;
const CANDIDATES_MAX: usize = 16;
/// What more memories have than this is no name of anything.
const NAMED_BY_ANYBODY: u64 = 1000;
/// A name that more memories than this have is found among words of changing.
const COMMON_MIN: u64 = 64;
/// Words of changing, searched for beside the names: a name that hundreds mention is found so.
const CHANGING: &[&str] =
    &["rename", "renamed", "becomes", "switch", "replaced", "instead", "umbenannt"];

/// Returns what the user said later that names what of a memory is replaced.
pub(crate) fn replaced_since(
    engine: &MemoryEngine,
    reader: &Reader,
    about: (MemoryNumber, &Memory),
    now: Timestamp,
) -> Result<Option<Memory>> {
    let since = tied_since(engine, reader, about, Role::User, now)?.into_iter().next();
    Ok(since.filter(|since| since.replaces).map(|since| since.memory))
}

/// What was said later about something that a memory names.
pub(super) struct Since {
    /// It says that another thing is in its place.
    pub(super) replaces: bool,
    pub(super) tie: Tie,
    pub(super) number: MemoryNumber,
    pub(super) memory: Memory,
}

/// How what was said later is tied to the answer of a cue, the loosest first: it says how near to
/// the cue it must be itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tie {
    /// By a word that both have.
    Word,
    /// By a name from code that has another figure: it may have nothing else in common with it.
    Code,
    /// What is replaced stands where the hit has words of the cue.
    Answer,
    /// The same, and it is a figure with what it is of, or a name that few have.
    Certain,
}

impl Since {
    /// What names the replaced thing comes first, then the latest.
    pub(super) fn order(&self) -> Reverse<(bool, Timestamp, MemoryNumber)> {
        Reverse((self.replaces, self.memory.turn_at, self.number))
    }
}

/// Returns what the user said later in the same project about something that a memory names being
/// another way now: what names the replaced thing first, then the latest.
pub(crate) fn said_since(
    engine: &MemoryEngine,
    reader: &Reader,
    about: (MemoryNumber, &Memory),
    now: Timestamp,
) -> Result<Vec<(MemoryNumber, Memory)>> {
    let since = tied_since(engine, reader, about, Role::User, now)?;
    Ok(since.into_iter().map(|since| (since.number, since.memory)).collect())
}

/// Finds what somebody said later that is tied to what a memory names. The user says in many words
/// that something is another way; an assistant has to name what is replaced.
pub(super) fn tied_since(
    engine: &MemoryEngine,
    reader: &Reader,
    about: (MemoryNumber, &Memory),
    who: Role,
    now: Timestamp,
) -> Result<Vec<Since>> {
    let (_, memory) = about;
    let is_followed = memory.project.is_some()
        && memory.role != Role::System
        && memory.valid_to.is_none()
        && memory.text.len() <= TEXT_BYTES_MAX;
    if !is_followed {
        return Ok(Vec::new());
    }
    let mut words = telling_words(&memory.text);
    words.retain(|word| !is_of_name(memory.project.as_deref(), word));
    let figures = numbers_of(&memory.text);
    let code_names = code_names_of(&memory.text);
    let named = named_figures(&memory.text);
    let by_unit = figures_by_unit(&memory.text);
    let versions = versions_in(&memory.text);
    // An assistant has to name what is replaced, and is found by that; words of changing cost more.
    let beside: Vec<&str> = code_names.iter().map(|(_, name)| name.as_str()).collect();
    let changing = if who == Role::User { CHANGING } else { &[] };
    let who = &[who];
    let search =
        NameSearch { words, named_by_max: NAMED_BY_ANYBODY, beside: &beside, changing, who };
    let NamedSince { names, since } = named_since(engine, reader, about, search, now)?;
    let mut tied: Vec<Since> = since
        .into_iter()
        .filter_map(|(number, memory)| {
            let said = stated_of(&memory.text);
            let told = with_arrows(&said);
            let (wording, joined) = (Wording::of(&told), Wording::of(&with_compounds(&told)));
            // What is replaced may stand in a sentence that only thinks of it: "it would cost …".
            let is_tied = is_tied(&memory.text, &names);
            // Anybody may say "instead of 5": it is about this 5 where the matter is the same.
            let is_by_code = has_another_figure(&named, &said);
            let is_newer_version =
                || memory.role == Role::User && has_another_version(&versions, &said);
            let replaces = is_by_code
                || is_newer_version()
                || replaces_one_of(&wording, &names)
                || replaces_one_of(&joined, &code_names)
                || is_tied && (replaces_figure(&wording, &figures) || sets_anew(&by_unit, &said));
            let tie = if is_by_code { Tie::Code } else { Tie::Word };
            (replaces || is_tied).then_some(Since { replaces, tie, number, memory })
        })
        // Asked last: it looks for a hundred wordings.
        .filter(|since| match since.memory.role {
            Role::User => says_otherwise(&since.memory, &stated_of(&since.memory.text)),
            Role::Assistant | Role::System => since.replaces,
        })
        .collect();
    tied.sort_by_key(Since::order);
    Ok(tied)
}

/// What of a memory is looked for in what was said since.
pub(crate) struct NameSearch<'a> {
    /// Its words, of which the rarest are names …
    pub(crate) words: BTreeSet<String>,
    /// … unless more memories than this have them.
    pub(crate) named_by_max: u64,
    /// Words that are searched for beside the names.
    pub(crate) beside: &'a [&'a str],
    /// The same where a name alone would find too many.
    pub(crate) changing: &'a [&'a str],
    /// Whose words are searched.
    pub(crate) who: &'a [Role],
}

/// What was found.
pub(crate) struct NamedSince {
    /// The names, the rarest first, each with how many memories have it.
    pub(crate) names: Vec<(u64, String)>,
    /// What was said later in few words, elsewhere in the project, that may have one of them.
    pub(crate) since: Vec<(MemoryNumber, Memory)>,
}

/// Searches what was said later, elsewhere in the same project, for what a memory names. While
/// the index is not loaded, nothing is found.
pub(crate) fn named_since(
    engine: &MemoryEngine,
    reader: &Reader,
    (number, memory): (MemoryNumber, &Memory),
    search: NameSearch<'_>,
    now: Timestamp,
) -> Result<NamedSince> {
    let NameSearch { words, named_by_max, beside, changing, who } = search;
    let scope = Scope {
        project: memory.project.clone(),
        roles: who.to_vec(),
        said_ms: Some((memory.turn_at.as_millisecond(), now.as_millisecond())),
        ..Scope::default()
    };
    let words: Vec<String> = words.into_iter().collect();
    let found = engine.with_loaded_index(|index| {
        let frequencies = index.document_frequencies(&words).into_iter().zip(words);
        // What nobody else says leads nowhere.
        let mut names: Vec<(u64, String)> =
            frequencies.filter(|(n, _)| (2..=named_by_max).contains(n)).collect();
        names.sort();
        names.truncate(WORDS_ASKED_MAX);
        if names.is_empty() && beside.is_empty() {
            return (names, Vec::new());
        }
        // Words that thousands have cost more than all the names.
        let is_common = names.iter().any(|(n, _)| COMMON_MIN < *n);
        let changing = if is_common { changing } else { &[] };
        let asked = names.iter().map(|(_, word)| word.as_str()).chain(beside.iter().copied());
        let asked = asked.chain(changing.iter().copied());
        let query = LexicalQuery { words: asked.map(str::to_owned).collect(), phrases: Vec::new() };
        let catalogue = index.catalogue();
        let session_of = |number| catalogue.entry(number).map(|entry| entry.session);
        let hits = index.search(&query, &scope, CANDIDATES_MAX).into_iter().map(|hit| hit.number);
        // Asked of the catalogue, so that no text is read for nothing.
        let others = hits.filter(|other| {
            let is_elsewhere = session_of(*other) != session_of(number);
            is_elsewhere && catalogue.ended_at_ms(*other).is_none()
        });
        (names, others.collect::<Vec<MemoryNumber>>())
    });
    let (names, others) = found.unwrap_or_default();
    let mut since = reader.numbered(&others)?;
    since.retain(|(_, other)| other.text.len() <= TEXT_BYTES_MAX && is_before(memory, other));
    Ok(NamedSince { names, since })
}

fn is_tied(text: &str, names: &[(u64, String)]) -> bool {
    let words: BTreeSet<String> = telling_words(text);
    let shared = |n_max: u64| {
        let rare = names.iter().filter(move |(n, _)| *n <= n_max);
        rare.filter(|(_, word)| words.iter().any(|own| is_alike(own, word))).count()
    };
    // A number that long is no count, but a port, a ticket or an amount.
    let is_number = |word: &str| {
        FIGURES_MIN <= word.len() && word.chars().all(|letter| letter.is_ascii_digit())
    };
    let mut rare = names.iter().filter(|(n, word)| *n <= RARE_MAX && is_number(word));
    rare.any(|(_, word)| words.contains(word)) || 0 < shared(NAMED_BY_MAX) || 1 < shared(RARE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_tied_by_what_few_name() {
        let check = |text: &str, names: &[(u64, &str)], expect: bool| {
            let names: Vec<(u64, String)> =
                names.iter().map(|(n, w)| (*n, (*w).to_owned())).collect();
            assert_eq!(is_tied(text, &names), expect, "{text}");
        };
        check("The quoll is moved to Friday.", &[(300, "quoll")], false);
        check("The quoll is moved to Friday.", &[(4, "quoll")], true);
        check("The quoll of pier four moved.", &[(20, "quoll"), (20, "pier")], true);
        check("The quoll of pier four moved.", &[(20, "quoll")], false);
    }
}
