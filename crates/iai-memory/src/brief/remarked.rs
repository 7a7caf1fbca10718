//! What was remarked, as it is told: each thing once however often and in whatever words it was
//! said, the latest wording of it, and nothing that a later remark disputes.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use iai_store::{Memory, MemoryId, MemoryNumber, Reader, Remark, RemarkKind};
use jiff::{SignedDuration, Timestamp};

use super::lines::{cut, flat};
use super::material::{Told, may_be_told, told};
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::organise::{is_stop_word, n_shared};
use crate::recall::{replaced_since, said_since};
use crate::remarks::Wording;

const PREFERENCES_MAX: usize = 8;
const DECISIONS_MAX: usize = 10;
const KEPT_MAX: usize = 6;
/// Remarks that are read to choose from.
const REMARKS_READ_MAX: usize = 24;
/// A preference that was said once counts so long.
const PREFERENCE_KEPT: SignedDuration = SignedDuration::from_hours(24 * 180);
/// A sentence of so few words that begins like this belongs to the one before it.
const DENIAL_WORDS_MAX: usize = 5;
const DENIALS: &str = "no|not|never|without|kein|keine|keinen|nicht|ohne|pas de|sin|без";
/// Words around a wish that do not change it.
const COURTESIES: &str = "please|again|also|ok|and|so|really|bitte|пожалуйста|nochmal";
/// Shorter words do not say what is wished.
const WISH_LETTERS_MIN: usize = 3;
/// Whoever says how work is done says one of these: "the migrations are through now" has none.
const WAYS_OF_WORKING: &str = "\
     we|we're|we'll|i|use|using|let's|please|always|never|team|from now on|wir|ich|man|nutze|\
     nutzen|verwende|verwenden|bitte|immer|nie|мы|я|используем|всегда|никогда|on|nous|je|\
     toujours|usamos|siempre|nunca";
/// Takes a wish back in its own words.
const NO_LONGER: &str = "\
     no longer|any more|anymore|no need to|don't|do not|stop|drop|dropped|forget|nicht mehr|\
     brauchst nicht|kein|keine|больше не|не нужно|ne … plus|pas besoin|ya no|no hace falta";
/// Two remarks that share so few words may be about different things.
const SAME_WORDS_MIN: usize = 3;
/// … and so may two that begin with the same few.
const HEAD_WORDS_MIN: usize = 5;
/// Shorter words say little about what was decided …
const MATTER_LETTERS_MIN: usize = 4;
/// … and fewer of them may be about anything. Of at least so many, a newer decision has three in
/// four when it is about the same.
const MATTER_WORDS_MIN: usize = 2;
/// Words of deciding itself.
const DECIDING: &str = "\
     decided|decision|agreed|settled|going|switch|switching|plan|called|moving|drop|dropping|stick|\
     entschieden|beschlossen|vereinbart|решили|договорились|décidé|decidimos|acordamos";
/// What is shown of the words a correction replaced.
const REPLACED_CHARS_MAX: usize = 120;

/// What was remarked lately and not yet taken down, with its kind.
pub(super) type Fresh = Vec<(RemarkKind, Remark)>;

/// Returns what was said often, or not long ago, in this project, or in the same words in several,
/// and not turned round since, by a decision or otherwise.
pub(super) fn preferences(
    engine: &MemoryEngine,
    reader: &Reader,
    (project, fresh): (&str, &Fresh),
    decided: &[Remark],
    now: Timestamp,
) -> Result<Vec<Told>> {
    let mut all = merged(reader, RemarkKind::Preference, project, fresh)?;
    all.retain(|own| 1 < own.n_said || now.duration_since(own.memory.turn_at) <= PREFERENCE_KEPT);
    let everywhere = reader.remarks_everywhere(RemarkKind::Preference, PREFERENCES_MAX)?;
    all.extend(everywhere.into_iter().filter(|remark| may_be_told(&remark.memory)));
    let mut all = folded(all);
    all.sort_by_key(|remark| Reverse((remark.n_said, remark.memory.turn_at)));
    let mut told_of = Vec::new();
    for wish in &all {
        if told_of.len() == PREFERENCES_MAX {
            break;
        }
        let is_decided_otherwise = decided.iter().any(|newer| {
            wish.memory.turn_at < newer.memory.turn_at
                && turns_round(wish.sentence(), newer.sentence())
        });
        if !is_decided_otherwise && !is_turned_round(engine, reader, wish, now)? {
            told_of.push(remarked(wish));
        }
    }
    Ok(told_of)
}

