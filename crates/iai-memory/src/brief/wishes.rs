//! How the user wants things to be done, as far as they still do: nothing that was turned round or
//! taken back since, and what was taken back in part with the words that did it.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use iai_store::{Reader, Remark, RemarkKind};
use jiff::SignedDuration;

use super::material::may_be_told;
use super::remarked::{Asked, folded, joined, remarked, undisputed};
use super::sequels::told_since;
use super::told::{Told, drop_beside};
use super::waived::{Fate, Waivers};
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::organise::{is_stop_word, n_shared};
use crate::remarks::{Wording, languages_wanted, sentences};

/// Wishes that are read to choose from: people say them once, and they stand for long.
const WISHES_READ_MAX: usize = 32;
/// Wishes that are told in every project because they were said in several, …
const OF_SEVERAL_MAX: usize = 8;
/// … or because they say so.
const EVERYWHERE_MAX: usize = 16;
/// What stands beside a wish of another project.
const FOR_ALL: &str = "for all projects";
/// A wish that was said once counts so long: people say a rule once and go by it.
const WISH_KEPT: SignedDuration = SignedDuration::from_hours(24 * 400);
/// Wishes of so few words may be alike without being about the same.
const SAME_WORDS_MIN: usize = 3;
/// Shorter words do not say what is wished.
const WISH_LETTERS_MIN: usize = 3;
/// Takes a wish back in its own words.
const NO_LONGER: &str = "\
     no longer|any more|anymore|no need to|don't|do not|stop|drop|dropped|forget|nicht mehr|\
     brauchst nicht|kein|keine|больше не|не нужно|ne … plus|pas besoin|ya no|no hace falta";
/// What is written, and said, in one language or another.
const WRITTEN: &str = "\
     commit*|message*|comment*|doc|docs|documentation|description*|text*|string*|pr|prs|notes|\
     name*|variable*|ui|label*|button*|issue*|ticket*|code|readme|log|logs|mail*|runbook*|\
     kommentar*|nachricht*|beschreibung*|oberfläche|mensaje*|comentario*|interfaz|commentaire*|\
     interface|комментари*|сообщени*";

/// Returns, of wishes in the order they are told, what was not turned round since, by a decision or
/// otherwise.
pub(super) fn preferences(
    engine: &MemoryEngine,
    reader: &Reader,
    asked: &Asked<'_>,
    all: &[Remark],
    (decided, mut waivers): (&[Remark], Waivers),
) -> Result<Vec<Told>> {
    let decided: Vec<(&Remark, Matter)> =
        decided.iter().map(|own| (own, Matter::of(own.sentence()))).collect();
    let mut told_of: Vec<Told> = Vec::new();
    for wish in all {
        if told_of.len() == asked.limit {
            break;
        }
        let is_later = |newer: &Remark| wish.memory.turn_at < newer.memory.turn_at;
        let matter = Matter::of(wish.sentence());
        let mut decided_later = decided.iter().filter(|(newer, _)| is_later(newer));
        let wished_later = all.iter().filter(|newer| is_later(newer));
        if decided_later.any(|(_, newer)| matter.is_turned_round_by(newer))
            || speaks_otherwise(&matter.wording, wished_later)
        {
            continue;
        }
        let since = match waivers.fate(engine, reader, wish)? {
            Fate::Holds => told_since(reader, (RemarkKind::Preference, wish), asked.project)?,
            Fate::Narrowed(since) => Some(since),
            Fate::Over => continue,
        };
        told_of.push(Told { since, ..wished(wish, asked.project) });
    }
    drop_beside(&mut told_of);
    Ok(told_of)
}

/// Reads what was said often, or not too long ago, in this project, in the same words in several,
/// or for all: what was said most often first, then the latest.
pub(super) fn wishes(reader: &Reader, asked: &Asked<'_>) -> Result<Vec<Remark>> {
    let mut all =
        joined(reader, (RemarkKind::Preference, WISHES_READ_MAX), (asked.project, asked.fresh))?;
    let several = reader.remarks_of_several(RemarkKind::Preference, OF_SEVERAL_MAX)?;
    let everywhere = reader.remarks_for_everywhere(RemarkKind::Preference, EVERYWHERE_MAX)?;
    let mut of_all: Vec<Remark> = several.into_iter().chain(everywhere).collect();
    of_all.retain(|remark| may_be_told(&remark.memory));
    all.extend(undisputed(reader, of_all)?);
    let mut all = folded(all);
    let age = |own: &Remark| asked.now.duration_since(own.memory.turn_at);
    all.retain(|own| 1 < own.n_said || age(own) <= WISH_KEPT);
    // Those of the project first: what others add must not push them out.
    let is_of_here = |own: &Remark| own.memory.project.as_deref() == Some(asked.project);
    all.sort_by_key(|own| Reverse((own.n_said, is_of_here(own), own.memory.turn_at)));
    Ok(all)
}

