//! What was said since about the things that the best hits name, though the cue has none of its
//! words: who asks how a service is called finds the old name, and from there "we rename it to …".
//! Such a turn stands right below the hit that it is about, or above it where it names what of the
//! hit is replaced.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use iai_store::{LexicalQuery, Memory, MemoryNumber, Reader, Role, Scope};
use jiff::Timestamp;

use super::changes::{is_before, says_otherwise, telling_words};
use super::cue::words_of_in_order;
use super::rank::Ranked;
use super::values::{NamedFigures, named_figures};
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::organise::is_alike;
use crate::remarks::Wording;

/// The best hits that are followed, and how many turns they bring along at most.
const HITS_LOOKED_AT: usize = 2;
const BROUGHT_MAX: usize = 2;
/// What is among the first so many anyway is brought by nobody.
const IS_TOLD_ANYWAY: usize = 3;
/// A longer text names too much.
const TEXT_BYTES_MAX: usize = 600;
/// What so few memories name, summaries included, is a name: one that two share ties them …
const NAMED_BY_MAX: u64 = 6;
/// … and of what more name than that, up to here, it takes two.
const RARE_MAX: u64 = 24;
/// The rarest words of a hit that are searched for, and among how many memories.
const WORDS_ASKED_MAX: usize = 5;
const CANDIDATES_MAX: usize = 16;
/// The numbers of a hit that another may replace.
const FIGURES_MAX: usize = 8;
/// The names of a hit made of several words that another may replace.
const COMPOUNDS_MAX: usize = 3;
/// What stands beside another stands this much above or below it.
const MARGIN: f64 = 0.0001;
/// Words of changing, searched for beside the names: a name that hundreds mention is found so.
const CHANGING: &[&str] =
    &["rename", "renamed", "becomes", "switch", "replaced", "instead", "umbenannt"];

/// Puts what says that something changed beside the hit whose matter it is.
pub(super) fn bring_along(
    engine: &MemoryEngine,
    reader: &Reader,
    ranked: &mut Vec<Ranked>,
    now: Timestamp,
) -> Result<()> {
    let mut brought: Vec<Ranked> = Vec::new();
    for (place, hit) in ranked.iter().take(HITS_LOOKED_AT).enumerate() {
        let about = (hit.number, &hit.memory);
        // Each by itself: beside all that an assistant says, the user's word may not be among them.
        let mut found = tied_since(engine, reader, about, Role::User, now)?;
        found.extend(tied_since(engine, reader, about, Role::Assistant, now)?);
        found.sort_by_key(Since::order);
        for since in found {
            let n_told = if since.replaces { place } else { IS_TOLD_ANYWAY };
            let told = ranked.iter().take(n_told).chain(&brought);
            if BROUGHT_MAX <= brought.len()
                || told.into_iter().any(|one| one.number == since.number)
            {
                continue;
            }
            let score = if since.replaces { hit.score + MARGIN } else { hit.score - MARGIN };
            let reason = format!("says what changed since {}", hit.memory.id);
            let Since { number, memory, .. } = since;
            brought.push(Ranked { number, memory, score, reason });
        }
    }
    if brought.is_empty() {
        return Ok(());
    }
    ranked.retain(|hit| brought.iter().all(|one| one.number != hit.number));
    ranked.extend(brought);
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.number.cmp(&b.number)));
    Ok(())
}

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
struct Since {
    /// It says that another thing is in its place.
    replaces: bool,
    number: MemoryNumber,
    memory: Memory,
}