/// Tells whether the user said later that it is done another way.
fn is_turned_round(
    engine: &MemoryEngine,
    reader: &Reader,
    wish: &Remark,
    now: Timestamp,
) -> Result<bool> {
    let Some(number) = reader.number_of(wish.memory.id)? else { return Ok(false) };
    let since = said_since(engine, reader, (number, &wish.memory), now)?;
    Ok(since.iter().any(|(_, newer)| {
        let is_about_work = Wording::of(&newer.text).has_any(WAYS_OF_WORKING);
        is_about_work && turns_round(wish.sentence(), &newer.text)
    }))
}

/// Tells whether a newer sentence is about the same as a wish, and wishes something else: it has
/// most of its words but not all, or all of them and a "no longer".
fn turns_round(wish: &str, newer: &str) -> bool {
    let words_of = |text: &str| -> BTreeSet<String> {
        let tells = |word: &&str| WISH_LETTERS_MIN <= word.chars().count() && !is_stop_word(word);
        Wording::of(text).words().filter(tells).map(str::to_owned).collect()
    };
    let words = words_of(wish);
    let n_same = n_shared(&words, &words_of(newer));
    let is_most = words.len() < 2 * n_same;
    // Half of a few words is little, unless the sentences are built alike: "in the Go files".
    let is_alike_built = || {
        let (wish, newer) = (Wording::of(wish), Wording::of(newer));
        let n_alike = wish.words().filter(|word| newer.words().any(|other| other == *word)).count();
        wish.len() <= 2 * n_alike
    };
    let is_half = words.len() == 2 * n_same && (SAME_WORDS_MIN <= n_same || is_alike_built());
    let is_other = n_same < words.len() || Wording::of(newer).has_any(NO_LONGER);
    0 < n_same && (is_most || is_half) && is_other
}

/// Tells what was decided; what was said otherwise since stands beside it.
pub(super) fn decided(
    engine: &MemoryEngine,
    reader: &Reader,
    decided: Vec<Remark>,
    now: Timestamp,
) -> Result<Vec<Told>> {
    let holding = holding(decided);
    let told_of = holding.iter().map(|decision| {
        Ok(match said_otherwise(engine, reader, decision, now)? {
            Some(newer) => {
                let newer = cut(&flat(&newer.text), REPLACED_CHARS_MAX);
                let aside = format!("since then “{newer}”");
                told(&decision.memory, with_denial(decision), Some(&aside))
            }
            None => remarked(decision),
        })
    });
    told_of.collect()
}

/// Returns what was said since that stands in the place of a decision, where it may be told.
pub(crate) fn said_otherwise(
    engine: &MemoryEngine,
    reader: &Reader,
    decision: &Remark,
    now: Timestamp,
) -> Result<Option<Memory>> {
    let since = match reader.number_of(decision.memory.id)? {
        Some(number) => replaced_since(engine, reader, (number, &decision.memory), now)?,
        None => None,
    };
    Ok(since.filter(may_be_told))
}

/// Returns the sentences in which something was decided, the latest first.
pub(super) fn decisions(reader: &Reader, project: &str, fresh: &Fresh) -> Result<Vec<Remark>> {
    merged(reader, RemarkKind::Decision, project, fresh)
}

/// Leaves, of decisions with the newest first, those that no newer one is about too.
pub(super) fn holding(decided: Vec<Remark>) -> Vec<Remark> {
    let mut holding = without_settled(decided);
    holding.truncate(DECISIONS_MAX);
    holding
}