/// Tells a wish, and whether it comes from elsewhere.
fn wished(wish: &Remark, project: &str) -> Told {
    let told = remarked(wish);
    let is_of_here = wish.memory.project.as_deref() == Some(project);
    let from_elsewhere = (!is_of_here).then(|| FOR_ALL.to_owned());
    let asides: Vec<String> = told.aside.clone().into_iter().chain(from_elsewhere).collect();
    Told { aside: (!asides.is_empty()).then(|| asides.join(", ")), ..told }
}

/// Tells whether one of the newer wishes wants another language for the same, or for all that is
/// said.
fn speaks_otherwise<'a>(wish: &Wording, mut newer: impl Iterator<Item = &'a Remark>) -> bool {
    let Some(spoken) = language_wanted(wish) else { return false };
    let is_of_another_language = |said: &str| {
        let new = Wording::of(said);
        let is_of_both =
            |pattern: &str| wish.find(pattern).is_some() && new.find(pattern).is_some();
        language_wanted(&new).is_some_and(|speaks| speaks != spoken)
            && (WRITTEN.split('|').any(is_of_both) || !new.has_any(WRITTEN))
    };
    newer.any(|newer| {
        // Each sentence by itself: "English from now on. Ana reads the docs." is about more than
        // docs.
        let newer = newer.sentence();
        let mut said = sentences(newer).into_iter().filter_map(|range| newer.get(range));
        said.any(is_of_another_language)
    })
}

/// Returns the language that something is wanted in, where it is one.
fn language_wanted(wording: &Wording) -> Option<&str> {
    let wanted: BTreeSet<&str> = languages_wanted(wording).collect();
    wanted.first().copied().filter(|_| wanted.len() == 1)
}

/// What a sentence is about.
struct Matter {
    wording: Wording,
    /// The words that tell something.
    words: BTreeSet<String>,
}

impl Matter {
    fn of(sentence: &str) -> Self {
        let wording = Wording::of(sentence);
        let tells = |word: &&str| WISH_LETTERS_MIN <= word.chars().count() && !is_stop_word(word);
        let words = wording.words().filter(tells).map(str::to_owned).collect();
        Self { wording, words }
    }

    /// Tells whether a newer sentence is about the same as this wish, and wishes something else: it
    /// has most of its words but not all, or all of them and a "no longer".
    fn is_turned_round_by(&self, newer: &Self) -> bool {
        let n_words = self.words.len();
        let n_same = n_shared(&self.words, &newer.words);
        let is_most = n_words < 2 * n_same;
        // Half of a few words is little, unless the sentences are built alike: "in the Go files".
        let is_alike_built = || {
            let has = |word: &&str| newer.wording.words().any(|other| other == *word);
            self.wording.len() <= 2 * self.wording.words().filter(has).count()
        };
        let is_half = n_words == 2 * n_same && (SAME_WORDS_MIN <= n_same || is_alike_built());
        let is_other = || n_same < n_words || newer.wording.has_any(NO_LONGER);
        0 < n_same && (is_most || is_half) && is_other()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_turned_round_by_what_says_otherwise_about_the_same() {
        let check = |wish: &str, newer: &str, expect: bool| {
            let is_turned_round = Matter::of(wish).is_turned_round_by(&Matter::of(newer));
            assert_eq!(is_turned_round, expect, "{wish} / {newer}");
        };
        let tabs = "always use tabs in the Go files";
        check(tabs, "we use spaces in the Go files now", true);
        check(tabs, "we no longer use tabs in the Go files", true);
        check(tabs, "we moved the log files now", false);
        check(tabs, "we always use tabs in the Go files now", false);
        let formatter = "please always run gofumpt, not plain gofmt, before you show me a diff";
        check(formatter, "the team has settled on plain gofmt, gofumpt fights with it", true);
        check(formatter, "we run the linter on the diff now", false);
        let german = "Verwende in den Dateien immer Tabs";
        check(german, "Wir verwenden in den Dateien jetzt Leerzeichen", true);
        check(german, "Wir haben die Dateien jetzt verschoben", false);
        let staging = "Always run the migrations against staging first";
        check(staging, "we ran the migrations, they are through now", false);
    }
}
