//! What became of a wish: whether the user took it back since, all of it or a part.
//!
//! All that takes something back stands among the remarks. Which wish it is about is told by words
//! they share, in any form; where it may be about less than the wish, both are told.

use std::collections::BTreeSet;

use iai_store::{Reader, Remark, RemarkKind};

use super::material::Since;
use super::remarked::{Asked, merged};
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::organise::{has_alike, is_alike, is_stop_word, n_shared};
use crate::remarks::{Waived, Wording, sentences, waived_by};

/// Waivers that are read, the newest first.
const WAIVERS_READ_MAX: usize = 64;
/// Shorter words do not say what is wished.
const LETTERS_MIN: usize = 3;
/// Words that a waiver and a wish share, unless few memories have the one they share: so many where
/// the wish tells few words, …
const SHARED_MIN: usize = 2;
const BRIEF_WORDS_MAX: usize = 7;
const RARE_MAX: u64 = 24;
/// … fewer where it tells more, and in a large store one in so many beside.
const NAME_MAX: u64 = 6;
const RARE_SHARE: u64 = 500;
/// What any wish may be about; one of these alone ties nothing.
const ANY_WISH: &str = "\
     ask|run|runn|add|write|writ|tell|show|check|work|code|file|files|change|changes|time|start|\
     begin|call|commit|commits|test|tests|want|answer|answers|fragen|frage|schreib|schreiben|\
     mach|zeig|zeigen|prüfen|datei|dateien|preguntar|escribe|archivo|спрашивай|пиши|demande|\
     écris|fichier";
/// A wish that says so is about more than it names.
const EVEN: &str = "\
     even|also|too|including|any|every|everything|sogar|auch|incluso|también|même|даже";
/// What stands before the thing that a waiver is limited to.
const SCOPES: [&str; 19] = [
    "for", "on", "in", "at", "under", "during", "when", "if", "für", "bei", "auf", "im", "para",
    "en", "pour", "sur", "для", "на", "в",
];

/// What became of a wish.
#[derive(Debug)]
pub(super) enum Fate {
    Holds,
    /// It holds as far as what was said since leaves it.
    Narrowed(Since),
    Over,
}

/// All that was taken back in a project.
pub(super) struct Waivers(Vec<Waiver>);

struct Waiver {
    remark: Remark,
    how: Waived,
    words: BTreeSet<String>,
}

impl Waivers {
    pub(super) fn read(reader: &Reader, asked: &Asked<'_>) -> Result<Self> {
        let kind = (RemarkKind::Waiver, WAIVERS_READ_MAX);
        let all = merged(reader, kind, (asked.project, asked.fresh))?;
        let all = all.into_iter().filter_map(|remark| {
            let how = waived_by(remark.sentence())?;
            Some(Waiver { how, words: words_of(with_before(&remark)), remark })
        });
        Ok(Self(all.collect()))
    }

    /// Tells what became of a wish by the latest that was said about it.
    pub(super) fn fate(&self, engine: &MemoryEngine, wish: &Remark) -> Fate {
        let words = words_of(wish.sentence());
        let later = self.0.iter().filter(|own| wish.memory.turn_at < own.remark.memory.turn_at);
        let about = later.filter(|own| is_about(engine, &words, &own.words));
        let Some(latest) = about.max_by_key(|own| own.remark.memory.turn_at) else {
            return Fate::Holds;
        };
        let waiver = latest.remark.sentence();
        if latest.how == Waived::Wholly && covers(waiver, wish.sentence()) {
            return Fate::Over;
        }
        let Remark { memory, .. } = &latest.remark;
        Fate::Narrowed(Since { id: memory.id, at: memory.turn_at, words: waiver.to_owned() })
    }
}

/// Returns a waiver with the sentence before it, which often says what it is about.
fn with_before(remark: &Remark) -> &str {
    let text = remark.memory.text.as_str();
    let before = sentences(text).into_iter().take_while(|range| range.end <= remark.start_byte);
    let start_byte = before.last().map_or(remark.start_byte, |range| range.start);
    text.get(start_byte..remark.end_byte).unwrap_or_else(|| remark.sentence())
}