/// Returns what was kept on purpose, the latest first; a correction with what it replaced, because
/// it is often said in a few words that mean nothing alone.
pub(super) fn kept(reader: &Reader, project: &str, fresh: &Fresh) -> Result<Vec<Told>> {
    let all = merged(reader, RemarkKind::Kept, project, fresh)?;
    all.iter()
        .take(KEPT_MAX)
        .map(|remark| {
            let aside = replaced_by(reader, &remark.memory)?
                .map(|old| format!("instead of “{}”", cut(&flat(&old.text), REPLACED_CHARS_MAX)));
            Ok(told(&remark.memory, remark.sentence(), aside.as_deref()))
        })
        .collect()
}

fn replaced_by(reader: &Reader, memory: &Memory) -> Result<Option<Memory>> {
    let id = memory.provenance.get("supersedes").and_then(|id| id.as_str()?.parse().ok());
    let old = match id {
        Some(id) => reader.memory(id)?,
        None => None,
    };
    Ok(old.filter(may_be_quoted))
}

/// What no longer holds may still be named beside what replaced it.
fn may_be_quoted(old: &Memory) -> bool {
    may_be_told(&Memory { valid_to: None, ..old.clone() })
}

fn remarked(remark: &Remark) -> Told {
    let aside = (1 < remark.n_said).then(|| format!("said {} times", remark.n_said));
    told(&remark.memory, with_denial(remark), aside.as_deref())
}

/// Returns the sentence of a remark, with the few words behind it that deny something: "We take the
/// database for a queue. No broker." says half of it in the second one.
fn with_denial(remark: &Remark) -> &str {
    let text = &remark.memory.text;
    let behind = text.get(remark.end_byte..).unwrap_or_default();
    let blanks = behind.len() - behind.trim_start_matches(' ').len();
    let said = behind.get(blanks..).unwrap_or_default();
    let Some(end) = said.find(['.', '!', '\n']) else { return remark.sentence() };
    let wording = Wording::of(said.get(..end).unwrap_or_default());
    let is_denial = (2..=DENIAL_WORDS_MAX).contains(&wording.len()) && wording.begins_any(DENIALS);
    let whole = text.get(remark.start_byte..remark.end_byte + blanks + end + 1);
    whole.filter(|_| is_denial).unwrap_or_else(|| remark.sentence())
}

/// Joins what the step found with what stands at the ends of the last sessions, newest first.
fn merged(reader: &Reader, kind: RemarkKind, project: &str, fresh: &Fresh) -> Result<Vec<Remark>> {
    let mut all = reader.remarks(kind, project, REMARKS_READ_MAX)?;
    let fresh = fresh.iter().filter(|(fresh_kind, _)| *fresh_kind == kind);
    all.extend(fresh.map(|(_, remark)| remark.clone()));
    all.retain(|remark| may_be_told(&remark.memory));
    let disputed = disputed(reader, &all)?;
    all.retain(|remark| !disputed.contains(&remark.memory.id));
    Ok(folded(all))
}

/// Returns those that something said later stands against.
fn disputed(reader: &Reader, remarks: &[Remark]) -> Result<BTreeSet<MemoryId>> {
    let mut numbers: Vec<MemoryNumber> = Vec::new();
    for remark in remarks {
        numbers.extend(reader.number_of(remark.memory.id)?);
    }
    Ok(reader.disputes_of(&numbers)?.into_iter().map(|dispute| dispute.earlier_id).collect())
}

/// Tells each thing once, in its latest wording, and adds up how often it was said. Of the same
/// words the count is already that of all of them.
fn folded(mut all: Vec<Remark>) -> Vec<Remark> {
    // Of the same moment, the stored one comes first: it knows how often it was said.
    all.sort_by_key(|own| (Reverse((own.memory.turn_at, own.n_said)), own.memory.id));
    let mut kept: Vec<(Meant, BTreeSet<i64>, Remark)> = Vec::new();
    for remark in all {
        let words = Meant::of(remark.sentence());
        match kept.iter_mut().find(|(own, ..)| is_same_wish(own, &words)) {
            Some((_, counted, own)) => {
                if counted.insert(remark.words) {
                    own.n_said = own.n_said.saturating_add(remark.n_said);
                }
            }
            None => kept.push((words, BTreeSet::from([remark.words]), remark)),
        }
    }
    kept.into_iter().map(|(_, _, remark)| remark).collect()
}

