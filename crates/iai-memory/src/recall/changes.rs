//! Which of the best hits says that what another one states has changed, though nobody corrected
//! anything and no value stands where the other one was: "we moved to …", "… is back to three".

use std::collections::{BTreeMap, BTreeSet};

use iai_store::{Memory, MemoryNumber, RemarkKind, Role};
use jiff::{SignedDuration, Timestamp};

use super::cue::{Cue, words_of_in_order};
use super::echo::only_asks;
use super::rank::Ranked;
use crate::organise::{is_alike, is_stop_word, n_shared};
use crate::projects::is_of_name;
use crate::remarks::{Wording, is_spoken, remarks_of};

/// Among how many hits is looked: none of them leaves that place.
const HITS_LOOKED_AT: usize = 5;
/// What says so is at least this share as good an answer.
const SCORE_SHARE_MIN: f64 = 0.6;
/// Words that the two share, so that they are about the same.
const SHARED_WORDS_MIN: usize = 2;
const WORD_LETTERS_MIN: usize = 3;
/// A longer text tells of more than one change.
const TEXT_BYTES_MAX: usize = 600;
/// What was may stand in a longer one; further down it is not looked for.
const BYTES_LOOKED_AT: usize = 8000;
/// What is said sooner after another belongs to the same talk.
const APART_MIN: SignedDuration = SignedDuration::from_hours(1);

/// Returns pairs of hits, what was and what says that it changed by the time of asking.
pub(super) fn changed(
    cue: &Cue,
    ranked: &[Ranked],
    now: Timestamp,
) -> Vec<(MemoryNumber, MemoryNumber)> {
    let best = ranked.get(..HITS_LOOKED_AT.min(ranked.len())).unwrap_or_default();
    let mut matters = BTreeMap::new();
    let mut pairs = Vec::new();
    let said_by_now = best.iter().filter(|hit| hit.memory.turn_at <= now);
    for newer in said_by_now.filter(|hit| tells_something(&hit.memory)) {
        let older: Vec<&Ranked> = best.iter().filter(|older| is_comparable(older, newer)).collect();
        for hit in older.iter().copied().chain([newer]).filter(|_| !older.is_empty()) {
            matters.entry(hit.number).or_insert_with(|| Matter::of(&hit.memory, cue));
        }
        let Some(matter) = matters.get(&newer.number) else { continue };
        let tells_of_a_change = tells_of_a_change(&newer.memory);
        let is_report = newer.memory.role == Role::Assistant;
        let is_changed = |was: &Matter| match is_report {
            true => matter.reports_another_figure_than(was),
            false => {
                tells_of_a_change && matter.is_near(was) && matter.is_asked_like(was)
                    || matter.has_another_figure_than(was)
            }
        };
        let older = older.iter().filter(|older| matters.get(&older.number).is_some_and(is_changed));
        pairs.extend(older.map(|older| (older.number, newer.number)));
    }
    pairs
}

fn is_comparable(older: &Ranked, newer: &Ranked) -> bool {
    is_before(&older.memory, &newer.memory) && SCORE_SHARE_MIN * older.score <= newer.score
}

/// What a text is about, and the figures it tells of it.
struct Matter {
    words: BTreeSet<String>,
    /// Those that the cue asks for.
    asked: BTreeSet<String>,
    figures: BTreeSet<String>,
}

impl Matter {
    fn of(memory: &Memory, cue: &Cue) -> Self {
        let text = memory.text.as_str();
        let text = text.get(..text.floor_char_boundary(BYTES_LOOKED_AT)).unwrap_or_default();
        let is_figure = |word: &String| word.chars().any(|letter| letter.is_ascii_digit());
        let figures = words_of_in_order(text).into_iter().filter(is_figure).collect();
        let mut words = telling_words(text);
        words.retain(|word| !is_figure(word) && !is_of_name(memory.project.as_deref(), word));
        let is_asked = |word: &&String| cue.words.iter().any(|asked| is_alike(asked, word));
        let asked = words.iter().filter(is_asked).cloned().collect();
        Self { words, asked, figures }
    }

    fn is_near(&self, was: &Self) -> bool {
        SHARED_WORDS_MIN <= n_shared(&was.words, &self.words)
    }

    /// Tells whether this one has at least half of what the cue asks for and the other has. "It
    /// listens on 8443 now" says nothing new to who asks for the metrics of the service.
    fn is_asked_like(&self, was: &Self) -> bool {
        was.asked.len() <= 2 * n_shared(&was.asked, &self.asked)
    }

    fn tells_another_figure_than(&self, was: &Self) -> bool {
        !was.figures.is_empty() && self.figures.difference(&was.figures).next().is_some()
    }

    /// Tells whether this report of a change has another figure than the other, and both something
    /// that the cue asks for. Reports without one are too many: each would stand above the last.
    fn reports_another_figure_than(&self, was: &Self) -> bool {
        self.tells_another_figure_than(was)
            && self.is_near(was)
            && 0 < n_shared(&was.asked, &self.asked)
    }