fn words_of(text: &str) -> BTreeSet<String> {
    let tells = |word: &&str| {
        LETTERS_MIN <= word.chars().count() && !word.contains('\'') && !is_stop_word(word)
    };
    Wording::of(text).words().filter(tells).map(|word| stem(word).to_owned()).collect()
}

/// "asking" and "ask" are too short to be alike by their letters.
fn stem(word: &str) -> &str {
    let stems = ["ing", "ed", "s"].iter().filter_map(|ending| word.strip_suffix(ending));
    stems.filter(|stem| LETTERS_MIN <= stem.len()).min_by_key(|stem| stem.len()).unwrap_or(word)
}

/// Tells whether a waiver is about a wish: it has two of its words, not only such as any wish may
/// have, or one that few memories have.
fn is_about(engine: &MemoryEngine, wish: &BTreeSet<String>, waiver: &BTreeSet<String>) -> bool {
    let mut shared: Vec<&String> = wish.iter().filter(|word| has_alike(waiver, word)).collect();
    // "mails" and "mail" are one.
    shared.dedup_by(|one, other| is_alike(one, other));
    let is_of_any_wish = |word: &str| ANY_WISH.split('|').any(|any| any == word);
    let own = shared.iter().filter(|word| !is_of_any_wish(word)).copied();
    let own: Vec<String> = own.cloned().collect();
    // One word alone has to be the very same: "serials" and "series" begin alike.
    let same: Vec<String> = own.iter().filter(|word| waiver.contains(*word)).cloned().collect();
    let rare_max = if wish.len() <= BRIEF_WORDS_MAX { RARE_MAX } else { NAME_MAX };
    !own.is_empty() && (SHARED_MIN <= shared.len() || has_rare(engine, &same, rare_max))
}

fn has_rare(engine: &MemoryEngine, words: &[String], rare_max: u64) -> bool {
    let found = engine.with_loaded_index(|index| {
        let share = index.catalogue().len() as u64 / RARE_SHARE;
        index.document_frequencies(words).into_iter().any(|n| n <= rare_max + share)
    });
    found.unwrap_or_default()
}

/// Tells whether what is taken back is all that was wished: most of its words, and no part is named
/// that the wish does not name so too.
fn covers(waiver: &str, wish: &str) -> bool {
    let wished = Wording::of(wish);
    if wished.has_any(EVEN) {
        return false;
    }
    let taken = Wording::of(waiver);
    let is_limited = (0..taken.len()).any(|place| {
        let scope = taken.word(place).filter(|word| SCOPES.contains(word));
        let what = (place + 1..taken.len()).filter_map(|next| taken.word(next));
        let what = what.take_while(|word| !SCOPES.contains(word)).find(|word| !is_stop_word(word));
        scope
            .zip(what)
            .is_some_and(|(scope, what)| wished.find(&format!("{scope} … {what}")).is_none())
    });
    let words = words_of(wish);
    !is_limited && words.len() < 2 * n_shared(&words, &words_of(waiver))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Trial;

    #[test]
    fn a_waiver_is_about_what_shares_words_with_it() {
        let trial = Trial::new();
        let check = |wish: &str, waiver: &str, expect: bool| {
            let is_about = is_about(&trial.engine, &words_of(wish), &words_of(waiver));
            assert_eq!(is_about, expect, "{wish} / {waiver}");
        };
        let migrations = "Always ask me before you run a migration, even on dev.";
        check(migrations, "you don't need to ask me any more for dev migrations", true);
        check(migrations, "you don't need to ask me any more about names", false);
        check("Never push to main directly", "docs fixes can go straight to main, just push", true);
        check("Always write a test first", "no need to write release notes any more", false);
    }

    #[test]
    fn a_waiver_covers_a_wish_where_it_names_no_part_of_it() {
        let check = |wish: &str, waiver: &str, expect: bool| {
            assert_eq!(covers(waiver, wish), expect, "{wish} / {waiver}");
        };
        let emojis = "no emojis in commit messages please";
        check(emojis, "emojis in commit messages are fine again", true);
        check(emojis, "emojis in the readme are fine again", false);
        check("Ask me before a migration", "no need to ask about migrations any more", true);
        check("Ask me before a migration", "no need to ask about migrations on dev", false);
        check("Ask me before a migration, even on dev", "no need to ask about migrations", false);
    }
}