/// Leaves out, of decisions with the newest first, those that a newer one is about too.
fn without_settled(all: Vec<Remark>) -> Vec<Remark> {
    let mut kept: Vec<(BTreeSet<String>, Remark)> = Vec::new();
    for remark in all {
        let matter = matter_of(remark.sentence());
        if !kept.iter().any(|(newer, _)| is_settled_by(&matter, newer)) {
            kept.push((matter, remark));
        }
    }
    kept.into_iter().map(|(_, remark)| remark).collect()
}

/// What a decision is about, without the words that make it one.
fn matter_of(sentence: &str) -> BTreeSet<String> {
    let wording = Wording::of(sentence);
    let tells = |word: &&str| {
        MATTER_LETTERS_MIN <= word.chars().count()
            && !is_stop_word(word)
            && DECIDING.split('|').all(|deciding| deciding != *word)
    };
    wording.words().filter(tells).map(str::to_owned).collect()
}

fn is_settled_by(matter: &BTreeSet<String>, newer: &BTreeSet<String>) -> bool {
    MATTER_WORDS_MIN <= matter.len() && 3 * matter.len() <= 4 * n_shared(matter, newer)
}

/// What a remark says, however it is said.
struct Meant {
    words: BTreeSet<String>,
    /// The words before the first comma: what is wished, without why.
    head: Vec<String>,
}

impl Meant {
    fn of(sentence: &str) -> Self {
        let is_courtesy = |word: &&str| COURTESIES.split('|').any(|courtesy| courtesy == *word);
        let words_of = |text: &str| -> Vec<String> {
            let wording = Wording::of(text);
            wording.words().filter(|word| !is_courtesy(word)).map(str::to_owned).collect()
        };
        let mut heads = sentence.split([',', ';', '(', '–', '—']).map(words_of);
        let head = heads.find(|head| !head.is_empty()).unwrap_or_default();
        Self { words: words_of(sentence).into_iter().collect(), head }
    }
}

/// Tells whether one says all that the other says, or both wish the same for other reasons.
fn is_same_wish(one: &Meant, other: &Meant) -> bool {
    let (words, others) = (&one.words, &other.words);
    let is_part = SAME_WORDS_MIN <= words.len().min(others.len())
        && (words.is_subset(others) || others.is_subset(words));
    words == others || is_part || HEAD_WORDS_MIN <= one.head.len() && one.head == other.head
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_is_settled_by_a_newer_one_about_the_same() {
        let check = |older: &str, newer: &str, expect: bool| {
            assert_eq!(is_settled_by(&matter_of(older), &matter_of(newer)), expect, "{older}");
        };
        let next = "Ana reviews the billing code from now on, Ben changed teams.";
        check("Ben reviews the billing code from now on.", next, true);
        check("Images are signed by Ben from now on", "Images are signed by Ana from today", true);
        check("We decided to use Postgres for billing", "We use Postgres for the search", false);
        check("We drop Redis", "We drop Redis on staging only", false);
    }

    #[test]
    fn a_wish_is_turned_round_by_what_says_otherwise_about_the_same() {
        let check = |wish: &str, newer: &str, expect: bool| {
            assert_eq!(turns_round(wish, newer), expect, "{wish} / {newer}");
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

    #[test]
    fn a_wish_is_the_same_in_fewer_or_more_words() {
        let check = |one: &str, other: &str, expect: bool| {
            assert_eq!(is_same_wish(&Meant::of(one), &Meant::of(other)), expect, "{one}");
        };
        check("Please use pnpm, not npm.", "Again: use pnpm, not npm!", true);
        check("Use pnpm, not npm, before you hand it over", "use pnpm, not npm", true);
        check("Use tabs", "Use tabs in Go", false);
        check("Always run the tests first", "Always run the linter first", false);
        let again = "never touch the generated client folder please, it happened again";
        check("Never touch the generated client folder, it breaks the build.", again, true);
        check("Never touch the generated server folder, it breaks the build.", again, false);
        check("Use tabs, it is a Go project", "use tabs, the linter wants it", false);
    }
}