    /// Tells whether this one tells a figure where the other, about the same, told another. It is
    /// about the same when it names all that the cue asks for and the other names: the port of one
    /// service says nothing about that of another.
    fn has_another_figure_than(&self, was: &Self) -> bool {
        self.tells_another_figure_than(was)
            && self.is_near(was)
            && !was.asked.is_empty()
            && n_shared(&was.asked, &self.asked) == was.asked.len()
    }
}

/// Tells whether one was said before the other, elsewhere in the same project.
pub(super) fn is_before(older: &Memory, newer: &Memory) -> bool {
    older.project == newer.project
        && older.session != newer.session
        && older.turn_at.duration_until(newer.turn_at) > APART_MIN
}

/// Tells whether the user says how something is, rather than ask, or the assistant reports what has
/// changed.
fn tells_something(memory: &Memory) -> bool {
    let is_thought_of = || Wording::of(&memory.text).has_any(HYPOTHETICAL);
    is_the_users_word(memory) && !only_asks(&memory.text) && !is_thought_of()
        || reports_a_change(memory)
}

/// Tells whether the user says that something is another way now, or decides it.
fn tells_of_a_change(memory: &Memory) -> bool {
    let is_decision = || remarks_of(memory).iter().any(|own| own.kind == RemarkKind::Decision);
    says_otherwise(memory, &memory.text) || is_the_users_word(memory) && is_decision()
}

/// Tells whether the assistant says that something was changed. What it only thinks of ("we could
/// switch to …", "now let me look") is worded otherwise.
pub(super) fn reports_a_change(memory: &Memory) -> bool {
    memory.role == Role::Assistant
        && is_short_and_holds(memory)
        && Wording::of(&memory.text).has_any(REPORTS)
}

/// Tells whether the user says, in these of their words, that something is another way now.
pub(crate) fn says_otherwise(memory: &Memory, words: &str) -> bool {
    let has_changed = || Wording::of(words).has_any(CHANGES) || words.contains(", not ");
    is_the_users_word(memory) && has_changed()
}

fn is_the_users_word(memory: &Memory) -> bool {
    memory.role == Role::User && is_short_and_holds(memory)
}

fn is_short_and_holds(memory: &Memory) -> bool {
    let is_short = memory.text.len() <= TEXT_BYTES_MAX;
    is_short && memory.valid_to.is_none() && is_spoken(memory)
}

/// How an assistant says that something is another way since now.
const REPORTS: &str = "\
     changed … to|moved … to|raised … to|lowered … to|switched … to|renamed … to|updated … to|\
     bumped … to|reduced … to|increased … to|extended … to|is now|are now|is … now|are … now|\
     moved from|changed from|renamed from|is renamed|switched from|upgraded to|upgraded from|\
     downgraded to|set to|pinned to|replaced by|replaced with|migrated to|migrated from|no longer|\
     is gone|are gone|instead of|from now on|ist jetzt|sind jetzt|wurde umbenannt|umgestellt auf|\
     geändert auf|nicht mehr|statt|теперь|больше не|est maintenant|sont maintenant|n'est plus|\
     es ahora|ya no";

/// How somebody says what is not so.
const HYPOTHETICAL: &str = "\
     what if|hypothetically|let's suppose|suppose we|imagine we|was wäre wenn|angenommen|et si|\
     supposons|y si";

const CHANGES: &str = "\
     now|from now on|from today on|from today|no longer|any more|anymore|instead of|instead|\
     rename|renamed|moved to|moved from|was moved|moves to|move to|has to move|switch to|\
     switch from|switched to|switched from|switching to|changed to|changes to|replaced by|\
     replaced with|replaces|become|becomes|became|migrate to|migrated to|migrating to|is back to|\
     are back to|went back to|go back to|postponed|delayed|slips to|slipped to|shifts to|\
     shifted to|shift to|pushed back|brought forward|make it|after all|is gone|are gone|\
     throw out|threw out|dropped|we're leaving|we are leaving|move … to|takes over|took over|\
     got a new|has a new|have a new|take back|takes back|changed my mind|change my mind|\
     given up|we gave up|i gave up|we give up|giving up|move off|moved off|moving off|has retired|\
     as of today|as of now|as of tomorrow|from tomorrow|from tomorrow on|since today|\
     since yesterday|since this morning|since this week|since monday|since tuesday|\
     since wednesday|since thursday|since friday|since last week|the new … is|change to|\
     changing to|open it to|opened it to|\
     new decision|we cancel|cancelled the|out with|had it with|\
     we call it|we call that|has been moved|have been moved|has been renamed|has moved|\
     have moved|goes … comes in|jetzt|ab jetzt|ab heute|\
     nicht mehr|statt|stattdessen|doch lieber|künftig|wird zu|wechseln zu|wechseln auf|steigt auf|\
     sinkt auf|übernimmt|umbenannt|umgezogen|verlegt|verschoben|vertagt|\
     теперь|больше не|вместо|перешли|переименован*|перенесли|отложили|\
     désormais|maintenant|au lieu de|renommé|reporté|ahora|ya no|en lugar de|en vez de|\
     renombrado|aplazado";

/// Returns the words that say what a text is about.
pub(crate) fn telling_words(text: &str) -> BTreeSet<String> {
    let tells = |word: &String| WORD_LETTERS_MIN <= word.chars().count() && !is_stop_word(word);
    words_of_in_order(text).into_iter().filter(tells).collect()
}