impl Since {
    /// What names the replaced thing comes first, then the latest.
    fn order(&self) -> Reverse<(bool, Timestamp, MemoryNumber)> {
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
fn tied_since(
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
    let words = telling_words(&memory.text);
    let figures = figures_of(&memory.text);
    let compounds = compounds_of(&memory.text);
    let named = named_figures(&memory.text);
    // An assistant has to name what is replaced, and is found by that; words of changing cost more.
    let beside: Vec<&str> = match who {
        Role::User => CHANGING.to_vec(),
        Role::Assistant | Role::System => compounds.iter().map(|(_, name)| name.as_str()).collect(),
    };
    let search = NameSearch { words, named_by_max: u64::MAX, beside: &beside, who };
    let NamedSince { names, since } = named_since(engine, reader, about, search, now)?;
    let mut tied: Vec<Since> = since
        .into_iter()
        .filter_map(|(number, memory)| {
            let told = with_arrows(&memory.text);
            let (wording, joined) = (Wording::of(&told), Wording::of(&with_compounds(&told)));
            let is_tied = is_tied(&memory.text, &names);
            // Anybody may say "instead of 5": it is about this 5 where the matter is the same.
            let replaces = replaces_one_of(&wording, &names)
                || replaces_one_of(&joined, &compounds)
                || has_another_figure(&named, &memory.text)
                || is_tied && replaces_one_of(&wording, &figures);
            (replaces || is_tied).then_some(Since { replaces, number, memory })
        })
        // Asked last: it looks for a hundred wordings.
        .filter(|since| match since.memory.role {
            Role::User => says_otherwise(&since.memory),
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
    /// Whose words are searched.
    pub(crate) who: Role,
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
    let NameSearch { words, named_by_max, beside, who } = search;
    let scope = Scope {
        project: memory.project.clone(),
        roles: vec![who],
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
        if names.is_empty() {
            return (names, Vec::new());
        }
        let asked = names.iter().map(|(_, word)| word.as_str()).chain(beside.iter().copied());
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
    0 < shared(NAMED_BY_MAX) || 1 < shared(RARE_MAX)
}

/// Returns the numbers that a text tells; how many memories have them does not matter.
fn figures_of(text: &str) -> Vec<(u64, String)> {
    let words = words_of_in_order(text).into_iter();
    let figures = words.filter(|word| word.chars().any(|letter| letter.is_ascii_digit()));
    figures.take(FIGURES_MAX).map(|word| (u64::MAX, word)).collect()
}

/// Tells whether a name from code has another figure in a text than it had.
fn has_another_figure(was: &NamedFigures, text: &str) -> bool {
    if was.is_empty() {
        return false;
    }
    let is = named_figures(text);
    was.iter().any(|(name, old)| is.get(name).is_some_and(|new| new.is_disjoint(old)))
}

/// Returns the names of a text that are made of several words, each as one: `billing-core`.
fn compounds_of(text: &str) -> Vec<(u64, String)> {
    let joined = Wording::of(&with_compounds(text));
    let words: Vec<String> = joined.words().map(str::to_owned).collect();
    let is_name = |word: &&String| word.contains('_') && word.chars().any(char::is_alphabetic);
    words.iter().filter(is_name).take(COMPOUNDS_MAX).map(|word| (u64::MAX, word.clone())).collect()
}

/// Writes arrows in words.
fn with_arrows(text: &str) -> Cow<'_, str> {
    match text.contains('→') || text.contains("->") {
        true => Cow::Owned(text.replace("->", "→").replace('→', " becomes ")),
        false => Cow::Borrowed(text),
    }
}

/// Writes compounds as one word.
fn with_compounds(text: &str) -> Cow<'_, str> {
    if !text.contains('-') {
        return Cow::Borrowed(text);
    }
    let letters: Vec<char> = text.chars().collect();
    let is_inside = |at: usize| {
        let mut sides = [at.checked_sub(1), at.checked_add(1)].into_iter();
        sides.all(|side| {
            side.and_then(|side| letters.get(side)).is_some_and(|l| l.is_alphanumeric())
        })
    };
    let joined = letters.iter().enumerate().map(|(at, letter)| match letter {
        '-' if is_inside(at) => '_',
        letter => *letter,
    });
    Cow::Owned(joined.collect())
}

/// Tells whether a text says that another thing is in the place of one of these.
fn replaces_one_of(wording: &Wording, names: &[(u64, String)]) -> bool {
    static FORMS: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
        let forms = REPLACING.split('|').filter_map(|form| form.split_once('X'));
        forms.map(|(before, after)| (before.trim(), after.trim())).collect()
    });
    let words = wording.words().enumerate();
    let mut places = words.filter(|(_, word)| names.iter().any(|(_, name)| name == word));
    places.any(|(place, _)| {
        FORMS.iter().any(|(before, after)| wording.stands_between(place, before, after))
    })
}

/// How it is said that another thing takes the place of X.
const REPLACING: &str = "\
     rename X to|rename the X|renamed X to|renamed the X|X is renamed|X was renamed|from X to|\
     rename X|renamed X|renaming X|switched X to|migrated X to|X is gone|X is removed|X is retired|\
     X is deprecated|X will be uninstalled|X was removed|X becomes|X became|X is now|X is called|\
     instead of X|replaced X|replaces X|\
     drop X for|X gone|X heißt jetzt|X wird zu|X in … umbenannt|von X auf|von X zu|statt X|\
     переименовали X|вместо X|с X на|\
     au lieu de X|de X à|en lugar de X|de X a";

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, names: &[(u64, &str)], expect: (bool, bool)) {
        let names: Vec<(u64, String)> = names.iter().map(|(n, w)| (*n, (*w).to_owned())).collect();
        let told = with_arrows(text);
        let is_compound = names.iter().any(|(_, name)| name.contains('_'));
        let wording = match is_compound {
            true => Wording::of(&with_compounds(&told)),
            false => Wording::of(&told),
        };
        assert_eq!((replaces_one_of(&wording, &names), is_tied(text, &names)), expect, "{text}");
    }

    #[test]
    fn a_text_names_what_is_replaced_or_shares_what_few_name() {
        check("We rename quoll to numbat, for the lawyers.", &[(300, "quoll")], (true, false));
        check("We switch from quoll to numbat.", &[(300, "quoll")], (true, false));
        check("Quoll heißt jetzt Numbat.", &[(300, "quoll")], (true, false));
        check("Renamed the service quoll → numbat.", &[(300, "quoll")], (true, false));
        check("Renamed quoll-api to numbat.", &[(300, "quoll_api")], (true, false));
        check("On 2026-11-16 instead of 2026-10-05.", &[(300, "2026")], (true, false));
        check("The quoll is moved to Friday.", &[(300, "quoll")], (false, false));
        check("The quoll is moved to Friday.", &[(4, "quoll")], (false, true));
        check("The quoll of pier four moved.", &[(20, "quoll"), (20, "pier")], (false, true));
        check("The quoll of pier four moved.", &[(20, "quoll")], (false, false));
    }
}
