//! What was remarked, as it is told: each thing once however often and in whatever words it was
//! said, the latest wording of it, and nothing that a later remark disputes.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use iai_store::{Memory, MemoryId, MemoryNumber, Reader, Remark, RemarkKind};
use jiff::Timestamp;

use super::lines::{cut, flat};
use super::material::may_be_told;
use super::told::{Told, told};
use crate::error::Result;
use crate::remarks::Wording;

const KEPT_MAX: usize = 6;
/// Remarks that are read to choose from.
pub(super) const REMARKS_READ_MAX: usize = 24;
/// A sentence of so few words that begins like this belongs to the one before it.
const DENIAL_WORDS_MAX: usize = 5;
const DENIALS: &str = "no|not|never|without|kein|keine|keinen|nicht|ohne|pas de|sin|без";
/// Words around a wish that do not change it.
const COURTESIES: &[&str] =
    &["please", "again", "also", "ok", "and", "so", "really", "bitte", "пожалуйста", "nochmal"];
/// Two remarks that share so few words may be about different things.
const SAME_WORDS_MIN: usize = 3;
/// … and so may two that begin with the same few.
const HEAD_WORDS_MIN: usize = 5;
/// What is shown of the words a correction replaced.
const REPLACED_CHARS_MAX: usize = 120;

/// What was remarked lately and not yet taken down, with its kind.
pub(super) type Fresh = Vec<(RemarkKind, Remark)>;

/// What is asked for of what was remarked.
pub(super) struct Asked<'a> {
    pub(super) project: &'a str,
    pub(super) fresh: &'a Fresh,
    /// As much of it is told at most.
    pub(super) limit: usize,
    pub(super) now: Timestamp,
}

/// Returns what was kept on purpose, the latest first; a correction with what it replaced, because
/// it is often said in a few words that mean nothing alone.
pub(super) fn kept(reader: &Reader, project: &str, fresh: &Fresh) -> Result<Vec<Told>> {
    let all = merged(reader, (RemarkKind::Kept, REMARKS_READ_MAX), (project, fresh))?;
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

/// Tells a remark, and how often it was said.
pub(super) fn remarked(remark: &Remark) -> Told {
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

/// Joins what the step found with what stands at the ends of the last sessions, each thing once,
/// newest first.
pub(super) fn merged(
    reader: &Reader,
    kind: (RemarkKind, usize),
    place: (&str, &Fresh),
) -> Result<Vec<Remark>> {
    Ok(folded(joined(reader, kind, place)?))
}

/// The same, each thing as often as it was said in other words.
pub(super) fn joined(
    reader: &Reader,
    (kind, limit): (RemarkKind, usize),
    (project, fresh): (&str, &Fresh),
) -> Result<Vec<Remark>> {
    let mut all = reader.remarks(kind, project, limit)?;
    let fresh = fresh.iter().filter(|(fresh_kind, _)| *fresh_kind == kind);
    all.extend(fresh.map(|(_, remark)| remark.clone()));
    all.retain(|remark| may_be_told(&remark.memory));
    undisputed(reader, all)
}

/// Leaves out what something said later stands against.
pub(super) fn undisputed(reader: &Reader, mut all: Vec<Remark>) -> Result<Vec<Remark>> {
    let disputed = disputed(reader, &all)?;
    all.retain(|remark| !disputed.contains(&remark.memory.id));
    Ok(all)
}

/// Returns those that something said later stands against.
fn disputed(reader: &Reader, remarks: &[Remark]) -> Result<BTreeSet<MemoryId>> {
    let numbers: Vec<MemoryNumber> = remarks.iter().map(|remark| remark.number).collect();
    Ok(reader.disputes_of(&numbers)?.into_iter().map(|dispute| dispute.earlier_id).collect())
}

/// Tells each thing once, in its latest wording, and adds up how often it was said. Of the same
/// words the count is already that of all of them.
pub(super) fn folded(mut all: Vec<Remark>) -> Vec<Remark> {
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

/// What a remark says, however it is said.
struct Meant {
    words: BTreeSet<String>,
    /// The words before the first comma: what is wished, without why.
    head: Vec<String>,
}

impl Meant {
    fn of(sentence: &str) -> Self {
        let words_of = |text: &str| -> Vec<String> {
            let wording = Wording::of(text);
            wording.words().filter(|word| !COURTESIES.contains(word)).map(str::to_owned).collect()
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
